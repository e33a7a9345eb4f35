import FirnBytes
import FirnCodecs
import FirnTable
import Synchronization

/// The rows of a segment that a relation does not hold for, which have entries of their own. Untrusted bytes lead to `Damage`.
final class ExceptionRows: Sendable {
    private let positions: IntegersReader?
    private let rowCount: Int
    /// The rows, after the first use.
    private let decoded = Mutex<[Int32]?>(nil)

    /// `bytes` is an integer stream of `count` ascending rows, or empty if there are none.
    init(_ bytes: UnsafeRawBufferPointer, count: Int, rowCount: Int) throws(Damage) {
        positions = count == 0 ? nil : try IntegersReader(bytes, count: count)
        self.rowCount = rowCount
    }

    var isEmpty: Bool { positions == nil }

    /// Returns the rows, ascending.
    func rows() throws(Damage) -> [Int32] {
        guard let positions else { return [] }
        if let known = decoded.withLock({ $0 }) { return known }
        var rows: [Int32] = []
        rows.reserveCapacity(positions.count)
        for vector in 0..<(positions.count + vectorSize - 1) / vectorSize {
            let part: [Int64] = try Array(count: min(vectorSize, positions.count - vector * vectorSize)) { (out) throws(Damage) in
                try positions.decode(vector: vector, into: out)
            }
            for row in part {
                guard row >= 0, row < Int64(rowCount), rows.last.map({ Int64($0) < row }) ?? true else {
                    throw Damage("the exceptions of a relation do not ascend, or are outside the segment")
                }
                rows.append(Int32(row))
            }
        }
        decoded.withLock { $0 = rows }
        return rows
    }

    /// Returns which exception a row is, or nil if it is none.
    func index(of row: Int) throws(Damage) -> Int? {
        guard positions != nil else { return nil }
        let rows = try rows(), rank = ExceptionRows.rank(rows, before: row)
        return rank < rows.count && Int(rows[rank]) == row ? rank : nil
    }

    /// Calls `body` for each exception in a range of rows, with the row and which exception it is.
    func forEach(in range: Range<Int>, _ body: (_ row: Int, _ index: Int) throws(Damage) -> Void) throws(Damage) {
        guard positions != nil else { return }
        let rows = try rows()
        var rank = ExceptionRows.rank(rows, before: range.lowerBound)
        while rank < rows.count, Int(rows[rank]) < range.upperBound {
            try body(Int(rows[rank]), rank)
            rank &+= 1
        }
    }

    /// Returns the number of exceptions before a row.
    private static func rank(_ rows: [Int32], before row: Int) -> Int {
        var low = 0, high = rows.count
        while low < high {
            let middle = (low &+ high) >> 1
            if Int(rows[middle]) < row { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
