import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// The extension in the sqlite3 shell, if there is a shell.
@Suite struct ExtensionTests {
    /// SwiftPM builds it in the folder of the test bundle.
    private static let library: String? = {
        var candidates: [URL] = []
        for argument in CommandLine.arguments.prefix(3) {
            var folder = URL(filePath: argument).deletingLastPathComponent()
            for _ in 0..<4 {
                candidates.append(folder.appending(path: "libfirn_sqlite.so"))
                folder = folder.deletingLastPathComponent()
            }
        }
        candidates.append(
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../.build/debug/libfirn_sqlite.so").standardized)
        return candidates.first { FileManager.default.fileExists(atPath: $0.path) }?.path
    }()

    private static let shell = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Returns what the shell prints for the statements. Prints a notice and returns nil if there is no shell or no extension.
    private func shell(_ statements: [String], in folder: TemporaryFolder, loading: Bool = true) throws -> (
        out: String, errors: String, crashed: Bool
    )? {
        guard let shell = Self.shell, let library = Self.library else {
            print("skipped: \(Self.shell == nil ? "there is no sqlite3 shell" : "libfirn_sqlite.so is not built") here")
            return nil
        }
        let process = Process()
        process.executableURL = URL(filePath: shell)
        process.arguments = [":memory:"] + (loading ? [".load \(library.dropLast(".so".count))"] : []) + statements
        process.currentDirectoryURL = URL(filePath: folder.path)
        // An extension built with a sanitizer needs the sanitizer's library in the program; `Tools/sanitize` sets its path.
        var environment = ProcessInfo.processInfo.environment
        if let functions = environment["FIRN_SHELL_PRELOAD"] { environment["LD_PRELOAD"] = functions }
        process.environment = environment
        let out = folder.file("out"), errors = folder.file("errors")
        for path in [out, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        process.standardOutput = FileHandle(forWritingAtPath: out)
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
        process.wait()
        return (
            try String(contentsOfFile: out, encoding: .utf8), try String(contentsOfFile: errors, encoding: .utf8),
            process.terminationReason == .uncaughtSignal
        )
    }

    private func sample(_ folder: TemporaryFolder) throws {
        let person = TypeSchema(
            "Person", columns: [ColumnSchema("id", ColumnType(.int), id: 0), ColumnSchema("name", ColumnType(.string), id: 1)], key: [0])
        let dog = TypeSchema(
            "Dog",
            columns: [
                ColumnSchema("name", ColumnType(.string), id: 0),
                ColumnSchema("owner", ColumnType(.link, optional: true, target: "Person"), id: 1),
            ])
        let transaction = try Database.create(path: folder.file("dogs.firn")).begin()
        try transaction.extendSchema([person, dog])
        let ada = try transaction.insert("Person", [.int(1), .string("Ada")])
        _ = try transaction.insert("Dog", [.string("Rex"), .link(ada)])
        _ = try transaction.insert("Dog", [.string("Bo"), .null])
        try transaction.commit()
    }

    @Test func `a table of a file can be created in the shell`() throws {
        let folder = TemporaryFolder()
        try sample(folder)
        guard
            let run = try shell(
                [
                    "CREATE VIRTUAL TABLE d USING firn('dogs.firn', 'Dog')", "SELECT name, owner FROM d ORDER BY name",
                    "SELECT name FROM d WHERE owner = 1",
                ], in: folder)
        else { return }
        #expect(run.out == "Bo|\nRex|1\nRex\n" && run.errors.isEmpty && !run.crashed, "\(run)")
    }

    @Test func `firn_open makes a table of each type of a file`() throws {
        let folder = TemporaryFolder()
        try sample(folder)
        guard
            let run = try shell(
                [
                    "SELECT firn_open('dogs.firn')", "SELECT d.name, p.name FROM Dog d JOIN Person p ON d.owner = p.id",
                    "SELECT firn_open('dogs.firn@1', 'old_')",
                    "SELECT count(*) FROM old_Dog NATURAL JOIN Dog",
                ], in: folder)
        else { return }
        #expect(run.out == "2\nRex|Ada\n2\n1\n" && run.errors.isEmpty && !run.crashed, "\(run)")
    }

    @Test func `a type with more columns than SQLite supports is an error that states this`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("wide.firn")), transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("Wide", columns: (0..<40_000).map { ColumnSchema("c\($0)", ColumnType(.int)) })])
        try transaction.commit()
        guard let run = try shell(["CREATE VIRTUAL TABLE x USING firn('wide.firn')"], in: folder) else { return }
        #expect(
            run.errors.contains("\"Wide\" has 40000 columns, and a table of SQLite has at most ") && run.out.isEmpty && !run.crashed,
            "\(run)")
    }

    @Test func `a file that cannot be opened is an error with the reason`() throws {
        let folder = TemporaryFolder()
        try sample(folder)
        try Data("hello".utf8).write(to: URL(filePath: folder.file("text.firn")))
        for (statement, reason) in [
            ("CREATE VIRTUAL TABLE x USING firn('none.firn')", "none.firn"),
            ("CREATE VIRTUAL TABLE x USING firn('dogs.firn')", "several types: Person, Dog"),
            ("CREATE VIRTUAL TABLE x USING firn()", "firn takes a file"),
            ("CREATE VIRTUAL TABLE x USING firn('dogs.firn', 'Cat')", "no type \"Cat\""), ("SELECT firn_open('text.firn')", "text.firn"),
            ("SELECT firn_open(5)", "firn_open takes a file"), ("SELECT * FROM firn", "no such table"),
        ] {
            guard let run = try shell([statement], in: folder) else { return }
            #expect(run.errors.contains(reason) && run.out.isEmpty && !run.crashed, "\(statement): \(run)")
        }
        guard let write = try shell(["SELECT firn_open('dogs.firn')", "DELETE FROM Dog"], in: folder) else { return }
        #expect(write.errors.contains("may not be modified"), "\(write)")
    }

    @Test func `the extension adds one module and one function, and does not change settings of the connection`() throws {
        let folder = TemporaryFolder()
        try sample(folder)
        let questions = [
            ".dbconfig", ".limit", "PRAGMA hard_heap_limit", "PRAGMA trusted_schema", "PRAGMA temp_store",
            "SELECT name, narg, flags FROM pragma_function_list WHERE name <> 'firn_open' ORDER BY 1, 2, 3",
            "SELECT name FROM pragma_module_list WHERE name <> 'firn' ORDER BY 1",
        ]
        guard let loaded = try shell(["SELECT firn_open('dogs.firn') > 0"] + questions, in: folder),
            let plain = try shell(["SELECT 1"] + questions, in: folder, loading: false)
        else { return }
        #expect(loaded.out == plain.out && loaded.errors == plain.errors && loaded.out.contains("defensive"), "\(loaded)\(plain)")
    }

    @Test func `views and triggers in a database file cannot open files through the extension, but temporary ones can`() throws {
        let folder = TemporaryFolder()
        try sample(folder)
        let make = "CREATE VIRTUAL TABLE d USING firn('dogs.firn', 'Dog')"
        guard let stored = try shell([make, "CREATE VIEW v AS SELECT name FROM d", "SELECT * FROM v"], in: folder) else { return }
        #expect(stored.errors.contains("unsafe use of virtual table") && stored.out.isEmpty, "\(stored)")
        guard
            let trigger = try shell(
                [
                    make, "CREATE TABLE a(x)", "CREATE TRIGGER g AFTER INSERT ON a BEGIN INSERT INTO a SELECT name FROM d; END",
                    "INSERT INTO a VALUES (1)",
                ], in: folder)
        else { return }
        #expect(trigger.errors.contains("unsafe use of virtual table"), "\(trigger)")
        guard let temporary = try shell([make, "CREATE TEMP VIEW v AS SELECT name FROM d", "SELECT * FROM v ORDER BY 1"], in: folder) else {
            return
        }
        #expect(temporary.out == "Bo\nRex\n" && temporary.errors.isEmpty, "\(temporary)")
    }
}
