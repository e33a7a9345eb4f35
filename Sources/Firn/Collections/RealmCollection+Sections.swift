/// Elements in sections. The key of an element is asked for once for each evaluation; it may be any value but a link.
///
/// The first sort descriptor must be the one that the section's key follows from: an element whose key was met before joins the earlier section, whatever
/// lies between.
extension RealmCollection {
    public func sectioned<Key: _Persistable & Hashable>(sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key) -> SectionedResults<Key, Element> {
        let source = managedSource("sectioned", instead: "Dictionary(grouping:by:)")
        precondition(!sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        return SectionedResults(SectionSource(source.sorted(sortDescriptors.map { ($0.keyPath, $0.ascending) }), keyBlock))
    }

    /// Primitive elements, in their own order.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, ascending: Bool = true) -> SectionedResults<Key, Element> {
        precondition(!Element._isObject, "objects are sectioned in the order of a property: sectioned(by:sortDescriptors:)")
        return sectioned(sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)], block)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// One section for each value of a property, or of one that links lead to, in its order.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, ascending: Bool = true) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: keyPath, ascending: ascending)]) { $0[keyPath: keyPath] }
    }

    /// One section for each value of a property; the first descriptor sorts by that property, the others order the elements of a section.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]) -> SectionedResults<Key, Element> {
        precondition(!sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        precondition(sortDescriptors[0].keyPath == KeyPathRecorder.path(keyPath), "The section key path must match the primary sort descriptor.")
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// One section for each value that the block gives.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}

/// Projections, by what they show. Sort descriptors name properties of the stored objects, or are made of the projection's key paths.
extension RealmCollection where Element: ProjectionObservable {
    /// One section for each value of a property, in its order.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, ascending: Bool = true) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: keyPath, ascending: ascending)]) { $0[keyPath: keyPath] }
    }

    /// One section for each value of a property; the first descriptor sorts by that property, the others order the elements of a section.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]) -> SectionedResults<Key, Element> {
        precondition(!sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        precondition(sortDescriptors[0].keyPath == KeyPathRecorder.path(keyPath), "The section key path must match the primary sort descriptor.")
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// One section for each value that the block gives.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}
