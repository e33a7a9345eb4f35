import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Tables that assign numbers to the keys of groups and to distinct values.
struct NumberingTests {
    static func column(_ type: ColumnType, _ values: [Value]) -> Column {
        var column = Column(type)
        for value in values { column.append(value) }
        return column
    }

    /// A random value of a kind, from a limited set.
    static func value(_ kind: ScalarKind, _ random: inout Random, among bound: Int) -> Value {
        let n = random.below(bound)
        return switch kind {
        case .bool: .bool(n & 1 == 1)
        case .int: .int(Int64(n) &* 0x1234_5678_9ABC)
        case .double:
            .double(n == 0 ? 0 : n == 1 ? -0.0 : n == 2 ? .nan : n == 3 ? Double(bitPattern: 0x7FF8_0000_0000_0001) : Double(n) / 8)
        case .string: .string(String(repeating: "ab", count: n % 9) + String(n))
        case .date: .date(Timestamp(seconds: Int64(n), nanoseconds: Int32(n % 3)))
        default: n % 3 == 0 ? .int(Int64(n)) : .double(Double(n))
        }
    }

    @Test(arguments: [ScalarKind.bool, .int, .double, .string, .date, .any], [1.0, 0.9])
    func `numbering values in batches gives the same numbers as one by one, also when both are mixed`(kind: ScalarKind, share: Double) {
        for seed in Seed.first(Tier.cases(3, of: 12)) {
            var random = Random(seed)
            let type = ColumnType(kind, optional: share < 1), bound = [3, 300, 40_000][Int(seed.number % 3)]
            var one = ValueNumbering(type), many = ValueNumbering(type)
            for _ in 0..<12 {
                let values = (0..<vectorSize).map { _ in
                    Double(random.below(100)) < share * 100 ? Self.value(kind, &random, among: bound) : Value.null
                }
                let column = Self.column(type, values)
                let rows = (0..<Int32(vectorSize)).filter { _ in random.below(4) > 0 }
                let expected = rows.map { one.number(column, Int($0)) }
                if random.below(3) == 0 {
                    #expect(rows.map { many.number(column, Int($0)) } == expected, "seed \(seed)")
                } else {
                    var numbers = [UInt32](repeating: 0, count: rows.count)
                    rows.withUnsafeBufferPointer { rows in
                        numbers.withUnsafeMutableBufferPointer { many.numbers(column, rows, into: $0.baseAddress!) }
                    }
                    #expect(numbers == expected, "seed \(seed)")
                }
                #expect(one.count == many.count, "seed \(seed)")
            }
            let a = one.values, b = many.values
            #expect((0..<a.count).allSatisfy { Value.order(a.value(at: $0), b.value(at: $0)) == 0 }, "seed \(seed)")
            var third = ValueNumbering(type)
            let mapped = third.numbers(of: many)
            #expect(mapped == (0..<UInt32(many.count)).map { $0 }, "seed \(seed)")
        }
    }

