import FirnTable

/// Properties that refer to an object, and objects as elements of collections.
extension ObjectBase: _OptionalProperty {
    public static var _optionalShape: _Shape {
        let kind: ScalarKind = self is EmbeddedObject.Type ? .embedded : .link
        return _Shape(ColumnType(kind, optional: true, target: className()), target: self)
    }

    public static func _readOptionalProperty(_ object: ObjectBase, _ column: Int) -> Self? {
        guard let rowID = object._optionalWord(column) else { return nil }
        return object._core!.access(self).object(rowID).map { unsafeDowncast($0, to: self) }
    }

    public static func _writeOptionalProperty(_ object: ObjectBase, _ column: Int, _ value: ObjectBase?) {
        let core = object._core!
        if self is EmbeddedObject.Type { return core.replaceEmbedded(of: object, column, with: value) }
        object._set(column, value.map { core.link($0) } ?? .null)
    }

    // Not optimized: inlined where its type is the dynamic `Self`, the initializer crashes the compiler (Swift 6.3).
    @_optimize(none)
    public static func _makeOptionalProperty(at offset: Int) -> _PropertyAccess { PersistedProperty<Self?>(at: offset) }

    public static func _recordedOptional(_ object: ObjectBase, _ property: Int) -> Self? {
        object._record(property)
        return unsafeDowncast(object._recorder!.object(self), to: self)
    }

    public static func _appendOptional(_ value: ObjectBase?, to sink: _Sink) { sink.appendNull() }

    public static func _untypedOptional(_ value: ObjectBase?) -> Any? { value }

    public static func _presentFromUntyped(_ value: Any) -> Self? { _elementFromUntyped(value) }
}

extension ObjectBase: RealmCollectionValue {
    public typealias PersistedType = ObjectBase

    public static var _elementShape: _Shape {
        let kind: ScalarKind = self is EmbeddedObject.Type ? .embedded : .link
        return _Shape(ColumnType(kind, target: className()), target: self)
    }

    public static func _zero() -> Self { self.init() }

    public static func _element(_ stored: _Stored) -> Self? {
        guard case .link(let rowID) = stored.value, let core = stored.core else { return nil }
        return core.access(self).object(rowID).map { unsafeDowncast($0, to: self) }
    }

    public func _stored(in core: _RealmReference?) -> _Stored {
        guard let core = core?.core else { preconditionFailure("objects are stored in realms only") }
        if self is EmbeddedObject || asDynamic?.isEmbedded ?? false { return _Stored(core.embed(self), core) }
        return _Stored(core.link(self), core)
    }

    public var _untypedElement: Any? { self }
    public var _object: ObjectBase? { self }
    public static var _isObject: Bool { true }

    /// Accepts an object of the class, or a dictionary or array of property values.
    public static func _elementFromUntyped(_ value: Any?) -> Self? {
        switch unwrapped(value) {
        case let object as ObjectBase where type(of: object) == self || object is Self: return unsafeDowncast(object, to: self)
        case let contents as [String: Any?]:
            let object = self.init()
            object.assign(contents)
            return object
        case let contents as [Any?]:
            let object = self.init()
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
            guard object._access!.holds(object._rowID) else {
                preconditionFailure("Adding a deleted or invalidated object to a Realm is not permitted")
            }
            return .link(object._rowID)
        }
        if object._core != nil {
            preconditionFailure("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        }
        requireTransaction("add an object")
        accessToAdd(object).add(object, update: updatePolicy)
        return .link(object._rowID)
    }

    /// Returns the stored form of an embedded object, which always gets a row of its own. An object that already has an owner is copied.
    func embed(_ object: ObjectBase) -> Value {
        requireTransaction("add an embedded object")
        var own = object
        if object._state != nil { own = object.asDynamic?.copiedWithoutRealm() ?? object.copied() }
        accessToAdd(own).add(own, update: .error)
        return .link(own._rowID)
    }

    func replaceEmbedded(of owner: ObjectBase, _ column: Int, with object: ObjectBase?) {
        if let object, object._core === self, case .link(object._rowID) = owner._value(column) { return }
        requireTransaction("modify \(owner._access!.name) objects")
        let old = owner._value(column)
        owner._set(column, object.map { embed($0) } ?? .null)
        if case .link(let rowID) = old, let target = owner._access!.type.columns[column].type.target, let access = access(named: target) {
            delete([rowID], access)
        }
    }
}

extension ObjectBase {
    /// Returns an unmanaged object with the same values: links refer to the same objects, embedded objects are copied.
    final func copied() -> Self {
        let copy = Swift.type(of: self).init()
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
