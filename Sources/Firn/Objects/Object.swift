import FirnBytes
import FirnDatabase
import FirnTable
import Foundation

/// The base class of stored classes.
///
///     class Person: Object {
///         @Persisted(primaryKey: true) var id: UUID
///         @Persisted var name = ""
///         @Persisted var dogs: List<Dog>
///     }
open class Object: ObjectBase, _RealmSchemaDiscoverable, KeypathSortable {
    /// Creates an unmanaged object with the initial values of its properties.
    public override init() { super.init() }

    /// Creates an unmanaged object with values from a dictionary, an array in the order of the properties, or another object. Keys of a
    /// dictionary without a property are ignored, which is logged once for each. Traps if a value does not fit its property.
    public convenience init(value: Any) {
        self.init()
        assign(value)
    }
}

/// The base class of embedded objects. An embedded object belongs to exactly one owner and is deleted with it. It has no primary
/// key and is added only through its owner.
open class EmbeddedObject: ObjectBase, _RealmSchemaDiscoverable, KeypathSortable {
    /// Creates an unmanaged object with the initial values of its properties.
    public override init() { super.init() }

    /// Creates an unmanaged object with values from a dictionary, an array in the order of the properties, or another object.
    /// Traps if a value does not fit its property.
    public convenience init(value: Any) {
        self.init()
        assign(value)
    }
}

extension ObjectBase {
    /// Sets properties from a dictionary by name, an array in the order of the properties, or another object.
    final func assign(_ value: Any) {
        let schema = ClassSchema.of(type(of: self))
        // The most frequent case, without copies of the properties.
        if Swift.type(of: value) == [String: Any].self {
            for (index, content) in ObjectBase.indexed(value as! [String: Any], in: schema) { put(content, in: schema.properties[index]) }
            return
        }
        for (property, content) in ObjectBase.contents(of: value, for: schema) {
            put(content, in: property)
        }
    }

    /// Returns the values that `value` has for properties of a class, in the order of the properties.
    final class func contents(of value: Any, for schema: ClassSchema) -> [(property: ClassSchema.Property, value: Any?)] {
        let settable = schema.stored
        switch value {
        // Tested first, without a cast: casting a dictionary to an object type or to one with optional values would convert the whole
        // dictionary.
        case _ where Swift.type(of: value) == [String: Any].self: return contents(value as! [String: Any], for: schema)
        case let object as ObjectBase:
            return settable.compactMap { property -> (property: ClassSchema.Property, value: Any?)? in
                let name = object.has(property.name) ? property.name : property.codeName
                return object.has(name) ? (property: property, value: object[name]) : nil
            }
        case let dictionary as [String: Any?]: return contents(dictionary, for: schema)
        case let array as [Any?]:
            trap(unless: array.count <= settable.count, "\(array.count) values for the \(settable.count) properties of \"\(schema.name)\"")
            return zip(settable, array).map { ($0, $1) }
        default:
            trap("objects are made from a dictionary, an array or an object, not from \(Swift.type(of: value))")
        }
    }

    private final class func contents<Content>(_ dictionary: [String: Content], for schema: ClassSchema) -> [(
        property: ClassSchema.Property, value: Any?
    )] {
        indexed(dictionary, in: schema).map { (schema.properties[$0.index], $0.content) }
    }

    /// Returns the values of a dictionary with the indexes of their properties, in the order of the properties. Keys without a property are
    /// left out, and logged.
    private final class func indexed<Content>(_ dictionary: [String: Content], in schema: ClassSchema) -> [(index: Int, content: Any?)] {
        var found: [(index: Int, content: Any?)] = []
        found.reserveCapacity(dictionary.count)
        for (key, content) in dictionary {
            guard let index = schema.index(of: key) else {
                UnknownKeys.note(key, of: schema.name)
                continue
            }
            // Derived properties are not set. If both names of a property are given, the name in the file has precedence.
            let name = schema.properties[index].name
            if schema.properties[index].shape.isLinking || (key != name && dictionary[name] != nil) { continue }
            found.append((index, content))
        }
        found.sort { $0.index < $1.index }
        return found
    }

    /// The value of the property with this name, managed or not. Traps if there is none, or if a new value does not fit it.
    public final subscript(key: String) -> Any? {
        get {
            if let access = _access, access.schema == nil { return dynamicValue(key, access) }
            if let contents = unmanagedContents { return contents.values[contents.index(of: key)].untyped }
            return property(key).access.get(self)
        }
        set {
            if let access = _access, access.schema == nil { return setDynamicValue(key, newValue, access) }
            if let contents = unmanagedContents {
                let index = contents.index(of: key)
                guard contents.set(index, newValue) else {
                    trap(RealmMessage.invalidValue(newValue, of: contents.type, index))
                }
                return
            }
            put(newValue, in: property(key))
        }
    }

    final func property(_ name: String) -> ClassSchema.Property {
        let schema = ClassSchema.of(type(of: self))
        guard let index = schema.index(of: name) else { trap("type \"\(schema.name)\" has no property \"\(name)\"") }
        return schema.properties[index]
    }

    /// Returns the value of a property. Traps if there is none with this name.
    public final func value(forKey key: String) -> Any? { self[key] }

    /// Sets a property. Traps if there is none with this name, or if the value does not fit it.
    public final func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// Sets the property at the end of a path through links and embedded objects, such as `owner.address.city`. Does nothing if one of them
    /// is nil. Traps if there is no such property, or if the value does not fit it.
    public final func setValue(_ value: Any?, forKeyPath path: String) {
        guard let point = path.lastIndex(of: ".") else { return self[path] = value }
        guard let owner = self.value(forKeyPath: String(path[..<point])) else { return }
        guard let object = owner as? ObjectBase else { trap("\"\(path[..<point])\" does not lead to an object") }
        object[String(path[path.index(after: point)...])] = value
    }

    /// Returns the values of properties by name, as Foundation's objects do: nil as `NSNull`. Traps if there is no property with a name.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, unwrapped(self[$0]) ?? NSNull()) }) { $1 }
    }

    /// Sets properties by name, as Foundation's objects do; `NSNull` is nil. Traps if there is no property with a name, or if a value does not
    /// fit.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { self[key] = unwrapped(value) }
    }

    /// Returns the value at the end of a path through links and embedded objects, such as `owner.address.city`, or nil if one of them is
    /// nil.
    public final func value(forKeyPath path: String) -> Any? {
        guard let point = path.firstIndex(of: ".") else { return self[path] }
        switch self[String(path[..<point])] {
        case let object as ObjectBase: return object.value(forKeyPath: String(path[path.index(after: point)...]))
        case let collection as any _AnyCollection: return collection._value(forKeyPath: String(path[path.index(after: point)...]))
        default: return nil
        }
    }
}
