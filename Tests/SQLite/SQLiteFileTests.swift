import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

/// Files that are damaged, locked or hostile.
@Suite struct SQLiteFileTests {
    private let databases = Databases()
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Tools/fuzz/corpus/sqlite")
        .standardized

    private func corpus(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: SQLiteFileTests.corpus.appending(path: "\(name).db")))
    }

    private func read(_ bytes: [UInt8]) -> Result<ReadDatabase, FirnError> {
        do throws(FirnError) {
            return .success(
                try ReadDatabase(Input(bytes: bytes, name: "in.db")) {
                    $0.readsLinks = true
                    $0.readsInternal = true
                    $0.budget = MemoryBudget(limit: 256 << 20)
                })
        } catch { return .failure(error) }
    }

    @Test func `a database cut at any byte is an error, never an empty or shorter result`() throws {
        for name in ["plain", "keys"] {
            let whole = try corpus(name)
            guard case .success = read(whole) else { throw FirnError(.usage, "the whole file is read") }
            for length in 1..<whole.count {
                guard case .failure(let error) = read(Array(whole[..<length])) else {
                    Issue.record("\(name) cut after \(length) bytes: no error"); continue
                }
                #expect(error.code == .damaged || length < 16 && error.code == .notThisFormat, "\(length): \(error)")
                #expect(error.location?.file == "in.db")
            }
        }
    }

    @Test func `flipped bits are an error with the file, or rows`() throws {
        for name in ["plain", "keys", "virtual", "utf16"] {
            let whole = try corpus(name)
            for seed in Seed.first(150) {
                var random = Random(seed: seed.number), bytes = whole
                for _ in 0..<Int(random.next() % 3) + 1 {
                    bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
                }
                guard case .failure(let error) = read(bytes) else { continue }
                let known: [FirnError.Code] = [.damaged, .notThisFormat, .unsupported, .outOfMemory, .inputOutput]
                #expect(known.contains(error.code) && error.location?.file == "in.db" && !error.message.isEmpty, "\(seed) \(error)")
            }
        }
    }

    @Test func `damage is reported with the table and the row id`() throws {
        let path = try databases.make(
            """
            PRAGMA page_size = 512; CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO people SELECT i, 'name ' || i FROM n;
            """)
        var bytes = try databases.bytes()
        // A leaf in the middle of the table loses its kind.
        let leaf = try #require(stride(from: 512 * 6, to: bytes.count, by: 512).first { bytes[$0] == 13 })
        bytes[leaf] = 99
        try Data(bytes).write(to: URL(filePath: path))
        do throws(FirnError) {
            _ = try ReadDatabase(path)
            Issue.record("no error")
        } catch {
            #expect(error.code == .damaged && error.message.contains("table \"people\", after row id "), "\(error)")
        }
    }

    @Test func `a record whose values are shorter than it is damaged`() throws {
        let path = try databases.make(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL, c TEXT); INSERT INTO t VALUES (1, 'AAAAAAAAAA', 1.5, 'CCCC'), (2, 'x', 2.5, 'y');"
        )
        let intact = try databases.bytes()
        // The type of the text of ten letters, in the header of its record.
        let text = try #require(intact.indices.first { intact[$0...].starts(with: Array("AAAAAAAAAA".utf8)) })
        let type = try #require(intact[..<text].lastIndex(of: 33))
        for wrong in [31, 17, 0, 35] as [UInt8] {
            var bytes = intact
            bytes[type] = wrong
            try Data(bytes).write(to: URL(filePath: path))
            do throws(FirnError) {
                _ = try ReadDatabase(path)
                Issue.record("no error for type \(wrong)")
            } catch { #expect(error.code == .damaged, "\(wrong): \(error)") }
        }
    }

    @Test func `other files are refused by their content`() throws {
        for (bytes, code) in [
            (Array("a,b\n1,2\n".utf8), FirnError.Code.notThisFormat), (Array("SQLite format 3\0".utf8), .damaged),
            ([UInt8](repeating: 0xA5, count: 4096), .notThisFormat), (Array("SQLi".utf8), .notThisFormat),
        ] {
            guard case .failure(let error) = read(bytes) else { Issue.record("no error"); continue }
            #expect(error.code == code, "\(error)")
        }
    }

    @Test func `a schema that is no SQL, or that calls what it must not, is an error`() throws {
        let path = try databases.make(
            """
            CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT load_extension('/tmp/x') AS a; CREATE VIEW w AS SELECT * FROM
            pragma_journal_mode; CREATE TABLE g (a INT, b TEXT AS (upper(a))); INSERT INTO g (a) VALUES (5);
            """)
        for name in ["v", "w"] {
            do throws(FirnError) {
                let read = try ReadDatabase(path) { $0.wanted = name }
                Issue.record("\(name): no error, \(read.rows)")
            } catch { #expect(error.message.contains("view \"\(name)\""), "\(error)") }
        }
        #expect(try ReadDatabase(path).rows["g"] == [[.int(5), .string("5")]])
        let broken = try databases.make(
            "CREATE TABLE t (a INT); PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE t (a INT, ' WHERE name = 't'",
            "b.db")
        do throws(FirnError) {
            _ = try ReadDatabase(broken)
            Issue.record("no error")
        } catch { #expect(error.code == .damaged && error.message.contains("malformed database schema"), "\(error)") }
    }

    @Test func `a large value counts towards the memory limit`() throws {
        let path = try databases.make("CREATE TABLE t (a BLOB); INSERT INTO t VALUES (randomblob(20000000))")
        do throws(FirnError) {
            _ = try ReadDatabase(path) { $0.budget = MemoryBudget(limit: 16 << 20) }
            Issue.record("no error")
        } catch { #expect(error.code == .outOfMemory && error.message.contains("table \"t\""), "\(error)") }
        #expect(try ReadDatabase(path) { $0.budget = MemoryBudget(limit: 256 << 20) }.rows["t"]?.count == 1)
    }

    @Test func `a database with a write-ahead log is read, without files next to it`() throws {
        let path = try databases.make(
            """
            PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2);
            """)
        #expect(databases.names == ["a.db"])
        #expect(try ReadDatabase(path).rows["t"]?.count == 2)
        #expect(databases.names == ["a.db"])
        // The same bytes from a pipe.
        #expect(try ReadDatabase(Input(bytes: databases.bytes(), name: "standard input")).rows["t"]?.count == 2)
        // A writer that has not finished: its log is read.
        let writer = try SQLiteConnection(writing: path, named: "a.db")
        try writer.execute(
            "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; INSERT INTO t VALUES (3); BEGIN; INSERT INTO t VALUES (4)")
        #expect(databases.names.contains("a.db-wal"))
        #expect(try ReadDatabase(path).rows["t"]?.count == 3)
        try writer.execute("COMMIT")
        #expect(try ReadDatabase(path).rows["t"]?.count == 4)
    }

    @Test func `a writer that commits while a database is read without locks is noticed`() throws {
        let path = try databases.make(
            "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)")
        let reader = try SQLiteReader(Input(path: path), options: SQLiteOptions())
        let writer = try SQLiteConnection(writing: path, named: "a.db")
        try writer.execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; INSERT INTO t VALUES (3)")
        do throws(FirnError) {
            while try reader.next() != nil {}
            Issue.record("no error")
        } catch { #expect(error.code == .locked, "\(error)") }
    }
}
