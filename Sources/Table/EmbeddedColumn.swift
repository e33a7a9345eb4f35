import FirnBytes
import Synchronization

/// Reads a stored column of embedded objects (one per row, or a collection per row): replaces each stored row id by the fields of its row.
package final class EmbeddedColumn: ColumnReader {
    package let type: ColumnType
    private let raw: any ColumnReader
    private let target: any Table
    private let objects: HeldObjects

    package init(_ raw: any ColumnReader, type: ColumnType, target: any Table, home: any TableHome) {
        self.raw = raw
        self.type = type
        self.target = target
        objects = HeldObjects(target, field: nil, home: home)
    }

    package var rowCount: Int { raw.rowCount }

    package func read(vector: Int, into column: inout Column) throws(Damage) {
        var links = Column(raw.type)
        try raw.read(vector: vector, into: &links)
        column = try objects.use(isLast: (vector + 1) * vectorSize >= rowCount) { (objects) throws(Damage) in
            try links.replacingLinks(type, with: objects, depth: 0)
        }
    }

    package func value(at row: Int) throws(Damage) -> Value {
        var made = ObjectCharge(target)
        return try raw.value(at: row).replacingLinks(to: target, depth: 0, &made)
    }
}

/// Reads one field of embedded objects without the others, for example `birth.place.name`, or `movements.name` as a list of names.
package final class PathColumn: ColumnReader {
    package let type: ColumnType
    private let raw: any ColumnReader
    private let objects: HeldObjects

    package init(_ raw: any ColumnReader, type: ColumnType, target: any Table, rest: [Int], home: any TableHome) {
        self.raw = raw
        self.type = type
        objects = HeldObjects(target, field: rest, home: home)
    }

    package var rowCount: Int { raw.rowCount }

    package func read(vector: Int, into column: inout Column) throws(Damage) {
        var links = Column(raw.type)
        try raw.read(vector: vector, into: &links)
        column = try resolve(links, isLast: (vector + 1) * vectorSize >= rowCount)
    }

    package func value(at row: Int) throws(Damage) -> Value {
        var links = Column(raw.type)
        if !links.append(try raw.value(at: row)) { links.appendNull() }
        return try resolve(links, isLast: false).value(at: 0)
    }

    private func resolve(_ links: Column, isLast: Bool) throws(Damage) -> Column {
        try objects.use(isLast: isLast) { (objects) throws(Damage) in try links.leaf(type, of: objects, depth: 0) }
    }
}

/// Lends the reader of a column's objects to one thread at a time. The reader is kept between vectors, because the objects of the next
/// vector mostly continue in the inner vectors that were decoded last. It is released with the last vector.
private final class HeldObjects: Sendable {
    private let table: any Table
    private let field: [Int]?
    private let counts: ReadCounts
    /// Rows of a version never change; rows of a transaction can change between two calls.
    private let isKept: Bool
    private let idle: Mutex<ObjectRows?> = Mutex(nil)

    init(_ table: any Table, field: [Int]?, home: any TableHome) {
        self.table = table
        self.field = field
        counts = home.counts
        isKept = home.isFixed
    }

    func use<R>(isLast: Bool, _ body: (ObjectRows) throws(Damage) -> R) throws(Damage) -> R {
        guard isKept else { return try body(ObjectRows(table, field: field, counts: counts)) }
        let taken = idle.withLock { idle in
            defer { idle = nil }
            return idle
        }
        let objects = taken ?? ObjectRows(table, field: field, counts: counts)
        let result = try body(objects)
        if !isLast { idle.withLock { $0 = objects } }
        return result
    }
}

extension Column {
    /// Returns this column of links (one per row, or a collection per row) with each link replaced by the object that it refers to.
    func replacingLinks(_ type: ColumnType, with objects: ObjectRows, depth: Int) throws(Damage) -> Column {
        var out = Column(type)
        out.count = count
        out.present = present
        guard type.isCollection else {
            out.children = try objects.fetch(words, present: present, depth: depth)
            return out
        }
        let links = children[children.count - 1]
        var elements = Column(type.element)
        elements.count = links.count
        elements.present = links.present
        elements.children = try objects.fetch(links.words, present: links.present, depth: depth)
        out.offsets = offsets
        out.children = type.collection == .map ? [children[0], elements] : [elements]
        return out
    }

