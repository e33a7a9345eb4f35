import CArrow
import CFirn
import FirnArrow
import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

/// `firn_query` of `firn.h`.
@_cdecl("firn_query")
public func firnQuery(
    _ table: OpaquePointer?, _ options: UnsafePointer<firn_query_options>?, _ out: UnsafeMutablePointer<ArrowArrayStream>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let reader = try CTable.reading(table, "table")
        guard let out else { throw FirnError(.usage, "the stream is NULL") }
        let given = try FirnCInterface.options(
            options, first: MemoryLayout<firn_query_options>.offset(of: \.threads) ?? 0, firn_query_options())
        let source = try QueryStream(reader, try QueryRequest(given), threads: CTable.threads(given.threads))
        StreamState.export(to: out, rows: { () throws(FirnError) in try source.rows() }) { () throws(FirnError) in try source.next() }
    }
}

extension QueryRequest {
    fileprivate init(_ given: firn_query_options) throws(FirnError) {
        self.init()
        if let query = given.query { filter = try text(query, "the query") }
        select = try texts(given.select, given.select_count, "the selected columns") ?? []
        groupBy = try texts(given.group_by, given.group_by_count, "the columns of groups") ?? []
        if let list = given.aggregates {
            let list = try text(list, "the aggregates")
            do throws(QueryError) { aggregates = try Aggregate.list(list) } catch { throw error.asFirnError }
        }
        if given.limit > 0 { limit = Int(given.limit) }
        offset = Int(max(0, given.offset))
    }
}

/// The result of a query. The query begins when the stream is first read.
private final class QueryStream {
    private let run: OwnedRun
    /// Keeps the snapshot that the run reads.
    private let table: CTable
    private let threads: Int
    private var pipe: BatchPipe<Batch>?
    private var first: Batch?
    private var known: ArrowRows?
    private var ready: ArraySlice<ArrowRecord> = []

    /// A run that one thread at a time uses.
    private struct OwnedRun: @unchecked Sendable {
        let run: QueryRun
        /// Keeps the snapshot that the run reads.
        let table: CTable
    }

    init(_ table: CTable, _ request: QueryRequest, threads: Int) throws(FirnError) {
        self.table = table
        self.threads = threads
        do throws(QueryError) {
            run = OwnedRun(
                run: try QueryRun(request, table: table.table, file: table.path, threads: threads), table: table)
        } catch { throw error.asFirnError }
    }

    private func batch() throws(FirnError) -> Batch? {
        if let batch = first {
            first = nil
            return batch
        }
        let run = run,
            pipe =
                pipe
                ?? BatchPipe { (give) throws(FirnError) in
                    try withExtendedLifetime(run.table) { () throws(FirnError) in
                        try run.run.forEachBatch { (batch) throws(FirnError) in give(batch) }
                    }
                }
        self.pipe = pipe
        return try pipe.next()
    }

    /// Returns how the columns become Arrow columns. The unit of dates without a logical type depends on the first batch.
    func rows() throws(FirnError) -> ArrowRows {
        if let known { return known }
        let columns = run.run.columns, schema = table.table.schema
        if columns.contains(where: { ArrowRows.needsSample($0, in: schema) }) { first = try batch() }
        let rows = ArrowRows(columns, in: schema, sample: first?.columns)
        known = rows
        return rows
    }

    func next() throws(FirnError) -> ArrowRecord? {
        let rows = try rows()
        while ready.isEmpty {
            guard let batch = try batch() else { return nil }
            ready = try rows.records(ScannedRows(batch: batch), threads: threads, name: table.path)[...]
        }
        return ready.popFirst()
    }
}
