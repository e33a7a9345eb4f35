import CSQLite
import FirnBytes
import FirnTable

/// A prepared statement. It is finalized when the object is released.
package final class SQLStatement {
    /// The statement as written.
    private let original: OpaquePointer
    /// The statement that runs.
    private var statement: OpaquePointer
    /// A statement with the same rows whose groups the engine computes, until the first step decides whether it runs.
    private var rewriting: SQLRewriting?
    /// The rewritten statement that runs.
    private var running: SQLRewriting?
    /// Whether the engine computes the groups of the statement. Known after the first step.
    package var runsInEngine: Bool { running != nil }
    /// The files whose versions must not change while it runs.
    private var held: [SQLFile] = []
    private let connection: SQLConnection
    private var isDone = false
    /// The bound values by number, from 1.
    private(set) var bound: [Int: Value] = [:]
    package let columns: [String]
    /// The columns of tables that the columns of the result show; nil for expressions.
    package let origins: [SQLOrigin?]
    /// The text of the statement.
    package var text: String { firn_sql_statement_text(original).map { String(cString: $0) } ?? "" }

    init(_ statement: OpaquePointer, _ connection: SQLConnection, rewriting: SQLRewriting? = nil) {
        original = statement
        self.statement = statement
        self.rewriting = rewriting
        self.connection = connection
        columns = (0..<firn_sql_column_count(statement)).map { firn_sql_column_name(statement, $0).map { String(cString: $0) } ?? "" }
        origins = connection.origins(statement, columns: columns.count)
        isListing = columns.count == 8 && columns[0] == "addr" && columns[1] == "opcode" && columns[5] == "p4"
    }

    deinit {
        firn_sql_finalize(original)
        release()
    }

    private func release() {
        for file in held { file.end() }
        held = []
    }

    /// The names of the parameters, with prefix: `:name`, `?1` and so on.
    package var parameters: [String] {
        (0..<max(0, firn_sql_parameter_count(original))).map {
            firn_sql_parameter_name(original, $0 + 1).map { String(cString: $0) } ?? "?\($0 + 1)"
        }
    }

    package func bind(_ value: Value, to index: Int) throws(FirnError) {
        bound[index + 1] = value
        try bind(value, to: index, of: original)
        if let rewriting, index < Int(firn_sql_parameter_count(rewriting.statement)) { try bind(value, to: index, of: rewriting.statement) }
    }

    private func bind(_ value: Value, to index: Int, of statement: OpaquePointer) throws(FirnError) {
        let at = Int32(index + 1), code: Int32
        switch value {
        case .int(let x): code = firn_sql_bind_int(statement, at, x)
        case .double(let x): code = firn_sql_bind_real(statement, at, x)
        case .string(var x):
            code = x.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    firn_sql_bind_text(statement, at, $0.baseAddress ?? UnsafePointer(bitPattern: 1), Int64($0.count))
                }
            }
        case .data(let x): code = firn_sql_bind_blob(statement, at, x, Int64(x.count))
        case .null: return
        default: trap("bind takes ints, doubles, strings and data")
        }
        guard code == Int32(FIRN_SQL_OK) else { throw connection.failure() }
    }

    /// Steps to the next row. Returns false if there is none.
    package func step() throws(FirnError) -> Bool {
        // SQLite would run the statement again.
        guard !isDone else { return false }
        if let rewriting {
            self.rewriting = nil
            if let hasRow = try begin(rewriting) { return hasRow }
            running = nil
            statement = original
            release()
            connection.forgetErrors()
        }
        switch stepOnce() {
        case FIRN_SQL_ROW: return true
        case FIRN_SQL_DONE:
            isDone = true
            release()
            return false
        default: throw connection.failure()
        }
    }

    /// Returns all rows.
    func allRows() throws(FirnError) -> [[Value]] {
        var rows: [[Value]] = []
        while try step() { rows.append(columns.indices.map(value)) }
        return rows
    }

    private func stepOnce() -> Int {
        running == nil ? Int(firn_sql_step(statement)) : connection.readingGroups { Int(firn_sql_step(statement)) }
    }

    /// Steps a rewritten statement to its first row. Returns nil if the statement must run as written, which includes all errors: it reports
    /// them, or needs less memory.
    private func begin(_ rewriting: SQLRewriting) throws(FirnError) -> Bool? {
        running = rewriting
        for source in rewriting.groupings.flatMap(\.scope.sources) {
            do { try source.table.begin() } catch { return nil }
            held.append(source.table.file)
        }
        guard rewriting.groupings.allSatisfy({ $0.prepare(bound) }) else { return nil }
        if rewriting.runsFirst {
            do { for grouping in rewriting.groupings { _ = try grouping.groups(nil) } } catch {
                if error.code == .interrupted {
                    connection.context.lastError = error
                    throw connection.failure()
                }
                return nil
            }
        }
        statement = rewriting.statement
        switch stepOnce() {
        case FIRN_SQL_ROW: return true
        case FIRN_SQL_DONE:
            isDone = true
            release()
            return false
        case FIRN_SQL_INTERRUPT: throw connection.failure()
        default:
            do { try connection.context.checkStopped() } catch { throw connection.failure() }
            return nil
        }
    }

    /// Whether the columns are those of EXPLAIN, whose rows contain memory addresses of virtual tables. The addresses must not be printed.
    private let isListing: Bool

    /// Returns the length in bytes of a text or blob of the row; 0 for other values.
    package func byteCount(_ column: Int) -> Int {
        let at = Int32(column)
        guard [FIRN_SQL_TEXT, FIRN_SQL_BLOB].contains(Int(firn_sql_column_type(statement, at))) else { return 0 }
        var count: Int64 = 0
        _ = firn_sql_column_bytes(statement, at, &count)
        return Int(count)
    }

    /// Returns a value of the row.
    package func value(_ column: Int) -> Value {
        let at = Int32(column)
        var count: Int64 = 0
        switch Int(firn_sql_column_type(statement, at)) {
        case FIRN_SQL_INT: return .int(firn_sql_column_int(statement, at))
        case FIRN_SQL_REAL: return .double(firn_sql_column_real(statement, at))
        case FIRN_SQL_TEXT:
            let base = firn_sql_column_bytes(statement, at, &count)
            let text = String(decoding: UnsafeBufferPointer(start: base, count: Int(count)), as: UTF8.self)
            return .string(isListing && text.hasPrefix("vtab:") ? "vtab" : text)
        case FIRN_SQL_BLOB:
            let base = firn_sql_column_bytes(statement, at, &count)
            return .data(Array(UnsafeBufferPointer(start: base, count: Int(count))))
        default: return .null
        }
    }
}