    /// Returns this column of links with each link replaced by the one field that `objects` reads. See `Segment.column(path:)`.
    func leaf(_ type: ColumnType, of objects: ObjectRows, depth: Int) throws(Damage) -> Column {
        guard self.type.isCollection else {
            var leaf = try objects.fetch(words, present: present, depth: depth)[0]
            leaf.type = type
            return leaf
        }
        let links = children[children.count - 1]
        let leaf = try objects.fetch(links.words, present: links.present, depth: depth)[0]
        var out = Column(type)
        out.count = count
        out.present = present
        if leaf.type.isCollection {
            // A list of lists is read as one flat list: index the inner offsets with the outer ones.
            out.offsets = offsets.map { leaf.offsets[$0] }
            out.children = [leaf.children[leaf.children.count - 1]]
        } else {
            out.offsets = offsets
            out.children = [leaf]
        }
        out.children[0].type = type.element
        return out
    }
}

extension Value {
    /// Returns this value of links with each link replaced by its object, read one by one. An object whose row does not exist has null in
    /// every field.
    fileprivate func replacingLinks(to table: any Table, depth: Int, _ made: inout ObjectCharge) throws(Damage) -> Value {
        switch self {
        case .link(let id): return try Value(objectAt: id, in: table, depth: depth, &made)
        case .list(let values), .set(let values):
            var out: [Value] = []
            for value in values { out.append(try value.replacingLinks(to: table, depth: depth, &made)) }
            return .list(out)
        case .map(let entries):
            var out: [Value.Entry] = []
            for entry in entries { out.append(Value.Entry(entry.key, try entry.value.replacingLinks(to: table, depth: depth, &made))) }
            return .map(out)
        default: return self
        }
    }

    private init(objectAt id: Int64, in table: any Table, depth: Int, _ made: inout ObjectCharge) throws(Damage) {
        try made.add(table.type.columns.count)
        guard depth < ObjectRows.maximumDepth else {
            throw Damage("objects of type \"\(table.type.name)\" nest deeper than \(ObjectRows.maximumDepth) levels")
        }
        var found: (segment: any Segment, position: Int)?
        if let index = try table.segmentIndex(of: id) {
            let segment = try table.segment(index)
            if let position = try segment.position(of: id), segment.live?[position] ?? true { found = (segment, position) }
        }
        var fields: [Entry] = []
        fields.reserveCapacity(table.type.columns.count)
        for (i, column) in table.type.columns.enumerated() {
            guard let found else {
                fields.append(Entry(column.name, .null))
                continue
            }
            let value = try found.segment.storedColumn(i).value(at: found.position)
            guard column.type.kind == .embedded, !value.isNull else {
                fields.append(Entry(column.name, value))
                continue
            }
            fields.append(Entry(column.name, try value.replacingLinks(to: try table.embedded(column), depth: depth + 1, &made)))
        }
        self = .object(fields)
    }
}

/// Charges the objects of one value to the memory budget while the value is built, in steps of 64 KiB.
private struct ObjectCharge {
    private let charge: MemoryCharge
    private let type: String
    private var pending = 0

    init(_ table: any Table) {
        charge = MemoryCharge(table.memory)
        type = table.type.name
    }

    /// Adds one object with `fields` fields.
    mutating func add(_ fields: Int) throws(Damage) {
        pending += 64 + fields * MemoryLayout<Value.Entry>.stride
        guard pending >= 64 << 10 else { return }
        try charge.add(pending, for: "objects of type \"\(type)\"")
        pending = 0
    }
}

extension Table {
    /// Returns the table that contains the objects of a column.
    func embedded(_ column: ColumnSchema) throws(Damage) -> any Table {
        guard let target = try column.type.target.flatMap({ (name) throws(Damage) in try related(name) }) else {
            throw Damage("type \"\(column.type.target ?? "")\" is missing")
        }
        return target
    }
}
