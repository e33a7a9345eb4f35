import CFirn
import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable

/// An open file.
final class CDatabase: CReader {
    let process = MakingProcess()
    let database: Database
    let path: CText
    let notice: CText?

    init(_ database: Database) {
        self.database = database
        path = CText(database.path)
        notice = database.fallback.map {
            CText("\($0.what), at byte \($0.offset): an older version may have been read; 'firn verify' reports the damage")
        }
    }
}

/// A version of a file.
final class CSnapshot: CReader {
    let process = MakingProcess()
    let snapshot: DatabaseSnapshot
    let types: [(name: String, text: CText)]

    init(_ snapshot: DatabaseSnapshot) {
        self.snapshot = snapshot
        types = snapshot.schema.roots.map { ($0.name, CText($0.name)) }
    }

    /// The error for a type that a file does not have, with the nearest name or all names.
    static func missingType(_ name: String, among known: [String], path: String) -> FirnError {
        let some = known.map { "\"\($0)\"" }.listed()
        let list = known.isEmpty ? "the file has no types" : known.count == 1 ? "its type is \(some)" : "its types are \(some)"
        return FirnError(
            .notFound, "there is no type \"\(name)\"", at: .init(file: path),
            advice: Suggestion.nearest(to: name, among: known).map { "did you mean \"\($0)\"? \(list)" } ?? list)
    }
}

/// `firn_open` of `firn.h`.
@_cdecl("firn_open")
public func firnOpen(
    _ path: UnsafePointer<CChar>?, _ key: UnsafeRawPointer?, _ keyBytes: Int, _ out: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let path = try text(path, "the path")
        let keys = try keyRing(key, keyBytes)
        do throws(FirnError) {
            out?.pointee = CDatabase(try keys.open(path: path)).retained
        } catch {
            throw error.forCallers
        }
    }
}

/// Returns the key that a caller passed, and that of the environment.
func keyRing(_ key: UnsafeRawPointer?, _ count: Int) throws(FirnError) -> KeyRing {
    var given: EncryptionKey?
    if let key {
        let bytes = Array(UnsafeRawBufferPointer(start: key, count: max(0, min(count, 1 << 16))))
        guard let written = EncryptionKey(written: bytes) else { throw KeyRing.malformed("the argument") }
        given = written
    }
    return KeyRing(given: given, ambient: Machine.environment(KeyRing.variable))
}

extension FirnError {
    /// The error without advice about flags of the command.
    var forCallers: FirnError {
        var error = self
        switch code {
        case .encrypted: error.advice = "pass its key, or set the environment variable \(KeyRing.variable)"
        case .notEncrypted: error.advice = "open it without a key"
        default: break
        }
        return error
    }
}

/// `firn_database_path` of `firn.h`.
@_cdecl("firn_database_path")
public func firnDatabasePath(_ database: OpaquePointer?) -> UnsafePointer<CChar>? { CDatabase.at(database)?.path.pointer }

/// `firn_database_notice` of `firn.h`.
@_cdecl("firn_database_notice")
public func firnDatabaseNotice(_ database: OpaquePointer?) -> UnsafePointer<CChar>? { CDatabase.at(database)?.notice?.pointer }

/// `firn_database_check` of `firn.h`.
@_cdecl("firn_database_check")
public func firnDatabaseCheck(_ database: OpaquePointer?, _ error: ErrorOut) -> Int32 {
    attempt(error) { () throws(FirnError) in try CDatabase.reading(database, "database").database.checkPath() }
}

/// `firn_database_close` of `firn.h`.
@_cdecl("firn_database_close")
public func firnDatabaseClose(_ database: OpaquePointer?) { CDatabase.releaseHere(database) }

/// `firn_snapshot_open` of `firn.h`.
@_cdecl("firn_snapshot_open")
public func firnSnapshotOpen(
    _ database: OpaquePointer?, _ version: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let database = try CDatabase.reading(database, "database").database
        let snapshot = version == nil ? try database.snapshot() : try database.snapshot(at: try text(version, "the version"))
        out?.pointee = CSnapshot(snapshot).retained
    }
}

/// `firn_snapshot_version` of `firn.h`.
@_cdecl("firn_snapshot_version")
public func firnSnapshotVersion(_ snapshot: OpaquePointer?) -> UInt64 { CSnapshot.at(snapshot)?.snapshot.version ?? 0 }

/// `firn_snapshot_time` of `firn.h`.
@_cdecl("firn_snapshot_time")
public func firnSnapshotTime(_ snapshot: OpaquePointer?) -> Int64 { CSnapshot.at(snapshot)?.snapshot.time ?? 0 }

/// `firn_snapshot_type_count` of `firn.h`.
@_cdecl("firn_snapshot_type_count")
public func firnSnapshotTypeCount(_ snapshot: OpaquePointer?) -> Int { CSnapshot.at(snapshot)?.types.count ?? 0 }

/// `firn_snapshot_type_name` of `firn.h`.
@_cdecl("firn_snapshot_type_name")
public func firnSnapshotTypeName(_ snapshot: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
    guard let types = CSnapshot.at(snapshot)?.types, types.indices.contains(index) else { return nil }
    return types[index].text.pointer
}

/// `firn_snapshot_free` of `firn.h`.
@_cdecl("firn_snapshot_free")
public func firnSnapshotFree(_ snapshot: OpaquePointer?) { CSnapshot.releaseHere(snapshot) }
