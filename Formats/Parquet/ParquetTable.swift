import FirnBytes
import FirnExchange
import FirnTable
import Synchronization

/// The rows of a file as a table. Its segments are parts of row groups, and a column of a segment is decoded when it is first read. So a
/// query reads the columns that it needs, of the row groups that their statistics do not exclude.
final class ParquetTable: Table, AccountingTable, @unchecked Sendable {
    private let source: PartSource
    private let groups: [GroupParts]
    /// The segments that were used last.
    private let held: Mutex<[(index: Int, segment: ParquetSegment)]> = Mutex([])
    private let maximumHeld: Int

    /// The segments of a row group: all but the last have `size` rows.
    private struct GroupParts {
        var group: Int
        var firstSegment: Int
        var firstRow: Int
        var rowCount: Int
        var size: Int
    }

    let segmentCount: Int

    init(_ content: ParquetContent, rows: Int, threads: Int) {
        source = PartSource(content)
        maximumHeld = 2 * max(threads, 1)
        let maximum = min(rows, segmentSize)
        var groups: [GroupParts] = [], count = 0
        for (index, group) in content.footer.groups.enumerated() where group.rowCount > 0 {
            let parts = (group.rowCount - 1) / maximum + 1, size = (group.rowCount - 1) / parts + 1
            groups.append(
                GroupParts(group: index, firstSegment: count, firstRow: group.firstRow, rowCount: group.rowCount, size: size))
            count += (group.rowCount - 1) / size + 1
        }
        self.groups = groups
        segmentCount = count
    }

    var type: TypeSchema { source.content.type }
    var schema: Schema { source.content.schema }
    var rowCount: Int { source.content.footer.rowCount }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { typeName == type.name ? self : nil }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        guard index >= 0, index < segmentCount else { throw Damage("no segment \(index)") }
        let group = groups[last { $0.firstSegment <= index }], start = (index - group.firstSegment) * group.size
        let part = RowPart(group: group.group, rows: start..<min(start + group.size, group.rowCount))
        return held.withLock { held in
            if let known = held.firstIndex(where: { $0.index == index }) {
                let found = held.remove(at: known)
                held.append(found)
                return found.segment
            }
            let segment = ParquetSegment(source, part, firstRow: group.firstRow + start)
            held.append((index, segment))
            if held.count > maximumHeld { held.removeFirst() }
            return segment
        }
    }

    /// Returns the position of the last group for which a condition holds that holds for the first ones.
    private func last(_ holds: (GroupParts) -> Bool) -> Int {
        var low = 0, high = groups.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if holds(groups[middle]) { low = middle } else { high = middle }
        }
        return low
    }

    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        guard rowID >= 0, rowID < Int64(rowCount) else { return nil }
        let group = groups[last { Int64($0.firstRow) <= rowID }]
        return group.firstSegment + (Int(rowID) - group.firstRow) / group.size
    }

    var account: String { source.account }
}

/// Reads parts of row groups, in any order and on any thread, and counts what it reads.
final class PartSource: @unchecked Sendable {
    let content: ParquetContent
    private let state: Mutex<State> = Mutex(State())

    private struct State {
        /// Readers of columns, at the row where the next part begins.
        var readers: [ReaderKey: [PlanReader]] = [:]
        var groups: Set<Int> = []
        var pages = PageCounts()
        var bounds: [ReaderKey: PageBounds] = [:]
    }

    private struct ReaderKey: Hashable {
        var group: Int
        var column: Int
    }

    init(_ content: ParquetContent) { self.content = content }

    /// Decodes a column of some rows.
    func read(_ column: Int, _ part: RowPart) throws(Damage) -> Column {
        let key = ReaderKey(group: part.group, column: column)
        let known = state.withLock { state -> PlanReader? in
            state.groups.insert(part.group)
            guard let index = state.readers[key]?.firstIndex(where: { $0.row == part.rows.lowerBound }) else { return nil }
            return state.readers[key]?.remove(at: index)
        }
        let reader = known ?? PlanReader(content.plans[column], content), before = reader.pages
        let result: Column
        do throws(FirnError) { result = try reader.read([part]) } catch { throw PartSource.damage(error) }
        if content.file.isBroken { throw PartSource.damage(ParquetReader.truncated(content.file.name)) }
        let isLast = part.rows.upperBound == content.footer.groups[part.group].rowCount
        state.withLock { state in
            state.pages.read += reader.pages.read - before.read
            state.pages.skipped += reader.pages.skipped - before.skipped
            if isLast { state.readers[key] = nil } else { state.readers[key, default: []].append(reader) }
        }
        return result
    }

