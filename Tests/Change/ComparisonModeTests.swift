import FirnBytes
import FirnChange
import FirnTable
import Testing

@Suite struct ComparisonModeTests {
    /// Compares two values as cells, and also as keys if their types allow it.
    func same(
        _ oldType: ColumnType, _ old: Value, _ newType: ColumnType, _ new: Value, notation: Notation = .plain,
        newNotation: Notation = .plain,
        embedded: [TypeSchema] = [], newEmbedded: [TypeSchema]? = nil
    ) throws -> Bool {
        let id = column("id", .int)
        let a = table([id, ColumnSchema("x", oldType, notation: notation)], [[.int(1), old]], embedded: embedded)
        let b = table([id, ColumnSchema("x", newType, notation: newNotation)], [[.int(1), new]], embedded: newEmbedded ?? embedded)
        let same = try difference(a, b) { $0.key = ["id"] }.isEmpty
        if !oldType.isCollection, !newType.isCollection, oldType.kind != .embedded, newType.kind != .embedded {
            #expect(try difference(a, b) { $0.key = ["x"] }.unchanged == (same ? 1 : 0), "\(old) and \(new) as keys")
        }
        return same
    }

    func type(_ kind: ScalarKind) -> ColumnType { ColumnType(kind, optional: true) }

    @Test func `numbers are compared by value across kinds`() throws {
        #expect(try same(type(.int), .int(1), type(.double), .double(1)))
        #expect(try !same(type(.int), .int(1), type(.double), .double(1.5)))
        #expect(try !same(type(.int), .int(1 << 53 + 1), type(.double), .double(0x1p53)))
        #expect(try same(type(.decimal), .decimal(Decimal("1.50")!), type(.decimal), .decimal(Decimal("1.5")!)))
        #expect(try same(type(.double), .double(0.1), type(.decimal), .decimal(Decimal("0.1")!)))
        #expect(try same(type(.float), .float(0.1), type(.double), .double(0.1)))
        #expect(try same(type(.int), .int(7), type(.decimal), .decimal(Decimal("7.0")!)))
        #expect(try same(type(.double), .double(0), type(.double), .double(-0.0)))
        #expect(try same(type(.double), .double(.nan), type(.double), .double(.nan)))
        #expect(try !same(type(.double), .double(.nan), type(.double), .double(0)))
        #expect(try same(type(.any), .int(1), type(.any), .double(1)))
        #expect(try same(type(.any), .int(1), type(.int), .int(1)))
    }

    @Test func `numbers of different kinds are equal by exact value or by shortest text, never after rounding`() throws {
        func decimal(_ text: String) -> Value { .decimal(Decimal(text)!) }
        let pairs: [(Value, ScalarKind, Value, ScalarKind, Bool)] = [
            (decimal("100000000000000000001"), .decimal, .double(1e20), .double, false),
            (decimal("100000000000000000000"), .decimal, .double(1e20), .double, true),
            (decimal("12345678901234567890.12"), .decimal, .double(1.2345678901234567e19), .double, false),
            (decimal("0.1000000000000000055511151231257827"), .decimal, .double(0.1), .double, false),
            (decimal("1E23"), .decimal, .double(1e23), .double, true),
            (decimal("99999999999999991611392"), .decimal, .double(1e23), .double, true),
            (decimal("1E400"), .decimal, .double(.infinity), .double, false), (decimal("inf"), .decimal, .double(.infinity), .double, true),
            (decimal("0.1"), .decimal, .float(0.1), .float, true), (decimal("0.1000000015"), .decimal, .float(0.1), .float, false),
            (.float(0.1), .float, .double(0.1), .double, true), (.float(0.1), .float, .double(Double(Float(0.1))), .double, true),
            (.float(0.1), .float, .double(0.10000000001), .double, false),
            (.float(16_777_216), .float, .double(16_777_217), .double, false),
            (.float(16_777_216), .float, .int(16_777_217), .int, false),
        ]
        for (a, kind, b, other, expected) in pairs {
            #expect(try same(type(kind), a, type(other), b) == expected, "\(a) and \(b)")
            #expect(try same(type(other), b, type(kind), a) == expected, "\(b) and \(a)")
            #expect(try same(type(.any), a, type(.any), b) == expected, "\(a) and \(b) as any")
            let list = ColumnType(.any, optional: true, collection: .list, elementOptional: true)
            #expect(try same(list, .list([.string("x"), a]), list, .list([.string("x"), b])) == expected, "\(a) and \(b) in lists")
        }
    }

