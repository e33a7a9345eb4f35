import FirnTable

/// What a reader knows about all values of a column before its first batch.
package struct ColumnFacts: Sendable {
    /// A type with a notation.
    package struct Reading: Hashable, Sendable {
        package var kind: ScalarKind
        package var notation: Notation

        package init(_ kind: ScalarKind, _ notation: Notation = .plain) {
            self.kind = kind
            self.notation = notation
        }
    }

    /// Whether any row has a value.
    package var hasValues: Bool
    /// The types and notations in which every value would be written back as the same text, narrowest first.
    package var readings: [Reading]

    /// Whether an original text of the column may be a number. Such a text can be another number, or none, where the decimal mark or the
    /// groups of digits are those of another input.
    package var hasNumbersInTexts = true

    package init(hasValues: Bool, readings: [Reading]) {
        self.hasValues = hasValues
        self.readings = readings
    }
}

extension BatchReader {
    package func facts(ofColumn position: Int) -> ColumnFacts? { nil }
}
