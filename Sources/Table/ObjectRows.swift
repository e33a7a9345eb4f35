import FirnBytes
import FirnDisk

/// Fetches fields of embedded objects by row id, for many objects at a time. For one thread.
///
/// Nested objects are fetched by exactly the row ids that are requested, so the cost of a level is proportional to the number of its own
/// values, at any depth. For each stored column, the vector that was decoded last is kept, because the next objects mostly continue in it.
final class ObjectRows: @unchecked Sendable {
    private let table: any Table
    /// The path to the one field that is read; nil for all fields.
    private let field: [Int]?
    private let counts: ReadCounts
    private var finder: RowFinder
    private var columns: [StoredField] = []
    /// For each of `columns`, the reader of the objects that it refers to.
    private var inner: [ObjectRows?] = []
    /// The memory charge of `columns`. Nested objects have readers of their own.
    private let held: MemoryCharge

    /// The maximum depth of nested objects. Deeper nesting is damage (rows that contain themselves).
    static let maximumDepth = 256
    /// The maximum number of segments that are kept for the next call.
    private static let heldSegments = 8

    init(_ table: any Table, field: [Int]?, counts: ReadCounts) {
        self.table = table
        self.field = field
        self.counts = counts
        finder = RowFinder(table)
        held = MemoryCharge(table.memory)
    }

    /// Returns one column per field, with one row per id. Rows of absent ids, and of ids without a row, are null.
    func fetch(_ ids: [Int64], present: Bits?, depth: Int) throws(Damage) -> [Column] {
        guard depth < ObjectRows.maximumDepth else {
            throw Damage("objects of type \"\(table.type.name)\" nest deeper than \(ObjectRows.maximumDepth) levels")
        }
        guard present.map({ !$0.noneSet }) ?? !ids.isEmpty else { return try nulls(ids.count) }
        if columns.isEmpty || finder.segments.count > ObjectRows.heldSegments { try begin() }
        let found = try table.memory.holding(ids.count * ObjectRows.locationBytes, for: name)
        defer { withExtendedLifetime(found) {} }
        let locations = FoundLocations(try finder.locations(of: ids, present: present))
        if !locations.hasSome { return try nulls(ids.count) }
        var out: [Column] = []
        out.reserveCapacity(columns.count)
        for i in columns.indices {
            let stored = try columns[i].read(locations, finder.segments, counts)
            out.append(try resolve(i, stored, depth))
        }
        return out
    }

    private var name: String { "objects of type \"\(table.type.name)\"" }
    /// Bytes for each location while it is looked up and sorted.
    private static let locationBytes = 32
    /// The approximate memory of a field's reader and of an empty column.
    private static let fieldBytes = 1024

    private func begin() throws(Damage) {
        finder = RowFinder(table)
        let wanted = field.map { [$0[0]] } ?? Array(table.type.columns.indices)
        try held.grow(to: wanted.count * ObjectRows.fieldBytes, for: name)
        columns = wanted.map { StoredField($0, table.type.columns[$0], of: table) }
        if inner.isEmpty { inner = Array(repeating: nil, count: wanted.count) }
    }

    private func resolve(_ i: Int, _ stored: Column, _ depth: Int) throws(Damage) -> Column {
        let column = table.type.columns[columns[i].index]
        guard column.type.kind == .embedded else {
            guard field.map({ $0.count == 1 }) ?? true else { throw Damage("column \"\(column.name)\" has no fields") }
            return stored
        }
        let rest = field.map { Array($0.dropFirst()) }.flatMap { $0.isEmpty ? nil : $0 }
        if inner[i] == nil { inner[i] = ObjectRows(try table.embedded(column), field: rest, counts: counts) }
        guard rest != nil else { return try stored.replacingLinks(column.type, with: inner[i]!, depth: depth + 1) }
        return try stored.leaf(try ColumnSchema(path: field!, in: table.type, table.schema).type, of: inner[i]!, depth: depth + 1)
    }

