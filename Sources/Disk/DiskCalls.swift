// The seam for faults. Every call that changes a file passes here first, so that a test can record it, refuse it,
// or rebuild what a disk would hold had the machine stopped at that point. Without a script the cost is one nil check.

/// A change that a file is about to undergo. The bytes are valid only during the call that hands them over.
package enum DiskCall {
    case write(offset: UInt64, bytes: UnsafeRawBufferPointer)
    case sync
    case truncate(length: UInt64)
    case allocate(offset: UInt64, length: UInt64)
    case punch(offset: UInt64, length: UInt64)
    case rename(to: String)
    case lock

    package var name: String {
        switch self {
        case .write: "write"
        case .sync: "sync"
        case .truncate: "truncate"
        case .allocate: "allocate"
        case .punch: "punch"
        case .rename: "rename"
        case .lock: "lock"
        }
    }
}

/// Watches and steers the calls of one file. Called from whichever thread makes the call.
package protocol DiskCalls: AnyObject, Sendable {
    /// nil lets the call go on; an errno makes it fail with that code without reaching the system.
    func before(_ call: DiskCall) -> Int32?
}
