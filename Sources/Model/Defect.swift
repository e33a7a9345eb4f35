import FirnBytes
import FirnStore

/// One thing found wrong with a file, and what it belongs to, as far as that is known.
package struct Defect: Sendable, CustomStringConvertible {
    /// Nil: the version that was asked for.
    package var version: UInt64?
    /// Nil: what carries the versions, or a version as a whole.
    package var type: String?
    package var column: String?
    /// Row ids among which are those concerned.
    package var rows: ClosedRange<Int64>?
    /// Where it lies: a segment, the delta, an index.
    package var part: String
    package var damage: Damage

    package init(version: UInt64? = nil, type: String? = nil, column: String? = nil, rows: ClosedRange<Int64>? = nil, part: String, _ damage: Damage) {
        self.version = version
        self.type = type
        self.column = column
        self.rows = rows
        self.part = part
        self.damage = damage
    }

    /// Type, column, part and rows in words.
    package var subject: String {
        var words: [String] = []
        if let version { words.append("version \(version)") }
        if let type { words.append(column.map { "\(type).\($0)" } ?? type) }
        words.append(part)
        if let rows { words.append(rows.rowsInWords) }
        return words.joined(separator: ", ")
    }

    package var description: String { "\(subject): \(damage.what) (byte \(damage.offset))" }
}

extension ClosedRange<Int64> {
    /// Row ids, for people.
    var rowsInWords: String { lowerBound == upperBound ? "row \(lowerBound)" : "rows \(lowerBound) to \(upperBound)" }
}
