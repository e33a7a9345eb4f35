import CSQLiteLibrary
import FirnBytes
import FirnDatabase
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Tables with a column of every kind, in a file and in memory, and connections to them.
enum Zoo {
    static let columns: [(name: String, type: ColumnType, notation: Notation)] = [
        ("i", ColumnType(.int, optional: true), .plain), ("n", ColumnType(.int), .plain), ("b", ColumnType(.bool, optional: true), .plain),
        ("d", ColumnType(.double, optional: true), .plain), ("e", ColumnType(.double), .plain),
        ("f", ColumnType(.float, optional: true), .plain),
        ("s", ColumnType(.string, optional: true), .plain), ("w", ColumnType(.string), .plain),
        ("x", ColumnType(.data, optional: true), .plain),
        ("t", ColumnType(.date, optional: true), .plain), ("day", ColumnType(.date), .dateOnly),
        ("u", ColumnType(.uuid, optional: true), .plain),
        ("o", ColumnType(.objectID), .plain), ("m", ColumnType(.decimal, optional: true), .plain),
        ("a", ColumnType(.any, optional: true), .plain),
        ("l", ColumnType(.int, optional: true, collection: .list, elementOptional: true), .plain),
        ("k", ColumnType(.link, optional: true, target: "Row"), .plain),
    ]
    static let type = TypeSchema(
        "Row", columns: columns.enumerated().map { ColumnSchema($1.name, $1.type, id: UInt32($0), notation: $1.notation) })
    static let schema = Schema([type])

    static let words = [
        "", "a", "A", "ab", "Ab", "abc", "5", "05", "5.0", " 5", "-1", "1e3", "inf", "Zürich", "zürich", "ä", "Ä", "x_y", "100%", "a\u{0}b",
        "日本", "~", "0x10", "999",
    ]

    static func value(_ type: ColumnType, row: Int, of count: Int, _ random: inout RandomTables) -> Value {
        if type.isOptional, random.chance(15) { return .null }
        if type.collection == .list {
            return .list((0..<random.number(0...3)).map { _ in random.chance(20) ? .null : .int(Int64(random.number(0...9))) })
        }
        switch type.kind {
        case .bool: return .bool(random.chance(50))
        case .int:
            return .int(
                random.chance(90) ? Int64(random.number(-9...20)) : [.max, .min, 1 << 53, (1 << 53) + 1, .max - 1][random.number(0...4)])
        case .float: return .float([0, -0.0, 0.1, 0.5, 5, -1, 16_777_216, .infinity, -.infinity, .nan, 1.5, 3e38][random.number(0...11)])
        case .double:
            return .double(
                [0, -0.0, 0.1, 0.5, 5, -1, 9_007_199_254_740_992, .infinity, -.infinity, .nan, 1.5, 9.3e18, -9.3e18, 1e300][
                    random.number(0...13)])
        case .string: return .string(words[random.number(0...words.count - 1)])
        case .data: return .data([[], [0], [97], [97, 98], [255], [53]][random.number(0...5)])
        case .date:
            let isDay = !type.isOptional, day = Int64(random.number(16_000...16_040)) * 86_400
            if isDay, random.chance(80) { return .date(Timestamp(seconds: day)) }
            return .date(
                Timestamp(
                    seconds: day + Int64(random.number(0...3)) * 3600,
                    nanoseconds: random.chance(60) ? 0 : [500_000_000, 1, 120_000_000][random.number(0...2)]))
        case .uuid: return .uuid(Identifier(high: UInt64(random.number(0...9)) << 60, low: 7))
        case .objectID: return .objectID(Identifier(high: UInt64(random.number(0...9)) << 60 | 0x1234, low: 7))
        case .decimal: return .decimal(Decimal(["1.10", "1.1", "-5", "5", "0.5", "10"][random.number(0...5)])!)
        case .link: return .link(Int64(random.number(0...count + 3)))
        default:
            return [Value.null, .int(5), .string("5"), .double(5), .double(0.5), .bool(true), .data([97]), .list([.int(1), .null])][
                random.number(0...7)]
        }
    }

