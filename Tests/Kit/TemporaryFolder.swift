import Foundation

/// A folder for one test, which is removed with its last reference.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// A folder in memory if the system has one with enough free space, else the folder for temporary files. Containers often have only 64
    /// MB in memory, which is not enough for all tests that run at the same time.
    public static let memory: String = {
        let folder = "/dev/shm", free = try? FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? NSNumber
        return FileManager.default.isWritableFile(atPath: folder) && (free?.intValue ?? 0) >= 256 << 20
            ? folder : FileManager.default.temporaryDirectory.path
    }()

    /// `inMemory`: for tests that create thousands of files.
    public init(inMemory: Bool = false) {
        let folder = inMemory ? TemporaryFolder.memory : FileManager.default.temporaryDirectory.path
        path = folder + "/firn-test-\(UUID().uuidString)"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { path + "/" + name }
}
