import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Swift's overlay hides fork because it is unsafe in most programs. Here it is what is tested.
@_silgen_name("fork")
private func forkProcess() -> Int32

/// Forks children that inherit open files. Their operations on these must be refused and have no effect on the parent; opening the file
/// again must work.
struct ForkCheck {
    let path: String

    func run() throws(FirnError) {
        _ = try Bank.make(path)
        try held(endsBySignal: false)
        try unnamed(endsBySignal: false)
        try unnamed(endsBySignal: true)
        say("forks 3")
    }

    private func fault(_ what: String) -> FirnError { FirnError(.damaged, what, at: .init(file: path)) }

    /// Runs `body` in a forked child, and returns the exit code of the child: the result of `body`, or 200 plus the signal that ended it.
    private func inChild(_ body: () -> Int32) throws(FirnError) -> Int32 {
        let process = forkProcess()
        if process == 0 { _exit(body()) }
        guard process > 0 else { throw systemError(errno, "cannot fork", path) }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 200 + (status & 0x7F)
    }

    private func refuses(_ body: () throws(FirnError) -> Void) -> Bool {
        do throws(FirnError) { try body() } catch { return error.message.contains("forked") }
        return false
    }

    /// The parent holds a version and the write lock.
    private func held(endsBySignal: Bool) throws(FirnError) {
        var database: Database? = try Bank.open(path, writable: true)
        var snapshot: DatabaseSnapshot? = try database.required().snapshot()
        let version = try snapshot.required().version
        var transaction: DatabaseTransaction? = try database.required().begin()
        var random = Dice(4)
        let sequence = try Bank.move(transaction.required(), &random)
        let code = try inChild {
            guard refuses({ () throws(FirnError) in _ = try database.required().snapshot() }) else { return 1 }
            guard refuses({ () throws(FirnError) in _ = try database.required().begin(wait: .no) }) else { return 2 }
            guard refuses({ () throws(FirnError) in _ = try database.required().pinnedVersions() }) else { return 3 }
            guard refuses({ () throws(FirnError) in _ = try Bank.check(snapshot.required()) }) else { return 4 }
            guard refuses({ () throws(FirnError) in _ = try transaction.required().commit() }) else { return 5 }
            // Releases everything. The locks belong to the parent and must stay.
            (transaction, snapshot, database) = (nil, nil, nil)
            do throws(FirnError) {
                let own = try Bank.open(path, writable: true)
                guard try Bank.check(try own.snapshot()) == sequence - 1 else { return 6 }
                guard try own.pinnedVersions().contains(version) else { return 7 }
                do throws(FirnError) { _ = try own.begin(wait: .no) } catch { return error.code == .locked ? 0 : 8 }
                return 9
            } catch { return 10 }
        }
        guard code == 0 else { throw fault("a child that inherits an open file fails in step \(code)") }
        let other = try Bank.open(path, writable: true)
        guard try other.pinnedVersions().contains(version) else { throw fault("a child has unpinned the parent's version") }
        do throws(FirnError) {
            _ = try other.begin(wait: .no)
            throw fault("a child has unlocked the parent's transaction")
        } catch { if error.code != .locked { throw error } }
        _ = try transaction.required().commit()
        guard try Bank.check(try other.snapshot()) == sequence, try Bank.check(snapshot.required()) == sequence - 1 else {
            throw fault("the parent's commit does not have the expected contents")
        }
    }

    /// The parent is creating a file that has no name yet.
    private func unnamed(endsBySignal: Bool) throws(FirnError) {
        let target = path + ".new"
        unlink(target)
        var database: Database? = try Database.create(path: target, atFirstCommit: true, key: Bank.key)
        var transaction: DatabaseTransaction? = try database.required().begin()
        try transaction.required().extendSchema([TypeSchema("Row", columns: [ColumnSchema("n", ColumnType(.int))])])
        try transaction.required().insert("Row", [.int(7)])
        let code = try inChild {
            if endsBySignal { raise(SIGTERM) }
            guard refuses({ () throws(FirnError) in _ = try transaction.required().commit() }) else { return 1 }
            (transaction, database) = (nil, nil)
            return 0
        }
        guard code == (endsBySignal ? 130 : 0) else { throw fault("a child of a process that creates a file fails in step \(code)") }
        _ = try transaction.required().commit()
        let made = try Bank.open(target).snapshot(), value: Value?
        do throws(Damage) { value = try made.table(named: "Row")?.value(rowID: 0, column: 0) } catch { throw fault(error.what) }
        guard value == .int(7) else { throw fault("a child has removed the parent's file") }
        unlink(target)
    }
}

extension Optional {
    /// Returns the value. It is not kept in a variable, so that a child can release what it inherits.
    fileprivate func required() throws(FirnError) -> Wrapped {
        guard let self else { throw FirnError(.damaged, "the fork check uses what it has released", at: nil) }
        return self
    }
}
