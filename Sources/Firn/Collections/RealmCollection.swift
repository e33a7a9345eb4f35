import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable
import Foundation

/// An element of `Results`.
public typealias RealmFetchable = RealmCollectionValue

/// A collection of objects or values of one type that can be read, filtered, sorted and observed. It is live, frozen or unmanaged.
public protocol RealmCollection<Element>: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible, Equatable,
    ThreadConfined
where Element: RealmCollectionValue, Index == Int, Iterator == RLMIterator<Element> {
    func _makeSource() -> _CollectionSource
    /// Returns a collection of this kind with the elements of a source, which is this collection's source at another version.
    func _with(_ source: _CollectionSource) -> Self
}

extension RealmCollection {
    var source: _CollectionSource { _makeSource() }

    // MARK: Realm and version

    /// The realm of the collection; nil if the collection is unmanaged.
    public var realm: Realm? { source.core.map(Realm.init) }

    /// Whether the collection can no longer be used, because its object was deleted or its realm was invalidated.
    public var isInvalidated: Bool { source.reportsInvalid }

    /// Whether the collection is frozen.
    public var isFrozen: Bool { source.core?.isFrozen ?? false }

    /// Returns whether both are the same collection at the same version (live or frozen), whatever it contains.
    public func isSameCollection(as other: some RealmCollection) -> Bool {
        if Self.self is AnyClass, (self as AnyObject) === (other as AnyObject) { return true }
        return source.isSame(as: other.source)
    }

    // MARK: Elements

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { count }
    /// Returns the next index. Does not check whether there is one.
    public func index(after i: Int) -> Int { i + 1 }
    /// Returns the previous index. Does not check whether there is one.
    public func index(before i: Int) -> Int { i - 1 }
    /// Whether the collection has no elements.
    public var isEmpty: Bool { count == 0 }
    /// The first element; nil if the collection is empty.
    public var first: Element? { count > 0 ? self[0] : nil }
    /// The last element; nil if the collection is empty.
    public var last: Element? { count > 0 ? self[count - 1] : nil }

    /// Returns an iterator over the elements at the time of this call.
    public func makeIterator() -> RLMIterator<Element> { RLMIterator(source) }

    // MARK: Filtering and sorting

    func managedSource(_ action: String, instead: String? = nil) -> _CollectionSource {
        let source = source
        trap(
            unless: source.core != nil,
            "\(action) requires a managed collection: for an unmanaged one, use \(instead ?? "Swift's own \(action)").")
        return source
    }
}

extension Results {
    /// Returns whether both are the same results: one call made them. Results of two calls are not equal, even of `objects(_:)` with the
    /// same type; `isSameCollection(as:)` and `elementsEqual(_:)` compare what they show.
    public static func == (a: Results, b: Results) -> Bool { a.source.isEqual(to: b.source) }
}

extension List {
    /// Returns whether both lists have the same elements in the same order. Live, frozen and unmanaged lists compare alike.
    public static func == (a: List, b: List) -> Bool { a === b || a.isEqual(to: b) }
    /// Hashes the number of elements. Lists of equal length have the same hash, and the hash of a list changes with its length.
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}
