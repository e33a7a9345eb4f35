import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

/// A small table with values for most rules of the language.
enum Zoo {
    static let toy = TypeSchema(
        "Toy",
        columns: [
            ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("price", ColumnType(.double, optional: true)),
            ColumnSchema("tags", ColumnType(.string, collection: .list)),
        ], isEmbedded: true)
    static let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("age", ColumnType(.int)),
            ColumnSchema("optAge", ColumnType(.int, optional: true)),
            ColumnSchema("weight", ColumnType(.double)), ColumnSchema("good", ColumnType(.bool)),
            ColumnSchema("ints", ColumnType(.int, collection: .list, elementOptional: true)),
            ColumnSchema("strs", ColumnType(.string, collection: .list, elementOptional: true)),
            ColumnSchema("set", ColumnType(.int, collection: .set)),
            ColumnSchema("dict", ColumnType(.int, collection: .map, elementOptional: true)), ColumnSchema("mixed", ColumnType(.any)),
            ColumnSchema("best", ColumnType(.embedded, optional: true, target: "Toy")),
            ColumnSchema("toys", ColumnType(.embedded, collection: .list, target: "Toy")),
            ColumnSchema("dec", ColumnType(.decimal, optional: true)), ColumnSchema("born", ColumnType(.date, optional: true)),
            ColumnSchema("any", ColumnType(.int)),
            ColumnSchema("data", ColumnType(.data, optional: true)), ColumnSchema("f", ColumnType(.float)),
            ColumnSchema("sort", ColumnType(.int)),
        ])
    static let schema = Schema([dog, toy])

    static func toyValue(_ name: Value, _ price: Value, _ tags: [String] = []) -> Value {
        .object([.init("name", name), .init("price", price), .init("tags", .list(tags.map { .string($0) }))])
    }
    static func date(_ seconds: Int64, _ nanoseconds: Int32 = 0) -> Value { .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds)) }

    /// a: Rex, b: Åsa, c: null, d: rex, e: "".
    static let rows: [[Value]] = [
        [
            .string("Rex"), .int(5), .int(5), .double(1.5), .bool(true), .list([.int(1), .int(2), .int(3)]),
            .list([.string("x"), .string("yy")]), .set([.int(1), .int(2)]),
            .map([.init("k", .int(1)), .init("z", .null)]), .int(5), toyValue(.string("ball"), .double(2)),
            .list([toyValue(.string("ball"), .double(2), ["red"]), toyValue(.string("bone"), .double(4), ["blue", "old"])]),
            .decimal(Decimal("1.50")!), date(0, 500), .int(1), .data([1, 2]), .float(1.1), .int(1),
        ],
        [
            .string("Åsa"), .int(7), .null, .double(.nan), .bool(false), .list([]), .list([]), .set([]), .map([]), .string("5"), .null,
            .list([]), .null, .null, .int(2), .null, .float(2), .int(2),
        ],
        [
            .null, .int(3), .int(0), .double(-2), .bool(true), .list([.int(5), .null]), .list([.null]), .set([.int(2), .int(3)]),
            .map([.init("k", .int(2))]), .null,
            toyValue(.null, .double(1)), .list([toyValue(.null, .null)]), .decimal(Decimal("nan")!), date(86400), .int(3), .data([255]),
            .float(3), .int(3),
        ],
        [
            .string("rex"), .int(5), .int(100), .double(0), .bool(false), .list([.int(-1)]), .list([.string("")]), .set([.int(-1)]),
            .map([.init("k", .null)]),
            .list([.map([.init("b", .int(7))]), .string("q")]), toyValue(.string("stick"), .double(3)),
            .list([toyValue(.string("stick"), .double(-1), ["red"])]),
            .decimal(Decimal("-3")!), date(-1, 999_999_999), .int(4), .data([]), .float(4), .int(4),
        ],
        [
            .string(""), .int(-4), .int(7), .double(.infinity), .bool(true), .list([.int(9), .int(9)]), .list([.string("x"), .null]),
            .set([.int(9)]), .map([.init("a b", .int(3))]), .double(5.0),
            .null, .list([]), .decimal(Decimal("100")!), date(1_600_000_000), .int(5), .data([1]), .float(5), .int(5),
        ],
    ]

    /// Two segments, so that every test crosses a segment boundary.
    static let table: MemoryTable = {
        var batches: [Batch] = []
        for part in [rows[0..<3], rows[3..<5]] {
            var batch = Batch(dog, in: schema)
            for row in part {
                for (i, value) in row.enumerated() {
                    precondition(batch.columns[i].append(value), "\(dog.columns[i].name) does not accept \(value)")
                }
                batch.count += 1
            }
            batches.append(batch)
        }
        return MemoryTable(dog, schema: schema, batches: batches)
    }()

    /// The letters of the found rows, in order.
    static func find(_ query: String, _ arguments: [Value] = []) throws -> String {
        let run = try QueryRun(QueryRequest(filter: query, arguments: arguments), table: table)
        let letters = Array("abcde")
        return String(try run.rowLocations().map { letters[$0.segment * 3 + $0.position] })
    }
}

