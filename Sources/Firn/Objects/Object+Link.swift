import FirnBytes
import FirnTable

/// Properties that refer to an object, and objects as elements of collections.
extension ObjectBase: _OptionalProperty {
    /// The type of the column: an optional link, or an optional embedded object if the class derives from `EmbeddedObject`. Used by
    /// `@Persisted`; not for direct use.
    public static var _optionalShape: _Shape {
        let kind: ScalarKind = self is EmbeddedObject.Type ? .embedded : .link
        return _Shape(ColumnType(kind, optional: true, target: className()), target: self)
    }

    /// Returns the object that a column of a managed object refers to; nil if the column is null or the object was deleted. Used by
    /// `@Persisted`; not for direct use.
    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        guard let rowID = object._optionalWord(column) else { return nil }
        return object._core!.access(self).object(rowID).map { $0._typed(self) }
    }

    /// Sets the object that a column of a managed object refers to; nil removes the reference. An unmanaged object is added to the realm. A
    /// replaced embedded object is deleted. Traps outside of a write transaction, and if an object to link to was deleted or belongs to
    /// another realm. Used by `@Persisted`; not for direct use.
    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: ObjectBase?) {
        let core = object._core!
        if self is EmbeddedObject.Type { return core.replaceEmbedded(of: object, column, with: value) }
        object._set(column, value.map { core.link($0) } ?? .null)
    }

    // Not optimized: inlined where its type is the dynamic `Self`, the initializer crashes the compiler (Swift 6.3).
    /// Returns the access to properties that refer to an object, at an offset in bytes from the start of their owner. Used by `@Persisted`;
    /// not for direct use.
    @_optimize(none)
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }

    /// Records that the property was read, and returns an object of the class whose properties record reads. Used while key paths are
    /// recorded; not for direct use.
    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._firnRecord(property)
        return object._recorder!.object(self)._typed(self)
    }

    /// Appends null to a column. The reference is set after its owner has a row. Used by `@Persisted`; not for direct use.
    public static func _appendOptional(_ value: ObjectBase?, to sink: _Sink) { sink.appendNull() }

    /// Returns the object itself, or nil. Used by `@Persisted`; not for direct use.
    public static func _untypedOptional(_ value: ObjectBase?) -> Any? { value }

    /// Returns an untyped value as an object, converted as by `_elementFromUntyped`; nil if it does not fit. Used by `@Persisted`; not for
    /// direct use.
    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }
}

extension ObjectBase: RealmCollectionValue {
    /// The type that an object is stored as: itself.
    public typealias PersistedType = ObjectBase

    /// The type of one element of a collection: a link, or an embedded object if the class derives from `EmbeddedObject`. Used by
    /// collections; not for direct use.
    public static var _elementShape: _Shape {
        let kind: ScalarKind = self is EmbeddedObject.Type ? .embedded : .link
        return _Shape(ColumnType(kind, target: className()), target: self)
    }

    /// Returns a new unmanaged object with the initial values of its properties. Used by collections; not for direct use.
    public static func _zero() -> Self { _make() }

    /// Returns the object of a stored link; nil if the object was deleted, the link has no realm, or the value is not a link. Used by
    /// collections; not for direct use.
    public static func _element(_ stored: _Stored) -> Self? {
        guard case .link(let rowID) = stored.value, let core = stored.core else { return nil }
        return core.access(self).object(rowID).map { $0._typed(self) }
    }

    /// Returns a link to the object in a realm. An unmanaged object is added to the realm; an embedded object that already has an owner is
    /// copied. Traps if `core` is nil, if an object to link to was deleted or belongs to another realm, and if an object is added outside
    /// of a write transaction. Used by collections; not for direct use.
    public func _stored(in core: _RealmReference?) -> _Stored {
        guard let core = core?.core else {
            trap("an object that is not in a realm cannot be compared or stored here: add it to the realm, or compare its properties")
        }
        if self is EmbeddedObject || asDynamic?.isEmbedded ?? false { return _Stored(core.embed(self), core) }
        return _Stored(core.link(self), core)
    }

    /// The object itself. Used by collections; not for direct use.
    public var _firnUntyped: Any? { self }
    /// The object itself; never nil. Used by collections; not for direct use.
    public var _firnObject: ObjectBase? { self }
    /// True: elements of this type are objects. Used by collections; not for direct use.
    public static var _isObject: Bool { true }

    /// Accepts an object of the class, or a dictionary or array of property values.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        switch unwrapped(value) {
        case let object as ObjectBase where type(of: object) == self || object is Self: return object._typed(self)
        case let contents as [String: Any?]:
            let object = _make()
            object.assign(contents)
            return object
        case let contents as [Any?]:
            let object = _make()
            object.assign(contents)
            return object
        default: return nil
        }
    }
}

extension RealmCore {
    /// Returns the stored form of a link to an object. An unmanaged object is added first.
    func link(_ object: ObjectBase) -> Value {
        if object._core === self {
            guard object._managedAccess.holds(object._rowID) else {
                trap("Adding a deleted or invalidated object to a Realm is not permitted")
            }
            return .link(object._rowID)
        }
        if object._core != nil {
            trap("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        }
        requireTransaction("add an object")
        accessToAdd(object).add(object, update: updatePolicy)
        return .link(object._rowID)
    }

    /// Returns the stored form of an embedded object, which always gets a row of its own. An object that already has an owner is copied.
    /// Objects that it links to are added under the policy of the object that is being added.
    func embed(_ object: ObjectBase) -> Value {
        requireTransaction("add an embedded object")
        var own = object
        if object._state != nil { own = object.asDynamic?.copiedWithoutRealm() ?? object.copied() }
        accessToAdd(own).add(own, update: updatePolicy)
        return .link(own._rowID)
    }

    func replaceEmbedded(of owner: ObjectBase, _ column: Int, with object: ObjectBase?) {
        if let object, object._core === self, case .link(object._rowID) = owner._value(column) { return }
        requireTransaction("modify \(owner._access!.name) objects")
        let old = owner._value(column)
        owner._set(column, object.map { embed($0) } ?? .null)
        if case .link(let rowID) = old, let target = owner._managedAccess.type.columns[column].type.target,
            let access = access(named: target)
        {
            delete([rowID], access)
        }
    }
}

extension ObjectBase {
    /// Returns an unmanaged object with the same values: links refer to the same objects, embedded objects are copied.
    final func copied() -> Self {
        let copy = Swift.type(of: self)._make()
        let schema = ClassSchema.of(Swift.type(of: self))
        for property in schema.stored {
            var content = property.access.get(self)
            if property.shape.target is EmbeddedObject.Type {
                if let embedded = content as? ObjectBase { content = embedded.copied() }
                if let many = content as? any _AnyCollection {
                    content = many._untypedElements.map { ($0 as? ObjectBase)?.copied() as Any? ?? $0 }
                }
            }
            _ = property.access.set(copy, content)
        }
        return copy
    }
}
