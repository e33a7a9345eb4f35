import CFirn
import FirnBytes
import FirnChange
import FirnDatabase
import FirnExchange
import FirnTable

extension CTable {
    /// Returns the value of a key's column that a caller passed. Texts are also dates, decimals, UUIDs and object ids.
    fileprivate func value(_ given: firn_value, for column: ColumnSchema) throws(FirnError) -> Value {
        let value = try CTable.value(given, column)
        guard let value else {
            throw FirnError(
                .usage, "the value \(CTable.shown(given)) for column \"\(column.name)\" is not \(column.type.name)", at: .init(file: path))
        }
        return value
    }

    /// Returns a value for a message.
    private static func shown(_ given: firn_value) -> String {
        let maximum = 60
        switch firn_kind(UInt32(bitPattern: given.kind)) {
        case FIRN_BOOL: return given.integer != 0 ? "true" : "false"
        case FIRN_INT: return "\(given.integer)"
        case FIRN_DOUBLE: return "\(given.real)"
        case FIRN_TEXT:
            let text = String(decoding: UnsafeRawBufferPointer(start: given.bytes, count: given.length), as: UTF8.self)
            return JSONString.quoted(text.count > maximum ? String(text.prefix(maximum)) + "…" : text)
        default: return "of \(given.length) bytes"
        }
    }

    private static func value(_ given: firn_value, _ column: ColumnSchema) throws(FirnError) -> Value? {
        func bytes() throws(FirnError) -> [UInt8] {
            guard given.length == 0 || given.bytes != nil else { throw FirnError(.usage, "the bytes of a value are NULL") }
            return Array(UnsafeRawBufferPointer(start: given.bytes, count: given.length))
        }
        let kind = column.type.kind, isAny = kind == .any
        switch firn_kind(UInt32(bitPattern: given.kind)) {
        case FIRN_NULL: return .null
        case FIRN_BOOL: return kind == .bool || isAny ? .bool(given.integer != 0) : nil
        case FIRN_INT:
            switch kind {
            case .int, .any: return .int(given.integer)
            case .link: return .link(given.integer)
            case .double: return .double(Double(given.integer))
            case .float: return .float(Float(given.integer))
            case .decimal: return .decimal(Decimal(given.integer))
            default: return nil
            }
        case FIRN_DOUBLE:
            switch kind {
            case .double, .any: return .double(given.real)
            case .float: return .float(Float(given.real))
            default: return nil
            }
        case FIRN_BINARY: return kind == .data || isAny ? .data(try bytes()) : nil
        case FIRN_TEXT:
            guard let text = String(validating: try bytes(), as: UTF8.self) else { throw FirnError(.usage, "a text is not UTF-8") }
            switch kind {
            case .string, .any: return .string(text)
            case .uuid: return Identifier(uuidText: text).map { .uuid($0) }
            case .objectID: return Identifier(objectIDText: text).map { .objectID($0) }
            case .decimal: return Decimal(text).map { .decimal($0) }
            case .date:
                let value = ExactJSON.value(Array("{\"$date\":\(JSONString.quoted(text))}".utf8))
                if case .date? = value { return value }
                return nil
            default: return nil
            }
        default: throw FirnError(.usage, "a value has the unknown kind \(given.kind)")
        }
    }

    /// Returns the id of the row with a key that a caller passed.
    /// - Throws: `.notFound` if there is none, `.usage` if the key does not fit.
    func find(_ key: UnsafePointer<firn_value>?, _ count: Int) throws(FirnError) -> Int64 {
        let type = table.type
        guard !type.key.isEmpty else { throw FirnError(.usage, "type \"\(type.name)\" has no primary key", at: .init(file: path)) }
        guard count == type.key.count, let key else {
            let names = type.key.map { "\"\(type.columns[$0].name)\"" }.joined(separator: ", ")
            throw FirnError(.usage, "the key of type \"\(type.name)\" has the columns \(names)", at: .init(file: path))
        }
        var values: [Value] = []
        for (i, column) in type.key.enumerated() { values.append(try value(key[i], for: type.columns[column])) }
        do throws(Damage) {
            if let found = try table.find(key: values) { return found }
        } catch { throw FirnError(error, in: path) }
        throw FirnError(.notFound, "type \"\(type.name)\" has no row with this key", at: .init(file: path))
    }

