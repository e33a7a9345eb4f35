import CSQLite
import FirnBytes
import FirnDisk
import FirnThreads

// The functions that the C side of the module calls. Swift objects are retained while SQLite holds pointers to them.

/// A Swift object that SQLite holds.
typealias SQLHandle = UnsafeMutableRawPointer
/// Where a text for SQLite is put.
typealias SQLErrorText = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

func object<T: AnyObject>(_ pointer: SQLHandle) -> T { Unmanaged<T>.fromOpaque(pointer).takeUnretainedValue() }

func release<T: AnyObject>(_ pointer: SQLHandle?, _ type: T.Type) {
    if let pointer { Unmanaged<T>.fromOpaque(pointer).release() }
}

extension SQLContext {
    /// Passes an error to SQLite, with location, message and advice.
    func report(_ error: FirnError, _ out: SQLErrorText?) {
        lastError = error
        out?.pointee = sqlText(error.description + (error.advice.map { " (\($0))" } ?? ""))
    }

    /// Opens the table that `USING firn('people.firn', 'Person')` or `USING firn_table(3)` names.
    fileprivate func open(_ arguments: [String]) throws(FirnError) -> SQLVirtualTable {
        if arguments.first == SQLGroupTable.name { return SQLGroupTable(self) }
        let name = arguments.count > 2 ? arguments[2] : "", words = arguments.dropFirst(3).map(SQLContext.word)
        if arguments.first == "firn_table" {
            guard let number = words.first.flatMap({ Int($0) }), given.indices.contains(number) else {
                throw FirnError(.usage, "the module firn_table has no such table")
            }
            return try open(given[number].file, given[number].typeName, as: name)
        }
        guard let path = words.first, words.count <= 2 else {
            throw FirnError(
                .usage, "the module firn takes a file, and a type if the file has several",
                advice: "write USING firn('people.firn', 'Person')")
        }
        let file = try file(path: path), types = file.typeNames
        if words.count == 2 { return try open(file, words[1], as: name) }
        guard types.count == 1 else {
            throw FirnError(
                .usage, types.isEmpty ? "the file has no types" : "the file has several types: \(types.listed())",
                at: .init(file: path),
                advice: types.first.map { "name one: USING firn('\(path)', '\($0)'), or add all of them: SELECT firn_open('\(path)')" })
        }
        return try open(file, types[0], as: name)
    }

    /// Returns an argument of a module without its quotes.
    private static func word(_ text: String) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte >= 9 && byte <= 13 }
        var bytes = Array(text.utf8)[...]
        while bytes.first.map(isSpace) ?? false { bytes.removeFirst() }
        while bytes.last.map(isSpace) ?? false { bytes.removeLast() }
        guard bytes.count > 1, let mark = bytes.first, "'\"`".utf8.contains(mark), bytes.last == mark else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var out: [UInt8] = [], isSecond = false
        for byte in bytes.dropFirst().dropLast() {
            // Two quotes in a row are one quote.
            isSecond = byte == mark && !isSecond && out.last == mark
            if !isSecond { out.append(byte) }
        }
        return String(decoding: out, as: UTF8.self)
    }
}

/// Returns a copy of a text that SQLite frees.
func sqlText(_ text: String) -> UnsafeMutablePointer<CChar>? {
    var text = text
    return text.withUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self) { firn_sql_text($0.baseAddress, Int64($0.count)) } }
}

@_cdecl("firn_sql_table_open")
func tableOpen(
    _ context: SQLHandle, _ maximumColumns: Int32, _ count: Int32, _ arguments: UnsafePointer<UnsafePointer<CChar>?>,
    _ declaration: SQLErrorText,
    _ error: SQLErrorText?
) -> SQLHandle? {
    let context: SQLContext = object(context)
    do throws(FirnError) {
        let table = try context.open((0..<Int(count)).map { arguments[$0].map { String(cString: $0) } ?? "" })
        if let table = table as? SQLTable, table.columnCount > Int(maximumColumns) {
            throw FirnError(
                .unsupported,
                "type \"\(table.table.type.name)\" has \(table.columns.count) columns, and a table of SQLite has at most \(maximumColumns)",
                at: .init(file: table.file.name), advice: "use 'firn query', or copy the columns you need with 'firn convert --columns'")
        }
        declaration.pointee = sqlText(table.declaration)
        return Unmanaged.passRetained(table).toOpaque()
    } catch let fault {
        context.report(fault, error)
        return nil
    }
}

@_cdecl("firn_sql_table_close")
func tableClose(_ table: SQLHandle?) { release(table, SQLVirtualTable.self) }

@_cdecl("firn_sql_plan")
func tablePlan(_ table: SQLHandle, _ info: OpaquePointer, _ error: SQLErrorText?)
    -> Int32
{
    Int32((object(table) as SQLVirtualTable).plan(info) ? FIRN_SQL_OK : FIRN_SQL_CONSTRAINT)
}

@_cdecl("firn_sql_cursor_open")
func cursorOpen(
    _ table: SQLHandle, _ rows: UnsafeMutablePointer<firn_sql_rows>,
    _ error: SQLErrorText?
) -> SQLHandle? {
    let table: SQLVirtualTable = object(table)
    do throws(FirnError) { return Unmanaged.passRetained(try table.cursor(rows)).toOpaque() } catch let fault {
        table.context.report(fault, error)
        return nil
    }
}

