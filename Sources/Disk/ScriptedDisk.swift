import Synchronization

/// Folders in which a script controls all system calls: for files that are opened there, and names that are changed there, by any part of
/// the process.
package enum ScriptedDisk {
    private static let count = Atomic<Int>(0)
    private static let numbers = Atomic<UInt64>(0)
    private static let scripts: Mutex<[String: any DiskCalls]> = Mutex([:])

    /// Passes calls in the folder (not in its subfolders) to `calls` until `end`.
    package static func begin(in folder: String, _ calls: any DiskCalls) {
        scripts.withLock {
            $0[folder] = calls
            count.store($0.count, ordering: .releasing)
        }
    }

    /// Ends the script of a folder. Files that are open keep their script.
    package static func end(in folder: String) {
        scripts.withLock {
            $0[folder] = nil
            count.store($0.count, ordering: .releasing)
        }
    }

    static func calls(at path: String) -> (any DiskCalls)? {
        if count.load(ordering: .acquiring) == 0 { return nil }
        let folder = Paths.directory(of: path)
        return scripts.withLock { $0[folder] }
    }

    /// Returns a new number for an open file.
    static func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }
}
