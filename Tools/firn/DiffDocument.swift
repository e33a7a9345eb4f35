import FirnBytes
import FirnChange
import FirnCommandLine
import FirnTable

/// Writes differences as a section of a document, in Markdown or HTML: the counts, the differences of the columns, and a table of the rows
/// that differ. Changed cells have the old and the new value. No text of the tables is markup.
struct DiffDocument {
    private let grid: DiffGrid
    private let form: DocumentForm
    private let out: DiffOutput
    private var difference: TableDifference { grid.difference }

    init(_ grid: DiffGrid, _ form: DocumentForm, _ out: DiffOutput) {
        self.grid = grid
        self.form = form
        self.out = out
    }

    /// Writes at most `limit` rows of the given kinds, and how many are left. Nothing is written if there is no difference.
    func write(_ kinds: Set<DifferenceEntry.Kind>, limit: Int?, names: (old: String, new: String)) throws(FirnError) {
        guard !difference.isEmpty || !difference.schema.isEmpty else { return }
        let summary = DiffSummary(difference, .plain), lines = summary.schemaLines
        try out.heading(names)
        try out.paragraph(summary.counts)
        if !lines.isEmpty { try writeList(lines) }
        guard grid.count(kinds) > 0 else { return }
        try writeHeadings()
        let left = try grid.forEachRow(kinds, limit: limit) { kind, cells throws(FirnError) in try write(kind, cells) }
        if form == .html { try out.write("</table>\n") }
        if left > 0 {
            if form == .markdown { try out.write("\n") }
            try out.paragraph("\(Quantity.count(left, "more row")) not shown")
        }
    }

    private func writeList(_ lines: [String]) throws(FirnError) {
        switch form {
        case .markdown:
            try out.write("\n")
            for line in lines { try out.write("* \(MarkdownText.escaped(line))\n") }
        case .html: try out.write("<ul>\n" + lines.map { "<li>\(HTMLText.escaped($0))</li>\n" }.joined() + "</ul>\n")
        }
    }

    private func writeHeadings() throws(FirnError) {
        switch form {
        case .markdown:
            try out.write("\n" + MarkdownText.row([""] + grid.columns.map { MarkdownText.escaped($0.name) }))
            try out.write(MarkdownText.rule(isNumber: [false] + grid.columns.map(\.isNumber)))
        case .html:
            let cells = grid.columns.map { column in
                HTMLText.cell(HTMLText.escaped(column.name), classes(column), isHeading: true)
            }
            try out.write("<table>\n<tr>" + HTMLText.cell("", isHeading: true) + cells.joined() + "</tr>\n")
        }
    }

    private func write(_ kind: DifferenceEntry.Kind, _ cells: [DiffGrid.Cell]) throws(FirnError) {
        let mark =
            switch kind {
            case .added: "+"
            case .removed: "-"
            case .changed: "~"
            }
        switch form {
        case .markdown: try out.write(MarkdownText.row([MarkdownText.escaped(mark)] + cells.map(markdown)))
        case .html:
            let texts = zip(cells, grid.columns).map { cell, column in
                var names = classes(column)
                if case .changed = cell { names.append("changed") }
                return HTMLText.cell(html(cell), names)
            }
            try out.write("<tr class=\"\(kind)\">" + HTMLText.cell(mark) + texts.joined() + "</tr>\n")
        }
    }

    private func classes(_ column: DiffGrid.Column) -> [String] {
        var names = column.isNumber ? ["number"] : []
        switch column.change {
        case .added: names.append("new")
        case .removed: names.append("old")
        case .renamed, nil: break
        }
        return names
    }

    private func markdown(_ cell: DiffGrid.Cell) -> String {
        switch cell {
        case .absent: return ""
        case .same(let shown): return shown.value.isNull ? "" : MarkdownText.escaped(ShownEdit.text(shown.value, shown.notation))
        case .changed(let column, let old, let new):
            return ShownEdit.all(difference, column, from: old, to: new).map { edit in
                let path = edit.path.map { MarkdownText.escaped($0) + ": " } ?? ""
                let old = edit.old.map(MarkdownText.escaped), new = edit.new.map(MarkdownText.escaped)
                guard let old else { return "\\+ \(path)\(new ?? "")" }
                return new.map { "\(path)\(old) → \($0)" } ?? "\\- \(path)\(old)"
            }.joined(separator: "<br>")
        }
    }

    private func html(_ cell: DiffGrid.Cell) -> String {
        switch cell {
        case .absent: return ""
        case .same(let shown):
            return shown.value.isNull ? "<span class=\"null\">null</span>" : HTMLText.escaped(ShownEdit.text(shown.value, shown.notation))
        case .changed(let column, let old, let new):
            return ShownEdit.all(difference, column, from: old, to: new).map { edit in
                let old = edit.old.map { "<del>\(HTMLText.escaped($0))</del>" }, new = edit.new.map { "<ins>\(HTMLText.escaped($0))</ins>" }
                return (edit.path.map { HTMLText.escaped($0) + ": " } ?? "") + [old, new].compactMap(\.self).joined(separator: " → ")
            }.joined(separator: "<br>")
        }
    }
}
