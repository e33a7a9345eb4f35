import Firn
import Foundation

extension RLMCollection {
    /// Calls `block` with the collection as it is (the change is nil then), and after every commit that changed which elements are in it, their order,
    /// or what they hold; with what changed. Commits of other realms and processes count too; what could not be told at once is told together,
    /// the first call included. The error is always nil.
    ///
    /// The run loop of this thread calls it if there is one (of a realm of a queue: that queue), and `realm.refresh()`. The calls end when the token
    /// is let go of. Traps on unmanaged and frozen collections, in read-only realms, and after the first change of a write transaction.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void) -> RLMNotificationToken {
        addNotificationBlock(block, keyPaths: nil, queue: nil)
    }

    /// As above, on a serial queue, with the collection of a realm of that queue.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, queue: DispatchQueue?) -> RLMNotificationToken {
        addNotificationBlock(block, keyPaths: nil, queue: queue)
    }

    /// As above, for some properties of the elements alone: `["name", "owner.city"]`. nil: all, and what they lead to over four links; empty: none, so
    /// that only elements that come, go or move are told of.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?) -> RLMNotificationToken {
        addNotificationBlock(block, keyPaths: keyPaths, queue: nil)
    }

    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?, queue: DispatchQueue?) -> RLMNotificationToken {
        results.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let now): block(Self._with(now._makeSource()), nil, nil)
            case .update(let now, _, _, _): block(Self._with(now._makeSource()), RLMCollectionChange(change), nil)
            case .error(let error): block(nil, nil, error)
            }
        }
    }
}

/// What changed in a collection. To bring a copy of the old version up to date: take out `deletions` from the highest down, put in `insertions` from the
/// lowest up, then read anew what is modified.
public final class RLMCollectionChange {
    /// Places in the old version, ascending.
    public let deletions: [NSNumber]
    /// Places in the new version, ascending.
    public let insertions: [NSNumber]
    /// Where elements stood, in the old version, that stayed but changed.
    public let modifications: [NSNumber]
    /// Where the same elements stand in the new version.
    public let modificationsNew: [NSNumber]

    init<Collection>(_ change: RealmCollectionChange<Collection>) {
        func numbers(_ places: [Int]) -> [NSNumber] { places.map { NSNumber(value: $0) } }
        deletions = numbers(change.deletions)
        insertions = numbers(change.insertions)
        modifications = numbers(change.modificationsOld)
        modificationsNew = numbers(change.modificationsNew)
    }

    /// As `deletions`, as rows of a section of a table.
    public func deletions(inSection section: UInt) -> [IndexPath] { paths(deletions, section) }
    public func insertions(inSection section: UInt) -> [IndexPath] { paths(insertions, section) }
    public func modifications(inSection section: UInt) -> [IndexPath] { paths(modifications, section) }

    private func paths(_ places: [NSNumber], _ section: UInt) -> [IndexPath] { places.map { [Int(section), $0.intValue] } }
}
