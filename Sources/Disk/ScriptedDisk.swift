import Synchronization

/// Folders whose calls follow a script: all files that are opened there, and all names that are given there, by whomever.
package enum ScriptedDisk {
    private static let count = Atomic<Int>(0)
    private static let numbers = Atomic<UInt64>(0)
    private static let scripts: Mutex<[String: any DiskCalls]> = Mutex([:])

    /// From here on, until `end`, `calls` sees what is done in the folder (not in those within).
    package static func begin(in folder: String, _ calls: any DiskCalls) {
        scripts.withLock {
            $0[folder] = calls
            count.store($0.count, ordering: .releasing)
        }
    }

    /// Files that are open keep their script.
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

    /// A number for an open file.
    static func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }
}
