import FirnBytes
import FirnExchange
import FirnSQL
import FirnTable

/// The rows of a statement as batches. In SQL each value has its own type, so the columns have type any; for CSV they are text. Bools of a
/// table are bools, and its collections and objects are JSON in JSON.
final class SQLRows {
    private let statement: SQLStatement
    private static let batchSize = 1000
    /// A batch ends with the row at which its texts and blobs reach this number of bytes.
    private static let batchBytes = 4 << 20
    /// The number of copies of a long value in memory while its row is written.
    private static let copies = 6
    /// The memory charged for the values of the batch, if they are long.
    private let charge = MemoryCharge(.process)
    private(set) var batch = Batch(columns: [])
    private(set) var isEmpty = true
    let type: TypeSchema
    /// The type for text tables: columns that have only numbers in the first rows are numbers, and are aligned to the right.
    private(set) var shownType: TypeSchema

    /// The text format of the rows: nil for a table, and for formats with types.
    private let format: FormatName?
    private var isText: Bool { format == .csv || format == .tsv }
    /// The origins of the columns whose values get the type of their origin.
    private let origins: [SQLOrigin?]
    private let isTyped: Bool

    /// Rows for a format with types: each column has the type that `survey` found.
    init(_ statement: SQLStatement, _ survey: SQLSurvey) {
        self.statement = statement
        (format, isTyped) = (nil, true)
        origins = survey.origins
        var names = DistinctNames()
        type = TypeSchema(
            "result",
            columns: zip(statement.columns, survey.columns).map { name, column in
                var column = column
                column.name = names.add(name.isEmpty ? "column" : name)
                return column
            })
        shownType = type
    }

    /// Rows for a table, or for a text format.
    init(_ statement: SQLStatement, as format: FormatName?) {
        self.statement = statement
        (self.format, isTyped) = (format, false)
        origins = statement.origins
        let isText = format == .csv || format == .tsv
        // Readers of JSON keep one of several members with the same name.
        var names = DistinctNames()
        let columns = format == .json || format == .ndjson ? statement.columns.map { names.add($0) } : statement.columns
        type = TypeSchema(
            "result",
            columns: columns.map { ColumnSchema($0, ColumnType(isText ? .string : .any, optional: true), writesNull: true) })
        shownType = type
    }

    /// The values of a row as a row of `batch`.
    private func append(_ value: (Int) -> Value) throws(FirnError) {
        for i in batch.columns.indices {
            var value = value(i)
            if let origin = origins[i] {
                if isTyped {
                    guard let typed = origin.value(value) else { throw SQLSurvey.changed(type.columns[i].name) }
                    value = typed
                } else {
                    value = origin.shown(value, inJSON: format == .json || format == .ndjson) ?? value
                }
            }
            if isText { value = value.asText }
            guard batch.columns[i].append(value) || batch.columns[i].append(value.asReal) else {
                throw SQLSurvey.changed(type.columns[i].name)
            }
        }
        batch.count += 1
    }

    /// Takes some rows into `batch`.
    func take(_ rows: ArraySlice<[Value]>) throws(FirnError) {
        batch = Batch(columns: type.columns.map { Column($0.type) })
        for row in rows { try append { row[$0] } }
    }

    /// Reads the next rows into `batch`. Returns false if there are none.
    func fill() throws(FirnError) -> Bool {
        batch = Batch(columns: type.columns.map { Column($0.type) })
        var held = 0
        while batch.count < SQLRows.batchSize, held < SQLRows.batchBytes, try statement.step() {
            held += batch.columns.indices.reduce(0) { $0 + statement.byteCount($1) }
            try hold(held)
            try append(statement.value)
        }
        guard batch.count > 0 else { return false }
        if isEmpty {
            for i in batch.columns.indices where (0..<batch.count).allSatisfy({ batch.columns[i].value(at: $0).isNumberOrNull }) {
                shownType.columns[i].type.kind = .double
            }
        }
        isEmpty = false
        return true
    }
}

/// The types of the columns of a result, for formats in which a column has one type: that of the column of a table that it shows, or of all
/// its values. SQL has a type for each value, so all rows are read once.
struct SQLSurvey {
    /// The columns, without their names.
    private(set) var columns: [ColumnSchema]
    /// The origins of the columns whose values all have the type of their origin.
    private(set) var origins: [SQLOrigin?]

    /// The rows of the statement, if they fit in the memory that the caller granted.
    private(set) var rows: [[Value]]?
    /// The memory of a value, without its text or bytes.
    private static let valueBytes = 40

    /// Reads the rows of a statement.
    /// - Parameter kept: The number of bytes of rows that are kept, so that a small result is not computed again.
    init(_ statement: SQLStatement, keeping kept: Int = 0) throws(FirnError) {
        var left = kept
        rows = kept > 0 ? [] : nil
        var kinds = statement.columns.map { _ in Set<ScalarKind>() }, isExact = statement.columns.map { _ in true }
        origins = statement.origins
        while try statement.step() {
            if rows != nil {
                left -= kinds.indices.reduce(32) { $0 + SQLSurvey.valueBytes + statement.byteCount($1) }
                if left > 0 { rows?.append(kinds.indices.map { statement.value($0) }) } else { rows = nil }
            }
            for i in kinds.indices {
                let value = statement.value(i)
                if let origin = origins[i], origin.value(value) == nil { origins[i] = nil }
                switch value {
                case .int(let x):
                    kinds[i].insert(.int)
                    if Int64(exactly: Double(x)) != x { isExact[i] = false }
                case .double: kinds[i].insert(.double)
                case .string: kinds[i].insert(.string)
                case .data: kinds[i].insert(.data)
                default: break
                }
            }
        }
        columns = zip(kinds, isExact).map { kinds, isExact in
            // Numbers of both kinds are doubles if these have the same values.
            let kind = kinds == [.int, .double] && isExact ? .double : kinds.count > 1 ? .any : kinds.first ?? .string
            return ColumnSchema("", ColumnType(kind, optional: true))
        }
        for (i, origin) in origins.enumerated() { if let origin { columns[i] = origin.schema } }
    }

    /// The error for a value that was not there when the rows were read first.
    static func changed(_ column: String) -> FirnError {
        FirnError(
            .usage, "the column \"\(column)\" has values of other types when the statement runs again",
            advice: "store the rows in a temporary table first: CREATE TEMP TABLE t AS SELECT …; SELECT * FROM t")
    }
}

extension SQLRows {
    private func hold(_ bytes: Int) throws(FirnError) {
        let wanted = bytes > SQLRows.batchBytes ? bytes * SQLRows.copies : 0
        if wanted > charge.bytes, !charge.take(wanted - charge.bytes) {
            throw FirnError.beyondMemory("a row of the result", wanted - charge.bytes, .process)
        }
    }
}

extension Value {
    /// The value as a cell of CSV. Bytes are written in base64, as in other columns.
    fileprivate var asText: Value {
        switch self {
        case .int(let x): return .string(String(x))
        case .bool(let x): return .string(x ? "true" : "false")
        case .double(let x):
            return .string(String(unsafeUninitializedCapacity: NumberText.room) { out in NumberText.writePlain(x, to: out.baseAddress!) })
        case .data(let x):
            var text: [UInt8] = []
            Base64.append(x, to: &text)
            return .string(String(decoding: text, as: UTF8.self))
        default: return self
        }
    }

    fileprivate var asReal: Value { if case .int(let x) = self { .double(Double(x)) } else { self } }

    fileprivate var isNumberOrNull: Bool {
        switch self {
        case .int, .double, .null: true
        default: false
        }
    }
}
