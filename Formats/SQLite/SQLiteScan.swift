import CSQLiteLibrary
import FirnBytes
import FirnTable

/// Reads the rows of one table in batches. Used by one thread at a time.
final class SQLiteScan {
    private let connection: SQLiteConnection
    private let table: SQLiteTable
    private let plans: [SQLitePlan]
    private let source: Source
    private let batch: UnsafeMutablePointer<firn_sqlite_batch>
    private let hasRowID: Bool
    private let budget: MemoryBudget
    private let expected: Int
    private var rows = 0
    private var hasEnded = false

    private enum Source {
        case statement(SQLiteStatement)
        case tree(SQLiteTree)
    }

    /// A batch has about so many bytes of text.
    private static let batchBytes: Int64 = 16 << 20
    /// The approximate memory of the values of a batch without their text, with that of the arrays that they are copied to.
    private static let valueBytes = 64 << 20

    init(_ origin: SQLiteSource, _ connection: SQLiteConnection, budget: MemoryBudget) throws(FirnError) {
        let table = origin.table, plans = origin.plans
        // The survey has counted the rows.
        expected = origin.rows
        self.connection = connection
        self.table = table
        self.plans = plans
        self.budget = budget
        let selection = table.selection
        hasRowID = selection.hasRowID
        if origin.readsPages, let tree = SQLiteTree(table, connection) {
            source = .tree(tree)
        } else {
            source = .statement(try connection.statement(selection.sql, about: table.subject))
        }
        let most = max(64, min(segmentSize, SQLiteScan.valueBytes / (max(1, plans.count) * 48)))
        guard let batch = firn_sqlite_batch_new(Int32(clamping: plans.count), Int64(min(most, max(expected, 1)))) else {
            throw connection.error(Int32(FIRN_SQLITE_NO_MEMORY), about: table.subject)
        }
        self.batch = batch
        batch.pointee.first = hasRowID ? 1 : 0
        batch.pointee.maximum_bytes = SQLiteScan.batchBytes
        for (i, plan) in plans.enumerated() { batch.pointee.columns[i].form = Int32(plan.form) }
    }

    deinit { firn_sqlite_batch_free(batch) }

    /// Returns the next rows; nil at the end.
    func next() throws(FirnError) -> Batch? {
        guard !hasEnded else { return nil }
        // SQLite, the batch and its copy hold the text.
        batch.pointee.limit_bytes = Int64(max(0, budget.limit - min(budget.used, budget.limit)) / 3)
        let code =
            switch source {
            case .statement(let statement): Int(firn_sqlite_fetch(statement.pointer, batch))
            case .tree(let tree): Int(firn_sqlite_tree_fetch(tree.pointer, batch))
            }
        guard code == FIRN_SQLITE_ROW || code == FIRN_SQLITE_DONE else { throw failure(code) }
        hasEnded = code == FIRN_SQLITE_DONE
        let count = Int(batch.pointee.rows)
        rows += count
        if hasEnded {
            guard rows == expected else {
                throw FirnError(
                    .damaged, "\(table.subject) has \(rows) rows, and had \(expected) when it was read first",
                    at: .init(file: connection.name))
            }
            try connection.checkUnchanged()
        }
        guard count > 0 else { return nil }
        do throws(Damage) {
            var columns: [Column] = []
            for (i, plan) in plans.enumerated() {
                var column = SQLiteScan.column(plan.column.type, batch.pointee.columns[i], count)
                try column.hold(MemoryScope(budget, type: table.name, column: plan.column.name))
                columns.append(column)
            }
            return Batch(count: count, columns: columns)
        } catch { throw FirnError(error, in: connection.name) }
    }

    private func failure(_ code: Int) -> FirnError {
        let fault = Int(batch.pointee.fault), at = FirnError.Location(file: connection.name)
        var context = table.subject
        if batch.pointee.has_row_id { context += ", row id \(batch.pointee.last_row_id)" }
        switch code {
        case FIRN_SQLITE_MISFIT:
            return FirnError(
                .damaged, "\(context): column \"\(plans[fault].column.name)\" has a value of another type than at the first reading", at: at
            )
        case FIRN_SQLITE_UNUSUAL:
            return FirnError(.damaged, "\(context): the pages of the table changed after they were read first", at: at)
        case FIRN_SQLITE_DISORDER: return SQLiteScan.disorder(context, at)
        case FIRN_SQLITE_BEYOND_LIMIT:
            return FirnError(
                .outOfMemory, "\(context): a value of column \"\(plans[fault].column.name)\" needs more memory than the limit allows",
                at: at,
                advice: FirnError.memoryAdvice)
        default: return connection.error(Int32(truncatingIfNeeded: code), about: context)
        }
    }

    static func disorder(_ context: String, _ at: FirnError.Location) -> FirnError {
        FirnError(
            .damaged, "\(context): it does not follow the row id before it, as in an intact table", at: at,
            advice: "open a backup of the file; 'sqlite3 FILE .recover' can save some of it")
    }

    /// Copies the values of a column.
    private static func column(_ type: ColumnType, _ read: firn_sqlite_column, _ count: Int) -> Column {
        var column = Column(type)
        column.count = count
        func copied<T>(_ values: UnsafeMutablePointer<T>?, _ count: Int) -> [T] {
            values.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
        }
        column.words = copied(read.words, count)
        column.extra = copied(read.extra, count)
        column.reals = copied(read.reals, count)
        column.tags = copied(read.tags, count)
        if let offsets = read.offsets {
            let ends = [Int](unsafeUninitializedCapacity: count + 1) { buffer, filled in
                for i in 0...count { buffer[i] = Int(offsets[i]) }
                filled = count + 1
            }
            column.text = Text(offsets: ends, bytes: copied(read.bytes, Int(read.byte_count)))
        }
        if read.nulls > 0 { column.present = Bits(words: copied(read.present, (count + 63) / 64), count: count) }
        return column
    }
}
