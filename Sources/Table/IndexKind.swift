/// What an index contains of a column. The raw values are written to files and never change.
package enum IndexKind: UInt8, Hashable, Sendable, CaseIterable {
    /// The values: for equality, ranges and prefixes of text.
    case values = 1
    /// The words of the text: for `TEXT`.
    case words = 2

    /// The name that users read and write.
    package var name: String { self == .values ? "values" : "words" }
}

/// The indexes that a column has.
package struct IndexMarks: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let values = IndexMarks(rawValue: 1), words = IndexMarks(rawValue: 2)

    package init(_ kind: IndexKind) { self = kind == .values ? .values : .words }

    /// Returns whether the column has an index of this kind.
    package func contains(_ kind: IndexKind) -> Bool { contains(IndexMarks(kind)) }
}

extension ColumnType {
    /// Returns why a column of this type cannot have an index, or nil if it can.
    package func refusal(of kind: IndexKind) -> String? {
        if isCollection { return "it is a \(collection), and only columns of single values can have one" }
        if self.kind == .embedded { return "it holds objects: index a column of \(target ?? "theirs")" }
        if kind == .words, self.kind != .string { return "it is \(name), and only string columns can have an index of words" }
        return nil
    }
}
