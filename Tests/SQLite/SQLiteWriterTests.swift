import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnSQLite

@Suite struct SQLiteWriterTests {
    private let databases = Databases()

    private func write(_ schema: Schema, _ rows: [String: [[Value]]], to name: String = "out.db", overwrite: Bool = true) throws
        -> SQLiteWriter
    {
        let writer = try SQLiteWriter(path: databases.path(name), overwrite: overwrite)
        try writer.begin(schema)
        for type in schema.roots {
            var batch = Batch(type, in: schema)
            for row in rows[type.name] ?? [] {
                for (i, value) in row.enumerated() {
                    let fits = batch.columns[i].append(value)
                    #expect(fits, "\(type.columns[i].name) \(value)")
                }
                batch.count += 1
            }
            if batch.count > 0 { try writer.write(batch, type: type.name) }
        }
        try writer.finish()
        return writer
    }

    /// A value whose objects have no names, as columns have them.
    private func bare(_ value: Value) -> Value {
        switch value {
        case .object(let entries): .object(entries.map { .init("", bare($0.value)) })
        case .list(let values): .list(values.map(bare))
        default: value
        }
    }

    private let all = Schema([
        TypeSchema(
            "all",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("bool", ColumnType(.bool, optional: true)),
                ColumnSchema("float", ColumnType(.float, optional: true)), ColumnSchema("double", ColumnType(.double, optional: true)),
                ColumnSchema("string", ColumnType(.string, optional: true)), ColumnSchema("data", ColumnType(.data, optional: true)),
                ColumnSchema("date", ColumnType(.date, optional: true)),
                ColumnSchema("day", ColumnType(.date, optional: true), notation: .dateOnly),
                ColumnSchema("decimal", ColumnType(.decimal, optional: true)),
                ColumnSchema("objectID", ColumnType(.objectID, optional: true)),
                ColumnSchema("uuid", ColumnType(.uuid, optional: true)), ColumnSchema("any", ColumnType(.any)),
                ColumnSchema("list", ColumnType(.int, optional: true, collection: .list, elementOptional: true)),
                ColumnSchema("set", ColumnType(.string, collection: .set)), ColumnSchema("map", ColumnType(.double, collection: .map)),
                ColumnSchema("point", ColumnType(.embedded, optional: true, target: "point")),
                ColumnSchema("points", ColumnType(.embedded, collection: .list, target: "point")),
            ], key: [0]),
        TypeSchema(
            "point",
            columns: [
                ColumnSchema("x", ColumnType(.double)), ColumnSchema("at", ColumnType(.date, optional: true)),
                ColumnSchema("tags", ColumnType(.string, collection: .list)),
            ], isEmbedded: true),
    ])

    private func point(_ x: Double) -> Value {
        .object([
            .init("x", .double(x)), .init("at", .date(Timestamp(seconds: 5, nanoseconds: 120_000_000))),
            .init("tags", .list([.string("a\"\\\u{1}ü🎈")])),
        ])
    }

    private var rows: [[Value]] {
        let full: [Value] = [
            .int(1), .bool(true), .float(0.1), .double(1e300), .string("a\0b 'quoted'"), .data([0, 255]),
            .date(Timestamp(seconds: -1, nanoseconds: 500_000_000)), .date(Timestamp(seconds: 86400 * 3)), .decimal(Decimal("1.50")!),
            .objectID(Identifier(objectIDText: "0123456789abcdef01234567")!),
            .uuid(Identifier(uuidText: "00112233-4455-6677-8899-aabbccddeeff")!),
            .list([.bool(true), .string("x"), .map([.init("k", .date(Timestamp(seconds: 1)))])]), .list([.int(1), .null]),
            .set([.string("a"), .string("b")]),
            .map([.init("k", .double(2))]), point(1.5), .list([point(1), point(-0.25)]),
        ]
        let none: [Value] = [
            .int(-7), .null, .float(.nan), .double(.nan), .string(""), .data([]), .null, .null, .null, .null, .null,
            .string("{\"$not JSON"), .null,
            .set([]), .map([]), .null, .list([]),
        ]
        var extreme = full
        extreme[0] = .int(.max)
        extreme[3] = .double(-.infinity)
        extreme[6] = .date(Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999))
        extreme[11] = .double(.nan)
        return [none, full, extreme]
    }

    @Test func `all types are read again as they were written`() throws {
        let writer = try write(all, ["all": rows]), read = try ReadDatabase(databases.path("out.db"))
        #expect(read.schema.types.map(\.name) == ["all", "point"] && read.key("all") == ["id"])
        for (a, b) in zip(all.types[0].columns, read.schema.types[0].columns) {
            #expect(a.name == b.name && a.type.kind == b.type.kind && a.type.collection == b.type.collection, "\(a.name)")
        }
        let found = try #require(read.rows["all"])
        for (row, wanted) in zip(found, rows) {
            for (i, value) in wanted.enumerated() { #expect(bare(row[i]) == bare(value), "\(all.types[0].columns[i].name)") }
        }
        #expect(read.remarks == [], "\(read.remarks)")
        #expect(writer.remarks.contains("column \"all.double\": 1 NaN is written as text, because SQLite has none"), "\(writer.remarks)")
        #expect(writer.remarks.contains("column \"all.any\": 3 values that SQLite does not have are written as JSON"), "\(writer.remarks)")
    }

    @Test func `random values of any survive a round trip`() throws {
        func value(_ random: inout Random, _ depth: Int) -> Value {
            switch random.next() % (depth > 2 ? 10 : 13) {
            case 0: .null
            case 1: .bool(random.next() % 2 == 0)
            case 2: .int(Int64(bitPattern: random.next()))
            case 3: .double(Double(bitPattern: random.next()))
            case 4: .string(["", "x", "{\"$list\":[]}", "[1]", "{\"$", "ü\n\"\\"][Int(random.next() % 6)])
            case 5: .data([UInt8(random.next() % 256)])
            case 6: .date(Timestamp(seconds: Int64(random.next() % 4_000_000_000), nanoseconds: Int32(random.next() % 1_000_000_000)))
            case 7: .float(Float(Int(random.next() % 1000)) / 8)
            case 8: .uuid(Identifier(high: random.next(), low: random.next()))
            case 9: .decimal(Decimal(Int64(bitPattern: random.next())))
            case 10: .list((0..<Int(random.next() % 3)).map { _ in value(&random, depth + 1) })
            case 11: .set(Value.distinctSorted((0..<Int(random.next() % 3)).map { .int(Int64($0)) }))
            default: .map(["$date", "a"].prefix(Int(random.next() % 3)).map { .init($0, value(&random, depth + 1)) })
            }
        }
        let schema = Schema([TypeSchema("t", columns: [ColumnSchema("a", ColumnType(.any))])])
        for seed in Seed.first(30) {
            var random = Random(seed: seed.number)
            let values = (0..<50).map { _ in value(&random, 0) }
            _ = try write(schema, ["t": values.map { [$0] }])
            let read = try ReadDatabase(databases.path("out.db"))
            for (a, b) in zip(read.values("t", 0), values) {
                // The bits of NaN are not kept.
                #expect(
                    a == b || canonicalText(a) == canonicalText(b) && canonicalText(a).lowercased().contains("nan"), "\(seed) \(a) \(b)")
            }
        }
    }

    @Test func `a database of plain columns has no table of records`() throws {
        var price = ColumnSchema("price", ColumnType(.double, optional: true))
        price.logical = .decimal(precision: 9, scale: 2)
        var plain = Schema([
            TypeSchema(
                "t", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)), price], key: [0])
        ])
        plain.types[0].columns[1].indexes = .values
        _ = try write(plain, ["t": [[.int(1), .string("a"), .double(1.5)]]])
        let connection = try SQLiteConnection(reading: Input(path: databases.path("out.db")), .process)
        let statement = try connection.statement("SELECT group_concat(sql, ';') FROM sqlite_master ORDER BY rowid")
        #expect(try statement.step())
        #expect(
            try statement.text(0)
                == "CREATE TABLE \"t\" (\n    \"id\" INTEGER PRIMARY KEY,\n    \"name\" TEXT NOT NULL,\n    \"price\" DECIMAL(9,2)\n);"
                + "CREATE INDEX \"t_name\" ON \"t\" (\"name\")")
        let read = try ReadDatabase(databases.path("out.db"))
        #expect(read.columns("t") == "id int, name string, price double? decimal(9,2)")
    }

    @Test func `a key that is null in one row stays null`() throws {
        let schema = Schema([TypeSchema("t", columns: [ColumnSchema("id", ColumnType(.int, optional: true))], key: [0])])
        _ = try write(schema, ["t": [[.int(5)], [.null]]])
        let read = try ReadDatabase(databases.path("out.db"))
        #expect(read.values("t", 0) == [.int(5), .null] && read.key("t") == ["id"])
    }

    @Test func `an integer edited into a column with a record is reported, and the column read as it is`() throws {
        _ = try write(all, ["all": rows])
        do {
            let connection = try SQLiteConnection(writing: databases.path("out.db"), named: "out.db")
            try connection.execute("UPDATE \"all\" SET list = 'no list', uuid = 5 WHERE id = 1")
        }
        let read = try ReadDatabase(databases.path("out.db"))
        #expect(read.columns("all").contains("list string?") && read.columns("all").contains("uuid string?"))
        #expect(read.remarks.count >= 2, "\(read.remarks)")
    }

    @Test func `names that SQLite does not distinguish or reserves are changed and reported`() throws {
        let schema = Schema([
            TypeSchema("sqlite_x", columns: [ColumnSchema("a", ColumnType(.int)), ColumnSchema("A", ColumnType(.int))]),
            TypeSchema("T", columns: [ColumnSchema("a\"b", ColumnType(.int))]),
            TypeSchema("t", columns: [ColumnSchema("", ColumnType(.int))]),
            TypeSchema("_firn", columns: [ColumnSchema("x", ColumnType(.int))]),
        ])
        let writer = try write(schema, ["sqlite_x": [[.int(1), .int(2)]], "t": [[.int(3)]], "_firn": [[.int(4)]]])
        let read = try ReadDatabase(databases.path("out.db"))
        #expect(read.rows["_sqlite_x"] == [[.int(1), .int(2)]] && read.rows["t_2"] == [[.int(3)]], "\(read.rows)")
        #expect(read.rows["_firn_2"] == [[.int(4)]] && read.schema["T"]?.columns[0].name == "a\"b")
        #expect(writer.remarks.count == 5, "\(writer.remarks)")
    }

    @Test func `names with quotes, combining marks and sqlite_ are written as the names of columns`() throws {
        let names = ["sqlite_x", "a\"\u{301}b", "\"\u{301}", "'\u{301}", "c\0d", "\0"]
        let schema = Schema([TypeSchema("t\"\u{301}", columns: names.map { ColumnSchema($0, ColumnType(.int)) })])
        let writer = try write(schema, ["t\"\u{301}": [[.int(1), .int(2), .int(3), .int(4), .int(5), .int(6)]]])
        let read = try ReadDatabase(databases.path("out.db")), type = read.schema.types[0]
        #expect(type.name == "t\"\u{301}" && type.columns.map(\.name) == names.prefix(4) + ["cd", "_"], "\(type.columns.map(\.name))")
        #expect(
            writer.remarks == [
                "column \"t\"\u{301}.c\0d\" is written as \"cd\", because names in SQLite cannot contain U+0000",
                "column \"t\"\u{301}.\0\" is written as \"_\", because names in SQLite cannot contain U+0000",
            ], "\(writer.remarks)")
    }

    @Test func `a repeated key, too many columns and a failure leave the target unchanged`() throws {
        let path = databases.path("out.db"), old = Data("old".utf8)
        try old.write(to: URL(filePath: path))
        let schema = Schema([TypeSchema("t", columns: [ColumnSchema("id", ColumnType(.int))], key: [0])])
        #expect(throws: FirnError.self) { try self.write(schema, ["t": [[.int(1)], [.int(1)]]]) }
        #expect(throws: FirnError.self) { try self.write(schema, [:], overwrite: false) }
        let wide = Schema([TypeSchema("w", columns: (0..<10_000).map { ColumnSchema("c\($0)", ColumnType(.int)) })])
        do {
            _ = try write(wide, [:])
            Issue.record("no error")
        } catch let error as FirnError { #expect(error.code == .schema && error.message.contains("10000 columns"), "\(error)") }
        #expect(try Data(contentsOf: URL(filePath: path)) == old && databases.names == ["out.db"])
    }

    @Test func `declared types and tables of a source are declared again, and no other text of a file becomes SQL`() throws {
        let path = try databases.make(
            """
            CREATE TABLE city (code CHAR(3) PRIMARY KEY, n BIGINT NOT NULL) WITHOUT ROWID;
            CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, city CHAR(3) REFERENCES city ON DELETE CASCADE, at TIMESTAMP, x NUMERIC);
            INSERT INTO city VALUES ('OSL', 1); INSERT INTO person VALUES (7, 'OSL', '2024-01-01 00:00:00', 1.5); DELETE FROM person WHERE id = 8;
            """)
        let read = try ReadDatabase(path)
        _ = try write(read.schema, read.rows)
        let connection = try SQLiteConnection(reading: Input(path: databases.path("out.db")), .process)
        let statement = try connection.statement(
            "SELECT group_concat(replace(sql, char(10), ''), ';') FROM sqlite_master WHERE name IN ('city', 'person')")
        #expect(try statement.step())
        let sql = try statement.text(0)
        #expect(
            sql.contains("\"code\" CHAR(3) NOT NULL") && sql.contains("\"n\" BIGINT NOT NULL") && sql.contains("WITHOUT ROWID"), "\(sql)")
        #expect(
            sql.contains("\"id\" INTEGER PRIMARY KEY AUTOINCREMENT") && sql.contains("\"at\" TIMESTAMP") && sql.contains("\"x\" NUMERIC"),
            "\(sql)")
        #expect(sql.contains("FOREIGN KEY (\"city\") REFERENCES \"city\" (\"code\") ON DELETE CASCADE"), "\(sql)")
        for text in ["INT PRIMARY KEY", "TEXT); DROP TABLE x; --", "INT DEFAULT 5", "\"a\"", "INT CHECK (1)", "INT -- x"] {
            var column = ColumnSchema("a", ColumnType(.int))
            column.otherAttributes = [SchemaAttribute(SQLiteDeclaredType.attribute, Array(text.utf8))]
            #expect(SQLiteDeclaredType.chosen(for: column).text == "INTEGER", "\(text)")
        }
    }
}
