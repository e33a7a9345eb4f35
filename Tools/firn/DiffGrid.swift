import FirnBytes
import FirnChange
import FirnTable

/// The columns of both tables as those of one, for formats in which a row that differs is a row of a table. A column that both have is one
/// column, and a column that only the old table has follows the one before it. Columns that are not compared are left out.
struct DiffGrid {
    struct Column {
        let name: String
        /// The positions in the compared tables; nil if only the other one has the column.
        let old: Int?
        let new: Int?
        /// The position in `TableDifference.columns`; nil for a key, and for a column that only one table has.
        let compared: Int?
        let isKey: Bool
        let isNumber: Bool
        let change: Change?

        enum Change { case added, removed, renamed(from: String) }
    }

    /// A value with the notation of its column.
    typealias Shown = (value: Value, notation: Notation)

    /// A cell of a row that differs.
    enum Cell {
        /// The table of the row has no such column.
        case absent
        case same(Shown)
        case changed(column: Int, old: Shown, new: Shown)
    }

    let difference: TableDifference
    private(set) var columns: [Column]
    private let readers: (old: RowReader, new: RowReader)

    /// - Parameter ignored: The names of the columns that are not compared.
    init(_ difference: TableDifference, ignored: [String]) {
        self.difference = difference
        readers = difference.readers()
        let types = (old: readers.old.table.type, new: readers.new.table.type), ignored = Set(ignored)
        let added = Set(difference.schema.added.map(\.name)), removed = Set(difference.schema.removed.map(\.name))
        let renamed = Dictionary(difference.schema.renamed.map { ($0.new, $0.old) }) { first, _ in first }
        let keys = Dictionary(difference.key.map { ($0.name, $0) }) { first, _ in first }
        let compared = Dictionary(difference.columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        func column(_ name: String, old: Int?, new: Int?) -> Column {
            let key = keys[name], index = key == nil ? compared[name] : nil, pair = key ?? index.map { difference.columns[$0] }
            let old = pair?.old ?? old, new = pair?.new ?? new
            let ends = [old.map { types.old.columns[$0] }, new.map { types.new.columns[$0] }].compactMap(\.self)
            return Column(
                name: name, old: old, new: new, compared: index, isKey: key != nil, isNumber: ends.allSatisfy(\.type.isNumber),
                change: added.contains(name) ? .added : removed.contains(name) ? .removed : renamed[name].map { .renamed(from: $0) })
        }
        let old = difference.shownColumns(.old).filter { !ignored.contains($0.column.name) }
        let new = difference.shownColumns(.new).filter { !ignored.contains($0.column.name) }
        let before = Dictionary(old.map { ($0.column.name, $0.position) }) { first, _ in first }
        var columns = new.map { column($0.column.name, old: before[$0.column.name], new: $0.position) }
        let names = Set(columns.map(\.name))
        // The columns that only the old table has, by the one before them.
        var following: [String?: [Column]] = [:], last: String?
        for (position, shown) in old {
            if names.contains(shown.name) {
                last = shown.name
            } else {
                following[last, default: []].append(column(shown.name, old: position, new: nil))
            }
        }
        columns = (following[nil] ?? []) + columns.flatMap { [$0] + (following[$0.name] ?? []) }
        // Fields of objects that are keys are no columns.
        let all = Set(columns.map(\.name))
        self.columns = difference.key.filter { !all.contains($0.name) }.map { column($0.name, old: nil, new: nil) } + columns
    }

    /// Moves the keys to the front, and leaves out the columns without a difference if only changed rows are shown.
    mutating func arrangeForReading(_ kinds: Set<DifferenceEntry.Kind>) {
        let hasWholeRows = kinds.contains(.added) && difference.added > 0 || kinds.contains(.removed) && difference.removed > 0
        let rest = columns.filter { column in
            !column.isKey && (hasWholeRows || column.compared.map { difference.columns[$0].changed > 0 } ?? false)
        }
        columns = columns.filter(\.isKey) + rest
    }

    /// Calls the body with the cells of at most `limit` rows of the given kinds. Returns how many rows are left.
    func forEachRow(
        _ kinds: Set<DifferenceEntry.Kind>, limit: Int?, _ body: (DifferenceEntry.Kind, [Cell]) throws(FirnError) -> Void
    ) throws(FirnError) -> Int {
        var count = 0
        try difference.forEachEntry(of: kinds) { entry throws(FirnError) in
            guard count < limit ?? .max else { return false }
            count += 1
            var cells: [Cell] = []
            cells.reserveCapacity(columns.count)
            for column in columns { cells.append(try cell(column, entry)) }
            try body(entry.kind, cells)
            return true
        }
        return self.count(kinds) - count
    }

    /// Returns the number of rows of the given kinds.
    func count(_ kinds: Set<DifferenceEntry.Kind>) -> Int {
        (kinds.contains(.added) ? difference.added : 0) + (kinds.contains(.removed) ? difference.removed : 0)
            + (kinds.contains(.changed) ? difference.changed : 0)
    }

    private func cell(_ column: Column, _ entry: DifferenceEntry) throws(FirnError) -> Cell {
        func old(_ row: RowLocation) throws(FirnError) -> Shown? {
            guard let position = column.old else { return nil }
            return (try readers.old.shownValue(row, position), readers.old.table.type.columns[position].notation)
        }
        func new(_ row: RowLocation) throws(FirnError) -> Shown? {
            guard let position = column.new else { return nil }
            return (try readers.new.shownValue(row, position), readers.new.table.type.columns[position].notation)
        }
        let shown: Shown?
        switch entry {
        case .removed(let row): shown = try old(row)
        case .added(let row): shown = try new(row)
        case .changed(let before, let after, let changed):
            if let index = column.compared, changed.contains(index), let old = try old(before), let new = try new(after) {
                return .changed(column: index, old: old, new: new)
            }
            shown = if let value = try new(after) { value } else { try old(before) }
        }
        return shown.map { .same($0) } ?? .absent
    }
}

extension DifferenceEntry {
    var kind: Kind {
        switch self {
        case .added: .added
        case .removed: .removed
        case .changed: .changed
        }
    }
}

/// A changed part of a cell as text for people.
struct ShownEdit {
    /// The path of the part within the column; nil for the whole value.
    let path: String?
    /// The texts; nil if the part was added or removed.
    let old: String?
    let new: String?

    /// Returns the changed parts of a cell.
    static func all(
        _ difference: TableDifference, _ column: Int, from old: DiffGrid.Shown, to new: DiffGrid.Shown
    ) -> [ShownEdit] {
        let name = difference.columns[column].name
        return difference.parts(old.value, new.value, in: column).map { edit in
            var left = text(edit.old, old.notation), right = text(edit.new, new.notation, beside: edit.old)
            // A notation of days, for example, omits the times of day by which they differ.
            if left == right { (left, right) = (text(edit.old, .plain), text(edit.new, .plain, beside: edit.old)) }
            return ShownEdit(
                path: edit.path.isEmpty ? nil : edit.text(name), old: edit.kind == .added ? nil : left,
                new: edit.kind == .removed ? nil : right)
        }
    }

    /// Formats a value. Text is quoted if it could otherwise be mistaken for another value.
    static func text(_ value: Value, _ notation: Notation, beside other: Value = .null) -> String {
        guard case .string(let text) = value else { return value.isNull ? "null" : canonicalText(value, notation: notation) }
        var isPlain = !text.isEmpty && text != "null" && !text.hasPrefix(" ") && !text.hasSuffix(" ")
        if case .string = other {} else if !other.isNull { isPlain = false }
        return isPlain ? text : JSONString.quoted(text)
    }
}
