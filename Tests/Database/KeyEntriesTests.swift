import FirnKit
import Testing

@testable import FirnDatabase

@Suite struct KeyEntriesTests {
    private func candidates(_ entries: KeyEntries, _ hash: UInt64) -> Set<Int64> {
        var found: Set<Int64> = []
        _ = entries.candidates(hash).smallest { row in
            found.insert(row)
            return false
        }
        return found
    }

    @Test(arguments: [40, 12, 3, 1], [UInt64.max, 7 << 61, 0])
    func `every added row is found by its hash, for any row id and any number of equal hashes`(
        rowBits: Int, mask: UInt64
    ) {
        var random = Random(seed: UInt64(rowBits) &+ mask)
        var entries = KeyEntries(rowBits: rowBits), rows: [(hash: UInt64, row: Int64)] = []
        for _ in 0..<(mask == .max ? 20_000 : 500) {
            let hash = random.next() & mask
            let row = Int64.random(in: 0..<(1 << Int64.random(in: 0..<50, using: &random)), using: &random)
            rows.append((hash, row))
            entries.add(hash, row)
            entries.add(hash, row)
        }
        for (hash, row) in rows { #expect(candidates(entries, hash).contains(row)) }
        #expect(entries.count <= rows.count)
        if mask == .max {
            // At least 24 bits of a hash are compared, so hardly any other row is a candidate.
            let strangers = (0..<1000).reduce(0) { sum, _ in sum + candidates(entries, random.next()).count }
            #expect(strangers <= 20)
        }
    }

    @Test func `entries of tables that store other parts of the hash are found after they are added`() {
        for (first, second) in [(1_000_000 as Int64, 10 as Int64), (10, 1 << 35), (1 << 35, 10), (1 << 45, 10), (10, 1 << 45)] {
            var random = Random(seed: UInt64(first + second)), rows: [(hash: UInt64, row: Int64)] = []
            var one = KeyEntries(), other = KeyEntries()
            for i in 0..<3000 as Range<Int64> {
                rows.append((random.next(), first + i))
                one.add(rows.last!.hash, rows.last!.row)
                rows.append((random.next(), second + i))
                other.add(rows.last!.hash, rows.last!.row)
            }
            one.add(other)
            #expect(one.count == 6000)
            for (hash, row) in rows { #expect(candidates(one, hash).contains(row)) }
        }
    }

    @Test func `the smallest row that passes is returned`() {
        var entries = KeyEntries()
        for row in [9, 4, 7, 2] as [Int64] { entries.add(5, row) }
        #expect(entries.candidates(5).smallest { $0 > 2 } == 4)
        #expect(entries.candidates(5).smallest { $0 > 9 } == nil)
    }
}
