import Firn
import Foundation

/// A homogeneous collection of a realm: `RLMArray`, `RLMSet`, `RLMResults`, `RLMLinkingObjects`. Live, frozen or (arrays and sets) unmanaged.
///
/// Where a member says "managed only", it traps on a collection that belongs to no realm; what changes a managed collection traps outside of a
/// write transaction. nil elements are `NSNull` where the type of the elements does not say otherwise.
public protocol RLMCollection<RLMObjectType>: AnyObject, Sequence, RLMThreadConfined, CustomStringConvertible
where Element == RLMObjectType, Iterator == RLMElementIterator<RLMObjectType> {
    /// What the elements are: `RLMObject`, or the Swift type of the values; `Any` fits all.
    associatedtype RLMObjectType

    var count: UInt { get }
    /// What one element is.
    var type: RLMPropertyType { get }
    /// Elements may be nil.
    var isOptional: Bool { get }
    /// The type of the objects; nil: the elements are values.
    var objectClassName: String? { get }
    /// Frozen collections never change, and can be read by any thread; so can the objects that are read from them.
    var isFrozen: Bool { get }

    func object(at index: UInt) -> Any
    func objects(at indexes: IndexSet) -> [Any]?
    var firstObject: Any? { get }
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
    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, queue: DispatchQueue?) -> RLMNotificationToken
    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?, queue: DispatchQueue?) -> RLMNotificationToken
    func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?) -> RLMNotificationToken

    func sectionedResultsSorted(usingKeyPath keyPath: String, ascending: Bool, keyBlock: @escaping RLMSectionedResultsKeyBlock) -> RLMSectionedResults<any RLMValue, RLMObjectType>
    func sectionedResults(using sortDescriptors: [RLMSortDescriptor], keyBlock: @escaping RLMSectionedResultsKeyBlock) -> RLMSectionedResults<any RLMValue, RLMObjectType>

    func min(ofProperty property: String) -> Any?
    func max(ofProperty property: String) -> Any?
    func sum(ofProperty property: String) -> NSNumber
    func average(ofProperty property: String) -> NSNumber?

    func freeze() -> Self
    func thaw() -> Self?

    func _makeSource() -> _CollectionSource
    /// The collection of this kind that a source of a realm is of.
    static func _with(_ source: _CollectionSource) -> Self
}

extension RLMCollection {
    /// The same elements as Firn reads them.
    var results: Results<DynamicElement> { Results(untyped: _makeSource()) }
    var elementType: DynamicType { _makeSource().elementType }
    var untypedElements: [Any?] { results.map(\.content) }

    /// `RLMSet`, `RLMArray`, …
    static var kind: String { String(String(describing: Self.self).prefix { $0 != "<" }) }

    /// What only collections of a realm have.
    func managed() -> Results<DynamicElement> {
        let results = results
        precondition(results.realm != nil, "This method may only be called on \(Self.kind) instances retrieved from an RLMRealm")
        return results
    }

    func requireWrite(_ member: String) {
        guard let realm = results.realm, !realm.isFrozen, !realm.isInWriteTransaction else { return }
        preconditionFailure("Can only perform \(member) in a Realm in a write transaction - call beginWriteTransaction on an RLMRealm instance first.")
    }

    // MARK: What and where it is

    /// How many elements there are; 0 when what they belong to was deleted.
    public var count: UInt { UInt(results.count) }
    public var type: RLMPropertyType { elementType.kind }
    public var isOptional: Bool { elementType.isOptional }
    public var objectClassName: String? { elementType.className }
    public var realm: RLMRealm? { results.realm.map(RLMRealm.init) }
    public var isInvalidated: Bool { results.isInvalidated }
    public var isFrozen: Bool { results.isFrozen }

