/// Columns of original texts: companions of columns of numbers, bools or dates.
///
/// A companion is an optional string column of the same type. In a row, it holds the text that the cell of the other column had in its
/// source, if export would write a different text for the value; in all other rows it is null. It is stored like any column, but is not
/// data of its own: it is no property, is not compared or hashed, and is listed only if it is named. Readers use a text only if it still
/// reads as the value of its row, so a companion that is not kept up to date never gives a wrong text. The exception is the text of a date
/// that is its zone alone, which fits every date: a writer that changes the date removes it.
///
/// The companion of a column of objects or of a collection holds the texts of all parts of the value (`OriginalParts` of Exchange). Embedded
/// types have no companions, so that the position of a field is the same everywhere.
extension TypeSchema {
    /// Returns whether a column holds the original texts of another column. One whose other column does not exist is an ordinary column.
    package func isCompanion(_ column: Int) -> Bool { companionTarget(column) != nil }

    /// Returns the position of the column whose original texts a column holds, or nil.
    package func companionTarget(_ column: Int) -> Int? { columns[column].originalTextOf.flatMap { index(of: $0) } }

    /// Whether the companion of a column holds the texts of parts of its values.
    package func hasPartTexts(_ column: Int) -> Bool { columns[column].type.isCollection || columns[column].type.kind == .embedded }

    /// Whether the type has companions.
    package var hasCompanions: Bool { columns.contains { $0.originalTextOf != nil } }

    /// The positions of the columns that are data: all except companions.
    package var visibleColumns: [Int] { hasCompanions ? columns.indices.filter { !isCompanion($0) } : Array(columns.indices) }

    /// The positions of companions, by the position of the column whose texts they hold.
    package var companions: [Int: Int] {
        guard hasCompanions else { return [:] }
        return Dictionary(
            columns.indices.compactMap { column in companionTarget(column).map { ($0, column) } }, uniquingKeysWith: { first, _ in first })
    }

    /// The companions of columns of single values, by the position of the column.
    package var scalarCompanions: [Int: Int] { hasCompanions ? companions.filter { !hasPartTexts($0.key) } : [:] }

    /// The type without companions.
    package var visible: TypeSchema {
        guard hasCompanions else { return self }
        var type = self
        let kept = visibleColumns,
            positions = Dictionary(kept.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { a, _ in a })
        type.columns = kept.map { columns[$0] }
        type.key = key.compactMap { positions[$0] }
        return type
    }

    /// Returns a new companion of a column, with a name that the type does not have. The companions of different columns have different
    /// names, so several can be made before they are appended.
    package func makeCompanion(of column: ColumnSchema) -> ColumnSchema {
        var name = "\(column.name) (original text)", number = 2
        while index(of: name) != nil {
            name = "\(column.name) (original text \(number))"
            number += 1
        }
        var companion = ColumnSchema(name, ColumnType(.string, optional: true))
        companion.originalTextOf = column.name
        return companion
    }

    /// Makes ordinary columns of companions whose other column is missing, and of all but one of several companions of a column.
    package mutating func detachCompanions() {
        guard hasCompanions else { return }
        var seen: Set<String> = []
        // Columns are changed after all names are looked up, because each change discards the index of names.
        let detached = columns.indices.filter { i in
            guard let target = columns[i].originalTextOf else { return false }
            return index(of: target) == nil || !seen.insert(target).inserted
        }
        for i in detached { columns[i].originalTextOf = nil }
    }
}

extension Schema {
    /// Whether a type has companions.
    package var hasCompanions: Bool { types.contains(where: \.hasCompanions) }
    /// The schema without companions.
    package var visible: Schema { hasCompanions ? Schema(types.map(\.visible)) : self }
}
