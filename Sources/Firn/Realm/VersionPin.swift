import FirnBytes
import FirnDatabase

/// The version that a realm reads.
///
/// At most one version is pinned. While one is, and only then, `RealmFile.holds` lists it with the realm's executor. If none is, the next
/// read pins the newest version.
final class VersionPin {
    private let file: RealmFile
    private let executor: RealmExecutor
    /// nil if no version is pinned.
    private(set) var pinned: DatabaseSnapshot? { didSet { recordHold() } }

    /// Pins a version; if it is nil, the newest one.
    init(_ file: RealmFile, _ executor: RealmExecutor, at snapshot: DatabaseSnapshot?) throws(FirnError) {
        self.file = file
        self.executor = executor
        if let snapshot { pinned = snapshot } else { pinned = try file.database.snapshot() }
        recordHold()
    }

    deinit { file.holds.withLock { $0[ObjectIdentifier(self)] = nil } }

    private func recordHold() {
        file.holds.withLock { $0[ObjectIdentifier(self)] = pinned.map { VersionHold(version: $0.version, executor: executor) } }
    }

    /// The version that is read. Pins the newest one if none is pinned. Traps if the file can no longer be read.
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

    /// Pins a version instead of the one that is pinned.
    func move(to snapshot: DatabaseSnapshot) { pinned = snapshot }

    /// Pins the newest version. After an error the pinned version stays pinned.
    func moveToNewest() throws(FirnError) { pinned = try file.database.snapshot() }

    /// Releases the pinned version.
    func release() { pinned = nil }

    /// The versions that other realms of this process hold.
    var heldByOthers: Set<UInt64> {
        let mine = ObjectIdentifier(self)
        return Set(file.holds.withLock { $0.filter { $0.key != mine }.map(\.value.version) })
    }
}

/// The version that one realm of this process holds.
struct VersionHold: Sendable {
    var version: UInt64
    var executor: RealmExecutor

    var description: String {
        switch executor {
        case .thread(let thread): "a realm of thread \(thread.number)"
        case .main: "a realm of the main thread"
        case .queue(let queue): "a realm of queue \"\(queue.label)\""
        case .actor(let home): "a realm of actor \(home.kind)"
        case .none: "a frozen realm"
        }
    }
}
