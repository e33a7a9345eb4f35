/// The difference of two versions of a sectioned collection; each section has a key.
///
/// Rows of a deleted section are not listed; those of an inserted one are. A section that moved relative to the others is deleted and
/// inserted.
package struct SectionedChanges: Sendable, Equatable {
    /// The position of a row: its section, and its index within the section.
    package struct Position: Sendable, Hashable {
        package var section: Int
        package var item: Int

        package init(_ section: Int, _ item: Int) {
            self.section = section
            self.item = item
        }
    }

    /// One section of one version.
    package struct SectionRows<Key: Hashable> {
        package var key: Key
        package var rows: [Int64]

        package init(_ key: Key, _ rows: [Int64]) {
            self.key = key
            self.rows = rows
        }
    }

    /// Positions in the old version, ascending.
    package var deletions: [Position] = []
    /// Positions in the new version, ascending.
    package var insertions: [Position] = []
    /// Positions of modified rows in the old version and, in the same order, in the new one.
    package var modificationsOld: [Position] = []
    package var modificationsNew: [Position] = []
    /// Indices in the new version, ascending.
    package var sectionsToInsert: [Int] = []
    /// Indices in the old version, ascending.
    package var sectionsToDelete: [Int] = []

    package init() {}

    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modificationsOld.isEmpty && sectionsToInsert.isEmpty && sectionsToDelete.isEmpty
    }

    /// `changes` returns the changes of the elements of a section that is in both versions.
    static func between<Key: Hashable>(
        _ old: [Key], _ new: [Key], newCount: (Int) -> Int,
        changes: (_ old: Int, _ new: Int) -> CollectionChanges
    ) -> SectionedChanges {
        var numbers: [Key: Int64] = [:]
        func number(_ key: Key) -> Int64 {
            if let known = numbers[key] { return known }
            let next = Int64(numbers.count)
            numbers[key] = next
            return next
        }
        let before = old.map(number), after = new.map(number)
        var sections = CollectionChanges(), kept: [(Int, Int)] = []
        sections.take(Alignment(before, after), before, after) { i, j in
            kept.append((i, j))
            return false
        }
        var out = SectionedChanges()
        out.sectionsToDelete = sections.deletions
        out.sectionsToInsert = sections.insertions
        var next = 0
        func insertSections(before end: Int) {
            while next < sections.insertions.count, sections.insertions[next] < end {
                let section = sections.insertions[next]
                for item in 0..<newCount(section) { out.insertions.append(Position(section, item)) }
                next += 1
            }
        }
        for (i, j) in kept {
            insertSections(before: j)
            let changes = changes(i, j)
            out.deletions += changes.deletions.map { Position(i, $0) }
            out.insertions += changes.insertions.map { Position(j, $0) }
            out.modificationsOld += changes.modificationsOld.map { Position(i, $0) }
            out.modificationsNew += changes.modificationsNew.map { Position(j, $0) }
        }
        insertSections(before: new.count)
        return out
    }

    /// Returns the changes of sections of rows. A row that moved to another section is deleted from one and inserted into the other.
    package static func between<Key: Hashable>(old: [SectionRows<Key>], new: [SectionRows<Key>], modified: (Int64) -> Bool)
        -> SectionedChanges
    {
        between(old.map(\.key), new.map(\.key), newCount: { new[$0].rows.count }) { i, j in
            CollectionChanges.between(old: old[i].rows, new: new[j].rows, modified: modified)
        }
    }
}
