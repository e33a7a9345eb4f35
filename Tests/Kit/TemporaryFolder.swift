import Foundation

/// A folder of its own for one test, removed when the last reference goes.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// Where the machine keeps files in memory, if it does and has room there, else where it keeps temporary ones. Containers often have 64
    /// MB: too few for all that runs at once.
    public static let memory: String = {
        let place = "/dev/shm", free = try? FileManager.default.attributesOfFileSystem(forPath: place)[.systemFreeSize] as? NSNumber
        return FileManager.default.isWritableFile(atPath: place) && (free?.intValue ?? 0) >= 256 << 20
            ? place : FileManager.default.temporaryDirectory.path
    }()

    /// `inMemory`: for tests that make thousands of files.
    public init(inMemory: Bool = false) {
        let place = inMemory ? TemporaryFolder.memory : FileManager.default.temporaryDirectory.path
        path = place + "/firn-test-\(UUID().uuidString)"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { path + "/" + name }
}
