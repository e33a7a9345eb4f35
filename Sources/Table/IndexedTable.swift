import FirnBytes

/// A table whose columns may have indexes.
package protocol IndexedTable: Table {
    /// Returns the index of a column, by its position, or nil if it has none of the kind.
    func columnIndex(_ column: Int, _ kind: IndexKind) -> (any RowIndex)?
}

/// The index of one column at one version. Usable from any thread while the version is held.
package protocol RowIndex: Sendable {
    var kind: IndexKind { get }
    /// Returns about how many rows the probe selects. Reads a few words only.
    func estimate(_ probe: IndexProbe) throws(Damage) -> Int
    /// Returns every row that may match the probe, and perhaps rows that do not.
    func candidates(_ probe: IndexProbe) throws(Damage) -> RowCandidates
}
