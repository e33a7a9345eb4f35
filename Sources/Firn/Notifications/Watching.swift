import FirnDatabase
import FirnDisk
import FirnTable

/// How a file's realms learn of the commits of other processes.
struct Watching {
    /// The number of observers.
    var observers = 0
    var watch: FileWatch?
    /// The newest version that was announced.
    var version: UInt64 = 0
}

extension RealmFile {
    /// Adds `step` to the number of observers. The file is watched while there are any, unless it is in memory and so only used by this
    /// process.
    func observe(_ step: Int) {
        let former = watching.withLock { watching -> FileWatch? in
            watching.observers += step
            if watching.observers == 1, step > 0, !isTemporary {
                watching.watch = FileWatch(path: path) { [weak self] in self?.someoneWrote() }
            }
            guard watching.observers == 0 else { return nil }
            defer { watching.watch = nil }
            return watching.watch
        }
        _ = former
    }

    /// Announces a commit of this process to the other realms of the file.
    func announce(_ version: UInt64, from core: RealmCore) {
        watching.withLock { $0.version = max($0.version, version) }
        for doorbell in doorbells(but: core.doorbell) { doorbell.ring() }
    }

    private func someoneWrote() {
        // In the middle of a commit the version is the previous one; another write follows.
        guard let version = try? database.snapshot().version else { return }
        let isNew = watching.withLock { watching in
            defer { watching.version = max(watching.version, version) }
            return version > watching.version
        }
        if isNew { for doorbell in doorbells(but: nil) { doorbell.ring() } }
    }
}
