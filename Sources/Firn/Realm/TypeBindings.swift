import FirnTable

/// The accesses of a realm to the types of its file.
///
/// Every access that is not retired is in exactly one of `byType`, `replaced`, `dynamics` and `absent`. The entries of `byClass` are in
/// `byType` or `replaced`. After every move to another schema, `retireOutdated` retires the accesses whose type is not the same any more.
struct TypeBindings {
    /// The access that was bound last to each type, by the type's position in the schema.
    private var byType: [Int: TypeAccess] = [:]
    /// Accesses that one of another class has replaced in `byType`.
    private var replaced: [TypeAccess] = []
    /// The accesses for dynamic objects of types that also have one for a class.
    private var dynamics: [Int: TypeAccess] = [:]
    private var byClass: [ObjectIdentifier: TypeAccess] = [:] { didSet { lastUsed = nil } }
    /// Accesses of classes for which the file has no type and none can be added now.
    private var absent: [ObjectIdentifier: TypeAccess] = [:]
    /// The entry of `byClass` that was used last.
    private var lastUsed: (objectClass: ObjectIdentifier, access: TypeAccess)?
    /// The accesses of invalid objects.
    private var retired = RetiredAccesses()
    /// True if some type may have more than one access.
    private(set) var hasSiblings = false

    /// All accesses to types of the file.
    var all: [TypeAccess] { Array(byType.values) + replaced + Array(dynamics.values) }

    /// Returns the other accesses to the same type. They must see what one of them writes.
    func siblings(of access: TypeAccess) -> [TypeAccess] {
        hasSiblings ? all.filter { $0 !== access && $0.typeNumber == access.typeNumber } : []
    }

    // MARK: Finding

    /// Returns the access of a class if it was the last one that was used.
    @inline(__always)
    func lastUsed(_ objectClass: ObjectBase.Type) -> TypeAccess? {
        guard let lastUsed, lastUsed.objectClass == ObjectIdentifier(objectClass) else { return nil }
        return lastUsed.access
    }

    subscript(objectClass: ObjectBase.Type) -> TypeAccess? { byClass[ObjectIdentifier(objectClass)] }

    /// Returns the access of a class that the file has no type for.
    func absent(_ objectClass: ObjectBase.Type) -> TypeAccess? { absent[ObjectIdentifier(objectClass)] }

    /// Returns the access that was bound last to a type.
    subscript(type: Int) -> TypeAccess? { byType[type] }

    /// Returns the access for the dynamic objects of a type.
    func dynamic(_ type: Int) -> TypeAccess? {
        if let access = dynamics[type] { return access }
        if let access = byType[type], access.schema == nil { return access }
        return nil
    }

    // MARK: Binding

    /// Records that an access of a class was used.
    mutating func use(_ access: TypeAccess, for objectClass: ObjectBase.Type) {
        if !access.isAbsent { lastUsed = (ObjectIdentifier(objectClass), access) }
    }

    /// Binds a class to the access that its type already has. Returns nil if that is not one of this class.
    mutating func bind(_ objectClass: ObjectBase.Type, to type: Int) -> TypeAccess? {
        guard let access = byType[type], access.schema?.objectClass == objectClass else { return nil }
        byClass[ObjectIdentifier(objectClass)] = access
        return access
    }

    /// Binds a type, and a class if the access has one, to a new access. Another access of the type is kept aside.
    mutating func add(_ access: TypeAccess) -> TypeAccess {
        if let other = byType.updateValue(access, forKey: access.typeNumber) {
            replaced.append(other)
            hasSiblings = true
        }
        if let schema = access.schema { byClass[ObjectIdentifier(schema.objectClass)] = access }
        return access
    }

    /// Adds an access for the dynamic objects of a type.
    mutating func add(dynamic access: TypeAccess) -> TypeAccess {
        dynamics[access.typeNumber] = access
        hasSiblings = true
        return access
    }

    /// Adds an access of a class that the file has no type for.
    mutating func add(absent access: TypeAccess, _ objectClass: ObjectBase.Type) -> TypeAccess {
        absent[ObjectIdentifier(objectClass)] = access
        return access
    }

    // MARK: Retiring

    /// Retires all accesses.
    mutating func retireAll() {
        for access in all + absent.values { retired.take(access) }
        byType = [:]
        replaced = []
        dynamics = [:]
        absent = [:]
        byClass = [:]
        hasSiblings = false
    }

    /// Retires the accesses of types that the schema does not have (the transaction that added them was cancelled) or has changed (another
    /// process has migrated the file).
    mutating func retireOutdated(_ schema: Schema) {
        let gone = all.filter { access in
            guard schema.types.indices.contains(access.typeNumber) else { return true }
            let type = schema.types[access.typeNumber]
            return type.name != access.name || !type.columns.starts(with: access.type.columns)
        }
        guard !gone.isEmpty else { return }
        for access in gone { retired.take(access) }
        func isKept(_ access: TypeAccess) -> Bool { !gone.contains { $0 === access } }
        byType = byType.filter { isKept($0.value) }
        replaced = replaced.filter(isKept)
        dynamics = dynamics.filter { isKept($0.value) }
        byClass = byClass.filter { isKept($0.value) }
        hasSiblings = !replaced.isEmpty || !dynamics.isEmpty
    }

    /// Called when the realm is released; its objects are released by then.
    func release() { retired.release() }
}
