import CSQLiteLibrary
import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnSQL
import FirnTable
import Synchronization

/// SQL statements of a caller of the library, over versions of files that it has open and files that it names. The statements run when
/// `forEach` is called, on its thread.
package final class SQLRun: Sendable {
    /// The result is its columns, then the rows in batches.
    package enum Part: Sendable {
        case columns(TypeSchema)
        case rows(Batch)
    }

    private let text: SQLStatements
    private let parameters: SQLParameters
    private let arguments: Arguments
    private let snapshots: [DatabaseSnapshot]
    private let files: [String]
    private let opensNamed: Bool
    private let monitor: ProgressMonitor
    /// The connection, while statements run.
    private let running = Mutex<Running?>(nil)
    /// A result of up to this many bytes is computed once; a larger one a second time, when the types of its columns are known.
    private static let keptBytes = 64 << 20
    private static let batchRows = 65_536

    /// Another thread only interrupts it.
    private struct Running: @unchecked Sendable { let connection: SQLConnection }

    /// - Parameters:
    ///   - files: Files of any format, or of several types, that become tables as in `firn sql`.
    ///   - opensNamed: Whether a table that does not exist, but is the name of a file, is that file.
    ///   - options: The flags of `firn sql`, without dashes.
    package init(
        _ statements: String, parameters: [(name: String, value: Value)], snapshots: [DatabaseSnapshot], files: [String],
        opensNamed: Bool = true, options: [String], caller: Session.Caller
    ) throws(FirnError) {
        guard !files.contains("-") else { throw FirnError(.usage, "standard input is not available here", advice: "name a file") }
        text = SQLStatements(statements)
        self.parameters = SQLParameters(values: parameters)
        var arguments = try Program.firn.arguments(of: "sql", options: options, operands: files + [".", statements])
        for flag in ["format", "explain", "force", "param"] where arguments.has(flag) {
            throw FirnError(.usage, "sql has no option \"\(flag)\" here")
        }
        arguments.keys["key-file"] = caller.key
        self.arguments = arguments
        self.snapshots = snapshots
        self.files = files
        self.opensNamed = opensNamed
        monitor = caller.monitor
        try self.parameters.check(text)
    }

    /// Makes `forEach` end with an error soon. Any thread may call it.
    package func cancel() {
        monitor.cancel()
        running.withLock { $0?.connection.interrupt() }
    }

    /// Passes on the columns and the rows of the statement that returns rows, until `give` returns false.
    package func forEach(_ give: (Part) -> Bool) throws(FirnError) {
        do throws(FirnError) { try run(give) } catch {
            guard monitor.isCancelled else { throw Session.shown(error) }
            throw FirnError(.interrupted, "the operation was cancelled")
        }
    }

    private func run(_ give: (Part) -> Bool) throws(FirnError) {
        let session = Session(arguments, monitor: monitor), threads = try session.threads()
        let connection = try SQLConnection(functions: firn_sqlite_functions(), threads: threads)
        var opened = Inputs(session: session, options: try ReadingOptions(arguments, threads: threads))
        for file in files { try opened.open(file) }
        try ReadingOptions.check(arguments, for: .init(opened.files))
        // Without this, SQLite would write intermediate results of encrypted files to temporary files in plain text.
        if opened.hasKey || snapshots.contains(where: { $0.key != nil }) { try connection.keepInMemory() }
        var names = try SQLNames(opened.files, snapshots: snapshots).add(to: connection)
        if let timeout = arguments.text("timeout") { connection.setTimeout(seconds: try LogCommand.seconds(timeout, of: "timeout")) }
        running.withLock { $0 = Running(connection: connection) }
        defer { running.withLock { $0 = nil } }

        let sql = text.characters, start = SQLConnection.rowsPassed
        monitor.watch(opened.progress) { SQLConnection.rowsPassed - start }
        var offset = 0, hasRows = false
        while let statement = try next(connection, sql, &offset, &opened, &names) {
            try parameters.bind(to: statement)
            try opened.progress.check()
            guard !statement.columns.isEmpty else {
                while try statement.step() {}
                continue
            }
            guard !hasRows else { throw SQLRun.severalResults }
            hasRows = true
            try checkRest(connection, sql, from: offset)
            if try !pass(statement, connection, give) { return }
        }
        guard hasRows else {
            throw FirnError(.usage, "no statement returns rows", advice: "write one, such as SELECT * FROM \(names.first ?? "t")")
        }
    }

    private static var severalResults: FirnError {
        FirnError(.usage, "several statements return rows", advice: "run each of them separately")
    }

    /// Throws if a later statement returns rows too. Those that need what statements before them make cannot be prepared yet, and are checked
    /// when they run.
    private func checkRest(_ connection: SQLConnection, _ sql: [CChar], from offset: Int) throws(FirnError) {
        var offset = offset
        while let statement = try? connection.statement(sql, from: &offset) {
            guard statement.columns.isEmpty else { throw SQLRun.severalResults }
        }
    }

    /// Returns the next statement. A table that does not exist, but is the name of a file, is that file.
    private func next(
        _ connection: SQLConnection, _ sql: [CChar], _ offset: inout Int, _ opened: inout Inputs, _ names: inout [String]
    ) throws(FirnError) -> SQLStatement? {
        while true {
            let start = offset
            do throws(FirnError) {
                return try SQLNames.advised(names, connection) { () throws(FirnError) in try connection.statement(sql, from: &offset) }
            } catch {
                guard let name = SQLNames.missingTable(error), !names.contains(name), Paths.exists(Address(name).path) else { throw error }
                guard opensNamed else {
                    var refused = error
                    refused.advice = "files that a statement names are not opened here"
                    throw refused
                }
                offset = start
                try opened.open(name)
                guard let file = opened.files.last else { throw error }
                if file.hasKey { try connection.keepInMemory() }
                let tables = try file.tables()
                guard tables.count == 1, let table = tables.first else {
                    let types = tables.map(\.type.name)
                    throw FirnError(
                        .usage, "the file has \(types.count) types: \(types.listed())", at: .init(file: name),
                        advice: types.first.map { "name one of them, such as \"\(name):\($0)\"" })
                }
                try connection.add(SQLFile(name: file.name, tables: tables), type: table.type.name, as: name)
                names.append(name)
            }
        }
    }

    private func pass(_ statement: SQLStatement, _ connection: SQLConnection, _ give: (Part) -> Bool) throws(FirnError) -> Bool {
        let survey = try SQLSurvey(statement, keeping: SQLRun.keptBytes)
        if let kept = survey.rows {
            let rows = SQLRows(statement, survey)
            guard give(.columns(rows.type)) else { return false }
            for start in stride(from: 0, to: kept.count, by: SQLRun.batchRows) {
                try rows.take(kept[start..<min(start + SQLRun.batchRows, kept.count)])
                guard give(.rows(rows.batch)) else { return false }
            }
            return true
        }
        guard !statement.text.uppercased().contains("RETURNING") else {
            throw FirnError(
                .usage, "the rows of RETURNING are too many: the statement would be run twice",
                advice: "SELECT the rows from the temporary table")
        }
        var start = 0
        guard let again = try connection.statement(SQLStatements(statement.text).characters, from: &start) else { return true }
        try parameters.bind(to: again)
        let rows = SQLRows(again, survey)
        guard give(.columns(rows.type)) else { return false }
        while try rows.fill() {
            if monitor.isCancelled { throw FirnError(.interrupted, "the operation was cancelled") }
            guard give(.rows(rows.batch)) else { return false }
        }
        return true
    }

    /// The files that are open.
    private struct Inputs {
        let session: Session
        let options: ReadingOptions
        let progress = Progress()
        var files: [OpenedFile] = []

        var hasKey: Bool { files.contains(where: \.hasKey) }

        mutating func open(_ name: String) throws(FirnError) {
            session.monitor?.watch(progress) { 0 }
            files.append(try RunNotices().collect { () throws(FirnError) in try session.input(name, options, progress) })
        }
    }
}
