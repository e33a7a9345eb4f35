import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnTable

/// The counts of differences: rows, then cells by column, then the differences of the columns.
struct DiffSummary {
    let difference: TableDifference
    let style: Style

    init(_ difference: TableDifference, _ style: Style) {
        self.difference = difference
        self.style = style
    }

    func write(to out: DiffOutput) throws(FirnError) {
        try out.write(counts + "\n")
        let columns = difference.columns.filter { $0.changed > 0 }.enumerated().sorted {
            ($1.element.changed, $0.offset) < ($0.element.changed, $1.offset)
        }.map(\.element)
        if !columns.isEmpty {
            try out.write("\n\(Quantity.count(difference.changedCells, "cell")) changed, in \(Quantity.count(columns.count, "column")):\n")
            let width = columns.map { DisplayWidth.of(DisplayWidth.visible($0.name)) }.max() ?? 0
            let digits = columns.map { Quantity.count($0.changed).utf8.count }.max() ?? 0
            for column in columns {
                let name = DisplayWidth.visible(column.name), number = Quantity.count(column.changed)
                let gap = String(repeating: " ", count: width - DisplayWidth.of(name) + 2 + digits - number.utf8.count)
                try out.write("  \(name)\(gap)\(number)\n")
            }
        }
        let lines = schemaLines
        if !lines.isEmpty { try out.write("\n" + lines.map { $0 + "\n" }.joined()) }
    }

    /// `225,761 added, 436 removed, 114,573 changed, 1,776,882 unchanged`
    var counts: String {
        [
            style.green("\(Quantity.count(difference.added)) added"), style.red("\(Quantity.count(difference.removed)) removed"),
            style.yellow("\(Quantity.count(difference.changed)) changed"), "\(Quantity.count(difference.unchanged)) unchanged",
        ].joined(separator: ", ")
    }

    /// The differences of the schema, one line each.
    var schemaLines: [String] {
        let schema = difference.schema
        var lines = schema.removed.map {
            style.red("- column \(DisplayWidth.visible($0.name))") + ": \(DisplayWidth.visible($0.type.name))"
        }
        lines += schema.added.map { style.green("+ column \(DisplayWidth.visible($0.name))") + ": \(DisplayWidth.visible($0.type.name))" }
        lines += schema.retyped.map {
            style.yellow("~ column \(DisplayWidth.visible($0.name))") + ": \(DisplayWidth.visible("\($0.names.old) → \($0.names.new)"))"
        }
        lines += schema.renamed.map {
            style.yellow("~ column \(DisplayWidth.visible($0.old))") + ": renamed to \(DisplayWidth.visible($0.new))"
        }
        if schema.reordered { lines.append(style.yellow("~ the columns are in another order")) }
        return lines
    }
}
