import FirnBytes
import FirnDisk

/// The versions that were committed since the file's root was written. They become durable together or not at all.
struct PendingVersions: Sendable {
    static let maximumVersions: UInt64 = 1000
    /// The maximum number of versions while threads wait for durability.
    static let maximumWaiting: UInt64 = 64
    static let maximumBytes: UInt64 = 4 << 20

    /// The root that is in the file.
    var durable: Root
    var newest: Root
    /// The newest version that readers of this process see, if it is pending.
    var visible: Root?
    /// The extents that the group wrote and that its newest version still uses, by offset.
    var listed: [UInt64: ExtentRef] = [:]
    var bytes: UInt64 = 0

    func isFull(waiting: Int) -> Bool {
        newest.version - durable.version >= (waiting > 0 ? PendingVersions.maximumWaiting : PendingVersions.maximumVersions)
            || bytes >= PendingVersions.maximumBytes
    }
}
