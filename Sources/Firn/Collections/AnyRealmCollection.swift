/// A type-erased `Results`, `List`, `MutableSet` or `LinkingObjects`.
public struct AnyRealmCollection<Element: RealmCollectionValue>: OrderedRealmCollection {
    let base: any RealmCollection<Element>

    /// Wraps a collection.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element {
        if let erased = base as? AnyRealmCollection<Element> { self.base = erased.base } else { self.base = base }
    }

    init(erased: any RealmCollection<Element>) { base = erased }

    public func _makeSource() -> _CollectionSource { base._makeSource() }
    public func _with(_ source: _CollectionSource) -> AnyRealmCollection { AnyRealmCollection.moved(base, source) }
    public var _isOrdered: Bool { base is any OrderedRealmCollection }

    private static func moved<C: RealmCollection<Element>>(_ base: C, _ source: _CollectionSource) -> AnyRealmCollection {
        AnyRealmCollection(base._with(source))
    }

    /// The number of elements.
    public var count: Int { base.count }
    /// The element at a position. Traps if the position is out of bounds.
    public subscript(position: Int) -> Element { AnyRealmCollection.element(base, position) }

    private static func element<C: RealmCollection<Element>>(_ base: C, _ position: Int) -> Element { base[position] }

    /// Returns whether both wrap the same collection.
    public static func == (a: AnyRealmCollection, b: AnyRealmCollection) -> Bool { a.isSameCollection(as: b) }
}
