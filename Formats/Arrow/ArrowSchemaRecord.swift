import FirnBytes
import FirnTable

/// Firn's own schema in the metadata of Arrow data, under the key `firn.schema`: base64 of
///
///     version u8 = 1 · attributes · type count varint · for each type: name string · flags u8 (1 embedded, 2 has an envelope)
///     · [envelope string] · attributes · key length varint · key positions varint… · column count varint · for each column:
///     id varint · name string · kind u8 · collection u8 · flags u8 (1 optional, 2 elements optional, 4 target, 8 writes nulls)
///     · [target string] · notation code u8 · notation parameter u8 · indexes u8 · attributes
///     attributes: count varint · for each: name string · value: length varint, bytes
///
/// The first type is that of the rows; embedded types follow. Kinds, collections and notations are those of `docs/format/model.md`.
/// Permanent.
enum ArrowSchemaRecord {
    private static let version: UInt8 = 1
    private static let maximumTypes = 1 << 16

    static func text(_ schema: Schema) -> [UInt8] {
        var out = ByteWriter()
        out.append(version)
        append(schema.otherAttributes, to: &out)
        let types = schema.types.filter { !$0.isEmbedded } + schema.types.filter(\.isEmbedded)
        out.appendVarint(types.count)
        for type in types {
            out.append(string: type.name)
            out.append((type.isEmbedded ? 1 : 0) | (type.envelope == nil ? 0 : 2) as UInt8)
            if let envelope = type.envelope { out.append(string: envelope) }
            append(type.otherAttributes, to: &out)
            out.appendVarint(type.key.count)
            for position in type.key { out.appendVarint(position) }
            out.appendVarint(type.columns.count)
            for column in type.columns { append(column, isEmbedded: type.isEmbedded, to: &out) }
        }
        return Array(Base64.text(out.bytes).utf8)
    }

    private static func append(_ column: ColumnSchema, isEmbedded: Bool, to out: inout ByteWriter) {
        let type = column.type
        out.appendVarint(Int(column.id))
        out.append(string: column.name)
        out.append(type.kind.rawValue)
        out.append(type.collection.rawValue)
        out.append(
            (type.isOptional ? 1 : 0) | (type.elementIsOptional ? 2 : 0) | (type.target == nil ? 0 : 4) | (column.writesNull ? 8 : 0)
                as UInt8)
        if let target = type.target { out.append(string: target) }
        out.append(column.notation.code)
        out.append(column.notation.parameter)
        out.append(column.indexes.rawValue)
        // Metadata of the columns of rows are those of the fields, where other programs can change them.
        append(column.otherAttributes.filter { isEmbedded || !$0.name.hasPrefix("meta:") }, to: &out)
    }

    private static func append(_ attributes: [SchemaAttribute], to out: inout ByteWriter) {
        out.appendVarint(attributes.count)
        for attribute in attributes {
            out.append(string: attribute.name)
            out.append(lengthPrefixed: attribute.value)
        }
    }

    /// Returns nil if the text is not a schema that this program knows.
    static func schema(_ text: [UInt8]) -> Schema? {
        guard let bytes = Base64.bytes(text, .exact) else { return nil }
        return bytes.withBytes { try? read($0) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> Schema {
        var reader = ByteReader(bytes), names: Set<String> = []
        guard try reader.read(UInt8.self) == version else { throw Damage("unknown version") }
        var schema = Schema()
        schema.otherAttributes = try attributes(&reader)
        for i in 0..<(try reader.readCount(limit: min(maximumTypes, bytes.count))) {
            var type = TypeSchema(try reader.readString(), columns: [])
            let flags = try reader.read(UInt8.self)
            guard flags < 4, names.insert(type.name).inserted, (flags & 1 != 0) == (i > 0) else { throw Damage("a wrong type") }
            type.isEmbedded = flags & 1 != 0
            if flags & 2 != 0 { type.envelope = try reader.readString() }
            type.otherAttributes = try attributes(&reader)
            var key: [Int] = []
            for _ in 0..<(try reader.readCount(limit: reader.remaining)) { key.append(try reader.readCount(limit: bytes.count)) }
            var columns: [ColumnSchema] = [], known: Set<String> = []
            for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
                let column = try column(&reader)
                guard known.insert(column.name).inserted else { throw Damage("two columns of one name") }
                columns.append(column)
            }
            guard key.allSatisfy({ $0 < columns.count }), Set(key).count == key.count else { throw Damage("a wrong key") }
            type.columns = columns
            type.key = key
            schema.types.append(type)
        }
        let embedded = Set(schema.types.filter(\.isEmbedded).map(\.name))
        guard reader.isAtEnd, schema.roots.count == 1 else { throw Damage("a wrong schema") }
        for column in schema.types.flatMap(\.columns) {
            guard (column.type.kind == .embedded) == (column.type.target.map(embedded.contains) ?? false) else {
                throw Damage("a wrong target")
            }
        }
        return schema
    }

    private static func column(_ reader: inout ByteReader) throws(Damage) -> ColumnSchema {
        let id = try reader.readCount(limit: Int(UInt32.max)), name = try reader.readString()
        guard let kind = ScalarKind(rawValue: try reader.read(UInt8.self)),
            let collection = CollectionKind(rawValue: try reader.read(UInt8.self))
        else { throw Damage("a wrong kind") }
        let flags = try reader.read(UInt8.self)
        guard flags < 16, (kind == .embedded || kind == .link) == (flags & 4 != 0) else { throw Damage("wrong flags") }
        let target = flags & 4 == 0 ? nil : try reader.readString()
        let type = ColumnType(
            kind, optional: flags & 1 != 0, collection: collection, elementOptional: flags & 2 != 0 && collection != .none, target: target)
        var column = ColumnSchema(name, type, id: UInt32(id))
        column.notation = Notation(code: try reader.read(UInt8.self), parameter: try reader.read(UInt8.self))
        column.indexes = IndexMarks(rawValue: try reader.read(UInt8.self))
        column.writesNull = flags & 8 != 0
        for kind in IndexKind.allCases where column.indexes.contains(kind) && type.refusal(of: kind) != nil {
            throw Damage("a wrong index")
        }
        column.otherAttributes = try attributes(&reader)
        return column
    }

    private static func attributes(_ reader: inout ByteReader) throws(Damage) -> [SchemaAttribute] {
        var out: [SchemaAttribute] = [], names: Set<String> = []
        for _ in 0..<(try reader.readCount(limit: min(reader.remaining, 1 << 16))) {
            let name = try reader.readString()
            guard names.insert(name).inserted else { throw Damage("two attributes of one name") }
            out.append(SchemaAttribute(name, Array(try reader.readLengthPrefixed())))
        }
        return out
    }
}
