import FirnJSON
import FirnTable

/// A schema as JSON Schema 2020-12, of the JSON that Firn writes: an array of rows, or an object of such arrays for several types.
struct SchemaAsJSON {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    var text: String {
        var members: [(String, JSONDocument)] = [("$schema", .string("https://json-schema.org/draft/2020-12/schema"))]
        let roots = schema.rowTypes
        if roots.count == 1 {
            members += SchemaAsJSON.array(of: reference(roots[0].name))
        } else {
            members.append(("type", .string("object")))
            members.append(("properties", .object(roots.map { ($0.name, .object(SchemaAsJSON.array(of: reference($0.name)))) })))
        }
        let types = schema.types.filter { !$0.isBare }
        members.append(("$defs", .object(types.map { ($0.name, .object(self.members(of: $0))) })))
        return JSONDocument.object(members).pretty + "\n"
    }

    private static func array(of items: [(String, JSONDocument)]) -> [(String, JSONDocument)] {
        [("type", .string("array")), ("items", .object(items))]
    }

    private func reference(_ name: String) -> [(String, JSONDocument)] {
        // "~" and "/" are escaped in pointers, and "%" and others in URIs.
        var path = ""
        for byte in name.replacing("~", with: "~0").replacing("/", with: "~1").utf8 {
            let isPlain = byte == 95 || byte == 45 || byte == 46 || byte == 126 || 48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte
            let hex = String(byte, radix: 16, uppercase: true)
            path += isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.utf8.count == 1 ? "0" : "") + hex
        }
        return [("$ref", .string("#/$defs/" + path))]
    }

    private func members(of type: TypeSchema) -> [(String, JSONDocument)] {
        var members: [(String, JSONDocument)] = [("type", .string("object"))]
        if !type.key.isEmpty {
            members.append(("description", .string("primary key: " + type.key.map { type.columns[$0].name }.joined(separator: ", "))))
        }
        members.append(("properties", .object(type.columns.map { ($0.name, .object(value(of: $0))) })))
        let required = type.columns.filter { !$0.type.isOptional && ($0.type.kind != .any || $0.type.isCollection) }
        if !required.isEmpty { members.append(("required", .array(required.map { .string($0.name) }))) }
        return members
    }

    private func value(of column: ColumnSchema) -> [(String, JSONDocument)] {
        var members = column.type.isCollection ? collection(column) : single(column)
        if column.type.isOptional { SchemaAsJSON.permitNull(&members) }
        return members
    }

    private static func permitNull(_ members: inout [(String, JSONDocument)]) {
        if let type = members.firstIndex(where: { $0.0 == "type" }) {
            members[type].1 = .array([members[type].1, .string("null")])
            if let texts = members.firstIndex(where: { $0.0 == "enum" }) {
                members[texts].1 = .array((members[texts].1.elements ?? []) + [.null])
            }
        } else if members.contains(where: { $0.0 == "$ref" }) {
            members = [("anyOf", .array([.object(members), .object([("type", .string("null"))])]))]
        }
    }

    private func collection(_ column: ColumnSchema) -> [(String, JSONDocument)] {
        var element = column
        element.type = column.type.element
        element.otherAttributes = []
        let items = JSONDocument.object(value(of: element))
        if column.type.collection == .map { return [("type", .string("object")), ("additionalProperties", items)] }
        var members: [(String, JSONDocument)] = [("type", .string("array")), ("items", items)]
        if column.type.collection == .set { members.append(("uniqueItems", .bool(true))) }
        if case .fixedList(let count)? = column.logical {
            members += [("minItems", .number("\(count)")), ("maxItems", .number("\(count)"))]
        }
        return members
    }

    private func single(_ column: ColumnSchema) -> [(String, JSONDocument)] {
        func type(_ name: String, _ more: (String, String)...) -> [(String, JSONDocument)] {
            [("type", .string(name))] + more.map { ($0.0, .string($0.1)) }
        }
        if let logical = column.logical { return logicalType(logical, column) }
        switch column.type.kind {
        case .bool: return type("boolean")
        case .int: return type("integer")
        case .link: return type("integer", ("description", "the number of a row of \(column.type.target ?? "another type"), from 0"))
        case .float, .double, .decimal: return type("number")
        case .string: return type("string")
        case .data: return type("string", ("contentEncoding", "base64"))
        case .date: return date(column)
        case .objectID: return type("string", ("pattern", "^[0-9a-fA-F]{24}$"))
        case .uuid: return type("string", ("format", "uuid"))
        case .any: return []
        case .embedded:
            if let bare = schema.bareField(of: column) { return value(of: bare) }
            return reference(column.type.target ?? "")
        }
    }

    private func date(_ column: ColumnSchema) -> [(String, JSONDocument)] {
        let notation = column.notation.standardDate
        if notation == .dateOnly { return [("type", .string("string")), ("format", .string("date"))] }
        // A date-time of RFC 3339 has a zone, with a colon in an offset.
        let layout = DateTimeLayout(notation)
        guard let layout, layout.followsT, layout.zone == .zulu || layout.zone == .colon else {
            let zone = notation.isLocal ? "without a zone" : "such as \"\(CellText.example(of: notation))\""
            return [("type", .string("string")), ("description", .string("a date and time \(zone)"))]
        }
        return [("type", .string("string")), ("format", .string("date-time"))]
    }

    private func logicalType(_ logical: LogicalType, _ column: ColumnSchema) -> [(String, JSONDocument)] {
        var plain = column
        plain.otherAttributes = []
        let described = [("description", JSONDocument.string("\(logical)"))]
        switch logical {
        case .integer(let bits, let isSigned):
            let high: (UInt64) = isSigned ? UInt64(1) << (bits - 1) - 1 : bits == 64 ? .max : UInt64(1) << bits - 1
            let low = isSigned ? "\(-Int128(high) - 1)" : "0"
            return [("type", .string("integer")), ("minimum", .number(low)), ("maximum", .number("\(high)"))]
        case .decimal: return single(plain) + described
        case .float16, .interval, .geometry, .duration: return single(plain) + described
        case .date, .timestamp: return date(column)
        case .time(let unit):
            let fraction = unit.digits > 0 ? "\\.[0-9]{\(unit.digits)}" : ""
            return [("type", .string("string")), ("pattern", .string("^[0-9]{2}:[0-9]{2}:[0-9]{2}\(fraction)$"))]
        case .enumeration(let texts):
            return texts.isEmpty ? single(plain) : [("type", .string("string")), ("enum", .array(texts.map { .string($0) }))]
        case .json: return []
        case .fixedList: return collection(column)
        }
    }
}
