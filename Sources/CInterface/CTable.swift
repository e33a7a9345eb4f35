import CArrow
import CFirn
import FirnArrow
import FirnBytes
import FirnDatabase
import FirnExchange
import FirnTable

/// The rows of a type at one version.
final class CTable: CReader {
    let process = MakingProcess()
    let table: StoredTable
    let path: String
    /// The positions of all columns but original texts.
    let visible: [Int]
    let name: CText
    let schemaText: CText

    init(_ table: StoredTable, path: String) {
        self.table = table
        self.path = path
        visible = table.type.visibleColumns
        name = CText(table.type.name)
        schemaText = CText(SchemaFacts.text(table.type.visible, in: table.schema))
    }

    /// Returns the positions of columns; all but original texts if there are no names.
    /// - Throws: `.usage` if there is no such column.
    func positions(_ names: [String]?) throws(FirnError) -> [Int] {
        guard let names else { return visible }
        var out: [Int] = []
        for name in names {
            guard let position = table.type.index(of: name) else {
                let known = table.type.visibleColumns.map { table.type.columns[$0].name }
                throw FirnError(
                    .usage, "type \"\(table.type.name)\" has no column \"\(name)\"", at: .init(file: path),
                    advice: Suggestion.nearest(to: name, among: known).map { "did you mean \"\($0)\"?" })
            }
            out.append(position)
        }
        return out
    }

    /// Returns how columns become Arrow columns. The unit of dates without a logical type is that which the values of the table's first
    /// segment need, so that all scans of the table have the same schema.
    /// - Parameters:
    ///   - coded: the positions in `positions` of texts that become dictionaries.
    ///   - viewed: the positions in `positions` of texts that become views.
    func arrowRows(_ positions: [Int], coded: Set<Int> = [], viewed: Set<Int> = []) throws(FirnError) -> ArrowRows {
        let columns = positions.map { table.type.columns[$0] }
        var sample: [Column]?
        if columns.contains(where: { ArrowRows.needsSample($0, in: table.schema) }), table.segmentCount > 0 {
            do throws(Damage) {
                let segment = try table.segment(0), reader = SegmentReader(segment, of: table)
                sample = []
                for (position, column) in zip(positions, columns) {
                    var isNeeded = ArrowRows.needsSample(column, in: table.schema)
                    if isNeeded { isNeeded = !(try CTable.hasOnlyDays(try segment.column(position), segment)) }
                    sample?.append(isNeeded ? try reader.column(position) : Column(column, in: table.schema))
                }
            } catch { throw FirnError(error, in: path) }
        }
        return ArrowRows(columns, of: table.type, in: table.schema, sample: sample, coded: coded, viewed: viewed)
    }

    /// Whether all dates of a segment are whole days, so that a sample of them would say no more than none.
    private static func hasOnlyDays(_ reader: any ColumnReader, _ segment: any Segment) throws(Damage) -> Bool {
        guard !reader.type.isCollection, reader.type.kind == .date else { return false }
        var part = Column(reader.type), seconds = [Int64](repeating: 0, count: vectorSize)
        for vector in 0..<segment.vectorCount {
            let count = segment.rows(ofVector: vector).count
            let areDays = try seconds.withUnsafeMutableBufferPointer { (seconds) throws(Damage) -> Bool? in
                guard let out = seconds.baseAddress, try reader.numbers(vector: vector, only: nil, into: .words(out)) else { return nil }
                return ArrowRows.areDays(UnsafeBufferPointer(rebasing: seconds[..<count]))
            }
            if areDays == true { continue }
            guard areDays == nil else { return false }
            try reader.read(vector: vector, into: &part)
            guard ArrowRows.hasOnlyDays(part) else { return false }
        }
        return true
    }

    /// Returns the positions in `positions` of the columns of texts that repeat. The first segment decides, so that all scans of the table have
    /// the same schema.
    func coded(_ positions: [Int]) throws(FirnError) -> Set<Int> {
        guard table.segmentCount > 0 else { return [] }
        do throws(Damage) {
            let segment = try table.segment(0)
            var out: Set<Int> = []
            for (i, position) in positions.enumerated() where ArrowRows.canBeCoded(table.type.columns[position]) {
                guard let values = try CodedTexts.dictionary(of: try segment.column(position)) else { continue }
                if values.count <= segment.rowCount / CTable.leastRepeated { out.insert(i) }
            }
            return out
        } catch { throw FirnError(error, in: path) }
    }

    /// A text that is a code must be that of so many rows on average.
    private static let leastRepeated = 8
}

/// `firn_table_open` of `firn.h`.
@_cdecl("firn_table_open")
public func firnTableOpen(
    _ snapshot: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let snapshot = try CSnapshot.reading(snapshot, "snapshot"), name = try text(type, "the type")
        guard let table = snapshot.snapshot.table(named: name) else {
            throw CSnapshot.missingType(name, among: snapshot.types.map(\.name), path: snapshot.snapshot.path)
        }
        out?.pointee = CTable(table, path: snapshot.snapshot.path).retained
    }
}

/// `firn_table_name` of `firn.h`.
@_cdecl("firn_table_name")
public func firnTableName(_ table: OpaquePointer?) -> UnsafePointer<CChar>? { CTable.at(table)?.name.pointer }

/// `firn_table_row_count` of `firn.h`.
@_cdecl("firn_table_row_count")
public func firnTableRowCount(_ table: OpaquePointer?) -> Int64 { Int64(CTable.at(table)?.table.rowCount ?? 0) }

/// `firn_table_segment_count` of `firn.h`.
@_cdecl("firn_table_segment_count")
public func firnTableSegmentCount(_ table: OpaquePointer?) -> Int64 { Int64(CTable.at(table)?.table.segmentCount ?? 0) }

/// `firn_table_schema_text` of `firn.h`.
@_cdecl("firn_table_schema_text")
public func firnTableSchemaText(_ table: OpaquePointer?) -> UnsafePointer<CChar>? { CTable.at(table)?.schemaText.pointer }

/// `firn_table_schema` of `firn.h`.
@_cdecl("firn_table_schema")
public func firnTableSchema(
    _ table: OpaquePointer?, _ columns: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
    _ out: UnsafeMutablePointer<CArrow.ArrowSchema>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let table = try CTable.reading(table, "table")
        guard let out else { throw FirnError(.usage, "the schema is NULL") }
        try table.arrowRows(try table.positions(try texts(columns, count, "the columns"))).export(schema: out)
    }
}

/// `firn_table_free` of `firn.h`.
@_cdecl("firn_table_free")
public func firnTableFree(_ table: OpaquePointer?) { CTable.releaseHere(table) }
