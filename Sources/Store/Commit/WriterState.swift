import FirnBytes
import FirnDisk

/// What the writer knows of the file. Only the writer uses it: the thread between `begin` and the end of its transaction. No other process
/// changes the file while the writer holds the lock.
struct WriterState {
    typealias Record = (version: UInt64, ref: ExtentRef, time: Int64)
    typealias Checkpoint = (version: UInt64, ref: ExtentRef)

    /// The maximum of `usualUnits`.
    static let maximumUsualUnits: UInt64 = 1024

    /// The state of space of the newest version; nil if it must be read from the file.
    var space: SpaceState?
    /// The commit records that kept versions or the next writer need, oldest first.
    var records: [Record] = []
    var history = KeptHistory()
    var historyRef = ExtentRef.none
    /// The tags of the durable version, while later versions are pending: a crash returns the file to it.
    var durableTags: [Tag] = []
    var checkpoint: Checkpoint = (0, .none)
    /// The total length of the commit records since the checkpoint.
    var logBytes: UInt64 = 0
    /// The length of the file in bytes.
    var length: UInt64 = 0
    /// The slot of the root that was rejected at opening no longer holds it.
    var hasClearedRejected = false
    /// Whether the search for a lost newer version has already been done.
    var hasLookedForLost = false
    /// The identity of the open file in the file system.
    var identity: FileFacts.Identity?
    /// The units that the last commit wrote, if it was small: the next one looks for that many adjacent free units.
    var usualUnits: UInt64 = 0
    /// The file before its first commit, if it has no name yet.
    var replacement: Replacement?

    /// Records that bytes up to `end` are about to be written.
    mutating func extend(to end: UInt64) { length = max(length, end) }

    /// Forgets the state of space and history: the next writer reads them from the file.
    mutating func forget() {
        space = nil
        (records, checkpoint, logBytes) = ([], (0, .none), 0)
        (history, historyRef) = (KeptHistory(), .none)
    }
}
