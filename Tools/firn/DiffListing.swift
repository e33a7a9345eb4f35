import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDisk
import FirnTable

/// Prints differences as text: removed (`-`) and added (`+`) rows with their values, changed rows (`~`) with their changed cells.
///
///     --- old.csv
///     +++ new.csv
///     - id=2  name=Bo, score=2
///     ~ id=3
///         score: 1.5 → 2
///         birth.place.name: A → B
///         + tags[2]: x
struct DiffListing {
    private let difference: TableDifference
    private let names: (old: String, new: String)
    private let out: DiffOutput
    private let shown: (old: [(position: Int, column: ColumnSchema)], new: [(position: Int, column: ColumnSchema)])

    private var style: Style { out.style }

    init(_ difference: TableDifference, names: (old: String, new: String), _ out: DiffOutput) {
        self.difference = difference
        self.names = names
        self.out = out
        let keys = (old: difference.key.map(\.old), new: difference.key.map(\.new))
        shown = (
            difference.shownColumns(.old).filter { !keys.old.contains($0.position) },
            difference.shownColumns(.new).filter { !keys.new.contains($0.position) }
        )
    }

    /// Prints at most `limit` entries of the given kinds. The totals count all.
    func write(_ kinds: Set<DifferenceEntry.Kind>, limit: Int?) throws(FirnError) {
        guard !difference.isEmpty || !difference.schema.isEmpty else { return }
        let summary = DiffSummary(difference, style)
        try out.write(
            style.strong("--- " + DisplayWidth.visible(names.old)) + "\n" + style.strong("+++ " + DisplayWidth.visible(names.new)) + "\n")
        for line in summary.schemaLines { try out.write(line + "\n") }
        let readers = difference.readers()
        var left = limit ?? .max, cut = false
        try difference.forEachEntry(of: kinds) { entry throws(FirnError) in
            guard left > 0 else {
                cut = true
                return false
            }
            left -= 1
            try write(entry, readers)
            return true
        }
        if cut { try out.write(style.faint("…") + "\n") }
        try out.write(style.faint(summary.counts) + "\n")
    }

    private func write(_ entry: DifferenceEntry, _ readers: (old: RowReader, new: RowReader)) throws(FirnError) {
        var key: [String] = []
        for (column, value) in zip(difference.key, try difference.keyValues(entry, readers)) {
            key.append("\(column.name)=\(ShownEdit.text(value, difference.notation(of: column, entry)))")
        }
        let name = key.joined(separator: ", ")
        switch entry {
        case .removed(let row): try line("- " + name, try values(row, readers.old, shown.old), style.red)
        case .added(let row): try line("+ " + name, try values(row, readers.new, shown.new), style.green)
        case .changed(let before, let after, let columns):
            try line("~ " + name, "", style.yellow)
            for index in columns {
                let column = difference.columns[index]
                let old = try readers.old.shownValue(before, column.old), new = try readers.new.shownValue(after, column.new)
                let notations = (
                    old: readers.old.table.type.columns[column.old].notation, new: readers.new.table.type.columns[column.new].notation
                )
                for edit in ShownEdit.all(difference, index, from: (old, notations.old), to: (new, notations.new)) {
                    let name = edit.path ?? column.name
                    switch (edit.old, edit.new) {
                    case (nil, let right): try line("    + \(name): \(right ?? "")", "", { $0 })
                    case (let left?, nil): try line("    - \(name): \(left)", "", { $0 })
                    case (let left?, let right?): try line("    \(name): \(left) → \(right)", "", { $0 })
                    }
                }
            }
        }
    }

    /// Returns the values of a row that are not null.
    private func values(
        _ row: RowLocation, _ reader: RowReader, _ columns: [(position: Int, column: ColumnSchema)]
    ) throws(FirnError) -> String {
        var parts: [String] = []
        for (i, column) in columns {
            let value = try reader.shownValue(row, i)
            if !value.isNull { parts.append("\(column.name)=\(ShownEdit.text(value, column.notation))") }
        }
        return parts.joined(separator: ", ")
    }

    private func line(_ head: String, _ tail: String, _ paint: (String) -> String) throws(FirnError) {
        let text = tail.isEmpty ? head : head.hasSuffix(" ") ? head + tail : head + "  " + tail
        guard let width = out.width else { return try out.write(paint(DisplayWidth.visible(text)) + "\n") }
        try out.write(paint(DisplayWidth.fit(text, to: width)) + "\n")
    }
}

extension TableDifference {
    /// Returns the notation of a key column in the table that the entry's key is read from (see `keyValues`).
    func notation(of column: ComparedColumn, _ entry: DifferenceEntry) -> Notation {
        if case .removed = entry { return types.old.columns[column.old].notation }
        return types.new.columns[column.new].notation
    }
}
