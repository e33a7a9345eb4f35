import FirnBytes
import FirnDatabase
import FirnTable

/// When observers are notified.
extension RealmCore {
    /// Called after a commit, in this process or another, and after an observation began.
    func answerDoorbell() {
        guard !isFrozen, !isInTransaction, damage == nil else { return }
        do {
            if autorefresh {
                _ = try refresh()
            } else {
                let newest = try file.database.snapshot().version
                if newest != version, observers.awaited != newest {
                    observers.awaited = newest
                    observers.realmChanged(.refreshRequired)
                }
                notifyObservers(false)
            }
        } catch let error as FirnError { note(error) } catch { note(FirnError(.inputOutput, "\(error)")) }
    }

    /// Called after the realm looked for the newest version.
    func notifyObservers(_ isNew: Bool) {
        if isNew || observers.owesChange {
            observers.owesChange = false
            observers.realmChanged(.didChange)
        }
        observers.deliver(at: self)
    }

    /// A transaction begins from the newest version, so changes up to it are delivered before it begins.
    func notifyBeforeTransaction() throws {
        check()
        if isFrozen || isInTransaction || observers.isEmpty { return }
        if try file.database.snapshot().version != version { _ = try refresh() }
    }

    /// Called after a transaction of this realm. With `soon`, observers are notified later, on the realm's thread, queue or actor, not
    /// within this call.
    func committed(_ open: OpenTransaction, _ isChanged: Bool, soon: Bool = false) {
        guard isChanged else { return ringIfObserved() }
        let silenced = open.silenced
        file.announce(version, from: self)
        Logger.note(.debug, "committed version \(version) of \"\(file.path)\"")
        for observer in observers.all where silenced.contains(where: { $0 === observer.subscription }) {
            // Changes from before the transaction must still be delivered.
            if let delivered = observer.delivered, delivered.version == open.versionBefore { observer.skip() }
        }
        if soon { observers.owesChange = true } else { observers.realmChanged(.didChange, except: silenced) }
        ringIfObserved()
    }

    func ringIfObserved() { if !observers.isEmpty { doorbell?.ring() } }
}
