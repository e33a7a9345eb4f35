import FirnTable

extension SectionedChanges {
    /// Returns the changes of sections of values rather than rows.
    package static func between<Key: Hashable>(old: [(key: Key, elements: [Value])], new: [(key: Key, elements: [Value])])
        -> SectionedChanges
    {
        between(old.map(\.key), new.map(\.key), newCount: { new[$0].elements.count }) { i, j in
            CollectionChanges.between(old: old[i].elements, new: new[j].elements)
        }
    }
}
