import CSQLiteLibrary
import FirnBytes
import FirnDatabase
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// How types, columns and values appear in SQL.
@Suite struct FormTests {
    private static let address = TypeSchema(
        "Address", columns: [ColumnSchema("city", ColumnType(.string, optional: true)), ColumnSchema("zip", ColumnType(.string))],
        isEmbedded: true)
    private static let person = TypeSchema(
        "Person",
        columns: [
            ColumnSchema("id", ColumnType(.string)), ColumnSchema("age", ColumnType(.int, optional: true)),
            ColumnSchema("home", ColumnType(.embedded, optional: true, target: "Address")),
            ColumnSchema("dogs", ColumnType(.link, collection: .list, target: "Dog")),
            ColumnSchema("best", ColumnType(.link, optional: true, target: "Person")),
        ], key: [0])
    private static let dog = TypeSchema(
        "Dog",
        columns: [
            ColumnSchema("name", ColumnType(.string)), ColumnSchema("owner", ColumnType(.link, optional: true, target: "Person")),
            ColumnSchema("mate", ColumnType(.link, optional: true, target: "Dog")),
            ColumnSchema("friends", ColumnType(.link, collection: .set, target: "Person")),
            ColumnSchema("sizes", ColumnType(.double, collection: .map)),
        ])