    /// Returns `count` rows without a value for each field.
    private func nulls(_ count: Int) throws(Damage) -> [Column] {
        var out: [Column] = []
        if let field {
            out.append(try Column(shape: field, in: table))
        } else {
            out = table.type.columns.map { Column($0, in: table.schema) }
        }
        for i in out.indices {
            try out[i].hold(MemoryScope(table.memory, type: table.type.name), adding: out[i].footprint(ofNulls: count))
            out[i].appendNulls(count)
        }
        return out
    }
}

/// The locations of rows as `RowFinder` returns them, -1 for rows that do not exist.
struct FoundLocations {
    /// The locations in ascending order. If `order` is nil, these are the requested locations, with -1 anywhere between them; otherwise they are
    /// distinct and without -1.
    let ascending: [Int]
    /// Set if the requested locations do not ascend: for each of them its index in `ascending`, or the length of `ascending` for a row that
    /// does not exist.
    let order: [Int]?
    let hasSome: Bool

    init(_ locations: [Int]) {
        var last = -1, isAscending = true
        for location in locations where location >= 0 {
            if location <= last {
                isAscending = false
                break
            }
            last = location
        }
        hasSome = last >= 0
        if isAscending {
            ascending = locations
            order = nil
            return
        }
        var distinct = locations.filter { $0 >= 0 }.sorted(), count = 0
        for location in distinct where count == 0 || distinct[count - 1] != location {
            distinct[count] = location
            count += 1
        }
        distinct.removeLast(distinct.count - count)
        ascending = distinct
        order = locations.map { location in
            if location < 0 { return count }
            var low = 0, high = count
            while low < high {
                let middle = (low &+ high) >> 1
                if distinct[middle] < location { low = middle &+ 1 } else { high = middle }
            }
            return low
        }
    }
}

/// One stored column of the rows that objects are read from. For one thread.
struct StoredField {
    let index: Int
    private let type: ColumnType
    private let memory: MemoryScope
    /// By the finder's number of the segment.
    private var readers: [(any ColumnReader)?] = []
    /// The rows of the vector that was decoded last, followed by a row without a value.
    private var held: Column
    /// The number of that vector, counted over the finder's segments; -1 if there is none.
    private var heldVector = -1
    /// The vector from which single values were last requested, and how many.
    private var single = (vector: -1, count: 0)

    /// Reading a vector costs about as much as reading this many single values.
    private static let vectorCost = 24
    /// A vector that occupies more bytes is not kept.
    private static let heldBytes = 4 << 20
    private static let vectorsOfSegment = segmentSize / vectorSize

    init(_ index: Int, _ column: ColumnSchema, of table: any Table) {
        self.index = index
        type = column.type.stored
        memory = MemoryScope(table.memory, type: table.type.name, column: column.name)
        held = Column(type)
    }

    /// Returns one row for each requested location.
    mutating func read(_ locations: FoundLocations, _ segments: [any Segment], _ counts: ReadCounts) throws(Damage) -> Column {
        var out = Column(type)
        try append(locations.ascending, segments, counts, to: &out)
        if held.footprint > StoredField.heldBytes { release() }
        guard let order = locations.order else { return out.withoutIdlePresence() }
        out.appendNull()
        var ordered = Column(type)
        try ordered.hold(memory, adding: out.footprint(gathering: order))
        ordered.appendGathered(out, rows: order)
        return ordered.withoutIdlePresence()
    }

    private mutating func append(_ locations: [Int], _ segments: [any Segment], _ counts: ReadCounts, to out: inout Column) throws(Damage) {
        var start = 0
        while start < locations.count {
            guard let first = locations[start...].firstIndex(where: { $0 >= 0 }) else { return out.appendNulls(locations.count - start) }
            let vector = locations[first] / vectorSize
            // Rows that do not exist are handled with the vector before them, or with the first one.
            var end = first + 1, count = 1
            while end < locations.count, locations[end] < 0 || locations[end] / vectorSize == vector {
                if locations[end] >= 0 { count += 1 }
                end += 1
            }
            try append(locations[start..<end], count, of: vector, segments, counts, to: &out)
            start = end
        }
    }

