import FirnBytes
import FirnTable

/// Reads and writes one `@Persisted` property of any object of its class. There is one for each property of a class.
public class _PropertyAccess {
    /// The number of bytes from the start of the object to its `Persisted`.
    let offset: Int
    let shape: _Shape
    /// Sets the column that the property reads and writes from then on. This and `append` are closures because the compiler specializes a
    /// closure for a known type, but not an override in a generic class.
    let attach: (ObjectBase, Int16) -> Void
    /// Appends the value of an unmanaged object. Not used for links and collections.
    let append: (ObjectBase, _Sink) -> Void

    init(offset: Int, shape: _Shape, attach: @escaping (ObjectBase, Int16) -> Void, append: @escaping (ObjectBase, _Sink) -> Void) {
        self.offset = offset
        self.shape = shape
        self.attach = attach
        self.append = append
    }

    /// Returns the options of the declaration.
    func options(in object: ObjectBase) -> PersistedOptions { trap("overridden") }
    /// Returns the name given to `originProperty:`; nil for other properties.
    func origin(in object: ObjectBase) -> String? { nil }
    func get(_ object: ObjectBase) -> Any? { trap("overridden") }
    /// Returns false if the value does not fit.
    func set(_ object: ObjectBase, _ value: Any?) -> Bool { trap("overridden") }
    /// Returns the value of an unmanaged object unchanged, for `setManaged` after the object was added.
    func unmanagedContent(_ object: ObjectBase) -> Any? { trap("overridden") }
    func setManaged(_ object: ObjectBase, _ content: Any?) { trap("overridden") }
    /// The values that the property takes, for messages.
    var accepted: String { shape.type.name }
}

final class PersistedProperty<Value: _Persistable>: _PropertyAccess {
    /// Sets the property to an untyped value, and returns false if it does not fit. A closure for the same reason as `attach`.
    private let assign: (ObjectBase, Any?) -> Bool

    @inline(__always)
    init(at offset: Int) {
        assign = { object, value in
            let storage = PersistedProperty.storage(object, offset)
            if Value._isCollection {
                let held = object._state != nil ? Value._read(object, Int(storage.pointee.column)) : storage.pointee.settle(object)
                return (held as? any _AnyCollection)?._replaceAll(untyped: value) ?? false
            }
            guard let value = Value._fromUntyped(value) else { return false }
            if object._state == nil {
                storage.pointee.state = .value(value)
            } else {
                Value._write(object, Int(storage.pointee.column), value)
            }
            return true
        }
        super.init(
            offset: offset, shape: Value._shape,
            attach: { object, column in
                let storage = PersistedProperty.storage(object, offset)
                storage.pointee.column = column
                // A managed object stores no values of its own. One that records reads keeps them for custom types.
                if case .value = storage.pointee.state, column >= unmanagedColumn { storage.pointee.state = .unset }
            },
            append: { object, sink in
                let storage = PersistedProperty.storage(object, offset)
                if case .value(let value) = storage.pointee.state {
                    value._append(to: sink)
                } else {
                    storage.pointee.settle(object)._append(to: sink)
                }
            })
    }

    @inline(__always)
    private static func storage(_ object: ObjectBase, _ offset: Int) -> UnsafeMutablePointer<Persisted<Value>> {
        (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Persisted<Value>.self)
    }

    @inline(__always)
    private func storage(_ object: ObjectBase) -> UnsafeMutablePointer<Persisted<Value>> { PersistedProperty.storage(object, offset) }

    override func options(in object: ObjectBase) -> PersistedOptions { storage(object).pointee.options }

    override func origin(in object: ObjectBase) -> String? {
        (storage(object).pointee.settle(object) as? any _LinkingProperty)?._origin
    }

    override func get(_ object: ObjectBase) -> Any? {
        let storage = storage(object)
        return (object._state != nil ? Value._read(object, Int(storage.pointee.column)) : storage.pointee.settle(object))._untyped
    }

    override func set(_ object: ObjectBase, _ value: Any?) -> Bool { assign(object, value) }

    override var accepted: String { shape.type.name + (limits(of: Value.self).map { " (\($0))" } ?? "") }

    override func unmanagedContent(_ object: ObjectBase) -> Any? { storage(object).pointee.settle(object) }

    override func setManaged(_ object: ObjectBase, _ content: Any?) {
        guard let value = content as? Value else { trap("the content belongs to another property") }
        if Value._isCollection {
            var collection = Value._read(object, Int(storage(object).pointee.column))
            collection._replaceContents(with: value)
        } else {
            Value._write(object, Int(storage(object).pointee.column), value)
        }
    }
}

/// Describes the values of an enum or of an integer type of less than 64 bits; nil for other types. `List<Int8>` and `Int8?` are described
/// as `Int8`.
private func limits(of type: Any.Type) -> String? {
    func integers<T: _IntegerScalar>(_ type: T.Type) -> String? { T.bitWidth < 64 ? "\(T.self): \(T.min) to \(T.max)" : nil }
    func cases<T: PersistableEnum>(_ type: T.Type) -> String? {
        "\(T.self): \(T.allCases.map { String(reflecting: $0.rawValue) }.joined(separator: ", "))"
    }
    func elements<T: RealmCollection>(_ type: T.Type) -> String? { limits(of: T.Element.self) }
    switch type {
    case let optional as any _AnyOptionalType.Type: return limits(of: optional.wrappedType)
    case let integer as any _IntegerScalar.Type: return integers(integer)
    case let some as any PersistableEnum.Type: return cases(some)
    case let collection as any RealmCollection.Type: return elements(collection)
    case let map as any MapValues.Type: return limits(of: map.valueType)
    default: return nil
    }
}

/// Any `Map`, for the type of its values.
private protocol MapValues {
    static var valueType: Any.Type { get }
}

extension Map: MapValues {
    fileprivate static var valueType: Any.Type { Value.self }
}

/// Any `Persisted<Value>`, for enumerating the fields of a class.
protocol AnyPersisted {
    static func property(at offset: Int) -> _PropertyAccess
}

extension Persisted: AnyPersisted {
    static func property(at offset: Int) -> _PropertyAccess { Value._property(at: offset) }
}

/// `LinkingObjects`, whatever its elements.
protocol _LinkingProperty {
    var _origin: String { get }
}
