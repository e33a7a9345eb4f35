import FirnBytes

/// A text table with aligned columns, for terminals.
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
    /// The maximum width of a cell, in terminal cells.
    private let cellLimit: Int

    /// The maximum width to which columns are padded. Without it, one text of a million characters would make every line as long.
    private static let maximumPadding = 4096

    package init(_ headings: [Heading], cellLimit: Int = .max) {
        self.headings = headings
        self.cellLimit = cellLimit
        widths = headings.map { min(DisplayWidth.of(DisplayWidth.visible($0.name)), cellLimit) }
    }

    package var rowCount: Int { rows.count }

    /// Appends a row. `cells` must have one element for each heading.
    package mutating func append(_ cells: [String]) {
        trap(unless: cells.count == headings.count, "pass one cell for each heading")
        let fitted = cells.map { DisplayWidth.fit($0, to: cellLimit) }
        for (i, cell) in fitted.enumerated() { widths[i] = max(widths[i], DisplayWidth.of(cell)) }
        rows.append(fitted)
    }

    /// Removes the rows but keeps the widths, so that later rows align with the printed ones.
    package mutating func removeRows() { rows.removeAll(keepingCapacity: true) }

    /// Returns the lines, each ending with a line feed. No line is wider than `width` terminal cells.
    package func lines(width: Int? = nil, heading: Bool = true, style: Style = .plain) -> [String] {
        let shown = shownColumns(within: width)
        var out: [String] = []
        if heading {
            out.append(style.strong(line(headings.map(\.name), shown)) + "\n")
            out.append(
                style.faint(shown.map { String(repeating: "─", count: min($0.width, TextTable.maximumPadding)) }.joined(separator: "  "))
                    + "\n")
        }
        for row in rows { out.append(line(row, shown) + "\n") }
        return out
    }

    /// Returns the columns to print and their widths. The widest columns are narrowed first; if that is not enough, columns are dropped
    /// from the right.
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

    /// Returns the number of columns that do not fit a line of `width` cells.
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
