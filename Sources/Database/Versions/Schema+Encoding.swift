import FirnBytes
import FirnTable

/// The encoded form of a schema (`docs/format/model.md`, "Schema").
///
///     version u8 (1, or 2 with attributes of the file) · [attributes] · type count varint · then for each type:
///     id varint · name string · flags u8 (1 embedded, 2 envelope, 4 attributes) · [envelope string] · [attributes] · column count varint
///     · key length varint · key positions varint… · columns
///     column: id varint · name string · kind u8 · collection u8 · flags u8 (1 optional, 2 elements optional, 4 target, 8 writes null,
///     16 attributes) · [target string] · notation code u8 · notation parameter u8 · [attributes]
///     attributes: count varint · for each: name string · value: length varint, bytes
extension Schema {
    private static let version: UInt8 = 1, versionWithAttributes: UInt8 = 2
    /// The maximum number of types in a schema; more is damage.
    private static let maximumCount = 1_000_000
    /// The number of columns, with the fields of embedded objects, that a type may unfold into beyond the number of columns in the schema.
    /// Columns of the schema take bytes to store, but a few types that contain each other can unfold into any number of columns.
    private static let maximumUnfolded = 1 << 17

    var encoded: [UInt8] {
        var out = ByteWriter()
        out.append(otherAttributes.isEmpty ? Schema.version : Schema.versionWithAttributes)
        if !otherAttributes.isEmpty { otherAttributes.encode(into: &out) }
        out.appendVarint(types.count)
        for type in types { type.encode(into: &out) }
        return out.bytes
    }

    init(encoded bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let version = try reader.read(UInt8.self)
        guard version == Schema.version || version == Schema.versionWithAttributes else { throw Damage("unknown schema version") }
        let attributes = version == Schema.version ? [] : try [SchemaAttribute](from: &reader)
        let count = try reader.readCount(limit: min(reader.remaining, Schema.maximumCount))
        self.init()
        otherAttributes = attributes
        for _ in 0..<count { types.append(try TypeSchema(from: &reader)) }
        guard reader.isAtEnd else { throw Damage("bytes after the schema", at: reader.position) }
        try validate()
    }

    /// Checks what later code relies on: names and ids are distinct, targets exist, and keys are within the columns.
    /// - Throws: `Damage` if this is not so.
    func validate() throws(Damage) {
        try otherAttributes.check("the file")
        let byName = Dictionary(types.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        guard byName.count == types.count else { throw Damage("two types have the same name") }
        for type in types { try check(type) { byName[$0] } }
        try checkNesting(byName)
    }

    /// Checks the same after types at these positions were added or got columns; names of types are known to be distinct.
    func validate(changed: [Int]) throws(Damage) {
        let isNested = changed.contains { types[$0].isEmbedded || types[$0].columns.contains { $0.type.kind == .embedded } }
        if isNested || changed.count > 16 { return try validate() }
        for type in changed { try check(types[type]) { name in types.firstIndex { $0.name == name } } }
    }

    private func check(_ type: TypeSchema, position: (String) -> Int?) throws(Damage) {
        guard Set(type.columns.map(\.name)).count == type.columns.count else {
            throw Damage("two columns have the same name in type \"\(type.name)\"")
        }
        guard Set(type.columns.map(\.id)).count == type.columns.count else {
            throw Damage("two columns have the same id in type \"\(type.name)\"")
        }
        try type.otherAttributes.check("type \"\(type.name)\"")
        for column in type.columns {
            try column.otherAttributes.check(
                "column \"\(column.name)\" of type \"\(type.name)\"", others: column.originalTextOf == nil ? 0 : 1)
            let needsTarget = column.type.kind == .link || column.type.kind == .embedded
            guard needsTarget == (column.type.target != nil) else {
                throw Damage("column \"\(column.name)\" of type \"\(type.name)\" lacks a target, or has one without being a link")
            }
            guard let name = column.type.target else { continue }
            guard let target = position(name) else { throw Damage("type \"\(name)\" is missing") }
            if column.type.kind == .embedded, !types[target].isEmbedded { throw Damage("type \"\(name)\" is not embedded") }
        }
        try type.checkCompanions()
        for position in type.key where position >= type.columns.count {
            throw Damage("the key refers to a column that type \"\(type.name)\" does not have")
        }
    }

    /// Rejects schemas whose embedded objects unfold into too many columns. Reading rows takes a column for each field, and a few types
    /// that contain each other many times would have a huge number of fields.
    private func checkNesting(_ byName: [String: Int]) throws(Damage) {
        let targets = types.map { type in
            type.columns.compactMap { $0.type.kind == .embedded ? $0.type.target.flatMap { byName[$0] } : nil }
        }
        guard targets.contains(where: { !$0.isEmpty }) else { return }
        let most = Schema.maximumUnfolded + types.reduce(0) { $0 + $1.columns.count }
        var counts = types.map(\.columns.count)
        for _ in 0..<Column.maximumNesting {
            counts = types.indices.map { type in targets[type].reduce(types[type].columns.count) { min($0 + counts[$1], most + 1) } }
        }
        if let type = counts.firstIndex(where: { $0 > most }) {
            throw Damage("objects of type \"\(types[type].name)\" unfold into too many columns")
        }
    }
}

extension TypeSchema {
    fileprivate func encode(into out: inout ByteWriter) {
        out.appendVarint(Int(id))
        out.append(string: name)
        out.append(UInt8((isEmbedded ? 1 : 0) | (envelope != nil ? 2 : 0) | (otherAttributes.isEmpty ? 0 : 4)))
        if let envelope { out.append(string: envelope) }
        if !otherAttributes.isEmpty { otherAttributes.encode(into: &out) }
        out.appendVarint(columns.count)
        out.appendVarint(key.count)
        for position in key { out.appendVarint(position) }
        for column in columns { column.encode(into: &out, of: self) }
    }

