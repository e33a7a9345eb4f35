import FirnBytes
import FirnDatabase
import FirnTable
import Foundation
import Synchronization

/// An open realm: a version of a file, the transaction under way if there is one, and the accesses to its types. `Realm` values refer to
/// it.
final class RealmCore {
    let file: RealmFile
    let configuration: Realm.Configuration
    /// The thread, queue or actor that the realm belongs to.
    let place: Confinement
    /// The thread that may use the realm without further checks; 0 if it belongs to a queue or an actor, is frozen, or the thread has ended,
    /// and while a commit is being made durable on another thread.
    @exclusivity(unchecked) var thread: UInt
    /// As `place`, but waits first for a commit that is being made durable on another thread.
    var confinement: Confinement {
        if let pendingCommit { finish(pendingCommit) }
        return place
    }
    let isFrozen: Bool
    /// The version that is read; nil if the next read pins the newest one.
    private var pinned: DatabaseSnapshot? { didSet { noteHold(pinned?.version) } }
    private(set) var pendingCommit: PendingCommit?
    /// See `RealmCore+Async`.
    var lockRequests: [LockRequest] = []
    var asyncWrites: [AsyncWrite] = []
    var nextAsyncID: AsyncTransactionId = 1
    /// The number of asynchronous commits whose completion was not reported yet.
    var untold = 0
    @exclusivity(unchecked) private(set) var transaction: DatabaseTransaction? {
        didSet { if transaction == nil { endHere() } }
    }
    /// The thread that is recorded in the file as the one that ends the transaction; 0 if none is.
    private var writer: UInt = 0
    /// The blocks that were committed within the transaction and become durable together: see `RealmCore+Grouping`.
    private(set) var group: CommitGroup?
    /// True after a block of a group was committed and before the next one begins. Its changes can be read, and nothing can be written.
    @exclusivity(unchecked) private(set) var isBetweenParts = false
    /// True if the transaction under way has changed something.
    @exclusivity(unchecked) var hasChanges = false
    var autorefresh = true
    private var accesses: [Int: TypeAccess] = [:]
    /// Accesses that another class of the same type has replaced in `accesses`.
    @exclusivity(unchecked) private var aside: [TypeAccess] = []
    private var byClass: [ObjectIdentifier: TypeAccess] = [:] { didSet { lastUsed = nil } }
    /// Accesses of classes for which the file has no type and none can be added now.
    private var absent: [ObjectIdentifier: TypeAccess] = [:]
    /// The entry of `byClass` that was used last.
    @exclusivity(unchecked) private var lastUsed: (objectClass: ObjectIdentifier, access: TypeAccess)?
    /// The first error of reading the file. After it, failed reads return zeros and all writes are refused.
    var damage: FirnError? { noted.withLock { $0 } }
    /// Guarded by a mutex because any thread can read a frozen realm.
    let noted: Mutex<FirnError?> = Mutex(nil)
    /// Collections with changes that were not written to their tables yet.
    var changedCells: [ObjectIdentifier: CollectionCell] = [:]
    /// The observers of this realm. The doorbell schedules their delivery.
    let observers = Observers()
    private(set) var doorbell: Doorbell?
    /// The observers that are not notified of the transaction under way, and the version that it began from.
    var silenced: [Subscription] = []
    private(set) var versionBefore: UInt64 = 0

    init(_ file: RealmFile, _ configuration: Realm.Configuration, _ confinement: Confinement, snapshot: DatabaseSnapshot? = nil) throws {
        self.file = file
        self.configuration = configuration
        place = confinement
        thread = confinement.thread
        if case .none = confinement { isFrozen = true } else { isFrozen = false }
        pinned = try snapshot ?? file.database.snapshot()
        noteHold(pinned?.version)
        if case .thread(let thread) = confinement { thread.hold(self) }
        if !isFrozen {
            try prepare()
            doorbell = Doorbell(place)
            doorbell?.core = self
            file.listen(self)
        }
    }

    deinit {
        if pendingCommit == nil { transaction?.cancel() }
        endHere()
        noteHold(nil)
        retired.release()
    }

    /// Traps unless the realm may be used on this thread.
    @inline(__always)
    func check() { if thread == 0 ? !isFrozen : thread != currentThread() { confinement.check() } }

    // MARK: Versions

    var snapshot: DatabaseSnapshot {
        if let pinned { return pinned }
        do {
            let newest = try file.database.snapshot()
            pinned = newest
            return newest
        } catch {
            trap("the realm's file can no longer be read: \(error)")
        }
    }

    var version: UInt64 { snapshot.version }
    /// The version that is held; nil if none is.
    var pinnedVersion: UInt64? { pinned?.version }
    var schema: Schema { transaction?.schema ?? snapshot.schema }
    var isInTransaction: Bool { transaction != nil && !isBetweenParts }
    /// True within a transaction that is not being made durable on another thread.
    var canCommit: Bool { isInTransaction && pendingCommit == nil }

