import CSQLiteLibrary
import FirnBytes
import FirnTable

/// A table that is written.
final class SQLiteTarget {
    let type: TypeSchema
    let name: String
    private(set) var columns: [SQLiteOutputColumn]
    let facts: SQLiteTableFacts
    /// The names of columns that were changed: one sentence each.
    private var renamed: [String] = []
    private let connection: SQLiteConnection
    private var statement: SQLiteStatement?
    private var batch: UnsafeMutablePointer<firn_sqlite_batch>?
    private var rows = 0
    /// The number of original texts of cells, which are not written.
    private var originals = 0
    private let originalColumns: [Int]

    /// The approximate memory of the values of a batch without their text.
    private static let valueBytes = 64 << 20

    init(_ type: TypeSchema, named name: String, in schema: Schema, _ connection: SQLiteConnection) {
        self.type = type
        self.name = name
        self.connection = connection
        facts = SQLiteTableFacts(type)
        originalColumns = type.columns.indices.filter(type.isCompanion)
        var names = SQLiteNames(ofColumns: true), columns: [SQLiteOutputColumn] = [], renamed: [String] = []
        for position in type.visibleColumns {
            let column = type.columns[position], unique = names.unique(column.name)
            if unique != column.name {
                let reason =
                    column.name.isEmpty
                    ? "its name is empty"
                    : column.name.utf8.contains(0) ? "names in SQLite cannot contain U+0000" : "SQLite ignores case in names"
                renamed.append("column \"\(type.name).\(column.name)\" is written as \"\(unique)\", because \(reason)")
            }
            let isNullKey = type.key == [position] && column.type.isOptional
            columns.append(SQLiteOutputColumn(column, position: position, name: unique, in: schema, isNullKey: isNullKey))
        }
        self.columns = columns
        self.renamed = renamed
    }

    deinit { if let batch { firn_sqlite_batch_free(batch) } }

    // MARK: Declaration

    private func name(of position: Int) -> String { columns.first { $0.position == position }?.name ?? "" }

    /// The names of the key's columns.
    var key: [String] { type.key.map(name(of:)) }

    /// Whether the key is the row id.
    private var isRowIDKey: Bool {
        guard type.key.count == 1, let column = columns.first(where: { $0.position == type.key[0] }) else { return false }
        return column.source.type.kind == .int && !column.source.type.isCollection && column.declared.isRowID && !isWithoutRowID
    }

    private var isWithoutRowID: Bool {
        facts.isWithoutRowID && !type.key.isEmpty && !type.key.contains { type.columns[$0].type.isOptional }
    }
    var isAutoincrement: Bool { facts.sequence != nil && isRowIDKey }

