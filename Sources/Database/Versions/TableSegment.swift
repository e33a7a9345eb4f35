import FirnBytes
import FirnTable
import Synchronization

/// A segment of a table at one version: stored rows, with embedded objects in place of their row ids.
final class TableSegment: Segment {
    let rows: any StoredRows
    private let type: TypeSchema
    /// It also holds this segment; closing the version breaks the cycle.
    private let home: any TableHome
    private let hasEmbedded: Bool
    private let readers: Mutex<[[Int]: any ColumnReader]> = Mutex([:])
    /// The readers of whole columns, by position, which are requested most.
    private let columns: Mutex<[(any ColumnReader)?]>

    init(_ rows: any StoredRows, type: TypeSchema, home: any TableHome) {
        self.rows = rows
        self.type = type
        self.home = home
        hasEmbedded = type.columns.contains { $0.type.kind == .embedded }
        columns = Mutex(Array(repeating: nil, count: type.columns.count))
    }

    var rowCount: Int { rows.rowCount }
    var live: Bits? { rows.live }
    func rowID(at position: Int) throws(Damage) -> Int64 { try rows.rowID(at: position) }
    func position(of rowID: Int64) throws(Damage) -> Int? { try rows.position(of: rowID) }
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try rows.storedColumn(index) }

    func zone(of column: Int) throws(Damage) -> Zone? {
        try type.columns[column].type.kind == .embedded ? self.column(column).zone() : rows.zone(of: column)
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        if let reader = columns.withLock({ $0[index] }) { return reader }
        let reader = try open([index])
        columns.withLock { $0[index] = reader }
        return reader
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        if path.count == 1 { return try column(path[0]) }
        if let reader = readers.withLock({ $0[path] }) { return reader }
        let reader = try open(path)
        readers.withLock { $0[path] = reader }
        return reader
    }

    private func open(_ path: [Int]) throws(Damage) -> any ColumnReader {
        let column = type.columns[path[0]]
        let stored = try rows.storedColumn(path[0])
        guard column.type.kind == .embedded else {
            guard path.count == 1 else { throw Damage("column \"\(column.name)\" has no fields") }
            return stored
        }
        let target = try home.embeddedTable(of: column)
        if path.count == 1 { return EmbeddedColumn(stored, type: column.type, target: target, home: home) }
        let leaf = try ColumnSchema(path: path, in: type, home.schema)
        return PathColumn(stored, type: leaf.type, target: target, rest: Array(path.dropFirst()), home: home)
    }

    func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? {
        guard let other = other as? TableSegment else { return nil }
        if self === other { return Bits(count: rowCount) }
        // The row ids of embedded objects do not change when the objects' own fields do.
        guard !hasEmbedded, rowCount >= other.rowCount else { return nil }
        return try storedRowsThatMayDiffer(from: other)
    }

    func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? {
        guard let other = other as? TableSegment, type.columns == other.type.columns else { return nil }
        return self === other ? Bits(count: rowCount) : try rows.rowsThatMayDiffer(from: other.rows)
    }

    func storesSame(_ column: Int, as other: any Segment, _ otherColumn: Int) throws(Damage) -> Bool {
        guard let other = other as? TableSegment else { return false }
        return try rows.storesSame(column, as: other.rows, otherColumn)
    }
}
