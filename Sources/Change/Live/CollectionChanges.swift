/// The difference of two versions of an ordered collection, by index.
///
/// Deleting `deletions` from the old version in descending order, inserting `insertions` in ascending order, and replacing the modified
/// elements gives the new version. An element that changed its position relative to the others is a deletion and an insertion. Their number
/// is minimal (about minimal if a collection repeats its elements very often).
package struct CollectionChanges: Sendable, Equatable {
    /// Indices in the old version, ascending.
    package var deletions: [Int] = []
    /// Indices in the new version, ascending.
    package var insertions: [Int] = []
    /// Indices of modified elements in the old version and, in the same order, in the new one. Both are ascending.
    package var modificationsOld: [Int] = []
    package var modificationsNew: [Int] = []
    /// Deletions and insertions that are one moved element, in ascending order of `to`; empty unless moves are requested.
    package var moves: [Move] = []

    package struct Move: Sendable, Hashable {
        package var from: Int
        package var to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    package init() {}

    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modificationsOld.isEmpty }

    /// Returns the changes of ordered rows; rows can be repeated. `modified` is called with rows that were kept.
    /// - Complexity: O(n) if nothing moved, O(n log n) at worst.
    package static func between(old: [Int64], new: [Int64], detectMoves: Bool = false, modified: (Int64) -> Bool) -> CollectionChanges {
        var changes = CollectionChanges()
        changes.take(Alignment(old, new), old, new) { i, j in modified(new[j]) }
        if detectMoves { changes.findMoves(old, new) }
        return changes
    }

    mutating func take(_ alignment: Alignment, _ old: [Int64], _ new: [Int64], modified: (_ old: Int, _ new: Int) -> Bool) {
        var i = 0, j = 0
        alignment.forEachKept { a, b in
            while i < a {
                deletions.append(i)
                i += 1
            }
            while j < b {
                insertions.append(j)
                j += 1
            }
            if modified(a, b) {
                modificationsOld.append(a)
                modificationsNew.append(b)
            }
            i = a + 1
            j = b + 1
        }
        deletions.append(contentsOf: i..<max(i, old.count))
        insertions.append(contentsOf: j..<max(j, new.count))
    }

    /// Pairs deletions with insertions of the same element: the first with the first.
    private mutating func findMoves(_ old: [Int64], _ new: [Int64]) {
        guard !deletions.isEmpty, !insertions.isEmpty else { return }
        let index = OccurrenceIndex(deletions.lazy.map { old[$0] })
        var cursor = OccurrenceIndex.Cursor(index)
        for to in insertions { if let from = cursor.takeFirst(new[to]) { moves.append(Move(from: deletions[from], to: to)) } }
    }
}
