import FirnBytes
import FirnStore
import FirnTable

/// One damaged part of a file, with the version, type, column and rows to which it belongs, as far as they are known.
package struct Defect: Sendable, CustomStringConvertible {
    /// Nil: the version that was verified.
    package var version: UInt64?
    /// Nil: roots, commit records or the state of space, or a version as a whole.
    package var type: String?
    package var column: String?
    /// A range that contains the row ids concerned.
    package var rows: ClosedRange<Int64>?
    /// The damaged part: a segment, the delta store, an index.
    package var part: String
    package var damage: Damage

    package init(
        version: UInt64? = nil, type: String? = nil, column: String? = nil, rows: ClosedRange<Int64>? = nil, part: String, _ damage: Damage
    ) {
        self.version = version
        self.type = type
        self.column = column
        self.rows = rows
        self.part = part
        self.damage = damage
    }

    /// A description of version, type, column, part and rows, for messages.
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
    /// The row ids in words, for messages.
    var rowsInWords: String { lowerBound == upperBound ? "row \(lowerBound)" : "rows \(lowerBound) to \(upperBound)" }
}
