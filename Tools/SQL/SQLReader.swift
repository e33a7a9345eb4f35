import CSQLite
import FirnBytes
import FirnTable

/// Reads columns of a table in their SQL form, for one cursor.
final class SQLReader {
    let table: any Table
    let columns: [SQLColumn]
    private var segmentIndex = -1
    private var readers: [(any ColumnReader)?]
    private var scratch: [Column]
    /// The readers of the keys of linked rows, by column.
    private var linked: [LinkedColumn?]
    private(set) var segment: (any Segment)?

    init(_ table: any Table, _ columns: [SQLColumn]) {
        self.table = table
        self.columns = columns
        readers = Array(repeating: nil, count: columns.count)
        linked = Array(repeating: nil, count: columns.count)
        scratch = columns.map { Column($0.schema, in: table.schema) }
    }

    @discardableResult
    func move(to index: Int) throws(Damage) -> any Segment {
        if index == segmentIndex, let segment { return segment }
        let next = try table.segment(index)
        for i in readers.indices { readers[i] = nil }
        segment = next
        segmentIndex = index
        return next
    }

    private func reader(_ index: Int) throws(Damage) -> any ColumnReader {
        if let reader = readers[index] { return reader }
        guard let segment else { trap("call move(to:) first") }
        let reader = try segment.column(columns[index].position), wanted = columns[index].schema.type
        guard reader.type.kind == wanted.kind, reader.type.collection == wanted.collection, reader.rowCount >= segment.rowCount else {
            throw Damage("a column has type \(reader.type.name), and the schema has \(wanted.name)")
        }
        readers[index] = reader
        return reader
    }

    /// Reads a vector of a column of the current segment.
    func fill(_ buffer: ColumnBuffer, column index: Int, vector: Int) throws(Damage) -> firn_sql_column {
        let reader = try reader(index), rows = segment!.rows(ofVector: vector)
        try reader.read(vector: vector, into: &scratch[index])
        guard scratch[index].count == rows.count else { throw Damage("the length of a vector differs from that in its segment") }
        return try fill(buffer, index, scratch[index])
    }

    /// Reads a column of found rows, in the order in which they were found.
    func fill(_ buffer: ColumnBuffer, column index: Int, _ found: FoundRows) throws(Damage) -> firn_sql_column {
        var out = Column(columns[index].schema, in: table.schema)
        out.type.isOptional = true
        var at = 0, vectorRows: [Int] = []
        while at < found.count {
            let first = found[at], vector = first.row / vectorSize
            vectorRows.removeAll(keepingCapacity: true)
            while at < found.count, case let (segment, row) = found[at], segment == first.segment, row / vectorSize == vector {
                vectorRows.append(row % vectorSize)
                at += 1
            }
            let range = try move(to: first.segment).rows(ofVector: vector), reader = try reader(index)
            if vectorRows.count <= 2, columns[index].form != .json {
                for row in vectorRows {
                    guard out.append(try reader.value(at: range.lowerBound + row)) else {
                        throw Damage("the type of a value differs from that of its column")
                    }
                }
            } else {
                try reader.read(vector: vector, into: &scratch[index])
                guard scratch[index].count == range.count else { throw Damage("the length of a vector differs from that in its segment") }
                try out.hold(
                    MemoryScope(table.memory, type: table.type.name, column: columns[index].schema.name),
                    adding: scratch[index].footprint(gathering: vectorRows))
                out.appendGathered(scratch[index], rows: vectorRows)
            }
        }
        return try fill(buffer, index, found.order.map { out.gather($0) } ?? out)
    }

