import FirnCodecs
import FirnDisk
import FirnTable
import FirnThreads

/// How a file is shortened in place.
package struct ShrinkOptions: Sendable {
    package var profile = Profile.standard
    package var threads = Processors.count
    /// The number of bytes by which the file may grow in the meantime; nil for an eighth of its size, but at least 1 MiB. If the disk has
    /// less space, less is tried.
    package var room: UInt64?

    package init() {}
}

/// The result of shortening a file in place.
package struct ShrinkReport: Hashable, Sendable {
    package var bytesBefore: UInt64 = 0
    package var bytesAfter: UInt64 = 0
    /// The bytes of data that were written, without commit records.
    package var bytesWritten: UInt64 = 0
    /// The number of commits, including those that only carry the state of space on.
    package var commits = 0
    /// The number of deleted rows that were dropped.
    package var rowsDropped = 0
    /// About how many bytes cannot be released because readers hold older versions: dead space and deleted rows.
    package var waitingForReaders: UInt64 = 0
    /// The same for tags.
    package var waitingForTags: UInt64 = 0
    /// The bytes that only the version before the newest uses. The next commits free them.
    package var waitingForVersions: UInt64 = 0
    /// The free space inside the file, which new data uses first.
    package var free: UInt64 = 0
    /// The disk was full: what needs more space is left to a later run.
    package var ranOutOfSpace = false

    package init() {}
}
