import FirnBytes

/// Something that a damaged file has lost, or may have.
package struct Loss: Sendable, CustomStringConvertible {
    /// Nil: it is not about one type.
    package var type: String?
    /// Nil: whole rows.
    package var column: String?
    /// Row ids.
    package var rows: ClosedRange<Int64>?
    /// How many rows, as far as that is known.
    package var count: Int?
    /// The older version whose rows or values stand there instead; nil: there is nothing, or what it was is said in words.
    package var takenFrom: UInt64?
    /// Nothing is missing, but no hash proves these rows: they were written because unproven rows were asked for.
    package var isUnproven = false
    /// What is wrong, and at which byte of the file.
    package var damage: Damage

    package init(type: String? = nil, column: String? = nil, rows: ClosedRange<Int64>? = nil, count: Int? = nil, takenFrom: UInt64? = nil, isUnproven: Bool = false, _ damage: Damage) {
        self.type = type
        self.column = column
        self.rows = rows
        self.count = count
        self.takenFrom = takenFrom
        self.isUnproven = isUnproven
        self.damage = damage
    }

    package var description: String {
        var text = type ?? "file"
        if let column { text += ".\(column)" }
        if let rows { text += ", \(rows.rowsInWords)" }
        return "\(text): \(damage.what) (byte \(damage.offset))"
    }
}
