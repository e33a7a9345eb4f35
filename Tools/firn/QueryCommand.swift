import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnModel
import FirnQuery

/// `firn query FILE [QUERY]`
struct QueryCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let threads = try session.threads()
        // What is wrong with the words is told before a long input is read.
        let request = try request()
        let options = try ReadingOptions(arguments, threads: threads)
        let file = try OpenedFile(arguments.operands[0], options, progress: progress)
        try ReadingOptions.check(arguments, for: [file])
        let table = try file.table(arguments.text("type"))
        let run = try QueryCommand.run(request, table, file: file.address.path, threads: threads)
        display.end()
        let rows = arguments.has("explain") ? try explain(run) : try print(run, of: table)
        try options.rejected?.finish()
        if let rejected = options.rejected, rejected.count > 0 {
            for remark in rejected.remarks { session.remark(remark) }
            return .rejected
        }
        return rows > 0 ? .done : .no
    }

    // MARK: What is asked

    private func request() throws(FirnError) -> QueryRequest {
        var request = QueryRequest()
        request.parsed = try QueryCommand.parsed(arguments.operands.count > 1 ? arguments.operands[1] : nil, and: arguments.text("where"))
        request.select = arguments.names("select")
        request.sort = arguments.names("sort").map { path in
            switch path.first {
            case "-": .init(String(path.dropFirst()), ascending: false)
            case "+": .init(String(path.dropFirst()))
            default: .init(path)
            }
        }
        request.distinct = arguments.names("distinct")
        request.limit = try arguments.count("limit")
        request.offset = try arguments.count("offset") ?? 0
        request.groupBy = arguments.names("group-by")
        let aggregates = arguments.texts("agg").joined(separator: ", ")
        if !aggregates.isEmpty { request.aggregates = try QueryCommand.bound { () throws(QueryError) in try Aggregate.list(aggregates) } }
        return request
    }

    /// A query and a condition that both must hold; nil if neither is given.
    static func parsed(_ query: String?, and condition: String?) throws(FirnError) -> QuerySyntax? {
        let texts = [query, condition].compactMap(\.self).filter { $0.contains { !$0.isWhitespace } }
        guard let first = texts.first else { return nil }
        var syntax = try bound { () throws(QueryError) in try Parser.query(first) }
        for text in texts.dropFirst() {
            let more = try bound { () throws(QueryError) in try Parser.query(text) }
            syntax = QuerySyntax(.and([syntax.predicate, more.predicate]), descriptors: syntax.descriptors + more.descriptors)
        }
        return syntax
    }

    /// A query bound to a table, to run on several threads. `file`: where the table is stored, for errors about its bytes.
    static func run(_ request: QueryRequest, _ table: any Table, file: String? = nil, threads: Int) throws(FirnError) -> QueryRun {
        try bound { () throws(QueryError) in
            try QueryRun(request, table: table, file: file, threads: threads, parallel: { count, body in parallel(count: count, threads: threads) { i in body(i) } })
        }
    }

    /// Errors of the query language, as users see them.
    static func bound<R>(_ body: () throws(QueryError) -> R) throws(FirnError) -> R {
        do throws(QueryError) { return try body() } catch { throw error.asFirnError }
    }

    // MARK: What is printed

    private func print(_ run: QueryRun, of table: any Table) throws(FirnError) -> Int {
        var type = TypeSchema(table.type.name, columns: run.columns)
        // What was asked for is there in every row of JSON, though it be null.
        for i in type.columns.indices { type.columns[i].writesNull = true }
        let schema = Schema([type] + table.schema.types.filter { $0.name != type.name })
        let writer = try writer(schema)
        try writer.begin(schema)
        var rows = 0
        try run.forEachBatch { (batch) throws(FirnError) in
            try writer.write(batch, type: type.name)
            rows += batch.count
            return true
        }
        try writer.finish()
        for remark in writer.remarks { session.remark(remark) }
        if rows == 0, writer is TablePrinter { session.remark("no rows") }
        return rows
    }

    private func writer(_ schema: Schema) throws(FirnError) -> any BatchWriter {
        let name = arguments.has("json") ? "ndjson" : arguments.text("format") ?? "table"
        guard let format = FormatName(rawValue: name) else { return TablePrinter(session) }
        return FormatShelf.writer(try Output(path: "-"), format: format, WritingOptions(threads: try session.threads()), schema: schema)
    }

    /// The plan, then what running it read and what it could leave out.
    private func explain(_ run: QueryRun) throws(FirnError) -> Int {
        var rows = 0
        try run.forEachBatch { (batch) throws(FirnError) in
            rows += batch.count
            return true
        }
        let plan = run.explain()
        try session.out.write(plan.hasSuffix("\n") ? plan : plan + "\n")
        return rows
    }
}
