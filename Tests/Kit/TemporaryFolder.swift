import Foundation

/// A folder of its own for one test, removed when the last reference goes.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// `inMemory`: where the machine keeps files in memory, if it does: for tests that make thousands.
    public init(inMemory: Bool = false) {
        let memory = "/dev/shm"
        let place = inMemory && FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
        path = place + "/firn-test-\(UUID().uuidString)"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { path + "/" + name }
}
