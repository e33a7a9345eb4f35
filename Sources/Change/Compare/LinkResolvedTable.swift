import FirnBytes
import FirnTable
import Synchronization

/// A table with link-resolved columns: its links are replaced by the keys of the rows that they refer to, which are comparable between
/// files.
final class LinkResolvedTable: WrappedTable {
    let base: any Table
    let resolution: LinkResolution
    let type: TypeSchema
    let schema: Schema
    private let keys: Mutex<[String: LinkedKeys?]> = Mutex([:])
    /// The result of `leadsAlike`, with the table that it was computed for.
    private let alike: Mutex<(ObjectIdentifier, Bool)?> = Mutex(nil)

    init(_ base: any Table, _ resolution: LinkResolution) {
        self.base = base
        self.resolution = resolution
        var type = base.type
        type.columns = type.columns.map(resolution.resolved)
        self.type = type
        schema = resolution.resolved(base.schema)
    }

    func segment(_ index: Int) throws(Damage) -> any Segment { LinkResolvedSegment(try base.segment(index), self) }

    /// Returns nil if the rows of the type are not available.
    func keys(of target: String) throws(Damage) -> LinkedKeys? {
        if let found = keys.withLock({ $0[target] }) { return found }
        var made: LinkedKeys?
        if let form = resolution.form(target), let table = try base.related(target) { made = try LinkedKeys(of: table, form) }
        let found = made
        keys.withLock { $0[target] = .some(found) }
        return found
    }

    /// Whether equal links of an older version refer to equal rows: all of its rows still exist with the same keys.
    fileprivate func leadsAlike(_ old: LinkResolvedTable) throws(Damage) -> Bool {
        if let (asked, answer) = alike.withLock({ $0 }), asked == ObjectIdentifier(old) { return answer }
        let links = base.schema.links(of: base.type)
        let targets = links.hasAny ? base.schema.roots.map(\.name) : links.columns.map(\.target)
        var answer = true
        for target in Set(targets) where answer {
            guard let then = try old.base.related(target), let now = try base.related(target) else { continue }
            answer = try now.holdsAll(of: then)
        }
        let found = answer
        alike.withLock { $0 = (ObjectIdentifier(old), found) }
        return answer
    }
}

extension Table {
    /// Whether all rows of an older version are known to exist with the same keys. Only rows that may differ are read.
    fileprivate func holdsAll(of old: any Table) throws(Damage) -> Bool {
        for i in 0..<old.segmentCount {
            let before = try old.segment(i)
            guard before.rowCount > 0 else { continue }
            guard let index = try segmentIndex(of: before.rowID(at: 0)) else { return false }
            let after = try segment(index)
            guard after.rowCount >= before.rowCount, try after.rowID(at: 0) == before.rowID(at: 0),
                let differing = try after.rowsThatMayDiffer(from: before),
                differing.count >= before.rowCount
            else { return false }
            let was = before.live, live = after.live
            for row in differing.slice(0..<before.rowCount).positions {
                guard (was?[row] ?? true) == (live?[row] ?? true) else { return false }
                for columnPosition in type.key where was?[row] ?? true {
                    guard
                        Value.areEquivalent(
                            try before.column(columnPosition).value(at: row), try after.column(columnPosition).value(at: row), tolerance: 0)
                    else { return false }
                }
            }
        }
        return true
    }
}

private final class LinkResolvedSegment: WrappedSegment {
    let base: any Segment
    let table: LinkResolvedTable

    init(_ base: any Segment, _ table: LinkResolvedTable) {
        self.base = base
        self.table = table
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        let column = table.base.type.columns[index], reader = try base.column(index)
        return table.base.schema.mayHoldLinks(column.type) ? LinkResolvedColumn(reader, column, table) : reader
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        // Single fields are read only for keys, which contain no links.
        try path.count == 1 ? column(path[0]) : base.column(path: path)
    }

    func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? {
        guard let other = other as? LinkResolvedSegment, let found = try base.rowsThatMayDiffer(from: other.base),
            try table.leadsAlike(other.table)
        else { return nil }
        return found
    }
}

private final class LinkResolvedColumn: ColumnReader {
    let base: any ColumnReader
    let column: ColumnSchema
    let table: LinkResolvedTable
    let type: ColumnType

    init(_ base: any ColumnReader, _ column: ColumnSchema, _ table: LinkResolvedTable) {
        self.base = base
        self.column = column
        self.table = table
        type = table.resolution.resolved(column.type)
    }

    var rowCount: Int { base.rowCount }
    var storedBytes: Int { base.storedBytes }

    func read(vector: Int, into out: inout Column) throws(Damage) {
        var raw = Column(column, in: table.base.schema)
        try base.read(vector: vector, into: &raw)
        out = try spell(raw, column)
    }

    func value(at row: Int) throws(Damage) -> Value {
        var raw = Column(column, in: table.base.schema)
        guard raw.append(try base.value(at: row)) else { throw Damage("a value of another type than its column") }
        return try spell(raw, column).value(at: 0)
    }

    private func spell(_ raw: Column, _ schema: ColumnSchema) throws(Damage) -> Column {
        guard table.base.schema.mayHoldLinks(schema.type) else { return raw }
        if schema.type.isCollection { return try collection(raw, schema) }
        switch schema.type.kind {
        case .link:
            guard let target = schema.type.target, let keys = try table.keys(of: target) else { return raw }
            return try keys.column(raw.words, present: raw.present, table.resolution.resolved(schema.type))
        case .embedded:
            var out = raw
            let fields = schema.type.target.flatMap { table.base.schema[$0] }?.columns ?? []
            for (i, field) in fields.enumerated() where i < out.children.count { out.children[i] = try spell(out.children[i], field) }
            return out
        default: return try any(raw)
        }
    }

    private func collection(_ raw: Column, _ schema: ColumnSchema) throws(Damage) -> Column {
        var element = schema, out = raw
        element.type = schema.type.element
        out.type = table.resolution.resolved(schema.type)
        let last = out.children.count - 1
        out.children[last] = try spell(raw.children[last], element)
        guard schema.type.collection == .set else { return out }
        // Sets are sorted again by the resolved values.
        var sorted = out.emptyCopy
        for row in 0..<out.count { if !sorted.append(out.value(at: row)) { sorted.appendNull() } }
        return sorted
    }

    private func any(_ raw: Column) throws(Damage) -> Column {
        guard raw.mayHaveNamedLinks else { return raw }
        var out = raw.emptyCopy
        for row in 0..<raw.count { out.append(try spell(raw.value(at: row))) }
        return out
    }

    /// Replaces the links of a value of type any by lists of the type's name and the key; without a key if the row does not exist. Links to
    /// unknown types are kept.
    private func spell(_ value: Value) throws(Damage) -> Value {
        if let link = value.namedLink {
            guard let keys = try table.keys(of: link.type) else { return value }
            return .map([Value.Entry(Value.linkKey, .list([.string(table.resolution.name(link.type))] + (try keys.parts(link.row) ?? [])))])
        }
        switch value {
        case .list(let values): return .list(try spell(values))
        case .set(let values): return .set(try spell(values))
        case .map(let entries), .object(let entries):
            var out = entries
            for i in out.indices { out[i].value = try spell(out[i].value) }
            return .map(out)
        default: return value
        }
    }

    private func spell(_ values: [Value]) throws(Damage) -> [Value] {
        var out: [Value] = []
        for value in values { out.append(try spell(value)) }
        return out
    }
}
