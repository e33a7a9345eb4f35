import Dispatch
import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

@Suite struct LinkTests {
    @Test(
        arguments: Kennel.expectations(
            #"""
            // A single link: null if it is null or its target does not exist.
            a     | owner.name == 'Ada'
            bcde  | owner.name != 'Ada'
            bcd   | owner.age == nil
            b     | owner != nil AND owner.age == nil
            cd    | owner == nil
            abe   | owner != nil
            abe   | NOT (owner == nil)
            a     | owner.age > 30
            a     | owner.address.city == 'London'
            bcd   | owner.address == nil
            ae    | owner.address.city != nil
            b     | owner.best.name == 'Ada'
            a     | owner.best.best.name == 'Ada'
            acde  | owner.best.age == nil
            a     | owner.homes.city == 'Rome'
            e     | owner.homes.@count == 2
            e     | owner.homes[0].city == 'Oslo'
            cd    | owner.homes == nil
            a     | owner.age + 4 == 40
            a     | owner.name BEGINSWITH[c] 'a'
            ace   | name == 'c' OR owner.name IN {'Ada', 'Cy'}
            // Links compared with rows.
            a     | owner == $0
            bcde  | owner != $0
                  | owner == $1
            abcde | owner != $1
            ae    | owner IN $2
            ae    | owner IN {$0, $1, $4}
            acd   | owner IN {$0, nil}
            be    | owner != {$0, nil}
            abcd  | owner == owner.best.best
            a     | $0 == owner
            // Collections of links.
            ad    | ANY toys.price > 3
            ad    | toys.price > 3
            ad    | SOME toys.price > 3
            ab    | ALL toys.price > 0
            bcde  | NONE toys.name == 'ball'
            a     | toys.@count == 3
            b     | toys.@size == 0
            a     | toys.@sum.price == 8
            b     | toys.@sum.price == 0 AND toys.@count == 0
            e     | toys.@min.price < 0
            ad    | toys.@max.price == 4
            d     | toys.@avg.price == 4
            bc    | toys.@min.price == nil
            a     | toys[0].name == 'ball'
            a     | toys[LAST].name == 'ball'
            c     | toys[FIRST].name == nil
            cde   | toys[1].name == nil
            a     | toys.tags == 'red'
            ad    | toys.tags.@count == 2
            ad    | toys[*].tags == 'old'
            ad    | ANY toys.tags ENDSWITH 'd' AND toys.price > 3
            a     | toys.maker.name == 'Ada'
            ad    | ANY toys.maker == nil
            a     | $0 IN toys
            ad    | $3 IN toys
                  | $1 IN toys
            a     | ANY toys == $0
            bcde  | NONE toys == $0
            b     | ALL toys == $0
            d     | nil IN toys
            a     | toys == {$0, $3, $0}
            ae    | set.name == 'rope'
            c     | set.name == nil
            a     | set.@count == 2
            a     | dict['k'].name == 'ball'
            a     | dict.k.name == 'ball'
            bce   | dict.k.price == nil
            ad    | dict.@values.name == 'bone'
            e     | dict.@values.price < 0
            a     | dict['k'] == $0
            d     | dict['k'].tags.@count == 2
            // Descriptors: null values are first, and null links are last ascending and first descending.
            beacd | TRUEPREDICATE SORT(owner.age ASC)
            cdaeb | TRUEPREDICATE SORT(owner.age DESC)
            abe   | TRUEPREDICATE DISTINCT(owner.age)
            abcde | TRUEPREDICATE SORT(owner.best.age ASC)
            cdeba | TRUEPREDICATE SORT(owner.best.age DESC)
            adceb | TRUEPREDICATE SORT(toys.@count DESC)
            ceadb | TRUEPREDICATE SORT(toys[0].price ASC)
            aebcd | TRUEPREDICATE SORT(owner.address.city ASC)
            bacde | TRUEPREDICATE SORT(owner.best.name ASC)
            ab    | TRUEPREDICATE DISTINCT(owner.best.name)
            abce  | TRUEPREDICATE DISTINCT(owner)
            ea    | owner.age > 0 SORT(owner.age ASC)
            b     | owner != nil SORT(owner.age ASC) LIMIT(1)
            // Inverse links, from the dogs.
            abe   | owner.dogs.@count == 1
            cd    | owner.@links.Dog.owner.@count == 0
            a     | ANY owner.made.name == 'ball'
            ad    | toys.players.name == 'd'
            a     | SELF == $0
            ac    | SELF IN $2
            ae    | owner.@links.@count > 1 AND owner.@links.Person.best.@count < 2 AND owner.name != 'Bob'
            """#))
    func `paths follow links`(query: String, expected: String) throws {
        #expect(try Kennel.find("Dog", query) == expected, "\(query)")
        #expect(try Kennel.find("Dog", query, threads: 2) == expected, "\(query)")
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            ABC   | @links.Dog.owner.@count == 1
            D     | dogs.@count == 0
            C     | @links.Dog.owner.name == 'e'
            AB    | @links.@count == 3
            D     | @links.@count == 1
            C     | ANY dogs.toys.name == 'rope'
            AD    | ALL dogs.toys.price > 0 AND NONE dogs.name == 'b'
            A     | best.dogs.name == 'b'
            A     | made.@sum.price == 2
            A     | dogs[0].toys.@count == 3
            D     | dogs[0].name == nil AND best == SELF
            D     | best == SELF
            ABCD  | TRUEPREDICATE SORT(dogs.@count DESC)
            """#))
    func `paths follow inverse links`(query: String, expected: String) throws {
        // `dogs[0]` of a person without dogs takes part in no comparison.
        let expected = query.hasPrefix("dogs[0].name") ? "" : expected
        #expect(try Kennel.find("Person", query) == expected, "\(query)")
    }

    @Test func `a list that contains a row twice links to it twice`() throws {
        #expect(try Kennel.find("Toy", "players.@count == 2 AND @links.Dog.toys.@count == 2") == "wx")
        #expect(try Kennel.find("Toy", "@links.Dog.dict.name == 'e'") == "z")
        #expect(try Kennel.find("Toy", "@links.Dog.set.@count == 2") == "z")
    }

    @Test(arguments: [
        ("owner.nam == 'x'", "did you mean \"name\""), ("owner.name.x == 1", "has no property \"x\""),
        ("owner < $0", "links have no order"), ("toys == nil", "Cannot compare linklist"),
        ("owner == 5", "\"owner\" (link) with 5 (int)"), ("owner == toys[0]", "owner links to Person, toys[0] to Toy"),
        ("lost.name == 'x'", "the rows of \"Island\", which \"Dog.lost\" links to, are not available"),
        ("@links.Dgo.owner.@count == 1", "did you mean \"Dog\""), ("@links.Toy.maker.@count == 1", "\"Toy.maker\" does not link to Dog"),
        ("@links.Dog.nme.@count == 1", "did you mean \"name\""),
        ("owner.dgos.@count == 1", "did you mean \"dogs\""), ("name.@links.@count == 1", "it has no @links"),
        ("ALL owner.name == 'x'", "must contain a list"),
        ("TRUEPREDICATE SORT(toys.price ASC)", "one value a row"), ("toys.price BETWEEN {1, 2}", "Only \"ALL\" is supported"),
        ("owner.@sum.age == 1", "needs a collection"),
        ("owner CONTAINS 'x'", "needs text"), ("toys.@sum.name == 1", "cannot be used with"), ("@links == 1", "must be followed by"),
        ("@links.Dog == 1", "must be followed by"),
    ])
    func `an invalid path is an error with a position`(query: String, part: String) {
        do {
            _ = try QueryRun(
                QueryRequest(filter: query, arguments: Kennel.arguments, names: Kennel.names), table: Kennel.tables["Dog"]!)
            Issue.record("\(query) was accepted")
        } catch {
            #expect(error.description.contains(part) && error.position <= query.utf8.count, "\(query): \(error)")
        }
    }

    @Test func `paths through links can be selected, grouped and aggregated`() throws {
        func rows(_ request: QueryRequest) throws -> [[Value]] {
            var out: [[Value]] = []
            let run = try QueryRun(request, table: Kennel.tables["Dog"]!)
            try run.forEachBatch { batch in
                #expect(batch.columns.map(\.type) == run.columns.map(\.type))
                for row in 0..<batch.count { out.append(batch.columns.map { $0.value(at: row) }) }
                return true
            }
            return out
        }
        let selected = try rows(
            QueryRequest(
                filter: "name < 'd'", select: ["owner.name", "toys.price", "owner.address.city", "toys.tags", "owner.dogs.name"],
                names: Kennel.names))
        #expect(
            selected == [
                [
                    .string("Ada"), .list([.double(2), .double(4), .double(2)]), .string("London"),
                    .list([.string("red"), .string("blue"), .string("old"), .string("red")]), .list([.string("a")]),
                ],
                [.string("Bob"), .list([]), .null, .list([]), .list([.string("b")])],
                [.null, .list([.null]), .null, .list([]), .list([])],
            ])
        let sorted = try rows(QueryRequest(select: ["name", "owner.name"], sort: [.init("owner.name", ascending: false)], limit: 3))
        #expect(sorted == [[.string("c"), .null], [.string("d"), .null], [.string("e"), .string("Cy")]])
        let groups = try rows(
            QueryRequest(
                sort: [.init("count", ascending: false)], groupBy: ["owner.name"],
                aggregates: try Aggregate.list("count, sum(owner.age), max(toys.@count)")))
        #expect(groups.first == [.null, .int(2), .int(0), .int(2)])
        #expect(groups.count == 4)
        let some = try rows(
            QueryRequest(
                filter: "name >= 'b'", sort: [.init("owner.age")], groupBy: ["owner.age", "owner"],
                aggregates: try Aggregate.list("count, min(owner.name), count(distinct owner)")))
        #expect(
            some == [
                [.null, .link(1), .int(1), .string("Bob"), .int(1)], [.null, .null, .int(2), .null, .int(0)],
                [.int(20), .link(2), .int(1), .string("Cy"), .int(1)],
            ])
    }

