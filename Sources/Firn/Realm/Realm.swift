import Dispatch
import FirnBytes
import FirnModel
import Foundation

/// An open store of objects: a version of a file that follows its commits, and the one writer's transaction.
///
///     let realm = try Realm()
///     try realm.write { realm.add(Dog(value: ["name": "Rex"])) }
///     for dog in realm.objects(Dog.self) { print(dog.name) }
///
/// A realm belongs to the thread, queue or actor that it was opened for, and so does all that is read from it. Hand `freeze()`d copies to others.
public struct Realm: Equatable {
    let core: RealmCore

    init(_ core: RealmCore) { self.core = core }

    /// Opens the realm of a configuration for this thread, or for a serial queue. The same thread (or queue) receives the same realm while any part
    /// of it is held. Throws `Realm.Error`.
    public init(configuration: Configuration = .defaultConfiguration, queue: DispatchQueue? = nil) throws {
        do {
            core = try RealmCore.opened(configuration, .on(queue))
        } catch let error as FirnError { throw Error(error) }
    }

    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    /// The same realm, open at the same place: the same transactions, the same version.
    public static func == (a: Realm, b: Realm) -> Bool { a.core === b.core }

    public var configuration: Configuration { core.configuration }
    public var isFrozen: Bool { core.isFrozen }
    public var isInWriteTransaction: Bool { core.canCommit }

    /// There are no objects.
    public var isEmpty: Bool {
        core.schema.types.indices.allSatisfy { core.schema.types[$0].isEmbedded || core.currentTable($0).rowCount == 0 }
    }

    // MARK: Transactions

    /// Runs `block` in a transaction: all its changes become the next version, durably, or (if it throws) none does.
    ///
    /// What goes wrong with the file while the block writes (a full disk, damage) is thrown at the end of the block, as `Realm.Error`, and then none of its
    /// changes is stored: setting a property or adding an object cannot throw by itself. `damage` tells of it before that. Once the changes are
    /// durable nothing is thrown any more.
    /// - Parameter durability: when `write` returns; by default as the configuration says.
    @discardableResult
    public func write<R>(durability: Durability? = nil, _ block: () throws -> R) throws -> R {
        try core.begin()
        core.staysHere()
        let result: R
        do { result = try block() } catch {
            if core.canCommit { core.cancel() }
            throw error
        }
        // The block may have ended it by itself.
        if core.canCommit { try core.commit(durability) }
        return result
    }

    /// Begins a transaction; waits until no other is under way, in any process. The realm moves to the newest version.
    public func beginWrite() {
        do { try core.begin() } catch { preconditionFailure("\(error)") }
    }

    /// Makes the changes of the transaction the next version, durably. Throws if none of them was stored; what went wrong while they were written is thrown here.
    public func commitWrite(durability: Durability? = nil) throws { try core.commit(durability) }
    /// Gives up the changes of the transaction.
    public func cancelWrite() { core.cancel() }

    // MARK: Adding

    /// What adding does with an object whose primary key another object of the type has.
    public enum UpdatePolicy: Int, Sendable {
        /// Traps.
        case error = 1
        /// Changes those properties of the other that differ.
        case modified = 3
        /// Sets all properties of the other.
        case all = 2
    }

    /// Makes an unmanaged object, and all that it leads to, part of the realm. One that is managed by this realm already stays as it is.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        core.check()
        if object._core === core {
            _ = core.link(object)
            return
        }
        precondition(object._core == nil, "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        core.requireTransaction("add objects")
        if let embedded = object.asDynamic, embedded.isEmbedded {
            preconditionFailure("'\(embedded._typeName)' is embedded: set it as a property of its owner instead.")
        }
        if update != .error, object.unmanagedContents.map(\.type.key.isEmpty) ?? (ClassSchema.of(type(of: object)).primaryKey == nil) {
            preconditionFailure("'\(object._typeName)' does not have a primary key and can not be updated: add it without update:.")
        }
        core.adding(update) { core.accessToAdd(object).add(object, update: update) }
    }

