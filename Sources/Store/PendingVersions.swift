import FirnBytes
import FirnDisk

/// Versions that were committed since the file's root was written. All of them become durable together, or none does.
struct PendingVersions: Sendable {
    static let mostVersions: UInt64 = 1000
    /// Of those that somebody waits for.
    static let mostWaiting: UInt64 = 64
    static let mostBytes: UInt64 = 4 << 20

    /// What the file says.
    var durable: Root
    var newest: Root
    /// The newest that readers of this program see, if it is none of the file's.
    var visible: Root?
    /// What they wrote that the newest of them holds, by its place.
    var listed: [UInt64: ExtentRef] = [:]
    var bytes: UInt64 = 0

    func isFull(waiting: Int) -> Bool {
        newest.version - durable.version >= (waiting > 0 ? PendingVersions.mostWaiting : PendingVersions.mostVersions) || bytes >= PendingVersions.mostBytes
    }
}
