import FirnBytes
import FirnExchange
import FirnTable

/// What Firn wrote into the metadata of a file about its columns. It is used only as far as it fits them: another program can have changed
/// the columns and kept the metadata.
struct ParquetFacts {
    let rows: TypeSchema
    /// The types of objects, and attributes.
    let schema: Schema
    /// The metadata whose values are not texts.
    private(set) var metadata: [MetadataEntry] = []
    private let texts: [String: OriginalTextRows.Texts]
    /// The name of the type when it was written, and its name now.
    let storedName: String
    /// The types that links can lead to: that of the rows, and those of the other files of the folder.
    private let linked: Set<String>

    /// Returns nil if there are none, or if they cannot be read. `linked`: the types of the other files that are read.
    init?(_ footer: ParquetFooter, typeName given: String, keepsName: Bool, linked: [String]) {
        func value(_ key: String) -> [UInt8]? { footer.metadata.last { $0.key == key }?.value }
        guard let (rows, known) = value(SchemaFacts.key).flatMap(SchemaFacts.schema) else { return nil }
        var schema = known
        let typeName = keepsName ? rows.name : given
        storedName = rows.name
        for type in schema.types.indices {
            for column in schema.types[type].columns.indices where schema.types[type].columns[column].type.target == rows.name {
                schema.types[type].columns[column].type.target = typeName
            }
        }
        // The name of the file can be that of one of the types of objects.
        if typeName != rows.name, let at = schema.types.firstIndex(where: { $0.name == typeName }) {
            var name = typeName + "_object"
            while schema[name] != nil { name += "_" }
            schema.types[at].name = name
            for type in schema.types.indices {
                for column in schema.types[type].columns.indices
                where schema.types[type].columns[column].type.target == typeName
                    && schema.types[type].columns[column].type.kind == .embedded
                {
                    schema.types[type].columns[column].type.target = name
                }
            }
        }
        self.linked = Set(linked + [typeName])
        self.rows = schema[rows.name] ?? rows
        self.schema = schema
        // Another program that keeps the metadata can have left out or moved rows.
        let isOwn = footer.creator?.hasPrefix(FooterWriter.program) ?? false
        texts = isOwn ? value(OriginalTextRows.key).flatMap(OriginalTextRows.read) ?? [:] : [:]
        if case .map(let entries)? = value(ParquetWriter.binaryMetadata).flatMap({ ExactJSON.value($0) }) {
            for entry in entries { if case .data(let bytes) = entry.value { metadata.append(MetadataEntry(entry.key, bytes)) } }
        }
    }

    /// What to report about facts that cannot be read.
    static func remarks(_ footer: ParquetFooter, _ facts: ParquetFacts?) -> [String] {
        guard facts == nil, footer.metadata.contains(where: { $0.key == SchemaFacts.key }) else { return [] }
        return ["the metadata \"\(SchemaFacts.key)\" cannot be read: the types are those of Parquet, and there is no key"]
    }

    /// Completes the type of the rows: its key and attributes.
    func complete(_ type: inout TypeSchema) {
        let key = rows.key.map { type.index(of: rows.columns[$0].name) }
        if !key.contains(nil) { type.key = key.compactMap(\.self) }
        type.otherAttributes = rows.otherAttributes
        type.detachCompanions()
        let written = rows.columns.indices.filter { !rows.isCompanion($0) || texts[rows.columns[$0].name] != nil }
        // The envelope refers to the columns.
        if type.columns.map(\.name) == written.map({ rows.columns[$0].name })
            || type.visible.columns.map(\.name) == rows.visible.columns.map(\.name)
        {
            type.envelope = rows.envelope
        }
    }

    /// Returns plans for the columns of original texts of other columns.
    func companions(of plans: [ParquetPlan]) -> [ParquetPlan] {
        let names = Set(plans.filter { $0.known != nil }.map(\.name))
        return rows.columns.indices.compactMap { at in
            let column = rows.columns[at]
            guard rows.isCompanion(at), column.type == ColumnType(.string, optional: true), !names.contains(column.name),
                column.originalTextOf.map(names.contains) ?? false
            else { return nil }
            return ParquetPlan(
                column.name, .given(texts[column.name] ?? .init()), column.type, definition: 0, leaves: 0..<0, known: column)
        }
    }

