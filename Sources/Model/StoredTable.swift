import FirnBytes
import FirnStore
import Synchronization

/// All rows of one type at one version of a file: the sealed segments, then the rows that exist only in the delta store.
package final class StoredTable: Table {
    package let type: TypeSchema
    let index: Int
    let core: SnapshotCore
    /// Keeps the snapshot open while a caller holds the table.
    let keeper: DatabaseSnapshot?
    /// Nil in a transaction, and if the type has no key.
    let keys: (index: KeyIndex, shape: KeyShape)?
    private let places = Mutex<KeyPlaces?>(nil)

    init(_ core: SnapshotCore, type index: Int, keeper: DatabaseSnapshot?) {
        self.core = core
        self.index = index
        self.keeper = keeper
        type = core.schema.types[index]
        keys = keeper?.keys.index(type)
    }

    /// Returns the key columns with which candidates are confirmed, or nil if the table has too many segments to keep all of them open.
    func keyPlaces(_ shape: KeyShape) throws(Damage) -> KeyPlaces? {
        if let known = places.withLock({ $0 }) { return known }
        guard core.catalogue.types[index].segmentCount <= KeyPlaces.mostSegments else { return nil }
        let made = try core.keyPlaces(type: index, shape)
        places.withLock { $0 = made }
        return made
    }

    /// The path of the file, or an empty string if it is not known.
    var path: String { keeper?.path ?? "" }
    func rows(_ segment: Int) throws(Damage) -> any StoredRows { try core.rows(type: index, index: segment) }
    package var schema: Schema { core.schema }
    package var memory: MemoryBudget { core.source.memory }
    package var rowCount: Int { core.catalogue.types[index].liveRows }
    package var segmentCount: Int { core.catalogue.types[index].segmentCount + (core.catalogue.types[index].deltaRows > 0 ? 1 : 0) }

    package func segment(_ position: Int) throws(Damage) -> any Segment {
        precondition(position >= 0 && position < segmentCount, "segment outside the table: ask segmentCount first")
        return try core.tableSegment(type: index, index: position)
    }

    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        guard rowID >= 0, rowID < core.catalogue.types[index].nextRowID else { return nil }
        let place = try core.firstSegment(type: index, endingAtOrAfter: rowID)
        if place < core.catalogue.types[index].segmentCount {
            return try core.directoryEntry(type: index, index: place).firstRowID <= rowID ? place : nil
        }
        return core.catalogue.types[index].deltaRows > 0 ? place : nil
    }

    package func related(_ typeName: String) throws(Damage) -> (any Table)? {
        core.schema.types.firstIndex { $0.name == typeName }.map { StoredTable(core, type: $0, keeper: keeper) }
    }

    /// Returns one value by row id, and decodes only that value. Returns null if the row does not exist.
    package func value(rowID: Int64, column: Int) throws(Damage) -> Value {
        guard let position = try segmentIndex(of: rowID) else { return .null }
        let segment = try segment(position)
        guard let row = try segment.position(of: rowID), segment.live?[row] ?? true else { return .null }
        return try segment.column(column).value(at: row)
    }

    /// Returns one whole row by row id, or nil if it does not exist.
    package func row(_ rowID: Int64) throws(Damage) -> [Value]? {
        guard let position = try segmentIndex(of: rowID) else { return nil }
        let segment = try segment(position)
        guard let row = try segment.position(of: rowID), segment.live?[row] ?? true else { return nil }
        var values: [Value] = []
        for column in type.columns.indices { values.append(try segment.column(column).value(at: row)) }
        return values
    }
}

extension Zone {
    /// Returns false only if no row of the zone can have the value.
    package func mayHold(_ value: Value) -> Bool {
        if value.isNull { return mayHaveNulls }
        if allNull { return false }
        switch (bounds, value) {
        case (.words(let low, let high), .int(let x)), (.words(let low, let high), .link(let x)): return low <= x && x <= high
        case (.words(let low, let high), .date(let x)): return low <= x.seconds && x.seconds <= high
        case (.words(let low, let high), .uuid(let x)): return low <= Column.pair(uuid: x).0 && Column.pair(uuid: x).0 <= high
        case (.words(let low, let high), .objectID(let x)): return low <= Column.pair(objectID: x).0 && Column.pair(objectID: x).0 <= high
        case (.reals(let low, let high), .double(let x)): return low <= x && x <= high
        case (.reals(let low, let high), .float(let x)): return low <= Double(x) && Double(x) <= high
        case (.text(let bounds), .string(let x)): return bounds.mayHold(Array(x.utf8))
        case (.text(let bounds), .data(let x)): return bounds.mayHold(x)
        default: return true
        }
    }
}
