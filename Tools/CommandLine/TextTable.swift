/// A table of text with aligned columns, as people read it on a terminal.
package struct TextTable: Sendable {
    package struct Heading: Sendable {
        package let name: String
        package let isNumber: Bool

        package init(_ name: String, isNumber: Bool = false) {
            self.name = name
            self.isNumber = isNumber
        }
    }

    private let headings: [Heading]
    private var widths: [Int]
    private var rows: [[String]] = []
    /// No cell is wider than this many terminal cells.
    private let cellLimit: Int

    /// Columns are padded to this width at most: a text of a million characters would otherwise make every line as long.
    private static let maximumPadding = 4096

    package init(_ headings: [Heading], cellLimit: Int = .max) {
        self.headings = headings
        self.cellLimit = cellLimit
        widths = headings.map { min(DisplayWidth.of(DisplayWidth.visible($0.name)), cellLimit) }
    }

    package var rowCount: Int { rows.count }

    /// One cell for each heading.
    package mutating func append(_ cells: [String]) {
        precondition(cells.count == headings.count, "a row needs one cell for each heading")
        let fitted = cells.map { DisplayWidth.fit($0, to: cellLimit) }
        for (i, cell) in fitted.enumerated() { widths[i] = max(widths[i], DisplayWidth.of(cell)) }
        rows.append(fitted)
    }

    /// Drops the rows but keeps the widths, so that what follows lines up with what was printed.
    package mutating func removeRows() { rows.removeAll(keepingCapacity: true) }

    /// The lines, each ending with a line feed; none wider than `width` cells.
    package func lines(width: Int? = nil, heading: Bool = true, style: Style = .plain) -> [String] {
        let shown = shownColumns(within: width)
        var out: [String] = []
        if heading {
            out.append(style.strong(line(headings.map(\.name), shown)) + "\n")
            out.append(style.faint(shown.map { String(repeating: "─", count: min($0.width, TextTable.maximumPadding)) }.joined(separator: "  ")) + "\n")
        }
        for row in rows { out.append(line(row, shown) + "\n") }
        return out
    }

    /// Columns that do not fit are left out from the right, after the widest ones have been narrowed.
    private func shownColumns(within width: Int?) -> [(index: Int, width: Int)] {
        var columns = widths.enumerated().map { (index: $0.offset, width: $0.element) }
        guard let width else { return columns }
        func total() -> Int { columns.reduce(0) { $0 + $1.width } + 2 * max(columns.count - 1, 0) }
        while total() > width, let widest = columns.indices.max(by: { columns[$0].width < columns[$1].width }), columns[widest].width > 12 {
            let second = columns.indices.filter { $0 != widest }.map { columns[$0].width }.max() ?? 12
            columns[widest].width = max(12, min(columns[widest].width - 1, max(second, columns[widest].width - (total() - width))))
        }
        while total() > width, columns.count > 1 { columns.removeLast() }
        if total() > width, !columns.isEmpty { columns[0].width = max(1, width) }
        return columns
    }

    /// How many columns a line of `width` cells has no room for.
    package func hiddenColumns(within width: Int?) -> Int { headings.count - shownColumns(within: width).count }

    private func line(_ cells: [String], _ shown: [(index: Int, width: Int)]) -> String {
        var out = ""
        for (n, column) in shown.enumerated() {
            let cell = DisplayWidth.fit(cells[column.index], to: column.width)
            let padding = String(repeating: " ", count: max(0, min(column.width, TextTable.maximumPadding) - DisplayWidth.of(cell)))
            if n > 0 { out += "  " }
            out += headings[column.index].isNumber ? padding + cell : cell + padding
        }
        while out.last == " " { out.removeLast() }
        return out
    }
}
