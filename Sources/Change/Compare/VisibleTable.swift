import FirnBytes
import FirnTable

/// A table without its columns of original texts, which are neither compared nor hashed.
final class VisibleTable: WrappedTable {
    let base: any Table
    let type: TypeSchema
    let schema: Schema
    /// The positions of the columns in the base.
    fileprivate let kept: [Int]

    /// Returns the table itself if it has no such columns.
    static func of(_ table: any Table) -> any Table {
        table.type.hasCompanions || table.schema.hasCompanions ? VisibleTable(table) : table
    }

    private init(_ base: any Table) {
        self.base = base
        type = base.type.visible
        schema = base.schema.visible
        kept = base.type.visibleColumns
    }

    func segment(_ index: Int) throws(Damage) -> any Segment { VisibleSegment(try base.segment(index), kept) }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { try base.related(typeName).map(VisibleTable.of) }
}

private final class VisibleSegment: WrappedSegment {
    let base: any Segment
    let kept: [Int]

    init(_ base: any Segment, _ kept: [Int]) {
        self.base = base
        self.kept = kept
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader { try base.column(kept[index]) }
    func storedColumn(_ index: Int) throws(Damage) -> any ColumnReader { try base.storedColumn(kept[index]) }
    func zone(of column: Int) throws(Damage) -> Zone? { try base.zone(of: kept[column]) }
    func column(path: [Int]) throws(Damage) -> any ColumnReader { try base.column(path: [kept[path[0]]] + path.dropFirst()) }
    func rowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? {
        try base.rowsThatMayDiffer(from: (other as? VisibleSegment)?.base ?? other)
    }
    func storedRowsThatMayDiffer(from other: any Segment) throws(Damage) -> Bits? {
        try base.storedRowsThatMayDiffer(from: (other as? VisibleSegment)?.base ?? other)
    }
    func storesSame(_ column: Int, as other: any Segment, _ otherColumn: Int) throws(Damage) -> Bool {
        guard let other = other as? VisibleSegment else { return try base.storesSame(kept[column], as: other, otherColumn) }
        return try base.storesSame(kept[column], as: other.base, other.kept[otherColumn])
    }
}
