import FirnBytes
import FirnTable

/// Something that a damaged file has lost, or may have lost.
package struct Loss: Sendable, CustomStringConvertible {
    /// Nil if the loss does not concern one type.
    package var type: String?
    /// Nil if whole rows are lost.
    package var column: String?
    /// The row ids, if they are known.
    package var rows: ClosedRange<Int64>?
    /// The number of rows, as far as it is known.
    package var count: Int?
    /// The older version whose rows or values are used instead; nil if there are none, or if `damage` describes them.
    package var takenFrom: UInt64?
    /// Nothing is missing, but no hash proves these rows. They were written because unproven rows were requested.
    package var isUnproven = false
    /// What is damaged, and at which byte of the file.
    package var damage: Damage

    package init(
        type: String? = nil, column: String? = nil, rows: ClosedRange<Int64>? = nil, count: Int? = nil, takenFrom: UInt64? = nil,
        isUnproven: Bool = false, _ damage: Damage
    ) {
        self.type = type
        self.column = column
        self.rows = rows
        self.count = count
        self.takenFrom = takenFrom
        self.isUnproven = isUnproven
        self.damage = damage
    }

    /// The loss as one line: type, column, rows, what is damaged, and the byte.
    package var description: String {
        var text = type ?? "file"
        if let column { text += ".\(column)" }
        if let rows { text += ", \(rows.rowsInWords)" }
        return "\(text): \(damage.what) (byte \(damage.offset))"
    }
}