    /// Returns the values of a row; nil if it does not exist.
    func values(_ rowID: Int64, _ positions: [Int]) throws(FirnError) -> [Value]? {
        do throws(Damage) {
            guard let location = try table.location(of: rowID) else { return nil }
            let segment = try table.segment(location.segment)
            var values: [Value] = []
            for position in positions { values.append(try segment.column(position).value(at: location.position)) }
            return values
        } catch { throw FirnError(error, in: path) }
    }

    /// Appends the values of a row as a JSON array.
    static func append(_ values: [Value], _ columns: [ColumnSchema], _ schema: Schema, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "["))
        for (i, value) in values.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            ExactJSON.append(value.named(columns[i].type, in: schema, unwraps: true), to: &out)
        }
        out.append(UInt8(ascii: "]"))
    }
}

/// `firn_find` of `firn.h`.
@_cdecl("firn_find")
public func firnFind(
    _ table: OpaquePointer?, _ key: UnsafePointer<firn_value>?, _ count: Int, _ row: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let found = try CTable.reading(table, "table").find(key, count)
        row?.pointee = found
    }
}

/// `firn_row_text` of `firn.h`.
@_cdecl("firn_row_text")
public func firnRowText(
    _ table: OpaquePointer?, _ rowID: Int64, _ columns: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ length: UnsafeMutablePointer<Int>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let reader = try CTable.reading(table, "table"), table = reader.table
        let positions = try reader.positions(try texts(columns, count, "the columns"))
        guard let values = try reader.values(rowID, positions) else {
            throw FirnError(.notFound, "type \"\(table.type.name)\" has no row \(rowID)", at: .init(file: reader.path))
        }
        var text: [UInt8] = []
        CTable.append(values, positions.map { table.type.columns[$0] }, table.schema, to: &text)
        out?.pointee = CText.copy(text)
        length?.pointee = text.count
    }
}

/// Reads rows as JSON.
final class CCursor: CReader {
    let process = MakingProcess()
    private let advance: () throws(FirnError) -> [UInt8]?

    /// Texts that another function makes.
    init(_ advance: @escaping () throws(FirnError) -> [UInt8]?) { self.advance = advance }

    /// The maximum number of rows of a text.
    private static let maximumRows = 1024

    init(_ table: CTable, _ request: ScanRequest) throws(FirnError) {
        var request = request
        request.coded = []
        // With a predicate, each piece of a segment would test all of its rows.
        if request.filter == nil { request.vectors = 1 }
        let columns = request.columns.map { table.table.type.columns[$0] }, schema = table.table.schema
        let scan = try TableScan<[UInt8]>(table.table, request, path: table.path) { (rows, _) throws(FirnError) in
            let batch = rows.batch
            var out: [[UInt8]] = []
            for start in stride(from: 0, to: batch.count, by: CCursor.maximumRows) {
                var text = [UInt8(ascii: "[")]
                for row in start..<min(start + CCursor.maximumRows, batch.count) {
                    if row > start { text.append(UInt8(ascii: ",")) }
                    CTable.append(batch.columns.map { $0.value(at: row) }, columns, schema, to: &text)
                }
                text.append(UInt8(ascii: "]"))
                out.append(text)
            }
            return out
        }
        advance = { () throws(FirnError) in try scan.next() }
    }

    func next() throws(FirnError) -> [UInt8]? { try advance() }
}

/// `firn_cursor_open` of `firn.h`.
@_cdecl("firn_cursor_open")
public func firnCursorOpen(
    _ table: OpaquePointer?, _ options: UnsafePointer<firn_scan_options>?, _ out: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let table = try CTable.reading(table, "table")
        out?.pointee = try CCursor(table, try table.request(options)).retained
    }
}

/// `firn_cursor_next` of `firn.h`.
@_cdecl("firn_cursor_next")
public func firnCursorNext(
    _ cursor: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ length: UnsafeMutablePointer<Int>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let text = try CCursor.reading(cursor, "cursor").next()
        out?.pointee = text.map { CText.copy($0) }
        length?.pointee = text?.count ?? 0
    }
}

/// `firn_cursor_free` of `firn.h`.
@_cdecl("firn_cursor_free")
public func firnCursorFree(_ cursor: OpaquePointer?) { CCursor.releaseHere(cursor) }
