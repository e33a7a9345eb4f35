import FirnModel

/// What the values of a column are in SQL.
enum SQLForm: Sendable, Equatable {
    /// Whole numbers; bools are 0 and 1.
    case int, bool
    case real, float
    case text, blob
    /// `2016-09-29 10:11:12.5` in UTC, so that the order of the texts is that of the times; of a column of days `2016-09-29`.
    case date(isDay: Bool)
    /// Numbers where those of SQL hold them exactly, all digits as text otherwise; comparisons are those of numbers.
    case decimal
    case uuid(isUpper: Bool), objectID
    /// Each value by its own kind.
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
        case .date: self = .date(isDay: column.notation == .dateOnly)
        case .decimal: self = .decimal
        case .uuid: self = .uuid(isUpper: column.notation == .uuidUpper)
        case .objectID: self = .objectID
        case .any: self = .any
        case .embedded: self = .json
        }
    }

    /// In the declaration of the table. SQLite takes from it how values are compared: "TEXT" anywhere in it means as text, which a plain
    /// DATETIME would not.
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
        case .uuid: "UUID TEXT"
        case .objectID: "OBJECTID TEXT"
        case .any: ""
        case .json: "JSON TEXT"
        }
    }

    /// Compared as numbers, whatever stands on the other side.
    var isNumeric: Bool {
        switch self {
        case .int, .bool, .real, .float: true
        default: false
        }
    }

    /// Compared as text, by the bytes of its UTF-8.
    var isTextual: Bool {
        switch self {
        case .text, .date, .uuid, .objectID: true
        default: false
        }
    }

    /// The engine sorts such columns as SQLite does. (Of reals only if none is NaN, of dates only within the years 0 to 9999.)
    var isOrdered: Bool { isNumeric || isTextual || self == .blob }
}

/// A column of a type as SQL has it.
struct SQLColumn: Sendable {
    /// In the type.
    let position: Int
    /// Unlike every other of the table, upper and lower case of ASCII letters being the same to SQLite.
    let name: String
    let schema: ColumnSchema
    let form: SQLForm
    /// Of links, and of collections of links: what stands for the rows that they lead to.
    let target: Target?

    struct Target: Sendable {
        let typeName: String
        /// The column that is the key of their type; nil: they are named by row id.
        let key: Int?
        let keySchema: ColumnSchema?
    }

    /// One column for each of the type's.
    static func all(of type: TypeSchema, in schema: Schema) -> [SQLColumn] {
        var names = NameTable()
        return type.columns.enumerated().map { position, column in
            let target = column.type.kind == .link ? column.type.target.flatMap { SQLColumn.target($0, in: schema) } : nil
            let form = column.type.kind == .link && !column.type.isCollection ? target?.keySchema.map { SQLForm($0) } ?? .int : SQLForm(column)
            return SQLColumn(position: position, name: names.unique(column.name), schema: column, form: form, target: target)
        }
    }

    private static func target(_ name: String, in schema: Schema) -> Target? {
        guard let type = schema[name] else { return nil }
        guard type.key.count == 1, case let key = type.columns[type.key[0]], !key.type.isCollection else { return Target(typeName: name, key: nil, keySchema: nil) }
        switch key.type.kind {
        case .link, .embedded, .any, .decimal: return Target(typeName: name, key: nil, keySchema: nil)
        default: return Target(typeName: name, key: type.key[0], keySchema: key)
        }
    }

    /// Names the type's own rows or other rows.
    var isLink: Bool { schema.type.kind == .link && !schema.type.isCollection }
}

/// Names that SQLite tells apart: a name that was there already, but for the case of ASCII letters, gets a number.
package struct NameTable {
    private var taken: Set<String> = []

    package init() {}

    package mutating func unique(_ name: String) -> String {
        var candidate = name, number = 2
        while !taken.insert(NameTable.folded(candidate)).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// With ASCII letters in lower case.
    package static func folded(_ name: String) -> String {
        let bytes: [UInt8] = name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Names and texts as SQL takes them, whatever is in them.
package enum SQLSpelling {
    package static func name(_ name: String) -> String { "\"" + doubling("\"", in: name) + "\"" }
    static func text(_ text: String) -> String { "'" + doubling("'", in: text) + "'" }

    /// Byte by byte, as SQLite reads: a quote and a mark that combines with it are one character.
    private static func doubling(_ mark: Unicode.Scalar, in text: String) -> String {
        let mark = UInt8(ascii: mark)
        return String(decoding: text.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }, as: UTF8.self)
    }
}