    public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Element: Object {
        for object in objects { add(object, update: update) }
    }

    // MARK: Deleting

    public func delete(_ object: ObjectBase) {
        core.confinement.check()
        core.requireTransaction("delete objects")
        precondition(object._core === core, object._core == nil ? "Can only delete an object from the Realm it belongs to: this one is not managed." : "Can only delete an object from the Realm it belongs to.")
        guard let access = object._access, access.holds(object._rowID) else { preconditionFailure("Object has been deleted or invalidated.") }
        core.delete([object._rowID], access)
    }

    public func delete<S: Sequence>(_ objects: S) where S.Element: ObjectBase {
        core.confinement.check()
        core.requireTransaction("delete objects")
        var rows: [ObjectIdentifier: (access: TypeAccess, rowIDs: Set<Int64>)] = [:]
        for object in objects {
            precondition(object._core === core, "Can only delete an object from the Realm it belongs to.")
            let access = object._access!
            rows[ObjectIdentifier(access), default: (access, [])].rowIDs.insert(object._rowID)
        }
        for (access, rowIDs) in rows.values {
            core.delete(rowIDs.filter { access.place(of: $0) != nil }.sorted(), access)
        }
    }

    /// Deletes every object of every type.
    public func deleteAll() {
        core.confinement.check()
        core.requireTransaction("delete objects")
        for type in core.schema.types where !type.isEmbedded {
            guard let access = core.access(named: type.name) else { continue }
            core.delete(core.reading([]) { () throws(Damage) in try access.table.liveRowIDs() }, access)
        }
    }

    // MARK: Reading

    /// All objects of a class.
    public func objects<Element: ObjectBase & RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        core.confinement.check()
        return Results(TableSource(core.access(type), Element._elementShape))
    }

    /// The object with a primary key; nil if there is none.
    public func object<Element: Object, Key>(ofType type: Element.Type, forPrimaryKey key: Key) -> Element? {
        core.confinement.check()
        let access = core.access(type)
        guard let property = access.schema?.primaryKey.map({ access.schema!.properties[$0] }) else {
            preconditionFailure("Type '\(access.name)' does not have a primary key: mark a property with @Persisted(primaryKey: true).")
        }
        guard let value = Value(any: key as Any)?.fitted(to: property.shape.type.kind) else {
            preconditionFailure("Invalid value '\(key)' to query for property type '\(property.shape.type.name)'.")
        }
        return access.find(value).flatMap(access.object).map { unsafeDowncast($0, to: type) }
    }

    // MARK: Versions

    /// Follows commits of others by itself where it can; `refresh()` always does.
    public var autorefresh: Bool {
        get { core.autorefresh }
        nonmutating set { core.autorefresh = newValue }
    }

    /// Goes to the newest version. False if the realm is there already, frozen, or in a transaction.
    @discardableResult
    public func refresh() -> Bool {
        do { return try core.refresh() } catch {
            core.note(error as? FirnError ?? FirnError(.inputOutput, "\(error)"))
            return false
        }
    }

    /// Lets go of the version: all that was read from the realm is invalid, and a transaction under way is cancelled. The next read takes the newest.
    public func invalidate() { core.invalidate() }

    /// The realm as it is at this version, for good: immutable, usable from any thread.
    public func freeze() -> Realm { Realm(core.frozen()) }

    /// The live realm of this thread with the same file.
    public func thaw() -> Realm { core.isFrozen ? Realm(core.thawed()) : self }

    /// What was found wrong with the file while it was read. Properties that could not be read gave zeros, or nil, and collections nothing; nothing is written from
    /// then on. Of a frozen realm: what was found while that one was read.
    public var damage: FirnError? { core.damage }

    /// What was wrong with a commit when this program opened the file: it was interrupted by a crash, or is damaged. If it was the last one, the version before
    /// it is read and written on; `firn recover` gets out what is left of it. Nil: nothing.
    public var interruptedCommit: FirnError? { core.file.database.fallback.map { .damaged(core.file.path, what: $0.what, byte: $0.offset) } }
}
