import FirnBytes
import Firn
import Foundation

/// The objects of a realm, by the name of their type.
extension RLMRealm {
    // MARK: Reading

    /// Returns all objects of a type, live.
    public func allObjects(_ className: String) -> RLMResults<RLMObject> { RLMResults(base.elements(className)) }

    /// Returns the objects of a type that match a predicate in Firn's query language, live.
    public func objects(_ className: String, where predicateFormat: String, _ arguments: Any?...) -> RLMResults<RLMObject> {
        RLMResults(allObjects(className).choose(predicateFormat, arguments))
    }

    /// Returns the objects of a type that match a predicate, or all if it is nil, live.
    public func objects(_ className: String, with predicate: NSPredicate? = nil) -> RLMResults<RLMObject> {
        predicate.map { allObjects(className).objects(with: $0) } ?? allObjects(className)
    }

    /// Returns the object with a primary key, or nil if there is none.
    public func object(withClassName className: String, forPrimaryKey key: Any) -> RLMObject? {
        base.dynamicObject(ofType: className, forPrimaryKey: given(key) as Any).map { RLMObject($0) }
    }

    // MARK: Adding

    /// Creates and adds an object from a dictionary by property name, an array in the order of the properties, or another object.
    /// Properties without a value are zero or nil.
    @discardableResult
    public func createObject(_ className: String, withValue value: Any = [String: Any]()) -> RLMObject {
        RLMObject(base.dynamicCreate(className, value: given(value) ?? [String: Any]()))
    }

    /// As `createObject`. If an object with the same primary key exists, its properties are set to the values that differ.
    @discardableResult
    public func createOrUpdateObject(_ className: String, withValue value: Any) -> RLMObject {
        RLMObject(base.dynamicCreate(className, value: given(value) ?? [String: Any](), update: .modified))
    }

    /// Adds an unmanaged object, and all unmanaged objects that it refers to, to the realm.
    public func add(_ object: RLMObject) { base.add(object.base) }
    /// Adds the objects of an array, a collection or another sequence.
    public func addObjects(_ objects: any Sequence) { for object in all(objects) { base.add(object) } }

    /// As `add`. If an object with the same primary key exists, its properties are set to the values that differ.
    public func addOrUpdate(_ object: RLMObject) { base.add(object.base, update: .modified) }

    // MARK: Deleting

    /// Deletes an object of this realm.
    public func delete(_ object: RLMObject) { base.delete(object.base) }
    /// Deletes the objects of an array, a collection or another sequence.
    public func deleteObjects(_ objects: any Sequence) { base.delete(all(objects)) }
    /// Deletes all objects of all types.
    public func deleteAllObjects() { base.deleteAll() }

    private func all(_ objects: any Sequence) -> [DynamicObject] {
        elements(of: objects).map { one in
            guard let object = one as? RLMObject else {
                trap("\"\(one)\" is not an RLMObject: only objects can be added to a realm or deleted from it")
            }
            return object.base
        }
    }
}
