import FirnBytes
import FirnDatabase
import Foundation

/// Making a file shorter in place.
extension Realm {
    /// The result of `shrink()`, in bytes.
    public struct Shrinkage: Sendable, Hashable, CustomStringConvertible {
        /// The size of the file before.
        public let bytesBefore: Int
        /// The size of the file after.
        public let bytesAfter: Int
        /// The number of deleted objects that were still stored and were removed.
        public let objectsDropped: Int
        /// About how many bytes are held by realms, snapshots and frozen objects of older versions, in any process.
        public let waitingForReaders: Int
        /// About how many bytes are held by tagged versions.
        public let waitingForTags: Int
        /// True if the disk was full: shrinking needs some free space.
        public let ranOutOfSpace: Bool

        /// The sizes as text. The bytes that readers or tags hold, and a full disk, are included only where there are any.
        public var description: String {
            "\(bytesBefore) bytes before, \(bytesAfter) after" + (waitingForReaders > 0 ? ", \(waitingForReaders) wait for readers" : "")
                + (waitingForTags > 0 ? ", \(waitingForTags) are held by tags" : "") + (ranOutOfSpace ? "; the disk was full" : "")
        }
    }

    /// Makes the realm's file shorter in place, while other realms and processes read and write it: removes deleted objects, moves extents
    /// from the end of the file to free space before them, and truncates the file. Traps within a write transaction.
    ///
    /// The file remains the same file, and little free disk space is enough. Shrinking is a series of small durable commits that change no
    /// objects: if it is interrupted, even by a crash, the file is intact and keeps what was gained. Versions without a tag are dropped
    /// except for the two newest. Space that others hold is not released; a later call does this. This realm moves to the newest version.
    /// - Throws: `Realm.Error`.
    @discardableResult
    public func shrink() throws -> Shrinkage {
        core.check()
        trap(unless: !core.isFrozen, RealmMessage.frozen)
        trap(unless: !core.isInTransaction, "Cannot shrink a file within a write transaction: do it before or after.")
        guard !core.configuration.readOnly else { throw Error(.filePermissionDenied, "Can't shrink the file of a read-only Realm.") }
        if let damage { throw Error(damage) }
        try core.file.checkWaiting()
        let file = core.file
        do {
            // Versions that are not durable yet hold the file's lock.
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

    /// Moves this realm, and all realms of this process with `autorefresh`, to the newest version.
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
