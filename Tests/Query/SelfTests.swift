import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

@Suite struct SelfTests {
    private func table(_ type: ColumnType, _ values: [Value]) -> MemoryTable {
        let type = TypeSchema("List", columns: [ColumnSchema("self", type)])
        var batch = Batch(type, in: Schema([type]))
        for value in values { batch.columns[0].append(value) }
        batch.count = values.count
        return MemoryTable(type, schema: Schema([type]), batches: [batch])
    }

    @Test(
        arguments: [
            ("self > 5", [0, 3]), ("SELF > 5", [0, 3]), ("self == nil", [2]), ("self IN {5, 7}", [1, 3, 4]), ("self + 1 == 6", [1, 4]),
            ("TRUEPREDICATE SORT(self DESC)", [0, 3, 1, 4, 2]),
            ("self > 0 SORT(SELF ASC)", [1, 4, 3, 0]), ("TRUEPREDICATE DISTINCT(self)", [0, 1, 2, 3]), ("Self BETWEEN {5, 7}", [1, 3, 4]),
            ("`self` == 9", [0]), ("NOT self == 9", [1, 2, 3, 4]),
        ] as [(String, [Int])])
    func `self refers to the elements of a collection of values`(query: String, expected: [Int]) throws {
        let numbers = table(ColumnType(.int, optional: true), [.int(9), .int(5), .null, .int(7), .int(5)])
        #expect(try QueryRun(QueryRequest(filter: query), table: numbers).rowLocations().map(\.position) == expected, "\(query)")
    }

    @Test func `self also refers to text, to sort keys of a request, and to values of any kind`() throws {
        let texts = table(ColumnType(.string), [.string("b"), .string("xa"), .string("ax")])
        #expect(
            try QueryRun(QueryRequest(filter: "SELF CONTAINS 'x' SORT(self ASC)"), table: texts).rowLocations().map(\.position) == [2, 1])
        #expect(
            try QueryRun(QueryRequest(sort: [.init("self", ascending: false)], distinct: ["self"]), table: texts).rowLocations().map(
                \.position)
                == [1, 0, 2])
        #expect(try QueryRun(QueryRequest(filter: "self.@count == 2"), table: texts).count() == 2)
        let mixed = table(ColumnType(.any), [.int(1), .string("1"), .map([.init("k", .int(3))])])
        #expect(try QueryRun(QueryRequest(filter: "self == 1"), table: mixed).rowLocations().map(\.position) == [0])
        #expect(try QueryRun(QueryRequest(filter: "self.k == 3"), table: mixed).rowLocations().map(\.position) == [2])
    }
}