    @Test func `paths can be arguments, and arguments are taken in order`() throws {
        #expect(try Kennel.find("Dog", "%K == %@", [.string("owner.name"), .string("Ada")]) == "a")
        #expect(
            try Kennel.find("Dog", "ANY %K.price > %@ AND %K.@count == %@", [.string("toys"), .int(3), .string("toys"), .int(2)]) == "d")
        #expect(try Kennel.find("Dog", "owner.$K1 == $0 SORT($K2 DESC)", [.int(20), .string("age"), .string("name")]) == "e")
        #expect(try Kennel.find("Dog", "TRUEPREDICATE SORT(%K DESC)", [.string("name")]) == "edcba")
        #expect(try Kennel.find("Dog", "name IN {%@, %@}", [.string("a"), .string("c")]) == "ac")
        #expect(try Kennel.find("Dog", "name IN %@", [.list([.string("a"), .string("c")])]) == "ac")
        #expect(try Kennel.find("Dog", "owner.age BETWEEN %@", [.list([.int(1), .int(30)])]) == "e")
        #expect(try Kennel.find("Dog", "dict[%@].name == %@", [.string("k"), .string("ball")]) == "a")
        #expect(try Kennel.find("Dog", "toys[%@].name == 'bone'", [.int(1)]) == "a")
        for (query, arguments) in [
            ("%K == 1", [Value.int(1)]), ("%K == 1", []), ("%K == 1", [.string("a b")]), ("%K == 1", [.string("nope")]),
        ] {
            #expect(throws: QueryError.self, "\(query) \(arguments)") { try Kennel.find("Dog", query, arguments) }
        }
        let tree = try Parser.query("%K.x == %@ AND ANY @links.A.b[%@] == $K7")
        #expect(tree.description == "$K0.x == $1 AND ANY @links.A.b[$2] == $K7")
        #expect(try Parser.query(tree.description) == tree)
    }

    @Test func `a list of rows is searched, counted and summed in its order, with its repetitions`() throws {
        let dogs = Kennel.tables["Dog"]!
        let list = SelectedRows([4, 0, 70, 0, 3, 1], of: dogs)
        func find(_ query: String) throws -> String {
            try Kennel.letters(
                try QueryRun(QueryRequest(filter: query, arguments: Kennel.arguments, names: Kennel.names), table: list), list, "Dog")
        }
        #expect(try find("TRUEPREDICATE") == "eaadb")
        #expect(try find("owner.age > 0") == "eaa")
        #expect(try find("TRUEPREDICATE SORT(name ASC)") == "aabde")
        #expect(try find("TRUEPREDICATE DISTINCT(name)") == "eadb")
        #expect(try find("TRUEPREDICATE SORT(owner.age ASC) LIMIT(3)") == "bea")
        #expect(try find("owner.dogs.name == 'a'") == "aa")
        #expect(try find("SELF == $0") == "aa")
        #expect(try QueryRun(QueryRequest(), table: list).count() == 5)
        var sums: [Value] = []
        try QueryRun(QueryRequest(aggregates: try Aggregate.list("count, sum(owner.age), max(toys.@count)")), table: list).forEachBatch {
            batch in
            sums = batch.columns.map { $0.value(at: 0) }
            return true
        }
        #expect(sums == [.int(5), .int(92), .int(3)])
        let broken = SelectedRows([1, 2], of: BrokenTable(Kennel.person))
        #expect(throws: FirnError.self) { try QueryRun(QueryRequest(), table: broken).count() }
        #expect(throws: FirnError.self) { try QueryRun(QueryRequest(filter: "age > 1"), table: broken).count() }
    }

    @Test func `several threads find the same rows through links`() throws {
        let type = TypeSchema(
            "N", columns: [ColumnSchema("i", ColumnType(.int)), ColumnSchema("next", ColumnType(.link, optional: true, target: "N"))])
        var random = Random(seed: 3), batches: [Batch] = []
        for part in 0..<12 {
            var batch = Batch(type, in: Schema([type]))
            for row in 0..<2000 {
                batch.columns[0].append(.int(Int64(part * 2000 + row)))
                batch.columns[1].append(.link(Int64(random.below(25_000))))
                batch.count += 1
            }
            batches.append(batch)
        }
        let table = MemoryTable(type, schema: Schema([type]), batches: batches)
        let list = SelectedRows((0..<70_000).map { _ in Int64(random.below(24_100)) }, of: table)
        for rows: any Table in [table, list] {
            for query in [
                "next.next.i < 5000", "@links.N.next.@count > 2", "next.next.@links.N.next.i > 20000 SORT(next.i ASC)", "next == nil",
                "TRUEPREDICATE DISTINCT(next.next.next.i)",
            ] {
                func found(_ threads: Int) throws -> [UInt64] {
                    let run = try QueryRun(QueryRequest(filter: query), table: rows, threads: threads)
                    return try run.rowLocations().map { UInt64($0.segment) << 32 | UInt64($0.position) }
                }
                let one = try found(1)
                #expect(try !one.isEmpty && found(4) == one && found(12) == one, "\(query)")
            }
        }
    }

    @Test func `inverse links of embedded objects lead to their owners, and damage of linked rows is an error`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([Kennel.person, Kennel.address])
        for person in Kennel.people { try transaction.insert("Person", person) }
        try transaction.commit()
        let addresses = try #require(try database.snapshot().table(named: "Address"))
        let names = PropertyNames(inverses: [QueryRequest.Inverse("people", type: "Person", column: "address")])
        func cities(_ query: String) throws -> [Value] {
            var out: [Value] = []
            try QueryRun(QueryRequest(filter: query, sort: [.init("city")], names: names), table: addresses).forEachBatch { batch in
                for row in 0..<batch.count { out.append(batch.columns[0].value(at: row)) }
                return true
            }
            return out
        }
        #expect(try cities("people.name == 'Ada'") == [.string("London")])
        #expect(try cities("@links.Person.homes.name == 'Cy'") == [.null, .string("Oslo")])
        #expect(try cities("@links.@count == 1").count == 6)
        let broken = BrokenTable(Kennel.person)
        var batch = Batch(Kennel.dog, in: Kennel.schema)
        for (i, value) in Kennel.dogs[0].enumerated() { batch.columns[i].append(value) }
        batch.count = 1
        let dogs = MemoryTable(Kennel.dog, schema: Kennel.schema, batches: [batch]) { $0 == "Person" ? broken : nil }
        for query in ["owner.name == 'x'", "owner == nil", "TRUEPREDICATE SORT(owner.age ASC)"] {
            do {
                _ = try QueryRun(QueryRequest(filter: query), table: dogs, file: "a.firn").count()
                Issue.record("\(query) succeeded on a damaged table")
            } catch let error as FirnError { #expect(error.code == .damaged, "\(query): \(error)") }
        }
    }
}

/// A table whose segments cannot be read.
private final class BrokenTable: Table {
    let type: TypeSchema
    init(_ type: TypeSchema) { self.type = type }
    var schema: Schema { Kennel.schema }
    var rowCount: Int { 1 }
    var segmentCount: Int { 1 }
    func segment(_ index: Int) throws(Damage) -> any Segment { throw Damage("torn") }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { 0 }
}
