import FirnBytes

/// The rows of a table that are to be checked, by segment.
package struct RowCandidates: Sendable {
    /// Nil: all rows of the segment.
    private var rows: [Int: Bits?] = [:]

    package init() {}

    /// The segments with candidates, ascending.
    package var segments: [Int] { rows.keys.sorted() }
    /// Returns whether the segment has candidates.
    package func contains(segment: Int) -> Bool { rows[segment] != nil }
    /// Returns the candidates of a segment that is contained; nil for all rows.
    package func rows(_ segment: Int) -> Bits? { rows[segment] ?? nil }

    package mutating func insert(_ segment: Int, _ position: Int, of rowCount: Int) {
        if rows[segment] == nil { rows[segment] = .some(Bits(repeating: false, count: rowCount)) }
        rows[segment]!?[position] = true
    }

    package mutating func insert(whole segment: Int) { rows.updateValue(nil, forKey: segment) }

    /// Adds the candidates of another set.
    package mutating func formUnion(_ other: RowCandidates) {
        for (segment, more) in other.rows {
            guard let mine = rows[segment] else {
                rows.updateValue(more, forKey: segment)
                continue
            }
            guard let mine, let more else {
                rows.updateValue(nil, forKey: segment)
                continue
            }
            rows[segment] = .some(Bits(words: zip(mine.words, more.words).map { $0 | $1 }, count: mine.count))
        }
    }

    /// Keeps only candidates that another set also has.
    package mutating func formIntersection(_ other: RowCandidates) {
        for (segment, mine) in rows {
            guard let theirs = other.rows[segment] else {
                rows.removeValue(forKey: segment)
                continue
            }
            guard let theirs else { continue }
            guard let mine else {
                rows.updateValue(theirs, forKey: segment)
                continue
            }
            let both = Bits(words: zip(mine.words, theirs.words).map { $0 & $1 }, count: mine.count)
            if both.noneSet { rows.removeValue(forKey: segment) } else { rows[segment] = .some(both) }
        }
    }
}
