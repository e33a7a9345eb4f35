import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// A writer of rows for people, which converts no values.
protocol RowPrinter: BatchWriter {}

/// Prints rows as a table in Markdown or HTML, row by row.
final class DocumentPrinter: RowPrinter {
    private let form: DocumentForm
    private let target: TextTarget
    private let title: String
    private var schema = Schema()
    private var type: TypeSchema?
    private let charge = CellCharge()
    let remarks: [String] = []

    /// - Parameter title: The title of a page.
    init(_ form: DocumentForm, _ target: TextTarget, title: String) {
        self.form = form
        self.target = target
        self.title = title
    }

    func begin(_ schema: Schema) throws(FirnError) {
        self.schema = schema
        let type = schema.roots[0], areNumbers = type.columns.map(\.type.isNumber)
        self.type = type
        switch form {
        case .markdown:
            try target.write(MarkdownText.row(type.columns.map { MarkdownText.escaped($0.name) }))
            try target.write(MarkdownText.rule(isNumber: areNumbers))
        case .html:
            try target.write(HTMLText.head(title: title) + "<table>\n<tr>")
            for (column, isNumber) in zip(type.columns, areNumbers) {
                try target.write(HTMLText.cell(HTMLText.escaped(column.name), isNumber ? ["number"] : [], isHeading: true))
            }
            try target.write("</tr>\n")
        }
    }

    func write(_ batch: Batch, type _: String) throws(FirnError) {
        guard let type else { trap("call begin before write") }
        for row in 0..<batch.count {
            var cells: [String] = [], held = 0
            cells.reserveCapacity(batch.columns.count)
            for (column, description) in zip(batch.columns, type.columns) {
                let value = column.value(at: row)
                // The memory for the text of a nested value is charged before the text is made.
                try charge.hold(held + CellText.minimumLength(value), type, description)
                let text = CellText.text(value, description, in: schema)
                held += text.utf8.count
                try charge.hold(held, type, description)
                switch form {
                case .markdown: cells.append(MarkdownText.escaped(text))
                case .html: cells.append(HTMLText.cell(HTMLText.escaped(text), description.type.isNumber ? ["number"] : []))
                }
            }
            switch form {
            case .markdown: try target.write(MarkdownText.row(cells))
            case .html: try target.write("<tr>" + cells.joined() + "</tr>\n")
            }
        }
    }

    func finish() throws(FirnError) {
        if form == .html { try target.write("</table>\n" + HTMLText.foot) }
        try target.finish()
    }
}

/// The charge to the memory limit for the texts of cells that are printed.
final class CellCharge {
    private let charge = MemoryCharge(.process)
    /// The number of copies of a cell in memory while it is printed.
    private static let copies = 4

    /// Charges cells of `total` bytes, if they are long. `column` is that of the last cell, for the error.
    func hold(_ total: Int, _ type: TypeSchema?, _ column: ColumnSchema) throws(FirnError) {
        let bytes = total * CellCharge.copies
        guard total > 1 << 20, bytes > charge.bytes, !charge.take(bytes - charge.bytes) else { return }
        throw FirnError.beyondMemory("column \"\(type?.name ?? "").\(column.name)\"", bytes - charge.bytes, .process)
    }
}