@Suite struct EngineTests {
    @Test(arguments: Zoo.expectations)
    func `a query finds the rows that the rule lists`(query: String, expected: String) throws {
        #expect(try Zoo.find(query, [.string("k")]) == expected, "\(query)")
    }

    @Test(arguments: [
        ("agee == 5", "did you mean \"age\""), ("good == 1", "\"good\" (bool) with 1 (int)"),
        ("age == inf", "Infinity not supported for int"),
        ("name == 5", "5 (int)"), ("5 == name", "5 (int)"), ("name == age", "name is string, age is int"),
        ("zzzzzzzz == 5", "its columns are"), ("0 = 0", "Cannot compare two constants"),
        ("ALL age == 5", "must contain a list"), ("toys == nil", "Cannot compare linklist"),
        ("ints BETWEEN {1,2}", "Only \"ALL\" is supported"), ("name.length == 3", "has no property \"length\""),
        ("set[0] == 1", "does not support index"),
        ("age == $3", "argument at index 3"), ("age IN 5", "must be a list"), ("age ==[c] 5", "[c] needs text"),
        ("age CONTAINS 5", "needs text"), ("name + 1 == 2", "arithmetic needs numbers"), ("best.nam == 'x'", "did you mean \"name\""),
        ("ints < set", "cannot compare two collections"), ("TRUEPREDICATE SORT(ints ASC)", "one value a row"),
        ("data == 'x'", "with 'x' (string)"), ("age.@type == 'nope'", "not the name of a type"), ("name.@sum == 5", "needs a collection"),
    ])
    func `a query that does not fit the table is an error before any row is read`(query: String, part: String) {
        do {
            _ = try QueryRun(QueryRequest(filter: query, arguments: [.int(1)]), table: Zoo.table)
            Issue.record("\(query) was accepted")
        } catch {
            #expect(error.description.contains(part), "\(query): \(error)")
            #expect(error.asFirnError.code == .usage)
        }
    }

    @Test func `a literal with more digits than a double is compared exactly with values of any kind`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("v", ColumnType(.any))])
        let values: [Value] = [
            .decimal(Decimal("100000000000000000001")!), .double(1e20), .string("x"), .double(0.1), .int(7), .decimal(Decimal("1E20")!),
        ]
        var column = Column(type.columns[0].type)
        for value in values {
            let isTaken = column.append(value)
            #expect(isTaken)
        }
        let table = MemoryTable(type, schema: Schema([type]), batches: [Batch(count: values.count, columns: [column])])
        func count(_ filter: String) throws -> Int { try QueryRun(QueryRequest(filter: filter), table: table).count() }
        #expect(try count("v == 100000000000000000001") == 1)
        #expect(try count("v >= 100000000000000000001") == 1)
        #expect(try count("v == 100000000000000000000") == 2)
        #expect(try count("v IN {100000000000000000001, 7}") == 2)
        #expect(try count("v == 0.1") == 1 && count("v == 0.10") == 1 && count("v == 7.0") == 1)
    }

    @Test func `the numbers of segments visited, skipped and not needed add up to all segments`() throws {
        let run = try QueryRun(QueryRequest(filter: "TRUEPREDICATE LIMIT(1)"), table: Zoo.table)
        try run.forEachBatch { _ in true }
        #expect(run.explain().contains("segments: 1 of 2 visited, 0 skipped by zones, 1 not needed\n"), "\(run.explain())")
    }

    @Test(arguments: [1, 2])
    func `distinct rows with a limit are the first ones, and no further segment is read`(threads: Int) throws {
        func found(_ descriptors: String) throws -> (rows: [Int], segments: Int) {
            let run = try QueryRun(QueryRequest(filter: "TRUEPREDICATE " + descriptors), table: Zoo.table, threads: threads)
            return (try run.rowLocations().map { $0.segment * 3 + $0.position }, run.statistics.segments)
        }
        for column in ["name", "good", "age"] {
            let all = try found("DISTINCT(\(column))")
            for limit in 0...6 {
                #expect(try found("DISTINCT(\(column)) LIMIT(\(limit))").rows == Array(all.rows.prefix(limit)), "\(column) \(limit)")
            }
        }
        #expect(try found("DISTINCT(name) LIMIT(1)").segments == 1)
    }
}
