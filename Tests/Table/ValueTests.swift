import FirnBytes
import FirnKit
import FirnTable
import Foundation
import Testing

@Suite struct ValueTests {
    @Test(arguments: Seed.first(50))
    func `values round trip through bytes, and damaged bytes never trap`(seed: Seed) throws {
        var random = RandomTables(seed)
        let schema = random.schema()
        for column in schema.types.last!.columns {
            let value = random.value(column.type, in: schema)
            let bytes = value.encoded
            let back = try bytes.withUnsafeBytes { try Value(encoded: $0) }
            #expect(back == value, "seed \(seed)")
            for cut in 0..<bytes.count { _ = bytes[..<cut].withUnsafeBytes { try? Value(encoded: $0) } }
            for i in bytes.indices {
                var damaged = bytes
                damaged[i] ^= 1 << UInt8(random.number(0...7))
                _ = damaged.withUnsafeBytes { try? Value(encoded: $0) }
            }
        }
    }

    @Test func `counts of nested lists that exceed their bytes reserve no memory`() async {
        await #expect(processExitsWith: .success) {
            #if canImport(Glibc)
                var limit = rlimit(rlim_cur: 8 << 30, rlim_max: 8 << 30)
                setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            #endif
            // Each of 100 nested lists claims 30 million elements: 48 GB, if all of them were reserved.
            var bytes = ByteWriter()
            for _ in 0..<100 {
                bytes.append(AnyTag.list)
                bytes.appendVarint(30_000_000)
            }
            let encoded = bytes.bytes + [UInt8](repeating: 0xFF, count: 31_000_000)
            #expect(throws: Damage.self) { try encoded.withUnsafeBytes { (bytes) throws(Damage) in try Value(encoded: bytes) } }
        }
    }

    @Test func `numbers of different types are compared exactly, by value`() {
        let big: Int64 = 9_007_199_254_740_993
        #expect(Value.order(.int(1), .double(1)) == 0)
        #expect(Value.order(.int(big), .double(9_007_199_254_740_992)) == 1)
        #expect(Value.order(.int(.max), .double(0x1p63)) == -1)
        #expect(Value.order(.decimal(Decimal("1.50")!), .double(1.5)) == 0)
        let rounded = Value.decimal(Decimal("0.1000000000000000055511151231257827")!)  // the first 34 digits of the double
        #expect(Value.order(rounded, .double(0.1)) == -1)
        #expect(Value.order(.double(0.1), rounded) == 1)
        #expect(Value.order(.decimal(Decimal("-0.1000000000000000055511151231257827")!), .double(-0.1)) == 1)
        #expect(Value.order(.decimal(Decimal("0.1000000000000000055511151231257828")!), .double(0.1)) == 1)
        #expect(Value.order(.decimal(Decimal("nan")!), .double(.nan)) == 0)
        #expect(Value.order(.decimal(Decimal("inf")!), .double(.infinity)) == 0)
        #expect(Value.order(.double(.nan), .int(.min)) == -1)
        #expect(Value.order(.double(.nan), .double(.nan)) == 0)
        #expect(Value.order(.null, .bool(false)) == -1)
        #expect(Value.order(.string("b"), .string("a")) == 1)
        #expect(Value.order(.int(9), .string("1")) == -1)
    }

    @Test func `decimals keep their digits and their scale`() {
        for text in ["0", "1.10", "-0.001", "123456789012345678901234567890.1234", "0.0000001", "1E+40", "-7", "100"] {
            let decimal = Decimal(text)
            #expect(decimal != nil, "\(text)")
            #expect(Decimal(decimal?.description ?? "") == decimal, "\(text) became \(decimal?.description ?? "nil")")
        }
        #expect(Decimal("1.10")!.description == "1.10")
        #expect(Decimal("0.001")!.description == "0.001")
        for text in ["x", "", "1.2.3", "nano", "nanx", "nan1", ".nan", "infx", "i", "in", "--1", "1e", " 1", "1 "] {
            #expect(Decimal(text) == nil, "\(text)")
        }
        for text in ["nan", "NaN", "-nan", "+NAN"] { #expect(Decimal(text)?.isNaN == true, "\(text)") }
        #expect(Decimal("inf") == Decimal("Infinity") && Decimal("-Inf")?.double == -.infinity)
        #expect(Decimal("12345678901234567890123456789012345678") == nil)
        #expect(Decimal("1\u{0}2") == nil, "a number with a NUL was accepted")
        #expect(Decimal(rounding: "12345678901234567890123456789012345678")?.description == "1.234567890123456789012345678901235E+37")
        #expect(Decimal(rounding: "1\u{0}2") == nil && Decimal(rounding: "x") == nil && Decimal(rounding: "1.2.3") == nil)
    }

    @Test func `identifiers round trip through text`() {
        let text = "123e4567-e89b-12d3-a456-426614174000"
        #expect(Identifier(uuidText: text)?.uuidText == text)
        #expect(Identifier(uuidText: "123e4567e89b12d3a456426614174000") == nil)
        #expect(Identifier(objectIDText: "507f1f77bcf86cd799439011")?.objectIDText == "507f1f77bcf86cd799439011")
    }

    @Test(arguments: Seed.first(30))
    func `slices and gathered rows of a column have the values of its rows`(seed: Seed) {
        var random = RandomTables(seed)
        let schema = random.schema(), type = schema.types.last!
        let rows = random.rows(random.number(1...60), of: type, in: schema)
        let batch = RandomTables.batch(rows, of: type, in: schema)
        for (i, column) in batch.columns.enumerated() {
            let low = random.number(0...rows.count - 1), high = random.number(low...rows.count)
            let slice = column.slice(low..<high)
            #expect((0..<slice.count).map { stripped(slice.value(at: $0)) } == rows[low..<high].map { stripped($0[i]) }, "seed \(seed)")
            let picks = (0..<20).map { _ in random.number(0...rows.count - 1) }
            let gathered = column.gather(picks)
            #expect((0..<20).map { stripped(gathered.value(at: $0)) } == picks.map { stripped(rows[$0][i]) }, "seed \(seed)")
        }
    }

    @Test func `an object id of a damaged file with too large a number has a text of 24 digits`() {
        #expect(Identifier(high: 0x1234, low: .max).objectIDText == "0000000000001234ffffffff")
        #expect(Identifier(high: 0x1234, low: 0x1_0000_0002).objectIDText == "000000000000123400000002")
        #expect(Identifier(high: .max, low: 7).objectIDText == "ffffffffffffffff00000007")
    }
}
