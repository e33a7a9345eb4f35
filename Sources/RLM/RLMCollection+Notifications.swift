import Firn
import Foundation

extension RLMCollection {
    /// Calls `block` first with the collection and a nil change, and then, with the changes, after every commit that changed which elements
    /// it has, their order or their properties. Commits of other realms and processes count too. Changes that could not be delivered
    /// separately are merged, also with the first call. The error is always nil.
    ///
    /// The calls are made by the run loop of this thread, if it has one (or by the queue of the realm), and by `realm.refresh()`. They end
    /// when the token is released. Traps on unmanaged and frozen collections, in read-only realms, and after the first change of a write
    /// transaction.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void) -> RLMNotificationToken {
        addNotificationBlock(block, keyPaths: nil, queue: nil)
    }

    /// As above, on a serial queue, with the collection of a realm of that queue.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, queue: DispatchQueue?)
        -> RLMNotificationToken
    {
        addNotificationBlock(block, keyPaths: nil, queue: queue)
    }

    /// As above, for some properties of the elements: `["name", "owner.city"]`. Nil stands for all, and those of linked objects over four
    /// links. If empty, only elements that are inserted, deleted or moved are reported.
    public func addNotificationBlock(_ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?)
        -> RLMNotificationToken
    {
        addNotificationBlock(block, keyPaths: keyPaths, queue: nil)
    }

    /// As above, for some properties of the elements, on a serial queue.
    public func addNotificationBlock(
        _ block: @escaping (Self?, RLMCollectionChange?, (any Error)?) -> Void, keyPaths: [String]?, queue: DispatchQueue?
    ) -> RLMNotificationToken {
        results.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let now): block(Self._with(now._makeSource()), nil, nil)
            case .update(let now, _, _, _): block(Self._with(now._makeSource()), RLMCollectionChange(change), nil)
            case .error(let error): block(nil, nil, error)
            }
        }
    }
}

/// The changes of a collection. To update a copy of the old version, remove `deletions` in descending order, add `insertions` in ascending
/// order, and then read the modified elements again.
public final class RLMCollectionChange {
    /// The indexes in the old version, ascending.
    public let deletions: [NSNumber]
    /// The indexes in the new version, ascending.
    public let insertions: [NSNumber]
    /// The indexes in the old version of elements that remained but changed.
    public let modifications: [NSNumber]
    /// The indexes of the same elements in the new version.
    public let modificationsNew: [NSNumber]

    init<Collection>(_ change: RealmCollectionChange<Collection>) {
        func numbers(_ indexes: [Int]) -> [NSNumber] { indexes.map { NSNumber(value: $0) } }
        deletions = numbers(change.deletions)
        insertions = numbers(change.insertions)
        modifications = numbers(change.modificationsOld)
        modificationsNew = numbers(change.modificationsNew)
    }

    /// The deletions as index paths of a section of a table.
    public func deletions(inSection section: UInt) -> [IndexPath] { paths(deletions, section) }
    /// The insertions as index paths of a section of a table.
    public func insertions(inSection section: UInt) -> [IndexPath] { paths(insertions, section) }
    /// The modifications, at their old indexes, as index paths of a section of a table.
    public func modifications(inSection section: UInt) -> [IndexPath] { paths(modifications, section) }

    private func paths(_ indexes: [NSNumber], _ section: UInt) -> [IndexPath] { indexes.map { [Int(section), $0.intValue] } }
}
