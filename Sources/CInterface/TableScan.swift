import FirnArrow
import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable
import FirnThreads
import Synchronization

/// What a scan reads.
struct ScanRequest: Sendable {
    var columns: [Int]
    /// The positions in `columns` of texts that are read as codes.
    var coded: Set<Int> = []
    /// The positions in `columns` of texts that are read as views.
    var viewed: Set<Int> = []
    /// The positions in `columns` of numbers that are read into Arrow's layout.
    var numbers: [Int: NumberLayout] = [:]
    var filter: String?
    /// The maximum number of rows.
    var limit = Int.max
    var segments: Range<Int>
    var threads: Int
    /// The maximum number of vectors that are read as one batch.
    var vectors = segmentSize / vectorSize
}

/// Rows that a scan has read.
struct ScannedRows: Sendable {
    /// All columns; those of `ready` without values.
    var batch: Batch
    var ready: [Int: ReadyColumn] = [:]
    var count: Int { batch.count }
    var footprint: Int { batch.columns.reduce(0) { $0 + $1.footprint } + ready.values.reduce(0) { $0 + $1.footprint } }

    subscript(rows: Range<Int>) -> ScannedRows {
        var out = ScannedRows(batch: Batch(count: rows.count, columns: []))
        for (position, column) in batch.columns.enumerated() {
            out.ready[position] = ready[position]?[rows]
            out.batch.columns.append(ready[position] == nil ? column.slice(rows) : column)
        }
        return out
    }
}

/// Reads a table in batches, which `convert` makes outputs of. Several threads read ahead of the consumer, unless there is a limit: then
/// nothing is read that is not needed, and the threads share the columns of a batch.
final class TableScan<Output: Sendable> {
    private let source: ScanSource
    private let convert: @Sendable (ScannedRows, _ threads: Int) throws(FirnError) -> [Output]
    private let threads: Int
    private var pieces: [ScanSource.Piece]?
    private var position = 0
    private var left: Int
    private var ready: ArraySlice<Output> = []
    private var queue: WorkQueue<ScanSource.Piece, [Output], FirnError>?

    /// - Throws: `FirnError` if the predicate is wrong.
    init(
        _ table: StoredTable, _ request: ScanRequest, path: String,
        convert: @escaping @Sendable (ScannedRows, _ threads: Int) throws(FirnError) -> [Output]
    ) throws(FirnError) {
        source = try ScanSource(table, request, path: path)
        self.convert = convert
        threads = request.threads
        left = request.limit
    }

    /// Returns the next output; nil at the end.
    func next() throws(FirnError) -> Output? {
        while true {
            if let output = ready.popFirst() { return output }
            guard left > 0 else { return nil }
            try CInterrupt.check()
            if pieces == nil { pieces = try source.pieces() }
            let pieces = pieces ?? []
            // The first piece is read here, so that a consumer of a few rows starts no threads.
            guard left == .max, threads > 1, position > 0 else {
                guard position < pieces.count else { return nil }
                position += 1
                let piece = pieces[position - 1], threads = source.isSmall(piece) ? 1 : threads
                let batch = try source.batch(piece, limit: left, threads: threads)
                if left != .max { left -= batch.count }
                if batch.count > 0 { ready = try convert(batch, threads)[...] }
                continue
            }
            let queue = self.queue ?? start()
            while queue.pending <= threads, position < pieces.count {
                queue.submit(pieces[position])
                position += 1
            }
            guard let next = try queue.next() else { return nil }
            ready = next[...]
        }
    }

    deinit { source.cancel() }

    private func start() -> WorkQueue<ScanSource.Piece, [Output], FirnError> {
        let source = source, convert = convert
        let queue = WorkQueue<ScanSource.Piece, [Output], FirnError>(threads: threads) { (piece) throws(FirnError) in
            let batch = try source.batch(piece, limit: .max, threads: 1)
            return batch.count > 0 ? try convert(batch, 1) : []
        }
        self.queue = queue
        return queue
    }
}

/// The rows that a scan reads, in pieces. Usable from any thread.
final class ScanSource: Sendable {
    private let table: StoredTable
    private let request: ScanRequest
    private let path: String
    private let filters: FilterPool?
    private let isCancelled = Atomic(false)
    private let pool = BufferPool()

    /// Some rows of a segment.
    struct Piece: Sendable {
        var segment: Int
        var vectors: Range<Int>
        /// The rows that an index names, which match the filter.
        var rows: [Int]?
    }

    init(_ table: StoredTable, _ request: ScanRequest, path: String) throws(FirnError) {
        self.table = table
        self.request = request
        self.path = path
        filters = try request.filter.map { (text) throws(FirnError) in try FilterPool(text, table, path: path) }
    }

