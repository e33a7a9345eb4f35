import FirnBytes
import FirnTable

/// What a schema says that other formats do not, as JSON text: for formats that keep metadata of applications. With it, a table that goes
/// to such a format and back has the same schema: kinds, sets, links, keys, notations, attributes, names of types. The text is permanent:
/// later versions read it.
package enum SchemaFacts {
    /// The key of the metadata of a file that holds the text. All keys of Firn begin with `prefix`, and are not shown as metadata of
    /// applications.
    package static let key = "firn.schema"
    package static let prefix = "firn."

    /// Returns the text for a type of rows and the types that its columns lead to. Metadata of the file are not part of it.
    package static func text(_ type: TypeSchema, in schema: Schema) -> String {
        var members: [(String, Value)] = [("v", .int(1)), ("rows", .string(type.name))]
        var types = [type], names: Set<String> = [type.name], next = 0
        while next < types.count {
            for column in types[next].columns where column.type.kind == .embedded {
                guard let target = column.type.target, let inner = schema[target], names.insert(target).inserted else { continue }
                types.append(inner)
            }
            next += 1
        }
        members.append(("types", .list(types.map(value))))
        let others = schema.otherAttributes.filter { !$0.name.hasPrefix("meta:") }
        if !others.isEmpty { members.append(("attributes", value(others))) }
        var out: [UInt8] = []
        ExactJSON.append(object(members), to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func object(_ members: [(String, Value)]) -> Value { .map(members.map { Value.Entry($0.0, $0.1) }) }

    private static func value(_ attributes: [SchemaAttribute]) -> Value {
        .list(
            attributes.map {
                .list([.string($0.name), String(validating: $0.value, as: UTF8.self).map { .string($0) } ?? .data($0.value)])
            })
    }

    private static func value(_ type: TypeSchema) -> Value {
        var members: [(String, Value)] = [("name", .string(type.name))]
        if type.isEmbedded { members.append(("embedded", .bool(true))) }
        if !type.key.isEmpty { members.append(("key", .list(type.key.map { .int(Int64($0)) }))) }
        if let envelope = type.envelope { members.append(("envelope", .string(envelope))) }
        if !type.otherAttributes.isEmpty { members.append(("attributes", value(type.otherAttributes))) }
        members.append(("columns", .list(type.columns.map(value))))
        return object(members)
    }

    private static func value(_ column: ColumnSchema) -> Value {
        let type = column.type
        var members: [(String, Value)] = [("name", .string(column.name)), ("kind", .string(type.kind.name))]
        if type.isOptional { members.append(("optional", .bool(true))) }
        if type.isCollection { members.append(("collection", .string("\(type.collection)"))) }
        if type.elementIsOptional { members.append(("nullElements", .bool(true))) }
        if let target = type.target { members.append(("target", .string(target))) }
        if column.notation != .plain {
            members.append(("notation", .list([.int(Int64(column.notation.code)), .int(Int64(column.notation.parameter))])))
        }
        if column.writesNull { members.append(("writesNull", .bool(true))) }
        if !column.indexes.isEmpty { members.append(("indexes", .int(Int64(column.indexes.rawValue)))) }
        if let of = column.originalTextOf { members.append(("originalTextOf", .string(of))) }
        if !column.otherAttributes.isEmpty { members.append(("attributes", value(column.otherAttributes))) }
        return object(members)
    }

    // MARK: Reading

    /// Returns the type of the rows and the embedded types of a text; nil if it is not such a text, or one of a later version.
    package static func schema(_ text: [UInt8]) -> (rows: TypeSchema, schema: Schema)? {
        guard let root = ExactJSON.value(text), case .int(1)? = root["v"], case .string(let name)? = root["rows"],
            case .list(let types)? = root["types"]
        else { return nil }
        var read: [TypeSchema] = []
        for value in types {
            guard let type = type(value) else { return nil }
            read.append(type)
        }
        guard Set(read.map(\.name)).count == read.count, let rows = read.first(where: { $0.name == name }) else { return nil }
        var schema = Schema(read)
        guard let others = attributes(root) else { return nil }
        schema.otherAttributes = others
        return (rows, schema)
    }

    private static func attributes(_ value: Value) -> [SchemaAttribute]? {
        guard let list = value["attributes"] else { return [] }
        guard case .list(let entries) = list else { return nil }
        var out: [SchemaAttribute] = [], names: Set<String> = []
        for entry in entries {
            guard case .list(let pair) = entry, pair.count == 2, case .string(let name) = pair[0], names.insert(name).inserted else {
                return nil
            }
            switch pair[1] {
            case .string(let text): out.append(SchemaAttribute(name, Array(text.utf8)))
            case .data(let bytes): out.append(SchemaAttribute(name, bytes))
            default: return nil
            }
        }
        return out
    }

    private static func type(_ value: Value) -> TypeSchema? {
        guard case .string(let name)? = value["name"], case .list(let list)? = value["columns"], let others = attributes(value) else {
            return nil
        }
        var columns: [ColumnSchema] = []
        for (i, part) in list.enumerated() {
            guard let column = column(part, id: UInt32(truncatingIfNeeded: i)) else { return nil }
            columns.append(column)
        }
        guard Set(columns.map(\.name)).count == columns.count else { return nil }
        var key: [Int] = []
        if case .list(let positions)? = value["key"] {
            for position in positions {
                guard case .int(let at) = position, columns.indices.contains(Int(clamping: at)), !key.contains(Int(at)) else { return nil }
                key.append(Int(at))
            }
        }
        var type = TypeSchema(name, columns: columns, key: key, isEmbedded: value["embedded"] == .bool(true))
        if case .string(let envelope)? = value["envelope"] { type.envelope = envelope }
        type.otherAttributes = others
        return type
    }

    private static func column(_ value: Value, id: UInt32) -> ColumnSchema? {
        guard case .string(let name)? = value["name"], case .string(let kindName)? = value["kind"], let kind = ScalarKind(name: kindName),
            let others = attributes(value)
        else { return nil }
        var type = ColumnType(kind, optional: value["optional"] == .bool(true))
        if case .string(let collection)? = value["collection"] {
            switch collection {
            case "list": type.collection = .list
            case "set": type.collection = .set
            case "map": type.collection = .map
            default: return nil
            }
            type.elementIsOptional = value["nullElements"] == .bool(true)
        }
        if case .string(let target)? = value["target"] { type.target = target }
        guard (kind == .link || kind == .embedded) == (type.target != nil) else { return nil }
        var column = ColumnSchema(name, type, id: id, writesNull: value["writesNull"] == .bool(true))
        if case .list(let parts)? = value["notation"] {
            guard parts.count == 2, case .int(let code) = parts[0], case .int(let parameter) = parts[1], let code = UInt8(exactly: code),
                let parameter = UInt8(exactly: parameter)
            else { return nil }
            column.notation = Notation(code: code, parameter: parameter)
        }
        if case .int(let marks)? = value["indexes"], let marks = UInt8(exactly: marks) {
            for kind in IndexKind.allCases where IndexMarks(rawValue: marks).contains(kind) && type.refusal(of: kind) == nil {
                column.indexes.insert(IndexMarks(kind))
            }
        }
        if case .string(let of)? = value["originalTextOf"] { column.originalTextOf = of }
        column.otherAttributes = others
        return column
    }
}

extension Value {
    /// The value of a key of a map; nil if it has none.
    fileprivate subscript(_ key: String) -> Value? {
        guard case .map(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }
}
