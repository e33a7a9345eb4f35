import FirnBytes
import FirnQuery
import FirnTable
import Foundation

/// A collection whose elements have positions: every collection except sets, which have no order of their own.
public protocol OrderedRealmCollection<Element>: RealmCollection {
    /// False for a set in an `AnyRealmCollection`.
    var _isOrdered: Bool { get }
}

extension OrderedRealmCollection {
    /// True: elements have positions. Used by the members of collections; not for direct use.
    public var _isOrdered: Bool { true }

    func requireOrder() {
        trap(
            unless: _isOrdered,
            "index(of:) and index(matching:) are not available on a MutableSet, which has no order: use contains(_:), or sorted results of the set"
        )
    }

    /// Returns the index of the first occurrence of an element; nil if there is none. Objects are compared by identity: a managed
    /// collection contains no unmanaged object.
    public func index(of object: Element) -> Int? {
        requireOrder()
        let source = source
        guard let core = source.core else { return (0..<count).first { self[$0] == object } }
        if source.isInvalidated { return nil }
        if let object = object._firnObject {
            guard let other = object._core, other === core || other.file === core.file && other.version == core.version,
                object._access?.name == source.shape.type.target, !object.isInvalidated
            else { return nil }
            return source.index(ofRow: object._rowID)
        }
        let wanted = object._stored(in: nil).value
        return (0..<source.count).first { Value.order(source.value($0), wanted) == 0 }
    }

    /// Returns the index of the first element that matches a predicate in Firn's query language; nil if there is none. Traps if the
    /// predicate is not valid for the elements.
    public func index(matching predicateFormat: String, _ args: Any?...) -> Int? { index(matching: predicateFormat, arguments: args) }

    package func index(matching predicateFormat: String, arguments args: [Any?]) -> Int? {
        requireOrder()
        let source = source
        if source.isInvalidated { return nil }
        do {
            if let tables = source.unmanagedTables {
                return try tables.firstIndex(
                    Parser.query(predicateFormat), QueryArguments { tables.rowID(of: $0) ?? -1 }.values(args))
            }
            let syntax = try Parser.query(predicateFormat)
            let arguments = try source.arguments(args)
            try source.check(source.request(syntax, arguments))
            return source.firstIndex(syntax, arguments)
        } catch { trap("\(error)") }
    }
}

extension RealmCollection {
    /// Returns the elements at the given positions, in ascending order.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if a position is out of bounds; then nothing is read.
    public func objects(at indexes: IndexSet) throws(Realm.Error) -> [Element] {
        let count = count
        if let last = indexes.last, last >= count {
            throw Realm.Error(.invalidInput, "Index \(last) is out of bounds (must be less than \(count)).")
        }
        return indexes.map { self[$0] }
    }

    /// Returns the element at a position.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if the position is out of bounds, where the subscript traps.
    public func object(at index: Int) throws(Realm.Error) -> Element {
        let count = count
        guard index >= 0, index < count else {
            throw Realm.Error(.invalidInput, "Index \(index) is out of bounds (must be less than \(count)).")
        }
        return self[index]
    }

    /// Returns whether both have the same elements in the same order (sets: in any order). Managed objects are equal if they are the same
    /// object at any version, unmanaged ones if they are identical.
    public func isEqual<C: RealmCollection>(to other: C) -> Bool where C.Element == Element {
        if isSameCollection(as: other) { return true }
        guard count == other.count else { return false }
        if let mine = self as? MutableSet<Element>, let theirs = other as? MutableSet<Element> { return mine == theirs }
        return zip(self, other).allSatisfy { isSameElement($0, $1) }
    }
}

/// Returns whether two elements are equal values, or the same object at any version.
func isSameElement<Element: RealmCollectionValue>(_ a: Element, _ b: Element) -> Bool {
    if let first = a._firnObject, let second = b._firnObject { return first.isSameObject(as: second) }
    return a == b
}
