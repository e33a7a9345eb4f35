import FirnBytes

extension Column {
    /// The approximate number of bytes that the values occupy in memory.
    package var footprint: Int {
        var bytes = (words.count + extra.count + reals.count + offsets.count + text.offsets.count) * 8 + text.bytes.count + tags.count
        for child in children { bytes += child.footprint }
        return bytes
    }

    /// The approximate number of bytes of a range of rows.
    package func footprint(of rows: Range<Int>) -> Int {
        guard !rows.isEmpty else { return 0 }
        if type.isCollection {
            let elements = offsets[rows.lowerBound]..<offsets[rows.upperBound]
            return rows.count * 8 + children.reduce(0) { $0 + $1.footprint(of: elements) }
        }
        let width = (words.isEmpty ? 0 : 8) + (extra.isEmpty ? 0 : 8) + (reals.isEmpty ? 0 : 8) + (tags.isEmpty ? 0 : 1)
        var bytes = rows.count * width
        if text.count >= rows.upperBound { bytes += rows.count * 8 + text.offsets[rows.upperBound] - text.offsets[rows.lowerBound] }
        for child in children where child.count >= rows.upperBound { bytes += child.footprint(of: rows) }
        return bytes
    }

    /// The approximate number of bytes of the rows at the given positions. Repeated positions count each time.
    package func footprint(gathering rows: [Int]) -> Int {
        if type.isCollection {
            var bytes = rows.count * 8, elements = 0
            for row in rows { elements += offsets[row + 1] - offsets[row] }
            for child in children { bytes += elements * child.rowBytes + child.textBytes(rows, offsets) }
            return bytes
        }
        var bytes = rows.count * rowBytes
        if text.count > 0 { for row in rows { bytes += text.length(row) } }
        for child in children { bytes += child.count >= count ? child.footprint(gathering: rows) : 0 }
        return bytes
    }

    /// The bytes of one row in the arrays, without its text.
    private var rowBytes: Int {
        (words.isEmpty ? 0 : 8) + (extra.isEmpty ? 0 : 8) + (reals.isEmpty ? 0 : 8) + (tags.isEmpty ? 0 : 1) + (text.count == 0 ? 0 : 8)
    }

    /// The bytes of the text of the elements of the given rows, which `bounds` delimits.
    private func textBytes(_ rows: [Int], _ bounds: [Int]) -> Int {
        guard text.count > 0 else { return 0 }
        var bytes = 0
        for row in rows { bytes += text.offsets[bounds[row + 1]] - text.offsets[bounds[row]] }
        return bytes
    }

    /// The approximate number of bytes of `count` rows without a value.
    package func footprint(ofNulls count: Int) -> Int {
        if type.isCollection || type.kind != .embedded { return count * (type.kind == .any ? 40 : 16) }
        return children.reduce(count) { $0 + $1.footprint(ofNulls: count) }
    }

    /// Charges the bytes that the column occupies, and `more` bytes that are about to be added. `text` holds the whole charge, which lives
    /// as long as the column and its copies. Small columns are not charged. Throws `Damage` if the memory limit is exceeded.
    package mutating func hold(_ memory: MemoryScope, adding more: Int = 0) throws(Damage) { try text.reserve(footprint + more, memory) }
}
