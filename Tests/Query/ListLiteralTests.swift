import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

/// Lists of constants next to every operator, and names that other queries write differently.
@Suite struct ListLiteralTests {
    private func check(_ query: String, _ expected: String, _ arguments: [Value] = [.string("k"), .int(5)]) throws {
        #expect(try Zoo.find(query, arguments) == expected, "\(query)")
        let tree = try Parser.query(query)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            abd   | name CONTAINS {'e', 's'}
            abd   | name BEGINSWITH[c] {'r', 'å'}
            ad    | name ENDSWITH {'x', 'y'}
            ab    | name LIKE {'R*', '?sa'}
                  | name CONTAINS {}
            acd   | name NOT CONTAINS {'s', ''} OR name CONTAINS[c] {'EX'}
            b     | age > {5, 100}
            ce    | age < {0, 4}
            ae    | mixed > {4}
            ace   | ints > {0}
            abe   | ALL ints > {0}
            bd    | NONE ints > {0, 5}
            ab    | ALL strs CONTAINS {'x', 'y'}
            bcd   | NONE strs CONTAINS {'x', 'y'}
            ce    | dict > {1}
            """#))
    func `a list on the right of an operator holds if one of its constants does`(query: String, expected: String) throws {
        try check(query, expected)
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            a     | {2} IN ints
            ae    | {2, 9} IN ints
            a     | ALL {1, 2} IN ints
            bcd   | NONE {1, 9} IN ints
                  | {} IN ints
            abcd  | {0} < age
            b     | {7, 8} <= age
            ace   | {'Rex', 'x'} CONTAINS name
            ac    | {5, 2} IN ints
            """#))
    func `a list on the left of an operator holds if one of its constants does`(query: String, expected: String) throws {
        try check(query, expected)
    }

    @Test func `an argument that is a list means the same as a list in the query`() throws {
        try check("name CONTAINS $0", "abd", [.list([.string("e"), .string("s")])])
        try check("ints > $0", "ace", [.list([.int(0)])])
        try check("$0 IN ints", "a", [.list([.int(2)])])
    }

    @Test(arguments: [
        ("{1} BETWEEN age", "requires a list"), ("{1} TEXT name", "does not accept a list on its left"),
        ("{1} IN age", "must be a list"), ("{1} IN nothing", "no column"), ("{} CONTAINS nothing", "no column"),
        ("age CONTAINS {'x'}", "needs text"),
        ("name CONTAINS {5}", "cannot compare"), ("name > {5}", "cannot compare"),
        ("name IN {3}", "cannot compare \"name\" (string) with 3 (int)"), ("name IN {3, 4.5}", "cannot compare"),
        ("name NOT IN {3}", "cannot compare"), ("name == {3}", "cannot compare"), ("{3} == name", "cannot compare"),
        ("name != {3}", "cannot compare"), ("age IN {'x'}", "cannot compare"), ("name IN ANY {3}", "cannot compare"),
        ("ANY strs IN {5}", "cannot compare"), ("ALL strs IN {5}", "cannot compare"), ("NONE strs IN {5}", "cannot compare"),
        ("strs == {5}", "cannot compare"), ("{5} IN strs", "cannot compare"), ("name BETWEEN {1, 2}", "cannot compare"),
        ("ALL strs BETWEEN {1, 2}", "cannot compare"), ("born IN {true}", "cannot compare"),
    ])
    func `a list where it makes no sense is refused with the reason`(query: String, part: String) {
        let error = #expect(throws: QueryError.self) { try Zoo.find(query) }
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            a     | name IN {'Rex', 3}
            b     | name IN {3, 'Åsa', 5.5}
                  | name IN {}
            """#))
    func `a constant of another type equals nothing if others in the list are comparable`(query: String, expected: String) throws {
        try check(query, expected)
    }

    @Test(
        arguments: Kennel.expectations(
            #"""
            a     | age=5AND name='Rex'
            bc    | age=3OR age=7
            d     | age = $1and name='rex'
            c     | born == 2020-09-13OR age=3
            c     | 5IN ints
            ad    | age == 5SORT(name ASC)
            ad    | age == $1-0
            """#))
    func `a word of the language may follow a number, date or argument without a space`(query: String, expected: String) throws {
        try check(query, expected)
    }

    @Test(arguments: ["age == 5x", "age == 5ANDY == 1", "age == $0x", "age == $", "born == 2020-01-01x"])
    func `a name directly after a number is an error`(query: String) {
        #expect(throws: QueryError.self) { try Zoo.find(query, [.int(5)]) }
    }

    @Test func `names may begin with a dollar sign`() throws {
        let type = TypeSchema("Row", columns: [ColumnSchema("$a", ColumnType(.int)), ColumnSchema("b", ColumnType(.int))])
        var batch = Batch(type, in: Schema([type]))
        for value in [1, 2, 3] { batch.columns.indices.forEach { batch.columns[$0].append(.int(Int64(value * ($0 + 1)))) } }
        batch.count = 3
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch])
        func rows(_ query: String) throws -> [Int] {
            try QueryRun(QueryRequest(filter: query, arguments: [.int(2)]), table: table).rowLocations().map(\.position)
        }
        #expect(try rows("$a = $0") == [1])
        #expect(try rows("$a > 1 AND b = 6 SORT($a DESC)") == [2])
        #expect(try rows("`$a` = 3") == [2])
        #expect(throws: QueryError.self) { try rows("$b = 3") }
    }
}