@_cdecl("firn_sql_cursor_close")
func cursorClose(_ cursor: SQLHandle?) { release(cursor, SQLVirtualCursor.self) }

@_cdecl("firn_sql_filter")
func cursorFilter(
    _ cursor: SQLHandle, _ plan: Int32, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: SQLErrorText?
) -> Int32 {
    let cursor: SQLVirtualCursor = object(cursor)
    return cursor.answer(error) { () throws(FirnError) in try cursor.begin(Int(plan), values) }
}

@_cdecl("firn_sql_advance")
func cursorAdvance(_ cursor: SQLHandle, _ error: SQLErrorText?) -> Int32 {
    let cursor: SQLVirtualCursor = object(cursor)
    return cursor.answer(error) { () throws(FirnError) in try cursor.advance() }
}

@_cdecl("firn_sql_load")
func cursorLoad(_ cursor: SQLHandle, _ column: Int32, _ error: SQLErrorText?) -> Int32 {
    let cursor: SQLVirtualCursor = object(cursor)
    return cursor.answer(error) { () throws(FirnError) in try cursor.load(Int(column)) }
}

@_cdecl("firn_sql_context_release")
func contextRelease(_ context: SQLHandle?) { release(context, SQLContext.self) }

extension SQLVirtualCursor {
    fileprivate func answer(_ error: SQLErrorText?, _ body: () throws(FirnError) -> Void) -> Int32 {
        do throws(FirnError) {
            try body()
            return Int32(FIRN_SQL_OK)
        } catch let fault {
            context.report(fault, error)
            return Int32(FIRN_SQL_ERROR)
        }
    }
}

// MARK: Functions

/// `firn_open('people.firn')` creates a table for each type of a file, and `firn_open('people.firn', 'old_')` adds a prefix to the names.
/// The tables belong to the connection, as temporary tables do. The result is the number of tables.
@_cdecl("firn_sql_open_function")
func openFunction(
    _ context: SQLHandle, _ call: OpaquePointer, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    let context: SQLContext = object(context)
    func text(_ index: Int) -> String? {
        guard index < Int(count), let value = values?[index], case .text(let bytes) = SQLValue(value) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
    do throws(FirnError) {
        guard let path = text(0), count == 1 || text(1) != nil else {
            throw FirnError(.usage, "firn_open takes a file, and optionally a prefix for the names of its tables")
        }
        let file = try context.file(path: path)
        var names = NameTable()
        for type in file.typeNames {
            try context.execute(
                "CREATE VIRTUAL TABLE temp.\(SQLSpelling.name(names.unique((text(1) ?? "") + type))) USING firn(\(SQLSpelling.text(path)), \(SQLSpelling.text(type)))",
                firn_sql_context_db(call))
        }
        firn_sql_result_int(call, Int64(file.typeNames.count))
    } catch {
        context.report(error, nil)
        firn_sql_result_error(call, error.description + (error.advice.map { " (\($0))" } ?? ""))
    }
}

extension SQLContext {
    /// Executes statements and ignores their rows.
    func execute(_ sql: String, _ db: OpaquePointer?) throws(FirnError) {
        var message: UnsafeMutablePointer<CChar>?
        lastError = nil
        guard firn_sql_execute(db, sql, &message) != Int32(FIRN_SQL_OK) else { return }
        defer { firn_sql_free(message) }
        throw lastError ?? FirnError(.usage, message.map { String(cString: $0) } ?? "SQLite failed")
    }

    /// Adds the modules for the tables of the command and for groups, which open no files.
    func registerTables(_ db: OpaquePointer?) -> Bool {
        firn_sql_add_module(db, "firn_table", Int32(FIRN_SQL_TABLES), retained()) == Int32(FIRN_SQL_OK)
            && firn_sql_add_module(db, SQLGroupTable.name, Int32(FIRN_SQL_GROUPS), retained())
                == Int32(FIRN_SQL_OK)
    }

    /// A reference for SQLite, which `firn_sql_context_release` releases.
    func retained() -> SQLHandle { Unmanaged.passRetained(self).toOpaque() }

    /// Adds the module and the functions of the extension, which open files by path.
    func registerFiles(_ db: OpaquePointer?) -> Bool {
        var code = firn_sql_add_module(db, "firn", Int32(FIRN_SQL_FILES), retained())
        for arguments: Int32 in [1, 2] {
            code |= firn_sql_add_function(db, "firn_open", arguments, retained())
        }
        return code | firn_sql_add_collation(db, SQLDecimal.collation) == Int32(FIRN_SQL_OK)
    }
}

/// The entry point of the loadable extension.
@_cdecl("firn_sql_extend")
func extend(_ db: OpaquePointer?, _ error: SQLErrorText?) -> Int32 {
    let context = SQLContext(threads: Processors.count, keepsTables: false)
    if context.registerFiles(db) { return Int32(FIRN_SQL_OK) }
    error?.pointee = sqlText("firn could not add its functions")
    return Int32(FIRN_SQL_ERROR)
}
