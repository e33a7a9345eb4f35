import FirnBytes
import FirnTable

/// The old or the new table of a difference.
package enum DifferenceSide: Sendable, Hashable { case old, new }

/// What the user of a difference chooses, how it is computed, and which rows take part.
package struct DifferenceOptions: Sendable {
    /// What to do with a key that occurs in more than one row of a table.
    package enum Duplicates: Sendable {
        /// Throws `FirnError.duplicateKey` with the side, the keys and the rows.
        case refuse
        /// Uses the first row with the key. The others are left out and counted in `TableDifference.leftOutOld` and `leftOutNew`.
        case takeFirst
    }

    /// The names of the columns that identify a row. Empty means the key of the new table's type or, if it has none, of the old one's. If no
    /// type has a key, see `findsKey`.
    package var key: [String] = []
    /// The columns to compare; empty means all that both tables have.
    package var columns: [String] = []
    /// The columns not to compare.
    package var ignore: [String] = []
    /// The columns of the old table that have another name in the new one, for the schema difference; `TableDifference.renamed` gives them
    /// their new names.
    package var renamed: [(old: String, new: String)] = []
    /// Whether a column that only one table has is compared, as null in every row of the other. Rows with a value in it are then changed.
    package var comparesMissing = false
    /// Whether the only row of each table is matched with that of the other, without a key.
    package var matchesSingleRows = false
    /// Whether tables without a key are compared too, by columns that are unique in both or, if there are none, by all columns (see
    /// `TableDifference.Matching`). Otherwise they are an error.
    package var findsKey = false
    /// How `key` was chosen.
    var matching = TableDifference.Matching.key
    /// Numbers that differ by at most this much are equal (not in keys).
    package var tolerance: Tolerance = 0
    /// The tolerances of columns that have their own.
    package var tolerances: [String: Tolerance] = [:]
    /// The kinds of entries to find. Cells are compared only if `.changed` is among them.
    package var kinds: Set<DifferenceEntry.Kind> = [.added, .removed, .changed]
    package var duplicates = Duplicates.refuse
    /// The names of the tables in messages: file names.
    package var oldName = "old"
    package var newName = "new"
    /// How the difference is computed. It never changes the result.
    package var execution = Execution()
    /// The rows that take part.
    package var scope = Scope()

    package init() {}

    /// How a difference is computed.
    package struct Execution: Sendable {
        /// The number of threads that compare segments.
        package var threads = 1
        /// Called with the number of rows of each segment of the new table that is compared, and with 0 in between, on any thread. An error of
        /// it ends the comparison.
        package var progress: @Sendable (_ rows: Int) throws(FirnError) -> Void = { _ in }
        /// Whether the rows without a changed cell keep their partners, which changes files need: 4 bytes for each new row.
        package var keepsPartners = true
        /// Larger old tables whose keys ascend as those of the new table are compared in windows of about so many rows.
        package var windowRows = 1 << 20
        /// For tests: the bits of a key's hash that are used. Fewer bits cause more collisions.
        package var hashMask = UInt64.max
    }

    /// The rows that take part in a difference.
    package struct Scope: Sendable {
        /// Returns the rows of a segment to compare; nil means all. Other rows are treated as missing, on either side.
        package var rows: (@Sendable (_ side: DifferenceSide, _ table: any Table, _ segment: Int) throws(FirnError) -> Bits?)?
        /// The rows that need no comparison because both tables share them.
        var shared = SharedRows()
        /// Whether no row can have the key of a shared row of its table.
        var keysAreUnique = false
        /// The number of rows that both sides have, with keys that no row of the tables has, and that are left out of both tables. They count
        /// as unchanged.
        package var equalRows = 0
    }
}

extension DifferenceOptions {
    /// Whether a column is compared, unless it is part of the key.
    func compares(_ name: String) -> Bool { !ignore.contains(name) && (columns.isEmpty || columns.contains(name)) }

    /// The number of threads that read segments of a table.
    func threads(for table: any Table) -> Int { table.readsByColumn ? 1 : execution.threads }

    func name(_ side: DifferenceSide) -> String { side == .old ? oldName : newName }
}
