import FirnBytes
import FirnModel
import Foundation
import Synchronization

/// An open realm: a version of a file, the transaction under way if there is one, and what was read. `Realm` values refer to it.
final class RealmCore {
    let file: RealmFile
    let configuration: Realm.Configuration
    /// Where the realm belongs.
    let place: Confinement
    /// The thread that the realm belongs to; 0: it belongs elsewhere, or the thread has ended.
    @exclusivity(unchecked) var thread: UInt
    /// As `place`; a commit that is being made durable elsewhere is waited for first.
    var confinement: Confinement {
        if let pendingCommit { finish(pendingCommit) }
        return place
    }
    let isFrozen: Bool
    /// The version that is read; nil: to be pinned at the next read.
    private var pinned: DatabaseSnapshot? { didSet { noteHold(pinned?.version) } }
    private(set) var pendingCommit: PendingCommit?
    /// See `RealmCore+Async`.
    var lockRequests: [LockRequest] = []
    var asyncWrites: [AsyncWrite] = []
    var nextAsyncID: AsyncTransactionId = 1
    /// Commits that were made durable elsewhere, of which nobody was told yet.
    var untold = 0
    @exclusivity(unchecked) private(set) var transaction: DatabaseTransaction? {
        didSet { if transaction == nil { endHere() } }
    }
    /// The thread of which the file knows that the transaction is its own; 0: it knows of none.
    private var writer: UInt = 0
    /// Blocks that were committed within the transaction, to be durable together: `RealmCore+Grouping`.
    private(set) var group: CommitGroup?
    /// One block of a group was committed, and no other has begun: what it wrote is read, and nothing can be written.
    @exclusivity(unchecked) private(set) var isBetweenParts = false
    /// Something was changed in the transaction under way.
    @exclusivity(unchecked) var hasChanges = false
    var autorefresh = true
    private var accesses: [Int: TypeAccess] = [:]
    /// Of types that are used through another class as well.
    @exclusivity(unchecked) private var aside: [TypeAccess] = []
    private var byClass: [ObjectIdentifier: TypeAccess] = [:] { didSet { lastUsed = nil } }
    /// Of classes that the file has no type for, and cannot have now.
    private var absent: [ObjectIdentifier: TypeAccess] = [:]
    /// The entry of it that was used last.
    @exclusivity(unchecked) private var lastUsed: (objectClass: ObjectIdentifier, access: TypeAccess)?
    /// What was wrong with the file when it was read: reads give zeros from then on, and nothing is written.
    var damage: FirnError? { noted.withLock { $0 } }
    /// Any thread reads what is frozen.
    private let noted: Mutex<FirnError?> = Mutex(nil)
    /// Collections with changes that are not in their tables yet.
    var changedCells: [ObjectIdentifier: CollectionCell] = [:]
    /// Who wants to know of changes, and what tells of those that others make.
    let observers = Observers()
    private(set) var doorbell: Doorbell?
    /// Those who are not told of the transaction under way, and the version that it began from.
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

