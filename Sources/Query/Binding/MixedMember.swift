import FirnBytes
import FirnTable

/// A name in a path through mixed values: a key of dictionaries, and a property of the rows that the values link to.
struct MixedMember: Sendable {
    let name: String
    /// For each type with such a property: the hop to it, and its type.
    let columns: [String: (hop: Int, type: ColumnType)]
}

extension Binder {
    /// Returns the step to a name in mixed values.
    mutating func member(_ name: String) throws(QueryError) -> BoundPath.Step {
        var columns: [String: (hop: Int, type: ColumnType)] = [:]
        for other in schema.types where !other.isEmbedded {
            guard let index = names.column(name, in: other), let table = try related(other.name) else { continue }
            columns[other.name] = (slots.hop(table, [index]), other.columns[index].type)
        }
        return columns.isEmpty ? .anyKey(name) : .anyMember(slots.member(MixedMember(name: name, columns: columns)))
    }
}

extension Values {
    /// Applies the step to a name in mixed values. The rows that values link to are fetched together for each type.
    mutating func enter(_ member: MixedMember, _ scan: SegmentScan, _ schema: Schema) throws(FirnError) {
        var out: [Value] = [], linking: [String: (rows: [Int], ids: [Int64])] = [:]
        out.reserveCapacity(column.count)
        for row in 0..<column.count {
            let value = column.value(at: row)
            if let (type, id) = value.typedLink {
                if member.columns[type] != nil {
                    linking[type, default: ([], [])].rows.append(row)
                    linking[type, default: ([], [])].ids.append(id)
                }
                out.append(.null)
            } else {
                out.append(value.member(member.name))
            }
        }
        for (typeName, links) in linking {
            guard let (hop, type) = member.columns[typeName] else { continue }
            var column = Column(ColumnType(.link, target: typeName))
            column.words = links.ids
            column.count = links.ids.count
            let found = try scan.follow(hop, column)
            for (i, row) in links.rows.enumerated() { out[row] = found.value(at: i).mixed(type, schema) }
        }
        column = Column(ColumnType(.any))
        for value in out { column.append(value) }
    }
}

extension Value {
    /// Creates a link in a value of any type. The format's links do not contain their type, so it is a map of one entry whose key no map of
    /// a user can have (`docs/format/model.md`, "What the object layer keeps").
    package init(linkTo type: String, _ rowID: Int64) { self = .map([Entry("$link", .list([.string(type), .link(rowID)]))]) }

    /// The type and the row of a link in a value of any type; nil for other values.
    package var typedLink: (type: String, rowID: Int64)? {
        guard case .map(let entries) = self, entries.count == 1, entries[0].key == "$link", case .list(let parts) = entries[0].value,
            parts.count == 2, case .string(let type) = parts[0], case .link(let rowID) = parts[1]
        else { return nil }
        return (type, rowID)
    }

    /// Returns the value of a column as a value of any type: its links contain their type.
    fileprivate func mixed(_ type: ColumnType, _ schema: Schema) -> Value {
        guard type.kind == .link || type.kind == .embedded, let target = type.target else { return self }
        switch self {
        case .link(let rowID): return type.kind == .link ? Value(linkTo: target, rowID) : self
        case .list(let values): return .list(values.map { $0.mixed(type.element, schema) })
        // A list: the order of a set is that of plain links.
        case .set(let values): return .list(values.map { $0.mixed(type.element, schema) })
        case .map(let entries): return .map(entries.map { Entry($0.key, $0.value.mixed(type.element, schema)) })
        case .object(let fields):
            // The fields are in the order of the type, and have no names here.
            guard let columns = schema[target]?.columns else { return self }
            return .object(zip(columns, fields).map { Entry($0.name, $1.value.mixed($0.type, schema)) })
        default: return self
        }
    }
}
