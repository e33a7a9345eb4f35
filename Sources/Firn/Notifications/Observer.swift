import FirnBytes
import FirnChange
import FirnDatabase

/// An observer of changes in one realm. It is used only on the realm's thread, queue or actor; its token retains it.
class Observer {
    let core: RealmCore
    let subscription: Subscription
    /// The version that was delivered last; nil before the first notification.
    var delivered: DatabaseSnapshot?

    init(_ core: RealmCore, _ subscription: Subscription) {
        self.core = core
        self.subscription = subscription
        core.file.observe(1)
    }

    deinit { core.file.observe(-1) }

    /// Delivers the changes up to the realm's version, if there are any. `versions` are the changes since the version that was delivered
    /// last; nil for the initial notification.
    func deliver(_ versions: VersionChanges?) { trap("overridden") }

    /// Records the realm's version as delivered.
    func skip() { trap("overridden") }

    /// Called when the realm has moved to another version, or could move to one.
    func realmChanged(_ notification: Realm.Notification) {}
}

/// The observers of one realm.
final class Observers {
    private struct Entry {
        weak var observer: Observer?
    }
    private var entries: [Entry] = []
    private var isDelivering = false
    /// The newer version that `.refreshRequired` was last reported for.
    var awaited: UInt64?
    /// Whether the realm has moved to another version without notifying its own observers yet.
    var owesChange = false
    /// What all notifications have read so far, for tests of their cost.
    private(set) var decoded = TableChanges.Decoded()

    var all: [Observer] { entries.compactMap(\.observer).filter { !$0.subscription.isOver } }
    var isEmpty: Bool { !entries.contains { $0.observer.map { !$0.subscription.isOver } ?? false } }

    func add(_ observer: Observer) {
        entries.removeAll { $0.observer == nil }
        entries.append(Entry(observer: observer))
    }

    /// Ends all observations.
    func end() {
        for observer in all { _ = observer.subscription.end() }
        entries = []
    }

    /// Delivers to each observer the changes that it has not received. Within an observer's block, this only schedules the next delivery.
    func deliver(at core: RealmCore, only chosen: [Subscription]? = nil) {
        guard !isDelivering, !entries.isEmpty else { return core.ringIfObserved() }
        isDelivering = true
        defer { isDelivering = false }
        var known: [VersionChanges] = []
        for observer in all {
            // The block of another observer can have begun a transaction or ended this observer.
            if core.isInTransaction, chosen == nil || core.hasChanges { break }
            if observer.subscription.isOver { continue }
            if let chosen, observer.delivered == nil || !chosen.contains(where: { $0 === observer.subscription }) { continue }
            let snapshot = core.snapshot
            guard let delivered = observer.delivered else {
                observer.deliver(nil)
                continue
            }
            if delivered.version == snapshot.version { continue }
            let versions: VersionChanges
            if let shared = known.first(where: { $0.old.version == delivered.version && $0.new.version == snapshot.version }) {
                versions = shared
            } else {
                versions = VersionChanges(delivered, snapshot)
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
