import FirnBytes
import FirnTable

/// A table or view of a database.
struct SQLiteTable {
    enum Kind {
        case table, view, virtual
        /// A table that stores the data of a virtual table.
        case shadow
        /// A table of SQLite itself.
        case system
    }

    struct Column {
        let name: String
        let declared: SQLiteDeclaredType
        let isNotNull: Bool
        /// The position in the primary key, from 1; 0 if the column is no part of it.
        let keyPosition: Int
        let isGenerated: Bool
        let hasDefault: Bool
    }

    /// A foreign key. The columns of the target are empty if it refers to the primary key.
    struct ForeignKey: Hashable {
        var target: String
        var columns: [String]
        var targetColumns: [String]
        var onUpdate: String
        var onDelete: String
    }

    let name: String
    let kind: Kind
    let hasRowID: Bool
    let isStrict: Bool
    /// The first page of its rows; nil for views and virtual tables.
    let root: Int64?
    /// Whether an index has the primary key: then no column is the row id.
    var hasKeyIndex = false
    var columns: [Column] = []
    var foreignKeys: [ForeignKey] = []
    /// The row id in the table of sequences, and the maximum of the row ids so far, of a table with AUTOINCREMENT.
    var sequence: (row: Int64, value: Int64)?

    /// The subject of errors.
    var subject: String { "\(kind == .view ? "view" : "table") \"\(name)\"" }

    /// The positions of the primary key's columns.
    var key: [Int] {
        columns.indices.filter { columns[$0].keyPosition > 0 }.sorted { columns[$0].keyPosition < columns[$1].keyPosition }
    }

    /// The position of the column that is the row id; nil if there is none.
    var rowIDColumn: Int? {
        let key = key
        return hasRowID && !hasKeyIndex && key.count == 1 && columns[key[0]].declared.isRowID ? key[0] : nil
    }

    /// A name of the row id that no column has; nil if there is none.
    var rowIDName: String? {
        guard hasRowID, kind == .table || kind == .shadow else { return nil }
        if let column = rowIDColumn { return SQLiteFormat.quoted(columns[column].name) }
        let taken = Set(columns.map { SQLiteFormat.folded($0.name) })
        return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    }

    /// The statement that reads all columns of all rows, in the order of the table itself; whether the row id precedes them.
    var selection: (sql: String, hasRowID: Bool) {
        let names = (rowIDName.map { [$0] } ?? []) + columns.map { SQLiteFormat.quoted($0.name) }
        // An index with all columns would be read in its own order.
        let unindexed = kind == .view || kind == .virtual ? "" : " NOT INDEXED"
        return (
            "SELECT \(names.isEmpty ? "1" : names.joined(separator: ", ")) FROM main.\(SQLiteFormat.quoted(name))\(unindexed)",
            rowIDName != nil
        )
    }
}

/// The tables of a database.
struct SQLiteTables {
    private(set) var tables: [SQLiteTable] = []
    private(set) var remarks: [String] = []

    /// Reads the schema, and chooses the tables to read.
    init(_ connection: SQLiteConnection, _ options: SQLiteOptions, _ records: SQLiteRecords) throws(FirnError) {
        let all = try SQLiteTables.all(connection), wanted = options.wanted.flatMap { name in all.first { $0.name == name } }
        var chosen = all.filter { table in
            switch table.kind {
            // The records of Firn are no rows.
            case .table: return records.isEmpty || table.name != SQLiteRecords.tableName
            case .view: return options.readsViews
            case .virtual, .shadow: return options.readsInternal
            case .system: return false
            }
        }
        if let wanted {
            // Links among values of kind any lead to rows of other tables.
            let others = records.holdAny ? chosen.filter { $0.name != wanted.name && $0.kind == .table } : []
            chosen = [wanted] + others
        } else {
            remarks = SQLiteTables.leftOut(all, options)
        }
        for table in chosen {
            do throws(FirnError) { tables.append(try SQLiteTables.described(table, connection)) } catch {
                // A module that this program does not have: only a table that was asked for is an error.
                guard error.code == .unsupported, wanted == nil, table.kind == .virtual else { throw error }
                remarks.append("left out \(table.subject): \(error.message)")
            }
        }
        if wanted != nil, options.readsLinks { try addTargets(all, connection) }
        try addSequences(all, connection)
    }

    /// Adds the tables that foreign keys lead to.
    private mutating func addTargets(_ all: [SQLiteTable], _ connection: SQLiteConnection) throws(FirnError) {
        var next = 0
        while next < tables.count {
            for key in tables[next].foreignKeys {
                let name = SQLiteFormat.folded(key.target)
                guard !tables.contains(where: { SQLiteFormat.folded($0.name) == name }),
                    let target = all.first(where: { SQLiteFormat.folded($0.name) == name && $0.kind == .table })
                else { continue }
                tables.append(try SQLiteTables.described(target, connection))
            }
            next += 1
        }
    }

