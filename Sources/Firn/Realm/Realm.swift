import Dispatch
import FirnBytes
import FirnTable
import Foundation

/// An open file of objects: a version that follows the commits, and the transaction that the realm can begin.
///
///     let realm = try Realm()
///     try realm.write { realm.add(Dog(value: ["name": "Rex"])) }
///     for dog in realm.objects(Dog.self) { print(dog.name) }
///
/// A realm, and everything that is read from it, belongs to the thread, queue or actor that it was opened for. Pass `freeze()`d copies to
/// others.
public struct Realm: Equatable {
    let core: RealmCore

    init(_ core: RealmCore) { self.core = core }

    /// Opens the realm of a configuration for this thread, or for a serial queue. The same thread (or queue) gets the same realm as long as
    /// any part of it is held.
    /// - Throws: `Realm.Error`.
    public init(configuration: Configuration = .defaultConfiguration, queue: DispatchQueue? = nil) throws {
        do {
            core = try RealmCore.opened(configuration, .on(queue))
        } catch let error as FirnError { throw Error(error).concerning(configuration) } catch let error as Error {
            throw error.concerning(configuration)
        }
    }

    /// Opens the realm of a file with the other options of the default configuration.
    /// - Throws: `Realm.Error`.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    /// Returns whether both are the same realm of the same thread, queue or actor, with the same transactions and version.
    public static func == (a: Realm, b: Realm) -> Bool { a.core === b.core }

    /// The configuration that the realm was opened with.
    public var configuration: Configuration { core.configuration }
    /// True if the realm is frozen: it never changes, and any thread can use it.
    public var isFrozen: Bool { core.isFrozen }
    /// True if a write transaction of this realm is under way.
    public var isInWriteTransaction: Bool { core.state.isOpen }

    /// True if the realm has no objects.
    public var isEmpty: Bool {
        core.schema.types.indices.allSatisfy { core.schema.types[$0].isEmbedded || core.currentTable($0).rowCount == 0 }
    }

    // MARK: Transactions

    /// Runs `block` in a transaction. Its changes become the next version atomically, or, if the block throws, are cancelled. With the
    /// default durability they are durable when `write` returns.
    ///
    /// Setting a property or adding an object cannot throw. If the file fails while the block writes (a full disk, damage), the error is
    /// thrown at the end of the block, and none of its changes is stored; `damage` reports it before that. Nothing is thrown after the
    /// changes are durable.
    ///
    /// `durability` determines when `write` returns; by default that of the configuration.
    /// - Throws: `Realm.Error`, and what the block throws.
    @discardableResult
    public func write<R>(durability: Durability? = nil, _ block: () throws -> R) throws -> R {
        try core.begin()
        core.staysHere()
        let result: R
        do { result = try block() } catch {
            if core.state.isOpen { core.cancel() }
            throw error
        }
        // The block may have ended the transaction itself.
        if core.state.isOpen { try core.commit(durability) }
        return result
    }

    /// Begins a transaction after waiting for those of all other realms and processes. The realm moves to the newest version. Traps on an
    /// error.
    public func beginWrite() {
        do { try core.begin() } catch { trap("\(error)") }
    }

    /// Makes the changes of the transaction the next version atomically; with the default durability they are durable when this returns.
    /// - Parameter durability: When this returns; by default that of the configuration.
    /// - Throws: `Realm.Error` if the commit fails or a change before it failed. Then none of the changes is stored, unless only the last
    /// sync failed: then readers can see the changes, and they may be there when the file is opened again.
    public func commitWrite(durability: Durability? = nil) throws { try core.commit(durability) }
    /// Cancels the transaction and its changes.
    public func cancelWrite() { core.cancel() }

    // MARK: Adding

    /// How an object is added if its type already has an object with the same primary key.
    public enum UpdatePolicy: Int, Sendable {
        /// Traps.
        case error = 1
        /// Sets the properties of the existing object that differ.
        case modified = 3
        /// Sets all properties of the existing object.
        case all = 2
    }

    /// Adds an unmanaged object, and all unmanaged objects that it refers to, to the realm. Does nothing if this realm manages it already.
    /// Traps outside of a write transaction, and with `update: .error` if an object with the same primary key exists.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        core.check()
        if object._core === core {
            _ = core.link(object)
            return
        }
        trap(unless: object._core == nil, "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        core.requireTransaction("add objects")
        if let embedded = object.asDynamic, embedded.isEmbedded {
            trap("\"\(embedded._typeName)\" is embedded: set it as a property of its owner instead.")
        }
        if update != .error, object.unmanagedContents.map(\.type.key.isEmpty) ?? (ClassSchema.of(type(of: object)).primaryKey == nil) {
            trap("\"\(object._typeName)\" does not have a primary key and can not be updated: add it without update:.")
        }
        core.adding(update) { core.accessToAdd(object).add(object, update: update) }
    }

