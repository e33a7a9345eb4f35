import FirnBytes
import FirnChange
import FirnModel

/// Something that wants to know of changes in one realm. Used where the realm belongs only; its token holds it.
class Observer {
    let core: RealmCore
    let subscription: Subscription
    /// The version that was told last; nil: none yet.
    var told: DatabaseSnapshot?

    init(_ core: RealmCore, _ subscription: Subscription) {
        self.core = core
        self.subscription = subscription
        core.file.observe(1)
    }

    deinit { core.file.observe(-1) }

    /// Tells what is new at the realm's version, if anything is. `versions`: the changes since the version that was told.
    func deliver(_ versions: VersionChanges?) { fatalError("overridden") }

    /// Takes the realm's version as known.
    func skip() { fatalError("overridden") }

    /// The realm has gone to another version, or could.
    func realmChanged(_ notification: Realm.Notification) {}
}

/// The observers of one realm.
final class Observers {
    private struct Entry {
        weak var observer: Observer?
    }
    private var entries: [Entry] = []
    private var isDelivering = false
    /// The version that the realm could go on to and was told of.
    var awaited: UInt64?
    /// The realm has come to another version, and its own observers are still to be told.
    var owesChange = false
    /// What was read for all notifications so far, for tests of what they cost.
    private(set) var decoded = TableChanges.Decoded()

    var all: [Observer] { entries.compactMap(\.observer).filter { !$0.subscription.isOver } }
    var isEmpty: Bool { !entries.contains { $0.observer.map { !$0.subscription.isOver } ?? false } }

    func add(_ observer: Observer) {
        entries.removeAll { $0.observer == nil }
        entries.append(Entry(observer: observer))
    }

    /// Ends all of them.
    func end() {
        for observer in all { _ = observer.subscription.end() }
        entries = []
    }

    /// Tells each what it does not know yet. Not within a block that is being told something: then it waits for the next time.
    func deliver(at core: RealmCore, only chosen: [Subscription]? = nil) {
        guard !isDelivering, !entries.isEmpty else { return core.ringIfObserved() }
        isDelivering = true
        defer { isDelivering = false }
        var known: [VersionChanges] = []
        for observer in all {
            // The block of another may have begun a transaction, or ended this observer.
            if core.isInTransaction, chosen == nil || core.hasChanges { break }
            if observer.subscription.isOver { continue }
            if let chosen, observer.told == nil || !chosen.contains(where: { $0 === observer.subscription }) { continue }
            let snapshot = core.snapshot
            guard let told = observer.told else {
                observer.deliver(nil)
                continue
            }
            if told.version == snapshot.version { continue }
            let versions: VersionChanges
            if let shared = known.first(where: { $0.old.version == told.version && $0.new.version == snapshot.version }) { versions = shared } else {
                versions = VersionChanges(told, snapshot)
                known.append(versions)
            }
            observer.deliver(versions)
        }
        for versions in known {
            decoded.vectors += versions.decoded.vectors
            decoded.values += versions.decoded.values
        }
    }

    func realmChanged(_ notification: Realm.Notification, except silenced: [Subscription] = []) {
        for observer in all where !silenced.contains(where: { $0 === observer.subscription }) { observer.realmChanged(notification) }
    }
}
