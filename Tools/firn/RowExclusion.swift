import FirnBytes
import FirnExchange
import FirnQuery
import FirnTable

/// Leaves out rows that a condition excludes, before they are read: parts of files by their statistics, and whole files by the columns that
/// have one value in all of their rows.
enum RowExclusion {
    /// Lets a reader leave out the rows that a condition excludes by what is known about them. The rows that it reads must still be tested.
    static func apply(_ condition: QuerySyntax, to reader: any BatchReader) throws(FirnError) {
        if let united = reader as? UnitedReader {
            united.condition = condition.predicate
        } else if let reader = reader as? any SkippingReader {
            let table = reader.table
            // Names and types of the condition are checked, with their place in its text, where it is run.
            guard let run = try? QueryRun(QueryRequest(parsed: QuerySyntax(condition.predicate)), table: table) else { return }
            keep(run.possibleSegments(), of: table, in: reader)
        }
    }

    private static func keep(_ segments: [Int], of table: any Table, in reader: any SkippingReader) {
        if segments.count < table.segmentCount { reader.keep(segments: segments) }
    }

    /// The same for one input of a union.
    static func apply(_ condition: PredicateSyntax, to reader: any SkippingReader, as columns: UnitedColumns) {
        let table = UnitedTable(reader.table, columns)
        guard let run = try? QueryRun(QueryRequest(parsed: QuerySyntax(condition)), table: table) else { return }
        keep(run.possibleSegments(), of: table, in: reader)
    }

    /// Returns whether the condition excludes all rows that have some values. Parts of the condition that need other columns are ignored.
    static func excludes(_ condition: PredicateSyntax, _ columns: [ColumnSchema], _ values: [Value]) -> Bool {
        guard !columns.isEmpty else { return false }
        let type = TypeSchema("rows", columns: columns), schema = Schema([type])
        var row = Batch(type, in: schema)
        row.count = 1
        for (i, value) in values.enumerated() where !row.columns[i].append(value) { return false }
        let table = MemoryTable(type, schema: schema, batches: [row])
        return conjunction(condition).contains { part in
            guard let run = try? QueryRun(QueryRequest(parsed: QuerySyntax(part)), table: table) else { return false }
            return (try? run.count()) == 0
        }
    }

    private static func conjunction(_ condition: PredicateSyntax) -> [PredicateSyntax] {
        if case .and(let parts) = condition { parts.flatMap(conjunction) } else { [condition] }
    }
}

/// What is known of the columns of a union in the rows of one input.
struct UnitedColumns {
    enum Source {
        /// The values of a column of the input, unchanged.
        case column(Int)
        case value(Value)
        case unknown
    }

    let type: TypeSchema
    let schema: Schema
    let sources: [Source]
}

/// The rows of an input with the columns of a union, of which only the zones can be read.
private final class UnitedTable: Table {
    let type: TypeSchema
    let schema: Schema
    private let rows: any Table
    fileprivate let zones: [Zone?]
    fileprivate let positions: [Int?]

    init(_ rows: any Table, _ columns: UnitedColumns) {
        self.rows = rows
        (type, schema) = (columns.type, columns.schema)
        positions = columns.sources.map { if case .column(let position) = $0 { position } else { nil } }
        zones = columns.sources.map { if case .value(let value) = $0 { UnitedTable.zone(of: value) } else { nil } }
    }

    /// The zone of rows that all have one value.
    private static func zone(of value: Value) -> Zone? {
        switch value {
        case .null: Zone(mayHaveNulls: true, allNull: true, bounds: .none)
        case .int(let x): Zone(mayHaveNulls: false, allNull: false, bounds: .words(x, x))
        case .date(let x): Zone(mayHaveNulls: false, allNull: false, bounds: .words(x.seconds, x.seconds))
        case .string(let x): Zone(mayHaveNulls: false, allNull: false, bounds: .text(TextBounds(low: Array(x.utf8), high: Array(x.utf8))))
        default: nil
        }
    }

    var rowCount: Int { rows.rowCount }
    var segmentCount: Int { rows.segmentCount }
    func segment(_ index: Int) throws(Damage) -> any Segment { UnitedSegment(self, try rows.segment(index)) }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try rows.segmentIndex(of: rowID) }
}

private final class UnitedSegment: Segment {
    private let table: UnitedTable
    private let rows: any Segment

    init(_ table: UnitedTable, _ rows: any Segment) { (self.table, self.rows) = (table, rows) }

    var rowCount: Int { rows.rowCount }
    var live: Bits? { rows.live }
    func rowID(at position: Int) throws(Damage) -> Int64 { try rows.rowID(at: position) }
    func position(of rowID: Int64) throws(Damage) -> Int? { try rows.position(of: rowID) }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        guard let position = table.positions[index] else { throw Damage("column \(index) cannot be read") }
        return try rows.column(position)
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        guard path.count == 1 else { throw Damage("fields cannot be read") }
        return try column(path[0])
    }

    func zone(of column: Int) throws(Damage) -> Zone? {
        if let zone = table.zones[column] { return zone }
        guard let position = table.positions[column] else { return nil }
        return try rows.zone(of: position)
    }

    func mayHold(_ values: [Value], column: Int) throws(Damage) -> Bool {
        guard let position = table.positions[column] else { return true }
        return try rows.mayHold(values, column: position)
    }
}
