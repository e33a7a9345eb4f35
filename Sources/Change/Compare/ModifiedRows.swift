import FirnBytes

/// The rows that are in two versions of a table and differ, in ascending order, each with the columns in which it differs.
package struct ModifiedRows: Sendable {
    /// Ascending and distinct.
    package private(set) var rowIDs: [Int64] = []
    /// The number of columns of the new version's type.
    package let columnCount: Int
    /// For each row `width` words: a bit for each column of the new type, then one bit for all removed columns.
    private var masks: [UInt64] = []
    private let width: Int

    init(columnCount: Int) {
        self.columnCount = columnCount
        width = columnCount / 64 + 1
    }

    package var count: Int { rowIDs.count }
    package var isEmpty: Bool { rowIDs.isEmpty }

    /// Returns the columns in which the row at a position of `rowIDs` differs: a bit for each column of the new type.
    package func columns(at position: Int) -> Bits {
        var words = Array(masks[position * width..<(position + 1) * width])
        words[columnCount / 64] &= ~(1 << UInt64(columnCount % 64))
        return Bits(words: words, count: columnCount)
    }

    /// Whether the row at a position had a value in a column that the new type no longer has.
    package func differsInRemovedColumn(at position: Int) -> Bool {
        masks[position * width + columnCount / 64] >> UInt64(columnCount % 64) & 1 == 1
    }

    /// Returns the columns in which a row differs; nil if it is not modified.
    package func columns(ofRow rowID: Int64) -> Bits? { position(of: rowID).map(columns(at:)) }

    package func contains(_ rowID: Int64) -> Bool { position(of: rowID) != nil }

    func position(of rowID: Int64) -> Int? {
        var low = 0, high = rowIDs.count
        while low < high {
            let middle = (low + high) / 2
            if rowIDs[middle] < rowID { low = middle + 1 } else { high = middle }
        }
        return low < rowIDs.count && rowIDs[low] == rowID ? low : nil
    }

    /// Returns the rows that differ in one of the given columns (a bit for each column of the new type), or in any column if nil.
    package func rows(in columns: Bits?) -> [Int64] {
        guard let columns else { return rowIDs }
        trap(unless: columns.count == columnCount, "pass a bit for each column of the new version's type")
        var out: [Int64] = []
        for i in rowIDs.indices {
            for w in columns.words.indices where masks[i * width + w] & columns.words[w] != 0 {
                out.append(rowIDs[i])
                break
            }
        }
        return out
    }

    /// Appends rows whose ids must be higher than all present ones. For each column of the new type, and last for all removed ones, `marks`
    /// has the rows that differ (nil means none).
    mutating func append(marks: [Bits?], id: (Int) throws(Damage) -> Int64) throws(Damage) {
        guard let first = marks.lazy.compactMap({ $0 }).first else { return }
        var any = Bits(count: first.count)
        for case let bits? in marks { for w in any.words.indices { any.words[w] |= bits.words[w] } }
        try any.forEachSet { (row) throws(Damage) in
            rowIDs.append(try id(row))
            let start = masks.count
            for _ in 0..<width { masks.append(0) }
            for (column, bits) in marks.enumerated() {
                if let bits, bits[row] { masks[start + column / 64] |= 1 << UInt64(column % 64) }
            }
        }
    }
}
