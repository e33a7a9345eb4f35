/// The difference of two versions of a collection with an order, by index.
///
/// Taking `deletions` out of the old version from high to low, putting in `insertions` from low to high, and replacing what is modified gives
/// the new version. An element that changed its place relative to the others is a deletion and an insertion; as few are as possible
/// (where a collection repeats its elements very often: about as few).
package struct CollectionChanges: Sendable, Equatable {
    /// Indices in the old version, ascending.
    package var deletions: [Int] = []
    /// Indices in the new version, ascending.
    package var insertions: [Int] = []
    /// Indices of what stayed but changed: in the old version and, in the same order, in the new one. Both ascend.
    package var modificationsOld: [Int] = []
    package var modificationsNew: [Int] = []
    /// Which deletion and insertion are one element that moved; empty unless asked for. Ascending by `to`.
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

    /// Of rows in an order, each as often as it stands there. `modified` is asked of rows that stayed.
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
