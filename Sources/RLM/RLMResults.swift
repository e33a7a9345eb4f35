import Firn
import Foundation

/// Elements that a query gives, in its order: lazy, and live: they follow the version of their realm.
public final class RLMResults<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    public func _makeSource() -> _CollectionSource { base._makeSource() }
    public static func _with(_ source: _CollectionSource) -> RLMResults { RLMResults(Results(untyped: source)) }

    @available(*, unavailable, message: "RLMResults cannot be created directly: ask a realm, or another collection, for objects")
    public init() { fatalError("unavailable") }
}

/// The objects that have a link to one object in a property of theirs: kept by nobody, and live. See `RLMObject.linkingObjects(ofClass:forProperty:)`.
public final class RLMLinkingObjects<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    private let base: Results<DynamicElement>

    init(_ base: Results<DynamicElement>) { self.base = base }

    public func _makeSource() -> _CollectionSource { base._makeSource() }
    public static func _with(_ source: _CollectionSource) -> RLMLinkingObjects { RLMLinkingObjects(Results(untyped: source)) }

    @available(*, unavailable, message: "RLMLinkingObjects cannot be created directly: ask an RLMObject for its linkingObjects(ofClass:forProperty:)")
    public init() { fatalError("unavailable") }
}