    /// Managed only. The collection as it is in the version of its realm (in a transaction: was when it began), for good, for any thread. Held for
    /// long while others write, it makes the file grow: see `RLMRealmConfiguration.maximumNumberOfActiveVersions`.
    public func freeze() -> Self {
        let results = managed()
        return results.isFrozen ? self : Self._with(results.freeze()._makeSource())
    }

    /// Managed only. The live collection, at the version that this thread's realm is at; nil if what it belongs to is not there any more. A live
    /// collection gives itself.
    public func thaw() -> Self? {
        let results = managed()
        return results.isFrozen ? results.thaw().map { Self._with($0._makeSource()) } : self
    }

    /// The elements, at most 100 of them.
    public var description: String {
        let name = "\(Self.kind)<\(elementType.name)>"
        return isInvalidated ? "\(name) (invalidated)" : "\(name) (\n\(results.lines)\n)"
    }

    // MARK: Elements

    /// Elements as they were when the iteration began; objects that are deleted meanwhile are left out.
    public func makeIterator() -> RLMElementIterator<RLMObjectType> { RLMElementIterator(results) }
    public var underestimatedCount: Int { 0 }

    /// Traps if the index is out of bounds.
    public subscript(index: UInt) -> RLMObjectType { typed(results[Int(clamping: index)]) }
    /// As the subscript.
    public func object(at index: UInt) -> Any { typed(results[Int(clamping: index)], as: RLMObjectType.self) }

    /// The elements at the given places, ascending; nil if one of them is out of bounds.
    public func objects(at indexes: IndexSet) -> [Any]? {
        let found: [DynamicElement]
        do throws(Realm.Error) { found = try results.objects(at: indexes) } catch { return nil }
        return found.map { typed($0, as: RLMObjectType.self) }
    }

    /// nil if there is none. Of a set: its least.
    public var firstObject: Any? { results.first.map { typed($0, as: RLMObjectType.self) } }
    /// nil if there is none. Of a set: its greatest.
    public var lastObject: Any? { results.last.map { typed($0, as: RLMObjectType.self) } }

    /// What is given as the element that it would be; nil: there cannot be such a one.
    func wanted(_ object: Any?) -> DynamicElement? { DynamicElement(given(object), as: elementType) }

    /// What is given as an element; traps where it is none.
    func accepted(_ object: Any?, _ noun: String) -> DynamicElement {
        let type = elementType, value = given(object)
        if let element = DynamicElement(value, as: type) { return element }
        if DynamicElement(nil, as: DynamicType.anything) == DynamicElement(value, as: DynamicType.anything) { preconditionFailure("Invalid nil value for \(noun) of '\(type.name)'.") }
        if let object = value as? DynamicObject { preconditionFailure("Object of type '\(RLMObject(object).className)' does not match \(Self.kind) type '\(type.name)'.") }
        preconditionFailure("Invalid value '\(value.map { "\($0)" } ?? "nil")' of type '\(value.map { "\(Swift.type(of: $0))" } ?? "nil")' for expected type '\(type.name)'.")
    }
}

extension Results where Element == DynamicElement {
    /// The elements as text, at most 100 of them.
    var lines: String {
        let count = count
        var lines = (0..<Swift.min(count, 100)).map { place in
            "\t[\(place)] " + "\(shown(self[place].content) ?? "(null)")".replacingOccurrences(of: "\n", with: "\n\t")
        }
        if count > 100 { lines.append("\t... \(count - 100) objects skipped.") }
        return lines.joined(separator: ",\n")
    }
}

/// Goes through a collection as it was when the iteration began.
public struct RLMElementIterator<Element>: IteratorProtocol {
    private var objects: RLMIterator<DynamicObject>?
    private var values: RLMIterator<DynamicElement>?

    init(_ results: Results<DynamicElement>) {
        objects = results.makeObjectIterator()
        if objects == nil { values = results.makeIterator() }
    }

    public mutating func next() -> Element? {
        if objects != nil { return objects!.next().map { typed(DynamicElement(object: $0)) } }
        return values?.next().map { typed($0) }
    }
}
