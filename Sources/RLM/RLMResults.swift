import Firn
import Foundation

/// The elements that a query selects, in its order. Evaluated lazily and live: they follow the version of their realm.
public final class RLMResults<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    public func _makeSource() -> _CollectionSource { base._makeSource() }
    public static func _with(_ source: _CollectionSource) -> RLMResults { RLMResults(Results(untyped: source)) }

    @available(*, unavailable, message: "RLMResults cannot be created directly: query a realm or another collection")
    public init() { fatalError("unavailable") }
}

/// The objects whose property links to one object. Derived, not stored, and live. See `RLMObject.linkingObjects(ofClass:forProperty:)`.
public final class RLMLinkingObjects<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    public func _makeSource() -> _CollectionSource { base._makeSource() }
    public static func _with(_ source: _CollectionSource) -> RLMLinkingObjects { RLMLinkingObjects(Results(untyped: source)) }

    @available(
        *, unavailable, message: "RLMLinkingObjects cannot be created directly: call linkingObjects(ofClass:forProperty:) of an RLMObject"
    )
    public init() { fatalError("unavailable") }
}