    private mutating func addSequences(_ all: [SQLiteTable], _ connection: SQLiteConnection) throws(FirnError) {
        guard all.contains(where: { $0.name == "sqlite_sequence" }) else { return }
        let statement = try connection.statement("SELECT rowid, name, seq FROM main.sqlite_sequence", about: "table \"sqlite_sequence\"")
        while try statement.step() {
            let name = SQLiteFormat.folded(String(decoding: statement.bytes(1), as: UTF8.self))
            guard statement.isInt(2), let i = tables.firstIndex(where: { SQLiteFormat.folded($0.name) == name }) else { continue }
            tables[i].sequence = (statement.int(0), statement.int(2))
        }
    }

    /// All tables and views, in the order of the schema, without their columns.
    private static func all(_ connection: SQLiteConnection) throws(FirnError) -> [SQLiteTable] {
        var kinds: [String: (type: String, isWithoutRowID: Bool, isStrict: Bool)] = [:]
        let list = try connection.statement("PRAGMA main.table_list", about: "the schema")
        while try list.step() {
            guard list.bytes(0).elementsEqual("main".utf8) else { continue }
            kinds[try list.text(1)] = (try list.text(2), list.int(4) != 0, list.int(5) != 0)
        }
        var tables: [SQLiteTable] = []
        let names = try connection.statement(
            "SELECT name, type, rootpage FROM main.sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid", about: "the schema")
        while try names.step() {
            let name = try names.text(0)
            // The list has no views and tables that SQLite cannot parse.
            let type = try names.text(1), known = kinds[name] ?? (type, false, false)
            var kind: SQLiteTable.Kind =
                switch known.type {
                case "view": .view
                case "virtual": .virtual
                case "shadow": .shadow
                default: .table
                }
            if SQLiteFormat.folded(name).hasPrefix("sqlite_") { kind = .system }
            tables.append(
                SQLiteTable(
                    name: name, kind: kind, hasRowID: !known.isWithoutRowID, isStrict: known.isStrict,
                    root: names.isInt(2) ? names.int(2) : nil))
        }
        return tables
    }

    /// Returns a table with its columns and foreign keys.
    private static func described(_ table: SQLiteTable, _ connection: SQLiteConnection) throws(FirnError) -> SQLiteTable {
        var table = table
        let name = SQLiteFormat.quoted(table.name),
            columns = try connection.statement("PRAGMA main.table_xinfo(\(name))", about: table.subject)
        while try columns.step() {
            // 1: a hidden column of a virtual table. 2, 3: a generated column.
            let hidden = columns.int(6)
            guard hidden != 1 else { continue }
            table.columns.append(
                .init(
                    name: try columns.text(1), declared: SQLiteDeclaredType(String(decoding: columns.bytes(2), as: UTF8.self)),
                    isNotNull: columns.int(3) != 0, keyPosition: Int(clamping: columns.int(5)), isGenerated: hidden > 1,
                    hasDefault: !columns.isNull(4)))
        }
        let indexes = try connection.statement("PRAGMA main.index_list(\(name))", about: table.subject)
        while try indexes.step() { if indexes.bytes(3).elementsEqual("pk".utf8) { table.hasKeyIndex = true } }
        guard table.kind == .table else { return table }
        let keys = try connection.statement("PRAGMA main.foreign_key_list(\(name))", about: table.subject)
        var number: Int64?
        while try keys.step() {
            if keys.int(0) != number {
                number = keys.int(0)
                table.foreignKeys.append(
                    .init(target: try keys.text(2), columns: [], targetColumns: [], onUpdate: try keys.text(5), onDelete: try keys.text(6)))
            }
            let last = table.foreignKeys.count - 1
            table.foreignKeys[last].columns.append(try keys.text(3))
            if !keys.isNull(4) { table.foreignKeys[last].targetColumns.append(try keys.text(4)) }
        }
        // SQLite lists the last one first.
        table.foreignKeys.reverse()
        return table
    }

    private static func leftOut(_ all: [SQLiteTable], _ options: SQLiteOptions) -> [String] {
        func listed(_ kind: SQLiteTable.Kind, _ one: String, _ many: String, flag: String) -> String? {
            let names = all.filter { $0.kind == kind }.map { "\"\($0.name)\"" }
            guard !names.isEmpty else { return nil }
            let shown = names.listed()
            return
                "left out \(names.count == 1 ? "a \(one)" : "\(names.count) \(many)"): \(shown); use \(flag) to read \(names.count == 1 ? "it" : "them")"
        }
        var lines: [String?] = []
        if !options.readsInternal {
            lines.append(listed(.virtual, "virtual table", "virtual tables", flag: "--internal"))
            lines.append(
                listed(.shadow, "table that stores a virtual table", "tables that store virtual tables", flag: "--internal"))
        }
        if !options.readsViews { lines.append(listed(.view, "view", "views", flag: "--views")) }
        return lines.compactMap(\.self)
    }
}
