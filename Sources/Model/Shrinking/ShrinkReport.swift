import FirnCodecs
import FirnDisk

/// How a file is made shorter in place.
package struct ShrinkOptions: Sendable {
    package var profile = Profile.standard
    package var threads = Machine.cores
    /// Bytes by which the file may get longer in between; nil: an eighth of it, at least a mebibyte. Where the disk has less, it is tried with less.
    package var room: UInt64?

    package init() {}
}

/// What shrinking a file in place has come to.
package struct ShrinkReport: Hashable, Sendable {
    package var bytesBefore: UInt64 = 0
    package var bytesAfter: UInt64 = 0
    /// Bytes of data that were written, commit records aside.
    package var bytesWritten: UInt64 = 0
    package var commits = 0
    /// Deleted rows that are gone.
    package var rowsDropped = 0
    /// About how many bytes wait for somebody who reads an older version to go on: dead space, and deleted rows.
    package var waitingForReaders: UInt64 = 0
    /// The same, for tags to be taken away.
    package var waitingForTags: UInt64 = 0
    /// What the version before the newest has: the next commits free it.
    package var waitingForVersions: UInt64 = 0
    /// Free space inside the file, which new data takes first.
    package var free: UInt64 = 0
    /// The disk was full: what could not be done without more space is left to another time.
    package var ranOutOfSpace = false

    package init() {}
}
