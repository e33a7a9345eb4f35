import FirnTable

/// A schema as the text that Arrow libraries print for theirs: one block of fields for each type of rows.
package enum ArrowSchemaText {
    /// Returns the fields with which the writer writes the types.
    package static func text(_ schema: Schema) -> String {
        let types = schema.roots
        return types.map { type in
            let mapping = ArrowMapping(schema)
            let lines = ArrowMapping.written(type).compactMap { position in
                mapping.field(type.columns[position]).map { "\($0.name): \(text($0))\n" }
            }
            return (types.count > 1 ? "# \(type.name)\n" : "") + lines.joined() + metadata(schema.metadata + type.metadata)
        }.joined(separator: "\n")
    }

    private static func metadata(_ entries: [MetadataEntry]) -> String {
        guard !entries.isEmpty else { return "" }
        let lines = entries.map { entry in
            let text = String(validating: entry.value, as: UTF8.self)
            let shown = text.map { $0.count > 60 ? $0.prefix(60) + "…" : $0 } ?? "\(entry.value.count) bytes"
            return "\(entry.key): \"\(shown)\"\n"
        }
        return "-- schema metadata --\n" + lines.joined()
    }

    static func text(_ field: ArrowField) -> String { name(field) + (field.isNullable ? "" : " not null") }

    /// The name of the type of a field.
    static func name(_ field: ArrowField) -> String {
        if let name = field.extensionName { return "extension<\(name)>" }
        func child(_ i: Int) -> String { "\(field.children[i].name): \(text(field.children[i]))" }
        switch field.type {
        case .null: return "null"
        case .bool: return "bool"
        case .int(let bits, let isSigned): return (isSigned ? "int" : "uint") + "\(bits)"
        case .float(let bits): return bits == 16 ? "halffloat" : bits == 32 ? "float" : "double"
        case .decimal(let precision, let scale, let bits): return "decimal\(bits)(\(precision), \(scale))"
        case .date(let isDays): return isDays ? "date32[day]" : "date64[ms]"
        case .time(let unit): return "time\(unit.digits <= 3 ? 32 : 64)[\(unit.rawValue)]"
        case .timestamp(let unit, let zone): return "timestamp[\(unit.rawValue)\(zone.map { ", tz=\($0)" } ?? "")]"
        case .interval(let unit):
            return unit == .months ? "month_interval" : unit == .days ? "day_time_interval" : "month_day_nano_interval"
        case .duration(let unit): return "duration[\(unit.rawValue)]"
        case .bytes(let width): return width == .small ? "binary" : width == .large ? "large_binary" : "binary_view"
        case .text(let width): return width == .small ? "string" : width == .large ? "large_string" : "string_view"
        case .fixedBytes(let count): return "fixed_size_binary[\(count)]"
        case .list(let width): return (width == .small ? "list" : width == .large ? "large_list" : "list_view") + "<\(child(0))>"
        case .largeListView: return "large_list_view<\(child(0))>"
        case .fixedList(let count): return "fixed_size_list<\(child(0))>[\(count)]"
        case .structure: return "struct<\(field.children.indices.map(child).joined(separator: ", "))>"
        case .map:
            let entry = field.children[0].children
            return "map<\(name(entry[0])), \(text(entry[1]))>"
        case .union(let isDense, _):
            return (isDense ? "dense" : "sparse") + "_union<\(field.children.indices.map(child).joined(separator: ", "))>"
        case .runs: return "run_end_encoded<\(field.children.indices.map(child).joined(separator: ", "))>"
        }
    }
}
