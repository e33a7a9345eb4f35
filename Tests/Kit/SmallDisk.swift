import Foundation

/// A small disk in memory that can be filled completely. Requires root.
public struct SmallDisk {
    private let folder = TemporaryFolder()
    public var path: String { folder.path }

    public func file(_ name: String) -> String { folder.file(name) }

    /// Enlarges the disk. Returns false if this is not possible.
    public func grow(to size: String = "4m") -> Bool { SmallDisk.run("mount", "-o", "remount,size=\(size)", path) }

    /// Calls the body with such a disk and removes it afterwards. Prints a notice and does nothing if the disk cannot be created.
    public static func with(size: String = "256k", _ body: (SmallDisk) throws -> Void) throws {
        let disk = SmallDisk()
        guard run("mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", disk.path) else {
            return print("skipped: no tmpfs can be mounted here")
        }
        defer { _ = run("umount", "-l", disk.path) }
        try body(disk)
    }

    private static func run(_ words: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.wait()
        return process.terminationStatus == 0
    }
}
