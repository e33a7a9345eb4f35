import CSQLiteLibrary
import FirnBytes
import FirnDisk
import FirnExchange

/// An open database. Used by one thread at a time.
final class SQLiteConnection {
    /// The name of the file in errors.
    let name: String
    private let db: OpaquePointer
    /// For functions of this module.
    var pointer: OpaquePointer { db }
    /// Whether the pages of the file can be read without SQLite: nothing can change them, and none is in a log.
    let readsPages: Bool
    /// How the same version can be opened again; nil if it cannot.
    private let siblingURI: String?
    /// The path and the state of a file that is read without locks, to find out whether it was changed.
    private var watched: (path: String, stamp: UInt64)?

    /// Opens a database for reading, and begins a transaction, so that all statements see the same version.
    ///
    /// A file is opened read-only. If its format is that of a write-ahead log and there is no log, no process has it open: then it is also opened as
    /// immutable, because SQLite would otherwise create a log and shared memory next to it. Compressed input, and pipes, are held in memory.
    init(reading input: Input, _ budget: MemoryBudget) throws(FirnError) {
        name = input.name
        firn_sqlite_limit_memory(Int64(clamping: budget.limit))
        var opened: OpaquePointer?, code: Int32, path: String?, uri: String?
        let isFile = input.compression == .none && input.path != "-" && Paths.kind(input.path) == .file
        let header = try SQLiteFormat.header(try input.peek(SQLiteFormat.headerBytes), size: isFile ? input.totalBytes : nil, name: name)
        if isFile {
            let absolute = Paths.absolute(input.path)
            let isImmutable = header?.hasLog == true && !Paths.exists(absolute + "-wal")
            if isImmutable { watched = (absolute, firn_sqlite_stamp(absolute)) }
            path = absolute
            let chosen = SQLiteFormat.uri(absolute, isImmutable ? "mode=ro&immutable=1" : "mode=ro")
            // Without a log, no other process can change the file while this transaction is open.
            if isImmutable || header?.hasLog == false { uri = chosen }
            code = firn_sqlite_open(chosen, &opened)
        } else {
            let bytes = try input.readToEnd()
            _ = try SQLiteFormat.header(Array(bytes.prefix(SQLiteFormat.headerBytes)), size: UInt64(bytes.count), name: name)
            // SQLite's copy counts towards its own limit.
            guard budget.take(bytes.count) else {
                throw FirnError.beyondMemory("the uncompressed database", bytes.count, budget, at: .init(file: name))
            }
            budget.release(bytes.count)
            code = bytes.withUnsafeBufferPointer { firn_sqlite_open_bytes($0.baseAddress, Int64($0.count), &opened) }
        }
        guard let opened else { throw FirnError(.outOfMemory, "there is no memory for SQLite", at: .init(file: name)) }
        db = opened
        siblingURI = uri
        readsPages = uri != nil
        if code == FIRN_SQLITE_OK { code = firn_sqlite_execute(db, "BEGIN; SELECT count(*) FROM sqlite_master") }
        guard code == FIRN_SQLITE_OK else {
            let failure = error(code)
            firn_sqlite_close(db)
            guard let path, [FIRN_SQLITE_READ_ONLY, FIRN_SQLITE_CANNOT_OPEN].contains(Int(code & 0xFF)) else { throw failure }
            throw SQLiteConnection.unfinished(path, name, failure)
        }
        byteCount = try measure()
    }

    /// Opens the same version of the same file again.
    private init?(sibling uri: String, of other: SQLiteConnection) {
        (name, byteCount, siblingURI, readsPages) = (other.name, other.byteCount, nil, other.readsPages)
        var opened: OpaquePointer?
        let code = firn_sqlite_open(uri, &opened)
        guard let opened else { return nil }
        db = opened
        if code != FIRN_SQLITE_OK || firn_sqlite_execute(db, "BEGIN; SELECT count(*) FROM sqlite_master") != FIRN_SQLITE_OK { return nil }
    }

    /// Returns another connection to the same version of the database, for another thread; nil if there can be none.
    func sibling() -> SQLiteConnection? { siblingURI.flatMap { SQLiteConnection(sibling: $0, of: self) } }

    /// Creates a database in an empty file. `name` is that of the target.
    init(writing path: String, named name: String) throws(FirnError) {
        self.name = name
        siblingURI = nil
        readsPages = false
        var opened: OpaquePointer?
        let code = firn_sqlite_create(path, &opened)
        guard let opened else { throw FirnError(.outOfMemory, "there is no memory for SQLite", at: .init(file: name)) }
        db = opened
        guard code == FIRN_SQLITE_OK else {
            let failure = error(code)
            firn_sqlite_close(db)
            throw failure
        }
    }

    deinit { firn_sqlite_close(db) }

    /// The error if a journal or log must be recovered, which needs writing; otherwise `failure`.
    private static func unfinished(_ path: String, _ name: String, _ failure: FirnError) -> FirnError {
        for (ending, what) in [
            ("-journal", "an unfinished transaction must be rolled back"), ("-wal", "its write-ahead log must be recovered"),
        ]
        where Paths.exists(path + ending) {
            return FirnError(
                .locked, "\(what), which changes files next to it: \(failure.message)", at: .init(file: name),
                advice: "open it once with the program that wrote it, or: sqlite3 FILE 'PRAGMA integrity_check'")
        }
        return failure
    }

