import Firn
import FirnKit
import Foundation

/// A temporary folder for the files of realms, which is removed at the end.
final class RealmFolder: Sendable {
    private let temporary = TemporaryFolder()
    var url: URL { temporary.url }

    init() throws {}

    func file(_ name: String = "a.firn") -> URL { url.appendingPathComponent(name) }

    func configuration(_ types: [ObjectBase.Type]? = nil, version: UInt64 = 0, migration: MigrationBlock? = nil) -> Realm.Configuration {
        Realm.Configuration(fileURL: file(), schemaVersion: version, migrationBlock: migration, objectTypes: types)
    }
}
