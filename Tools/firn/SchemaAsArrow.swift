import FirnTable

/// A schema as the text that Arrow libraries print for theirs: one block of fields for each type of rows.
struct SchemaAsArrow {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    var text: String {
        let types = schema.rowTypes
        return types.map { type in
            (types.count > 1 ? "# \(type.name)\n" : "") + type.columns.map { "\($0.name): \(field($0))\n" }.joined() + metadata(type)
        }.joined(separator: "\n")
    }

    private func metadata(_ type: TypeSchema) -> String {
        let entries = schema.metadata + type.metadata
        return entries.isEmpty
            ? "" : "-- schema metadata --\n" + entries.map { "\($0.key): \"\(MetadataText.shown($0.value))\"\n" }.joined()
    }

    private func field(_ column: ColumnSchema, depth: Int = 0) -> String {
        type(column, depth) + (column.type.isOptional ? "" : " not null")
    }

    private func type(_ column: ColumnSchema, _ depth: Int) -> String {
        guard column.type.isCollection else { return single(column, depth) }
        var element = column
        element.type = column.type.element
        if column.type.kind == .any { element.type.isOptional = true }
        element.otherAttributes = []
        switch column.type.collection {
        case .map: return "map<string, \(field(element, depth: depth))>"
        default:
            guard case .fixedList(let count)? = column.logical else { return "list<element: \(field(element, depth: depth))>" }
            return "fixed_size_list<element: \(field(element, depth: depth))>[\(count)]"
        }
    }

    private func single(_ column: ColumnSchema, _ depth: Int) -> String {
        if let logical = column.logical { return logicalType(logical) }
        switch column.type.kind {
        case .bool: return "bool"
        case .int, .link: return "int64"
        case .float: return "float"
        case .double: return "double"
        case .string, .any: return "string"
        case .data: return "binary"
        case .date: return column.notation.standardDate == .dateOnly ? "date32[day]" : "timestamp[us, tz=UTC]"
        case .decimal: return "string"
        case .objectID: return "fixed_size_binary[12]"
        case .uuid: return "extension<arrow.uuid>"
        case .embedded:
            if let bare = schema.bareField(of: column) { return type(bare, depth + 1) }
            let fields = column.type.target.flatMap { schema[$0] }?.columns ?? []
            guard depth < Column.maximumNesting else { return "string" }
            return "struct<\(fields.map { "\($0.name): \(field($0, depth: depth + 1))" }.joined(separator: ", "))>"
        }
    }

    private func logicalType(_ logical: LogicalType) -> String {
        switch logical {
        case .integer(let bits, let isSigned): return "\(isSigned ? "" : "u")int\(bits)"
        case .float16: return "halffloat"
        case .decimal(let precision, let scale): return "decimal\(precision <= 38 ? 128 : 256)(\(precision), \(scale))"
        case .date: return "date32[day]"
        case .time(let unit): return unit == .second || unit == .millisecond ? "time32[\(unit.rawValue)]" : "time64[\(unit.rawValue)]"
        case .timestamp(let unit, let zone): return "timestamp[\(unit.rawValue)\(zone.map { ", tz=\($0)" } ?? "")]"
        case .duration(let unit): return "duration[\(unit.rawValue)]"
        case .interval: return "month_day_nano_interval"
        case .enumeration: return "dictionary<values=string, indices=int32, ordered=0>"
        case .json: return "extension<arrow.json>"
        case .geometry: return "extension<geoarrow.wkb>"
        case .fixedList(let count): return "fixed_size_list[\(count)]"
        }
    }
}