    private func fill(_ buffer: ColumnBuffer, _ index: Int, _ column: Column) throws(Damage) -> firn_sql_column {
        let description = columns[index].schema
        try hold(buffer, index, column)
        guard let target = columns[index].target else { return buffer.fill(column, columns[index].form, description, in: table.schema) }
        if columns[index].isLink {
            return buffer.fill(try names(of: column, index, target), columns[index].form, target.keySchema ?? description, in: table.schema)
        }
        // Replaces the elements of a collection of links by the names of their rows.
        var whole = column, named = description
        let last = whole.children.count - 1
        whole.children[last] = try names(of: whole.children[last], index, target)
        named.type.kind = whole.children[last].type.kind
        named.type.target = nil
        if let key = target.keySchema { named.notation = key.notation }
        return buffer.fill(whole, .json, named, in: table.schema)
    }

    /// Charges the memory for the buffer's copy of a column, before the copy is made.
    private func hold(_ buffer: ColumnBuffer, _ index: Int, _ column: Column) throws(Damage) {
        let scope = MemoryScope(table.memory, type: table.type.name, column: columns[index].schema.name)
        let bytes =
            switch columns[index].form {
            case .json, .any: column.footprint * SQLReader.writtenBytes
            default: column.footprint
            }
        try buffer.hold(bytes, scope)
    }

    /// The approximate ratio of the JSON text of a value to its size in memory.
    private static let writtenBytes = 4

    /// Returns the names of linked rows: their keys or row ids, or null if the row does not exist.
    private func names(of links: Column, _ index: Int, _ target: SQLColumn.Target) throws(Damage) -> Column {
        guard let others = try table.related(target.typeName) ?? (target.typeName == table.type.name ? table : nil) else {
            return Column(ColumnType(.int)).nulls(links.count)
        }
        if linked[index] == nil { linked[index] = try LinkedColumn(others, path: target.key.map { [$0] } ?? []) }
        if target.key != nil { return try linked[index]!.fetch(links.words, present: links.present) }
        var ids = Column(ColumnType(.int, optional: true))
        ids.words = links.words
        ids.count = links.count
        ids.present = try linked[index]!.live(links.words, present: links.present)
        return ids
    }

    func rowIDs(vector: Int) throws(Damage) -> [Int64] {
        var ids: [Int64] = []
        for row in segment!.rows(ofVector: vector) { ids.append(try segment!.rowID(at: row)) }
        return ids
    }

    func rowIDs(_ found: FoundRows) throws(Damage) -> [Int64] {
        var ids: [Int64] = []
        for at in 0..<found.count {
            let (segment, row) = found[at]
            ids.append(try move(to: segment).rowID(at: row))
        }
        return found.order.map { order in order.map { ids[$0] } } ?? ids
    }
}

/// A chunk of found rows, sorted by position so that each vector is read once.
struct FoundRows {
    /// The position in the table in the high bits, and the index among the found rows in the low 16 bits; ascending.
    private var keys: [UInt64] = []
    /// For each found row its index in `keys`; nil if the order is the same.
    private(set) var order: [Int]?

    /// Takes at most 65,536 positions: the segment in the high half, the row within it in the low half.
    init(_ positions: ArraySlice<UInt64>) {
        trap(unless: positions.count <= 1 << 16, "a chunk has at most 65,536 found rows")
        keys.reserveCapacity(positions.count)
        var isAscending = true, last: UInt64 = 0
        for (i, position) in positions.enumerated() {
            let key = (position >> 32) << 32 | (position & 0xFFFF) << 16 | UInt64(i)
            isAscending = isAscending && key >= last
            keys.append(key)
            last = key
        }
        guard !isAscending else { return }
        keys.sort()
        var order = [Int](repeating: 0, count: keys.count)
        for (i, key) in keys.enumerated() { order[Int(key & 0xFFFF)] = i }
        self.order = order
    }

    var count: Int { keys.count }
    subscript(_ index: Int) -> (segment: Int, row: Int) { (Int(keys[index] >> 32), Int(keys[index] >> 16 & 0xFFFF)) }
}

extension Column {
    /// Returns the column with this number of nulls appended.
    fileprivate func nulls(_ count: Int) -> Column {
        var out = self
        out.type.isOptional = true
        for _ in 0..<count { out.appendNull() }
        return out
    }
}
