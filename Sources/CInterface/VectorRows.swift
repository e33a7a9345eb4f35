import FirnBytes
import FirnTable

/// Rows of a vector, ascending.
enum VectorRows: Sendable {
    case all
    /// Many rows, as runs of consecutive ones.
    case runs([Range<Int>])
    /// Few rows.
    case some([Int32])

    /// The rows that are set.
    init(_ bits: Bits, count: Int) {
        guard count < bits.count else {
            self = .all
            return
        }
        self = count >= bits.count / VectorRows.denseShare ? .runs(VectorRows.runs(bits)) : .some(VectorRows.rows(bits, count))
    }

    /// If this share of a vector's rows is selected, decoding all of them is faster than finding each.
    private static let denseShare = 2

    private static func rows(_ bits: Bits, _ count: Int) -> [Int32] {
        [Int32](unsafeUninitializedCapacity: count) { out, filled in
            bits.forEachSet { row in
                out[filled] = Int32(truncatingIfNeeded: row)
                filled += 1
            }
        }
    }

    private static func runs(_ bits: Bits) -> [Range<Int>] {
        var out: [Range<Int>] = []
        for (w, word) in bits.words.enumerated() {
            var rest = word, at = w &* 64
            while rest != 0 {
                let skipped = rest.trailingZeroBitCount
                rest >>= UInt64(truncatingIfNeeded: skipped)
                at += skipped
                let length = (~rest).trailingZeroBitCount
                rest = length == 64 ? 0 : rest >> UInt64(truncatingIfNeeded: length)
                if let last = out.last, last.upperBound == at {
                    out[out.count - 1] = last.lowerBound..<at + length
                } else {
                    out.append(at..<at + length)
                }
                at += length
            }
        }
        return out
    }

    /// The first `count` of them, of a vector with `total` rows.
    func prefix(_ count: Int, of total: Int) -> VectorRows {
        .some(Array(list(of: total).prefix(count)))
    }

    /// All rows one by one, of a vector with `total` rows.
    func list(of total: Int) -> [Int32] {
        switch self {
        case .all: Array(0..<Int32(total))
        case .runs(let runs): runs.flatMap { $0.map { Int32($0) } }
        case .some(let rows): rows
        }
    }
}