    /// Returns the pieces of the scan, in order. The first is small, so that the first batch is there soon.
    func pieces() throws(FirnError) -> [Piece] {
        if let found = try filters?.locationsByIndex() {
            var out: [Piece] = []
            for location in found where request.segments.contains(location.segment) {
                if out.last?.segment != location.segment {
                    out.append(Piece(segment: location.segment, vectors: 0..<segmentSize / vectorSize, rows: []))
                }
                out[out.count - 1].rows?.append(location.position)
            }
            return out
        }
        var out: [Piece] = []
        let whole = segmentSize / vectorSize, first = min(request.vectors, ScanSource.firstVectors)
        for segment in request.segments {
            var start = 0
            if out.isEmpty, filters == nil {
                out.append(Piece(segment: segment, vectors: 0..<first))
                start = first
            }
            while start < whole {
                let end = min(start + request.vectors, whole)
                out.append(Piece(segment: segment, vectors: start..<end))
                start = end
            }
        }
        return out
    }

    private static let firstVectors = 4

    /// Whether a piece has so few values that threads would take longer to start than to decode them.
    func isSmall(_ piece: Piece) -> Bool { piece.vectors.count * request.columns.count <= ScanSource.smallVectors }
    private static let smallVectors = 256

    /// Makes calls that run on other threads end soon.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Returns at most `limit` rows of a piece. The columns are divided among `threads`.
    func batch(_ piece: Piece, limit: Int, threads: Int) throws(FirnError) -> ScannedRows {
        let none = ScannedRows(batch: Batch(columns: []))
        let segment = try located { () throws(Damage) in try table.segment(piece.segment) }
        let vectors = piece.vectors.clamped(to: 0..<segment.vectorCount)
        guard !vectors.isEmpty else { return none }
        let reader = SegmentReader(segment, of: table, vectors: vectors, rows: try rows(piece, of: segment), limit: limit, pool: pool)
        guard reader.count > 0 else { return none }
        let columns = request.columns
        let read = try parallelMap(count: columns.count, threads: threads) { (index) throws(FirnError) -> (Column, ReadyColumn?) in
            guard !isCancelled.load(ordering: .relaxed) else { throw FirnError(.interrupted, "the scan was released") }
            return try located { () throws(Damage) in
                let ready = try self.ready(index, reader)
                return (
                    ready == nil ? try reader.column(columns[index]) : Column(table.type.columns[columns[index]], in: table.schema), ready
                )
            }
        }
        var out = ScannedRows(batch: Batch(count: reader.count, columns: read.map(\.0)))
        for (index, column) in read.enumerated() { out.ready[index] = column.1 }
        return out
    }

    /// Returns a column in Arrow's layout; nil if it is read in another form.
    private func ready(_ index: Int, _ reader: SegmentReader) throws(Damage) -> ReadyColumn? {
        let column = request.columns[index]
        if request.coded.contains(index) { return .codes(try reader.coded(column)) }
        if request.viewed.contains(index) { return .views(try reader.viewed(column)) }
        return try request.numbers[index].flatMap { (layout) throws(Damage) in try reader.numbers(column, as: layout) }.map { .numbers($0) }
    }

    private func located<R>(_ body: () throws(Damage) -> R) throws(FirnError) -> R {
        do throws(Damage) { return try body() } catch { throw FirnError(error, in: path) }
    }

    /// Returns the rows of the segment that the piece has; nil if these are all.
    private func rows(_ piece: Piece, of segment: any Segment) throws(FirnError) -> Bits? {
        var rows = segment.live
        if let known = piece.rows {
            var bits = Bits(count: segment.rowCount)
            for row in known where row < segment.rowCount { bits[row] = true }
            rows = bits
        } else if let filters {
            rows = try filters.matches(piece.segment)
        }
        return rows?.allSet == true ? nil : rows
    }
}

/// A predicate, bound once for each thread that uses it.
final class FilterPool: @unchecked Sendable {
    private let table: StoredTable
    private let request: QueryRequest
    private let path: String
    private let lock = Lock()
    private var free: [QueryRun] = []

    init(_ text: String, _ table: StoredTable, path: String) throws(FirnError) {
        self.table = table
        self.path = path
        do throws(QueryError) {
            let parsed = try Parser.query(text)
            guard parsed.descriptors.isEmpty else {
                throw QueryError(
                    .binding, "a scan has the order of the table", in: text, expected: "a predicate without SORT, DISTINCT and LIMIT")
            }
            request = QueryRequest(filter: text, parsed: parsed)
            free = [try QueryRun(request, table: table, file: path)]
        } catch { throw error.asFirnError }
    }

    private func with<R>(_ body: (QueryRun) throws(FirnError) -> R) throws(FirnError) -> R {
        let run: QueryRun
        if let known = lock.withLock({ free.popLast() }) {
            run = known
        } else {
            do throws(QueryError) { run = try QueryRun(request, table: table, file: path) } catch { throw error.asFirnError }
        }
        defer { lock.withLock { free.append(run) } }
        return try body(run)
    }

    func matches(_ segment: Int) throws(FirnError) -> Bits { try with { (run) throws(FirnError) in try run.matches(ofSegment: segment) } }

    /// Returns the rows that match, in the order of the table, if indexes make few candidates; else nil.
    func locationsByIndex() throws(FirnError) -> [RowLocation]? { try with { (run) throws(FirnError) in try run.locationsByIndex() } }
}
