import FirnBytes
import FirnTable

extension Column {
    /// Calls the body with each pair of `range` whose rows differ in any bit. This column is the vector of the old rows, `new` that of the
    /// new rows. Both must be of one kind other than any.
    func forEachDifference(_ new: Column, _ pairs: PairedRows, _ range: Range<Int>, _ body: (Int) -> Void) {
        compareValues(with: new) { same in
            pairs.old.withUnsafeBufferPointer { olds in
                pairs.new.withUnsafeBufferPointer { news in
                    for k in range {
                        let i = Int(olds[k]) & (vectorSize - 1), j = Int(news[k]) & (vectorSize - 1)
                        let was = isPresent(i), isThere = new.isPresent(j)
                        if was != isThere || was && !same(i, j) { body(k) }
                    }
                }
            }
        }
    }

    /// Clears the bits of the rows that differ in any bit from the same rows of another column. The columns must be of the same length, and
    /// laid out alike, down to the fields of objects. Rows whose bit is not set are not compared.
    package func keepSame(as other: Column, in rows: inout Bits) {
        trap(unless: count == rows.count && other.count == rows.count, "columns of the same length, and a bit for each row")
        compareValues(with: other) { same in
            for w in rows.words.indices {
                var word = rows.words[w], left = word
                while left != 0 {
                    let bit = left & (~left &+ 1), i = w &* 64 &+ left.trailingZeroBitCount
                    left &= left &- 1
                    let isHere = isPresent(i)
                    if isHere != other.isPresent(i) || isHere && !same(i, i) { word &= ~bit }
                }
                rows.words[w] = word
            }
        }
    }

    /// Calls the body with a function that returns whether two values that are present are equal bit for bit. Both columns must be of one
    /// kind.
    @inline(__always)
    private func compareValues(with new: Column, _ body: (_ same: (Int, Int) -> Bool) -> Void) {
        guard !type.isCollection else { return body { holdsSame($0, as: new, $1) } }
        switch type.kind {
        case .bool, .int, .link:
            words.withUnsafeBufferPointer { a in new.words.withUnsafeBufferPointer { b in body { a[$0] == b[$1] } } }
        case .float, .double:
            reals.withUnsafeBufferPointer { a in new.reals.withUnsafeBufferPointer { b in body { a[$0].bitPattern == b[$1].bitPattern } } }
        case .string, .data:
            text.bytes.withUnsafeBytes { a in
                new.text.bytes.withUnsafeBytes { b in
                    text.offsets.withUnsafeBufferPointer { from in
                        new.text.offsets.withUnsafeBufferPointer { to in
                            body { i, j in
                                let length = from[i + 1] - from[i]
                                return length == to[j + 1] - to[j] && sameBytes(a, from[i], b, to[j], length)
                            }
                        }
                    }
                }
            }
        default: body { holdsSame($0, as: new, $1) }
        }
    }

    /// Whether a row of the column can have the value null, which is the same as no value.
    var holdsNullValues: Bool { type.kind == .any && !type.isCollection }

    /// Whether two rows of columns of one kind are equal bit for bit, except that nulls of columns of type any are equal.
    func holdsSame(_ i: Int, as other: Column, _ j: Int) -> Bool {
        let here = isPresent(i), there = other.isPresent(j)
        guard here, there else {
            return here == there || holdsNullValues && value(at: i).isNull && other.value(at: j).isNull
        }
        if type.isCollection {
            let start = offsets[i], from = other.offsets[j]
            let count = offsets[i + 1] - start
            guard count == other.offsets[j + 1] - from else { return false }
            return count == 0
                || eachChild(other) { a, b in
                    for k in 0..<count where !a.holdsSame(start + k, as: b, from + k) { return false }
                    return true
                }
        }
        switch type.kind {
        case .bool, .int, .link: return words[i] == other.words[j]
        case .date, .decimal, .objectID, .uuid: return words[i] == other.words[j] && extra[i] == other.extra[j]
        case .float, .double: return reals[i].bitPattern == other.reals[j].bitPattern
        case .string, .data:
            let mine = text.range(i), theirs = other.text.range(j)
            guard mine.count == theirs.count else { return false }
            return text.bytes.withUnsafeBytes { a in
                other.text.bytes.withUnsafeBytes { b in sameBytes(a, mine.lowerBound, b, theirs.lowerBound, mine.count) }
            }
        case .embedded: return eachChild(other) { $0.holdsSame(i, as: $1, j) }
        case .any: return value(at: i).encoded == other.value(at: j).encoded  // Equal strings can have different bytes.
        }
    }

    /// Whether `test` is true for each child and its counterpart. It borrows the columns, because a copy of a column counts references of
    /// each of its arrays.
    @inline(__always)
    private func eachChild(_ other: Column, _ test: (borrowing Column, borrowing Column) -> Bool) -> Bool {
        guard children.count == other.children.count else { return false }
        return children.withUnsafeBufferPointer { mine in
            other.children.withUnsafeBufferPointer { theirs in
                for c in mine.indices where !test(mine[c], theirs[c]) { return false }
                return true
            }
        }
    }
}

extension ColumnPairing {
    /// Whether the arrays of the two columns have the same layout, down to the fields of objects, so that rows that are equal bit for bit
    /// are equal.
    var isLaidOutAlike: Bool { Self.isLaidOutAlike(old.column.type, old.schema, new.column.type, new.schema, inside: []) }

    private static func isLaidOutAlike(_ a: ColumnType, _ schema: Schema, _ b: ColumnType, _ other: Schema, inside: Set<String>) -> Bool {
        guard a.kind == b.kind, a.collection == b.collection else { return false }
        guard a.kind == .embedded, let name = a.target, !inside.contains(name) else { return a.target == b.target }
        guard let mine = schema[name], let theirs = b.target.flatMap({ other[$0] }), mine.columns.count == theirs.columns.count else {
            return false
        }
        return zip(mine.columns, theirs.columns).allSatisfy {
            $0.name == $1.name && isLaidOutAlike($0.type, schema, $1.type, other, inside: inside.union([name]))
        }
    }
}
