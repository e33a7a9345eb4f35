import FirnBytes

/// A table that presents the rows of another table with different columns.
package protocol WrappedTable: Table {
    var base: any Table { get }
}

extension WrappedTable {
    package var rowCount: Int { base.rowCount }
    package var segmentCount: Int { base.segmentCount }
    package var memory: MemoryBudget { base.memory }
    package var readsByColumn: Bool { base.readsByColumn }
    package var hasUniqueKeys: Bool { base.hasUniqueKeys }
    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID) }
    package func related(_ typeName: String) throws(Damage) -> (any Table)? { try base.related(typeName) }
}

/// A segment of a `WrappedTable`.
package protocol WrappedSegment: Segment {
    var base: any Segment { get }
}

extension WrappedSegment {
    package var rowCount: Int { base.rowCount }
    package var live: Bits? { base.live }
    package func rowID(at position: Int) throws(Damage) -> Int64 { try base.rowID(at: position) }
    package func position(of rowID: Int64) throws(Damage) -> Int? { try base.position(of: rowID) }
}
