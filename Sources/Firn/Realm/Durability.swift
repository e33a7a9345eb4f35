import FirnBytes
import FirnDisk
import FirnModel

extension Realm {
    /// When a write returns, and what a crash of the machine or the program may take. Whichever it is, a file always opens, at a version that is whole:
    /// wrong bytes are never read.
    public enum Durability: Sendable {
        /// What was written is durable when `write` returns.
        case full
        /// The same, for writes of several threads at a time: they share one sync, and each returns when it is made. A write may wait for those that
        /// were waiting for their turn when it ended. All of a group become durable together, or none does.
        case grouped
        /// `write` returns at once. This program sees the version; other processes see it, and a crash leaves it, once it is durable: with the next
        /// write that is, with `makeDurable()`, when the last realm of the file is let go of, after 4 MiB, or a second later. Until then no other
        /// process can write.
        case none

        var ofCommits: FirnDisk.Durability {
            switch self {
            case .full: .full
            case .grouped: .grouped
            case .none: .none
            }
        }
    }

    /// Makes durable what was written without that (`Durability.none`). Waits for a transaction of another thread; not to be called within one.
    public func makeDurable() throws {
        core.confinement.check()
        precondition(!core.isInTransaction, "Can't make a transaction durable before its end: commit it first.")
        try core.file.checkWaiting()
        do throws(FirnError) { try core.file.database.settle() } catch { throw Error(error) }
    }
}
