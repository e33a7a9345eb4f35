import FirnBytes
import FirnModel
import Foundation

/// Making a file shorter where it lies.
extension Realm {
    /// What `shrink()` has come to, in bytes.
    public struct Shrinkage: Sendable, Hashable, CustomStringConvertible {
        public let bytesBefore: Int
        public let bytesAfter: Int
        /// Deleted objects that were still in the file, and are gone.
        public let objectsDropped: Int
        /// About how much waits for realms, snapshots and frozen objects of older versions to go, in any process.
        public let waitingForReaders: Int
        /// About how much tagged versions hold.
        public let waitingForTags: Int
        /// The disk was full: the rest needs some space to begin with.
        public let ranOutOfSpace: Bool

        public var description: String {
            "\(bytesBefore) bytes before, \(bytesAfter) after" + (waitingForReaders > 0 ? ", \(waitingForReaders) wait for readers" : "")
                + (waitingForTags > 0 ? ", \(waitingForTags) are held by tags" : "") + (ranOutOfSpace ? "; the disk was full" : "")
        }
    }

    /// Makes the realm's file shorter where it lies, beside other realms and processes that read and write it: what was deleted goes, what lies at the end of the file moves into free
    /// space further down, and the end is given back. Not within a write transaction.
    ///
    /// The file stays the same file, and little free space on the disk is enough. It is a row of small durable commits without changes of objects: whenever it ends, by a crash too, the file is
    /// whole, and what was gained stays. Versions without a tag are dropped but for the two newest. What others hold stays as it is, and is given back by a later call. This realm goes on to
    /// the newest version.
    @discardableResult
    public func shrink() throws -> Shrinkage {
        core.confinement.check()
        precondition(!core.isFrozen, RealmMessage.frozen)
        precondition(!core.isInTransaction, "Cannot shrink a file within a write transaction: do it before or after.")
        guard !core.configuration.readOnly else { throw Error(.filePermissionDenied, "Can't shrink the file of a read-only Realm.") }
        if let damage { throw Error(damage) }
        try core.file.checkWaiting()
        let file = core.file
        do throws(FirnError) {
            // Versions that are not durable yet keep the file's lock.
            try file.database.settle()
            let report = try Database.shrink(path: file.database.path, key: file.database.key) { _ in
                goOn()
                try? file.database.settle()
            }
            goOn()
            return Shrinkage(report)
        } catch {
            goOn()
            throw Error(error)
        }
    }

    /// To the newest version, as all realms of this process that refresh by themselves.
    private func goOn() {
        _ = try? core.refresh()
        core.file.announce(core.version, from: core)
    }
}

extension Realm.Shrinkage {
    fileprivate init(_ report: ShrinkReport) {
        bytesBefore = Int(clamping: report.bytesBefore)
        bytesAfter = Int(clamping: report.bytesAfter)
        objectsDropped = report.rowsDropped
        waitingForReaders = Int(clamping: report.waitingForReaders)
        waitingForTags = Int(clamping: report.waitingForTags)
        ranOutOfSpace = report.ranOutOfSpace
    }
}
