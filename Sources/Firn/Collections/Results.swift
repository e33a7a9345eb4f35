import FirnBytes
import FirnDatabase
import FirnTable

/// The elements that a query selects, in its order. Results are evaluated on access, and live: they show the version of their realm.
public struct Results<Element: RealmFetchable>: OrderedRealmCollection {
    let source: _CollectionSource

    init(_ source: _CollectionSource) { self.source = source }

    /// Returns the origin of the elements: the query. Used by the members of collections; not for direct use.
    public func _makeSource() -> _CollectionSource { source }
    /// Returns the results of a source. Used by the members of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> Results { Results(source) }

    /// The number of elements; 0 if the results are invalidated.
    public var count: Int { source.isInvalidated ? 0 : source.count }

    /// The element at a position. Traps if the position is out of bounds.
    public subscript(position: Int) -> Element {
        let count = count
        trap(unless: position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
        // Only the source knows the type of dynamic objects.
        if Element.self == DynamicObject.self { return source.dynamicObject(position) as! Element }
        return source.element(at: position)
    }
}
