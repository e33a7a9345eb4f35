import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnQuery
import FirnTable
import FirnThreads

/// `firn query FILE [QUERY]`
struct QueryCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let threads = try session.threads()
        try session.checkExplain()
        // Errors in the command line are reported before a long input is read.
        for operand in operands.files where operand != "-" {
            do throws(FirnError) { try OpenedFile.check(operand) } catch { throw misplaced(error, operand) }
        }
        try RowOutput(session).check()
        let request: QueryRequest
        do throws(FirnError) { request = try self.request() } catch { throw misread(error) }
        var options = try ReadingOptions(arguments, threads: threads)
        options.condition = request.parsed?.predicate
        let file = try open(options, progress)
        let rows: Int
        if file.hasObjects, file.union == nil, !file.streamsTypes, !isDocument(file) {
            let table = try file.table(arguments.text("type"))
            let run = try QueryCommand.run(request, table, file: file.address.path, threads: threads)
            display.end()
            rows =
                arguments.has("explain")
                ? try explain(run)
                : try print(run.columns, of: file, table.type.name, table.schema) { (give) throws(FirnError) in try run.forEachBatch(give) }
        } else if file.isFolder {
            rows = try search(try file.table(arguments.text("type")), of: file, request, threads: threads, display: display)
        } else if case .stream(let reader as any TableReader) = file.content {
            rows = try search(reader.table, of: file, request, threads: threads, display: display)
        } else {
            rows = try stream(file, request, threads, progress, display)
        }
        try options.rejected?.finish()
        if let rejected = options.rejected, rejected.count > 0 {
            for remark in rejected.remarks { session.remark(remark) }
            return .rejected
        }
        return rows > 0 ? .done : .no
    }

    // MARK: Inputs

    /// The operands that are files, and the query: the last operand, if it is not the name of a file.
    private var operands: (files: [String], query: String?) {
        let all = arguments.operands
        guard all.count > 1, let last = all.last, last != "-" else { return (all, nil) }
        switch Paths.kind(Address(last).path) {
        case .file, .other: return (all, nil)
        // One word is no predicate, apart from these.
        case .directory where !["truepredicate", "falsepredicate"].contains(last.lowercased()): return (all, nil)
        case nil where FilePattern.isPattern(last) && (try? FilePattern.files(last))?.isEmpty == false: return (all, nil)
        case .directory, nil: return (Array(all.dropLast()), last)
        }
    }

    /// Adds advice to the error if a missing file is probably a predicate.
    private func misplaced(_ error: FirnError, _ operand: String) -> FirnError {
        guard error.code == .notFound, operand.contains(where: { $0.isWhitespace || "=<>".contains($0) }) else { return error }
        var advised = error
        advised.advice = "files come first, then one predicate: firn query FILE QUERY"
        return advised
    }

    /// Replaces the error if the query is one word that is not a predicate: it is probably the name of a missing file.
    private func misread(_ error: FirnError) -> FirnError {
        guard error.code == .usage, let word = operands.query, arguments.text("where") == nil,
            !word.contains(where: { $0.isWhitespace || "=<>!(){}'\"$".contains($0) })
        else { return error }
        guard FormatName(extensionOf: word) != nil || word.contains("/") else {
            let isFormat = word == "table" || FormatName(rawValue: word) != nil
            return FirnError(
                .usage, "\"\(word)\" is neither a file nor a predicate",
                advice: isFormat
                    ? "--format \(word) chooses the form of the output"
                    : "a predicate is a comparison, such as \"\(word) == true\"; if it is a file, check its name")
        }
        return FirnError(
            .notFound, "cannot open: No such file or directory", at: .init(file: word),
            advice: "a predicate is a comparison, such as 'age > 30'")
    }

    private func open(_ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> OpenedFile {
        let (file, remarks) = try OpenedFile.input(operands.files, options, progress: progress)
        try ReadingOptions.check(arguments, for: .init([file]))
        for remark in remarks + (file.union?.remarks ?? []) { session.remark(remark) }
        session.remark(guessesOf: [file])
        let sought =
            [operands.query, arguments.text("where")].compactMap(\.self) + arguments.texts("agg") + arguments.names("sort")
            + arguments.names("group-by")
        session.remark(textColumnsOf: [file], in: sought.joined(separator: " "))
        return file
    }

    /// Whether the operand is the JSON document around the rows of a file.
    private func isDocument(_ file: OpenedFile) -> Bool {
        if case .stored = file.content { return false }
        return file.format == .firn
    }

    /// Runs the query on a table of another format that is read where the query needs it. Returns the number of rows.
    private func search(_ table: any Table, of file: OpenedFile, _ request: QueryRequest, threads: Int, display: ProgressDisplay)
        throws(FirnError) -> Int
    {
        _ = try file.typeName(arguments.text("type"))
        do throws(FirnError) {
            let run = try QueryCommand.run(request, table, file: file.name, threads: threads, isOneOfSeveral: file.union != nil)
            display.end()
            guard arguments.has("explain") else {
                return try print(run.columns, of: file, table.type.name, table.schema) { (give) throws(FirnError) in
                    try run.forEachBatch(give)
                }
            }
            let rows = try explain(run)
            if let account = (table as? any AccountingTable)?.account { try session.out.write(account) }
            return rows
        } catch {
            // The advice for damaged .firn files does not apply.
            var plain = error
            if plain.code == .damaged { plain.advice = nil }
            throw plain
        }
    }

    /// Runs the query batch by batch on the rows of a text format, or of several files. Returns the number of rows.
    private func stream(_ file: OpenedFile, _ request: QueryRequest, _ threads: Int, _ progress: Progress, _ display: ProgressDisplay)
        throws(FirnError) -> Int
    {
        let name = try file.typeName(arguments.text("type"))
        let reader = try file.reader(name, threads: threads, progress: progress)
        if let condition = request.parsed { try RowExclusion.apply(condition, to: reader) }
        let query = try QueryCommand.bound(to: file.union == nil ? nil : file.name) { () throws(QueryError) in
            try StreamedQuery(request, type: reader.schema[name]!, schema: reader.schema)
        }
        func all(_ give: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
            while let (type, batch) = try reader.next() {
                if type == name, !(try query.add(batch, give)) { break }
            }
            try query.finish(give)
        }
        guard arguments.has("explain") else { return try print(query.columns, of: file, name, reader.schema, display, all) }
        var rows = 0
        try all { batch in
            rows += batch.count
            return true
        }
        display.end()
        try session.out.write(DisplayWidth.visible(query.explain(), keepingLines: true))
        return rows
    }

    // MARK: Query

    private func request() throws(FirnError) -> QueryRequest {
        var request = QueryRequest()
        request.parsed = try QueryCommand.parsed(operands.query, and: arguments.text("where"))
        request.filter = QueryCommand.text(operands.query, and: arguments.text("where"))
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

    /// Parses a query and a condition and combines them by AND. Returns nil if neither is given. Positions are those in `text`.
    static func parsed(_ query: String?, and condition: String?) throws(FirnError) -> QuerySyntax? {
        let texts = given(query, condition), whole = texts.joined(separator: conjunction)
        guard let first = texts.first else { return nil }
        var syntax = try bound { () throws(QueryError) in try Parser.query(first) }, start = first.utf8.count
        for text in texts.dropFirst() {
            start += conjunction.utf8.count
            let more = try bound { () throws(QueryError) -> QuerySyntax in
                do throws(QueryError) { return try Parser.query(String(repeating: " ", count: start) + text) } catch {
                    var located = error
                    located.text = whole
                    throw located
                }
            }
            start += text.utf8.count
            syntax = QuerySyntax(.and([syntax.predicate, more.predicate]), descriptors: syntax.descriptors + more.descriptors)
        }
        return syntax
    }

    /// Returns the text of a query and a condition, for errors. Nil if neither is given.
    static func text(_ query: String?, and condition: String?) -> String? {
        let texts = given(query, condition)
        return texts.isEmpty ? nil : texts.joined(separator: conjunction)
    }

    private static let conjunction = " AND "

    private static func given(_ texts: String?...) -> [String] { texts.compactMap(\.self).filter { $0.contains { !$0.isWhitespace } } }

    /// Binds a query to a table, to run on several threads. `file` is the path of the table, for errors about its bytes; if the command has
    /// several inputs, errors in the query name it too.
    static func run(
        _ request: QueryRequest, _ table: any Table, file: String? = nil, threads: Int, isOneOfSeveral: Bool = false
    ) throws(FirnError) -> QueryRun {
        try bound(to: isOneOfSeveral ? file : nil) { () throws(QueryError) in
            try QueryRun(request, table: table, file: file, threads: threads)
        }
    }

    /// Converts errors of the query language to `FirnError`, at a file if its name is given.
    static func bound<R>(to file: String? = nil, _ body: () throws(QueryError) -> R) throws(FirnError) -> R {
        do throws(QueryError) { return try body() } catch {
            var found = error.asFirnError
            found.location = file.map { .init(file: $0) }
            throw found
        }
    }

    // MARK: Output

    /// Writes the batches that `body` passes to its closure. Returns the number of rows.
    private func print(
        _ columns: [ColumnSchema], of file: OpenedFile, _ name: String, _ types: Schema, _ display: ProgressDisplay? = nil,
        _ body: ((Batch) throws(FirnError) -> Bool) throws(FirnError) -> Void
    ) throws(FirnError) -> Int {
        var type = TypeSchema(name, columns: columns)
        // In JSON, each row has all selected columns, also those that are null.
        for i in type.columns.indices {
            type.columns[i].writesNull = true
            type.columns[i].notation = type.columns[i].notation.standard
        }
        let found = Schema([type] + types.types.filter { $0.name != name }).reachable(from: name), output = RowOutput(session)
        let links = try output.format()?.keepsLinks == true ? RowIDLinks(found, whole: []) : nil, schema = links?.schema ?? found
        let writer = try output.writer(schema, sources: operands.files, keys: file.keys)
        var rows = 0, hasBegun = false
        func begin() throws(FirnError) {
            if hasBegun { return }
            hasBegun = true
            display?.end()
            try writer.begin(schema)
        }
        try body { (batch) throws(FirnError) in
            try begin()
            var batch = batch
            links?.apply(to: &batch)
            try writer.write(batch, type: name)
            rows += batch.count
            return true
        }
        try begin()
        try writer.finish()
        for remark in (links?.remarks ?? []) + writer.remarks { session.remark(remark) }
        if !(writer is any RowPrinter), rows > 0, let remark = KeptTexts.leftOut(columns, of: types[name]) { session.remark(remark) }
        if rows == 0, writer is any RowPrinter { session.remark("no rows") }
        return rows
    }

    /// Runs the query and prints its plan with what was read and skipped. Returns the number of rows.
    private func explain(_ run: QueryRun) throws(FirnError) -> Int {
        var rows = 0
        try run.forEachBatch { (batch) throws(FirnError) in
            rows += batch.count
            return true
        }
        let plan = DisplayWidth.visible(run.explain(), keepingLines: true)
        try session.out.write(plan.hasSuffix("\n") ? plan : plan + "\n")
        return rows
    }
}