    /// Moves to the newest version. Returns false if the realm is already there.
    func refresh() throws -> Bool {
        confinement.check()
        guard !isFrozen, transaction == nil else { return false }
        return go(to: try file.database.snapshot())
    }

    /// Moves to a version, and notifies observers of changes that they have not received. Returns false if the realm is already there.
    func go(to newest: DatabaseSnapshot) -> Bool {
        guard !isFrozen, transaction == nil else { return false }
        let isNew = newest.version != pinned?.version
        if isNew {
            pinned = newest
            moved()
        }
        tellObservers(isNew)
        return isNew
    }

    /// The number of calls of `invalidate`.
    private(set) var invalidationCount = 0

    /// Releases the version and invalidates everything that was read from the realm. The next access pins the newest version.
    func invalidate() {
        // Other threads may be reading it.
        trap(unless: !isFrozen, "A frozen realm cannot be invalidated: release it, and everything read from it, to release its version.")
        confinement.check()
        endGroup()
        if let transaction {
            transaction.cancel()
            self.transaction = nil
        }
        changedCells = [:]
        observers.end()
        pinned = nil
        invalidationCount += 1
        forgetAccesses()
    }

    /// Invalidates everything that was read so far.
    func forgetAccesses() {
        for access in allAccesses + absent.values { retired.take(access) }
        accesses = [:]
        absent = [:]
        aside = []
        dynamics = [:]
        byClass = [:]
        changeStamp &+= 1
    }

    /// The accesses of invalid objects.
    private var retired = RetiredAccesses()

    private func moved() {
        changeStamp &+= 1
        let count = schema.types.count
        for (index, access) in accesses where index >= count {
            // The transaction that added its type was cancelled.
            retired.take(access)
            accesses[index] = nil
            byClass = byClass.filter { $0.value !== access }
        }
        retireRevised()
        for access in allAccesses { access.moved() }
    }

    /// Retires the accesses of types that another process has migrated: objects that were read of them are invalid.
    private func retireRevised() {
        let gone = allAccesses.filter { access in
            let now = access.typeNumber < schema.types.count ? schema.types[access.typeNumber] : nil
            return now?.name != access.name || !(now?.columns.starts(with: access.type.columns) ?? false)
        }
        guard !gone.isEmpty else { return }
        for access in gone { retired.take(access) }
        accesses = accesses.filter { one in !gone.contains { $0 === one.value } }
        dynamics = dynamics.filter { one in !gone.contains { $0 === one.value } }
        byClass = byClass.filter { one in !gone.contains { $0 === one.value } }
        aside.removeAll { one in gone.contains { $0 === one } }
    }

    /// Increases with every change and every move to another version. Evaluated results compare it.
    @exclusivity(unchecked) private(set) var changeStamp: UInt64 = 0

    /// Records that the transaction under way has changed something.
    func noteChange() {
        hasChanges = true
        changeStamp &+= 1
    }

    // MARK: Tables

    /// Returns the rows of a type at the version that is read, or those of the transaction under way.
    func table(_ type: Int) -> any RowTable { transaction == nil ? snapshot.table(named: schema.types[type].name)! : workingTable(type) }

    /// Returns the rows of a type at the version that is read, without those of a transaction.
    func storedTable(_ access: TypeAccess) throws(Damage) -> StoredTable? { snapshot.table(named: access.name) }

    func workingTable(_ type: Int) -> WorkingTable { transaction!.table(schema.types[type].name) }

    /// Returns the access to the objects of a class. Traps if the realm cannot hold the class.
    func access(_ objectClass: ObjectBase.Type) -> TypeAccess {
        if isFrozen { return accessGate.pass { find(objectClass) } }
        if lastUsed != nil, lastUsed!.objectClass == ObjectIdentifier(objectClass) { return lastUsed!.access }
        let access = find(objectClass)
        if !access.isAbsent { lastUsed = (ObjectIdentifier(objectClass), access) }
        return access
    }

    /// Serializes finding and creating accesses of frozen realms, which any thread can read.
    private let accessGate = Gate()

    private func find(_ objectClass: ObjectBase.Type) -> TypeAccess {
        if let access = byClass[ObjectIdentifier(objectClass)] { return access }
        let schema = ClassSchema.of(objectClass)
        guard let index = adopt(schema) else {
            if let access = absent[ObjectIdentifier(objectClass)] { return access }
            let access = TypeAccess(self, schema, typeIndex: -1)
            absent[ObjectIdentifier(objectClass)] = access
            return access
        }
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

    /// Returns the access to a type by its name, or nil if the file has no such type. Creates one for dynamic objects if there is none.
    func access(named name: String) -> TypeAccess? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        if isFrozen { return accessGate.pass { find(index) } }
        return find(index)
    }

