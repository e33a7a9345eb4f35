import FirnBytes
import Synchronization

/// Selected rows of another table in a given order, with repetitions. Queries over a list of objects run on it. Rows that do not exist are
/// not live. Columns are gathered by vector, and only if they are requested.
package final class SelectedRows: Table {
    package let base: any Table
    /// The number of selected rows that exist.
    package let rowCount: Int
    private let segments: [SelectedSegment]
    /// The damage that was found in the base when its rows were located.
    private let damage: Damage?

    package init(_ rowIDs: [Int64], of base: any Table) {
        self.base = base
        let sources = SelectedSources(base)
        var segments: [SelectedSegment] = [], rowCount = 0, damage: Damage?
        do throws(Damage) {
            var rows = try LinkedColumn(base, path: [])
            for start in stride(from: 0, to: rowIDs.count, by: segmentSize) {
                let ids = Array(rowIDs[start..<min(start + segmentSize, rowIDs.count)])
                let live = try rows.live(ids, present: nil), ones = live.ones
                rowCount += ones
                segments.append(SelectedSegment(ids, live: ones == ids.count ? nil : live, sources))
            }
        } catch { damage = error }
        self.segments = segments
        self.rowCount = rowCount
        self.damage = damage
    }

    package var type: TypeSchema { base.type }
    package var memory: MemoryBudget { base.memory }
    package var schema: Schema { base.schema }
    package var segmentCount: Int { damage == nil ? segments.count : max(1, segments.count) }

    /// Throws the damage that was found in the base when its rows were located, which `rowCount` cannot report.
    package func check() throws(Damage) { if let damage { throw damage } }

    package func segment(_ index: Int) throws(Damage) -> any Segment {
        if let damage { throw damage }
        return segments[index]
    }

    /// Returns the first segment that contains a row id, or nil.
    /// - Complexity: O(rows), because the row ids are in no order.
    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        if let damage { throw damage }
        return segments.firstIndex { $0.rowIDs.contains(rowID) }
    }

    /// Links refer to the rows of the base, selected or not.
    package func related(_ typeName: String) throws(Damage) -> (any Table)? {
        try base.related(typeName) ?? (typeName == type.name ? base : nil)
    }
}

/// A column of the base with the vectors decoded so far. All segments of a selection share it.
private final class SelectedSource: Sendable {
    private let column: Mutex<LinkedColumn>

    init(_ column: consuming LinkedColumn) { self.column = Mutex(column) }

    func fetch(_ rowIDs: [Int64]) throws(Damage) -> Column {
        try column.withLock { (column) throws(Damage) -> Column in try column.fetch(rowIDs, present: nil) }
    }
}

/// The columns of the base that were requested.
private final class SelectedSources: Sendable {
    let base: any Table
    private struct Key: Hashable {
        let path: [Int], isStored: Bool
    }
    private let columns: Mutex<[Key: SelectedSource]> = Mutex([:])

    init(_ base: any Table) { self.base = base }

    func source(_ path: [Int], stored: Bool) throws(Damage) -> SelectedSource {
        let base = base, key = Key(path: path, isStored: stored)
        return try columns.withLock { (columns) throws(Damage) -> SelectedSource in
            if let known = columns[key] { return known }
            let source = SelectedSource(try LinkedColumn(base, path: path, stored: stored))
            columns[key] = source
            return source
        }
    }

    /// Returns whether the embedded objects of a column have row ids in the base.
    func isStored(_ index: Int) throws(Damage) -> Bool {
        guard base.type.columns[index].type.kind == .embedded, base.segmentCount > 0 else { return false }
        return try base.segment(0).storedColumn(index).type.kind == .link
    }
}

/// Up to 65,536 of the selected rows. Their ids are in no order and can repeat.
private final class SelectedSegment: Segment {
    let rowIDs: [Int64]
    let live: Bits?
    private let sources: SelectedSources

    init(_ rowIDs: [Int64], live: Bits?, _ sources: SelectedSources) {
        self.rowIDs = rowIDs
        self.live = live
        self.sources = sources
    }

    var rowCount: Int { rowIDs.count }
    func rowID(at position: Int) throws(Damage) -> Int64 { rowIDs[position] }
    func position(of rowID: Int64) throws(Damage) -> Int? { rowIDs.firstIndex(of: rowID) }
    func column(_ index: Int) throws(Damage) -> any ColumnReader { try column(path: [index]) }
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader {
        guard try sources.isStored(index) else { return try column(index) }
        return SelectedColumn(rowIDs, type: sources.base.type.columns[index].type.stored, try sources.source([index], stored: true))
    }
    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        SelectedColumn(
            rowIDs, type: try ColumnSchema(path: path, in: sources.base.type, sources.base.schema).type,
            try sources.source(path, stored: false))
    }
}

/// One column of a segment of selected rows. Rows that do not exist have no value.
private final class SelectedColumn: ColumnReader {
    let type: ColumnType
    private let rowIDs: [Int64]
    private let source: SelectedSource

    init(_ rowIDs: [Int64], type: ColumnType, _ source: SelectedSource) {
        self.rowIDs = rowIDs
        self.type = type
        self.source = source
    }

    var rowCount: Int { rowIDs.count }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        column = try source.fetch(Array(rowIDs[vector * vectorSize..<min((vector + 1) * vectorSize, rowIDs.count)]))
        column.type = type
    }

    func value(at row: Int) throws(Damage) -> Value { try source.fetch([rowIDs[row]]).value(at: 0) }
}
