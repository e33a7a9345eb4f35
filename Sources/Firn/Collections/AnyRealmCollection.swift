/// A type-erased `Results`, `List`, `MutableSet` or `LinkingObjects`.
public struct AnyRealmCollection<Element: RealmCollectionValue>: OrderedRealmCollection {
    let base: any RealmCollection<Element>

    /// Wraps a collection.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element {
        if let erased = base as? AnyRealmCollection<Element> { self.base = erased.base } else { self.base = base }
    }

    init(erased: any RealmCollection<Element>) { base = erased }

    /// Returns the origin of the wrapped collection's elements. Used by the members of collections; not for direct use.
    public func _makeSource() -> _CollectionSource { base._makeSource() }
    /// Returns a wrapped collection of the same kind with another source. Used by the members of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> AnyRealmCollection { AnyRealmCollection.moved(base, source) }
    /// Whether elements have positions: false if the wrapped collection is a set. Used by the members of collections; not for direct use.
    public var _isOrdered: Bool { base is any OrderedRealmCollection }

    private static func moved<C: RealmCollection<Element>>(_ base: C, _ source: _CollectionSource) -> AnyRealmCollection {
        AnyRealmCollection(base._with(source))
    }

    /// The number of elements.
    public var count: Int { base.count }
    /// The element at a position. Traps if the position is out of bounds.
    public subscript(position: Int) -> Element { AnyRealmCollection.element(base, position) }

    private static func element<C: RealmCollection<Element>>(_ base: C, _ position: Int) -> Element { base[position] }

    /// Returns whether both wrap the same collection. Results of two calls are not the same. Unmanaged collections are compared as their own
    /// types compare them.
    public static func == (a: AnyRealmCollection, b: AnyRealmCollection) -> Bool {
        let (mine, theirs) = (a.source, b.source)
        return mine.core == nil && theirs.core == nil ? equal(a.base, b.base) : mine.isEqual(to: theirs)
    }

    private static func equal<C: RealmCollection<Element>>(_ a: C, _ b: any RealmCollection<Element>) -> Bool {
        (b as? C).map { a == $0 } ?? false
    }
}
