import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnTable

/// Prints rows as an aligned table. On a terminal, lines are cut to its width; in a pipe, they are complete.
/// The widths of the columns are determined by the first 1,000 rows.
final class TablePrinter: RowPrinter {
    private static let sample = 1000
    /// The maximum number of bytes of cells that are held to determine the widths.
    private static let maximumHeld = 32 << 20

    private let out: StreamOut
    private let style: Style
    private let width: Int?
    private let isTerminal: Bool
    private var schema = Schema()
    private var type: TypeSchema?
    private var table = TextTable([])
    private var isStarted = false
    private var held = 0
    private let charge = CellCharge()
    private(set) var remarks: [String] = []

    init(_ session: Session) {
        out = session.out
        style = session.outStyle
        isTerminal = Machine.isTerminal(1)
        width = Machine.terminalWidth(1)
    }

    func begin(_ schema: Schema) throws(FirnError) {
        self.schema = schema
        let type = schema.roots[0]
        self.type = type
        table = TextTable(type.columns.map { .init($0.name, isNumber: $0.type.isNumber) }, cellLimit: isTerminal ? 60 : .max)
    }

    func write(_ batch: Batch, type _: String) throws(FirnError) {
        guard let type else { trap("call begin before write") }
        for row in 0..<batch.count {
            var cells: [String] = []
            cells.reserveCapacity(batch.columns.count)
            for (column, description) in zip(batch.columns, type.columns) {
                let value = column.value(at: row)
                // The memory for the text of a nested value is charged before the text is made.
                try charge.hold(held + CellText.minimumLength(value), type, description)
                cells.append(CellText.text(value, description, in: schema))
                held += cells[cells.count - 1].utf8.count
                try charge.hold(held, type, description)
            }
            table.append(cells)
            if table.rowCount == TablePrinter.sample || held > TablePrinter.maximumHeld { try print() }
        }
    }

    func finish() throws(FirnError) {
        try print()
        let hidden = table.hiddenColumns(within: width)
        if hidden > 0 {
            remarks.append(
                "\(Quantity.count(hidden, "column")) did not fit the terminal: select columns with --select, or pipe into 'less -S'")
        }
    }

    private func print() throws(FirnError) {
        for line in table.lines(width: width, heading: !isStarted, style: style) { try out.write(line) }
        isStarted = true
        table.removeRows()
        held = 0
    }
}

extension ColumnType {
    /// Whether values of the type are numbers, which are aligned to the right.
    var isNumber: Bool {
        guard !isCollection else { return false }
        switch kind {
        case .int, .float, .double, .decimal: return true
        default: return false
        }
    }
}
