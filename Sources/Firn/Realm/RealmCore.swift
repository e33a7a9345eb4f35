import FirnBytes
import FirnModel
import Foundation

/// An open realm: a version of a file, the transaction under way if there is one, and what was read. `Realm` values refer to it.
final class RealmCore {
    let file: RealmFile
    let configuration: Realm.Configuration
    let confinement: Confinement
    let isFrozen: Bool
    /// The version that is read; nil: to be pinned at the next read.
    private var pinned: DatabaseSnapshot?
    private(set) var transaction: DatabaseTransaction?
    /// Something was changed in the transaction under way.
    var hasChanges = false
    var autorefresh = true
    private var accesses: [Int: TypeAccess] = [:]
    /// Of types that are used through another class as well.
    private var aside: [TypeAccess] = []
    private var byClass: [ObjectIdentifier: TypeAccess] = [:]
    /// What was wrong with the file when it was read: reads give zeros from then on, and nothing is written.
    private(set) var damage: FirnError?
    /// Collections with changes that are not in their tables yet.
    var changedCells: [ObjectIdentifier: CollectionCell] = [:]

    init(_ file: RealmFile, _ configuration: Realm.Configuration, _ confinement: Confinement, snapshot: DatabaseSnapshot? = nil) throws {
        self.file = file
        self.configuration = configuration
        self.confinement = confinement
        if case .none = confinement { isFrozen = true } else { isFrozen = false }
        pinned = try snapshot ?? file.database.snapshot()
        if !isFrozen {
            if let types = configuration.objectTypes { try adopt(types.map(ClassSchema.of)) }
            file.listen(self)
        }
    }

    deinit { transaction?.cancel() }

    // MARK: Versions

    var snapshot: DatabaseSnapshot {
        if let pinned { return pinned }
        do {
            let newest = try file.database.snapshot()
            pinned = newest
            return newest
        } catch {
            preconditionFailure("the realm's file cannot be read any more: \(error)")
        }
    }

    var version: UInt64 { snapshot.version }
    var schema: Schema { transaction?.schema ?? snapshot.schema }
    var isInTransaction: Bool { transaction != nil }

    /// Goes to the newest version; false if the realm is there already.
    func refresh() throws -> Bool {
        confinement.check()
        guard !isFrozen, transaction == nil else { return false }
        let newest = try file.database.snapshot()
        guard newest.version != pinned?.version else { return false }
        pinned = newest
        moved()
        return true
    }

    /// Lets go of the version; everything read from the realm is invalid. The next access pins the newest.
    func invalidate() {
        confinement.check()
        if let transaction {
            transaction.cancel()
            self.transaction = nil
        }
        changedCells = [:]
        pinned = nil
        for access in accesses.values { access.retire() }
        retired.append(contentsOf: accesses.values)
        accesses = [:]
        byClass = [:]
        changeStamp &+= 1
    }

    /// Accesses whose objects are invalid; they hold what those objects point at.
    private var retired: [TypeAccess] = []

    private func moved() {
        changeStamp &+= 1
        let count = schema.types.count
        for (index, access) in accesses where index >= count {
            // Its type came with a transaction that was given up.
            access.retire()
            retired.append(access)
            accesses[index] = nil
            byClass = byClass.filter { $0.value !== access }
        }
        for access in accesses.values { access.moved() }
        for access in aside { access.moved() }
    }

    /// Grows with every change and every move to another version: what evaluated results compare.
    private(set) var changeStamp: UInt64 = 0

    /// Something was written in the transaction under way.
    func noteChange() {
        hasChanges = true
        changeStamp &+= 1
    }

    // MARK: Tables

    /// The rows of a type at the version that is read, or as the transaction under way has them.
    func table(_ type: Int) -> any RowTable { transaction == nil ? snapshot.table(named: schema.types[type].name)! : workingTable(type) }

    func workingTable(_ type: Int) -> WorkingTable { transaction!.table(schema.types[type].name) }

    /// What objects of a class are read and written through; traps if the realm does not hold the class.
    func access(_ objectClass: ObjectBase.Type) -> TypeAccess {
        if let access = byClass[ObjectIdentifier(objectClass)] { return access }
        let schema = ClassSchema.of(objectClass)
        let index = adopt(schema)
        if let access = accesses[index], access.schema?.objectClass == objectClass {
            byClass[ObjectIdentifier(objectClass)] = access
            return access
        }
        let access = TypeAccess(self, schema, typeIndex: index)
        if let other = accesses[index] { aside.append(other) }
        accesses[index] = access
        byClass[ObjectIdentifier(objectClass)] = access
        return access
    }