    /// Adds each object of a sequence.
    public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Element: Object {
        for object in objects { add(object, update: update) }
    }

    // MARK: Deleting

    /// Deletes an object of this realm and its embedded objects. Links to it become nil; an embedded object is removed from its owner. Traps
    /// outside of a write transaction.
    public func delete(_ object: ObjectBase) {
        core.check()
        core.requireTransaction("delete objects")
        trap(
            unless: object._core === core,
            object._core == nil
                ? "Can only delete an object from the Realm it belongs to: this one is not managed."
                : "Can only delete an object from the Realm it belongs to.")
        guard let access = object._access, access.holds(object._rowID) else {
            trap("Object has been deleted or invalidated.")
        }
        core.delete([object._rowID], access, havingOwners: true)
    }

    /// Deletes objects of this realm, as `delete(_:)`, in one pass.
    public func delete<S: Sequence>(_ objects: S) where S.Element: ObjectBase {
        core.check()
        core.requireTransaction("delete objects")
        var rows: [ObjectIdentifier: (access: TypeAccess, rowIDs: Set<Int64>)] = [:]
        for object in objects {
            trap(unless: object._core === core, "Can only delete an object from the Realm it belongs to.")
            let access = object._managedAccess
            rows[ObjectIdentifier(access), default: (access, [])].rowIDs.insert(object._rowID)
        }
        for (access, rowIDs) in rows.values {
            core.delete(rowIDs.filter { access.position(of: $0) != nil }.sorted(), access, havingOwners: true)
        }
    }

    /// Deletes all objects of all types.
    public func deleteAll() {
        core.check()
        core.requireTransaction("delete objects")
        for type in core.schema.types where !type.isEmbedded {
            guard let access = core.access(named: type.name) else { continue }
            core.delete(core.reading([]) { () throws(Damage) in try access.table.liveRowIDs() }, access)
        }
    }

    // MARK: Reading

    /// Returns all objects of a class, live.
    public func objects<Element: ObjectBase & RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        core.check()
        return Results(TableSource(core.access(type), Element._elementShape))
    }

    /// Returns the object with a primary key, or nil if there is none. Traps if the class has no primary key.
    public func object<Element: Object, Key>(ofType type: Element.Type, forPrimaryKey key: Key) -> Element? {
        core.check()
        let access = core.access(type)
        guard let schema = access.schema, let property = schema.primaryKey.map({ schema.properties[$0] }) else {
            trap("Type \"\(access.name)\" does not have a primary key: mark a property with @Persisted(primaryKey: true).")
        }
        guard let value = Value(key: key)?.fitted(to: property.shape.type.kind) else {
            trap("Invalid value \"\(key)\" to query for property type \"\(property.shape.type.name)\".")
        }
        return access.find(value).flatMap(access.object).map { $0._typed(type) }
    }

    // MARK: Versions

    /// If true, the realm moves to new versions automatically where notifications can be delivered. `refresh()` always does.
    public var autorefresh: Bool {
        get { core.autorefresh }
        nonmutating set { core.autorefresh = newValue }
    }

    /// Moves the realm to the newest version. Returns false if it is already there, is frozen or is in a transaction.
    @discardableResult
    public func refresh() -> Bool {
        do { return try core.refresh() } catch {
            core.note(error as? FirnError ?? FirnError(.inputOutput, "\(error)"))
            return false
        }
    }

    /// Releases the version: everything that was read from the realm becomes invalid, and a transaction under way is cancelled. The next
    /// read uses the newest version.
    public func invalidate() { core.invalidate() }

    /// Returns a frozen realm of this version: immutable, and usable on any thread.
    public func freeze() -> Realm { Realm(core.frozen()) }

    /// Returns the live realm of this thread with the same file; a live realm returns itself.
    public func thaw() -> Realm { core.isFrozen ? Realm(core.thawed()) : self }

    /// The first damage that was found while the file was read, or nil. Properties that cannot be read are zero or nil, collections are
    /// empty, and all further writes are refused. Each frozen realm reports only the damage found through itself.
    public var damage: FirnError? { core.damage }

    /// The commit that was found interrupted by a crash, or damaged, when this process opened the file, or nil. If it was the newest
    /// commit, the version before it is read and the next commit continues from there; `firn recover` extracts what is left of it.
    public var interruptedCommit: FirnError? {
        core.file.database.fallback.map { .damaged(core.file.path, what: $0.what, byte: $0.offset) }
    }
}
