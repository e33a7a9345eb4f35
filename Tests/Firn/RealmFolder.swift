import Firn
import Foundation

/// A temporary folder for the files of realms, which is removed at the end.
final class RealmFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("firn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String = "a.firn") -> URL { url.appendingPathComponent(name) }

    func configuration(_ types: [ObjectBase.Type]? = nil, version: UInt64 = 0, migration: MigrationBlock? = nil) -> Realm.Configuration {
        Realm.Configuration(fileURL: file(), schemaVersion: version, migrationBlock: migration, objectTypes: types)
    }
}
