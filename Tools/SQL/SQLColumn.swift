import FirnTable

/// The form of a column's values in SQL.
enum SQLForm: Sendable, Equatable {
    /// Whole numbers; bools are 0 and 1.
    case int, bool
    case real, float
    case text, blob
    /// `2016-09-29 10:11:12.5` in UTC, or `2016-09-29` in a column of days. The order of the texts is that of the times.
    case date(isDay: Bool)
    /// Decimals that numbers of SQL represent exactly.
    case decimal
    /// The texts of decimals, in a column in which some have more digits than a number of SQL. Compared by the collation `firn_decimal`.
    case longDecimal
    case uuid(isUpper: Bool), objectID
    /// Values of different kinds.
    case any
    /// Lists, sets, maps and embedded objects.
    case json

    init(_ column: ColumnSchema) {
        guard !column.type.isCollection else {
            self = .json
            return
        }
        switch column.type.kind {
        case .bool: self = .bool
        case .int, .link: self = .int
        case .float: self = .float
        case .double: self = .real
        case .string: self = .text
        case .data: self = .blob
        case .date: self = .date(isDay: column.notation.standardDate == .dateOnly)
        case .decimal: self = .decimal
        case .uuid: self = .uuid(isUpper: column.notation == .uuidUpper)
        case .objectID: self = .objectID
        case .any: self = .any
        case .embedded: self = .json
        }
    }

    /// The type in the declaration of the table. SQLite derives the comparison of values from it: with "TEXT" anywhere in it they are
    /// compared as text, which a plain DATETIME would not do.
    var declaration: String {
        switch self {
        case .int: "INTEGER"
        case .bool: "BOOLEAN"
        case .real: "DOUBLE"
        case .float: "FLOAT"
        case .text: "TEXT"
        case .blob: "BLOB"
        case .date(let isDay): isDay ? "DATE TEXT" : "DATETIME TEXT"
        case .decimal: "DECIMAL"
        case .longDecimal: "DECIMAL TEXT COLLATE \(SQLDecimal.collation)"
        case .uuid: "UUID TEXT"
        case .objectID: "OBJECTID TEXT"
        case .any: ""
        case .json: "JSON TEXT"
        }
    }

    /// Whether values are compared as numbers, whatever they are compared with.
    var isNumeric: Bool {
        switch self {
        case .int, .bool, .real, .float: true
        default: false
        }
    }

    /// Whether values are compared as text, by the bytes of its UTF-8.
    var isTextual: Bool {
        switch self {
        case .text, .date, .uuid, .objectID: true
        default: false
        }
    }

    /// Whether Query sorts such columns as SQLite does: floats only without NaN, dates only within the years 0 to 9999.
    var isOrdered: Bool { isNumeric || isTextual || self == .blob }
}

/// A column of a type as a column of a SQL table.
struct SQLColumn: Sendable {
    /// The position in the type.
    let position: Int
    /// The name in SQL, unique in the table without regard to the case of ASCII letters, as SQLite requires.
    let name: String
    let schema: ColumnSchema
    let form: SQLForm
    /// Whether `SELECT *` omits the column: it holds the original texts of another.
    let isHidden: Bool
    /// For links and collections of links: how target rows are named.
    let target: Target?

    struct Target: Sendable {
        let typeName: String
        /// The key column of the target type; nil if rows are named by row id.
        let key: Int?
        let keySchema: ColumnSchema?
    }

    /// The number of columns that SQLite permits by default.
    private static let maximumByDefault = 2000

    /// Returns a SQL column for each column of the type. Columns of original texts are left out where SQLite might refuse the table for
    /// their number.
    static func all(of table: any Table) -> [SQLColumn] {
        let type = table.type, schema = table.schema
        var names = NameTable()
        let positions = type.columns.count > maximumByDefault ? type.visibleColumns : Array(type.columns.indices)
        return positions.map { position in
            let column = type.columns[position]
            let target = column.type.kind == .link ? column.type.target.flatMap { SQLColumn.target($0, in: schema) } : nil
            var form =
                column.type.kind == .link && !column.type.isCollection ? target?.keySchema.map { SQLForm($0) } ?? .int : SQLForm(column)
            if form == .decimal, SQLDecimal.needsText(position, of: table) { form = .longDecimal }
            return SQLColumn(
                position: position, name: names.unique(column.name), schema: column, form: form, isHidden: type.isCompanion(position),
                target: target)
        }
    }

    private static func target(_ name: String, in schema: Schema) -> Target? {
        guard let type = schema[name] else { return nil }
        guard type.key.count == 1, case let key = type.columns[type.key[0]], !key.type.isCollection else {
            return Target(typeName: name, key: nil, keySchema: nil)
        }
        switch key.type.kind {
        case .link, .embedded, .any, .decimal: return Target(typeName: name, key: nil, keySchema: nil)
        default: return Target(typeName: name, key: type.key[0], keySchema: key)
        }
    }

    /// Whether the column is a single link.
    var isLink: Bool { schema.type.kind == .link && !schema.type.isCollection }
}

/// Makes names unique for SQLite: a name that differs from an earlier one only in the case of ASCII letters gets a number. U+0000, at which
/// SQL ends, is left out.
package struct NameTable {
    private var taken: Set<String> = []

    package init() {}

    package mutating func unique(_ name: String) -> String {
        let shown = name.replacing("\0", with: ""), name = shown.isEmpty && !name.isEmpty ? "_" : shown
        var candidate = name, number = 2
        while !taken.insert(NameTable.folded(candidate)).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// Returns the name with ASCII letters in lower case.
    package static func folded(_ name: String) -> String {
        let bytes: [UInt8] = name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Quotes names and texts for SQL, whatever they contain.
package enum SQLSpelling {
    package static func name(_ name: String) -> String { "\"" + doubling("\"", in: name) + "\"" }
    package static func text(_ text: String) -> String { "'" + doubling("'", in: text) + "'" }

    /// Works on bytes, as SQLite does: in Swift a quote and a combining mark after it are one character.
    private static func doubling(_ mark: Unicode.Scalar, in text: String) -> String {
        let mark = UInt8(ascii: mark)
        return String(decoding: text.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }, as: UTF8.self)
    }
}
