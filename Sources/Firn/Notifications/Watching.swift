import FirnDisk
import FirnModel

/// What a file's realms do to hear of commits of other processes.
struct Watching {
    /// How many observers there are.
    var observers = 0
    var watch: FileWatch?
    /// The newest version that was told of.
    var version: UInt64 = 0
}

extension RealmFile {
    /// One observer more, or less. The file is watched while there are any; files in memory are this process's own.
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

    /// A commit of this process.
    func announce(_ version: UInt64, from core: RealmCore) {
        watching.withLock { $0.version = max($0.version, version) }
        for doorbell in doorbells(but: core.doorbell) { doorbell.ring() }
    }

    private func someoneWrote() {
        // In the middle of a commit the version is the one before; there will be another write.
        guard let version = try? database.snapshot().version else { return }
        let isNew = watching.withLock { watching in
            defer { watching.version = max(watching.version, version) }
            return version > watching.version
        }
        if isNew { for doorbell in doorbells(but: nil) { doorbell.ring() } }
    }
}
