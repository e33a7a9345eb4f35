import Foundation

/// A folder for one test, which is removed with its last reference: the only temporary folder of the tests. `Scratch`, `RealmFolder` and
/// `TemporaryRealm` of some modules are this folder with the calls of the module.
///
/// It is in memory where the system has enough of it (`/dev/shm`), because a sync of a disk takes milliseconds and the tests make hundreds of
/// thousands. Tests of the disk itself ask for a folder on the disk. `SmallDisk` is another thing: a file system of its own, which can be full.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// A folder in memory if the system has one with enough free space, else the folder for temporary files. Containers often have only 64
    /// MB in memory, which is not enough for all tests that run at the same time.
    private static let memory: String = {
        let folder = "/dev/shm", free = try? FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? NSNumber
        return FileManager.default.isWritableFile(atPath: folder) && (free?.intValue ?? 0) >= 1 << 30 ? folder : disk
    }()

    private static let disk = FileManager.default.temporaryDirectory.path

    public init(onDisk: Bool = false) {
        path = (onDisk ? TemporaryFolder.disk : TemporaryFolder.memory) + "/firn-test-\(UUID().uuidString)"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// A folder that another process finds by its name.
    public init(named name: String) {
        path = TemporaryFolder.path(named: name)
        try? FileManager.default.removeItem(atPath: path)
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    public static func path(named name: String) -> String { disk + "/firn-test-" + name }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

    public func file(_ name: String) -> String { path + "/" + name }

    /// The names of the files in it, sorted.
    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}
