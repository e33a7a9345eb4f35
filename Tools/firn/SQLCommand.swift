import CSQLiteLibrary
import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnSQL
import FirnTable

/// `firn sql FILE... STATEMENTS`
struct SQLCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }
    private var output: RowOutput { RowOutput(session) }

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let threads = try session.threads(), operands = Array(arguments.operands.dropLast())
        try session.checkExplain()
        try output.check()
        let parameters = try SQLParameters(arguments.texts("param"))
        let timeout = try arguments.text("timeout").map { (text) throws(FirnError) in try LogCommand.seconds(text, of: "timeout") }
        let text = SQLStatements(try statements(operands))
        try parameters.check(text)
        let connection = try SQLConnection(functions: firn_sqlite_functions(), threads: threads)
        let options = try ReadingOptions(arguments, threads: threads)
        let files = try operands.map { (operand) throws(FirnError) in try session.input(operand, options, progress) }
        try ReadingOptions.check(arguments, for: .init(files))
        // Without this, SQLite would write intermediate results of encrypted files to temporary files in plain text.
        if files.contains(where: \.hasKey) { try connection.keepInMemory() }
        let names = try SQLNames(files).add(to: connection)
        display.end()
        reportDates(text, files)
        reportNames(connection, text, files)
        if let timeout { connection.setTimeout(seconds: timeout) }

        let sql = text.characters
        var offset = 0, rows = 0, results = 0, count = 0
        while let statement = try SQLNames.advised(
            names, connection, { () throws(FirnError) in try connection.statement(sql, from: &offset) })
        {
            count += 1
            try parameters.bind(to: statement)
            if arguments.has("explain") {
                try explain(statement, connection)
                try session.out.flush()
            } else if statement.columns.isEmpty {
                let display = ProgressDisplay(session) { SQLConnection.rowsPassed }
                defer { display.end() }
                while try statement.step() {}
                continue
            } else {
                if results > 0 { try checkSeveral() }
                rows += try print(
                    statement, isFirst: results == 0, survey: try survey(statement, parameters, connection), keys: files.flatMap(\.keys))
                // The rows of this statement must be printed even if the next statement fails.
                try session.out.flush()
            }
            results += 1
        }
        guard count > 0 else {
            throw FirnError(.usage, "there is no statement", advice: "write one, such as 'SELECT * FROM \(names.first ?? "t")'")
        }
        try options.rejected?.finish()
        if let rejected = options.rejected, rejected.count > 0 {
            for remark in rejected.remarks { session.remark(remark) }
            return .rejected
        }
        return rows > 0 || results == 0 || arguments.has("explain") ? .done : .no
    }

    /// Throws `.usage` if the output has the rows of one statement only.
    private func checkSeveral() throws(FirnError) {
        if let target = output.target {
            throw FirnError(
                .usage, "several statements return rows, and \"\(target)\" has those of the first one",
                advice: "write one statement with --output")
        }
        if case .document(.html) = try output.form() {
            throw FirnError(
                .usage, "several statements return rows, and a page of HTML has those of the first one",
                advice: "write one statement, or use --format markdown")
        }
    }

    /// Reports the columns that have other names in SQL, and why columns that the statements name are text.
    private func reportNames(_ connection: SQLConnection, _ text: SQLStatements, _ files: [OpenedFile]) {
        var renamed: Set<String> = []
        for (column, name) in connection.renamedColumns where renamed.insert(name).inserted {
            let reason = column.utf8.contains(0) ? "SQL has no U+0000 in names" : "SQL does not distinguish upper and lower case"
            session.remark("\(reason): the column \"\(column)\" is called \"\(name)\"")
        }
        session.remark(textColumnsOf: files, in: String(decoding: text.bytes, as: UTF8.self))
    }

    /// Reports dates in the statements that do not compare with those of the files.
    private func reportDates(_ text: SQLStatements, _ files: [OpenedFile]) {
        guard files.contains(where: { $0.schema.types.contains { $0.columns.contains { $0.type.kind == .date } } }) else { return }
        for date in text.foreignDates() {
            session.remark("dates in SQL are texts such as '2016-09-29 10:30:00', in UTC; datetime(\(date)) makes one of \(date)")
        }
    }

    // MARK: Statements

    /// Returns the statements: the last operand, or standard input if it is `-`.
    private func statements(_ files: [String]) throws(FirnError) -> String {
        let last = arguments.operands.last!
        guard last == "-" else {
            if Paths.kind(last) == .file, !last.contains(where: \.isWhitespace) {
                throw FirnError(
                    .usage, "there is no statement after the files",
                    advice: "add a statement as the last operand, or - to read it from standard input")
            }
            return last
        }
        guard !files.contains("-") else { throw FirnError(.usage, "rows and statements cannot both come from standard input") }
        let bytes = try Input(path: "-").readToEnd()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FirnError(.usage, "the statements are not UTF-8", at: .init(file: "standard input"))
        }
        return text
    }

    // MARK: Output

    /// Returns the types of the columns for a format in which a column has one type; nil for other formats. The statement is run for it.
    private func survey(_ statement: SQLStatement, _ parameters: SQLParameters, _ connection: SQLConnection) throws(FirnError) -> SQLSurvey?
    {
        guard let format = try output.format(), !format.isText else { return nil }
        guard !statement.text.uppercased().contains("RETURNING") else {
            throw FirnError(
                .usage, "rows of RETURNING cannot be written as \(format.rawValue): the statement would be run twice",
                advice: "use csv, json or ndjson, or SELECT the rows from the temporary table")
        }
        let display = ProgressDisplay(session) { SQLConnection.rowsPassed }
        defer { display.end() }
        var start = 0
        guard let first = try connection.statement(SQLStatements(statement.text).characters, from: &start) else { return nil }
        try parameters.bind(to: first)
        return try SQLSurvey(first)
    }

    private func print(_ statement: SQLStatement, isFirst: Bool, survey: SQLSurvey?, keys: [EncryptionKey?]) throws(FirnError) -> Int {
        let format = try output.format()
        let rows = survey.map { SQLRows(statement, $0) } ?? SQLRows(statement, as: format)
        // Progress is shown until there are rows to print.
        let display = ProgressDisplay(session) { SQLConnection.rowsPassed }
        defer { display.end() }
        let hasRows = try rows.fill()
        display.end()
        guard hasRows else {
            try begin(rows, isFirst: isFirst, keys) { (writer) throws(FirnError) in _ = writer }
            return 0
        }
        var count = 0
        try begin(rows, isFirst: isFirst, keys) { (writer) throws(FirnError) in
            repeat {
                try writer.write(rows.batch, type: rows.type.name)
                count += rows.batch.count
            } while try rows.fill()
        }
        return count
    }

    private func begin(
        _ rows: SQLRows, isFirst: Bool, _ keys: [EncryptionKey?], _ body: (any BatchWriter) throws(FirnError) -> Void
    ) throws(FirnError) {
        let schema = Schema([rows.type]), sources = Array(arguments.operands.dropLast())
        let writer = try output.writer(schema, sources: sources, keys: keys)
        if !isFirst, writer is any RowPrinter { try session.out.write("\n") }
        try writer.begin(writer is any RowPrinter ? Schema([rows.shownType]) : schema)
        try body(writer)
        try writer.finish()
        for remark in writer.remarks where !remark.hasSuffix("is written as JSON in one cell") { session.remark(remark) }
        if rows.isEmpty, writer is any RowPrinter { session.remark("no rows") }
    }

    /// Prints SQLite's plan, runs the statement, and prints the work of the tables.
    private func explain(_ statement: SQLStatement, _ connection: SQLConnection) throws(FirnError) {
        try session.out.write(DisplayWidth.visible(try connection.plan(of: statement), keepingLines: true))
        let before = connection.tables.map(\.work)
        var rows = 0
        let display = ProgressDisplay(session) { SQLConnection.rowsPassed }
        defer { display.end() }
        while try statement.step() { rows += 1 }
        display.end()
        for (table, old) in zip(connection.tables, before) {
            for line in table.work.lines(since: old, table: table.name) { try session.out.write(DisplayWidth.visible(line) + "\n") }
        }
        try session.out.write("\(Quantity.count(rows, "row")) in the result\n")
    }
}

extension SQLTable.Work {
    /// Returns the work since an earlier state, as lines of text.
    func lines(since old: SQLTable.Work, table: String) -> [String] {
        var lines: [String] = []
        for (i, plan) in plans.enumerated() {
            let runs = plan.runs - (i < old.plans.count ? old.plans[i].runs : 0)
            if runs > 0 { lines.append("\(table): \(plan.description)\(runs > 1 ? ", \(Quantity.count(runs)) times" : "")") }
        }
        guard !lines.isEmpty else { return [] }
        let segments = self.segments - old.segments, skipped = segmentsSkipped - old.segmentsSkipped,
            vectors = vectorsSkipped - old.vectorsSkipped
        var parts = ["\(Quantity.count(rowsGiven - old.rowsGiven, "row")) passed to SQLite"]
        if segments > 0 {
            parts.append(
                "\(Quantity.count(segments, "segment")) searched, \(Quantity.count(skipped)) of them and \(Quantity.count(vectors, "vector")) skipped by zones"
            )
        }
        if lookups > old.lookups { parts.append("\(Quantity.count(lookups - old.lookups, "look-up")) through an index") }
        return lines + ["  " + parts.joined(separator: "; ")]
    }
}
