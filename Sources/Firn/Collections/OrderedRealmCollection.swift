import FirnModel
import FirnQuery
import Foundation

/// A collection whose elements have places: all but sets, whose order is their own.
public protocol OrderedRealmCollection<Element>: RealmCollection {
    /// False: a set in an `AnyRealmCollection`.
    var _isOrdered: Bool { get }
}

extension OrderedRealmCollection {
    public var _isOrdered: Bool { true }

    func requireOrder() {
        precondition(_isOrdered, "index(of:) and index(matching:) are not available on a MutableSet, which has no order: ask contains(_:), or sorted results of it")
    }

    /// Where an element first stands; nil if it is not there. Objects are found by identity: an unmanaged one is in no managed collection.
    public func index(of object: Element) -> Int? {
        requireOrder()
        let source = source
        guard let core = source.core else { return (0..<count).first { self[$0] == object } }
        if source.isInvalidated { return nil }
        if let object = object._object {
            guard let other = object._core, other === core || other.file === core.file && other.version == core.version,
                  object._access?.name == source.shape.type.target, !object.isInvalidated else { return nil }
            return source.index(ofRow: object._rowID)
        }
        let wanted = object._stored(in: nil).value
        return (0..<source.count).first { Value.order(source.value($0), wanted) == 0 }
    }

    /// Where the first element stands that a predicate in Firn's query language holds for; nil if there is none. Traps if the predicate does not
    /// fit the elements.
    public func index(matching predicateFormat: String, _ args: Any?...) -> Int? { index(matching: predicateFormat, arguments: args) }

    package func index(matching predicateFormat: String, arguments args: [Any?]) -> Int? {
        requireOrder()
        let source = managedSource("index(matching:)", instead: "firstIndex(where:)")
        if source.isInvalidated { return nil }
        do {
            let syntax = try Parser.query(predicateFormat)
            let arguments = try source.arguments(args)
            try source.check(source.request(syntax, arguments))
            return source.firstIndex(syntax, arguments)
        } catch { preconditionFailure("\(error)") }
    }
}

extension RealmCollection {
    /// The elements at the given places, ascending. Throws if one of them is out of bounds; then nothing is read.
    public func objects(at indexes: IndexSet) throws(Realm.Error) -> [Element] {
        let count = count
        if let last = indexes.last, last >= count {
            throw Realm.Error(.invalidInput, "Index \(last) is out of bounds (must be less than \(count)).")
        }
        return indexes.map { self[$0] }
    }

    /// The element at a place; throws where the subscript traps.
    public func object(at index: Int) throws(Realm.Error) -> Element {
        let count = count
        guard index >= 0, index < count else { throw Realm.Error(.invalidInput, "Index \(index) is out of bounds (must be less than \(count)).") }
        return self[index]
    }

    /// The same elements in the same order (of sets: in whatever order); objects are the same at whatever version, or both unmanaged and identical.
    public func isEqual<C: RealmCollection>(to other: C) -> Bool where C.Element == Element {
        if isSameCollection(as: other) { return true }
        guard count == other.count else { return false }
        if let mine = self as? MutableSet<Element>, let theirs = other as? MutableSet<Element> { return mine == theirs }
        return zip(self, other).allSatisfy { isSameElement($0, $1) }
    }
}

/// Equal values; the same object at whatever version.
func isSameElement<Element: RealmCollectionValue>(_ a: Element, _ b: Element) -> Bool {
    if let first = a._object, let second = b._object { return first.isSameObject(as: second) }
    return a == b
}
