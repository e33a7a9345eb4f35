import FirnBytes
import Firn
import Foundation

/// The elements that a query selects, in its order. Evaluated lazily and live: they follow the version of their realm.
public final class RLMResults<RLMObjectType>: RLMCollection {
    /// The type of the elements.
    public typealias Element = RLMObjectType
    /// The iterator over the elements.
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    /// Returns the origin of the elements: the query. Used by the members of `RLMCollection`; not for direct use.
    public func _makeSource() -> _CollectionSource { base._makeSource() }
    /// Returns the results of a source. Used by the members of `RLMCollection`; not for direct use.
    public static func _with(_ source: _CollectionSource) -> RLMResults { RLMResults(Results(untyped: source)) }

    /// Unavailable: results are returned by queries of a realm or of another collection.
    @available(*, unavailable, message: "RLMResults cannot be created directly: query a realm or another collection")
    public init() { trap("unavailable") }
}

/// The objects whose property links to one object. Derived, not stored, and live. See `RLMObject.linkingObjects(ofClass:forProperty:)`.
public final class RLMLinkingObjects<RLMObjectType>: RLMCollection {
    /// The type of the elements.
    public typealias Element = RLMObjectType
    /// The iterator over the elements.
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    /// Returns the origin of the elements: the object and the property that links to it. Used by the members of `RLMCollection`; not for
    /// direct use.
    public func _makeSource() -> _CollectionSource { base._makeSource() }
    /// Returns the linking objects of a source. Used by the members of `RLMCollection`; not for direct use.
    public static func _with(_ source: _CollectionSource) -> RLMLinkingObjects { RLMLinkingObjects(Results(untyped: source)) }

    @available(
        *, unavailable, message: "RLMLinkingObjects cannot be created directly: call linkingObjects(ofClass:forProperty:) of an RLMObject"
    )
    /// Unavailable: `linkingObjects(ofClass:forProperty:)` of an `RLMObject` returns them.
    public init() { trap("unavailable") }
}
