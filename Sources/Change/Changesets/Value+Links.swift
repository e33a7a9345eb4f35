import FirnBytes
import FirnTable

extension Value {
    /// The link within a value of type any, as the object layer writes it: with the type that it refers to.
    var namedLink: (type: String, row: Int64)? {
        switch self {
        case .map(let entries), .object(let entries):
            guard entries.count == 1, entries[0].key == Value.linkKey, case .list(let parts) = entries[0].value, parts.count == 2,
                case .string(let type) = parts[0], case .link(let row) = parts[1]
            else { return nil }
            return (type, row)
        default: return nil
        }
    }

    init(link row: Int64, to type: String) { self = .map([Entry(Value.linkKey, .list([.string(type), .link(row)]))]) }

    static let linkKey = "$link"

    /// Returns the value of a column with other links. `body` is called with the type and the row of each link, and returns both for the
    /// new link. A nil row becomes a row that never existed in values of type any, and null elsewhere. The returned type is used only in
    /// values of type any.
    func mapLinks<E: Error>(_ type: ColumnType, in schema: Schema, _ body: (String, Int64) throws(E) -> (type: String, row: Int64?))
        throws(E) -> Value
    {
        guard [.link, .embedded, .any].contains(type.kind) else { return self }
        if type.kind == .any {
            if let link = namedLink {
                let found = try body(link.type, link.row)
                return Value(link: found.row ?? -1, to: found.type)
            }
        }
        switch self {
        case .link(let row): return type.kind == .link ? try body(type.target ?? "", row).row.map { .link($0) } ?? .null : self
        case .list(let values): return .list(try Value.map(values, type, schema, body))
        case .set(let values): return .set(try Value.map(values, type, schema, body))
        case .map(let entries) where type.isCollection || type.kind == .any, .object(let entries) where type.kind == .any:
            var out = entries
            for i in out.indices { out[i].value = try out[i].value.mapLinks(type.isCollection ? type.element : type, in: schema, body) }
            return .map(out)
        case .object(let entries), .map(let entries):
            guard let target = type.target.flatMap({ schema[$0] }) else { return self }
            var out = entries
            for i in out.indices {
                guard let columnPosition = target.columnPosition(of: i, in: entries) else { continue }
                out[i].value = try out[i].value.mapLinks(target.columns[columnPosition].type, in: schema, body)
            }
            return .object(out)
        default: return self
        }
    }

    private static func map<E: Error>(
        _ values: [Value], _ type: ColumnType, _ schema: Schema, _ body: (String, Int64) throws(E) -> (type: String, row: Int64?)
    ) throws(E) -> [Value] {
        let element = type.isCollection ? type.element : type
        var out: [Value] = []
        out.reserveCapacity(values.count)
        for value in values { out.append(try value.mapLinks(element, in: schema, body)) }
        return out
    }

    /// Returns the value without links, to be written before the rows exist that they refer to.
    func withoutLinks(_ type: ColumnType, in schema: Schema) -> Value {
        guard hasLinks(type, in: schema) else { return self }
        guard type.kind == .embedded else {
            switch type.collection {
            case .none: return type.isOptional || type.kind == .any ? .null : .link(-1)
            case .list: return .list([])
            case .set: return .set([])
            case .map: return .map([])
            }
        }
        switch self {
        case .list(let values): return .list(values.map { $0.withoutLinks(type.element, in: schema) })
        case .map(let entries) where type.isCollection:
            return .map(entries.map { Entry($0.key, $0.value.withoutLinks(type.element, in: schema)) })
        case .object(let entries):
            let fields = type.target.flatMap { schema[$0] }?.columns ?? []
            return .object(
                entries.enumerated().map { i, entry in
                    i < fields.count ? Entry(entry.key, entry.value.withoutLinks(fields[i].type, in: schema)) : entry
                })
        default: return self
        }
    }

    func hasLinks(_ type: ColumnType, in schema: Schema) -> Bool {
        var found = false
        _ = mapLinks(type, in: schema) { target, row in
            found = true
            return (target, row)
        }
        return found
    }
}

