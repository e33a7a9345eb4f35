import CSQLiteLibrary
import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable

/// Writes batches to a new SQLite database next to the target, in one transaction. The target is unchanged until `finish` replaces it.
///
/// Types become tables with their keys. What SQLite cannot declare is recorded in the table `_firn`, which is made only if it is needed; so a database
/// that is read again has the same types.
package final class SQLiteWriter: BatchWriter {
    private let target: String
    private let replacement: Replacement
    private var connection: SQLiteConnection?
    private var targets: [SQLiteTarget] = []
    private var positions: [String: Int] = [:]
    private var schema = Schema()
    package private(set) var remarks: [String] = []

    /// - Throws: `FirnError.exists` if the target exists and `overwrite` is false, if it is not a regular file, or if there is a log or a
    ///   journal of SQLite next to it.
    package init(path: String, overwrite: Bool, sources: SourceModes = .none) throws(FirnError) {
        try Replacement.check(path, overwrite: overwrite)
        try SQLiteSidecars.check(path)
        target = path
        replacement = try Replacement(of: path, overwrite: overwrite, sources: sources)
        connection = try SQLiteConnection(writing: replacement.temporaryPath, named: path)
    }

    package func begin(_ schema: Schema) throws(FirnError) {
        guard let connection else { trap("begin is called once, before finish") }
        self.schema = schema
        var names = SQLiteNames(), byName: [String: SQLiteTarget] = [:]
        _ = names.unique(SQLiteRecords.tableName)
        for type in schema.roots {
            guard type.visibleColumns.count <= connection.maximumColumns else {
                throw FirnError(
                    .schema,
                    "type \"\(type.name)\" has \(type.visibleColumns.count) columns, and tables of SQLite have at most \(connection.maximumColumns)",
                    at: .init(file: replacement.target), advice: "choose some of them with --columns")
            }
            guard !type.visibleColumns.isEmpty else {
                remarks.append("type \"\(type.name)\" has no columns, and is left out")
                continue
            }
            let target = SQLiteTarget(type, named: names.unique(type.name), in: schema, connection)
            positions[type.name] = targets.count
            targets.append(target)
            byName[SQLiteFormat.folded(type.name)] = target
        }
        try connection.execute("BEGIN")
        for target in targets { try connection.execute(target.declaration(byName), about: "table \"\(target.name)\"") }
    }

    package func write(_ batch: Batch, type: String) throws(FirnError) {
        if let position = positions[type], batch.count > 0 { try targets[position].write(batch) }
    }

    package func finish() throws(FirnError) {
        guard let connection else { trap("finish is called once, after begin") }
        var names = SQLiteNames(), records = SQLiteRecords()
        for target in targets { _ = names.unique(target.name) }
        _ = names.unique(SQLiteRecords.tableName)
        for target in targets {
            try target.finish(&names)
            target.add(to: &records)
            remarks += target.remarks
        }
        for type in schema.types where type.isEmbedded { records.add(embedded: type) }
        records.add(nil, nil, attributes: schema.otherAttributes)
        try writeSequences(connection)
        if !records.isEmpty { try write(records, connection) }
        try connection.execute("COMMIT")
        targets = []
        self.connection = nil
        // A process can have opened the old database meanwhile.
        try SQLiteSidecars.check(target)
        try replacement.finish()
    }

    /// Sets the sequences of AUTOINCREMENT as they were, unless a row id is larger.
    private func writeSequences(_ connection: SQLiteConnection) throws(FirnError) {
        let sequences = targets.compactMap { target in target.isAutoincrement ? target.facts.sequence.map { (target, $0) } : nil }
        guard !sequences.isEmpty else { return }
        try connection.execute("DELETE FROM sqlite_sequence")
        for (target, sequence) in sequences.sorted(by: { $0.1.row < $1.1.row }) {
            let column = SQLiteFormat.quoted(target.key[0]), table = SQLiteFormat.quoted(target.name)
            try connection.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT \(SQLiteFormat.literal(target.name)), max(\(sequence.value), coalesce(max(\(column)), 0)) FROM \(table)",
                about: "table \"\(target.name)\"")
        }
    }

    private func write(_ records: SQLiteRecords, _ connection: SQLiteConnection) throws(FirnError) {
        let table = SQLiteFormat.quoted(SQLiteRecords.tableName)
        try connection.execute("CREATE TABLE \(table) (type TEXT, \"column\" TEXT, name TEXT NOT NULL, value)")
        let statement = try connection.statement("INSERT INTO \(table) VALUES (?, ?, ?, ?)", about: "table \(table)")
        for record in records.records {
            statement.bind(1, record.type)
            statement.bind(2, record.column)
            statement.bind(3, record.name)
            if let text = String(validating: record.value, as: UTF8.self) {
                statement.bind(4, text)
            } else {
                statement.bind(4, record.value)
            }
            _ = try statement.step()
            statement.reset()
        }
    }
}

/// Links as the keys of the rows that they lead to.
package enum SQLiteForeignKeys {
    /// Returns the schema in which links to types with a key of one column have the values of that key, and foreign keys; by type, and by position of
    /// the column, the position of the key.
    package static func keyed(_ schema: Schema) -> (schema: Schema, keys: [String: [Int: Int]]) {
        var result = schema, keys: [String: [Int: Int]] = [:]
        for i in schema.types.indices where !schema.types[i].isEmbedded {
            var facts = SQLiteTableFacts(schema.types[i]), own: [Int: Int] = [:]
            for (position, column) in schema.types[i].columns.enumerated() where column.type.kind == .link && !column.type.isCollection {
                guard let target = column.type.target.flatMap({ schema[$0] }), target.key.count == 1 else { continue }
                let key = target.columns[target.key[0]]
                guard !key.type.isCollection, ![.link, .embedded, .any].contains(key.type.kind) else { continue }
                own[position] = target.key[0]
                var replaced = ColumnSchema(column.name, ColumnType(key.type.kind, optional: true), id: column.id, notation: key.notation)
                replaced.otherAttributes = key.otherAttributes
                replaced.indexes = column.indexes
                result.types[i].columns[position] = replaced
                facts.foreignKeys.append(
                    .init(target: target.name, columns: [column.name], targetColumns: [key.name], onUpdate: "", onDelete: ""))
            }
            guard !own.isEmpty else { continue }
            keys[schema.types[i].name] = own
            result.types[i].otherAttributes.removeAll { $0.name == SQLiteTableFacts.attributeName }
            if let attribute = facts.attribute { result.types[i].otherAttributes.append(attribute) }
        }
        return (result, keys)
    }
}
