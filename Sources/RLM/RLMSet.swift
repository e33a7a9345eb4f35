import Firn
import Foundation

/// Distinct elements: values or objects, not embedded ones. In ascending order where a realm manages them, as they were added where not.
///
/// Elements are distinct, what a property of them holds need not be: of ten members whose property is 0 or 1, four of them 1, the sum is 4.
public final class RLMSet<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    let base: MutableSet<DynamicElement>
    private let declared: DynamicType

    init(_ base: MutableSet<DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    @available(*, unavailable, message: "RLMSets cannot be created directly: they are properties of objects")
    public init() { fatalError("unavailable") }

    public func _makeSource() -> _CollectionSource { base._makeSource().declared(declared) }
    public static func _with(_ source: _CollectionSource) -> RLMSet { RLMSet(.of(source), source.elementType) }

    // MARK: Reading

    /// All members: a managed set's in their order, an unmanaged one's as they were added.
    public var allObjects: [RLMObjectType] { Array(self) }

    /// By value; of objects: the same object. An unmanaged object is in no managed set.
    public func contains(_ anObject: RLMObjectType) -> Bool { wanted(anObject).map(base.contains) ?? false }

    /// Every member is in `set` too; an empty set is part of any.
    public func isSubset(of set: RLMSet<RLMObjectType>) -> Bool {
        requireFitting(set)
        return base.isSubset(of: set.base)
    }

    /// They have a member in common.
    public func intersects(_ set: RLMSet<RLMObjectType>) -> Bool {
        requireFitting(set)
        return base.intersects(set.base)
    }

    /// The same members, live, frozen or unmanaged; which set it is does not matter.
    public func isEqual(to otherSet: RLMSet<RLMObjectType>) -> Bool { base == otherSet.base }

    // MARK: Changing

    /// Adds a member, unless it is one. An unmanaged object is added to the realm of the set. Traps on nil where members are not optional, and on
    /// objects of another type or that were deleted.
    public func add(_ object: RLMObjectType) {
        requireWrite("add(_:)")
        base.insert(accepted(object, "set"))
    }

    /// Adds the elements of an array, a set, results or another sequence.
    public func addObjects(_ objects: any Sequence) {
        requireWrite("addObjects(_:)")
        base.insert(objectsIn: elements(of: objects).map { accepted($0, "set") })
    }

    /// Takes a member out; nothing happens if it is none.
    public func remove(_ object: RLMObjectType) {
        requireWrite("remove(_:)")
        if let element = wanted(object) { base.remove(element) }
    }

    /// Empties the set. Objects that were in it stay in their realm.
    public func removeAllObjects() {
        requireWrite("removeAllObjects()")
        base.removeAll()
    }

    /// Takes the members of another set in place of its own.
    public func setSet(_ set: RLMSet<RLMObjectType>) {
        requireWrite("setSet(_:)")
        requireFitting(set)
        base.assign(set.base)
    }

    /// Keeps the members that `set` has too.
    public func intersect(_ set: RLMSet<RLMObjectType>) {
        requireWrite("intersect(_:)")
        requireFitting(set)
        base.formIntersection(set.base)
    }

    /// Takes the members of `set` out.
    public func minus(_ set: RLMSet<RLMObjectType>) {
        requireWrite("minus(_:)")
        requireFitting(set)
        base.subtract(set.base)
    }

    /// Adds the members of `set`.
    public func union(_ set: RLMSet<RLMObjectType>) {
        requireWrite("union(_:)")
        requireFitting(set)
        base.formUnion(set.base)
    }

    /// A managed set works with sets of the same realm and type.
    private func requireFitting(_ set: RLMSet<RLMObjectType>) {
        guard let mine = base.realm else { return }
        guard let theirs = set.base.realm else { preconditionFailure("Right hand side value must be a managed Set.") }
        precondition(elementType == set.elementType, "Right hand side set of '\(set.elementType.name)\(set.isOptional ? "?" : "")' does not match set of '\(elementType.name)\(isOptional ? "?" : "")'.")
        precondition(mine.hasSameFile(as: theirs), "Right hand side set is managed by another Realm: both must be of the same one.")
    }

    // MARK: What sets do not have

    private func noOrder() -> Never { preconditionFailure("An RLMSet has no order to look in: ask contains(_:), or sorted results of it.") }
    public func index(of object: Any) -> UInt { noOrder() }
    public func indexOfObject(where predicateFormat: String, _ arguments: Any?...) -> UInt { noOrder() }
    public func indexOfObject(with predicate: NSPredicate) -> UInt { noOrder() }
}
