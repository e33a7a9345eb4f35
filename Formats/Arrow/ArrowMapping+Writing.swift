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

    /// Sets the units of dates without a logical type to those that the values need.
    static func chooseUnits(_ field: ArrowField, _ values: Column, _ column: ColumnSchema) {
        guard column.logical == nil else { return }
        if values.type.isCollection {
            var element = column
            element.type = column.type.element
            let child = values.type.collection == .map ? field.children[0].children[1] : field.children[0]
            if let last = values.children.last { chooseUnits(child, last, element) }
            return
        }
        guard values.type.kind == .date else { return }
        if case .date = field.type, ArrowLeaf.wholeDays(values) != nil { return }
        // Dates after the first rows can need the digits that the notation has.
        var needsTime = false, needsNanos = column.notation.fixedDigits ?? 0 > 6, fitsNanos = true
        values.words.withUnsafeBufferPointer { words in
            values.extra.withUnsafeBufferPointer { extra in
                for i in 0..<values.count where values.present?[i] ?? true {
                    if extra[i] != 0 || words[i] % 86_400 != 0 { needsTime = true }
                    if extra[i] % 1000 != 0 { needsNanos = true }
                    if words[i].magnitude >= 9_223_372_036 { fitsNanos = false }
                }
            }
        }
        switch field.type {
        case .date where needsTime: field.type = .timestamp(needsNanos && fitsNanos ? .nanosecond : .microsecond, zone: nil)
        case .timestamp(_, let zone) where needsNanos && fitsNanos: field.type = .timestamp(.nanosecond, zone: zone)
        default: break
        }
    }
}
