// The interface for fault injection. Every system call that a store depends on passes through it, so that a test can record it, refuse it,
// or reconstruct what a disk would hold if the machine had stopped there. Without a script the cost is one nil check.

/// A call that is about to be made. Its bytes are valid only during `DiskCalls.before`.
package enum DiskCall {
    // Calls for a file.
    case open(path: String, creates: Bool, empties: Bool)
    case status
    case read(offset: UInt64, count: Int)
    case map(length: Int)
    /// An allocation of memory whose failure is an error.
    case memory(bytes: Int)
    case write(offset: UInt64, bytes: UnsafeRawBufferPointer)
    case sync
    case truncate(length: UInt64)
    case allocate(offset: UInt64, length: UInt64)
    case lock
    // Calls for names.
    case link(from: String, to: String)
    case rename(from: String, to: String)
    case remove(path: String)
    case syncDirectory(path: String)

    /// The name of the call, for journals and messages.
    package var name: String {
        switch self {
        case .open: "open"
        case .status: "status"
        case .read: "read"
        case .map: "map"
        case .memory: "memory"
        case .write: "write"
        case .sync: "sync"
        case .truncate: "truncate"
        case .allocate: "allocate"
        case .lock: "lock"
        case .link: "link"
        case .rename: "rename"
        case .remove: "remove"
        case .syncDirectory: "syncDirectory"
        }
    }
}

/// Observes and controls calls. It is called on the thread that makes the call.
package protocol DiskCalls: AnyObject, Sendable {
    /// Decides about a call before it is made. Returning nil lets it proceed; returning an errno makes it fail with that code without
    /// reaching the system; returning 0 makes it succeed without reaching the system (syncs only). `file` is the unique number of the open
    /// file, or 0 for calls about names.
    func before(_ call: DiskCall, of file: UInt64) -> Int32?
}
