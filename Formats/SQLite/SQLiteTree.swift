import CSQLiteLibrary
import FirnBytes
import FirnTable

/// The rows of a table, read from the pages of its file without SQLite's virtual machine. Used by one thread at a time.
///
/// A survey that succeeds shows that all pages and records are as they should be; otherwise SQLite reads the table, and reports what is wrong with it.
final class SQLiteTree {
    let pointer: OpaquePointer
    private let connection: SQLiteConnection

    /// Returns nil if only SQLite can read the table.
    init?(_ table: SQLiteTable, _ connection: SQLiteConnection) {
        guard connection.readsPages, table.hasRowID, let root = table.root, table.kind == .table || table.kind == .shadow,
            !table.columns.isEmpty, !table.columns.contains(where: \.isGenerated)
        else { return nil }
        let reals = table.columns.map { $0.declared.affinity == .real }, pads = !table.columns.contains(where: \.hasDefault)
        guard
            let tree = firn_sqlite_tree_open(
                connection.pointer, root, Int32(clamping: reals.count), Int32(table.rowIDColumn ?? -1), reals, pads)
        else { return nil }
        pointer = tree
        self.connection = connection
    }

    deinit { firn_sqlite_tree_free(pointer) }

    /// Restricts the rows to those with one of the row ids.
    func limit(_ rowIDs: ClosedRange<Int64>) {
        firn_sqlite_tree_limit(pointer, rowIDs.lowerBound, rowIDs.upperBound == .max ? .max : rowIDs.upperBound + 1)
    }
}
