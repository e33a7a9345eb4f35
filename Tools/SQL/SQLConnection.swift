import CSQLite
import FirnBytes
import FirnDisk
import FirnTable

/// A connection to a database in memory whose tables are types of files. Use it on one thread only.
package final class SQLConnection {
    private var db: OpaquePointer?
    let context: SQLContext
    /// The first operation of the current statement that was refused.
    private var refused: SQLRefusal?
    /// The first words of the statement that was prepared last, in capitals.
    private var words: [String] = []
    /// Whether a statement of this class runs, and not one of the user.
    private var isOwn = false
    /// Whether a rewritten statement is prepared or runs, which may read groups.
    private var readsGroups = false
    /// Whether a view may combine the rows of several SELECTs.
    var hasCompoundView = false
    /// The names of SQLite's modules of virtual tables, in lower case.
    private var modules: Set<String> = []
    /// The names of all functions that statements can call.
    private var functions: Set<String> = []

    /// The maximum number of bytes of temporary tables, on disk or in memory: four times the memory limit.
    private var temporaryBytes = 0
    private static let pageSize = 4096, maximumPages = (1 << 30) - 2

    /// Opens a connection. Statements can read the tables that `add` creates, and write temporary tables only (`SQLPermissions`). SQLite
    /// uses at most the memory limit of `MemoryBudget.process`, and temporary tables at most four times that limit. `functions` is the
    /// table of functions of the linked SQLite.
    ///
    /// - Throws: `FirnError.Code.unsupported` if SQLite cannot be started.
    package init(functions: UnsafeRawPointer?, threads: Int = 1) throws(FirnError) {
        guard let functions else { throw FirnError(.unsupported, "SQLite cannot be started") }
        firn_sql_use(functions)
        context = SQLContext(threads: threads, keepsTables: true)
        guard firn_sql_open(":memory:", &db) == Int32(FIRN_SQL_OK), context.registerTables(db),
            firn_sql_add_collation(db, SQLDecimal.collation) == Int32(FIRN_SQL_OK)
        else {
            firn_sql_close(db)
            throw FirnError(.unsupported, "SQLite cannot be started")
        }
        let limit = MemoryBudget.process.limit
        firn_sql_limit_memory(Int64(clamping: limit))
        temporaryBytes = min(limit, SQLConnection.maximumPages * SQLConnection.pageSize / 4) * 4
        try executeOwn(
            "PRAGMA temp.page_size = \(SQLConnection.pageSize); PRAGMA temp.max_page_count = \(max(16, temporaryBytes / SQLConnection.pageSize))"
        )
        try takeInventory()
        firn_sql_guard(db, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Replaces each function that is not permitted by one that fails, because SQLite does not ask the authorizer about functions in the
    /// DEFAULT of a column.
    private func takeInventory() throws(FirnError) {
        for module in try rows("SELECT name FROM pragma_module_list") {
            if case .string(let name) = module[0] { modules.insert(NameTable.folded(name)) }
        }
        for function in try rows("SELECT DISTINCT name, narg FROM pragma_function_list") {
            guard case .string(let name) = function[0], case .int(let count) = function[1] else { continue }
            functions.insert(NameTable.folded(name))
            guard !SQLPermissions.functions.contains(NameTable.folded(name)) else { continue }
            guard firn_sql_forbid_function(db, name, Int32(clamping: count)) == Int32(FIRN_SQL_OK) else {
                throw FirnError(.unsupported, "SQLite cannot be started: the function \"\(name)\" cannot be disabled")
            }
        }
        guard context.registerFunctions(db, known: functions) else {
            throw FirnError(.unsupported, "SQLite cannot be started: a function cannot be added")
        }
        functions = functions.union(SQLFunctions.names).intersection(SQLPermissions.functions)
    }

    private func rows(_ sql: String) throws(FirnError) -> [[Value]] {
        var start = 0
        return try statement(Array(sql.utf8CString.dropLast()), from: &start)?.allRows() ?? []
    }

    deinit {
        firn_sql_close(db)
        context.forgetTables()
    }

    /// The names of the columns of all tables.
    package var columnNames: [String] { context.tables.flatMap { $0.columns.map(\.name) } }
    /// The columns of all tables that have other names in SQL, with these names.
    package var renamedColumns: [(column: String, name: String)] {
        context.tables.flatMap { $0.columns.lazy.filter { $0.name != $0.schema.name }.map { ($0.schema.name, $0.name) } }
    }
    package static var version: String { String(cString: firn_sql_version()) }
    /// The version as a number: 3,040,001 for 3.40.1.
    static var versionNumber: Int {
        let parts = version.split(separator: ".").map { Int($0) ?? 0 }
        return parts.prefix(3).reduce(0) { $0 * 1000 + $1 }
    }
    /// The functions that are added to those of SQLite, each with an example of a call.
    package static var addedFunctions: [(name: String, example: String)] { SQLFunctions.all.map { ($0.name, $0.usage) } }
    /// The open tables.
    package var tables: [SQLTable] { context.tables }

    /// Adds a type of a file as a table.
    package func add(_ file: SQLFile, type: String, as name: String) throws(FirnError) {
        context.given.append((file, type))
        try executeOwn("CREATE VIRTUAL TABLE main.\(SQLSpelling.name(name)) USING firn_table(\(context.given.count - 1))")
    }

    /// Ends statements with an error that still run after this time from now.
    package func setTimeout(seconds: Int) {
        timeout = seconds
        context.deadline = .now + .seconds(seconds)
        firn_sql_set_timeout(db, Double(seconds))
    }
    private var timeout: Int?

    /// Makes the statement that runs end with an error. Any thread may call it, while the connection exists.
    package func interrupt() {
        context.isInterrupted.store(true, ordering: .relaxed)
        firn_sql_interrupt(db)
    }

    /// The number of rows that tables have passed to SQLite. Any thread may read it while a statement runs.
    package static var rowsPassed: Int { Int(firn_sql_rows_passed()) }

    /// Keeps temporary data in memory from now on, so that SQLite writes no temporary files.
    package func keepInMemory() throws(FirnError) { try executeOwn("PRAGMA temp_store = MEMORY") }

    private func executeOwn(_ sql: String) throws(FirnError) {
        isOwn = true
        defer { isOwn = false }
        try context.execute(sql, db)
    }

    /// Returns the rows of a statement of this class.
    func ownRows(_ sql: String) throws(FirnError) -> [[Value]] {
        let (before, own) = (words, isOwn)
        isOwn = true
        defer { (words, isOwn) = (before, own) }
        return try rows(sql)
    }

    /// Prepares a statement that reads groups; returns nil if SQLite refuses it.
    func preparedForGroups(_ sql: [CChar]) -> OpaquePointer? {
        var prepared: OpaquePointer?
        let code = readingGroups {
            sql.withUnsafeBufferPointer { firn_sql_prepare(db, $0.baseAddress, Int32(clamping: $0.count), &prepared, nil) }
        }
        guard code == Int32(FIRN_SQL_OK) else {
            forgetErrors()
            return nil
        }
        return prepared
    }

    /// Runs a part of a rewritten statement, which may read groups.
    func readingGroups<R>(_ body: () -> R) -> R {
        readsGroups = true
        defer { readsGroups = false }
        return body()
    }

    func forgetErrors() {
        context.lastError = nil
        refused = nil
    }

    /// Executes statements and ignores their rows.
    package func execute(_ sql: String) throws(FirnError) { try context.execute(sql, db) }

    fileprivate func refuses(_ action: Int32, _ subject: String, _ detail: String, database: String) -> Bool {
        guard !isOwn, !(readsGroups && SQLPermissions.readsGroups(action, subject, database: database)) else { return false }
        let tables = context.tables
        let refusal = SQLPermissions.refusal(
            action, subject, detail, database: database,
            in: SQLStatementContext(
                words: words, isOwnTable: { name in tables.contains { NameTable.folded($0.name) == name } }, modules: modules))
        refused = refused ?? refusal
        return refusal != nil
    }

    /// Returns the next statement of a text from `start` on, and moves `start` after it. Returns nil if there is none.
    package func statement(_ sql: [CChar], from start: inout Int) throws(FirnError) -> SQLStatement? {
        while start < sql.count {
            context.lastError = nil
            refused = nil
            if !isOwn { context.isInterrupted.store(false, ordering: .relaxed) }
            words = SQLWords.name(of: sql[start...])
            if !isOwn, let refusal = SQLPermissions.refusal(ofStatement: words) { throw SQLConnection.error(refusal) }
            var prepared: OpaquePointer?
            let begin = start
            let code = sql.withUnsafeBufferPointer { text in
                var rest: UnsafePointer<CChar>?
                let code = firn_sql_prepare(db, text.baseAddress! + begin, Int32(clamping: text.count - begin), &prepared, &rest)
                start = rest.map { $0 - text.baseAddress! } ?? text.count
                return code
            }
            guard code == Int32(FIRN_SQL_OK) else { throw failure(sql, at: begin) }
            if let prepared { return SQLStatement(prepared, self, rewriting: isOwn ? nil : rewriting(sql, begin..<start)) }
            // White space and comments give no statement.
            if start == begin { break }
        }
        return nil
    }

    /// Returns SQLite's plan of a statement, as its shell prints it.
    package func plan(of statement: SQLStatement) throws(FirnError) -> String {
        var start = 0
        guard let explained = try self.statement(Array(("EXPLAIN QUERY PLAN " + statement.text).utf8CString.dropLast()), from: &start)
        else { return "" }
        var steps: [(id: Int64, parent: Int64, text: String)] = []
        for (number, value) in statement.bound { try explained.bind(value, to: number - 1) }
        while try explained.step() {
            guard case .int(let id) = explained.value(0), case .int(let parent) = explained.value(1),
                case .string(let text) = explained.value(3)
            else { continue }
            steps.append((id, parent, text))
        }
        var out = "QUERY PLAN\n"
        func write(_ parent: Int64, _ indent: String) {
            let children = steps.filter { $0.parent == parent }
            for (i, child) in children.enumerated() {
                let isLast = i == children.count - 1
                out += indent + (isLast ? "`--" : "|--") + child.text + "\n"
                write(child.id, indent + (isLast ? "   " : "|  "))
            }
        }
        write(0, "")
        return out
    }

    /// Returns the last error, with its position in the text if it is known.
    func failure(_ sql: [CChar] = [], at start: Int = 0) -> FirnError {
        if let timeout, firn_sql_is_timed_out() || context.lastError?.code == .interrupted && context.isLate {
            return FirnError(
                .interrupted, "the statements exceeded the limit of \(timeout) s (--timeout)",
                advice: "raise the limit, or select fewer rows: a join without a condition makes every pair of rows")
        }
        if let known = context.lastError { return known }
        let message = String(cString: firn_sql_message(db))
        if let refused { return SQLConnection.error(refused) }
        if message.hasSuffix("may not be modified") { return SQLConnection.error(.change(change(message))) }
        if message.hasPrefix("virtual tables may not be") { return SQLConnection.error(.change(words.joined(separator: " "))) }
        if firn_sql_is_out_of_memory(db) {
            return FirnError(
                .outOfMemory,
                "the statement needs more than \(MemoryBudget.words(Int(firn_sql_memory_limit()))) of memory, which is the limit of SQLite",
                advice: "select fewer rows or shorter values, or raise the limit with --memory SIZE if you trust the data")
        }
        if firn_sql_is_full(db) {
            return FirnError(
                .noSpace, "the disk is full, or temporary tables need more than \(MemoryBudget.words(temporaryBytes))",
                advice: "raise the limit of temporary tables, which is four times the memory limit, with --memory SIZE")
        }
        guard !sql.isEmpty else { return FirnError(.usage, message) }
        let text = SQLStatements(sql), known = Int(firn_sql_error_offset(db))
        // SQLite gives no position of some errors: they are reported at the name that they mention, or at the beginning of the statement.
        let name = message.split(separator: ":").last.map { $0.drop { $0 == " " } } ?? ""
        let offset = known >= 0 ? start + known : message == "incomplete input" ? text.end : text.token(from: start, named: String(name))
        // Double quotes are probably meant for a text, as SQLite by default permits.
        let isQuoted = known >= 0 && offset < sql.count && text.bytes[offset] == UInt8(ascii: "\"")
        return FirnError(
            .usage, message, at: text.location(offset),
            advice: isQuoted ? "double quotes are for names; write text in single quotes" : advice(message, text, offset))
    }

    /// Returns advice for an error in a statement.
    private func advice(_ message: String, _ text: SQLStatements, _ offset: Int) -> String? {
        if message.hasPrefix("no such function: ") {
            return SQLHints.unknown(
                String(message.dropFirst("no such function: ".count)), among: functions.filter(SQLConnection.isName).sorted())
        }
        if message.hasPrefix("wrong number of arguments to function ") {
            let name = message.dropFirst("wrong number of arguments to function ".count).prefix { $0 != "(" }
            return SQLFunctions.usage(of: String(name)).map { "write \($0)" }
        }
        if NameTable.folded(message) == "no such column: interval" { return SQLHints.interval }
        guard message.hasSuffix("syntax error") || message.hasPrefix("unrecognized token") else { return nil }
        return SQLHints.syntax(text, at: offset)
    }

    /// Whether a function is called by its name, and not as an operator or by SQLite itself.
    private static func isName(_ name: String) -> Bool {
        !name.hasPrefix("sqlite_") && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
    }

    /// Returns the name of the statement that SQLite refused with "table NAME may not be modified".
    private func change(_ message: String) -> String {
        let table = message.dropLast(" may not be modified".count), name = table.hasPrefix("table ") ? table.dropFirst(6) : table
        return switch words.first {
        case "INSERT", "REPLACE": "\(words[0]) INTO \(name)"
        case "UPDATE": "UPDATE \(name)"
        case "DELETE": "DELETE FROM \(name)"
        default: "a change of \(table)"
        }
    }

    private static func error(_ refused: SQLRefusal) -> FirnError {
        switch refused {
        case .change(let what):
            FirnError(
                .usage, "firn sql cannot change files: \(what) is not permitted",
                advice: "results can go to a temporary table: CREATE TEMP TABLE t AS SELECT …")
        case .function(let name): FirnError(.usage, "the function \(name) is not available")
        case .pragma(let name):
            FirnError(
                .usage, "PRAGMA \(name) is not available",
                advice: "available are \(SQLPermissions.pragmas.sorted().joined(separator: ", "))")
        case .table(let name): FirnError(.usage, "the table \(name) of SQLite is not available")
        case .statement("VACUUM"):
            FirnError(
                .usage, "VACUUM is not available: firn sql does not change or write files", advice: "'firn compact FILE' drops dead space")
        case .statement("ATTACH"):
            FirnError(.usage, "ATTACH is not available", advice: "name all files before the statements: firn sql a.firn b.firn 'SELECT …'")
        case .statement("REINDEX"):
            FirnError(
                .usage, "REINDEX is not available: firn sql does not change or write files",
                advice: "'firn index FILE TYPE.COLUMN' creates an index, which every commit maintains")
        case .statement(let word) where ["BEGIN", "COMMIT", "END", "RELEASE", "ROLLBACK", "SAVEPOINT"].contains(word):
            FirnError(
                .usage, "\(word) is not available: statements do not change files, so there are no transactions",
                advice: "omit it; each statement reads the same version of each file")
        case .statement("CREATE VIRTUAL TABLE"):
            FirnError(
                .usage, "CREATE VIRTUAL TABLE is not available",
                advice: "name files before the statements; results can go to a temporary table: CREATE TEMP TABLE t AS SELECT …")
        case .statement(let what): FirnError(.usage, "\(what) is not available")
        }
    }
}

@_cdecl("firn_sql_authorize")
func authorize(
    _ connection: UnsafeMutableRawPointer, _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ database: UnsafePointer<CChar>?
) -> Int32 {
    let connection: SQLConnection = Unmanaged.fromOpaque(connection).takeUnretainedValue()
    func text(_ name: UnsafePointer<CChar>?) -> String { name.map { String(cString: $0) } ?? "" }
    return connection.refuses(action, text(first), text(second), database: text(database)) ? 1 : 0
}
