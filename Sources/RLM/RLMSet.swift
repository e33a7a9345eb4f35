import FirnBytes
import Firn
import Foundation

/// A set of values or of objects that are not embedded. The members of a managed set are in ascending order, those of an unmanaged set in
/// the order in which they were added.
///
/// Aggregates count every member: if four of ten members have the value 1 of a property and six have 0, the sum is 4.
public final class RLMSet<RLMObjectType>: RLMCollection {
    /// The type of the elements.
    public typealias Element = RLMObjectType
    /// The iterator over the elements.
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    let base: MutableSet<DynamicElement>
    private let declared: DynamicType

    init(_ base: MutableSet<DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    /// Unavailable: a set is a property of an object and is read from it, such as `object["tags"]`.
    @available(*, unavailable, message: "RLMSets cannot be created directly: they are properties of objects")
    public init() { trap("unavailable") }

    /// Returns the origin of the elements: the set's property, or a copy of an unmanaged set. Used by the members of `RLMCollection`; not
    /// for direct use.
    public func _makeSource() -> _CollectionSource { base._makeSource().declared(declared) }
    /// Returns the set of a source. Traps if the source is not a set property. Used by the members of `RLMCollection`; not for direct use.
    public static func _with(_ source: _CollectionSource) -> RLMSet { RLMSet(.of(source), source.elementType) }

    // MARK: Reading

    /// All members: in ascending order for a managed set, in the order of addition for an unmanaged one.
    public var allObjects: [RLMObjectType] { Array(self) }

    /// Returns whether the set contains a value or the same object. No managed set contains an unmanaged object.
    public func contains(_ anObject: RLMObjectType) -> Bool { wanted(anObject).map(base.contains) ?? false }

    /// Returns whether `set` contains every member of this set. An empty set is a subset of every set.
    public func isSubset(of set: RLMSet<RLMObjectType>) -> Bool {
        requireFitting(set)
        return base.isSubset(of: set.base)
    }

    /// Returns whether the sets have a common member.
    public func intersects(_ set: RLMSet<RLMObjectType>) -> Bool {
        requireFitting(set)
        return base.intersects(set.base)
    }

    /// Returns whether both have the same members. Each may be live, frozen or unmanaged.
    public func isEqual(to otherSet: RLMSet<RLMObjectType>) -> Bool { base == otherSet.base }

    // MARK: Changing

    /// Adds a member, if the set does not contain it. An unmanaged object is added to the realm of the set. Traps on nil if members are not
    /// optional, and on objects that have another type or were deleted.
    public func add(_ object: RLMObjectType) {
        requireWrite("add(_:)")
        base.insert(accepted(object, "set"))
    }

    /// Adds the elements of an array, a set, results or another sequence.
    public func addObjects(_ objects: any Sequence) {
        requireWrite("addObjects(_:)")
        base.insert(objectsIn: elements(of: objects).map { accepted($0, "set") })
    }

    /// Removes a member. Does nothing if the set does not contain it.
    public func remove(_ object: RLMObjectType) {
        requireWrite("remove(_:)")
        if let element = wanted(object) { base.remove(element) }
    }

    /// Removes all members. Their objects stay in the realm.
    public func removeAllObjects() {
        requireWrite("removeAllObjects()")
        base.removeAll()
    }

    /// Replaces all members with those of another set.
    public func setSet(_ set: RLMSet<RLMObjectType>) {
        requireWrite("setSet(_:)")
        requireFitting(set)
        base.assign(set.base)
    }

    /// Removes the members that `set` does not contain.
    public func intersect(_ set: RLMSet<RLMObjectType>) {
        requireWrite("intersect(_:)")
        requireFitting(set)
        base.formIntersection(set.base)
    }

    /// Removes the members of `set`.
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

    /// A managed set can be combined only with sets of the same realm and type.
    private func requireFitting(_ set: RLMSet<RLMObjectType>) {
        guard let mine = base.realm else { return }
        guard let theirs = set.base.realm else { trap("Right hand side value must be a managed Set.") }
        trap(
            unless: elementType == set.elementType,
            "Right hand side set of \"\(set.elementType.name)\(set.isOptional ? "?" : "")\" does not match set of \"\(elementType.name)\(isOptional ? "?" : "")\"."
        )
        trap(unless: mine.hasSameFile(as: theirs), "Right hand side set is managed by another Realm: use a set of the same one.")
    }

    // MARK: What sets do not have

    private func noOrder() -> Never { trap("An RLMSet has no indexes: use contains(_:), or sorted results of it.") }
    /// Traps: a set has no indexes. Use `contains(_:)`, or sorted results of the set.
    public func index(of object: Any) -> UInt { noOrder() }
    /// Traps: a set has no indexes. Use `contains(_:)`, or sorted results of the set.
    public func indexOfObject(where predicateFormat: String, _ arguments: Any?...) -> UInt { noOrder() }
    /// Traps: a set has no indexes. Use `contains(_:)`, or sorted results of the set.
    public func indexOfObject(with predicate: NSPredicate) -> UInt { noOrder() }
}
