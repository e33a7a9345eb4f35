import FirnBytes
import FirnTable

/// What the delta store says about the rows of a sealed segment: deleted rows, new values, and splices of collections.
struct SegmentChanges {
    /// The rows that are deleted, in the header or in the delta store.
    private(set) var deleted: Bits?
    /// New values, by column.
    private(set) var overlays: [Int: ColumnOverlay] = [:]
    /// Changes of collections, by column, ascending by position.
    private(set) var splices: [Int: [(position: Int, splices: CollectionSplices)]] = [:]

    init(deleted: Bits?) { self.deleted = deleted }

    /// Adds the record about the row at a position, which is greater than all that were added before.
    mutating func add(_ record: DeltaRecord, at position: Int, of rowCount: Int, _ type: TypeSchema) throws(Damage) {
        switch record.kind {
        case .deletion:
            if deleted == nil { deleted = Bits(repeating: false, count: rowCount) }
            deleted![position] = true
        case .update:
            for entry in record.values { try add(entry.value, of: entry.column, at: position, type) }
            for entry in record.splices { try add(entry.splices, of: entry.column, at: position, type) }
        case .row: throw Damage("a delta record of a new row within a sealed segment")
        }
    }

    private mutating func add(_ value: Value, of id: UInt32, at position: Int, _ type: TypeSchema) throws(Damage) {
        guard let column = type.index(ofID: id) else { return }
        guard overlays[column]?.positions.last != position else { throw Damage("a delta record sets a column twice") }
        let none = ColumnOverlay(positions: [], values: Column(type.columns[column].type.stored))
        overlays[column, default: none].positions.append(position)
        guard overlays[column, default: none].values.append(value) else { throw Damage("a delta value of the wrong type") }
    }

    private mutating func add(_ change: CollectionSplices, of id: UInt32, at position: Int, _ type: TypeSchema) throws(Damage) {
        guard let column = type.index(ofID: id) else { return }
        guard type.columns[column].type.isCollection else { throw Damage("splices of a column that is not a collection") }
        guard overlays[column]?.positions.last != position, splices[column]?.last?.position != position else {
            throw Damage("a delta record sets a column twice")
        }
        splices[column, default: []].append((position, change))
    }

    /// Charges the memory of the new values.
    mutating func hold(_ scope: (Int) -> MemoryScope) throws(Damage) {
        for column in Array(overlays.keys) { try overlays[column]?.values.hold(scope(column)) }
    }
}

extension StoredSegment {
    /// Returns whether the delta store changes the column in some row.
    func hasDelta(_ column: Int) -> Bool { changes.overlays[column] != nil || changes.splices[column] != nil }

    /// Returns the rows in which the delta store changes the column, ascending.
    func deltaPositions(_ column: Int) -> [Int] {
        ColumnOverlay.merged(changes.overlays[column]?.positions ?? [], splicedPositions(column))
    }

    /// Returns the rows in which the delta store has splices of the column, ascending.
    func splicedPositions(_ column: Int) -> [Int] { changes.splices[column]?.map(\.position) ?? [] }

    /// Returns the values of a column in the delta store, with splices applied. They are applied once.
    func deltaOverlay(_ index: Int) throws(Damage) -> ColumnOverlay? {
        guard let spliced = changes.splices[index] else { return changes.overlays[index] }
        if let known = applied.withLock({ $0[index] }) { return known }
        let sealed = try sealedColumn(index), memory = scope(index)
        var overlay = ColumnOverlay(positions: [], values: Column(sealed.type))
        for (position, splices) in spliced {
            let row = try splices.applied(to: try sealed.row(at: position), memory)
            try overlay.values.hold(memory, adding: row.footprint)
            overlay.positions.append(position)
            overlay.values.append(contentsOf: row)
        }
        if let whole = changes.overlays[index] { overlay = try whole.overlaid(by: overlay, memory) }
        let made = overlay
        applied.withLock { $0[index] = made }
        return made
    }

    /// The maximum number of collections that a segment keeps decoded, to compare later changes with.
    private static let maximumKeptRows = 4

    /// Returns one row of a column without the changes in the delta store, as a column. The last ones are kept.
    func sealedRow(_ index: Int, at position: Int) throws(Damage) -> Column {
        if let known = kept.withLock({ $0.first { $0.column == index && $0.position == position } }) { return known.row }
        let row = try sealedColumn(index).row(at: position)
        kept.withLock {
            if $0.count >= StoredSegment.maximumKeptRows { $0.removeFirst() }
            $0.append((index, position, row))
        }
        return row
    }
}