    private static func damage(_ error: FirnError) -> Damage {
        if error.code == .outOfMemory { return Damage(error.message, beyondMemory: true) }
        guard let byte = error.location?.byte else { return Damage(error.message, isUnread: error.code == .inputOutput) }
        return Damage(error.message, inFileAt: byte)
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

    /// What was read of the file, in one line.
    var account: String {
        state.withLock { state in
            "parquet: \(state.groups.count) of \(content.footer.groups.count) row groups read; pages: \(state.pages.read) read, \(state.pages.skipped) passed over\n"
        }
    }
}

/// Some rows of a row group.
final class ParquetSegment: Segment, @unchecked Sendable {
    private let source: PartSource
    private let part: RowPart
    private let firstRow: Int
    private let readers: [ParquetColumn]

    init(_ source: PartSource, _ part: RowPart, firstRow: Int) {
        self.source = source
        self.part = part
        self.firstRow = firstRow
        readers = source.content.plans.indices.map { ParquetColumn(source, $0, part) }
    }

    var rowCount: Int { part.rows.count }
    var live: Bits? { nil }
    func rowID(at position: Int) throws(Damage) -> Int64 { Int64(firstRow + position) }
    func position(of rowID: Int64) throws(Damage) -> Int? {
        rowID >= Int64(firstRow) && rowID < Int64(firstRow + rowCount) ? Int(rowID) - firstRow : nil
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        guard readers.indices.contains(index) else { throw Damage("no column \(index)") }
        return readers[index]
    }

    func zone(of column: Int) throws(Damage) -> Zone? { source.zone(column, part) }

    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        guard let first = path.first, readers.indices.contains(first) else { throw Damage("no column at this path") }
        if path.count == 1 { return readers[first] }
        return MemoryColumnReader(try readers[first].memory().column.field(path.dropFirst()))
    }
}

/// A column of a segment, which is decoded when it is first read.
final class ParquetColumn: ColumnReader, @unchecked Sendable {
    private let source: PartSource
    private let index: Int
    private let part: RowPart
    private let decoded: Mutex<MemoryColumnReader?> = Mutex(nil)

    init(_ source: PartSource, _ index: Int, _ part: RowPart) {
        self.source = source
        self.index = index
        self.part = part
    }

    var type: ColumnType { source.content.plans[index].type }
    var rowCount: Int { part.rows.count }
    var storedBytes: Int {
        let group = source.content.footer.groups[part.group]
        var sum = 0
        for leaf in source.content.plans[index].leaves { sum &+= max(0, min(group.chunks[leaf].compressedSize, source.content.file.count)) }
        return sum / max(1, group.rowCount) * rowCount
    }

    func memory() throws(Damage) -> MemoryColumnReader {
        try decoded.withLock { (decoded) throws(Damage) in
            if let decoded { return decoded }
            let reader = MemoryColumnReader(try source.read(index, part))
            decoded = reader
            return reader
        }
    }

    func zone() -> Zone? { source.zone(index, part) }
    func zone(ofVector vector: Int) -> Zone? {
        let start = part.rows.lowerBound + vector * vectorSize
        return source.zone(index, RowPart(group: part.group, rows: start..<min(start + vectorSize, part.rows.upperBound)))
    }
    func read(vector: Int, into column: inout Column) throws(Damage) { try memory().read(vector: vector, into: &column) }
    func value(at row: Int) throws(Damage) -> Value { try memory().value(at: row) }
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        try memory().search(range, vector: vector, into: out)
    }
    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        try memory().numbers(vector: vector, only: rows, into: room)
    }
}
