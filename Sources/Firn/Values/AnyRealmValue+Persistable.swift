import FirnQuery
import FirnTable
import Foundation

/// Makes `@Persisted var any: AnyRealmValue` and collections of it possible.
///
/// Objects are added to the realm with the object that holds them; a link to a deleted object reads as `.none`. Dictionaries and lists are
/// values: reading returns an unmanaged copy, and a change of it is stored when the property is set to it.
extension AnyRealmValue: _Scalar, MinMaxType, AddableType, SortableType, _Indexable {
    /// The type that the value is stored as: itself.
    public typealias PersistedType = AnyRealmValue
    /// The type of a column of values of any type. Used by `@Persisted` and collections; not for direct use.
    public static var _elementShape: _Shape { _Shape(ColumnType(.any)) }
    /// Returns `.none`. Used by `@Persisted` and collections; not for direct use.
    public static func _zero() -> AnyRealmValue { .none }
    /// Returns a stored value; its links are resolved in the realm of `stored`, and a link to a deleted object is `.none`. Used by
    /// `@Persisted` and collections; not for direct use.
    public static func _element(_ stored: _Stored) -> AnyRealmValue? { AnyRealmValue(stored.value, in: stored.core) }

    /// Returns the stored form in a realm, to which unmanaged objects are added. If `core` is nil, an unmanaged object is stored as null.
    /// Used by `@Persisted` and collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored {
        guard let core = core?.core else { return _Stored(Value(self)) }
        return _Stored(stored(in: core) ?? .null, core)
    }

    /// Returns the value in a column of a managed object, or `.none` if it is null or links to a deleted object. Lists and dictionaries are
    /// unmanaged copies. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> AnyRealmValue {
        let value = object._value(column)
        return AnyRealmValue(value, in: object._core) ?? .none
    }

    /// Sets the value in a column of a managed object. Unmanaged objects are added to its realm. Traps outside of a write transaction. Used
    /// by `@Persisted`; not for direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: AnyRealmValue) {
        let access = object._managedAccess
        access.core.requireTransaction("modify \(access.name) objects")
        object._set(column, value.stored(in: access.core) ?? .null)
    }

    /// Returns the value in a column of a managed object, or nil if it is null; a link to a deleted object is `.none`. Lists and dictionaries
    /// are unmanaged copies. Used by `@Persisted`; not for direct use.
    public static func _readOptional(_ object: ObjectBase, _ column: Int) -> AnyRealmValue? {
        let value = object._value(column)
        return value.isNull ? nil : AnyRealmValue(value, in: object._core)
    }

    /// Sets the value in a column of a managed object; nil and `.none` are stored as null. Unmanaged objects are added to its realm. Traps
    /// outside of a write transaction. Used by `@Persisted`; not for direct use.
    public static func _writeOptional(_ object: ObjectBase, _ column: Int, _ value: AnyRealmValue?) {
        _write(object, column, value ?? .none)
    }

    /// Returns a sum as the type of the elements. Used by collections; not for direct use.
    public static func _sum(_ value: _Stored) -> AnyRealmValue { AnyRealmValue(value.value) ?? .none }
    /// The `AnyRealmValue` itself, not its content. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
}

extension AnyRealmValue {
    /// Returns an untyped value; nil if it is neither a value, an object, nor an array or dictionary of these. Used by collections; not for
    /// direct use.
    public static func _elementFromUntyped(_ value: Any?) -> AnyRealmValue? { AnyRealmValue(untyped: value) }

    /// Creates a value from values, objects, arrays and dictionaries, nested. Returns nil for anything else.
    package init?(untyped value: Any?) {
        switch unwrapped(value) {
        case nil: self = .none
        case let any as AnyRealmValue: self = any
        case let object as Object: self = .object(object)
        case let list as List<AnyRealmValue>: self = .list(list)
        case let map as Map<String, AnyRealmValue>: self = .dictionary(map)
        case let elements as [Any?]:
            let list = List<AnyRealmValue>()
            for element in elements {
                guard let any = AnyRealmValue(untyped: element) else { return nil }
                list.append(any)
            }
            self = .list(list)
        case let entries as [String: Any?]:
            let map = Map<String, AnyRealmValue>()
            for (key, entry) in entries {
                guard let any = AnyRealmValue(untyped: entry) else { return nil }
                map[key] = any
            }
            self = .dictionary(map)
        case let some?:
            guard let stored = Value(any: some), let any = AnyRealmValue(stored) else { return nil }
            self = any
        }
    }

    /// Decodes a stored value; links are resolved in `core`.
    init?(_ value: Value, in core: RealmCore?) {
        switch value {
        case .list(let values), .set(let values):
            let list = List<AnyRealmValue>()
            list.append(objectsIn: values.map { AnyRealmValue($0, in: core) ?? AnyRealmValue.none })
            self = .list(list)
        case .map(let entries), .object(let entries):
            if let (type, rowID) = value.typedLink {
                guard let object = core?.knownAccess(type)?.object(rowID) as? Object else {
                    self = .none
                    return
                }
                self = .object(object)
                return
            }
            let map = Map<String, AnyRealmValue>()
            for entry in entries where Map<String, AnyRealmValue>.takes(entry.key) {
                map[entry.key] = AnyRealmValue(entry.value, in: core) ?? AnyRealmValue.none
            }
            self = .dictionary(map)
        default:
            guard let plain = AnyRealmValue(value) else { return nil }
            self = plain
        }
    }

    /// Returns the stored form in a realm, to which its objects are added; nil for an object that has no type there.
    func stored(in core: RealmCore) -> Value? {
        switch self {
        case .object(let object):
            guard case .link(let rowID) = core.link(object) else { return nil }
            return Value(linkTo: object._managedAccess.name, rowID)
        case .list(let list): return .list(list.map { $0.stored(in: core) ?? .null })
        case .dictionary(let map): return .map(map.asKeyValueSequence().map { Value.Entry($0.key, $0.value.stored(in: core) ?? .null) })
        default: return Value(self)
        }
    }
}

extension Value {
    /// Calls `body` for each link in a value of any type, at any depth of lists and dictionaries.
    func forEachTypedLink(_ body: (_ type: String, _ rowID: Int64) -> Void) {
        if let (type, rowID) = typedLink { return body(type, rowID) }
        switch self {
        case .list(let values), .set(let values): for value in values { value.forEachTypedLink(body) }
        case .map(let entries), .object(let entries): for entry in entries { entry.value.forEachTypedLink(body) }
        default: break
        }
    }
}

extension Map {
    /// Returns whether maps may have this key.
    static func takes(_ key: String) -> Bool { !key.hasPrefix("$") && !key.contains(".") }
}
