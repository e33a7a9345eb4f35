import FirnTable

/// A schema as the text of Parquet's: one `message` for each type of rows.
struct SchemaAsParquet {
    private let schema: Schema
    private var lines: [String] = []

    init(_ schema: Schema) {
        self.schema = schema
        for type in schema.rowTypes {
            if !lines.isEmpty { lines.append("") }
            lines.append("message \(type.name) {")
            for column in type.columns { add(column, column.name, isOptional: column.type.isOptional, 1, depth: 0) }
            lines.append("}")
        }
    }

    var text: String { lines.map { $0 + "\n" }.joined() }

    private mutating func line(_ indent: Int, _ text: String) { lines.append(String(repeating: "  ", count: indent) + text) }

    private mutating func add(_ column: ColumnSchema, _ name: String, isOptional: Bool, _ indent: Int, depth: Int) {
        let repetition = isOptional || column.type.kind == .any && !column.type.isCollection ? "optional" : "required"
        if column.type.isCollection {
            var element = column
            element.type = column.type.element
            element.otherAttributes = []
            let isMap = column.type.collection == .map
            line(indent, "\(repetition) group \(name) (\(isMap ? "MAP" : "LIST")) {")
            line(indent + 1, "repeated group \(isMap ? "key_value" : "list") {")
            if isMap { line(indent + 2, "required binary key (STRING);") }
            add(element, isMap ? "value" : "element", isOptional: column.type.elementIsOptional, indent + 2, depth: depth)
            line(indent + 1, "}")
            line(indent, "}")
            return
        }
        if let bare = schema.bareField(of: column) { return add(bare, name, isOptional: isOptional, indent, depth: depth + 1) }
        if column.type.kind == .embedded, depth < Column.maximumNesting {
            line(indent, "\(repetition) group \(name) {")
            for field in column.type.target.flatMap({ schema[$0] })?.columns ?? [] {
                add(field, field.name, isOptional: field.type.isOptional, indent + 1, depth: depth + 1)
            }
            line(indent, "}")
            return
        }
        let (physical, annotation) = leaf(column)
        line(indent, "\(repetition) \(physical) \(name)\(annotation.map { " (\($0))" } ?? "");")
    }

    private func leaf(_ column: ColumnSchema) -> (physical: String, annotation: String?) {
        if let logical = column.logical { return leaf(logical) }
        switch column.type.kind {
        case .bool: return ("boolean", nil)
        case .int, .link: return ("int64", nil)
        case .float: return ("float", nil)
        case .double: return ("double", nil)
        case .string, .decimal: return ("binary", "STRING")
        case .data: return ("binary", nil)
        case .date: return column.notation.standardDate == .dateOnly ? ("int32", "DATE") : ("int64", "TIMESTAMP(MICROS,true)")
        case .objectID: return ("fixed_len_byte_array(12)", nil)
        case .uuid: return ("fixed_len_byte_array(16)", "UUID")
        case .any, .embedded: return ("binary", "JSON")
        }
    }

    private func leaf(_ logical: LogicalType) -> (physical: String, annotation: String?) {
        // Parquet has no seconds.
        func name(_ unit: TimeUnit) -> String { unit == .nanosecond ? "NANOS" : unit == .microsecond ? "MICROS" : "MILLIS" }
        switch logical {
        case .integer(let bits, let isSigned): return (bits == 64 ? "int64" : "int32", "INTEGER(\(bits),\(isSigned))")
        case .float16: return ("fixed_len_byte_array(2)", "FLOAT16")
        case .decimal(let precision, let scale):
            // Parquet has no negative scale.
            let digits = scale < 0 ? precision - scale : precision
            // The bytes that hold the digits and a sign.
            let bytes = Int((Double(digits) * 3.321928094887362 + 1) / 8) + 1
            return (
                digits <= 9 ? "int32" : digits <= 18 ? "int64" : "fixed_len_byte_array(\(bytes))", "DECIMAL(\(digits),\(max(0, scale)))"
            )
        case .date: return ("int32", "DATE")
        case .time(let unit): return (name(unit) == "MILLIS" ? "int32" : "int64", "TIME(\(name(unit)),false)")
        case .timestamp(let unit, let zone): return ("int64", "TIMESTAMP(\(name(unit)),\(zone != nil))")
        case .duration: return ("int64", nil)
        case .interval: return ("fixed_len_byte_array(12)", "INTERVAL")
        case .enumeration: return ("binary", "ENUM")
        case .json: return ("binary", "JSON")
        case .geometry(let system): return ("binary", "GEOMETRY" + (system.map { "(\($0))" } ?? ""))
        case .fixedList: return ("binary", nil)
        }
    }
}