    static func rows(_ count: Int, _ random: inout RandomTables) -> [[Value]] {
        (0..<count).map { row in columns.map { value($0.type, row: row, of: count, &random) } }
    }

    static func batches(_ rows: [[Value]]) -> [Batch] {
        stride(from: 0, to: rows.count, by: 1500).map {
            RandomTables.batch(Array(rows[$0..<min($0 + 1500, rows.count)]), of: type, in: schema)
        }
    }

    static func connection(_ rows: [[Value]], threads: Int = 1) throws -> SQLConnection {
        let connection = try SQLConnection(functions: firn_sqlite_functions(), threads: threads)
        try connection.add(
            SQLFile(name: "memory", tables: [MemoryTable(type, schema: schema, batches: batches(rows))]), type: "Row", as: "t")
        return connection
    }

    /// Stores the rows in a file, with some rows deleted, some changed, and some in the delta.
    static func stored(_ rows: [[Value]], _ path: String, _ random: inout RandomTables, indexed: Bool = false) throws -> SQLConnection {
        let database = try Database.create(path: path)
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("Row")
        for batch in batches(rows) { try writer.append(batch) }
        try transaction.commit()
        transaction = try database.begin()
        // Not every column type can have an index.
        if indexed { for column in columns { try? transaction.addIndex("Row", column.name, .values) } }
        for _ in 0..<rows.count / 10 {
            let id = Int64(random.number(0...rows.count - 1))
            if random.chance(50) {
                try? transaction.delete("Row", rowID: id)
            } else {
                try? transaction.update("Row", rowID: id, column: "n", .int(Int64(random.number(0...5))))
            }
        }
        for row in Zoo.rows(7, &random) { _ = try transaction.insert("Row", row) }
        try transaction.commit()
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.add(SQLFile(path: path), type: "Row", as: "t")
        return connection
    }

    /// Copies the table `t` to the SQLite table `r`, with the same columns and row ids.
    static func copy(_ connection: SQLConnection) throws {
        let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let types = [
            "INTEGER", "INTEGER", "BOOLEAN", "DOUBLE", "DOUBLE", "FLOAT", "TEXT", "TEXT", "BLOB", "DATETIME TEXT", "DATE TEXT", "UUID TEXT",
            "OBJECTID TEXT", "DECIMAL", "", "JSON TEXT", "INTEGER",
        ]
        try connection.execute(
            "CREATE TEMP TABLE r(rid INTEGER PRIMARY KEY, " + zip(columns, types).map { "\"\($0.name)\" \($1)" }.joined(separator: ", ")
                + ")")
        try connection.execute("INSERT INTO temp.r(rid, \(names)) SELECT rowid, \(names) FROM t")
    }
}

extension SQLConnection {
    /// Returns all rows of a statement.
    func all(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
        var start = 0
        let statement = try #require(try statement(Array(sql.utf8CString.dropLast()), from: &start))
        for (i, value) in values.enumerated() { try statement.bind(value, to: i) }
        var out: [[Value]] = []
        while try statement.step() { out.append(statement.columns.indices.map(statement.value)) }
        return out
    }

    /// Returns the first column of each row as text.
    func column(_ sql: String, _ values: [Value] = []) throws -> [String] { try all(sql, values).map { "\($0[0])" } }
}

/// A row as text in which equal values look the same. SQLite's own tables do not store the sign of zero.
func rowText(_ row: [Value]) -> String {
    var text = ""
    for value in row {
        switch value {
        case .null: text += "null"
        case .int(let number): text += String(number)
        case .double(let number): text += number == 0 ? "0.0" : "\(number)"
        case .string(let string): text += "'" + string + "'"
        default: text += "\(value)".replacing("(-0.0)", with: "(0.0)")
        }
        text += ", "
    }
    return text
}
