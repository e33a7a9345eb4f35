import CSQLite
import FirnBytes

/// A virtual table of SQLite, which the C side of the module calls.
package class SQLVirtualTable {
    let context: SQLContext

    init(_ context: SQLContext) { self.context = context }

    /// `CREATE TABLE x("name" TEXT, …)`: the declaration from which SQLite reads names and types.
    var declaration: String { trap("a table has a declaration") }
    var columnCount: Int { trap("a table has columns") }

    /// Chooses a plan for SQLite. Returns false if the table cannot be read with the constraints that are usable.
    func plan(_ info: OpaquePointer) -> Bool { trap("a table has plans") }
    func cursor(_ rows: UnsafeMutablePointer<firn_sql_rows>) throws(FirnError) -> SQLVirtualCursor { trap("a table has cursors") }
}

/// A cursor of such a table.
class SQLVirtualCursor {
    let context: SQLContext

    init(_ context: SQLContext) { self.context = context }

    /// Begins a run of a plan for the values of its constraints.
    func begin(_ number: Int, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) { trap("a cursor has rows") }
    /// Moves to the next run of rows.
    func advance() throws(FirnError) { trap("a cursor has rows") }
    /// Reads a column of the current rows. The last column is the row ids.
    func load(_ index: Int) throws(FirnError) { trap("a cursor has rows") }
}
