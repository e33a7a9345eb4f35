import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnModel

/// Prints rows as an aligned table. On a terminal lines are cut to its width; in a pipe they are whole.
/// The widths of the columns are those of the first thousand rows.
final class TablePrinter: BatchWriter {
    private static let sample = 1000
    /// Bytes of cells that are held for the widths.
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
    private let charge = MemoryCharge(.process)
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
        guard let type else { preconditionFailure("begin comes before write") }
        for row in 0..<batch.count {
            let cells = zip(batch.columns, type.columns).map { CellText.text($0.value(at: row), $1, in: schema) }
            held += cells.reduce(0) { $0 + $1.utf8.count }
            try hold(cells, type)
            table.append(cells)
            if table.rowCount == TablePrinter.sample || held > TablePrinter.maximumHeld { try print() }
        }
    }

    /// Charges long cells: their lines are made next to them.
    private func hold(_ cells: [String], _ type: TypeSchema) throws(FirnError) {
        let bytes = held * TablePrinter.copies
        guard held > 1 << 20, bytes > charge.bytes, !charge.take(bytes - charge.bytes) else { return }
        let widest = cells.indices.max { cells[$0].utf8.count < cells[$1].utf8.count } ?? 0
        throw FirnError.beyondMemory("column \"\(type.name).\(type.columns[widest].name)\"", bytes - charge.bytes, .process)
    }

    /// How often a cell is in memory while it is printed.
    private static let copies = 4

    func finish() throws(FirnError) {
        try print()
        let hidden = table.hiddenColumns(within: width)
        if hidden > 0 {
            remarks.append("\(Quantity.count(hidden, "column")) did not fit the terminal: choose with --select, or pipe into 'less -S'")
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
    /// Shown at the right of its column.
    var isNumber: Bool {
        guard !isCollection else { return false }
        switch kind {
        case .int, .float, .double, .decimal: return true
        default: return false
        }
    }
}