    /// Traps where the realm does not belong.
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
            preconditionFailure("the realm's file cannot be read any more: \(error)")
        }
    }

    var version: UInt64 { snapshot.version }
    /// Nil: none is held.
    var pinnedVersion: UInt64? { pinned?.version }
    var schema: Schema { transaction?.schema ?? snapshot.schema }
    var isInTransaction: Bool { transaction != nil && !isBetweenParts }
    /// And it is not being made durable elsewhere.
    var canCommit: Bool { isInTransaction && pendingCommit == nil }

    /// Goes to the newest version; false if the realm is there already.
    func refresh() throws -> Bool {
        confinement.check()
        guard !isFrozen, transaction == nil else { return false }
        return go(to: try file.database.snapshot())
    }

    /// Goes to a version if it is another, and tells observers what they do not know yet.
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

    /// Lets go of the version; everything read from the realm is invalid. The next access pins the newest.
    func invalidate() {
        // Others read it, at the version that it stands for.
        precondition(!isFrozen, "A frozen realm stays what it is: let go of it, and of what was read from it, to let go of its version.")
        confinement.check()
        endGroup()
        if let transaction {
            transaction.cancel()
            self.transaction = nil
        }
        changedCells = [:]
        observers.end()
        pinned = nil
        forgetAccesses()
    }

    /// Everything read so far is invalid.
    func forgetAccesses() {
        for access in allAccesses + absent.values { retired.take(access) }
        accesses = [:]
        absent = [:]
        aside = []
        dynamics = [:]
        byClass = [:]
        changeStamp &+= 1
    }

    /// Accesses whose objects are invalid.
    private var retired = RetiredAccesses()

    private func moved() {
        changeStamp &+= 1
        let count = schema.types.count
        for (index, access) in accesses where index >= count {
            // Its type came with a transaction that was given up.
            retired.take(access)
            accesses[index] = nil
            byClass = byClass.filter { $0.value !== access }
        }
        retireRevised()
        for access in allAccesses { access.moved() }
    }

    /// Of types that another process has migrated: what was read of them is invalid.
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

    /// Grows with every change and every move to another version: what evaluated results compare.
    @exclusivity(unchecked) private(set) var changeStamp: UInt64 = 0

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
        if isFrozen { return accessGate.pass { find(objectClass) } }
        if lastUsed != nil, lastUsed!.objectClass == ObjectIdentifier(objectClass) { return lastUsed!.access }
        let access = find(objectClass)
        if !access.isAbsent { lastUsed = (ObjectIdentifier(objectClass), access) }
        return access
    }

    /// Any thread reads what is frozen: one at a time looks for accesses, and makes those that are missing.
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

    /// What dynamic objects of a type are read and written through; nil: the file has no such type.
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

    /// What objects of a type are read and written through where only its name is known: those of the class that the program has for it, if it has one.
    func knownAccess(_ name: String) -> TypeAccess? {
        guard let index = schema.types.firstIndex(where: { $0.name == name }) else { return nil }
        if let access = isFrozen ? accessGate.pass({ accesses[index] }) : accesses[index], access.schema != nil { return access }
        guard let known = ClassSchema.everyKnown.first(where: { $0.name == name && mismatches($0).isEmpty }) else { return dynamicAccess(name) }
        return access(known.objectClass)
    }

    /// Accesses of dynamic objects, by type.
    @exclusivity(unchecked) private var dynamics: [Int: TypeAccess] = [:]

    /// What dynamic objects of a type are read and written through, whatever classes are used for it; nil: the file has no such type.
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

    /// Other accesses of the same type: what one writes, they read.
    func siblings(of access: TypeAccess) -> [TypeAccess] {
        hasSiblings ? allAccesses.filter { $0 !== access && $0.typeNumber == access.typeNumber } : []
    }

    /// Some type may have more than one access.
    var hasSiblings: Bool { !aside.isEmpty || !dynamics.isEmpty }

    /// Where the schema says which types there are, `install` brings them into the realm's own version.
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

    /// Throws, or traps, where no transaction can begin.
    func checkBegin() throws {
        confinement.check()
        precondition(!isFrozen, RealmMessage.frozen)
        guard !configuration.readOnly else { throw Realm.Error(.filePermissionDenied, "Can't perform transactions on read-only Realms.") }
        guard transaction == nil else { throw Realm.Error(.alreadyInTransaction, "The Realm is already in a write transaction") }
        if let damage { throw Realm.Error(damage) }
        try checkVersionCount(holding: pinned?.version)
    }

    /// Goes into a transaction that has begun: to the version that it began from.
    func enter(_ begun: DatabaseTransaction) throws(FirnError) {
        let newest: DatabaseSnapshot
        do throws(FirnError) { newest = try begun.baseSnapshot() } catch {
            begun.cancel()
            throw error
        }
        transaction = begun
        if case .thread = place { staysHere() }
        hasChanges = false
        pinned = newest
        moved()
        versionBefore = newest.version
        silenced = []
    }

    /// The transaction under way ends on this thread.
    func staysHere() {
        writer = currentThread()
        file.noteWriter(writer)
    }

    private func endHere() {
        guard writer != 0 else { return }
        file.forgetWriter(writer)
        writer = 0
    }

    /// Lets the changes be made durable elsewhere; whoever uses the realm meanwhile waits for it. Nil: there were none.
    func commitElsewhere() throws -> PendingCommit? {
        confinement.check()
        guard let transaction, isInTransaction else { preconditionFailure("Can't commit a non-existing write transaction: begin one with beginAsyncWrite or asyncWrite.") }
        // The fast path of reads on a thread asks nobody.
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
        // It ends without this thread.
        endHere()
        return pending
    }

    private func commitHere() throws -> PendingCommit? {
        try commit()
        return nil
    }

    /// Waits for a commit that is being made durable, and goes to its version.
    func finish(_ pending: PendingCommit) {
        place.check()
        guard pendingCommit === pending else { return }
        pending.wait()
        pendingCommit = nil
        transaction = nil
        guard pending.error == nil else {
            changedCells = [:]
            return moved()
        }
        arrive()
        committed(soon: true)
    }

    /// The transaction's rows were written elsewhere within it.
    func moveInTransaction() { moved() }

    func commit(_ durability: Realm.Durability? = nil) throws {
        confinement.check()
        guard let transaction, isInTransaction else { preconditionFailure("Can't commit a non-existing write transaction: begin one with beginWrite() or write { … }.") }
        do throws(FirnError) {
            if let damage { throw damage }
            try flushCells()
            if let damage { throw damage }
            if hasChanges { try transaction.commit(durability: (durability ?? configuration.durability).ofCommits) } else { transaction.cancel() }
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

    /// Goes to the version that a commit of this realm has made. The commit is durable, whatever happens now: where the version cannot be pinned
    /// the realm stays at the one before, and goes on as soon as it can.
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
        guard let transaction, isInTransaction else { preconditionFailure("Can't cancel a non-existing write transaction") }
        if let group {
            // What others have committed stays.
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

    /// Goes out of the transaction, which others go on with.
    func hold(_ group: CommitGroup) {
        self.group = group
        isBetweenParts = true
        // Of a queue or an actor: it may be another thread that goes on.
        if place.thread == 0 { endHere() }
        changedCells = [:]
        moved()
    }

    /// Goes into the transaction that a group was committed to.
    func resume() {
        isBetweenParts = false
        moved()
    }

    /// The group is durable, or is not: whoever waits for that is told at the realm's place.
    private func complete(_ error: Realm.Error?) {
        for completion in takeCompletions() { atPlace { completion(error) } }
    }

    func takeCompletions() -> [(Realm.Error?) -> Void] {
        defer { group = nil }
        return group?.completions ?? []
    }

    /// The transaction failed, and all of the group with it.
    func cancelGroup(_ error: Realm.Error) {
        transaction?.cancel()
        transaction = nil
        isBetweenParts = false
        changedCells = [:]
        moved()
        complete(error)
    }

    /// Makes the commits of a group durable now; what is under way is given up.
    func endGroup() {
        guard group != nil, pendingCommit == nil else { return }
        if isInTransaction { cancel() }
        resume()
        // Whoever waits is told of a failure.
        try? commit()
    }

    func requireTransaction(_ action: @autoclosure () -> String) {
        if isInTransaction { return }
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
            note(FirnError(error, in: file.path))
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

    func note(_ error: FirnError) { noted.withLock { if $0 == nil { $0 = error } } }
}
