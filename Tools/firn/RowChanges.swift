import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable
import FirnThreads

/// Changes rows of one type in a transaction of the caller, and counts them. The command and the C library use it.
package final class RowChanges {
    private let transaction: DatabaseTransaction
    private let type: TypeSchema
    private let path: String
    /// Called before some of the rows, so that the caller can be interrupted.
    private let pause: (_ row: Int) throws(FirnError) -> Void
    /// The number of rows that were added.
    package private(set) var added = 0
    /// The number of rows that were deleted.
    package private(set) var removed = 0
    /// The row ids of older rows that got other values.
    private var changedRows: Set<Int64> = []
    /// Those that got other values more than once, and may have those before again.
    private var changedAgain: Set<Int64> = []
    /// The rows from this row id on were added here.
    private var firstAdded: Int64?
    /// The number of older rows that got other values.
    package var changed: Int { changedRows.count }
    /// Finds rows of inputs that change nothing.
    private var equalRows = Comparison.unprepared

    private enum Comparison {
        case unprepared
        /// Each row must be compared by itself.
        case none
        case some(EqualRows)
    }

    package init(
        of type: TypeSchema, in transaction: DatabaseTransaction, path: String,
        pause: @escaping (_ row: Int) throws(FirnError) -> Void = { _ in }
    ) {
        (self.type, self.transaction, self.path, self.pause) = (type, transaction, path, pause)
    }

    // MARK: Adding

    /// Inserts rows one by one. A repeated key is an error; `number` is the number of rows of the batch that were inserted before.
    package func insert(_ batch: Batch, repeated: (_ number: Int, FirnError) -> FirnError = { $1 }) throws(FirnError) {
        for row in 0..<batch.count {
            try pause(row)
            do throws(FirnError) { try insert(batch.columns.map { $0.value(at: row) }) } catch {
                throw error.code == .duplicateKey ? repeated(row, error) : error
            }
        }
    }

    private func insert(_ values: [Value]) throws(FirnError) {
        let row = try transaction.insert(type.name, values)
        if firstAdded == nil { firstAdded = row }
        added += 1
    }

    /// Appends rows as segments. Keys are not compared: the caller checks them before the commit.
    package func load(_ batch: Batch) throws(FirnError) {
        _ = try transaction.bulkWriter(type.name).append(batch)
        added += batch.count
    }

    // MARK: Changing

    /// Inserts the rows whose key no row has, and changes the others: the columns that the input has, where the value differs. The last one
    /// of several rows with a key prevails.
    package func upsert(_ batch: Batch, _ fit: ColumnFit, source: String) throws(FirnError) {
        let equal = try equalRows(batch, fit)
        for row in 0..<batch.count {
            try pause(row)
            if let known = equal?[row], known >= 0, !changedRows.contains(known) { continue }
            let values = batch.columns.map { $0.value(at: row) }
            guard let known = try transaction.find(type.name, key: type.key.map { values[$0] }) else {
                for (i, column) in type.columns.enumerated() where !fit.has(i) && !column.type.isOptional {
                    throw FirnError(
                        .schema, "a row has a new key, and \(source) has no column \"\(column.name)\", which cannot be null")
                }
                try insert(values)
                continue
            }
            if try change(known, values, fit), known < firstAdded ?? .max, !changedRows.insert(known).inserted {
                changedAgain.insert(known)
            }
        }
    }

    /// Returns the row ids of rows that have the keys and the values of the batch; nil if it is not known, -1 for a row without one.
    private func equalRows(_ batch: Batch, _ fit: ColumnFit) throws(FirnError) -> [Int64]? {
        if case .unprepared = equalRows { equalRows = try EqualRows(type, in: transaction, path: path).map { .some($0) } ?? .none }
        guard case .some(var rows) = equalRows else { return nil }
        // One reference, so that what it keeps is not copied.
        equalRows = .none
        defer { equalRows = .some(rows) }
        return try rows.find(batch, fit)
    }

    /// Excludes rows from the number of changed rows that have the values again that they had before the transaction, because the input has
    /// their key more than once.
    package func settle() throws(FirnError) {
        guard !changedAgain.isEmpty, let before = try transaction.versionBefore().rows(of: type.name), before.type == type else { return }
        let rows = transaction.currentRows(of: type.name)
        for row in changedAgain {
            do throws(Damage) { if try before.row(row) == rows.row(row) { changedRows.remove(row) } } catch {
                throw FirnError(error, in: path)
            }
        }
        changedAgain = []
    }

    /// Returns whether a value differed. Original texts of changed values are replaced, or removed if the input has none.
    private func change(_ rowID: Int64, _ values: [Value], _ fit: ColumnFit) throws(FirnError) -> Bool {
        let before = try current(rowID, fit)
        var isChanged = false, renewed: Set<Int> = []
        for (i, column) in type.columns.enumerated() where !type.isCompanion(i) {
            guard let old = before[i], !isSame(old, values[i], column) else { continue }
            try transaction.update(type.name, rowID: rowID, column: column.name, values[i])
            (isChanged, renewed) = (true, renewed.union([i]))
        }
        for (target, i) in type.companions {
            guard let old = before[i], old != values[i], fit.hasTexts(i) || renewed.contains(target) else { continue }
            try transaction.update(type.name, rowID: rowID, column: type.columns[i].name, values[i])
            isChanged = true
        }
        return isChanged
    }

    /// Whether two values are equal; decimals by value, whatever their number of digits. The fields of objects are named, because the order
    /// of fields in a batch has no names.
    private func isSame(_ a: Value, _ b: Value, _ column: ColumnSchema) -> Bool {
        if case (.decimal, .decimal) = (a, b) { return Value.areEquivalent(a, b, tolerance: 0) }
        guard column.type.kind == .embedded else { return a == b }
        let schema = transaction.schema
        return a.named(column.type, in: schema, unwraps: false) == b.named(column.type, in: schema, unwraps: false)
    }

    /// Returns the values of a row that an input decides; nil for other columns and for those of the key.
    private func current(_ rowID: Int64, _ fit: ColumnFit) throws(FirnError) -> [Value?] {
        let rows = transaction.currentRows(of: type.name)
        do throws(Damage) {
            guard let location = try rows.location(of: rowID) else { throw Damage("row \(rowID) of a key is missing") }
            let segment = try rows.segment(location.segment)
            var values: [Value?] = []
            for i in type.columns.indices {
                guard fit.has(i), !type.key.contains(i) else {
                    values.append(nil)
                    continue
                }
                values.append(try segment.column(i).value(at: location.position))
            }
            return values
        } catch { throw FirnError(error, in: path) }
    }

    // MARK: Deleting

    /// Deletes the rows that match a predicate.
    package func delete(matching request: QueryRequest, threads: Int) throws(FirnError) {
        let rows = transaction.currentRows(of: type.name), run: QueryRun
        do throws(QueryError) { run = try QueryRun(request, table: rows, file: path, threads: threads) } catch { throw error.asFirnError }
        var found: [Int64] = []
        let locations = try run.rowLocations()
        do throws(Damage) {
            for location in locations { found.append(try rows.segment(location.segment).rowID(at: location.position)) }
        } catch { throw FirnError(error, in: path) }
        try delete(found)
    }

    /// Deletes rows, and the links to them.
    package func delete(_ rows: [Int64]) throws(FirnError) {
        guard !rows.isEmpty else { return }
        equalRows = .none
        for (i, row) in rows.enumerated() {
            try pause(i)
            try transaction.delete(type.name, rowID: row)
        }
        removed += rows.count
        let name = type.name
        if transaction.schema.types.contains(where: { $0.columns.contains { $0.type.kind == .link && $0.type.target == name } }) {
            try transaction.deleteLinks(to: name, rows: rows)
        }
    }
}
