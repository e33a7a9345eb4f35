import FirnExchange
import FirnTable

/// Which Arrow type each column is written as.
struct ArrowMapping {
    let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// The columns of a type that are written: all except original texts.
    static func written(_ type: TypeSchema) -> [Int] { type.visibleColumns }

    /// Returns the field of a column; nil if it has no values that Arrow could hold: objects without fields, or beyond the maximum depth.
    func field(_ column: ColumnSchema, depth: Int = 0) -> ArrowField? {
        guard column.type.isCollection else { return single(column, depth) }
        var element = column
        element.name = "element"
        element.type = column.type.element
        element.otherAttributes = []
        let metadata = column.metadata
        if column.type.collection == .map {
            element.name = "value"
            guard let value = field(element, depth: depth) else { return nil }
            let entries = ArrowField(
                "entries", .structure, nullable: false, children: [ArrowField("key", .text(.small), nullable: false), value])
            return ArrowField(
                column.name, .map(isSorted: true), nullable: column.type.isOptional, children: [entries], metadata: metadata)
        }
        guard let inner = field(element, depth: depth) else { return nil }
        var type = ArrowType.list(.small)
        if case .fixedList(let count)? = column.logical, count > 0, count < 1 << 24 { type = .fixedList(count) }
        return ArrowField(column.name, type, nullable: column.type.isOptional, children: [inner], metadata: metadata)
    }

    private func single(_ column: ColumnSchema, _ depth: Int) -> ArrowField? {
        var metadata = column.metadata
        func field(_ type: ArrowType) -> ArrowField {
            ArrowField(column.name, type, nullable: column.type.isOptional || column.type.kind == .any, metadata: metadata)
        }
        func extended(_ type: ArrowType, _ name: String, _ text: String = "") -> ArrowField {
            metadata.removeAll { $0.key == ArrowFormat.extensionName || $0.key == ArrowFormat.extensionMetadata }
            metadata.append(MetadataEntry(ArrowFormat.extensionName, Array(name.utf8)))
            metadata.append(MetadataEntry(ArrowFormat.extensionMetadata, Array(text.utf8)))
            return field(type)
        }
        switch column.logical {
        case .json?: return extended(.text(.small), "arrow.json")
        case .geometry(let system)?:
            return extended(.bytes(.small), "geoarrow.wkb", system.map { "{\"crs\":" + ArrowMapping.coordinates($0) + "}" } ?? "{}")
        default: break
        }
        if let type = column.logical.flatMap({ ArrowMapping.type($0) }) { return field(type) }
        switch column.type.kind {
        case .bool: return field(.bool)
        case .int, .link: return field(.int(bits: 64, isSigned: true))
        case .float: return field(.float(bits: 32))
        case .double: return field(.float(bits: 64))
        case .string, .any, .decimal: return field(.text(.small))
        case .data: return field(.bytes(.small))
        case .date: return field(ArrowMapping.type(ofDates: column.notation))
        case .objectID: return field(.fixedBytes(12))
        case .uuid: return extended(.fixedBytes(16), "arrow.uuid")
        case .embedded:
            guard depth < Column.maximumNesting, let target = column.type.target.flatMap({ schema[$0] }) else { return nil }
            if target.isBare {
                var inner = target.columns[0]
                inner.name = column.name
                inner.type.isOptional = column.type.isOptional
                return self.field(inner, depth: depth + 1)
            }
            let fields = target.columns.compactMap { self.field($0, depth: depth + 1) }
            guard !fields.isEmpty else { return nil }
            return ArrowField(column.name, .structure, nullable: column.type.isOptional, children: fields, metadata: metadata)
        }
    }

    /// A reference system as JSON: as it is if it is JSON, otherwise as a string.
    private static func coordinates(_ system: String) -> String {
        if case .map? = ExactJSON.document(Array(system.utf8)) { return system }
        var out: [UInt8] = []
        ExactJSON.append(.string(system), to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// The type of dates without a logical type. The unit is that of most values; a writer can choose another.
    static func type(ofDates notation: Notation) -> ArrowType {
        let notation = notation.standardDate
        if notation == .dateOnly { return .date(isDays: true) }
        return .timestamp(.microsecond, zone: notation.isLocal ? nil : "UTC")
    }

    private static func type(_ logical: LogicalType) -> ArrowType? {
        switch logical {
        case .integer(let bits, let isSigned): return .int(bits: bits, isSigned: isSigned)
        case .float16: return .float(bits: 16)
        case .decimal(let precision, let scale):
            guard precision <= 76, abs(scale) <= 512 else { return .text(.small) }
            return .decimal(precision: precision, scale: scale, bits: precision <= 38 ? 128 : 256)
        case .date: return .date(isDays: true)
        case .time(let unit): return .time(unit)
        case .timestamp(let unit, let zone): return .timestamp(unit, zone: zone)
        case .duration(let unit): return .duration(unit)
        case .interval: return .interval(.nanoseconds)
        case .enumeration: return .text(.small)
        case .json, .geometry, .fixedList: return nil
        }
    }
}
