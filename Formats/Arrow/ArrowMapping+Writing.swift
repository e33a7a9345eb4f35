import FirnExchange
import FirnTable

extension ArrowMapping {
    /// The metadata of a file or stream of rows: that of the schema and of the type, and what only Firn has. `linked` are the names of the
    /// types to which links stay links.
    func metadata(_ type: TypeSchema, linked: [String] = []) -> [MetadataEntry] {
        var entries = schema.metadata
        let known = Set(entries.map(\.key))
        entries += type.metadata.filter { !known.contains($0.key) }
        entries.append(MetadataEntry(ArrowFormat.firnSchema, ArrowSchemaRecord.text(recorded(type, linked: linked))))
        if !linked.isEmpty { entries.append(MetadataEntry(FolderTypes.key, FolderTypes.text(linked))) }
        return entries
    }

    /// Returns the schema that is recorded for a type: without original texts, and with links to types other than this and `linked` as row ids.
    func recorded(_ type: TypeSchema, linked: [String]) -> Schema {
        var wanted: Set<String> = [type.name], waiting = [type.name]
        while let next = waiting.popLast() {
            for column in schema[next]?.columns ?? [] where column.type.kind == .embedded {
                if let target = column.type.target, wanted.insert(target).inserted { waiting.append(target) }
            }
        }
        var out = schema
        out.types = schema.types.filter { wanted.contains($0.name) }.map(\.visible)
        return ArrowMapping.unlinked(out, except: Set(linked + [type.name]))
    }

    /// Returns a schema in which links to other types than `linked` are row ids.
    static func unlinked(_ schema: Schema, except linked: Set<String>) -> Schema {
        var schema = schema
        for type in schema.types.indices {
            for i in schema.types[type].columns.indices where schema.types[type].columns[i].type.kind == .link {
                guard let target = schema.types[type].columns[i].type.target, !linked.contains(target) else { continue }
                schema.types[type].columns[i].type.kind = .int
                schema.types[type].columns[i].type.target = nil
            }
        }
        return schema
    }

    /// The columns of a type that are links to other types than itself and `linked`.
    func links(from type: TypeSchema, except linked: [String]) -> [String] {
        type.columns.filter { $0.type.kind == .link && $0.type.target != type.name && !linked.contains($0.type.target ?? "") }.map(\.name)
    }

    /// Sets the units of dates without a logical type to those that the values need, also within lists, maps and objects.
    func chooseUnits(_ field: ArrowField, _ values: Column, _ column: ColumnSchema, depth: Int = 0) {
        if values.type.isCollection {
            var element = column
            element.type = column.type.element
            element.otherAttributes = []
            let child = values.type.collection == .map ? field.children[0].children[1] : field.children[0]
            if let last = values.children.last { chooseUnits(child, last, element, depth: depth) }
            return
        }
        if values.type.kind == .embedded { return chooseUnits(field, ofObjects: values, column, depth: depth + 1) }
        if values.type.kind == .date, column.logical == nil { ArrowMapping.chooseUnit(field, values, column) }
    }

    private func chooseUnits(_ field: ArrowField, ofObjects values: Column, _ column: ColumnSchema, depth: Int) {
        guard depth <= Column.maximumNesting, let target = column.type.target.flatMap({ schema[$0] }) else { return }
        if target.isBare, let value = values.children.first { return chooseUnits(field, value, target.columns[0], depth: depth) }
        // Fields without values that Arrow could hold are left out.
        for (inner, child) in zip(target.columns, values.children) {
            if let found = field.children.first(where: { $0.name == inner.name }) { chooseUnits(found, child, inner, depth: depth) }
        }
    }

    private static func chooseUnit(_ field: ArrowField, _ values: Column, _ column: ColumnSchema) {
        if case .date = field.type, ArrowLeaf.wholeDays(values) != nil { return }
        // Dates after the first rows can need the digits that the notation has.
        let units = DateUnits(values)
        switch field.type {
        case .date where units.haveTimes: field.type = .timestamp(units.unit(column.notation), zone: nil)
        case .timestamp(_, let zone): field.type = .timestamp(units.unit(column.notation), zone: zone)
        default: break
        }
    }
}
