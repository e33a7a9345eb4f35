import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Texts of at most 15 bytes, which are two words in the tables of many keys.
struct ShortTextTests {
    private static func bytes(_ length: Int, _ random: inout Random) -> [UInt8] {
        // Few different bytes, so that texts differ in one place, or in their length only.
        (0..<length).map { _ in [0, 1, 0x61, 0xFF][random.below(4)] }
    }

    @Test func `a short text has its bytes again, and is equal to texts with the same bytes only`() {
        var random = Random(seed: 5), known: [[UInt8]] = []
        for length in 0...ShortText.maximumBytes { for _ in 0..<40 { known.append(Self.bytes(length, &random)) } }
        let words = known.map { $0.withUnsafeBytes { ShortText($0) } }
        for (bytes, word) in zip(known, words) {
            let copy = [UInt8](unsafeUninitializedCapacity: 16) { room, count in
                word.copy(to: UnsafeMutableRawPointer(room.baseAddress!))
                count = word.count
            }
            #expect(copy == bytes)
        }
        for i in known.indices {
            for j in known.indices where (words[i] == words[j]) != (known[i] == known[j]) { Issue.record("\(known[i]), \(known[j])") }
        }
    }

    @Test(arguments: [1, 3])
    func `texts of every length are numbered in the order of first appearance, by one table or many`(threads: Int) {
        var random = Random(seed: 11)
        let pool = (0..<60_000).map { _ in Self.bytes(random.below(32), &random) + Array(String(random.below(500)).utf8) }
        var numbers: [[UInt8]: UInt32] = [:], order: [[UInt8]] = []
        var one = TextNumbering(), other = TextNumbering(), otherOrder: [[UInt8]] = []
        for count in [10_000, 9_000, 30_000, 500, 1, 20_000] {
            let rows = (0..<count).map { _ in pool[random.below(pool.count)] }
            var text = Text()
            for bytes in rows { text.append(bytes) }
            var found = [UInt32](repeating: 0, count: count)
            found.withUnsafeMutableBufferPointer { found in
                text.withRows { one.numbers($0, into: found.baseAddress!, threads: threads) }
            }
            for (bytes, number) in zip(rows, found) {
                let expected = numbers[bytes] ?? UInt32(order.count)
                if numbers[bytes] == nil {
                    numbers[bytes] = expected
                    order.append(bytes)
                }
                if expected != number { Issue.record("\(bytes): \(number), not \(expected)") }
            }
        }
        let keys = one.keys
        #expect(one.count == order.count && (0..<one.count).allSatisfy { keys.array($0) == order[$0] })
        #expect(order.indices.filter { $0 % 97 == 0 }.allSatisfy { i in order[i].withUnsafeBytes { one.number($0) } == i })
        // The keys of another table, some of which are new.
        var seen: Set<[UInt8]> = []
        for _ in 0..<40_000 {
            let bytes = random.below(3) == 0 ? Self.bytes(random.below(40), &random) : pool[random.below(pool.count)]
            if seen.insert(bytes).inserted { otherOrder.append(bytes) }
            _ = bytes.withUnsafeBytes { other.number($0) }
        }
        var text = Text()
        for bytes in otherOrder { text.append(bytes) }
        var again = [UInt32](repeating: 0, count: otherOrder.count)
        again.withUnsafeMutableBufferPointer { again in text.withRows { other.numbers($0, into: again.baseAddress!, threads: threads) } }
        #expect(again == otherOrder.indices.map { UInt32($0) })
        var merged = [UInt32](repeating: 0, count: otherOrder.count)
        merged.withUnsafeMutableBufferPointer { one.numbers(of: other, into: $0.baseAddress!, threads: threads) }
        for (bytes, number) in zip(otherOrder, merged) {
            let expected = numbers[bytes] ?? UInt32(order.count)
            if numbers[bytes] == nil {
                numbers[bytes] = expected
                order.append(bytes)
            }
            if expected != number { Issue.record("\(bytes): \(number), not \(expected)") }
        }
        #expect(one.count == order.count)
    }

    @Test func `short texts chosen to collide are numbered with a hash that has a secret key`() {
        func inverse(_ odd: UInt64) -> UInt64 {
            var x = odd
            for _ in 0..<6 { x = x &* (2 &- odd &* x) }
            return x
        }
        // Texts of eight bytes whose hashes have zeros as upper bits: the steps of the hash, backwards.
        let keys = (0..<20_000).map { i -> ShortText in
            var x = UInt64(i) &* inverse(0x94D0_49BB_1331_11EB)
            x ^= x >> 32
            x = x &* inverse(0xBF58_476D_1CE4_E5B9) ^ 8 << 56
            x ^= x >> 29 ^ x >> 58
            x = x &* inverse(0x9E37_79B9_7F4A_7C15)
            x ^= x >> 32
            return withUnsafeBytes(of: x.littleEndian) { ShortText($0) }
        }
        #expect(keys.allSatisfy { $0.mixed < 20_000 })
        var table = KeyTable<ShortText>()
        for (i, key) in keys.enumerated() { #expect(Int(table.number(key)) == i) }
        #expect(table.isKeyed && keys.indices.allSatisfy { Int(table.number(keys[$0])) == $0 })
    }
}
