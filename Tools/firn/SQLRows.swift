import FirnBytes
import FirnExchange
import FirnSQL
import FirnTable

/// The rows of a statement as batches. In SQL each value has its own type, so the columns have type any; for CSV they are text.
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

    private let isText: Bool

    /// Rows for a format with types: each column has the type that `survey` found.
    init(_ statement: SQLStatement, _ survey: SQLSurvey) {
        self.statement = statement
        isText = false
        var names = DistinctNames()
        type = TypeSchema(
            "result", columns: zip(statement.columns, survey.types).map { ColumnSchema(names.add($0.isEmpty ? "column" : $0), $1) })
        shownType = type
    }

    init(_ statement: SQLStatement, asText isText: Bool) {
        self.statement = statement
        self.isText = isText
        type = TypeSchema(
            "result",
            columns: statement.columns.map { ColumnSchema($0, ColumnType(isText ? .string : .any, optional: true), writesNull: true) })
        shownType = type
    }

    /// The values of a row as a row of `batch`.
    private func append(_ value: (Int) -> Value) throws(FirnError) {
        for i in batch.columns.indices {
            let value = value(i)
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
            try append { isText ? statement.value($0).asText : statement.value($0) }
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

/// The types of the columns of a result, for formats in which a column has one type. SQL has a type for each value, so all rows are read once.
struct SQLSurvey {
    private(set) var types: [ColumnType]

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
        while try statement.step() {
            if rows != nil {
                left -= kinds.indices.reduce(32) { $0 + SQLSurvey.valueBytes + statement.byteCount($1) }
                if left > 0 { rows?.append(kinds.indices.map { statement.value($0) }) } else { rows = nil }
            }
            for i in kinds.indices {
                switch statement.value(i) {
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
        types = zip(kinds, isExact).map { kinds, isExact in
            // Numbers of both kinds are doubles if these have the same values.
            let kind = kinds == [.int, .double] && isExact ? .double : kinds.count > 1 ? .any : kinds.first ?? .string
            return ColumnType(kind, optional: true)
        }
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
