import FirnBytes
import FirnDisk

/// What a commit will write, determined before anything of it is encoded.
struct CommitPlan {
    /// Commits that wrote more than this are synced before their root is written, and list nothing.
    static let maximumListedExtents = 64
    static let maximumListedBytes: UInt64 = 256 << 10
    /// The log of commit records gets a checkpoint when it is longer than the checkpoint before, and than this.
    static let minimumLog: UInt64 = 16 << 10

    var catalogue: ExtentRef
    var time: Int64
    /// The oldest version that stays readable.
    var oldestKept: UInt64
    /// The tags and the rule for kept versions, and the extent that holds them.
    var history: KeptHistory
    var historyRef: ExtentRef
    var writesCheckpoint: Bool
    /// The number of the writer's records, from the oldest, that are dead with this version.
    var droppedRecords: Int
    /// The record of version 1 of an inline file, which did not have one before.
    var recordOfFirst: WriterState.Record?
    /// The record of the version before.
    var previous: ExtentRef
    var oldestRecord: UInt64
    /// The extents that no later version uses, and their space.
    var dead: [ExtentRef]
    var freed: [DeadRange]
    /// Whether the root is left to a later commit.
    var joinsGroup: Bool
    /// The extents that the record lists, so that one sync makes them durable together with the root; nil if they are synced before it.
    var listed: [ExtentRef]?
}

/// A version whose extents have their positions: only the root remains to be written.
struct EncodedVersion {
    var root: Root
    /// The checkpoint that the next writer begins from.
    var checkpoint: WriterState.Checkpoint
}
