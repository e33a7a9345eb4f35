import FirnBytes
import FirnDisk

/// How an SQLite database is read.
package struct SQLiteOptions: Sendable {
    /// Whether foreign keys of one column become links.
    package var readsLinks = false
    /// Whether views are read too.
    package var readsViews = false
    /// Whether virtual tables and their shadow tables are read too.
    package var readsInternal = false
    /// The table or view that alone is read, with the tables that its links lead to. If the database has none of this name, all are read.
    package var wanted: String?
    package var threads = 1
    package var budget = MemoryBudget.process

    package init() {}
}
