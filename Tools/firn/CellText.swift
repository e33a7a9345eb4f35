import FirnBytes
import FirnExchange
import FirnTable

/// Formats values for text tables: in the notation of their column, nested values in brackets. Null is an empty cell, and the empty string
/// is `""`.
enum CellText {
    static func text(_ value: Value, _ column: ColumnSchema, in schema: Schema) -> String {
        if value.isNull { return "" }
        if case .string(let text) = value { return text.isEmpty ? "\"\"" : text }
        var out = ""
        append(value, column.type, column.notation, schema, to: &out)
        return out
    }

    /// Returns a lower bound of the bytes of a nested value's text; 0 for other values.
    static func minimumLength(_ value: Value) -> Int {
        func length(_ value: Value) -> Int {
            switch value {
            case .list, .set, .map, .object: 2 + minimumLength(value)
            case .null, .bool: 4
            case .string(let x): x.utf8.count
            default: 1
            }
        }
        switch value {
        case .list(let items), .set(let items): return items.reduce(0) { $0 + length($1) + 2 }
        case .map(let entries): return entries.reduce(0) { $0 + $1.key.utf8.count + length($1.value) + 4 }
        case .object(let entries): return entries.reduce(0) { $1.value.isNull ? $0 : $0 + length($1.value) + 4 }
        default: return 0
        }
    }

    private static func append(_ value: Value, _ type: ColumnType, _ notation: Notation, _ schema: Schema, to out: inout String) {
        switch value {
        case .null: out += "null"
        case .bool(let x): out += bool(x, notation)
        case .int(let x): out += String(x)
        case .float(let x): out += "\(x)"
        case .double(let x): out += double(x, notation)
        case .string(let x): out += x
        case .data(let x): out += "\(x.count) B"
        case .date(let x): out += date(x, notation)
        case .decimal(let x): out += x.description
        case .objectID(let x): out += x.objectIDText
        case .uuid(let x): out += notation == .uuidUpper ? x.uuidText.uppercased() : x.uuidText
        case .link(let x): out += "#\(x)"
        case .list(let items): append(items, in: ("[", "]"), to: &out) { append($0, type.element, notation, schema, to: &$1) }
        case .set(let items): append(items, in: ("{", "}"), to: &out) { append($0, type.element, notation, schema, to: &$1) }
        case .map(let entries):
            append(entries, in: ("{", "}"), to: &out) { entry, out in
                out += "\(entry.key): "
                append(entry.value, type.element, notation, schema, to: &out)
            }
        case .object(let entries):
            // Fields of embedded objects take their names from the type; those that are null are left out.
            let target = type.target.flatMap { schema[$0] }, fields = target?.columns ?? []
            if target?.isBare ?? false, let value = entries.first?.value {
                return append(value, fields[0].type, fields[0].notation, schema, to: &out)
            }
            append(entries.enumerated().lazy.filter { !$0.element.value.isNull }, in: ("{", "}"), to: &out) { field, out in
                let column = field.offset < fields.count ? fields[field.offset] : nil
                out += "\(column?.name ?? field.element.key): "
                append(field.element.value, column?.type ?? ColumnType(.any), column?.notation ?? .plain, schema, to: &out)
            }
        }
    }

    /// Appends the items in brackets, separated by commas.
    private static func append<Items: Sequence>(
        _ items: Items, in brackets: (String, String), to out: inout String, _ item: (Items.Element, inout String) -> Void
    ) {
        out += brackets.0
        var isFirst = true
        for each in items {
            if !isFirst { out += ", " }
            isFirst = false
            item(each, &out)
        }
        out += brackets.1
    }

    private static func bool(_ value: Bool, _ notation: Notation) -> String {
        switch notation {
        case .capitalised: value ? "True" : "False"
        case .upperCase: value ? "TRUE" : "FALSE"
        default: value ? "true" : "false"
        }
    }

    private static func double(_ value: Double, _ notation: Notation) -> String {
        spelled(NumberText.room) { NumberText.write(value, notation, to: $0) }
    }

    private static func date(_ value: Timestamp, _ notation: Notation) -> String {
        spelled(DateText.room) { DateText.write(seconds: value.seconds, nanoseconds: Int64(value.nanoseconds), notation: notation, to: $0) }
    }

    /// Returns a date in a notation.
    static func example(of notation: Notation) -> String { date(Timestamp(seconds: 1_456_784_111, nanoseconds: 0), notation) }

    private static func spelled(_ room: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
            let count = body(buffer.baseAddress!)
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
        }
    }
}