    // MARK: Plans

    /// Returns the plan for a node that is the column; nil if it is not. `isWithin`: the column is the only field of an object in its
    /// place, so that the object is null where the node is.
    func plan(_ node: ParquetNode, like column: ColumnSchema, isWithin: Bool = false, depth: Int = 0) -> ParquetPlan? {
        let type = column.type
        guard
            node.repetition == .required
                || node.repetition == .optional && (type.isOptional || isWithin || type.kind == .any && !type.isCollection)
        else { return nil }
        func plan(_ shape: ParquetPlan.Shape) -> ParquetPlan {
            ParquetPlan(
                column.name, shape, type, notation: column.notation, definition: node.definition, leaves: node.leaves, node: node,
                known: column)
        }
        if type.isCollection { return collection(node, column, depth).map(plan) }
        if type.kind == .embedded, node.isGroup {
            guard let target = type.target.flatMap({ schema[$0] }), depth < Column.maximumNesting else { return nil }
            if target.isBare {
                return self.plan(node, like: target.columns[0], isWithin: true, depth: depth + 1).map { plan(.wrapped($0)) }
            }
            guard node.children.map(\.name) == target.columns.map(\.name) else { return nil }
            var fields: [ParquetPlan] = []
            for (child, field) in zip(node.children, target.columns) {
                guard let next = self.plan(child, like: field, depth: depth + 1) else { return nil }
                fields.append(next)
            }
            return plan(.object(fields: fields))
        }
        guard !node.isGroup, let (form, kind, _) = try? node.leafType(), let shape = leaf(node, column, form, kind) else { return nil }
        return plan(shape)
    }

    private func collection(_ node: ParquetNode, _ column: ColumnSchema, _ depth: Int) -> ParquetPlan.Shape? {
        guard node.isGroup, let repeated = node.onlyRepeated, repeated.isGroup else { return nil }
        var element = column
        element.type = column.type.element
        element.otherAttributes = []
        if column.type.collection == .map {
            guard node.logical == .map, repeated.children.count == 2, !repeated.children[0].isGroup,
                let key = plan(repeated.children[0], like: ColumnSchema("key", ColumnType(.string))), case .leaf(_, .text) = key.shape,
                let value = plan(repeated.children[1], like: element, depth: depth)
            else { return nil }
            return .map(key: key, value: value, definition: repeated.definition, repetition: repeated.depth)
        }
        guard node.logical == .list, repeated.children.count == 1, let inner = plan(repeated.children[0], like: element, depth: depth)
        else {
            return nil
        }
        return .list(element: inner, definition: repeated.definition, repetition: repeated.depth)
    }

    private func leaf(_ node: ParquetNode, _ column: ColumnSchema, _ form: LeafForm, _ kind: ScalarKind) -> ParquetPlan.Shape? {
        let position = node.leaves.lowerBound
        switch (column.type.kind, form) {
        case (.any, .text), (.embedded, .text):
            return .json(position: position, empty: Column(column, in: schema), schema: schema)
        case (.link, .int): return column.type.target.map(linked.contains) ?? false ? .leaf(position: position, form: .int) : nil
        case (.objectID, .bytes):
            return node.element.length == 12 && node.physical == .fixed ? .leaf(position: position, form: .objectID) : nil
        case (.decimal, .text): return .leaf(position: position, form: .number)
        case (.decimal, .decimalReal(let scale)), (.decimal, .decimalText(let scale)):
            return .leaf(position: position, form: .decimal(scale: scale))
        case (.string, .time(.millis)):
            return .leaf(position: position, form: column.logical == .time(.second) ? .seconds : form)
        case (.any, _), (.embedded, _): return nil
        default: return column.type.kind == kind ? .leaf(position: position, form: form) : nil
        }
    }
}