    /// Appends rows of one vector, of which `count` exist.
    private mutating func append(
        _ locations: ArraySlice<Int>, _ count: Int, of vector: Int, _ segments: [any Segment], _ counts: ReadCounts, to out: inout Column
    ) throws(Damage) {
        if heldVector != vector {
            if single.vector != vector { single = (vector, 0) }
            single.count += count
            guard single.count > StoredField.vectorCost else { return try appendSingly(locations, of: vector, segments, counts, to: &out) }
            try decode(vector, segments, counts)
        }
        let first = locations[locations.startIndex]
        if count == locations.count, locations[locations.endIndex - 1] - first == count - 1 {
            let rows = first % vectorSize..<first % vectorSize + count
            try out.hold(memory, adding: held.footprint(of: rows))
            out.append(contentsOf: held, range: rows)
        } else {
            let absent = held.count - 1
            let rows = locations.map { $0 < 0 ? absent : $0 % vectorSize }
            try out.hold(memory, adding: held.footprint(gathering: rows))
            out.appendGathered(held, rows: rows)
        }
    }

    private mutating func decode(_ vector: Int, _ segments: [any Segment], _ counts: ReadCounts) throws(Damage) {
        let number = vector / StoredField.vectorsOfSegment, index = vector % StoredField.vectorsOfSegment
        release()
        held.type = type
        try reader(number, segments).read(vector: index, into: &held)
        guard held.count == segments[number].rows(ofVector: index).count else {
            throw Damage("a vector of another length than its segment has")
        }
        held.appendNull()
        heldVector = vector
        counts.addObjectVector()
    }

    private mutating func appendSingly(
        _ locations: ArraySlice<Int>, of vector: Int, _ segments: [any Segment], _ counts: ReadCounts, to out: inout Column
    ) throws(Damage) {
        let reader = try reader(vector / StoredField.vectorsOfSegment, segments)
        for location in locations {
            guard location >= 0 else {
                out.appendNull()
                continue
            }
            counts.addObjectValue()
            let value = try reader.value(at: location % segmentSize)
            if value.isNull, type.kind == .any, !type.isCollection {
                // A value does not distinguish null from missing. The vector does.
                if heldVector != vector { try decode(vector, segments, counts) }
                out.append(contentsOf: held, range: location % vectorSize..<location % vectorSize + 1)
            } else if value.isNull {
                out.appendNull()
            } else if !out.append(value) {
                throw Damage("a value of another type than its column")
            }
            try out.hold(memory)
        }
    }

    private mutating func reader(_ number: Int, _ segments: [any Segment]) throws(Damage) -> any ColumnReader {
        while readers.count < segments.count { readers.append(nil) }
        if let reader = readers[number] { return reader }
        let reader = try segments[number].storedColumn(index)
        guard reader.type.kind == type.kind, reader.type.collection == type.collection else {
            throw Damage("column of type \(reader.type.name) where the schema has \(type.name)")
        }
        readers[number] = reader
        return reader
    }

    private mutating func release() {
        held = Column(type)
        heldVector = -1
    }
}

extension Column {
    /// Creates an empty column of the type that `segment.column(path:)` returns.
    init(shape path: [Int], in table: any Table) throws(Damage) {
        let column = try ColumnSchema(path: path, in: table.type, table.schema)
        self.init(column, in: table.schema)
    }

    /// Returns the column without validity bits if every row has a value.
    fileprivate func withoutIdlePresence() -> Column {
        guard present?.allSet ?? false else { return self }
        var out = self
        out.present = nil
        return out
    }
}

extension ColumnSchema {
    /// The column at the end of a path through embedded types. It is optional if something on the path may be missing, and a flat list if
    /// the path leads through a collection.
    package init(path: [Int], in type: TypeSchema, _ schema: Schema) throws(Damage) {
        var column = type.columns[path[0]]
        for field in path.dropFirst() {
            guard let target = column.type.target.flatMap({ schema[$0] }), field < target.columns.count else {
                throw Damage("no such field")
            }
            var next = target.columns[field]
            if column.type.isCollection {
                let inner = next.type.isCollection ? next.type.elementIsOptional : next.type.isOptional
                next.type.elementIsOptional = inner || column.type.elementIsOptional
                next.type.collection = .list
                next.type.isOptional = column.type.isOptional
            } else if column.type.isOptional {
                next.type.isOptional = true
            }
            next.name = column.name + "." + next.name
            column = next
        }
        self = column
    }
}
