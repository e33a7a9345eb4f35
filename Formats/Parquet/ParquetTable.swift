import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable
import Synchronization

/// The rows of a file as a table. Its segments are parts of row groups, and a column of a segment is decoded when it is first read. So a
/// query reads the columns that it needs, of the row groups that their statistics do not exclude.
final class ParquetTable: Table, AccountingTable, @unchecked Sendable {
    private let source: PartSource
    private let parts: PartedRows
    private let held: HeldSegments<ParquetSegment>

    init(_ content: ParquetContent, rows: Int, threads: Int, _ progress: Progress? = nil) {
        source = PartSource(content, progress)
        held = HeldSegments(maximum: 4 * max(threads, 1))
        let maximum = min(rows, segmentSize)
        parts = ParquetTable.parts(content, rows: maximum)
    }

    /// Divides the row groups into parts of almost the same size, of at most so many rows.
    static func parts(_ content: ParquetContent, rows maximum: Int) -> PartedRows {
        var parts = PartedRows()
        for (index, group) in content.footer.groups.enumerated() where group.rowCount > 0 {
            let count = (group.rowCount - 1) / maximum + 1
            parts.add(
                group: index, rows: group.firstRow..<group.firstRow + group.rowCount, size: (group.rowCount - 1) / count + 1)
        }
        return parts
    }

    var type: TypeSchema { source.content.type }
    var schema: Schema { source.content.schema }
    var rowCount: Int { source.content.footer.rowCount }
    var segmentCount: Int { parts.segmentCount }
    var readsByColumn: Bool { true }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { typeName == type.name ? self : nil }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        // About as many bytes as numbers take.
        MappedMemory.willRead(type.columns.count * segmentSize * 8)
        let part = try parts.part(ofSegment: index)
        return try held.segment(index) { ParquetSegment(source, part) }
    }

    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { parts.segmentIndex(of: rowID) }
    var account: String { source.account }
}

/// Reads parts of row groups, in any order and on any thread, and counts what it reads.
final class PartSource: @unchecked Sendable {
    let content: ParquetContent
    private let progress: Progress?
    private let state: Mutex<State> = Mutex(State())

    /// The maximum number of readers of a column of a row group.
    private static let maximumReaders = 4

    private struct State {
        /// Readers of columns, at the row where the next part begins.
        var readers: [ReaderKey: [PlanReader]] = [:]
        var groups: Set<Int> = []
        var pages = PageCounts()
        var bounds: [ReaderKey: PageBounds] = [:]
        var filters: [ReaderKey: BloomFilter?] = [:]
        /// The row groups that a filter has excluded.
        var excluded: Set<Int> = []
    }

    private struct ReaderKey: Hashable {
        var group: Int
        var column: Int
    }

    init(_ content: ParquetContent, _ progress: Progress? = nil) {
        self.content = content
        self.progress = progress
    }

    /// Decodes a column of some rows.
    func read(_ column: Int, _ part: RowPart) throws(Damage) -> Column {
        try reading(column, part) { (reader) throws(FirnError) in try reader.read([part]) }
    }

    /// Reads a column of some rows as codes, if it is stored so.
    func readCoded(_ column: Int, _ part: RowPart) throws(Damage) -> any ColumnReader {
        try reading(column, part) { (reader) throws(FirnError) in try reader.readCoded(part) }
    }

    private func reading<R>(_ column: Int, _ part: RowPart, _ body: (PlanReader) throws(FirnError) -> R) throws(Damage) -> R {
        let key = ReaderKey(group: part.group, column: column)
        let known = state.withLock { state -> PlanReader? in
            state.groups.insert(part.group)
            // The reader that has the fewest rows to skip.
            guard let readers = state.readers[key],
                let index = readers.indices.filter({ readers[$0].row <= part.rows.lowerBound }).max(by: {
                    readers[$0].row < readers[$1].row
                })
            else { return nil }
            return state.readers[key]?.remove(at: index)
        }
        let reader = known ?? PlanReader(content.plans[column], content), before = reader.pages
        let result: R
        do throws(FirnError) { result = try body(reader) } catch { throw Damage(reported: error) }
        if content.file.isBroken { throw Damage(reported: .truncated(content.file.name)) }
        let group = content.footer.groups[part.group], isLast = part.rows.upperBound == group.rowCount
        if let progress {
            let stored = content.plans[column].leaves.reduce(0) { $0 &+ max(0, min(group.chunks[$1].compressedSize, content.file.count)) }
            progress.add(bytes: Int(Double(stored) * Double(part.rows.count) / Double(max(group.rowCount, 1))))
        }
        state.withLock { state in
            state.pages = state.pages + (reader.pages - before)
            if isLast { return state.readers[key] = nil }
            state.readers[key, default: []].append(reader)
            if let count = state.readers[key]?.count, count > PartSource.maximumReaders { state.readers[key]?.removeFirst() }
        }
        return result
    }

