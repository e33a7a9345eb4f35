import FirnBytes
import Firn
import Foundation

/// A homogeneous collection of a realm: `RLMArray`, `RLMSet`, `RLMResults`, `RLMLinkingObjects`. Live, frozen or (arrays and sets)
/// unmanaged.
///
/// "Managed only" means that a member traps on an unmanaged collection. Members that change a managed collection trap outside of a write
/// transaction. Nil elements are read as `NSNull` unless the Swift type of the elements is optional.
public protocol RLMCollection<RLMObjectType>: AnyObject, Sequence, RLMThreadConfined, CustomStringConvertible
where Element == RLMObjectType, Iterator == RLMElementIterator<RLMObjectType> {
    /// The type of the elements: `RLMObject`, or the Swift type of the values; `Any` fits all.
    associatedtype RLMObjectType

    /// The number of elements; 0 if the object that has the collection was deleted.
    var count: UInt { get }
    /// The type of an element.
    var type: RLMPropertyType { get }
    /// True if elements can be nil.
    var isOptional: Bool { get }
    /// The type of the objects; nil if the elements are values.
    var objectClassName: String? { get }
    /// True if the collection is frozen: it and its objects never change, and any thread can read them.
    var isFrozen: Bool { get }

    /// Returns the element at an index. Traps if the index is out of bounds.
    func object(at index: UInt) -> Any
    /// Returns the elements at some indexes, ascending, or nil if one of them is out of bounds.
    func objects(at indexes: IndexSet) -> [Any]?
    /// The first element, or nil.
    var firstObject: Any? { get }
    /// The last element, or nil.
    var lastObject: Any? { get }
    func index(of object: Any) -> UInt
    func indexOfObject(where predicateFormat: String, _ arguments: Any?...) -> UInt
    func indexOfObject(with predicate: NSPredicate) -> UInt
    func objects(where predicateFormat: String, _ arguments: Any?...) -> RLMResults<RLMObjectType>
    func objects(with predicate: NSPredicate) -> RLMResults<RLMObjectType>
    func sortedResults(usingKeyPath keyPath: String, ascending: Bool) -> RLMResults<RLMObjectType>
    func sortedResults(using properties: [RLMSortDescriptor]) -> RLMResults<RLMObjectType>
    func distinctResults(usingKeyPaths keyPaths: [String]) -> RLMResults<RLMObjectType>
    func value(forKey key: String) -> Any?
    func value(forKeyPath keyPath: String) -> Any?
    func setValue(_ value: Any?, forKey key: String)

    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void) -> RLMNotificationToken
    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, queue: DispatchQueue?)
        -> RLMNotificationToken
    func addNotificationBlock(
        _ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?, queue: DispatchQueue?
    ) -> RLMNotificationToken
    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?)
        -> RLMNotificationToken

    func sectionedResultsSorted(usingKeyPath keyPath: String, ascending: Bool, keyBlock: @escaping RLMSectionedResultsKeyBlock)
        -> RLMSectionedResults<any RLMValue, RLMObjectType>
    func sectionedResults(using sortDescriptors: [RLMSortDescriptor], keyBlock: @escaping RLMSectionedResultsKeyBlock)
        -> RLMSectionedResults<any RLMValue, RLMObjectType>

    func min(ofProperty property: String) -> Any?
    func max(ofProperty property: String) -> Any?
    func sum(ofProperty property: String) -> NSNumber
    func average(ofProperty property: String) -> NSNumber?

    func freeze() -> Self
    func thaw() -> Self?

    func _makeSource() -> _CollectionSource
    /// Returns the collection of this kind with a source.
    static func _with(_ source: _CollectionSource) -> Self
}

extension RLMCollection {
    /// The same elements as a collection of Firn.
    var results: Results<DynamicElement> { Results(untyped: _makeSource()) }
    var elementType: DynamicType { _makeSource().elementType }
    var untypedElements: [Any?] { results.map(\.content) }

    /// The name of the class without its parameters: `RLMSet`, `RLMArray`, …
    static var kind: String { String(String(describing: Self.self).prefix { $0 != "<" }) }

    /// Returns the elements of a managed collection. Traps on unmanaged ones.
    func managed() -> Results<DynamicElement> {
        let results = results
        trap(unless: results.realm != nil, "This method may only be called on \(Self.kind) instances retrieved from an RLMRealm")
        return results
    }

    func requireWrite(_ member: String) {
        guard let realm = results.realm, !realm.isFrozen, !realm.isInWriteTransaction else { return }
        trap(
            "Can only perform \(member) in a Realm in a write transaction - call beginWriteTransaction on an RLMRealm instance first.")
    }

    // MARK: What and where it is