    @Test func `integers chosen to collide are numbered with a hash that has a secret key`() {
        func inverse(_ odd: UInt64) -> UInt64 {
            var x = odd
            for _ in 0..<6 { x = x &* (2 &- odd &* x) }
            return x
        }
        // The inverse of the hash function, for hashes whose upper bits are all zero.
        let words = (0..<20_000).map { i -> Int64 in
            var x = UInt64(i) &* inverse(0xBF58_476D_1CE4_E5B9)
            x ^= x >> 29 ^ x >> 58
            x = x &* inverse(0x9E37_79B9_7F4A_7C15)
            return Int64(bitPattern: x ^ x >> 32)
        }
        var table = IntegerTable(), friendly = IntegerTable()
        for (i, word) in words.enumerated() { #expect(Int(table.number(word)) == i) }
        #expect(table.isKeyed)
        #expect(words.indices.allSatisfy { Int(table.number(words[$0])) == $0 })
        var numbers = [UInt32](repeating: 0, count: words.count)
        words.withUnsafeBufferPointer { words in numbers.withUnsafeMutableBufferPointer { table.numbers(words, into: $0.baseAddress!) } }
        #expect(numbers == words.indices.map { UInt32($0) })
        for i in 0..<200_000 { _ = friendly.number(Int64(i) &* 1_000_003) }
        #expect(!friendly.isKeyed)
    }

    @Test func `texts chosen to collide are numbered with a hash that has a secret key`() {
        // The second half of each pair of words cancels the change of the hash state by the first half.
        let texts = (0..<4096).map { choice -> [UInt8] in
            var bytes = [UInt8](repeating: 0x41, count: 200)
            for pair in 0..<12 where choice >> pair & 1 == 1 { for byte in [7, 11, 15] { bytes[pair * 16 + byte] ^= 0x80 } }
            return bytes
        }
        var text = Text()
        for bytes in texts { text.append(bytes) }
        var one = ByteTable(), many = ByteTable()
        for i in texts.indices { #expect(text.withBytes(i) { Int(one.number($0)) } == i) }
        #expect(one.isKeyed)
        let rows = (0..<4096).map { Int32($0) }
        for _ in 0..<2 {
            var numbers = [UInt32](repeating: 0, count: rows.count)
            rows.withUnsafeBufferPointer { rows in
                numbers.withUnsafeMutableBufferPointer { numbers in
                    text.withRows(rows) { many.numbers($0, nil, into: numbers.baseAddress!) }
                }
            }
            #expect(numbers == texts.indices.map { UInt32($0) })
        }
        #expect(many.isKeyed)
        var friendly = ByteTable()
        for i in 0..<100_000 { _ = Array("name \(i)".utf8).withUnsafeBytes { friendly.number($0) } }
        #expect(!friendly.isKeyed)
    }

    @Test(arguments: [1, 2, 3], ["", "few", "many"])
    func `distinct values are counted in one, few and many groups by any number of threads`(threads: Int, by: String) throws {
        let type = TypeSchema(
            "R",
            columns: [
                ColumnSchema("few", ColumnType(.int)), ColumnSchema("many", ColumnType(.int)), ColumnSchema("i", ColumnType(.int)),
                ColumnSchema("s", ColumnType(.string, optional: true)), ColumnSchema("d", ColumnType(.double)),
            ])
        var random = Random(seed: 77), batches: [Batch] = [], met: [Int64: [Set<Value>]] = [:]
        for _ in 0..<4 {
            var batch = Batch(type, in: Schema([type]))
            for _ in 0..<3_000 {
                let row: [Value] = [
                    .int(Int64(random.below(7))), .int(Int64(random.below(900))), .int(Int64(random.below(500))),
                    random.below(9) == 0 ? .null : Self.value(.string, &random, among: 2_000), .double(Double(random.below(3_000))),
                ]
                for (i, value) in row.enumerated() { batch.columns[i].append(value) }
                batch.count += 1
                guard case .int(let few) = row[0], case .int(let many) = row[1] else { continue }
                let group = by == "few" ? few : by == "many" ? many : 0
                for (i, value) in row[2...].enumerated() where !value.isNull { met[group, default: [[], [], []]][i].insert(value) }
            }
            batches.append(batch)
        }
        let request = QueryRequest(
            groupBy: by.isEmpty ? [] : [by], aggregates: try Aggregate.list("count(distinct i), count(distinct s), count(distinct d)"))
        var groups = 0
        try QueryRun(request, table: MemoryTable(type, schema: Schema([type]), batches: batches), threads: threads).forEachBatch { batch in
            for r in 0..<batch.count {
                var row = batch.columns.map { $0.value(at: r) }, group: Int64 = 0
                if !by.isEmpty, case .int(let key) = row.removeFirst() { group = key }
                #expect(row == met[group, default: [[], [], []]].map { .int(Int64($0.count)) })
                groups += 1
            }
            return true
        }
        #expect(groups == met.count)
    }
}
