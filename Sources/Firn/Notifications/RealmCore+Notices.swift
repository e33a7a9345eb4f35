import FirnBytes
import FirnModel

/// When observers are told.
extension RealmCore {
    /// Somebody has committed, here or elsewhere, or somebody began to observe.
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
                tellObservers(false)
            }
        } catch let error as FirnError { note(error) } catch { note(FirnError(.inputOutput, "\(error)")) }
    }

    /// After a look for the newest version.
    func tellObservers(_ isNew: Bool) {
        if isNew || observers.owesChange {
            observers.owesChange = false
            observers.realmChanged(.didChange)
        }
        observers.deliver(at: self)
    }

    /// A transaction goes to the newest version: what changed until then is told before it begins.
    func tellBeforeTransaction() throws {
        confinement.check()
        if isFrozen || isInTransaction || observers.isEmpty { return }
        if try file.database.snapshot().version != version { _ = try refresh() }
    }

    /// After a transaction of this realm. `soon`: nobody expects to be told within whatever is going on.
    func committed(soon: Bool = false) {
        let silenced = silenced
        self.silenced = []
        guard hasChanges else { return ringIfObserved() }
        file.announce(version, from: self)
        for observer in observers.all where silenced.contains(where: { $0 === observer.subscription }) {
            // What they were not told of before the transaction is still to be told.
            if let told = observer.told, told.version == versionBefore { observer.skip() }
        }
        if soon { observers.owesChange = true } else { observers.realmChanged(.didChange, except: silenced) }
        ringIfObserved()
    }

    func ringIfObserved() { if !observers.isEmpty { doorbell?.ring() } }
}
