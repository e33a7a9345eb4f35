import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable

extension Realm {
    /// When a write returns, and which writes a crash of the machine or the program can undo. After a crash the file always opens, at a
    /// consistent version, and wrong bytes are never read.
    public enum Durability: Sendable {
        /// `write` returns when its changes are durable.
        case full
        /// As `full`, but concurrent writes of several threads share one sync, and each returns when that sync has completed. A write may
        /// wait for the writes that were in the queue when it ended. The writes of a group become durable together, or none does.
        case grouped
        /// `write` returns immediately. This process sees the new version. Other processes see it, and a crash preserves it, only when it
        /// is durable: with the next durable write, with `makeDurable()`, when the last realm of the file is released, after 4 MiB, or
        /// after one second. Until then no other process can write.
        case none

        var ofCommits: FirnDisk.Durability {
            switch self {
            case .full: .full
            case .grouped: .grouped
            case .none: .none
            }
        }
    }

    /// Makes all writes with `Durability.none` durable. Waits for a transaction of another thread. Traps within a write transaction of this
    /// realm.
    /// - Throws: `Realm.Error`.
    public func makeDurable() throws {
        core.check()
        trap(unless: !core.isInTransaction, "Can't make a transaction durable before its end: commit it first.")
        try core.file.checkWaiting()
        do { try core.file.database.settle() } catch { throw Error(error) }
    }
}