    private var isStrict: Bool {
        facts.isStrict && columns.allSatisfy { ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"].contains($0.declared.text.uppercased()) }
    }

    /// The statement that makes the table. `targets`: the tables, by folded name, to which foreign keys can refer.
    func declaration(_ targets: [String: SQLiteTarget]) -> String {
        var lines = columns.map { column in
            var words = [SQLiteFormat.quoted(column.name), column.declared.text].filter { !$0.isEmpty }
            if isRowIDKey, column.position == type.key[0] {
                words.append("PRIMARY KEY" + (isAutoincrement ? " AUTOINCREMENT" : ""))
            } else if !column.source.type.isOptional, column.source.type.kind != .any || column.source.type.isCollection {
                words.append("NOT NULL")
            }
            return words.joined(separator: " ")
        }
        if !type.key.isEmpty, !isRowIDKey { lines.append("PRIMARY KEY (\(key.map(SQLiteFormat.quoted).joined(separator: ", ")))") }
        lines += facts.foreignKeys.compactMap { foreignKey($0, targets) }
        let options = (isWithoutRowID ? ["WITHOUT ROWID"] : []) + (isStrict ? ["STRICT"] : [])
        return "CREATE TABLE \(SQLiteFormat.quoted(name)) (\n    \(lines.joined(separator: ",\n    "))\n)"
            + (options.isEmpty ? "" : " " + options.joined(separator: ", "))
    }

    /// Returns a constraint; nil if the file does not have its target or its columns.
    private func foreignKey(_ key: SQLiteTable.ForeignKey, _ targets: [String: SQLiteTarget]) -> String? {
        guard let target = targets[SQLiteFormat.folded(key.target)] else { return nil }
        func written(_ name: String, in table: SQLiteTarget) -> String? {
            table.columns.first { SQLiteFormat.folded($0.source.name) == SQLiteFormat.folded(name) }?.name
        }
        let own = key.columns.compactMap { written($0, in: self) }, others = key.targetColumns.compactMap { written($0, in: target) }
        guard own.count == key.columns.count, others.count == key.targetColumns.count,
            others.count == own.count || target.key.count == own.count
        else { return nil }
        func list(_ names: [String]) -> String { "(\(names.map(SQLiteFormat.quoted).joined(separator: ", ")))" }
        let actions = [("ON UPDATE", key.onUpdate), ("ON DELETE", key.onDelete)].filter {
            ["RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"].contains($0.1)
        }
        return
            (["FOREIGN KEY \(list(own)) REFERENCES \(SQLiteFormat.quoted(target.name)) \(list(others.isEmpty ? target.key : others))"]
            + actions.map { "\($0.0) \($0.1)" }).joined(separator: " ")
    }

    // MARK: Rows

    private func open() throws(FirnError) -> (SQLiteStatement, UnsafeMutablePointer<firn_sqlite_batch>) {
        if let statement, let batch { return (statement, batch) }
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let statement = try connection.statement("INSERT INTO \(SQLiteFormat.quoted(name)) VALUES (\(places))", about: "table \"\(name)\"")
        let most = max(64, min(segmentSize, SQLiteTarget.valueBytes / (max(1, columns.count) * 48)))
        guard let batch = firn_sqlite_batch_new(Int32(clamping: columns.count), Int64(most)) else { throw noMemory }
        self.statement = statement
        self.batch = batch
        return (statement, batch)
    }

    private var noMemory: FirnError { connection.error(Int32(FIRN_SQLITE_NO_MEMORY), about: "table \"\(name)\"") }

    func write(_ rows: Batch) throws(FirnError) {
        let (statement, batch) = try open()
        for position in originalColumns { originals += rows.count - rows.columns[position].nullCount }
        var prepared: [Column] = []
        for i in columns.indices { prepared.append(columns[i].prepared(rows.columns[columns[i].position])) }
        var start = 0
        while start < rows.count {
            let end = min(rows.count, start + Int(batch.pointee.maximum_rows))
            for i in prepared.indices where !SQLiteTarget.fill(batch, i, prepared[i], start..<end) { throw noMemory }
            batch.pointee.rows = Int64(end - start)
            let code = firn_sqlite_insert(statement.pointer, batch)
            if code != FIRN_SQLITE_OK {
                var error = connection.error(code, about: "table \"\(name)\", row \(self.rows + Int(batch.pointee.rows) + 1)")
                if error.code == .duplicateKey { error.advice = "use --key to choose columns that are unique together, or omit the key" }
                throw error
            }
            self.rows += end - start
            start = end
        }
    }

    /// Copies rows of a column. Returns false if there is no memory.
    private static func fill(_ batch: UnsafeMutablePointer<firn_sqlite_batch>, _ index: Int, _ column: Column, _ rows: Range<Int>) -> Bool {
        let out = batch.pointee.columns + index, text = column.text
        let bytes = text.count >= rows.upperBound ? text.offsets[rows.lowerBound]..<text.offsets[rows.upperBound] : 0..<0
        let form =
            switch column.type.kind {
            case .float, .double: FIRN_SQLITE_REAL
            case .string: FIRN_SQLITE_TEXT
            case .data: FIRN_SQLITE_BLOB
            case .any: FIRN_SQLITE_ANY
            default: FIRN_SQLITE_INT
            }
        out.pointee.form = Int32(form)
        guard firn_sqlite_reserve(batch, Int32(clamping: index), Int64(bytes.count)) else { return false }
        let present = column.present?.slice(rows).words ?? [UInt64](repeating: .max, count: (rows.count + 63) / 64)
        out.pointee.present.update(from: present, count: present.count)
        func copy<T>(_ values: [T], to memory: UnsafeMutablePointer<T>?) {
            guard values.count >= rows.upperBound else { return }
            values.withUnsafeBufferPointer {
                if let base = $0.baseAddress { memory?.update(from: base + rows.lowerBound, count: rows.count) }
            }
        }
        copy(column.words, to: out.pointee.words)
        copy(column.reals, to: out.pointee.reals)
        copy(column.tags, to: out.pointee.tags)
        if let offsets = out.pointee.offsets {
            for i in 0...rows.count { offsets[i] = Int64(text.offsets[rows.lowerBound + i] - bytes.lowerBound) }
            text.bytes.withUnsafeBufferPointer { all in
                if let base = all.baseAddress, !bytes.isEmpty {
                    out.pointee.bytes.update(from: base + bytes.lowerBound, count: bytes.count)
                }
            }
        }
        return true
    }

    // MARK: The end

    /// Makes the indexes. `names`: of tables and indexes.
    func finish(_ names: inout SQLiteNames) throws(FirnError) {
        statement = nil
        for column in columns where column.source.indexes.contains(.values) {
            let index = names.unique("\(name)_\(column.name)")
            try connection.execute(
                "CREATE INDEX \(SQLiteFormat.quoted(index)) ON \(SQLiteFormat.quoted(name)) (\(SQLiteFormat.quoted(column.name)))",
                about: "table \"\(name)\"")
        }
        for column in columns
        where column.source.type.kind == .string && !column.source.type.isCollection && column.declared.affinity != .text {
            // A text that looks like a number becomes one in a column that is declared so.
            let quoted = SQLiteFormat.quoted(column.name)
            let statement = try connection.statement(
                "SELECT count(*) FROM \(SQLiteFormat.quoted(name)) WHERE typeof(\(quoted)) NOT IN ('text', 'null')",
                about: "table \"\(name)\"")
            if try statement.step(), statement.int(0) > 0 {
                renamed.append(
                    "column \"\(type.name).\(column.source.name)\": \(statement.int(0)) texts became numbers, because it is declared as \(column.declared.text)"
                )
            }
        }
    }

    func add(to records: inout SQLiteRecords) {
        for column in columns { column.add(to: &records, table: name) }
        records.add(name, nil, attributes: type.otherAttributes.filter { $0.name != SQLiteTableFacts.attributeName })
    }

    var remarks: [String] {
        var lines = renamed + columns.flatMap { $0.remarks(type.name) }
        if type.name != name { lines.append("type \"\(type.name)\" is written as table \"\(name)\"") }
        if originals > 0 {
            lines.append("type \"\(type.name)\": \(originals) original text\(originals == 1 ? "" : "s") of cells are not written")
        }
        let links = columns.filter { $0.source.type.kind == .link && !$0.source.type.isCollection }.map { "\"\($0.source.name)\"" }
        if !links.isEmpty {
            lines.append(
                "type \"\(type.name)\": links are written as the numbers of rows, because their types have no key of one column: \(links.listed())"
            )
        }
        let words = columns.filter { $0.source.indexes.contains(.words) }.map { "\"\($0.source.name)\"" }
        if !words.isEmpty { lines.append("type \"\(type.name)\": the indexes of words are not written: \(words.joined(separator: ", "))") }
        return lines
    }
}

/// Names that are distinct without regard to case.
struct SQLiteNames {
    private var taken: Set<String> = []
    /// Whether names must not begin with `sqlite_`: those of tables and indexes.
    private let areReserved: Bool

    /// `ofColumns`: whether the names are those of columns.
    init(ofColumns: Bool = false) { areReserved = !ofColumns }

    /// Returns the name, or the name with a number.
    mutating func unique(_ name: String) -> String {
        // SQL ends at a NUL.
        let name = name.replacing("\0", with: "")
        let base = name.isEmpty ? "_" : areReserved && SQLiteFormat.folded(name).hasPrefix("sqlite_") ? "_" + name : name
        var result = base, number = 2
        while !taken.insert(SQLiteFormat.folded(result)).inserted {
            result = "\(base)_\(number)"
            number += 1
        }
        return result
    }
}