    /// What dynamic objects of a type are read and written through; nil: the file has no such type.
    func access(named name: String) -> TypeAccess? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        if let access = accesses[index] { return access }
        let access = TypeAccess(self, nil, typeIndex: index)
        accesses[index] = access
        return access
    }

    var allAccesses: [TypeAccess] { Array(accesses.values) + aside }

    /// Where the schema says which types there are, `install` brings them into the realm's own version.
    func install(_ snapshot: DatabaseSnapshot) {
        pinned = snapshot
        moved()
    }

    // MARK: Transactions

    func begin() throws {
        confinement.check()
        precondition(!isFrozen, RealmMessage.frozen)
        guard !configuration.readOnly else { throw Realm.Error(.filePermissionDenied, "Can't perform transactions on read-only Realms.") }
        guard transaction == nil else { throw Realm.Error(.alreadyInTransaction, "The Realm is already in a write transaction") }
        if let damage { throw Realm.Error(damage) }
        do throws(FirnError) {
            let begun = try file.database.begin()
            let newest: DatabaseSnapshot
            do throws(FirnError) { newest = try file.database.snapshot() } catch {
                begun.cancel()
                throw error
            }
            transaction = begun
            hasChanges = false
            pinned = newest
            moved()
        } catch { throw Realm.Error(error) }
    }

    func commit() throws {
        confinement.check()
        guard let transaction else { preconditionFailure("Can't commit a non-existing write transaction: begin one with beginWrite() or write { … }.") }
        do throws(FirnError) {
            if let damage { throw damage }
            try flushCells()
            if let damage { throw damage }
            if hasChanges { try transaction.commit() } else { transaction.cancel() }
            self.transaction = nil
            if hasChanges { pinned = try file.database.snapshot() }
            moved()
        } catch {
            transaction.cancel()
            self.transaction = nil
            changedCells = [:]
            moved()
            throw Realm.Error(error)
        }
    }

    func cancel() {
        confinement.check()
        guard let transaction else { preconditionFailure("Can't cancel a non-existing write transaction") }
        transaction.cancel()
        self.transaction = nil
        changedCells = [:]
        moved()
    }

    func requireTransaction(_ action: @autoclosure () -> String) {
        if transaction != nil { return }
        if isFrozen { preconditionFailure(RealmMessage.frozen) }
        preconditionFailure(RealmMessage.outsideTransaction(action()))
    }

    /// Writes collections that were changed into their tables, so that whoever reads columns sees them.
    func flushCells() throws(FirnError) {
        guard !changedCells.isEmpty else { return }
        let cells = changedCells.values
        changedCells = [:]
        for cell in cells { try cell.flush() }
    }

    // MARK: Errors

    /// What cannot be read from a damaged file is noted, and read as `missing`: nothing is written from then on.
    func reading<R>(_ missing: @autoclosure () -> R, _ body: () throws(Damage) -> R) -> R {
        do throws(Damage) { return try body() } catch {
            note(.damaged(file.path, what: error.what, byte: error.offset))
            return missing()
        }
    }

    func writing(_ body: () throws(FirnError) -> Void) {
        do throws(FirnError) { try body() } catch {
            if error.code == .schema || error.code == .usage { preconditionFailure(error.message) }
            note(error)
        }
    }

    /// As `reading`, for what fails in other ways too.
    func failing<R>(_ missing: @autoclosure () -> R, _ body: () throws(FirnError) -> R) -> R {
        do throws(FirnError) { return try body() } catch {
            note(error)
            return missing()
        }
    }

    /// The policy for objects that are added because an object that is being added or changed leads to them.
    private(set) var updatePolicy = Realm.UpdatePolicy.error

    func adding(_ policy: Realm.UpdatePolicy, _ body: () -> Void) {
        let before = updatePolicy
        updatePolicy = policy
        body()
        updatePolicy = before
    }

    /// The rows of a type at the version that is read.
    func storedTable(_ access: TypeAccess) throws(Damage) -> StoredTable? { snapshot.table(named: access.name) }

    func note(_ error: FirnError) { if damage == nil { damage = error } }
}