    @Test func `a tolerance is exact for integers and decimals`() throws {
        func decimal(_ text: String) -> Value { .decimal(Decimal(text)!) }
        func near(_ a: Value, _ b: Value, _ tolerance: Double) -> Bool { Value.sameNumber(a, b, tolerance: tolerance) }
        #expect(!near(.int(9_007_199_254_740_993), .int(9_007_199_254_740_992), 0.5))
        #expect(near(.int(9_007_199_254_740_993), .int(9_007_199_254_740_992), 1))
        #expect(!near(.int(.max), .int(.min), 1e18) && near(.int(.max), .int(.min), 2e19))
        #expect(!near(decimal("100000000000000000001"), .double(1e20), 0.001) && near(decimal("100000000000000000001"), .double(1e20), 1))
        #expect(near(decimal("1.05"), decimal("1.00"), 0.05) && near(decimal("0.30"), decimal("0.35"), 0.05))
        #expect(!near(decimal("1.0500001"), decimal("1.00"), 0.05) && !near(decimal("nan"), .int(0), 5) && near(.double(1.5), .int(1), 0.5))
        let id = column("id", .int), a = table([id, column("n", .int)], [[.int(1), .int(9_007_199_254_740_993)]])
        let b = table([id, column("n", .int)], [[.int(1), .int(9_007_199_254_740_992)]])
        #expect(try !difference(a, b) { ($0.key, $0.tolerance) = (["id"], 0.5) }.isEmpty)
        #expect(try difference(a, b) { ($0.key, $0.tolerance) = (["id"], 1) }.isEmpty)
    }

    @Test func `text equals a value of another kind with the same text`() throws {
        #expect(try same(type(.string), .string("12"), type(.int), .int(12)))
        #expect(try !same(type(.string), .string("012"), type(.int), .int(12)))
        #expect(try same(type(.string), .string("1.5"), type(.double), .double(1.5)))
        #expect(try same(type(.string), .string("3"), type(.double), .double(3)))
        #expect(try same(type(.string), .string("true"), type(.bool), .bool(true)))
        #expect(
            try same(type(.string), .string("2016-09-29"), type(.date), .date(Timestamp(seconds: 1_475_107_200)), newNotation: .dateOnly))
        #expect(try same(type(.string), .string("1.50"), type(.double), .double(1.5), newNotation: .fixed(2)))
        #expect(try same(type(.string), .string("-0.05"), type(.double), .double(-0.05), newNotation: .fixed(2)))
        #expect(try same(type(.string), .string("1900-02-28T23:59:59Z"), type(.date), .date(Timestamp(seconds: -2_203_891_201))))
        #expect(try !same(type(.any), .int(1), type(.any), .string("1")))
        #expect(try !same(type(.string), .null, type(.int), .int(1)))
        #expect(try same(type(.string), .null, type(.int), .null))
        #expect(try !same(type(.string), .string(""), type(.string), .null))
    }

    @Test func `the order of elements counts in lists, but not in sets and maps`() throws {
        func list(_ kind: CollectionKind) -> ColumnType { ColumnType(.any, optional: true, collection: kind, elementOptional: true) }
        #expect(try same(list(.list), .list([.int(1), .string("a")]), list(.list), .list([.double(1), .string("a")])))
        #expect(try !same(list(.list), .list([.int(1), .int(2)]), list(.list), .list([.int(2), .int(1)])))
        #expect(try same(list(.set), .set([.int(1), .int(2)]), list(.list), .list([.int(2), .int(1), .int(2)])))
        #expect(try !same(list(.list), .list([]), list(.list), .null))
        #expect(
            try same(
                list(.map), .map([.init("a", .int(1)), .init("b", .int(2))]), list(.map),
                .map([.init("b", .int(2)), .init("a", .double(1))])))
        #expect(try !same(type(.any), .list([]), type(.any), .map([])))
    }

    @Test func `embedded objects are compared by field name, and a missing field is null`() throws {
        let embedded = ColumnType(.embedded, optional: true, target: "Place")
        let old = TypeSchema("Place", columns: [column("city", .string), column("zip", .int)], isEmbedded: true)
        let new = TypeSchema(
            "Place", columns: [column("zip", .string), column("land", .string), column("city", .string)], isEmbedded: true)
        let a = Value.object([.init("city", .string("Oslo")), .init("zip", .null)])
        #expect(
            try same(
                embedded, a, embedded, .object([.init("zip", .null), .init("land", .null), .init("city", .string("Oslo"))]),
                embedded: [old], newEmbedded: [new]))
        #expect(
            try !same(
                embedded, a, embedded, .object([.init("zip", .null), .init("land", .string("NO")), .init("city", .string("Oslo"))]),
                embedded: [old], newEmbedded: [new]))
        #expect(try same(embedded, a, type(.any), .map([.init("city", .string("Oslo"))]), embedded: [old], newEmbedded: [new]))
        #expect(try !same(embedded, a, type(.any), .list([]), embedded: [old], newEmbedded: [new]))
        #expect(try !same(embedded, a, embedded, .null, embedded: [old], newEmbedded: [new]))
    }
}
