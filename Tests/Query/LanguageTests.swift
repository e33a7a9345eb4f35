import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

/// The sections of the language on the table of the zoo: rules that EngineTests does not cover, and invalid queries.
@Suite struct LanguageTests {
    private static func check(_ query: String, _ expected: String) throws {
        #expect(try Zoo.find(query, [.string("k"), .int(5)]) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            ac    | name == 'Rex' AND age == 5 OR age == 3
            c     | age == 3 OR name == 'Rex' AND age == 7
            ce    | NOT age == 5 AND good == true
            b     | NOT (age == 5 OR good == true)
            ad    | 1 + 2 * 2 == age
            ad    | (1 + 2) * 2 == age + 1
            ad    | age - 1 - 1 == 3
            ad    | name beginswith 'R' or name LiKe 'r?x'
            a     | some ints == 1 && true == good
            c     | {1, 3} == age
            abd   | not(age<5)
            e     | sort>4
            a     | `any`=1
            ad    | self.age == $1 || SELF.age == 5
            a     | (((name == 'Rex')))
            """#))
    func `operators have their precedence, parentheses group, and keywords may be in any case`(query: String, expected: String) throws {
        try Self.check(query, expected)
    }

    @Test(arguments: [("good == YES", "good == true"), ("good = no", "good == false"), ("NOT good != NO", "NOT good != false")])
    func `YES and NO on the right of an equality are booleans, as for NSPredicate`(query: String, same: String) throws {
        #expect(try Zoo.find(query, []) == Zoo.find(same, []))
        #expect(try !Zoo.find(query, []).isEmpty)
        #expect(throws: QueryError.self) { try Zoo.find("YES == good", []) }
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            abd   | age => 5
            ce    | age =< 3
            bce   | age <> 5
            ad    | age = 5
            bce   | name <>[c] 'rex'
            abde  | data < bin(B64"Ag==")
            abd   | age IN {5, '7'}
            ae    | mixed BETWEEN {4, 6}
            a     | name BETWEEN {'R', 'S'}
            cde   | ints.@count BETWEEN {1, 2}
            ab    | ALL ints BETWEEN {0, 5}
            e     | age / 0 == -9223372036854775808
            ae    | weight / 0 > 20
            bd    | NONE ints > 0
            b     | ALL strs == 'x'
            a     | ints == ALL {1, 2}
            abd   | name LIKE '???'
            d     | name LIKE '*' AND name ENDSWITH 'x' AND NOT name LIKE 'R*'
            abd   | name LIKE[cd] '?[a-z]?' OR name.@count > 2
            e     | data == bin('\u0001')
            ac    | good == true AND best != nil
            """#))
    func `operators compare as the guide describes them`(query: String, expected: String) throws { try Self.check(query, expected) }

    @Test(
        arguments: Kennel.expectations(
            #"""
            ad    | age == 0x5
            ad    | age == +5
            e     | age == -4
            a     | weight == 1.5e0
            a     | weight == .15e1
            a     | weight == 1.5f
            e     | weight == INF
                  | weight == -inf
            acd   | weight < Infinity
            ace   | good == TRUE
            bd    | good == false
            c     | name == NIL
            a     | name == "Rex"
            e     | born == 2020-09-13@12:26:40
            e     | born == 2020-09-13T12:26:40
            a     | born == 1970-01-01@00:00:00:500
            acde  | born > 1850-01-01
            c     | born == T86400:0
            e     | dec == '100'
            a     | dec == decimal(1.5)
            ae    | dec IN {1.5, 100}
            a     | f == 1.1f
            abcde | age > -99999999999999999999
            ac    | data IN {bin(B64"AQI="), binary(B64"/w==")}
            ad    | name IN[c] {'\u0072\u0065\u0078', null}  AND name != nil
            """#))
    func `literals have the values that the guide describes`(query: String, expected: String) throws { try Self.check(query, expected) }

    @Test(
        arguments: Kennel.expectations(
            #"""
            e     | dict["a b"] == 3
            d     | mixed[FIRST].b == 7
            d     | mixed[1] == 'q'
            d     | mixed[*] == 'q'
            d     | ANY mixed == 'q'
            abcde | mixed[7] == nil
            b     | name.@size == 4
            a     | data.@count == 2
            a     | strs.length == 2
            a     | toys.@avg.price == 3
            bce   | toys.@max.price == nil
            acd   | dict[*] == nil OR dict.@values > 0 AND NOT dict.@keys == 'a b'
            c     | ints[1] == nil AND ints.@count == 2
            acde  | dict.@allKeys != 'zz'
            ce    | ints.@sum > 4 AND ints.@sum != 6
            a     | 2 == toys.@count
            a     | toys.@max.price > best.price
            """#))
    func `paths lead to the values that the guide describes`(query: String, expected: String) throws { try Self.check(query, expected) }

    @Test(
        arguments: Kennel.expectations(
            #"""
                  | optAge < nil
            abde  | name > nil
            abcde | age != nan
            ace   | mixed == 5 OR mixed == nil
                  | mixed == true
            bd    | ints == set
            ace   | ints != set
            bde   | dict.k == dict.z
            abcde | dict == dict AND strs == strs
            d     | ints == {'-1'}
            abcde | NOT ints == strs[FIRST] 
            be    | best.price == best.price AND best == nil
            c     | dec == nan
            abde  | NOT dec == nan
            ac    | mixed < 'S' AND age > 4 OR mixed == nil
            """#
        ).filter { !$0.query.contains("strs[FIRST]") && !$0.query.contains("mixed < 'S'") })
    func `null and values of different types compare as the guide describes`(query: String, expected: String) throws {
        try Self.check(query, expected)
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            abc   | TRUEPREDICATE LIMIT(3) LIMIT(5)
            ab    | TRUEPREDICATE SORT(age DESC) LIMIT(2) SORT(name ASC)
            ab    | TRUEPREDICATE DISTINCT(good) SORT(age ASC) DISTINCT(age)
                  | TRUEPREDICATE LIMIT(0) SORT(age ASC)
            abcde | TRUEPREDICATE DISTINCT(age, good)
            ba    | TRUEPREDICATE LIMIT(2) SORT(age descending)
            dacbe | TRUEPREDICATE SORT(dict.@count ASCENDING, born ASC) SORT(toys.@count DESC) LIMIT(9)
            ad    | age == 5 sort(age asc) limit(2)
            b     | TRUEPREDICATE SORT(data ASC) LIMIT(1)
            """#
        ).filter { !$0.query.contains("dict.@count") })
    func `descriptors may be repeated and in any order`(query: String, expected: String) throws { try Self.check(query, expected) }

    // MARK: Invalid queries

    @Test(
        arguments: [
            // The offset of the fault, and a part of the message.
            ("good", 4, "a value alone is not a predicate"), ("-age == -5", 1, "a property has no sign"), ("a.any == 1", 2, "back-quotes"),
            ("age == ", 7, "the query ends too early"),
            ("age == 5 AND", 12, "ends too early"), ("age = 5 ADN name = 'x'", 8, "did you mean AND?"),
            ("name CONTIANS 'x'", 5, "did you mean CONTAINS?"), ("name BEGINWITH 'x'", 5, "did you mean BEGINSWITH?"),
            ("age > 5 SROT(age ASC)", 8, "did you mean SORT?"), ("age > 5 SORT(age ACS)", 17, "did you mean ASC?"),
            ("age > 5 SORT(age)", 16, "ASC or DESC"), ("age > 5 LIMIT(1.5)", 14, "a natural number"),
            ("age > 5 LIMIT(-1)", 14, "a natural number"),
            ("age > 5 DISTINCT()", 17, "the name of a property"), ("ints.@cuont == 1", 5, "did you mean count?"),
            ("ints.@minimum == 1", 5, "@min"), ("ints[FRIST] == 1", 5, "did you mean FIRST?"), ("ints[1.5] == 1", 5, "a whole number"),
            ("name == 'Rex", 8, "no closing quote"), ("name == 'R\\q'", 10, "unknown escape"), ("`name == 'x'", 0, "no closing back-quote"),
            ("age ==[c 5", 6, "a value or a property"), ("name >[c] 'a'", 6, "cannot be used with \">\""),
            ("name ==[x] 'a'", 7, "[c], [d] or [cd]"), ("age BETWEEN {1}", 12, "requires a list with 2 elements"),
            ("age BETWEEN 5", 12, "requires a list with 2 elements"), ("age == {1, 2", 12, "\",\" or \"}\""),
            ("age == {1 2}", 10, "\",\" or \"}\""),
            ("(age == 5", 9, "\")\""), ("age == 5)", 8, "the end of the query"),
            ("age == (name == 'x')", 7, "a comparison cannot be compared"),
            ("ANY 5.5 IN ints", 4, "the name of a property"), ("any.@type == 'int'", 3, "put the name of a property in back-quotes"),
            ("age == 5 #", 9, "AND, OR"),
            ("age == ~5", 7, "unexpected \"~\""), ("age == é5", 7, "é5"),
            ("age; > 5", 3, "unexpected \";\""), ("born > 2021-02-30", 7, "no such day"),
            ("born > 2021-02-03@25:00:00", 7, "not a time of day"), ("x == uuid(12)", 5, "not a UUID"),
            ("x == oid(12)", 5, "not an object id"), ("x == decimal(a)", 5, "not a decimal number"),
            ("x == bin(B64'*')", 9, "not base 64"), ("x == 0xfffffffffffffffff", 5, "not a 64-bit number"),
            ("GICS Sector == 'x'", 5, "write it in back-quotes: `GICS Sector`"),
            ("age > 5 AND first  name of CONTAINS 'x'", 19, "back-quotes: `first  name of`"),
            ("TRUEPREDICATE SORT(first name ASC)", 25, "back-quotes: `first name`"),
            ("5a == 1", 0, "cannot begin with a digit"), ("age == $", 7, "the number of an argument"), ("SORT(age ASC)", 4, "a comparison"),
            // Errors that depend on the zoo's columns.
            ("agee == 5", 0, "did you mean \"age\"?"), ("best.nmae == 'x'", 5, "did you mean \"name\"?"),
            ("age == 5 AND toys.prize > 1", 18, "did you mean \"price\"?"), ("TRUEPREDICATE SORT(nmae ASC)", 19, "did you mean \"name\"?"),
            ("age == 'five'", 4, "expected a value of type int"), ("good == 1", 5, "expected a value of type bool"),
            ("name CONTAINS 5", 5, "\"name\" (string)"), ("weight > inf AND age > inf", 23, "Infinity not supported for int"),
            ("mixed.@type == 'strnig'", 15, "expected null, int, bool, string"), ("age IN 5", 7, "must be a list"),
            ("age > $9", 6, "argument at index 9"), ("dict == {1}", 5, "a map cannot be compared with a list"),
            ("TRUEPREDICATE SORT(toys.price ASC)", 19, "one value a row"), ("ALL age > 5", 4, "must contain a list"),
        ] as [(String, Int, String)])
    func `an error has the position of the fault and names what was expected`(query: String, position: Int, part: String) {
        do {
            _ = try QueryRun(QueryRequest(filter: query, arguments: [.int(1)]), table: Zoo.table)
            Issue.record("\(query) was accepted")
        } catch {
            #expect(error.description.contains(part), "\(query): \(error)")
            #expect(error.position == position, "\(query): at \(error.position): \(error)")
            #expect(error.text == query)
        }
    }

    @Test(arguments: ["name beginwith 'x'", "name == 'x' amd age == 5", "name NOT 'x'", "age > 5 name", "name startswith {'x'}"])
    func `neighbouring words that cannot be a name give no advice about back-quotes`(query: String) {
        let error = #expect(throws: QueryError.self) { try QueryRun(QueryRequest(filter: query), table: Zoo.table) }
        #expect(error?.description.contains("is one name") == false, "\(query): \(error.map { $0.description } ?? "")")
    }

    // MARK: Numbers beyond a range

    private func numbers(_ kind: ScalarKind, _ values: [Value]) -> MemoryTable {
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("x", ColumnType(kind, optional: true)),
                ColumnSchema("list", ColumnType(kind, collection: .list, elementOptional: true)),
            ])
        var batch = Batch(type, in: Schema([type]))
        for value in values { precondition(batch.columns[0].append(value) && batch.columns[1].append(.list(values))) }
        batch.count = values.count
        return MemoryTable(type, schema: Schema([type]), batches: [batch])
    }

    private func figure(_ function: Aggregate.Function, _ table: MemoryTable) throws -> Value {
        var out = Value.null
        try QueryRun(QueryRequest(aggregates: [Aggregate(function, "x")]), table: table).forEachBatch { batch in
            out = batch.columns[0].value(at: 0)
            return true
        }
        return out
    }

    @Test func `a sum of integers is exact or an error`() throws {
        let large = numbers(.int, [.int(.max), .int(1)]), back = numbers(.int, [.int(.max), .int(.max), .int(.min), .int(.min), .int(7)])
        #expect(throws: FirnError.self) { try figure(.sum, large) }
        #expect(throws: FirnError.self) { try QueryRun(QueryRequest(filter: "list.@sum > 0"), table: large).count() }
        #expect(try figure(.sum, back) == .int(5) && figure(.avg, large) == .double(0x1p62))
        #expect(try QueryRun(QueryRequest(filter: "list.@sum == 5"), table: back).count() == 5)
        // Values of kind `any` are added as doubles.
        #expect(try figure(.sum, numbers(.any, [.int(.max), .int(1)])) == .double(0x1p63))
        #expect(try figure(.sum, numbers(.int, [])) == .int(0) && figure(.avg, numbers(.int, [.null])) == .null)
    }

    @Test func `NaN is ignored by minimum and maximum, and makes a sum NaN`() throws {
        let reals = numbers(.double, [.double(.nan), .double(2), .double(.infinity), .null])
        #expect(try figure(.min, reals) == .double(2) && figure(.max, reals) == .double(.infinity))
        guard case .double(let sum) = try figure(.sum, reals) else { return #expect(Bool(false)) }
        #expect(sum.isNaN)
        #expect(try figure(.sum, numbers(.double, [.double(.infinity), .double(1)])) == .double(.infinity))
        #expect(try figure(.min, numbers(.decimal, [.decimal(Decimal("nan")!), .decimal(Decimal("3")!)])) == .decimal(Decimal("3")!))
        #expect(
            try QueryRun(
                QueryRequest(filter: "list.@min == 3"), table: numbers(.decimal, [.decimal(Decimal("nan")!), .decimal(Decimal("3")!)])
            ).count() == 2)
    }

    @Test func `maps are equal if their keys and values are equal`() throws {
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("a", ColumnType(.double, collection: .map, elementOptional: true)),
                ColumnSchema("b", ColumnType(.double, collection: .map, elementOptional: true)),
            ])
        func entry(_ key: String, _ value: Value) -> Value { .map([.init(key, value)]) }
        let rows: [[Value]] = [
            [.map([]), entry("k", .null)], [entry("k", .double(.nan)), entry("k", .double(.nan))], [entry("k", .null), entry("k", .null)],
            [entry("k", .double(1)), entry("z", .double(1))], [.map([]), .map([])],
        ]
        var batch = Batch(type, in: Schema([type]))
        for row in rows { precondition(batch.columns[0].append(row[0]) && batch.columns[1].append(row[1])) }
        batch.count = rows.count
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch])
        #expect(try QueryRun(QueryRequest(filter: "a == b"), table: table).rowLocations().map(\.position) == [2, 4])
        #expect(try QueryRun(QueryRequest(filter: "a != b"), table: table).rowLocations().map(\.position) == [0, 1, 3])
    }

    @Test func `a constant beyond the range of floats does not equal infinity`() throws {
        let floats = numbers(.float, [.float(.infinity), .float(1)])
        #expect(try QueryRun(QueryRequest(filter: "x == 1e300"), table: floats).count() == 0)
        #expect(try QueryRun(QueryRequest(filter: "x > 1e300"), table: floats).count() == 1)
        #expect(try QueryRun(QueryRequest(filter: "x == inf"), table: floats).count() == 1)
    }
}
