import FirnModel
import FirnQuery
import Foundation

/// What `Results` holds.
public typealias RealmFetchable = RealmCollectionValue

/// A homogeneous collection of objects or values that can be read, filtered, ordered and observed. Live, frozen or unmanaged.
public protocol RealmCollection<Element>: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible, Equatable
where Element: RealmCollectionValue, Index == Int, Iterator == RLMIterator<Element> {
    func _makeSource() -> _CollectionSource
    /// A collection of this kind with the elements of a source: this one's at another version.
    func _with(_ source: _CollectionSource) -> Self
}

extension RealmCollection {
    var source: _CollectionSource { _makeSource() }

    // MARK: Where it is

    /// The realm that manages the collection; nil for unmanaged ones.
    public var realm: Realm? { source.core.map(Realm.init) }

    /// The collection can no longer be used: its owner was deleted or its realm invalidated.
    public var isInvalidated: Bool { source.isInvalidated }

    public var isFrozen: Bool { source.core?.isFrozen ?? false }

    /// The same collection, live or frozen at the same version, whatever it contains.
    public func isSameCollection(as other: some RealmCollection) -> Bool {
        if Self.self is AnyClass, (self as AnyObject) === (other as AnyObject) { return true }
        return source.isSame(as: other.source)
    }

    // MARK: Elements

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after i: Int) -> Int { i + 1 }
    public func index(before i: Int) -> Int { i - 1 }
    public var isEmpty: Bool { count == 0 }
    public var first: Element? { count > 0 ? self[0] : nil }
    public var last: Element? { count > 0 ? self[count - 1] : nil }

    public func makeIterator() -> RLMIterator<Element> { RLMIterator(source) }

    // MARK: Choosing and ordering

    func managedSource(_ action: String, instead: String? = nil) -> _CollectionSource {
        let source = source
        precondition(source.core != nil, "\(action) is for managed collections: this one belongs to no realm. Use \(instead ?? "Swift's own \(action)").")
        return source
    }
}

extension Results {
    /// Equal are results of the very same query.
    public static func == (a: Results, b: Results) -> Bool { a.source === b.source || a.source.isSame(as: b.source) }
}

extension List {
    /// Equal are lists with the same elements in the same order, live, frozen or unmanaged.
    public static func == (a: List, b: List) -> Bool { a === b || a.isEqual(to: b) }
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}