    /// About the number of bytes that a column of some rows takes in the file.
    func storedBytes(_ column: Int, _ part: RowPart) -> Int {
        let group = content.footer.groups[part.group]
        var sum = 0
        for leaf in content.plans[column].leaves { sum &+= max(0, min(group.chunks[leaf].compressedSize, content.file.count)) }
        return sum / max(1, group.rowCount) * part.rows.count
    }

    /// Returns what the statistics of a column state about some rows.
    func zone(_ column: Int, _ part: RowPart) -> Zone? {
        guard case .leaf(let position, let form) = content.plans[column].shape, content.leaves[position].depth == 0 else { return nil }
        let chunk = content.footer.groups[part.group].chunks[position]
        let hasOrder = content.footer.hasTypeOrder.map { position < $0.count && $0[position] } ?? false
        let reading = StatisticsReading(content.file, content.leaves[position], form, hasOrder: hasOrder)
        guard chunk.offsetIndex != nil, chunk.columnIndex != nil,
            part.rows.count < content.footer.groups[part.group].rowCount
        else { return reading.zone(chunk) }
        let key = ReaderKey(group: part.group, column: column)
        let bounds: PageBounds
        if let known = state.withLock({ $0.bounds[key] }) {
            bounds = known
        } else {
            bounds = PageBounds(content.file, chunk) ?? PageBounds()
            state.withLock { $0.bounds[key] = bounds }
        }
        return bounds.zone(part.rows, reading, content.footer.groups[part.group].rowCount) ?? reading.zone(chunk)
    }

    /// Returns false only if the Bloom filter of a column excludes all of the values.
    func mayHold(_ values: [Value], _ column: Int, _ group: Int) -> Bool {
        guard case .leaf(let position, let form) = content.plans[column].shape, content.leaves[position].depth == 0 else { return true }
        let chunk = content.footer.groups[group].chunks[position]
        guard chunk.bloomOffset != nil, let physical = content.leaves[position].physical else { return true }
        let key = ReaderKey(group: group, column: column), known = state.withLock { $0.filters[key] }
        let filter = known ?? BloomFilter(content.file, chunk)
        if known == nil { state.withLock { $0.filters[key] = .some(filter) } }
        guard let filter else { return true }
        for value in values {
            guard let bytes = BloomFilter.stored(value, form, physical) else { return true }
            if filter.mayHold(bytes) { return true }
        }
        state.withLock { _ = $0.excluded.insert(group) }
        return false
    }

    /// What was read of the file, in one line.
    var account: String {
        state.withLock { state in
            let filtered = state.excluded.isEmpty ? "" : ", \(state.excluded.count) excluded by Bloom filters"
            return "parquet: \(state.groups.count) of \(content.footer.groups.count) row groups read\(filtered); "
                + "pages: \(state.pages.read) read (\(state.pages.bytes) bytes), \(state.pages.skipped) passed over\n"
        }
    }
}

/// Some rows of a row group.
final class ParquetSegment: PartSegment, @unchecked Sendable {
    private let source: PartSource
    let part: PartedRows.Part
    let readers: [any PartColumn]

    init(_ source: PartSource, _ part: PartedRows.Part) {
        self.source = source
        self.part = part
        let rows = RowPart(group: part.group, rows: part.rows)
        readers = source.content.plans.enumerated().map { index, plan -> any PartColumn in
            if PlanReader.keepsCodes(plan, source.content) { return ParquetTextColumn(source, index, rows) }
            return ParquetColumn(source, index, rows)
        }
    }

    func zone(of column: Int) throws(Damage) -> Zone? { source.zone(column, RowPart(group: part.group, rows: part.rows)) }
    func mayHold(_ values: [Value], column: Int) throws(Damage) -> Bool { source.mayHold(values, column, part.group) }
}

/// A column of a segment, which is decoded when it is first read.
final class ParquetColumn: DecodedColumn, @unchecked Sendable {
    private let source: PartSource
    private let index: Int
    private let part: RowPart
    let held = OnceDecoded()

    init(_ source: PartSource, _ index: Int, _ part: RowPart) {
        self.source = source
        self.index = index
        self.part = part
    }

    var type: ColumnType { source.content.plans[index].type }
    var rowCount: Int { part.rows.count }
    var storedBytes: Int { source.storedBytes(index, part) }

    func decode() throws(Damage) -> Column { try source.read(index, part) }

    func zone() -> Zone? { source.zone(index, part) }
    func zone(ofVector vector: Int) -> Zone? { source.zone(index, part.vector(vector)) }
}
