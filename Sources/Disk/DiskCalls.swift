// The seam for faults. Every call to the system that a store depends on passes here first, so that a test can record it, refuse it, or rebuild what
// a disk would hold had the machine stopped at that point. Without a script the cost is one nil check.

/// A call that is about to be made. The bytes are valid only during the call that hands them over.
package enum DiskCall {
    // Of a file.
    case open(path: String, creates: Bool, empties: Bool)
    case status
    case read(offset: UInt64, count: Int)
    case map(length: Int)
    /// Memory that the system is asked for by itself.
    case memory(bytes: Int)
    case write(offset: UInt64, bytes: UnsafeRawBufferPointer)
    case sync
    case truncate(length: UInt64)
    case allocate(offset: UInt64, length: UInt64)
    case punch(offset: UInt64, length: UInt64)
    case lock
    // Of names.
    case link(from: String, to: String)
    case rename(from: String, to: String)
    case remove(path: String)
    case syncDirectory(path: String)

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
        case .punch: "punch"
        case .lock: "lock"
        case .link: "link"
        case .rename: "rename"
        case .remove: "remove"
        case .syncDirectory: "syncDirectory"
        }
    }
}

/// Watches and steers calls. Called from whichever thread makes the call.
package protocol DiskCalls: AnyObject, Sendable {
    /// nil lets the call go on; an errno makes it fail with that code without reaching the system; 0 makes it succeed without reaching it (syncs alone).
    /// `file`: which open file it is, a number that no other has; 0 for calls about names.
    func before(_ call: DiskCall, of file: UInt64) -> Int32?
}
