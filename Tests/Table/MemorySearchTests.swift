import FirnBytes
import FirnKit
import FirnTable
import Testing

struct MemorySearchTests {
    @Test(arguments: [ScalarKind.date, .uuid, .objectID])
    func `a search for a range of pairs in memory finds the rows within it`(kind: ScalarKind) throws {
        var random = Random(seed: 21)
        for count in [1, 63, 64, 65, 1024, 1500] {
            var column = Column(ColumnType(kind, optional: true))
            column.count = count
            column.words = (0..<count).map { _ in Int64.random(in: -3...3, using: &random) }
            column.extra = (0..<count).map { _ in Int64.random(in: -2...2, using: &random) }
            column.present = Bits(words: (0..<(count + 63) / 64).map { _ in random.next() }, count: count)
            let reader = MemoryColumnReader(column)
            for _ in 0..<60 {
                let ends = (0..<4).map { _ in Int64.random(in: -4...4, using: &random) }
                for (low, high) in [
                    ((ends[0], ends[1]), (ends[2], ends[3])), ((Int64.min, Int64.min), (ends[0], ends[1])),
                    ((ends[0], ends[1]), (.max, .max)),
                ] {
                    for vector in 0..<(count + vectorSize - 1) / vectorSize {
                        var bits = [UInt64](repeating: .max, count: vectorSize / 64)
                        let outcome = try bits.withUnsafeMutableBufferPointer {
                            try reader.search(.pairs(low: low, high: high), vector: vector, into: $0.baseAddress!)
                        }
                        guard case .done(let present?) = outcome else {
                            Issue.record("the search was not done")
                            return
                        }
                        for row in vector * vectorSize..<min(count, (vector + 1) * vectorSize) {
                            let value = (column.words[row], column.extra[row]), bit = row - vector * vectorSize
                            #expect((bits[bit / 64] >> UInt64(bit % 64) & 1 == 1) == (value >= low && value <= high))
                            #expect(present[bit] == column.present?[row])
                        }
                    }
                }
            }
        }
    }
}
