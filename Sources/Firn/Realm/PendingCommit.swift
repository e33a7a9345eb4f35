import Dispatch
import FirnBytes
import FirnDatabase

/// A commit that is being made durable outside of the realm's executor.
final class PendingCommit: @unchecked Sendable {
    let open: OpenTransaction
    /// The group that the commit makes durable; nil if it is that of one block.
    let group: CommitGroup?
    private let work = DispatchGroup()
    /// Valid after `wait`.
    private(set) var error: FirnError?

    init(_ open: OpenTransaction, _ group: CommitGroup?, _ durability: Realm.Durability) {
        self.open = open
        self.group = group
        let durability = durability.ofCommits
        // Started here, so that it never depends on the thread that waits for it.
        DispatchQueue.global().async(group: work) {
            do throws(FirnError) { _ = try self.open.transaction.commit(durability: durability) } catch { self.error = error }
        }
    }

    func wait() { work.wait() }

    func whenDone(_ body: @escaping @Sendable () -> Void) { work.notify(queue: .global(), execute: body) }

    /// Waits without blocking a thread.
    func done() async {
        await withCheckedContinuation { continuation in whenDone { continuation.resume() } }
    }
}