    fileprivate init(from reader: inout ByteReader) throws(Damage) {
        let id = UInt32(try reader.readCount(limit: Int(UInt32.max)))
        let name = try reader.readString()
        let flags = try reader.read(UInt8.self)
        guard flags < 8 else { throw Damage("unknown type flags", at: reader.position) }
        let envelope: String? = flags & 2 != 0 ? try reader.readString() : nil
        let attributes = flags & 4 != 0 ? try [SchemaAttribute](from: &reader) : []
        let columnCount = try reader.readCount(limit: reader.remaining)
        let keyCount = try reader.readCount(limit: min(columnCount, reader.remaining))
        var key: [Int] = []
        for _ in 0..<keyCount { key.append(try reader.readCount(limit: reader.bytes.count)) }
        var columns: [ColumnSchema] = []
        for _ in 0..<columnCount { columns.append(try ColumnSchema(from: &reader)) }
        self.init(name, columns: columns, key: key, isEmbedded: flags & 1 != 0, id: id, envelope: envelope)
        otherAttributes = attributes
        try resolveCompanions()
    }

    /// Replaces the ids in attributes by the names of the columns.
    private mutating func resolveCompanions() throws(Damage) {
        // Columns are changed after all ids are looked up, because each change discards the index of ids.
        var found: [(column: Int, target: String, others: [SchemaAttribute])] = []
        for i in columns.indices where !columns[i].otherAttributes.isEmpty {
            var others = columns[i].otherAttributes
            guard let at = others.firstIndex(where: { ColumnSchema.originalTextAttributes.contains($0.name) }) else { continue }
            let attribute = others.remove(at: at)
            let id = try attribute.value.withBytes { (bytes) throws(Damage) -> UInt32 in
                var reader = ByteReader(bytes)
                let id = UInt32(try reader.readCount(limit: Int(UInt32.max)))
                guard reader.isAtEnd else { throw Damage("an attribute of column \"\(columns[i].name)\" is too long") }
                return id
            }
            guard let target = index(ofID: id) else {
                throw Damage("column \"\(columns[i].name)\" holds the texts of a column that type \"\(name)\" does not have")
            }
            guard attribute.name == ColumnSchema.originalTextAttributes[hasPartTexts(target) ? 1 : 0] else {
                throw Damage(
                    "column \"\(columns[i].name)\" of type \"\(name)\" cannot hold the texts of column \"\(columns[target].name)\"")
            }
            found.append((i, columns[target].name, others))
        }
        for (i, target, others) in found {
            columns[i].otherAttributes = others
            columns[i].originalTextOf = target
        }
    }

    /// Throws unless the companions of columns are optional texts, one for a column.
    fileprivate func checkCompanions() throws(Damage) {
        guard hasCompanions else { return }
        var seen: Set<String> = []
        for column in columns {
            guard let name = column.originalTextOf else { continue }
            guard let target = index(of: name), column.type == ColumnType(.string, optional: true), columns[target].originalTextOf == nil,
                seen.insert(name).inserted
            else { throw Damage("column \"\(column.name)\" of type \"\(self.name)\" cannot hold the texts of column \"\(name)\"") }
        }
        guard !key.contains(where: { columns.indices.contains($0) && columns[$0].originalTextOf != nil }) else {
            throw Damage("the key of type \"\(self.name)\" contains a column of original texts")
        }
    }
}

extension ColumnSchema {
    /// The attributes of a column that holds the original texts of another: of a column of single values, and of the parts of the values of
    /// a column of objects or collections. The value is the id of that column, as a varint. Permanent.
    fileprivate static let originalTextAttributes = ["original-text-of", "original-texts-in"]