    /// Throws if a file that is read without locks was changed.
    func checkUnchanged() throws(FirnError) {
        guard let watched, firn_sqlite_stamp(watched.path) != watched.stamp || Paths.exists(watched.path + "-wal") else { return }
        throw FirnError(.locked, "another process wrote to the database while it was read", at: .init(file: name), advice: "run it again")
    }

    /// The size of the database in bytes, with changes that are only in its write-ahead log.
    private(set) var byteCount: Int64 = 0

    private func measure() throws(FirnError) -> Int64 {
        func number(_ pragma: String) throws(FirnError) -> Int64 {
            let statement = try statement("PRAGMA main.\(pragma)", about: "the header")
            return try statement.step() ? statement.int(0) : 0
        }
        let (bytes, overflow) = try number("page_count").multipliedReportingOverflow(by: try number("page_size"))
        return overflow ? .max : bytes
    }

    /// The maximum number of columns of a table.
    var maximumColumns: Int { Int(firn_sqlite_maximum_columns(db)) }

    func execute(_ sql: String, about what: String? = nil) throws(FirnError) {
        let code = firn_sqlite_execute(db, sql)
        if code != FIRN_SQLITE_OK { throw error(code, about: what) }
    }

    /// `what`: the subject of errors, such as `table "people"`.
    func statement(_ sql: String, about what: String? = nil) throws(FirnError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = firn_sqlite_prepare(db, sql, Int64(sql.utf8.count), &statement)
        guard code == FIRN_SQLITE_OK, let statement else { throw error(code, about: what) }
        return SQLiteStatement(statement, self, about: what)
    }

    /// Returns the error for a result. `what` is the table or column that it concerns.
    func error(_ code: Int32, about what: String? = nil) -> FirnError {
        let known = String(cString: firn_sqlite_words(code)), last = String(cString: firn_sqlite_message(db))
        let message = (what.map { "\($0): " } ?? "") + (last == known || last == "not an error" ? known : last)
        let at = FirnError.Location(file: name)
        switch Int(code & 0xFF) {
        case FIRN_SQLITE_NOT_A_DATABASE:
            return FirnError(.notThisFormat, message, at: at, advice: "Firn does not read encrypted SQLite databases")
        case FIRN_SQLITE_BUSY, FIRN_SQLITE_LOCKED:
            return FirnError(.locked, message, at: at, advice: "another process is writing to it: run it again when that has finished")
        case FIRN_SQLITE_NO_MEMORY, FIRN_SQLITE_TOO_BIG: return FirnError(.outOfMemory, message, at: at, advice: FirnError.memoryAdvice)
        case FIRN_SQLITE_INPUT_OUTPUT, FIRN_SQLITE_CANNOT_OPEN, FIRN_SQLITE_PERMISSION, FIRN_SQLITE_READ_ONLY:
            return FirnError(.inputOutput, message, at: at)
        case FIRN_SQLITE_FULL: return FirnError(.noSpace, message, at: at)
        case FIRN_SQLITE_CONSTRAINT: return FirnError(.duplicateKey, message, at: at)
        case FIRN_SQLITE_ERROR
        where ["no such module", "no such function", "no such collation", "unsafe use"].contains(where: last.hasPrefix):
            return FirnError(.unsupported, message, at: at, advice: "Firn uses SQLite's own modules, functions and collations only")
        default:
            return FirnError(.damaged, message, at: at, advice: "open a backup of the file; 'sqlite3 FILE .recover' can save some of it")
        }
    }
}

/// A statement, for single rows. Used by one thread at a time.
final class SQLiteStatement {
    let pointer: OpaquePointer
    private let connection: SQLiteConnection
    private let what: String?

    fileprivate init(_ pointer: OpaquePointer, _ connection: SQLiteConnection, about what: String?) {
        self.pointer = pointer
        self.connection = connection
        self.what = what
    }

    deinit { firn_sqlite_finalize(pointer) }

    /// Returns whether there is another row.
    func step() throws(FirnError) -> Bool {
        let code = firn_sqlite_step(pointer)
        if code == FIRN_SQLITE_ROW { return true }
        if code == FIRN_SQLITE_DONE { return false }
        throw connection.error(code, about: what)
    }

    func reset() { firn_sqlite_reset(pointer) }

    func bind(_ index: Int32, _ text: String?) {
        guard var text else { return firn_sqlite_bind_null(pointer, index) }
        text.withUTF8 { firn_sqlite_bind_text(pointer, index, $0.baseAddress, Int64($0.count)) }
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { firn_sqlite_bind_blob(pointer, index, $0.baseAddress, Int64($0.count)) }
    }

    func isNull(_ column: Int32) -> Bool { firn_sqlite_is_null(pointer, column) }
    func isInt(_ column: Int32) -> Bool { firn_sqlite_is_int(pointer, column) }
    func int(_ column: Int32) -> Int64 { firn_sqlite_int(pointer, column) }

    func bytes(_ column: Int32) -> [UInt8] {
        var count: Int64 = 0
        return firn_sqlite_bytes(pointer, column, &count).map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) } ?? []
    }

    /// Returns a text.
    /// - Throws: `.damaged` if it is not UTF-8, as the names of tables and columns must be.
    func text(_ column: Int32) throws(FirnError) -> String {
        guard let text = String(validating: bytes(column), as: UTF8.self) else {
            throw FirnError(.damaged, "\(what.map { "\($0): " } ?? "")a name in the schema is not UTF-8", at: .init(file: connection.name))
        }
        return text
    }
}