extension Schema {
    /// Whether values of a column can contain links: to one type or, in values of type any, to any type.
    func mayHoldLinks(_ type: ColumnType, inside: Set<String> = []) -> Bool {
        switch type.kind {
        case .link, .any: return true
        case .embedded:
            guard let target = type.target.flatMap({ self[$0] }), !inside.contains(target.name) else { return false }
            return target.columns.contains { mayHoldLinks($0.type, inside: inside.union([target.name])) }
        default: return false
        }
    }

    /// Returns the link columns of a type, also those within its objects, with the types that they refer to; and whether there are columns
    /// of type any, whose links can refer to any type.
    func links(of type: TypeSchema) -> (columns: [(path: String, target: String)], hasAny: Bool) {
        var found: [(path: String, target: String)] = [], hasAny = false
        func visit(_ type: TypeSchema, _ path: String, _ inside: Set<String>) {
            for column in type.columns {
                let here = path + column.name
                switch column.type.kind {
                case .any: hasAny = true
                case .link: if let target = column.type.target { found.append((here, target)) }
                case .embedded:
                    if let target = column.type.target.flatMap({ self[$0] }), !inside.contains(target.name) {
                        visit(target, here + ".", inside.union([target.name]))
                    }
                default: break
                }
            }
        }
        visit(type, "", [type.name])
        return (found, hasAny)
    }
}

extension Table {
    /// Returns the types that links within values of type any refer to. `names` restricts the columns.
    func namedTargets(in names: Set<String>? = nil) throws(Damage) -> Set<String> {
        var found: Set<String> = []
        let columns = type.columns.indices.filter {
            schema.mayHoldAny(type.columns[$0].type) && names?.contains(type.columns[$0].name) ?? true
        }
        for index in 0..<(columns.isEmpty ? 0 : segmentCount) {
            let segment = try segment(index)
            for columnPosition in columns {
                let schema = type.columns[columnPosition], reader = try segment.column(columnPosition)
                var values = Column(schema, in: self.schema)
                for vector in 0..<segment.vectorCount {
                    try reader.read(vector: vector, into: &values)
                    guard values.mayHaveNamedLinks else { continue }
                    for row in 0..<values.count {
                        _ = values.value(at: row).named(schema.type, in: self.schema).mapLinks(schema.type, in: self.schema) {
                            (target, row) in
                            found.insert(target)
                            return (target, row)
                        }
                    }
                }
            }
        }
        return found
    }
}

extension Table {
    /// Whether values of type any in some columns contain links. `file` is the name of the file for messages.
    func hasNamedLinks(_ columns: [String], _ file: String) throws(FirnError) -> Bool {
        guard columns.contains(where: { name in type.index(of: name).map { type.columns[$0].type.kind == .any } ?? false }) else {
            return false
        }
        do throws(Damage) { return try !namedTargets(in: Set(columns)).isEmpty } catch { throw FirnError(error, in: file) }
    }
}

extension Schema {
    func mayHoldAny(_ type: ColumnType, inside: Set<String> = []) -> Bool {
        guard type.kind == .embedded else { return type.kind == .any }
        guard let target = type.target.flatMap({ self[$0] }), !inside.contains(target.name) else { return false }
        return target.columns.contains { mayHoldAny($0.type, inside: inside.union([target.name])) }
    }
}

extension Column {
    /// Returns false only if no value of type any contains a link.
    var mayHaveNamedLinks: Bool {
        type.kind == .any && !type.isCollection ? text.mayContain(Value.linkKey) : children.contains(where: \.mayHaveNamedLinks)
    }
}

extension Text {
    /// Returns false only if no value contains these bytes.
    fileprivate func mayContain(_ word: String) -> Bool {
        let wanted = Array(word.utf8)
        return bytes.withUnsafeBytes { all in
            guard all.count >= wanted.count else { return false }
            for start in 0...all.count - wanted.count where all[start] == wanted[0] {
                if wanted.indices.allSatisfy({ all[start + $0] == wanted[$0] }) { return true }
            }
            return false
        }
    }
}