    private func kennel(_ path: String) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([Self.address, Self.person, Self.dog])
        let ada = try transaction.insert(
            "Person",
            [.string("ada"), .int(36), .object([.init("city", .string("London")), .init("zip", .string("W1"))]), .list([]), .null])
        let bob = try transaction.insert("Person", [.string("bob"), .null, .null, .list([]), .link(ada)])
        let gone = try transaction.insert("Person", [.string("gone"), .int(1), .null, .list([]), .null])
        let rex = try transaction.insert(
            "Dog",
            [.string("Rex"), .link(ada), .null, .set([.link(ada), .link(bob)]), .map([.init("a", .double(1.5)), .init("b", .double(2))])])
        let bo = try transaction.insert("Dog", [.string("Bo"), .link(gone), .link(rex), .set([]), .map([])])
        _ = try transaction.insert("Dog", [.string("Fido"), .link(bob), .null, .set([.link(bob)]), .map([])])
        try transaction.update("Person", rowID: ada, column: "dogs", .list([.link(bo), .link(rex), .link(rex)]))
        try transaction.delete("Person", rowID: gone)
        try transaction.commit()
        return database
    }

    private func connection(_ path: String) throws -> SQLConnection {
        let connection = try SQLConnection(functions: firn_sqlite_functions()), file = try SQLFile(path: path)
        for type in file.typeNames { try connection.add(file, type: type, as: type) }
        return connection
    }

    @Test func `a link is the key of its target row, or the row id if the type has no key`() throws {
        let folder = TemporaryFolder()
        _ = try kennel(folder.file("k.firn"))
        let sql = try connection(folder.file("k.firn"))
        #expect(try sql.column("SELECT owner FROM Dog ORDER BY name") == ["null", "string(\"bob\")", "string(\"ada\")"])
        #expect(
            try sql.all("SELECT d.name, p.age FROM Dog d JOIN Person p ON d.owner = p.id ORDER BY 1") == [
                [.string("Fido"), .null], [.string("Rex"), .int(36)],
            ])
        #expect(
            try sql.all("SELECT p.id, count(d.name) FROM Person p LEFT JOIN Dog d ON d.owner = p.id GROUP BY p.id") == [
                [.string("ada"), .int(1)], [.string("bob"), .int(1)],
            ])
        #expect(try sql.all("SELECT a.name FROM Dog a JOIN Dog b ON a.mate = b.rowid") == [[.string("Bo")]])
        #expect(try sql.all("SELECT name FROM Dog WHERE owner = 'ada'") == [[.string("Rex")]])
        // Bo's owner was deleted.
        #expect(try sql.all("SELECT name FROM Dog WHERE owner IS NULL") == [[.string("Bo")]])
        #expect(
            try sql.all("SELECT name FROM Dog WHERE owner IS NOT NULL AND owner <> 'x' ORDER BY owner DESC") == [
                [.string("Fido")], [.string("Rex")],
            ])
        #expect(try sql.all("SELECT name FROM Dog WHERE owner IN ('ada', 'gone')") == [[.string("Rex")]])
        #expect(try sql.all("SELECT name FROM Dog WHERE mate = 0") == [[.string("Bo")]])
    }

    @Test func `lists, sets, maps and objects are JSON, and links in them have the form of link columns`() throws {
        let folder = TemporaryFolder()
        _ = try kennel(folder.file("k.firn"))
        let sql = try connection(folder.file("k.firn"))
        #expect(
            try sql.all("SELECT home, dogs FROM Person ORDER BY id") == [
                [.string("{\"city\":\"London\",\"zip\":\"W1\"}"), .string("[1,0,0]")], [.null, .string("[]")],
            ])
        #expect(
            try sql.all("SELECT friends, sizes FROM Dog WHERE name = 'Rex'") == [
                [.string("[\"ada\",\"bob\"]"), .string("{\"a\":1.5,\"b\":2}")]
            ])
        #expect(try sql.all("SELECT home ->> 'city' FROM Person WHERE home ->> '$.zip' = 'W1'") == [[.string("London")]])
        #expect(
            try sql.all(
                "SELECT d.name FROM Person p, json_each(p.dogs) j JOIN Dog d ON d.rowid = j.value WHERE p.id = 'ada' ORDER BY j.key") == [
                    [.string("Bo")], [.string("Rex")], [.string("Rex")],
                ])
        #expect(
            try sql.all("SELECT p.id, count(*) FROM Dog d, json_each(d.friends) f JOIN Person p ON p.id = f.value GROUP BY 1") == [
                [.string("ada"), .int(1)], [.string("bob"), .int(2)],
            ])
        #expect(
            try sql.all("SELECT key, value FROM Dog, json_each(sizes) WHERE name = 'Rex'") == [
                [.string("a"), .double(1.5)], [.string("b"), .int(2)],
            ])
    }

    @Test func `values have the types of SQL`() throws {
        let columns: [(ColumnType, Notation, Value, [Value], String)] = [
            (ColumnType(.bool), .plain, .bool(true), [.int(1)], "BOOLEAN"), (ColumnType(.int), .plain, .int(.min), [.int(.min)], "INTEGER"),
            (ColumnType(.float), .plain, .float(0.5), [.double(0.5)], "FLOAT"),
            (ColumnType(.double), .plain, .double(.nan), [.null], "DOUBLE"),
            (ColumnType(.string), .plain, .string("a\u{0}b'\""), [.string("a\u{0}b'\"")], "TEXT"),
            (ColumnType(.data), .plain, .data([0, 255]), [.data([0, 255])], "BLOB"),
            (
                ColumnType(.date), .plain, .date(Timestamp(seconds: 1_475_145_000, nanoseconds: 120_000_000)),
                [.string("2016-09-29 10:30:00.12")], "DATETIME TEXT"
            ),
            (ColumnType(.date), .dateOnly, .date(Timestamp(seconds: 1_475_107_200)), [.string("2016-09-29")], "DATE TEXT"),
            (ColumnType(.date), .plain, .date(Timestamp(seconds: -1)), [.string("1969-12-31 23:59:59")], "DATETIME TEXT"),
            (ColumnType(.decimal), .plain, .decimal(Decimal("1.10")!), [.double(1.1)], "DECIMAL"),
            (ColumnType(.decimal), .plain, .decimal(Decimal("12.00")!), [.int(12)], "DECIMAL"),
            (
                ColumnType(.decimal), .plain, .decimal(Decimal("1234567890.1234567890")!), [.string("1234567890.1234567890")],
                "DECIMAL TEXT"
            ),
            (
                ColumnType(.uuid), .uuidUpper, .uuid(Identifier(high: 0xAB, low: 1)), [.string("00000000-0000-00AB-0000-000000000001")],
                "UUID TEXT"
            ),
            (
                ColumnType(.objectID), .plain, .objectID(Identifier(high: 0xAB, low: 1)), [.string("00000000000000ab00000001")],
                "OBJECTID TEXT"
            ),
            (ColumnType(.any), .plain, .list([.int(1), .null]), [.string("[1,null]")], ""),
            (ColumnType(.any), .plain, .bool(false), [.int(0)], ""),
            (ColumnType(.any), .plain, .data([1]), [.data([1])], ""), (ColumnType(.any), .plain, .null, [.null], ""),
            (ColumnType(.string, collection: .list), .plain, .list([.string("\"")]), [.string("[\"\\\"\"]")], "JSON TEXT"),
        ]
        for (type, notation, value, expected, declaration) in columns {
            let schema = TypeSchema("T", columns: [ColumnSchema("c", type, notation: notation)])
            let table = MemoryTable(
                schema, schema: Schema([schema]), batches: [RandomTables.batch([[value]], of: schema, in: Schema([schema]))])
            let sql = try SQLConnection(functions: firn_sqlite_functions())
            try sql.add(SQLFile(name: "memory", tables: [table]), type: "T", as: "T")
            #expect(try sql.all("SELECT c FROM T") == [expected])
            #expect(try sql.all("SELECT type FROM pragma_table_info('T')") == [[.string(declaration)]])
        }
    }

    /// Decimals of which neighbours differ only beyond the digits of a double, in ascending order.
    private static let longDecimals = [
        "-1E+40", "-12345678901234567890.5", "-12345678901234567890.4", "-9", "-1.2E-20", "0", "1E-30", "0.5", "1.10",
        "9", "10", "9007199254740992.1", "9007199254740992.2", "9007199254740993", "12345678901234567890123456789012.34", "1E+40",
    ]

    private func longDecimals(_ texts: [String?]) throws -> SQLConnection {
        let type = TypeSchema("T", columns: [ColumnSchema("m", ColumnType(.decimal, optional: true)), ColumnSchema("n", ColumnType(.int))])
        let rows = texts.enumerated().map { [$1.map { .decimal(Decimal($0)!) } ?? .null, Value.int(Int64($0))] }
        let table = MemoryTable(type, schema: Schema([type]), batches: [RandomTables.batch(rows, of: type, in: Schema([type]))])
        let sql = try SQLConnection(functions: firn_sqlite_functions())
        try sql.add(SQLFile(name: "memory", tables: [table]), type: "T", as: "T")
        return sql
    }

    @Test func `decimals of more than 15 digits are compared, sorted and grouped by their exact values`() throws {
        let sorted = FormTests.longDecimals
        // A fixed shuffle, with nulls and one value written in two ways.
        var texts: [String?] = sorted.indices.map { sorted[$0 * 7 % sorted.count] }
        #expect(Set(texts).count == sorted.count)
        texts += [nil, "1.1"]
        let sql = try longDecimals(texts)
        func column(_ statement: String) throws -> [String] {
            try sql.all(statement).map { if case .string(let text) = $0[0] { text } else { "\($0[0])" } }
        }
        #expect(try column("SELECT m FROM T WHERE m IS NOT NULL AND m <> '1.1' ORDER BY m") == sorted.filter { $0 != "1.10" })
        #expect(try column("SELECT m FROM T WHERE m IS NOT NULL AND m <> 1.1 ORDER BY m DESC") == sorted.filter { $0 != "1.10" }.reversed())
        #expect(try sql.all("SELECT min(m), max(m) FROM T") == [[.string("-1E+40"), .string("1E+40")]])
        #expect(try sql.all("SELECT max(m) FROM T GROUP BY n % 1 HAVING max(m) > '9' COLLATE firn_decimal") == [[.string("1E+40")]])
        #expect(try sql.all("SELECT count(DISTINCT m), count(m) FROM T") == [[.int(Int64(sorted.count)), .int(Int64(sorted.count) + 1)]])
        #expect(try sql.all("SELECT count(*) FROM (SELECT m FROM T GROUP BY m)") == [[.int(Int64(sorted.count) + 1)]])
        for (place, text) in sorted.enumerated() where text != "1.10" {
            for limit in ["'\(text)'", "'+0\(text)'"] where limit == "'\(text)'" || !text.hasPrefix("-") {
                let less = place + (place > 8 ? 1 : 0)
                #expect(try sql.all("SELECT count(*) FROM T WHERE m < \(limit)") == [[.int(Int64(less))]], "\(limit)")
                #expect(try sql.all("SELECT count(*) FROM T WHERE m = \(limit)") == [[.int(1)]], "\(limit)")
                #expect(try sql.all("SELECT count(*) FROM T WHERE m IN (\(limit), '77')") == [[.int(1)]], "\(limit)")
            }
        }
        #expect(try sql.all("SELECT count(*) FROM T WHERE m = 1.1") == [[.int(2)]])
        #expect(try sql.all("SELECT count(*) FROM T WHERE m BETWEEN 9 AND 10") == [[.int(2)]])
        #expect(try sql.all("SELECT count(*) FROM T a JOIN T b ON a.m = b.m") == [[.int(Int64(sorted.count) - 1 + 4)]])
        #expect(try sql.all("SELECT type FROM pragma_table_info('T') WHERE name = 'm'") == [[.string("DECIMAL TEXT")]])
        // Sums are those of doubles.
        #expect(try sql.all("SELECT sum(m) FROM T WHERE m IN ('0.5', '9')") == [[.double(9.5)]])
    }

    @Test func `decimals of at most 15 digits are numbers, and compare as numbers in every expression`() throws {
        let sql = try longDecimals(["9.5", "10.25", nil, "100", "-3", "99999999999.9999"])
        #expect(try sql.all("SELECT max(m), min(m), sum(m) FROM T WHERE m < 1000") == [[.int(100), .int(-3), .double(116.75)]])
        #expect(
            try sql.all("SELECT m FROM T GROUP BY m HAVING max(m) > 10 ORDER BY max(m)") == [
                [.double(10.25)], [.int(100)], [.double(99999999999.9999)],
            ])
        #expect(try sql.all("SELECT type FROM pragma_table_info('T') WHERE name = 'm'") == [[.string("DECIMAL")]])
    }

    @Test func `tables and columns keep their names, except that names which SQLite considers equal get numbers`() throws {
        let columns = ["id", "ID", "Date added", "sel\"ect", "", "id_2", "group"].map { ColumnSchema($0, ColumnType(.int)) }
        let type = TypeSchema("odd \"name\"", columns: columns), schema = Schema([type])
        let table = MemoryTable(type, schema: schema, batches: [RandomTables.batch([(1...7).map { .int($0) }], of: type, in: schema)])
        let sql = try SQLConnection(functions: firn_sqlite_functions())
        try sql.add(SQLFile(name: "memory", tables: [table]), type: type.name, as: type.name)
        #expect(
            try sql.all(
                "SELECT id, ID_2, \"Date added\", \"sel\"\"ect\", \"\", id_2_2, \"group\" FROM \"odd \"\"name\"\"\" WHERE \"ID_2\" = 2 AND \"\" > 4 AND \"group\" IN (7, 8)"
            ) == [(1...7).map { .int($0) }])
    }

    @Test func `each statement reads the newest version of a file, unless a version is given`() throws {
        let folder = TemporaryFolder(), database = try kennel(folder.file("k.firn"))
        let live = try connection(folder.file("k.firn")), still = try connection(folder.file("k.firn") + "@1")
        let join = "SELECT count(*) FROM Dog d JOIN Person p ON d.owner = p.id"
        for _ in 0..<8 { #expect(try live.all(join) == [[.int(2)]]) }
        let transaction = try database.begin()
        _ = try transaction.insert("Dog", [.string("New"), .link(0), .null, .set([]), .map([])])
        try transaction.commit()
        #expect(try live.all(join) == [[.int(3)]] && still.all(join) == [[.int(2)]])
        #expect(try live.column("SELECT name FROM Dog WHERE rowid = 3") == ["string(\"New\")"])
    }

    @Test func `names of tables and columns may contain quotes and combining marks`() throws {
        let names = ["a\"b", "a\"\u{301}b", "\"\u{301}", "'\u{301}", "`\u{20E3}`", "a\"\"", "x\r\n\"y"]
        let type = TypeSchema("T\"\u{301}", columns: names.map { ColumnSchema($0, ColumnType(.int)) })
        var batch = Batch(type, in: Schema([type]))
        for i in names.indices { batch.columns[i].append(.int(Int64(i))) }
        batch.count = 1
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.add(
            SQLFile(name: "memory", tables: [MemoryTable(type, schema: Schema([type]), batches: [batch])]), type: type.name, as: type.name)
        for (i, name) in names.enumerated() {
            #expect(
                try connection.all("SELECT \(SQLSpelling.name(name)) FROM \(SQLSpelling.name(type.name))") == [[.int(Int64(i))]],
                "\(name.debugDescription)")
        }
    }
}
