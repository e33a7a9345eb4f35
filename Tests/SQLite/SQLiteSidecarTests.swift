import FirnBytes
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

/// Logs and journals next to a database that is written: SQLite would apply them to the new database.
@Suite struct SQLiteSidecarTests {
    private let databases = Databases()
    private let schema = Schema([TypeSchema("t", columns: [ColumnSchema("a", ColumnType(.int))])])

    private func write(_ name: String, during change: () throws -> Void = {}) throws {
        let writer = try SQLiteWriter(path: databases.path(name), overwrite: true)
        try writer.begin(schema)
        try change()
        try writer.finish()
    }

    private func put(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: databases.path(name))) }

    @Test(arguments: ["-wal", "-journal", "-shm"], [true, false])
    func `a database is not written if SQLite would apply a log or a journal next to it`(ending: String, exists: Bool) throws {
        if exists { try databases.make("CREATE TABLE old (a)") }
        try put("a.db" + ending, [0xD9, 1, 2, 3])
        let before = databases.names, bytes = try? databases.bytes()
        let error = #expect(throws: FirnError.self) { try write("a.db") }
        #expect(
            error?.code == .exists && error?.message.contains("a.db\(ending)\"") == true, "\(error.map(String.init(describing:)) ?? "")")
        #expect(error?.advice?.contains("sqlite3") == exists)
        #expect(databases.names == before && (try? databases.bytes()) == bytes)
    }

    @Test func `the log next to the file that a link leads to counts`() throws {
        try databases.make("CREATE TABLE old (a)")
        try FileManager.default.createSymbolicLink(atPath: databases.path("link.db"), withDestinationPath: "a.db")
        try put("a.db-wal", [1])
        #expect(throws: FirnError.self) { try write("link.db") }
    }

    @Test func `an empty log and a journal that SQLite ignores are no obstacle`() throws {
        for bytes in [[], [UInt8](repeating: 0, count: 512)] {
            try databases.make("CREATE TABLE old (a)")
            try put("a.db-journal", bytes)
            try put("a.db-wal", [])
            try write("a.db")
            #expect(try ReadDatabase(databases.path()).schema.types.map(\.name) == ["t"])
        }
    }

    @Test func `a log that appears while a database is written leaves the old database unchanged`() throws {
        try databases.make("CREATE TABLE old (a)")
        let bytes = try databases.bytes()
        #expect(throws: FirnError.self) { try write("a.db") { try put("a.db-wal", [1]) } }
        #expect(try databases.bytes() == bytes)
        #expect(databases.names.sorted() == ["a.db", "a.db-wal"])
    }
}
