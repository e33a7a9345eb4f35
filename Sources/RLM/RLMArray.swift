import FirnBytes
import Firn
import Foundation

/// A list of an object: an ordered collection that can contain duplicates.
public final class RLMArray<RLMObjectType>: RLMCollection {
    /// The type of the elements.
    public typealias Element = RLMObjectType
    /// The iterator over the elements.
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    let base: List<DynamicElement>
    private let declared: DynamicType

    init(_ base: List<DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    /// Unavailable: an array is a property of an object and is read from it, such as `object["dogs"]`.
    @available(*, unavailable, message: "RLMArrays cannot be created directly: they are properties of objects")
    public init() { trap("unavailable") }

    /// Returns the origin of the elements: the array's property, or a copy of an unmanaged array. Used by the members of `RLMCollection`;
    /// not for direct use.
    public func _makeSource() -> _CollectionSource { base._makeSource().declared(declared) }
    /// Returns the array of a source. Traps if the source is not a list property. Used by the members of `RLMCollection`; not for direct
    /// use.
    public static func _with(_ source: _CollectionSource) -> RLMArray { RLMArray(.of(source), source.elementType) }

    // MARK: Reading

    /// The element at an index. Traps if the index is out of bounds.
    public subscript(index: UInt) -> RLMObjectType {
        get { typed(results[Int(clamping: index)]) }
        set { replaceObject(at: index, with: newValue) }
    }

    // MARK: Changing

    /// Appends an element. An unmanaged object is added to the realm of the array.
    public func add(_ object: RLMObjectType) {
        requireWrite("add(_:)")
        base.append(accepted(object, "array"))
    }

    /// Appends the elements of an array, a set, results or another sequence.
    public func addObjects(_ objects: any Sequence) {
        requireWrite("addObjects(_:)")
        base.append(objectsIn: elements(of: objects).map { accepted($0, "array") })
    }

    /// Inserts an element. Traps if the index is out of bounds.
    public func insert(_ anObject: RLMObjectType, at index: UInt) {
        requireWrite("insert(_:at:)")
        base.insert(accepted(anObject, "array"), at: Int(clamping: index))
    }

    /// Removes the element at an index. Traps if the index is out of bounds.
    public func removeObject(at index: UInt) {
        requireWrite("removeObject(at:)")
        base.remove(at: Int(clamping: index))
    }

    /// Removes the last element. Does nothing if the array is empty.
    public func removeLastObject() {
        requireWrite("removeLastObject()")
        if base.count > 0 { base.removeLast() }
    }

    /// Removes all elements. Their objects stay in the realm, except embedded ones.
    public func removeAllObjects() {
        requireWrite("removeAllObjects()")
        base.removeAll()
    }

    /// Replaces the element at an index. Traps if the index is out of bounds.
    public func replaceObject(at index: UInt, with anObject: RLMObjectType) {
        requireWrite("replaceObject(at:with:)")
        base.replace(index: Int(clamping: index), object: accepted(anObject, "array"))
    }

    /// Moves the element at `sourceIndex`, so that its index becomes `destinationIndex`.
    public func moveObject(at sourceIndex: UInt, to destinationIndex: UInt) {
        requireWrite("moveObject(at:to:)")
        base.move(from: Int(clamping: sourceIndex), to: Int(clamping: destinationIndex))
    }

    /// Swaps two elements.
    public func exchangeObject(at index1: UInt, withObjectAt index2: UInt) {
        requireWrite("exchangeObject(at:withObjectAt:)")
        base.swapAt(Int(clamping: index1), Int(clamping: index2))
    }

    /// Returns whether both have the same elements in the same order. Each may be live, frozen or unmanaged.
    public func isEqual(to otherArray: RLMArray<RLMObjectType>) -> Bool { base == otherArray.base }
}