    /// The number of elements; 0 if the object that has the collection was deleted.
    public var count: UInt { UInt(results.count) }
    /// The type of an element.
    public var type: RLMPropertyType { elementType.kind }
    /// True if elements can be nil.
    public var isOptional: Bool { elementType.isOptional }
    /// The type of the objects; nil if the elements are values.
    public var objectClassName: String? { elementType.className }
    /// The realm of the collection; nil if the collection is unmanaged.
    public var realm: RLMRealm? { results.realm.map(RLMRealm.init) }
    /// True if the object that has the collection was deleted or its realm was invalidated. Always false for unmanaged collections.
    public var isInvalidated: Bool { results.isInvalidated }
    /// True if the collection is frozen: it and its objects never change, and any thread can read them.
    public var isFrozen: Bool { results.isFrozen }

    /// Managed only. Returns the frozen collection at the version of its realm (in a transaction, at the version that it began from), for
    /// any thread. While it is held and others write, the file grows: see `RLMRealmConfiguration.maximumNumberOfActiveVersions`.
    public func freeze() -> Self {
        let results = managed()
        return results.isFrozen ? self : Self._with(results.freeze()._makeSource())
    }

    /// Managed only. Returns the live collection at the version of this thread's realm, or nil if the object that has it no longer exists.
    /// A live collection returns itself.
    public func thaw() -> Self? {
        let results = managed()
        return results.isFrozen ? results.thaw().map { Self._with($0._makeSource()) } : self
    }

    /// The elements as text, at most 100 of them.
    public var description: String {
        let name = "\(Self.kind)<\(elementType.name)>"
        return isInvalidated ? "\(name) (invalidated)" : "\(name) (\n\(results.lines)\n)"
    }

    // MARK: Elements

    /// Iterates over the elements at the time of the call. Objects that are deleted during the iteration are omitted.
    public func makeIterator() -> RLMElementIterator<RLMObjectType> { RLMElementIterator(results) }
    /// 0, because an iteration omits objects that are deleted during it and can return fewer elements than `count`.
    public var underestimatedCount: Int { 0 }

    /// Returns the element at an index. Traps if the index is out of bounds.
    public subscript(index: UInt) -> RLMObjectType { typed(results[Int(clamping: index)]) }
    /// As the subscript.
    public func object(at index: UInt) -> Any { typed(results[Int(clamping: index)], as: RLMObjectType.self) }

    /// Returns the elements at some indexes, ascending, or nil if one of them is out of bounds.
    public func objects(at indexes: IndexSet) -> [Any]? {
        let found: [DynamicElement]
        do throws(Realm.Error) { found = try results.objects(at: indexes) } catch { return nil }
        return found.map { typed($0, as: RLMObjectType.self) }
    }

    /// The first element, or nil. For a set, its minimum.
    public var firstObject: Any? { results.first.map { typed($0, as: RLMObjectType.self) } }
    /// The last element, or nil. For a set, its maximum.
    public var lastObject: Any? { results.last.map { typed($0, as: RLMObjectType.self) } }

    /// Returns `object` as an element, or nil if the collection cannot contain it.
    func wanted(_ object: Any?) -> DynamicElement? { DynamicElement(given(object), as: elementType) }

    /// Returns `object` as an element. Traps if the collection cannot contain it.
    func accepted(_ object: Any?, _ noun: String) -> DynamicElement {
        let type = elementType, value = given(object)
        if let element = DynamicElement(value, as: type) { return element }
        if DynamicElement(nil, as: DynamicType.anything) == DynamicElement(value, as: DynamicType.anything) {
            trap("Invalid nil value for \(noun) of \"\(type.name)\".")
        }
        if let object = value as? DynamicObject {
            trap("Object of type \"\(RLMObject(object).className)\" does not match \(Self.kind) type \"\(type.name)\".")
        }
        trap(
            "Invalid value \"\(value.map { "\($0)" } ?? "nil")\" of type \"\(value.map { "\(Swift.type(of: $0))" } ?? "nil")\" for expected type \"\(type.name)\"."
        )
    }
}

extension Results where Element == DynamicElement {
    /// The elements as text, at most 100 of them.
    var lines: String {
        let count = count
        var lines = (0..<Swift.min(count, 100)).map { index in
            "\t[\(index)] " + "\(shown(self[index].content) ?? "(null)")".replacingOccurrences(of: "\n", with: "\n\t")
        }
        if count > 100 { lines.append("\t... \(count - 100) objects skipped.") }
        return lines.joined(separator: ",\n")
    }
}

/// Iterates over the elements of a collection at the time when the iteration began.
public struct RLMElementIterator<Element>: IteratorProtocol {
    private var objects: RLMIterator<DynamicObject>?
    private var values: RLMIterator<DynamicElement>?

    init(_ results: Results<DynamicElement>) {
        objects = results.makeObjectIterator()
        if objects == nil { values = results.makeIterator() }
    }

    /// Returns the next element, or nil.
    public mutating func next() -> Element? {
        if objects != nil { return objects!.next().map { typed(DynamicElement(object: $0)) } }
        return values?.next().map { typed($0) }
    }
}
