import FirnBytes
import FirnDatabase
import FirnTable
import Foundation
import Synchronization

/// An open realm: it connects the version that is read, the transaction under way, the accesses to the types, and the observers. `Realm`
/// values refer to it.
final class RealmCore {
    let file: RealmFile
    let configuration: Realm.Configuration
    /// The thread, queue or actor that the realm belongs to.
    let executor: RealmExecutor
    /// The thread that may use the realm without further checks; 0 if it belongs to a queue or an actor, is frozen, or the thread has ended,
    /// and while a commit is being made durable on another thread.
    @exclusivity(unchecked) var thread: UInt
    let isFrozen: Bool
    let pin: VersionPin
    /// Set only by the transitions in `RealmCore+Transactions`.
    @exclusivity(unchecked) var state = TransactionState.none
    /// Changed only in `RealmCore+Accesses`.
    @exclusivity(unchecked) var bindings = TypeBindings()
    /// Serializes finding and creating accesses of frozen realms, which any thread can read.
    let accessGate = Gate()
    @exclusivity(unchecked) private var stamp = ChangeStamp()
    var asyncWrites = AsyncWrites()
    /// Collections with changes that were not written to their tables yet.
    var changedCells: [ObjectIdentifier: CollectionCell] = [:]
    /// Of a frozen realm, used only under the lock of its cells.
    var keptCells = KeptCells()
    /// The first error of reading the file. After it, failed reads return zeros and all writes are refused.
    var damage: FirnError? { noted.withLock { $0 } }
    /// Guarded by a mutex because any thread can read a frozen realm.
    let noted: Mutex<FirnError?> = Mutex(nil)
    /// The observers of this realm. The doorbell schedules their delivery.
    let observers = Observers()
    private(set) var doorbell: Doorbell?
    var autorefresh = true
    /// The number of calls of `invalidate`.
    private(set) var invalidationCount = 0
    /// The policy for objects that are added because an object that is being added or changed refers to them.
    private(set) var updatePolicy = Realm.UpdatePolicy.error
    /// The number of objects, each referred to by the one before, whose properties are being set.
    private var depth = 0
    private var postponed: [(policy: Realm.UpdatePolicy, body: () -> Void)] = []

    init(_ file: RealmFile, _ configuration: Realm.Configuration, _ executor: RealmExecutor, snapshot: DatabaseSnapshot? = nil) throws {
        self.file = file
        self.configuration = configuration
        self.executor = executor
        thread = executor.thread
        if case .none = executor { isFrozen = true } else { isFrozen = false }
        pin = try VersionPin(file, executor, at: snapshot)
        if case .thread(let thread) = executor { thread.hold(self) }
        if !isFrozen {
            try prepare()
            doorbell = Doorbell(executor)
            doorbell?.core = self
            file.listen(self)
        }
    }

    deinit {
        switch state {
        case .open(let open, _), .betweenParts(let open, _):
            open.transaction.cancel()
            open.endsAnywhere()
        case .none, .committing: break
        }
        bindings.release()
    }

    /// Traps unless the realm may be used on this thread. Waits first for a commit that is being made durable on another thread.
    @inline(__always)
    func check() { if thread == 0 ? !isFrozen : thread != currentThread() { checkExecutor() } }

    private func checkExecutor() {
        finishPendingCommit()
        executor.check()
    }

    // MARK: Versions

    var snapshot: DatabaseSnapshot { pin.snapshot }
    var version: UInt64 { pin.snapshot.version }
    var schema: Schema { transaction?.schema ?? snapshot.schema }

    /// Moves to the newest version. Returns false if the realm is already there.
    func refresh() throws -> Bool {
        check()
        guard !isFrozen, state.isNone else { return false }
        return go(to: try file.database.snapshot())
    }

    /// Moves to a version, and notifies observers of changes that they have not received. Returns false if the realm is already there.
    func go(to newest: DatabaseSnapshot) -> Bool {
        guard !isFrozen, state.isNone else { return false }
        let isNew = newest.version != pin.pinned?.version
        if isNew { install(newest) }
        notifyObservers(isNew)
        return isNew
    }

    /// Moves to a version without notifying observers, for example to one with added types.
    func install(_ snapshot: DatabaseSnapshot) {
        pin.move(to: snapshot)
        moved()
    }

    /// Releases the version and invalidates everything that was read from the realm. The next access pins the newest version.
    func invalidate() {
        // Other threads may be reading it.
        trap(unless: !isFrozen, "A frozen realm cannot be invalidated: release it, and everything read from it, to release its version.")
        check()
        endGroup()
        if case .open(let open, _) = state {
            open.transaction.cancel()
            leave()
        }
        changedCells = [:]
        observers.end()
        pin.release()
        invalidationCount += 1
        forgetAccesses()
    }

    // MARK: Changes

    /// Increases with every change and every move to another version. Evaluated results compare it.
    var changeStamp: UInt64 { stamp.value }

    /// The number of changes that transactions of this realm have made.
    var changeCount: UInt64 { stamp.changes }

    /// True if the transaction under way has changed something.
    var hasChanges: Bool { state.current.map { $0.changesBefore != stamp.changes } ?? false }

    /// True if the transaction under way has changed more than the types, to which the first use of a class adds its own.
    var hasChangesOfObjects: Bool { state.current.map { $0.changesBefore &+ $0.addedTypes != stamp.changes } ?? false }

    /// Records that the transaction under way has changed something.
    func noteChange() { stamp.noteChange() }

    /// Records that the version or the transaction that is read is another one.
    func noteMove() { stamp.noteMove() }

    /// Writes changed collections into their tables, so that reads of columns see them.
    func flushCells() throws(FirnError) {
        guard !changedCells.isEmpty else { return }
        let cells = changedCells.values
        changedCells = [:]
        for cell in cells { try cell.flush() }
    }

    /// As `flushCells`, but an error is noted as damage instead of thrown.
    func flushCellsNotingErrors() {
        do { try flushCells() } catch { note(error) }
    }

    func adding(_ policy: Realm.UpdatePolicy, _ body: () -> Void) {
        let before = updatePolicy
        updatePolicy = policy
        body()
        updatePolicy = before
    }

    /// Sets a property of an object that is being added, which can add more objects, and these more. At a certain depth, the properties are
    /// set after all those above them, so that long chains of links do not need a long stack.
    func setContent(_ policy: Realm.UpdatePolicy, _ body: @escaping () -> Void) {
        guard depth < 32 else { return postponed.append((policy, body)) }
        depth += 1
        adding(policy, body)
        while depth == 1, !postponed.isEmpty {
            let next = postponed
            postponed = []
            for (policy, body) in next { setContent(policy, body) }
        }
        depth -= 1
    }
}
