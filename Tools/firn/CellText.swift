import FirnBytes
import FirnExchange
import FirnModel

/// Values as people read them in a table: in the notation of their column, nested ones in brackets. Null is an empty cell, the empty string `""`.
enum CellText {
    static func text(_ value: Value, _ column: ColumnSchema, in schema: Schema) -> String {
        if value.isNull { return "" }
        if case .string(let text) = value { return text.isEmpty ? "\"\"" : text }
        return nested(value, column.type, column.notation, schema)
    }

    private static func nested(_ value: Value, _ type: ColumnType, _ notation: Notation, _ schema: Schema) -> String {
        switch value {
        case .null: return "null"
        case .bool(let x): return bool(x, notation)
        case .int(let x): return String(x)
        case .float(let x): return "\(x)"
        case .double(let x): return double(x, notation)
        case .string(let x): return x
        case .data(let x): return "\(x.count) B"
        case .date(let x): return date(x, notation)
        case .decimal(let x): return x.description
        case .objectID(let x): return x.objectIDText
        case .uuid(let x): return notation == .uuidUpper ? x.uuidText.uppercased() : x.uuidText
        case .link(let x): return "#\(x)"
        case .list(let items): return "[" + items.map { nested($0, type.element, notation, schema) }.joined(separator: ", ") + "]"
        case .set(let items): return "{" + items.map { nested($0, type.element, notation, schema) }.joined(separator: ", ") + "}"
        case .map(let entries): return "{" + entries.map { "\($0.key): " + nested($0.value, type.element, notation, schema) }.joined(separator: ", ") + "}"
        case .object(let entries): return object(entries, type, schema)
        }
    }

    /// Fields of embedded objects take their names from the type; those that are null are left out.
    private static func object(_ entries: [Value.Entry], _ type: ColumnType, _ schema: Schema) -> String {
        let fields = type.target.flatMap { schema[$0] }?.columns ?? []
        var parts: [String] = []
        for (i, entry) in entries.enumerated() where !entry.value.isNull {
            let column = i < fields.count ? fields[i] : nil
            parts.append("\(column?.name ?? entry.key): " + nested(entry.value, column?.type ?? ColumnType(.any), column?.notation ?? .plain, schema))
        }
        return "{" + parts.joined(separator: ", ") + "}"
    }

    private static func bool(_ value: Bool, _ notation: Notation) -> String {
        switch notation {
        case .capitalised: value ? "True" : "False"
        case .upperCase: value ? "TRUE" : "FALSE"
        default: value ? "true" : "false"
        }
    }

    private static func double(_ value: Double, _ notation: Notation) -> String {
        spelled(NumberText.room) { out in
            if notation.code == Notation.fixed(0).code { return NumberText.write(value, fixed: Int(notation.parameter), to: out) }
            return notation == .pointZero ? NumberText.writePointZero(value, to: out) : NumberText.writePlain(value, to: out)
        }
    }

    private static func date(_ value: Timestamp, _ notation: Notation) -> String {
        spelled(DateText.room) { DateText.write(seconds: value.seconds, nanoseconds: Int64(value.nanoseconds), notation: notation, to: $0) }
    }

    private static func spelled(_ room: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
            let count = body(buffer.baseAddress!)
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
        }
    }
}
