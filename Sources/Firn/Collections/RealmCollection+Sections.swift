import FirnBytes

/// Elements in sections. The key of each element is requested once for each evaluation; it can be any value except a link.
///
/// The first sort descriptor must order the elements by section: an element whose key occurred before is added to that earlier section,
/// wherever it is in the order.
extension RealmCollection {
    /// Returns one section for each key that `keyBlock` returns. Traps if there are no sort descriptors.
    public func sectioned<Key: _Persistable & Hashable>(sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key)
        -> SectionedResults<Key, Element>
    {
        let source = managedSource("sectioned", instead: "Dictionary(grouping:by:)")
        trap(unless: !sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        return SectionedResults(SectionSource(source.sorted(sortDescriptors.map { ($0.keyPath, $0.ascending) }), keyBlock))
    }

    /// Returns sections of primitive elements, in the elements' own order.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, ascending: Bool = true) -> SectionedResults<
        Key, Element
    > {
        trap(unless: !Element._isObject, "objects need an order to be sectioned: use sectioned(by:sortDescriptors:)")
        return sectioned(sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)], block)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns one section for each value of a property, which can be reached through links, in the order of its values.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, ascending: Bool = true) -> SectionedResults<
        Key, Element
    > {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: keyPath, ascending: ascending)]) { $0[keyPath: keyPath] }
    }

    /// Returns one section for each value of a property. The first descriptor must sort by that property; the others sort the elements
    /// within a section.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor])
        -> SectionedResults<Key, Element>
    {
        trap(unless: !sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        trap(
            unless: sortDescriptors[0].keyPath == KeyPathRecorder.path(keyPath),
            "The section key path must match the primary sort descriptor.")
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Returns one section for each key that `block` returns.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor])
        -> SectionedResults<Key, Element>
    {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}

/// Sections of projections, by their own properties. Sort descriptors name properties of the stored objects or use key paths of the
/// projection.
extension RealmCollection where Element: ProjectionObservable {
    /// Returns one section for each value of a property, in the order of its values.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, ascending: Bool = true) -> SectionedResults<
        Key, Element
    > {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: keyPath, ascending: ascending)]) { $0[keyPath: keyPath] }
    }

    /// Returns one section for each value of a property. The first descriptor must sort by that property; the others sort the elements
    /// within a section.
    public func sectioned<Key: _Persistable & Hashable>(by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor])
        -> SectionedResults<Key, Element>
    {
        trap(unless: !sortDescriptors.isEmpty, "Can not section Results with empty sortDescriptor parameter.")
        trap(
            unless: sortDescriptors[0].keyPath == KeyPathRecorder.path(keyPath),
            "The section key path must match the primary sort descriptor.")
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Returns one section for each key that `block` returns.
    public func sectioned<Key: _Persistable & Hashable>(by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor])
        -> SectionedResults<Key, Element>
    {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}
