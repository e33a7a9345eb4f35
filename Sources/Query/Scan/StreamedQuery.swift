import FirnBytes
import FirnTable

/// A query over rows that arrive batch by batch and are read once. Rows are kept only as long as the result needs them.
///
/// Matching rows are passed on immediately; groups keep only their aggregates; a SORT with a LIMIT keeps the first rows so far, and
/// DISTINCT keeps one row for each value. Only a SORT without a limit keeps all matching rows.
///
///     let query = try StreamedQuery(request, type: type, schema: schema)
///     while let batch = try next(), try query.add(batch, give) {}
///     try query.finish(give)
package final class StreamedQuery {
    /// The columns of the result.
    package let columns: [ColumnSchema]
    /// What was read so far.
    package private(set) var statistics = QueryStatistics()
    private let request: QueryRequest
    private let syntax: QuerySyntax
    private let type: TypeSchema
    private let schema: Schema
    private let mode: Mode
    /// The whole request, for `explain`.
    private let whole: QueryRun
    private var isDone = false
    // For rows that are passed on immediately.
    private var skip: Int, left: Int
    private var grouper: Grouper?
    private var segments = 0
    private var held: [Batch] = []
    private(set) var heldCount = 0
    /// The number of held rows from which pruning is worth its cost.
    private var patience = StreamedQuery.leastPatience

    static let leastPatience = 2 * segmentSize

    private enum Mode {
        case rows, groups
        /// Matching rows are held until `finish`; `pruning` selects those that the result can still need.
        case held(pruning: [DescriptorSyntax]?)
    }

    package init(_ request: QueryRequest, type: TypeSchema, schema: Schema) throws(QueryError) {
        if let parsed = request.parsed {
            syntax = parsed
        } else if let filter = request.filter {
            syntax = try Parser.query(filter)
        } else {
            syntax = QuerySyntax(.constant(true))
        }
        self.request = request
        self.type = type
        self.schema = schema
        let table = MemoryTable(type, schema: schema, batches: [])
        whole = try QueryRun(request, table: table)
        columns = whole.columns
        (skip, left) = (0, .max)
        let descriptors = try StreamedQuery.descriptors(syntax, request, table)
        if let streaming = whole.streaming, !request.isGrouped {
            mode = .rows
            (skip, left) = streaming
        } else if request.isGrouped, whole.plan.descriptors.isEmpty {
            mode = .groups
            grouper = Grouper(whole.plan.group!, table)
        } else {
            mode = .held(pruning: StreamedQuery.pruning(descriptors))
        }
        isDone = left == 0
    }

    /// Adds some rows. `body` receives the part of the result that is final, and returns false to stop. Returns false if no more rows are
    /// needed.
    package func add(_ batch: Batch, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) -> Bool {
        guard !isDone, batch.count > 0 else { return !isDone }
        switch mode {
        case .rows:
            let run = try run(rowsOnly(request.select), [batch])
            try run.forEachBatch { (part) throws(FirnError) in
                let goesOn = try QueryRun.give(part, &skip, &left, body)
                isDone = !goesOn
                return goesOn
            }
            statistics = statistics + run.statistics
        case .groups:
            var request = rowsOnly([])
            (request.groupBy, request.aggregates) = (self.request.groupBy, self.request.aggregates)
            let run = try run(request, [batch])
            try run.addGroups(to: grouper!, from: segments)
            segments += 1
            statistics = statistics + run.statistics
        case .held(let pruning):
            let run = try run(rowsOnly([]), [batch])
            try run.forEachBatch { (part) throws(FirnError) in
                try hold(part)
                return true
            }
            statistics = statistics + run.statistics
            if let pruning, heldCount > patience { try prune(pruning) }
        }
        return !isDone
    }

    /// Passes on the rest of the result: all of it if rows had to be held or grouped.
    package func finish(_ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        switch mode {
        case .rows: break
        case .groups: try whole.forEachGroup(of: grouper!, body)
        case .held:
            var rest = request
            rest.parsed = QuerySyntax(.constant(true), descriptors: syntax.descriptors)
            try run(rest, held).forEachBatch(body)
        }
        isDone = true
    }

    /// Describes the plan of the query, and what was read.
    package func explain() -> String {
        let keeps =
            switch mode {
            case .rows: "matching rows are passed on immediately"
            case .groups: "only groups are kept in memory"
            case .held(let pruning):
                pruning == nil ? "all matching rows are kept in memory" : "only matching rows that can still be needed are kept in memory"
            }
        return whole.outline(rows: statistics.rows, segments: statistics.segments) + "read once, batch by batch: \(keeps)\n"
            + whole.account(statistics, of: statistics.segments)
    }

    // MARK: Parts of the request

    /// Returns a request of the filter only, for all columns if none are named.
    private func rowsOnly(_ select: [String]) -> QueryRequest {
        QueryRequest(parsed: QuerySyntax(syntax.predicate), arguments: request.arguments, select: select, names: request.names)
    }

    private func run(_ request: QueryRequest, _ batches: [Batch]) throws(FirnError) -> QueryRun {
        do throws(QueryError) { return try QueryRun(request, table: MemoryTable(type, schema: schema, batches: batches)) } catch {
            throw error.asFirnError
        }
    }

    /// Returns the query's own descriptors, then those of the request.
    private static func descriptors(_ syntax: QuerySyntax, _ request: QueryRequest, _ table: any Table) throws(QueryError)
        -> [DescriptorSyntax]
    {
        let binder = Binder(table, arguments: request.arguments, names: request.names)
        var out = syntax.descriptors
        if request.isGrouped { return out }
        if !request.sort.isEmpty {
            var keys: [SortKeySyntax] = []
            for key in request.sort { keys.append(SortKeySyntax(try binder.path(key.path), ascending: key.ascending)) }
            out.append(.sort(keys))
        }
        if !request.distinct.isEmpty {
            var paths: [PathSyntax] = []
            for path in request.distinct { paths.append(try binder.path(path)) }
            out.append(.distinct(paths))
        }
        if request.offset > 0 { out.append(.offset(request.offset)) }
        if let limit = request.limit { out.append(.limit(max(0, limit))) }
        return out
    }

    /// Returns descriptors that leave only the rows that the result can still need, whatever rows follow; nil if all are needed.
    private static func pruning(_ descriptors: [DescriptorSyntax]) -> [DescriptorSyntax]? {
        switch descriptors.first {
        case .distinct: return [descriptors[0]]
        case .sort:
            var needed = 0
            for descriptor in descriptors.dropFirst() {
                switch descriptor {
                case .offset(let count): needed += min(count, 1 << 40)
                case .limit(let count): return [descriptors[0], .limit(needed + min(count, 1 << 40))]
                default: return nil
                }
            }
            return nil
        default: return nil
        }
    }

    // MARK: Held rows

    private func hold(_ batch: Batch) throws(FirnError) {
        heldCount += batch.count
        // Batches of few rows are merged, because a segment for each would cost more than the rows.
        if let last = held.last, last.count + batch.count <= segmentSize {
            for i in batch.columns.indices {
                try whole.scanner.hold(
                    &held[held.count - 1].columns[i], i < type.columns.count ? type.columns[i].name : "", adding: batch.columns[i].footprint
                )
                held[held.count - 1].columns[i].append(contentsOf: batch.columns[i])
            }
            held[held.count - 1].count += batch.count
        } else {
            held.append(batch)
            for i in batch.columns.indices {
                try whole.scanner.hold(&held[held.count - 1].columns[i], i < type.columns.count ? type.columns[i].name : "")
            }
        }
    }

    private func prune(_ descriptors: [DescriptorSyntax]) throws(FirnError) {
        let kept = try run(
            QueryRequest(
                parsed: QuerySyntax(.constant(true), descriptors: descriptors), arguments: request.arguments, names: request.names),
            held)
        held = []
        heldCount = 0
        try kept.forEachBatch { (batch) throws(FirnError) in
            try hold(batch)
            return true
        }
        patience = max(StreamedQuery.leastPatience, 2 * heldCount)
    }
}
