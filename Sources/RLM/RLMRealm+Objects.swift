import Firn
import Foundation

/// Objects of a realm, by the name of their type.
extension RLMRealm {
    // MARK: Reading

    /// All objects of a type.
    public func allObjects(_ className: String) -> RLMResults<RLMObject> { RLMResults(base.elements(className)) }

    /// Those objects of a type that a predicate in Firn's query language holds for.
    public func objects(_ className: String, where predicateFormat: String, _ arguments: Any?...) -> RLMResults<RLMObject> {
        RLMResults(allObjects(className).choose(predicateFormat, arguments))
    }

    /// Those objects of a type that a predicate holds for; nil: all.
    public func objects(_ className: String, with predicate: NSPredicate? = nil) -> RLMResults<RLMObject> {
        predicate.map { allObjects(className).objects(with: $0) } ?? allObjects(className)
    }

    /// The object with a primary key; nil if there is none.
    public func object(withClassName className: String, forPrimaryKey key: Any) -> RLMObject? {
        base.dynamicObject(ofType: className, forPrimaryKey: given(key) as Any).map { RLMObject($0) }
    }

    // MARK: Adding

    /// Makes an object of a dictionary by property name, an array in the order of the properties, or another object. What is not said is zero, or nil.
    @discardableResult
    public func createObject(_ className: String, withValue value: Any = [String: Any]()) -> RLMObject {
        RLMObject(base.dynamicCreate(className, value: given(value) ?? [String: Any]()))
    }

    /// As `createObject`; an object with the same primary key takes the values that differ.
    @discardableResult
    public func createOrUpdateObject(_ className: String, withValue value: Any) -> RLMObject {
        RLMObject(base.dynamicCreate(className, value: given(value) ?? [String: Any](), update: .modified))
    }

    /// Makes an unmanaged object, and all that it leads to, part of the realm.
    public func add(_ object: RLMObject) { base.add(object.base) }
    public func addObjects(_ objects: any Sequence) { for object in all(objects) { base.add(object) } }

    /// As `add`; an object with the same primary key takes the values that differ.
    public func addOrUpdate(_ object: RLMObject) { base.add(object.base, update: .modified) }

    // MARK: Deleting

    public func delete(_ object: RLMObject) { base.delete(object.base) }
    /// Deletes the objects of an array, a collection or another sequence.
    public func deleteObjects(_ objects: any Sequence) { base.delete(all(objects)) }
    /// Deletes every object of every type.
    public func deleteAllObjects() { base.deleteAll() }

    private func all(_ objects: any Sequence) -> [DynamicObject] {
        elements(of: objects).map { one in
            guard let object = one as? RLMObject else { preconditionFailure("'\(one)' is no RLMObject: only objects are added to realms and deleted from them") }
            return object.base
        }
    }
}