    private func find(_ index: Int) -> TypeAccess {
        if let access = accesses[index] { return access }
        let access = TypeAccess(self, nil, typeIndex: index)
        accesses[index] = access
        return access
    }

    /// Returns the access to a type of which only the name is known: through the program's class for it, if there is one, otherwise for
    /// dynamic objects.
    func knownAccess(_ name: String) -> TypeAccess? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        if let access = isFrozen ? accessGate.pass({ accesses[index] }) : accesses[index], access.schema != nil { return access }
        guard let known = knownSchema(name) else { return dynamicAccess(name) }
        return access(known.objectClass)
    }

    /// Returns the schema of the program's class for a type of the file; nil if there is none, or if the class and the type differ.
    func knownSchema(_ name: String) -> ClassSchema? {
        if let used = ClassSchema.used.first(where: { $0.name == name && mismatches($0).isEmpty }) { return used }
        guard
            let found = (configuration.objectTypes ?? [ProgramClasses.named(name)].compactMap(\.self)).first(where: {
                $0.className() == name
            })
        else { return nil }
        let schema = ClassSchema.of(found)
        return mismatches(schema).isEmpty ? schema : nil
    }

    /// The accesses for dynamic objects, by type.
    @exclusivity(unchecked) private var dynamics: [Int: TypeAccess] = [:]

    /// Returns the access for the dynamic objects of a type, whatever classes are used for it, or nil if the file has no such type.
    func dynamicAccess(_ name: String) -> TypeAccess? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        if isFrozen { return accessGate.pass { findDynamic(index) } }
        return findDynamic(index)
    }

    private func findDynamic(_ index: Int) -> TypeAccess {
        if let access = dynamics[index] { return access }
        if let access = accesses[index], access.schema == nil { return access }
        let access = TypeAccess(self, nil, typeIndex: index)
        dynamics[index] = access
        return access
    }

    var allAccesses: [TypeAccess] { Array(accesses.values) + aside + Array(dynamics.values) }

    /// Returns the other accesses to the same type. They must see what one of them writes.
    func siblings(of access: TypeAccess) -> [TypeAccess] {
        hasSiblings ? allAccesses.filter { $0 !== access && $0.typeNumber == access.typeNumber } : []
    }

    /// True if some type may have more than one access.
    var hasSiblings: Bool { !aside.isEmpty || !dynamics.isEmpty }

    /// Moves the realm to a snapshot with added types.
    func install(_ snapshot: DatabaseSnapshot) {
        pinned = snapshot
        moved()
    }

    // MARK: Transactions

    func begin() throws {
        if isBetweenParts {
            confinement.check()
            return resume()
        }
        try tellBeforeTransaction()
        try checkBegin()
        if let begun = stolenTransaction() { return try enter(begun) }
        try file.checkWaiting()
        do throws(FirnError) { try enter(file.database.begin()) } catch { throw Realm.Error(error) }
    }

    /// Throws, or traps, if no transaction can begin.
    func checkBegin() throws {
        confinement.check()
        trap(unless: !isFrozen, RealmMessage.frozen)
        guard !configuration.readOnly else { throw Realm.Error(.filePermissionDenied, "Can't perform transactions on read-only Realms.") }
        guard transaction == nil else { throw Realm.Error(.alreadyInTransaction, "The Realm is already in a write transaction") }
        if let damage { throw Realm.Error(damage) }
        try checkVersionCount(holding: pinned?.version)
    }

    /// Moves the realm into a transaction that has begun, at the version that it began from.
    func enter(_ begun: DatabaseTransaction) throws(FirnError) {
        let newest: DatabaseSnapshot
        do throws(FirnError) { newest = try begun.baseSnapshot() } catch {
            begun.cancel()
            throw error
        }
        transaction = begun
        // A thread that is the only one to use the realm also ends the transaction.
        if place.thread == currentThread() { staysHere() }
        hasChanges = false
        pinned = newest
        moved()
        versionBefore = newest.version
        silenced = []
        Logger.note(.trace, "began a transaction of \"\(file.path)\" at version \(newest.version)")
    }

    /// Records that the transaction under way ends on this thread.
    func staysHere() {
        writer = currentThread()
        file.noteWriter(writer)
    }

    private func endHere() {
        guard writer != 0 else { return }
        file.forgetWriter(writer)
        writer = 0
    }

    /// Starts making the changes durable on another thread. Code that uses the realm before that completes waits. Returns nil if the commit
    /// completed here.
    func commitElsewhere() throws -> PendingCommit? {
        confinement.check()
        guard let transaction, isInTransaction else {
            trap("Can't commit a non-existing write transaction: begin one with beginAsyncWrite or asyncWrite.")
        }
        // Nothing on this thread would be notified of the end of the commit.
        if case .thread = place { return try commitHere() }
        do throws(FirnError) {
            if let damage { throw damage }
            try flushCells()
            if let damage { throw damage }
        } catch {
            let failure = Realm.Error(error)
            cancelGroup(failure)
            throw failure
        }
        guard hasChanges else { return try commitHere() }
        let pending = PendingCommit(transaction, configuration.durability)
        pendingCommit = pending
        // They do not check for a pending commit.
        closeFastPaths()
        // The transaction no longer ends on this thread.
        endHere()
        return pending
    }

    private func commitHere() throws -> PendingCommit? {
        try commit()
        return nil
    }

    /// Waits for a commit that is being made durable, and moves to its version.
    func finish(_ pending: PendingCommit) {
        place.check()
        guard pendingCommit === pending else { return }
        pending.wait()
        pendingCommit = nil
        openFastPaths()
        transaction = nil
        guard pending.error == nil else {
            changedCells = [:]
            return moved()
        }
        arrive()
        committed(soon: true)
    }

    /// Called after rows of the transaction were rewritten outside of the realm.
    func moveInTransaction() { moved() }

    func commit(_ durability: Realm.Durability? = nil) throws {
        confinement.check()
        guard let transaction, isInTransaction else {
            trap("Can't commit a non-existing write transaction: begin one with beginWrite() or write { … }.")
        }
        do throws(FirnError) {
            if let damage { throw damage }
            try flushCells()
            if let damage { throw damage }
            if hasChanges {
                try transaction.commit(durability: (durability ?? configuration.durability).ofCommits)
            } else {
                transaction.cancel()
            }
        } catch {
            transaction.cancel()
            self.transaction = nil
            changedCells = [:]
            moved()
            let failure = Realm.Error(error)
            complete(failure)
            throw failure
        }
        self.transaction = nil
        arrive()
        committed()
        complete(nil)
    }

    /// Moves to the version that a commit of this realm has made. The commit is already durable: if the version cannot be pinned, the realm
    /// stays at the version before, and the doorbell moves it later.
    private func arrive() {
        var isThere = true
        if hasChanges {
            do throws(FirnError) { pinned = try file.database.snapshot() } catch { isThere = false }
        }
        moved()
        if !isThere { doorbell?.ring() }
    }

    func cancel() {
        confinement.check()
        guard let transaction, isInTransaction else { trap("Can't cancel a non-existing write transaction") }
        if let group {
            // Blocks that were already committed to the group are kept.
            transaction.rollBack()
            return hold(group)
        }
        transaction.cancel()
        self.transaction = nil
        changedCells = [:]
        moved()
        ringIfObserved()
    }

    // MARK: Groups of commits

    /// Leaves the transaction, which other blocks continue.
    func hold(_ group: CommitGroup) {
        self.group = group
        isBetweenParts = true
        // The next block may run on another thread.
        if writer != place.thread { endHere() }
        changedCells = [:]
        moved()
    }

    /// Re-enters the transaction that a group was committed to.
    func resume() {
        isBetweenParts = false
        moved()
    }

    /// Reports the result of the group on the realm's executor.
    private func complete(_ error: Realm.Error?) {
        for completion in takeCompletions() { atPlace { completion(error) } }
    }

    func takeCompletions() -> [(Realm.Error?) -> Void] {
        defer { group = nil }
        return group?.completions ?? []
    }

    /// Cancels the transaction, and the whole group with it, after a failure.
    func cancelGroup(_ error: Realm.Error) {
        transaction?.cancel()
        transaction = nil
        isBetweenParts = false
        changedCells = [:]
        moved()
        complete(error)
    }

    /// Makes the commits of a group durable now, and cancels changes that were not committed.
    func endGroup() {
        guard group != nil, pendingCommit == nil else { return }
        if isInTransaction { cancel() }
        resume()
        // The completion blocks report a failure.
        try? commit()
    }

    func requireTransaction(_ action: @autoclosure () -> String) {
        if isInTransaction { return }
        if isFrozen { trap(RealmMessage.frozen) }
        trap(RealmMessage.outsideTransaction(action()))
    }

    /// Writes changed collections into their tables, so that reads of columns see them.
    func flushCells() throws(FirnError) {
        guard !changedCells.isEmpty else { return }
        let cells = changedCells.values
        changedCells = [:]
        for cell in cells { try cell.flush() }
    }

    /// The policy for objects that are added because an object that is being added or changed refers to them.
    private(set) var updatePolicy = Realm.UpdatePolicy.error

    func adding(_ policy: Realm.UpdatePolicy, _ body: () -> Void) {
        let before = updatePolicy
        updatePolicy = policy
        body()
        updatePolicy = before
    }
}