    /// The attributes to store.
    private func attributes(in type: TypeSchema) -> [SchemaAttribute] {
        guard let target = originalTextOf.flatMap({ type.index(of: $0) }) else { return otherAttributes }
        var value = ByteWriter()
        value.appendVarint(Int(type.columns[target].id))
        let name = ColumnSchema.originalTextAttributes[type.hasPartTexts(target) ? 1 : 0]
        return [SchemaAttribute(name, value.bytes)] + otherAttributes
    }

    fileprivate func encode(into out: inout ByteWriter, of owner: TypeSchema) {
        let attributes = attributes(in: owner)
        out.appendVarint(Int(id))
        out.append(string: name)
        out.append(type.kind.rawValue)
        out.append(type.collection.rawValue)
        out.append(
            UInt8(
                (type.isOptional ? 1 : 0) | (type.elementIsOptional ? 2 : 0) | (type.target != nil ? 4 : 0) | (writesNull ? 8 : 0)
                    | (attributes.isEmpty ? 0 : 16)))
        if let target = type.target { out.append(string: target) }
        out.append(notation.code)
        out.append(notation.parameter)
        if !attributes.isEmpty { attributes.encode(into: &out) }
    }

    fileprivate init(from reader: inout ByteReader) throws(Damage) {
        let id = UInt32(try reader.readCount(limit: Int(UInt32.max)))
        let name = try reader.readString()
        let offset = reader.position
        guard let kind = ScalarKind(rawValue: try reader.read(UInt8.self)),
            let collection = CollectionKind(rawValue: try reader.read(UInt8.self))
        else {
            throw Damage("unknown column type", at: offset)
        }
        let flags = try reader.read(UInt8.self)
        guard flags < 32 else { throw Damage("unknown column flags", at: offset) }
        let target: String? = flags & 4 != 0 ? try reader.readString() : nil
        let type = ColumnType(kind, optional: flags & 1 != 0, collection: collection, elementOptional: flags & 2 != 0, target: target)
        let code = try reader.read(UInt8.self)
        self.init(name, type, id: id, notation: Notation(code: code, parameter: try reader.read(UInt8.self)), writesNull: flags & 8 != 0)
        if flags & 16 != 0 { otherAttributes = try [SchemaAttribute](from: &reader) }
    }
}

extension [SchemaAttribute] {
    /// The maximum number of attributes in one list, and of bytes of a value; more is damage.
    private static let maximumAttributes = 65_536, maximumAttributeLength = 1 << 26

    /// Throws unless the list can be written: the names are distinct, and the numbers are within the limits. `others` is the number of
    /// attributes that are written with them.
    fileprivate func check(_ owner: String, others: Int = 0) throws(Damage) {
        guard !isEmpty else { return }
        guard count + others <= Self.maximumAttributes else {
            throw Damage("\(owner) has \(count + others) attributes, more than \(Self.maximumAttributes)")
        }
        var names: Set<String> = []
        for attribute in self {
            guard names.insert(attribute.name).inserted else {
                throw Damage("\(owner) has two attributes with the name \"\(attribute.name)\"")
            }
            guard attribute.value.count <= Self.maximumAttributeLength else {
                throw Damage(
                    "the attribute \"\(attribute.name)\" of \(owner) has \(attribute.value.count) bytes, more than \(Self.maximumAttributeLength)"
                )
            }
        }
    }

    fileprivate func encode(into out: inout ByteWriter) {
        out.appendVarint(count)
        for attribute in self {
            out.append(string: attribute.name)
            out.appendVarint(attribute.value.count)
            out.append(contentsOf: attribute.value)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(Damage) {
        let count = try reader.readCount(limit: Swift.min(Self.maximumAttributes, reader.remaining))
        guard count > 0 else { throw Damage("a schema has no attributes where some are announced", at: reader.position) }
        self.init()
        var names: Set<String> = []
        for _ in 0..<count {
            let name = try reader.readString()
            guard names.insert(name).inserted else { throw Damage("two attributes have one name", at: reader.position) }
            let length = try reader.readCount(limit: Swift.min(reader.remaining, Self.maximumAttributeLength))
            append(SchemaAttribute(name, Array<UInt8>(try reader.read(count: length))))
        }
    }
}
