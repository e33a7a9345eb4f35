import Firn
import Foundation

/// An ordered collection, duplicates allowed: a property of an object.
public final class RLMArray<RLMObjectType>: RLMCollection {
    public typealias Element = RLMObjectType
    public typealias Iterator = RLMElementIterator<RLMObjectType>

    let base: List<DynamicElement>
    private let declared: DynamicType

    init(_ base: List<DynamicElement>, _ declared: DynamicType) {
        self.base = base
        self.declared = declared
    }

    @available(*, unavailable, message: "RLMArrays cannot be created directly: they are properties of objects")
    public init() { fatalError("unavailable") }

    public func _makeSource() -> _CollectionSource { base._makeSource().declared(declared) }
    public static func _with(_ source: _CollectionSource) -> RLMArray { RLMArray(.of(source), source.elementType) }

    // MARK: Reading

    public subscript(index: UInt) -> RLMObjectType {
        get { typed(results[Int(clamping: index)]) }
        set { replaceObject(at: index, with: newValue) }
    }

    // MARK: Changing

    /// Adds an element at the end. An unmanaged object is added to the realm of the array.
    public func add(_ object: RLMObjectType) {
        requireWrite("add(_:)")
        base.append(accepted(object, "array"))
    }

    /// Adds the elements of an array, a set, results or another sequence at the end.
    public func addObjects(_ objects: any Sequence) {
        requireWrite("addObjects(_:)")
        base.append(objectsIn: elements(of: objects).map { accepted($0, "array") })
    }

    public func insert(_ anObject: RLMObjectType, at index: UInt) {
        requireWrite("insert(_:at:)")
        base.insert(accepted(anObject, "array"), at: Int(clamping: index))
    }

    public func removeObject(at index: UInt) {
        requireWrite("removeObject(at:)")
        base.remove(at: Int(clamping: index))
    }

    /// Nothing happens if there is none.
    public func removeLastObject() {
        requireWrite("removeLastObject()")
        if base.count > 0 { base.removeLast() }
    }

    /// Empties the array. Objects that were in it stay in their realm, but for embedded ones.
    public func removeAllObjects() {
        requireWrite("removeAllObjects()")
        base.removeAll()
    }

    public func replaceObject(at index: UInt, with anObject: RLMObjectType) {
        requireWrite("replaceObject(at:with:)")
        base.replace(index: Int(clamping: index), object: accepted(anObject, "array"))
    }

    /// Moves an element to where it stands afterwards.
    public func moveObject(at sourceIndex: UInt, to destinationIndex: UInt) {
        requireWrite("moveObject(at:to:)")
        base.move(from: Int(clamping: sourceIndex), to: Int(clamping: destinationIndex))
    }

    public func exchangeObject(at index1: UInt, withObjectAt index2: UInt) {
        requireWrite("exchangeObject(at:withObjectAt:)")
        base.swapAt(Int(clamping: index1), Int(clamping: index2))
    }

    /// The same elements in the same order, live, frozen or unmanaged.
    public func isEqual(to otherArray: RLMArray<RLMObjectType>) -> Bool { base == otherArray.base }
}
