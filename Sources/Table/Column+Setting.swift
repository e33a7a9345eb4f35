import FirnBytes

extension Column {
    /// Replaces the value of a row, in place if its size allows. Returns false, and changes nothing, if the value does not fit the column.
    package mutating func set(_ row: Int, _ value: Value) -> Bool {
        switch (type.kind, value) {
        case (.int, .int(let x)) where !type.isCollection, (.link, .link(let x)) where !type.isCollection: setWord(row, x)
        case (.bool, .bool(let x)) where !type.isCollection: setWord(row, x ? 1 : 0)
        case (.double, .double(let x)) where !type.isCollection: setReal(row, x)
        default:
            var one = Column(type)
            guard one.append(value) else { return false }
            set(row, one, 0)
        }
        return true
    }

    // These four are called for single values from Database, which would copy the whole column to call them if they were not inlined.

    /// Sets a row of a bool, int or link column.
    @inlinable @inline(__always)
    package mutating func setWord(_ row: Int, _ value: Int64) {
        words[row] = value
        if present != nil { present![row] = true }
    }

    /// Sets a row of a float or double column.
    @inlinable @inline(__always)
    package mutating func setReal(_ row: Int, _ value: Double) {
        reals[row] = value
        if present != nil { present![row] = true }
    }

    /// Sets a row of a string column.
    package mutating func setText(_ row: Int, _ value: inout String) {
        value.withUTF8 { text.replace(row, with: UnsafeRawBufferPointer($0)) }
        if present != nil { present![row] = true }
    }

    /// Sets a row of a link column to null.
    package mutating func setNull(_ row: Int) {
        if present == nil { present = Bits(repeating: true, count: count) }
        present![row] = false
        words[row] = 0
    }

    /// Returns the value of a row of a bool, int or link column; nil if it is null.
    @inlinable @inline(__always)
    package func word(at row: Int) -> Int64? {
        if let present, !present[row] { return nil }
        return words[row]
    }

    /// Returns the value of a row of a float or double column; nil if it is null.
    @inlinable @inline(__always)
    package func real(at row: Int) -> Double? {
        if let present, !present[row] { return nil }
        return reals[row]
    }

    /// Replaces a row by the row `index` of a column of the same type.
    package mutating func set(_ row: Int, _ other: Column, _ index: Int) {
        let isPresent = other.isPresent(index)
        if !isPresent, present == nil { present = Bits(repeating: true, count: count) }
        if present != nil { present![row] = isPresent }
        if type.isCollection { return replaceElements(row, other, index) }
        if !words.isEmpty { words[row] = other.words[index] }
        if !extra.isEmpty { extra[row] = other.extra[index] }
        if !reals.isEmpty { reals[row] = other.reals[index] }
        if !tags.isEmpty { tags[row] = other.tags[index] }
        if text.count > 0 { other.text.withBytes(index) { text.replace(row, with: $0) } }
    }

    private mutating func replaceElements(_ row: Int, _ other: Column, _ index: Int) {
        let old = offsets[row]..<offsets[row + 1], new = other.offsets[index]..<other.offsets[index + 1], end = offsets[count]
        if old.isEmpty, new.isEmpty { return }
        for i in children.indices {
            let rest = children[i].slice(old.upperBound..<end)
            children[i].truncate(to: old.lowerBound)
            children[i].append(contentsOf: other.children[i], range: new)
            children[i].append(contentsOf: rest)
        }
        for i in (row + 1)..<offsets.count { offsets[i] += new.count - old.count }
    }

    /// Removes the rows from `newCount` on.
    package mutating func truncate(to newCount: Int) {
        guard newCount < count else { return }
        if type.isCollection {
            for i in children.indices { children[i].truncate(to: offsets[newCount]) }
            offsets.removeLast(count - newCount)
        }
        if present != nil { present = present!.slice(0..<newCount) }
        if words.count > newCount { words.removeLast(words.count - newCount) }
        if extra.count > newCount { extra.removeLast(extra.count - newCount) }
        if reals.count > newCount { reals.removeLast(reals.count - newCount) }
        if tags.count > newCount { tags.removeLast(tags.count - newCount) }
        if text.count > newCount {
            text.bytes.removeLast(text.bytes.count - text.offsets[newCount])
            text.offsets.removeLast(text.offsets.count - newCount - 1)
        }
        if type.kind == .embedded, !type.isCollection { for i in children.indices { children[i].truncate(to: newCount) } }
        count = newCount
    }

    /// Whether the arrays contain exactly what `rows` rows need. Callers that fill the arrays directly must ensure this.
    package func holds(_ rows: Int) -> Bool {
        guard count == rows, present.map({ $0.count == rows }) ?? true else { return false }
        if type.isCollection { return offsets.count == rows + 1 && children.allSatisfy { $0.holds(offsets[rows]) } }
        switch type.kind {
        case .bool, .int, .link, .embedded: return words.count == rows
        case .date, .decimal, .objectID, .uuid: return words.count == rows && extra.count == rows
        case .float, .double: return reals.count == rows
        case .string, .data: return text.count == rows
        case .any:
            return words.count == rows && extra.count == rows && reals.count == rows && text.count == rows && tags.count == rows
        }
    }
}
