import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

@Suite struct SQLiteReaderTests {
    private let databases = Databases()

    @Test func `values keep their types, and declared types are used where every value fits`() throws {
        let path = try databases.make(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INT, weight REAL, photo BLOB, ok BOOLEAN, day DATE,
                at DATETIME, stamp TIMESTAMP, price DECIMAL(9,2), odd DECIMAL(9,2), sum NUMERIC, bad BOOLEAN, text DATE, mixed, none);
            INSERT INTO t VALUES (-5, 'a', 9223372036854775807, 1.5, x'00ff', 1, '2024-02-29', '2024-01-02 03:04:05',
                '2024-01-02T03:04:05.123Z', 12.5, 0.125, 14, 2, '2024-1-1', 1, NULL);
            INSERT INTO t VALUES (7, '', NULL, 2, x'', 0, '0001-01-01', '1969-12-31 23:59:59',
                '2024-01-02T03:04:05.000Z', 3, 1, 9.8, 1, '2024-01-01', 'x', NULL);
            """)
        let read = try ReadDatabase(path)
        #expect(
            read.columns("t")
                == "id int, name string, size int?, weight double?, photo data?, ok bool?, day date?, at date?, stamp date?, "
                + "price double? decimal(9,2), odd double?, sum double?, bad int?, text string?, mixed any, none any")
        #expect(read.key("t") == ["id"])
        let rows = try #require(read.rows["t"])
        #expect(rows[0][0...5] == [.int(-5), .string("a"), .int(.max), .double(1.5), .data([0, 255]), .bool(true)])
        #expect(rows[1][1...5] == [.string(""), .null, .double(2), .data([]), .bool(false)])
        let notations = try #require(read.schema["t"]).columns.map(\.notation)
        #expect(notations[6] == .dateOnly && notations[7] == .dateTimeSpace(0) && notations[8] == .dateTimeZ(3))
        #expect(
            canonicalText(rows[0][6], notation: .dateOnly) == "2024-02-29" && canonicalText(rows[1][6], notation: .dateOnly) == "0001-01-01"
        )
        #expect(canonicalText(rows[1][7], notation: .dateTimeSpace(0)) == "1969-12-31 23:59:59")
        #expect(rows[0][14] == .int(1) && rows[1][14] == .string("x") && rows[0][15] == .null)
        #expect(read.remarks == ["column \"t.mixed\" has values of several types, and is any: 1 integer, 1 text"])
    }

    @Test func `dates with one zone are dates`() throws {
        let path = try databases.make(
            """
            CREATE TABLE t (a TIMESTAMP, b DATETIME, c DATETIME, d DATETIME, e TIMESTAMP, f TIMESTAMP);
            INSERT INTO t VALUES ('2024-06-01T00:00:00+02:00', '2024-06-01 00:00:00.123+00:00', '2024-06-01 00:00:00 UTC', '2024-06-01 00:00:00 +0530',
                '2024-06-01T00:00:00+02:00', '2024-06-01 00:00:00-00:00');
            INSERT INTO t VALUES ('2024-06-02T00:00:00+02:00', '2024-06-01 00:00:00.500+00:00', '2024-06-01 00:00:00 UTC', '2024-06-01 00:00:00 +0530',
                '2024-06-01T00:00:00+01:00', '2024-06-01 00:00:00-00:00');
            """)
        let read = try ReadDatabase(path)
        #expect(read.columns("t") == "a date?, b date?, c date?, d date?, e string?, f string?")
        let notations = try #require(read.schema["t"]).columns.map(\.notation)
        func layout(_ followsT: Bool, _ zone: DateTimeLayout.Zone, _ digits: UInt8, _ quarters: Int = 0) -> Notation? {
            DateTimeLayout(followsT: followsT, zone: zone, fraction: .fixed(digits), quarters: quarters).notation
        }
        #expect(notations[0] == layout(true, .colon, 0, 8) && notations[1] == layout(false, .colon, 3))
        #expect(notations[2] == layout(false, .utc, 0) && notations[3] == layout(false, .spacedDigits, 0, 22))
        let row = try #require(read.rows["t"])[0]
        let texts = zip(row, notations).map { canonicalText($0, notation: $1) }
        #expect(
            texts[..<4] == [
                "2024-06-01T00:00:00+02:00", "2024-06-01 00:00:00.123+00:00", "2024-06-01 00:00:00 UTC", "2024-06-01 00:00:00 +0530",
            ])
        #expect(row[0] == .date(Timestamp(seconds: 1_717_192_800)) && row[3] == .date(Timestamp(seconds: 1_717_180_200)))
    }

    @Test func `texts that are not UTF-8 are kept as bytes and reported`() throws {
        let read = try ReadDatabase(databases.make("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (CAST(x'ff41' AS TEXT)), ('é')"))
        #expect(read.values("t", 0) == [.string("x"), .data([0xFF, 0x41]), .string("é")])
        #expect(read.remarks.count == 1 && read.remarks[0].contains("1 text not in UTF-8, read as data"), "\(read.remarks)")
    }

    @Test func `integers that a double does not represent are not rounded`() throws {
        let read = try ReadDatabase(
            databases.make("CREATE TABLE t (a NUMERIC); INSERT INTO t VALUES (9007199254740993), (0.5)"))
        #expect(read.columns("t") == "a any" && read.values("t", 0) == [.int(9_007_199_254_740_993), .double(0.5)])
    }

    @Test func `keys of one and of several columns, and of tables without row ids, are kept`() throws {
        let path = try databases.make(
            """
            CREATE TABLE one (a TEXT PRIMARY KEY, b); CREATE TABLE two (x, b INT, a TEXT, PRIMARY KEY (a, b));
            CREATE TABLE bare (k TEXT, v INT, PRIMARY KEY (k)) WITHOUT ROWID; CREATE TABLE none (a); CREATE TABLE hole (a TEXT PRIMARY KEY);
            INSERT INTO bare VALUES ('b', 1), ('a', 2); INSERT INTO hole VALUES (NULL), ('x'), (NULL);
            CREATE TABLE strict (a INTEGER PRIMARY KEY, b ANY, c TEXT) STRICT; INSERT INTO strict VALUES (1, 2, '3');
            """)
        let read = try ReadDatabase(path)
        #expect(read.key("one") == ["a"] && read.key("two") == ["a", "b"] && read.key("bare") == ["k"] && read.key("none") == [])
        #expect(read.columns("bare") == "k string, v int?" && read.values("bare", 0) == [.string("a"), .string("b")])
        #expect(read.key("hole") == [] && read.remarks == ["table \"hole\" has no key: column \"a\" of its primary key is null in 2 rows"])
        #expect(read.columns("strict") == "a int, b int?, c string?")
        #expect(SQLiteTableFacts(try #require(read.schema["bare"])).isWithoutRowID)
    }

    @Test func `rows are read in the order of the table, not of an index with all columns`() throws {
        let read = try ReadDatabase(
            databases.make("CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (3), (1), (2)"))
        #expect(read.values("t", 0) == [.int(3), .int(1), .int(2)])
    }

    @Test func `a table with columns named like the row id is read`() throws {
        let read = try ReadDatabase(
            databases.make(
                "CREATE TABLE t (rowid TEXT, \"_rowid_\" TEXT, oid TEXT, \"a \"\"b\" INT); INSERT INTO t VALUES ('x', 'y', 'z', 1)"))
        #expect(read.rows["t"] == [[.string("x"), .string("y"), .string("z"), .int(1)]])
        #expect(read.schema["t"]?.columns[3].name == "a \"b")
    }

    private let shop = """
        CREATE TABLE city (code TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE person (id INTEGER PRIMARY KEY, city TEXT REFERENCES city, boss INT REFERENCES person (id), other TEXT REFERENCES city (name));
        CREATE TABLE visit (person INT REFERENCES person, city TEXT REFERENCES city (code), PRIMARY KEY (person, city));
        INSERT INTO city VALUES ('OSL', 'Oslo'), ('BER', 'Berlin');
        INSERT INTO person VALUES (3, 'BER', NULL, NULL), (9, 'OSL', 3, NULL), (10, NULL, 9, NULL);
        INSERT INTO visit VALUES (3, 'OSL');
        """

    @Test func `foreign keys are values, or links on request`() throws {
        let path = try databases.make(shop), plain = try ReadDatabase(path)
        #expect(plain.columns("person") == "id int, city string?, boss int?, other string?" && plain.remarks == [])
        #expect(SQLiteTableFacts(try #require(plain.schema["person"])).foreignKeys.map(\.target) == ["city", "person", "city"])
        let linked = try ReadDatabase(path) { $0.readsLinks = true }
        #expect(linked.columns("person") == "id int, city link<city>?, boss link<person>?, other string?")
        #expect(linked.values("person", 1) == [.link(1), .link(0), .null] && linked.values("person", 2) == [.null, .link(0), .link(1)])
        #expect(linked.columns("visit") == "person int, city string")
        #expect(linked.remarks.count == 3, "\(linked.remarks)")
        let one = try ReadDatabase(path) {
            $0.readsLinks = true
            $0.wanted = "person"
        }
        #expect(one.schema.types.map(\.name) == ["person", "city"])
    }

    @Test func `a foreign key to a row that does not exist keeps its values, and is reported`() throws {
        let path = try databases.make(shop + "UPDATE person SET city = 'XXX' WHERE id > 3")
        let read = try ReadDatabase(path) { $0.readsLinks = true }
        #expect(read.columns("person").contains("city string?") && read.values("person", 1)[1] == .string("XXX"))
        #expect(
            read.remarks.contains(
                "column \"person.city\" keeps the values of its foreign key: 2 values have no row in \"city\" (first: \"XXX\")"),
            "\(read.remarks)")
    }

    @Test func `views and virtual tables are left out and reported, and read on request`() throws {
        let path = try databases.make(
            """
            CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2), c INT AS (a + 1) STORED); INSERT INTO t (a) VALUES (1), (4);
            CREATE VIEW v AS SELECT a + b AS s FROM t; CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('words');
            CREATE VIRTUAL TABLE box USING rtree(id, x, y); INSERT INTO box VALUES (1, 0, 1);
            """)
        let read = try ReadDatabase(path)
        #expect(read.schema.types.map(\.name) == ["t"] && read.rows["t"] == [[.int(1), .int(2), .int(2)], [.int(4), .int(8), .int(5)]])
        #expect(read.remarks.count == 4, "\(read.remarks)")
        #expect(read.remarks[0] == "left out 2 virtual tables: \"docs\", \"box\"; use --internal to read them")
        #expect(read.remarks[1].hasPrefix("left out 8 tables that store virtual tables: "), "\(read.remarks)")
        #expect(read.remarks[2] == "left out a view: \"v\"; use --views to read it")
        #expect(read.remarks[3].contains("generated columns are read") && read.remarks[3].contains("\"b\", \"c\""))
        for name in ["v", "docs", "docs_content", "box"] {
            let one = try ReadDatabase(path) { $0.wanted = name }
            #expect(
                one.schema.types.map(\.name) == [name] && one.rows[name]?.count ?? 0 > 0 && one.remarks.isEmpty, "\(name) \(one.remarks)")
        }
        let all = try ReadDatabase(path) {
            $0.readsViews = true
            $0.readsInternal = true
        }
        #expect(all.schema.types.count == 12 && all.rows["v"] == [[.int(3)], [.int(12)]] && all.rows["docs"] == [[.string("words")]])
    }

    @Test func `databases in UTF-16, empty ones and tables without rows are read`() throws {
        let wide = try ReadDatabase(databases.make("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('Zoë 🎈')"))
        #expect(wide.rows["t"] == [[.string("Zoë 🎈")]])
        #expect(try ReadDatabase(databases.make("", "empty.db")).schema.types.isEmpty)
        let none = try ReadDatabase(databases.make("CREATE TABLE t (a INT, b BOOLEAN, c DATE, d VARCHAR(9), e FLOAT, f BLOB)", "none.db"))
        #expect(none.columns("t") == "a int?, b bool?, c date?, d string?, e double?, f data?" && none.rows.isEmpty)
    }

    @Test func `large tables are read in batches, on one and on two threads, and again`() throws {
        let path = try databases.make(
            """
            CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE u (x INT); INSERT INTO u VALUES (1);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 150000) INSERT INTO t SELECT i, 'text ' || i FROM n;
            """)
        for threads in [1, 2] {
            var options = SQLiteOptions()
            options.threads = threads
            let reader = try SQLiteReader(Input(path: path), options: options)
            for _ in 0..<2 {
                reader.choose("t")
                var rows = 0, sum: Int64 = 0, batches = 0
                while let (type, batch) = try reader.next() {
                    #expect(type == "t" && batch.count <= 65_536)
                    batches += 1
                    rows += batch.count
                    sum += batch.columns[0].words.reduce(0, +)
                }
                #expect(rows == 150_000 && sum == 150_000 * 150_001 / 2 && batches == 3)
            }
            reader.choose("u")
            #expect(try reader.next()?.type == "u" && reader.next() == nil)
        }
    }
}
