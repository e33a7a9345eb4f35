import FirnBytes
import FirnChange
import FirnDatabase
import FirnTable

/// Finds the rows of an input that a type already has with the same key and equal values, a batch at a time. Such a row changes nothing,
/// and most rows of a complete new version of a table are like that. A row that is not found may still be equal.
///
/// It reads the version that the transaction began from, so its answers hold for rows that the transaction has not changed.
struct EqualRows {
    private let transaction: DatabaseTransaction
    private let type: TypeSchema
    private let path: String
    private let base: any RowTable
    /// The rows that exist.
    private var live: LinkedColumn
    /// The columns that were compared so far.
    private var columns: [LinkedColumn?]

    /// The decoded values of all columns that are kept, in bytes. Rows in the order of the file need one vector at a time.
    private static let keptBytes = 128 << 20

    /// Fails if the transaction has already changed rows of the type, or the type itself, or if the type has no key that rows are found by.
    init?(_ type: TypeSchema, in transaction: DatabaseTransaction, path: String) throws(FirnError) {
        guard !type.key.isEmpty, !type.key.contains(where: { type.columns[$0].type.kind == .embedded }) else { return nil }
        guard transaction.table(type.name).changeCount == 0 else { return nil }
        guard let base = try transaction.versionBefore().rows(of: type.name), base.type == type else { return nil }
        (self.transaction, self.type, self.path, self.base) = (transaction, type, path, base)
        do throws(Damage) { live = try LinkedColumn(base, path: []) } catch { throw FirnError(error, in: path) }
        columns = type.columns.map { _ in nil }
    }

    /// Returns, for each row of the batch, the row id of the row that is equal in its key and in all columns that the input decides; -1 if
    /// none was found.
    mutating func find(_ batch: Batch, _ fit: ColumnFit) throws(FirnError) -> [Int64] {
        let none = [Int64](repeating: -1, count: batch.count)
        guard var found = try transaction.candidates(type.name, keys: type.key.map { batch.columns[$0] }) else { return none }
        do throws(Damage) {
            var same = Bits(count: batch.count)
            for (row, candidate) in found.enumerated() where candidate >= 0 { same[row] = true }
            same = try live.live(found, present: same)
            for i in type.key where same.ones > 0 { try compare(i, of: batch, with: found, keeping: &same) }
            for i in type.columns.indices where same.ones > 0 && !type.key.contains(i) && decides(fit, i) {
                try compare(i, of: batch, with: found, keeping: &same)
            }
            for row in found.indices where !same[row] { found[row] = -1 }
        } catch { throw FirnError(error, in: path) }
        return found
    }

    /// Whether a different value in the input is a change. Original texts that the input lacks are removed only if their value changes.
    private func decides(_ fit: ColumnFit, _ column: Int) -> Bool {
        type.isCompanion(column) ? fit.hasTexts(column) : fit.has(column)
    }

    private mutating func compare(_ column: Int, of batch: Batch, with found: [Int64], keeping same: inout Bits) throws(Damage) {
        if columns[column] == nil {
            columns[column] = try LinkedColumn(base, path: [column], most: max(1 << 16, EqualRows.keptBytes / columns.count))
        }
        guard let stored = try columns[column]?.fetch(found, present: same) else { return }
        batch.columns[column].keepSame(as: stored, in: &same)
    }
}
