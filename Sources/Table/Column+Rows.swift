import FirnBytes

extension Column {
    /// Appends the rows `range` of a column of the same type.
    package mutating func append(contentsOf other: Column, range: Range<Int>) {
        if present != nil || other.present != nil {
            var bits = present ?? Bits(repeating: true, count: count)
            if let more = other.present {
                bits.append(contentsOf: more.slice(range))
            } else {
                bits.append(contentsOf: Bits(repeating: true, count: range.count))
            }
            present = bits
        }
        count += range.count
        if type.isCollection {
            let elements = other.offsets[range.lowerBound]..<other.offsets[range.upperBound]
            let shift = offsets.last! - elements.lowerBound
            for i in range { offsets.append(other.offsets[i + 1] + shift) }
            for i in children.indices { children[i].append(contentsOf: other.children[i], range: elements) }
            return
        }
        if !other.words.isEmpty { words.append(contentsOf: other.words[range]) }
        if !other.extra.isEmpty { extra.append(contentsOf: other.extra[range]) }
        if !other.reals.isEmpty { reals.append(contentsOf: other.reals[range]) }
        if !other.tags.isEmpty { tags.append(contentsOf: other.tags[range]) }
        if other.text.count > 0 { text.append(contentsOf: other.text, range: range) }
        if type.kind == .embedded {
            takeFields(of: other, before: range.count)
            for i in children.indices {
                if i < other.children.count {
                    children[i].append(contentsOf: other.children[i], range: range)
                } else {
                    children[i].appendNulls(range.count)
                }
            }
        }
    }

    /// Makes room for `rows` rows in total, if the rows that follow are as large as the present ones.
    package mutating func reserve(rows: Int) {
        guard rows > count, count > 0 else { return }
        if type.isCollection { return offsets.reserveCapacity(rows + 1) }
        if !words.isEmpty { words.reserveCapacity(rows) }
        if !extra.isEmpty { extra.reserveCapacity(rows) }
        if !reals.isEmpty { reals.reserveCapacity(rows) }
        if !tags.isEmpty { tags.reserveCapacity(rows) }
        if text.count > 0 {
            text.offsets.reserveCapacity(rows + 1)
            let bytes = Double(text.bytes.count) / Double(count) * Double(rows)
            // A little more, because growing once more would double the memory.
            text.bytes.reserveCapacity(Int(bytes * 1.06) + 64)
        }
    }

    /// About how many bytes the values take in memory.
    package var bytesInMemory: Int {
        text.bytes.count + 8 * (text.count + words.count + extra.count + reals.count + offsets.count)
            + children.reduce(0) { $0 + $1.bytesInMemory }
    }

    package mutating func append(contentsOf other: Column) { append(contentsOf: other, range: 0..<other.count) }

    /// A column of the same type without rows.
    package var emptyCopy: Column {
        var copy = Column(type)
        copy.children = children.map(\.emptyCopy)
        return copy
    }

    package func slice(_ range: Range<Int>) -> Column {
        var out = emptyCopy
        out.append(contentsOf: self, range: range)
        return out
    }

    /// Returns the rows at the given positions, in that order.
    package func gather(_ rows: some Sequence<Int>) -> Column {
        var out = emptyCopy
        out.appendGathered(self, rows: Array(rows))
        return out
    }

    /// Appends the rows of a column of the same type at the given positions, in that order.
    package mutating func appendGathered(_ other: Column, rows: [Int]) {
        if present != nil || other.present != nil {
            var bits = present ?? Bits(repeating: true, count: count)
            if let more = other.present {
                bits.append(gathered: more, rows: rows)
            } else {
                bits.append(contentsOf: Bits(repeating: true, count: rows.count))
            }
            present = bits
        }
        count += rows.count
        if type.isCollection {
            var elements: [Int] = []
            var end = offsets.last!
            for row in rows {
                elements.append(contentsOf: other.offsets[row]..<other.offsets[row + 1])
                end += other.offsets[row + 1] - other.offsets[row]
                offsets.append(end)
            }
            for i in children.indices { children[i].appendGathered(other.children[i], rows: elements) }
            return
        }
        // A lazy map has a known count, so the array grows only once.
        if !other.words.isEmpty { words.append(contentsOf: rows.lazy.map { other.words[$0] }) }
        if !other.extra.isEmpty { extra.append(contentsOf: rows.lazy.map { other.extra[$0] }) }
        if !other.reals.isEmpty { reals.append(contentsOf: rows.lazy.map { other.reals[$0] }) }
        if !other.tags.isEmpty { tags.append(contentsOf: rows.lazy.map { other.tags[$0] }) }
        if other.text.count > 0 { text.append(gathered: other.text, rows: rows) }
        if type.kind == .embedded {
            takeFields(of: other, before: rows.count)
            for i in children.indices {
                if i < other.children.count {
                    children[i].appendGathered(other.children[i], rows: rows)
                } else {
                    children[i].appendNulls(rows.count)
                }
            }
        }
    }

    /// Adds columns for the fields of a type that contains itself with its first objects, the last `more` rows. Earlier rows get nulls.
    private mutating func takeFields(of other: Column, before more: Int) {
        guard children.isEmpty, !other.children.isEmpty else { return }
        children = other.children.map(\.emptyCopy)
        if count > more { for i in children.indices { children[i].appendNulls(count - more) } }
    }
}
