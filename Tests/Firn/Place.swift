import Firn
import Foundation

/// A temporary folder, which is removed at the end.
final class Place: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("firn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String = "a.firn") -> URL { folder.appendingPathComponent(name) }

    func configuration(_ types: [ObjectBase.Type]? = nil, version: UInt64 = 0, migration: MigrationBlock? = nil) -> Realm.Configuration {
        Realm.Configuration(fileURL: file(), schemaVersion: version, migrationBlock: migration, objectTypes: types)
    }
}
