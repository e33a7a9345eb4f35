import FirnBytes
import FirnTable

/// A table that presents the rows of another table with different columns.
protocol WrappedTable: Table {
    var base: any Table { get }
}

extension WrappedTable {
    var rowCount: Int { base.rowCount }
    var segmentCount: Int { base.segmentCount }
    var memory: MemoryBudget { base.memory }
    var readsByColumn: Bool { base.readsByColumn }
    var hasUniqueKeys: Bool { base.hasUniqueKeys }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID) }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { try base.related(typeName) }
}

/// A segment of a `WrappedTable`.
protocol WrappedSegment: Segment {
    var base: any Segment { get }
}

extension WrappedSegment {
    var rowCount: Int { base.rowCount }
    var live: Bits? { base.live }
    func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
    func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
}
