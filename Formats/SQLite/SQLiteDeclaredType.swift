import FirnTable

/// The type that a column is declared with. SQLite permits any words, and values of any type; the words determine an affinity, to which values are
/// converted if they can be.
struct SQLiteDeclaredType: Hashable {
    /// https://www.sqlite.org/datatype3.html
    enum Affinity {
        case integer, real, numeric, text, none
    }

    let text: String
    /// The words before the parameters, in upper case.
    private let words: String

    init(_ text: String) {
        self.text = text
        var words = String(text.prefix { $0 != "(" }).uppercased()
        while words.last == " " { words.removeLast() }
        self.words = words
    }

    var affinity: Affinity {
        let whole = text.uppercased()
        func has(_ words: String...) -> Bool { words.contains { whole.contains($0) } }
        if has("INT") { return .integer }
        if has("CHAR", "CLOB", "TEXT") { return .text }
        if whole.isEmpty || has("BLOB") { return .none }
        return has("REAL", "FLOA", "DOUB") ? .real : .numeric
    }

    /// Whether a primary key of one column with this type is the row id.
    var isRowID: Bool { text.utf8.count == 7 && words == "INTEGER" }
    var isBool: Bool { words == "BOOLEAN" || words == "BOOL" }
    /// Whether the values should be dates or points in time.
    var isDate: Bool { words.hasPrefix("DATE") || words.hasPrefix("TIMESTAMP") }
    /// Whether the values should be numbers that need not be whole.
    var isFraction: Bool {
        let numbers = words == "NUMERIC" || words == "DECIMAL"
        return numbers && parameters.isEmpty || (decimal.map { $0.scale > 0 } ?? false)
    }

    /// The digits of a decimal that doubles represent exactly.
    var decimal: (precision: Int, scale: Int)? {
        guard ["NUMERIC", "DECIMAL", "DEC"].contains(words), let precision = parameters.first, 1...15 ~= precision else { return nil }
        let scale = parameters.count > 1 ? parameters[1] : 0
        return 0...precision ~= scale ? (precision, scale) : nil
    }

    private var parameters: [Int] {
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else { return [] }
        return text[text.index(after: open)..<close].split(separator: ",").compactMap { Int($0.filter { $0 != " " }) }
    }
}

extension SQLiteDeclaredType {
    /// The type that a column without another declared type is written with.
    static func standard(for column: ColumnSchema) -> SQLiteDeclaredType {
        guard !column.type.isCollection else { return SQLiteDeclaredType("JSON") }
        switch column.type.kind {
        case .bool: return SQLiteDeclaredType("BOOLEAN")
        case .int, .link: return SQLiteDeclaredType("INTEGER")
        case .double:
            if case .decimal(let precision, let scale)? = column.logical, 1...15 ~= precision, scale > 0, scale <= precision {
                return SQLiteDeclaredType("DECIMAL(\(precision),\(scale))")
            }
            return SQLiteDeclaredType("REAL")
        case .float: return SQLiteDeclaredType("REAL")
        case .string, .decimal, .objectID, .uuid: return SQLiteDeclaredType("TEXT")
        case .data: return SQLiteDeclaredType("BLOB")
        case .date: return SQLiteDeclaredType(column.notation == .dateOnly ? "DATE" : "DATETIME")
        case .any: return SQLiteDeclaredType("")
        case .embedded: return SQLiteDeclaredType("JSON")
        }
    }

    /// The attribute of a column that was declared with another type than the standard one. Permanent (`docs/format/model.md`).
    static let attribute = "sqlite-type"

    /// The type that a column was declared with in its source; nil if that is the standard one.
    static func kept(by column: ColumnSchema) -> SQLiteDeclaredType? {
        column.otherAttributes.first { $0.name == attribute }.flatMap { String(validating: $0.value, as: UTF8.self) }.map(Self.init)
    }
}
