import FirnBytes

/// Where the values of a column of a segment are stored, for errors about their bytes: `people.age, rows 0 to 65535: …`.
struct ColumnLocation: Sendable {
    let type: String
    let column: String
    /// A range that contains the row ids of the segment.
    let rows: ClosedRange<Int64>
    /// The offset in the file of the extent that contains the values.
    let base: UInt64

    /// Returns the damage with type, column and rows, and with its offset in the file.
    func named(_ damage: Damage) -> Damage {
        let whole = damage.offset < base ? damage.shifted(by: base) : damage
        return whole.naming("\(type).\(column), \(rows.rowsInWords)")
    }
}
