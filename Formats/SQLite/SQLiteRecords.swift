import FirnBytes
import FirnTable

/// What Firn knows about types and columns and SQLite's declarations do not say, such as the elements of lists. It is stored in the table
/// `_firn` of a database, of which databases without such facts have none (`docs/guide/sqlite.md`). Names are permanent.
struct SQLiteRecords {
    static let tableName = "_firn"

    struct Record {
        /// Nil for the file.
        var type: String?
        /// Nil for the type.
        var column: String?
        var name: String
        var value: [UInt8]

        init(_ type: String?, _ column: String?, _ name: String, _ value: [UInt8]) {
            (self.type, self.column, self.name, self.value) = (type, column, name, value)
        }
    }

    private(set) var records: [Record] = []
    /// The positions of the records of each type and column.
    private var positions: [Owner: [Int]] = [:]
    var isEmpty: Bool { records.isEmpty }
    /// Whether a column is of kind any, whose values can be links to rows of any table.
    var holdAny: Bool { records.contains { $0.name == SQLiteRecords.type && $0.value.starts(with: ScalarKind.any.name.utf8) } }

    private struct Owner: Hashable {
        var type: String?
        var column: String?
    }

    private mutating func add(_ record: Record) {
        positions[Owner(type: record.type, column: record.column), default: []].append(records.count)
        records.append(record)
    }

    static let type = "type", notation = "notation", embedded = "embedded", envelope = "envelope", attribute = "attribute:"

    // MARK: Writing

    mutating func add(_ type: String?, _ column: String?, _ name: String, _ value: String) {
        add(Record(type, column, name, Array(value.utf8)))
    }

    mutating func add(_ type: String?, _ column: String?, attributes: [SchemaAttribute]) {
        for attribute in attributes { add(Record(type, column, SQLiteRecords.attribute + attribute.name, attribute.value)) }
    }

    mutating func add(_ type: String, _ column: String, notation: Notation) {
        add(type, column, SQLiteRecords.notation, "\(notation.code) \(notation.parameter)")
    }

    /// Adds an embedded type with all its columns.
    mutating func add(embedded type: TypeSchema) {
        add(type.name, nil, SQLiteRecords.embedded, "")
        if let envelope = type.envelope { add(type.name, nil, SQLiteRecords.envelope, envelope) }
        add(type.name, nil, attributes: type.otherAttributes)
        for column in type.columns {
            add(type.name, column.name, SQLiteRecords.type, SQLiteRecords.words(column.type))
            if column.notation != .plain { add(type.name, column.name, notation: column.notation) }
            add(type.name, column.name, attributes: column.otherAttributes)
        }
    }

    /// A type as words: the kind, `list`, `set` or `map`, `optional`, `null-elements`, and at the end `of` the target.
    static func words(_ type: ColumnType) -> String {
        var words = [type.kind.name]
        if type.isCollection { words.append("\(type.collection)") }
        if type.isOptional { words.append("optional") }
        if type.elementIsOptional { words.append("null-elements") }
        if let target = type.target { words += ["of", target] }
        return words.joined(separator: " ")
    }

    // MARK: Reading

    static func columnType(_ words: String) -> ColumnType? {
        var words = words.fields(at: UInt8(ascii: " "))[...]
        guard let kind = words.popFirst().flatMap({ ScalarKind(name: String($0)) }) else { return nil }
        var type = ColumnType(kind)
        while let word = words.popFirst() {
            switch word {
            case "list": type.collection = .list
            case "set": type.collection = .set
            case "map": type.collection = .map
            case "optional": type.isOptional = true
            case "null-elements": type.elementIsOptional = true
            case "of":
                type.target = words.joined(separator: " ")
                words = []
            default: return nil
            }
        }
        // A link needs the rows of its target, and embedded objects their type.
        return kind == .link || (kind == .embedded) != (type.target != nil) ? nil : type
    }

    private func values(_ type: String?, _ column: String?) -> [Record] {
        positions[Owner(type: type, column: column)]?.map { records[$0] } ?? []
    }

    func attributes(_ type: String?, _ column: String?) -> [SchemaAttribute] {
        values(type, column).filter { $0.name.hasPrefix(SQLiteRecords.attribute) }.map {
            SchemaAttribute(String($0.name.dropFirst(SQLiteRecords.attribute.count)), $0.value)
        }
    }

    private func text(_ type: String?, _ column: String?, _ name: String) -> String? {
        values(type, column).first { $0.name == name }.flatMap { String(validating: $0.value, as: UTF8.self) }
    }

    func columnType(_ type: String, _ column: String) -> ColumnType? {
        text(type, column, SQLiteRecords.type).flatMap(SQLiteRecords.columnType)
    }

    func notation(_ type: String, _ column: String) -> Notation? {
        let numbers = text(type, column, SQLiteRecords.notation)?.split(separator: " ").compactMap { UInt8($0) } ?? []
        return numbers.count == 2 ? Notation(code: numbers[0], parameter: numbers[1]) : nil
    }

    /// The embedded types. A type with a column whose type is not known is left out.
    var embeddedTypes: [TypeSchema] {
        var types: [TypeSchema] = []
        let ofTypes = Dictionary(grouping: records, by: { $0.type ?? "" })
        for name in records.filter({ $0.name == SQLiteRecords.embedded && $0.column == nil }).compactMap(\.type) {
            var columns: [ColumnSchema] = [], names: Set<String> = [], isKnown = true
            for record in ofTypes[name] ?? [] where record.name == SQLiteRecords.type {
                guard let column = record.column, let type = columnType(name, column), names.insert(column).inserted
                else {
                    isKnown = false
                    continue
                }
                var made = ColumnSchema(column, type, notation: notation(name, column) ?? .plain)
                made.otherAttributes = attributes(name, column)
                columns.append(made)
            }
            guard isKnown, !columns.isEmpty, !types.contains(where: { $0.name == name }) else { continue }
            var type = TypeSchema(name, columns: columns, isEmbedded: true, envelope: text(name, nil, SQLiteRecords.envelope))
            type.otherAttributes = attributes(name, nil)
            types.append(type)
        }
        return types
    }
}

extension SQLiteRecords {
    /// Reads the table `_firn`; empty if there is none, or another table has its name.
    init(_ connection: SQLiteConnection) throws(FirnError) {
        guard
            let statement = try? connection.statement(
                "SELECT type, \"column\", name, value FROM main.\(SQLiteFormat.quoted(SQLiteRecords.tableName)) NOT INDEXED ORDER BY rowid")
        else { return }
        var taken = 0
        while try statement.step() {
            func text(_ column: Int32) -> String? {
                statement.isNull(column) ? nil : String(decoding: statement.bytes(column), as: UTF8.self)
            }
            let record = Record(text(0), text(1), text(2) ?? "", statement.bytes(3))
            taken += record.value.count + 100
            guard taken < SQLiteRecords.maximumBytes else {
                throw FirnError(
                    .damaged, "the table \"\(SQLiteRecords.tableName)\" has more than \(SQLiteRecords.maximumBytes) bytes",
                    at: .init(file: connection.name))
            }
            add(record)
        }
    }

    private static let maximumBytes = 64 << 20
}
