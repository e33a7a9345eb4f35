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
        if let a = self as? AnyObject, let b = other as? AnyObject, a === b { return true }
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

    /// Where an element stands; nil if it is not there. Objects are found by identity: an unmanaged one is in no managed collection.
    public func index(of object: Element) -> Int? {
        let source = source
        guard let core = source.core else { return (0..<count).first { self[$0] == object } }
        if let object = object as? ObjectBase {
            guard let rowID = object._core.flatMap({ $0.file === core.file && $0.version == core.version ? object._rowID : nil }),
                  object._access?.name == source.shape.type.target else { return nil }
            return source.rowIDs().firstIndex(of: rowID)
        }
        let wanted = object._stored(in: nil).value
        return (0..<source.count).first { source.value($0) == wanted }
    }

    // MARK: Choosing and ordering

    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element> where S.Element == SortDescriptor, Element: RealmFetchable {
        Results(managedSource("sorted").sorted(sortDescriptors.map { ($0.keyPath, $0.ascending) }))
    }

    func managedSource(_ action: String) -> _CollectionSource {
        let source = source
        precondition(source.core != nil, "\(action) is for managed collections: this one belongs to no realm. Use Swift's own \(action) on it.")
        return source
    }

    // MARK: Freezing

    /// The collection as it is in the version its realm is at (in a transaction: was when it began): immutable, usable from any thread.
    public func frozenSource() -> _CollectionSource {
        let source = managedSource("freeze()")
        return source.moved(to: source.core!.frozen())!
    }

    // MARK: Text

    /// The elements, at most 100 of them.
    public var description: String {
        let count = count
        var lines = (0..<Swift.min(count, 100)).map { "\t[\($0)] \(self[$0])".replacingOccurrences(of: "\n", with: "\n\t") }
        if count > 100 { lines.append("\t... \(count - 100) objects skipped.") }
        return "\(Swift.type(of: self)) <\(Element.self)> (\n" + lines.joined(separator: ",\n") + "\n)"
    }
}

extension Results {
    /// Equal are results of the very same query.
    public static func == (a: Results, b: Results) -> Bool { a.source === b.source || a.source.isSame(as: b.source) }
    public func freeze() -> Results { Results(frozenSource()) }
    public func thaw() -> Results? { source.core!.isFrozen ? source.moved(to: source.core!.thawed()).map(Results.init) : self }
}

extension List {
    public static func == (a: List, b: List) -> Bool { a.isSameCollection(as: b) || a.elementsEqual(b) }
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension _CollectionSource {
    func sorted(_ keys: [(path: String, ascending: Bool)]) -> _CollectionSource {
        guard !keys.isEmpty else { return self }
        do {
            let list = try keys.map { SortKeySyntax(try Parser.path($0.path), ascending: $0.ascending) }
            let syntax = QuerySyntax(.constant(true), descriptors: [.sort(list)])
            try check(QueryRequest(parsed: syntax, inverses: inverses))
            return appending(syntax, [])
        } catch { preconditionFailure("\(error)") }
    }

    /// A query on a query is one query: filters first, then what orders, in the order it was asked for.
    func appending(_ syntax: QuerySyntax, _ arguments: [Value]) -> _CollectionSource {
        QuerySource(self, syntax, arguments: arguments)
    }
}

/// A key path and a direction.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral {
    public let keyPath: String
    public let ascending: Bool

    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    public init<Root: ObjectBase>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: KeyPathRecorder.path(keyPath), ascending: ascending)
    }

    public init(stringLiteral value: String) { self.init(keyPath: value) }

    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

extension RealmCollection {
    /// What each element holds under a key: objects their property; primitive values themselves under "self".
    public func value(forKey key: String) -> Any? {
        map { element -> Any? in
            if let object = element as? ObjectBase { return object[key] }
            precondition(key == "self", "collections of values that are no objects have the key \"self\" only")
            return element._untypedElement
        }
    }

    /// As `value(forKey:)`, through links: `owner.name`.
    public func value(forKeyPath path: String) -> Any? {
        map { element -> Any? in
            if let object = element as? ObjectBase { return object.value(forKeyPath: path) }
            precondition(path == "self", "collections of values that are no objects have the key \"self\" only")
            return element._untypedElement
        }
    }

    /// Sets a property of every element.
    public func setValue(_ value: Any?, forKey key: String) {
        for element in self {
            guard let object = element as? ObjectBase else { preconditionFailure("only objects have properties to set") }
            object[key] = value
        }
    }
}
