import FirnModel

/// Elements that a query gives, in its order: lazy, and live: they follow the version of their realm.
public struct Results<Element: RealmFetchable>: OrderedRealmCollection {
    let source: _CollectionSource

    init(_ source: _CollectionSource) { self.source = source }

    public func _makeSource() -> _CollectionSource { source }
    public func _with(_ source: _CollectionSource) -> Results { Results(source) }

    /// How many elements there are; 0 if what they come from is not there any more.
    public var count: Int { source.isInvalidated ? 0 : source.count }

    public subscript(position: Int) -> Element {
        let count = count
        precondition(position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
        // Of dynamic objects the source knows the type.
        if Element.self == DynamicObject.self { return source.dynamicObject(position) as! Element }
        return source.element(at: position)
    }
}
