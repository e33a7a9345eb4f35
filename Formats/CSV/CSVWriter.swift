import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Options for CSV output.
package struct CSVWriterOptions: Sendable {
    /// Nil stands for the delimiter of the input, or `,` if the rows were not read from CSV.
    package var delimiter: UInt8?
    /// Nil writes a header if the input had one, or if the rows were not read from CSV.
    package var hasHeader: Bool?
    /// The text of null cells; cells with the same text are quoted. Nil stands for the texts of the input, or the empty text.
    package var nullText: String?
    /// Whether line ends, quoting, header names and byte order mark are those of the input (if the rows were read from CSV).
    package var usesDialect = true
    /// Whether lines around the rows (before the header, comments, blank lines) and rows with fewer cells are written as in the input.
    package var writesSurroundings = true
    /// Whether the encoding is that of the input too, so that output has the same bytes.
    package var isExact = false
    /// Nil stands for UTF-8, or for the encoding of the input if the output must have the same bytes.
    package var encoding: CSVEncoding?
    /// The number of threads that format rows.
    package var threads = 1

    package init() {}
}

/// Writes rows of one type as CSV that reads back cell for cell. Lists, maps and embedded objects become compact JSON in one cell.
package final class CSVWriter: BatchWriter {
    package private(set) var remarks: [String] = []
    private let output: Output
    private let options: CSVWriterOptions
    private var schema = Schema()
    private var sources: [CSVLines.Source] = []
    private var type = TypeSchema("", columns: [])
    private var dialect = CSVDialect()
    private var styles: [CSVLane.Style] = []
    /// One for each thread that formats rows, made when it is needed.
    private var lines: [CSVLines] = []
    /// Whether the line end of the last record has not been written yet; it is written before the next record, so that it can be omitted at
    /// the end.
    private var owesNewline = false
    /// The rows before which lines are written, or that have fewer cells, from the next one on; and the number of rows written.
    private var specialRows: [Int] = []
    private var nextSpecial = 0
    private var rowsWritten = 0
    private var converter: CSVConverter?

    /// How many rows are written at a time: 512, and fewer if there are many columns, each of which has a buffer for them.
    private var rowsAtATime = 512
    private static let maximumCells = 1 << 20

    package init(_ output: Output, options: CSVWriterOptions = CSVWriterOptions()) {
        self.output = output
        self.options = options
    }

    package func begin(_ schema: Schema) throws(FirnError) {
        try schema.checkHasRows(for: "CSV", at: output.name)
        guard schema.roots.count == 1, let type = schema.roots.first else {
            throw FirnError(
                .usage,
                "CSV can contain only one type, and there are \(schema.roots.count): " + schema.roots.map(\.name).joined(separator: ", "),
                at: .init(file: output.name), advice: "choose one with FILE:Type")
        }
        self.schema = schema
        let companions = type.companions
        sources = type.visibleColumns.map { ($0, companions[$0]) }
        self.type = type.visible
        if options.usesDialect, let read = CSVDialect(envelope: type.envelope) {
            dialect = read
            if !options.isExact, !read.isExact {
                if read.encoding != .utf8 { dialect.hasByteOrderMark = false }
                dialect.encoding = .utf8
            }
        }
        if let encoding = options.encoding, encoding != dialect.encoding {
            dialect.encoding = encoding
            dialect.hasByteOrderMark = false
        }
        // All characters are written as UTF-8.
        if dialect.encoding == .mixed { dialect.encoding = .utf8 }
        if let delimiter = options.delimiter { dialect.delimiterBytes = [delimiter] }
        if !options.writesSurroundings {
            // The end of the input was that of its last line.
            if !dialect.surroundings.footer.isEmpty { dialect.endsWithNewline = true }
            (dialect.surroundings, dialect.trailing, dialect.headerCells, dialect.namesRows) = (CSVSurroundings(), 0, nil, false)
        }
        specialRows = Set(dialect.surroundings.inserted.keys).union(dialect.surroundings.cells.keys).sorted()
        if let hasHeader = options.hasHeader { dialect.hasHeader = hasHeader }
        if let nullText = options.nullText { (dialect.nullText, dialect.ownNullTexts) = (nullText, [:]) }
        let quote = dialect.quote ?? UInt8(ascii: "\"")
        let marks = CSVMarks(delimiter: dialect.delimiter, quote: quote, newline: dialect.newlineByte)
        let quoted = Set(dialect.quotedColumns)
        rowsAtATime = max(1, min(512, CSVWriter.maximumCells / max(1, sources.count)))
        for (i, column) in self.type.columns.enumerated() {
            styles.append(
                CSVLane.Style(
                    marks: marks, nullText: Array((dialect.ownNullTexts[i] ?? dialect.nullText).utf8), isAlwaysQuoted: quoted.contains(i),
                    description: column, schema: schema, escape: dialect.escape,
                    longDelimiter: dialect.delimiterRest.isEmpty ? [] : dialect.delimiterBytes, quotesAreText: dialect.quote == nil))
            if column.type.isCollection || column.type.kind == .embedded || column.type.kind == .any {
                remarks.append("column \"\(column.name)\" (\(column.type.shownName)) is written as JSON in one cell")
            } else if column.type.kind == .data {
                remarks.append("column \"\(column.name)\" is written as base64")
            }
        }
        if dialect.hasByteOrderMark { try put([0xEF, 0xBB, 0xBF]) }
        try put(Array(dialect.surroundings.preamble.utf8))
        if dialect.hasHeader { try writeHeader() }
    }

    private func writeHeader() throws(FirnError) {
        try put(dialect.headerText(type.columns.enumerated().map { dialect.headerNames[$0.offset] ?? $0.element.name }))
        owesNewline = true
    }

    package func write(_ batch: Batch, type: String) throws(FirnError) {
        guard type == self.type.name else {
            throw FirnError(
                .schema, "a CSV holds rows of one type, here \"\(self.type.name)\": rows of type \"\(type)\" cannot be written to it",
                at: .init(file: output.name))
        }
        var row = 0
        while row < batch.count {
            let isPlain = dialect.delimiterRest.isEmpty && dialect.trailing == 0
            let special = nextSpecial < specialRows.count ? specialRows[nextSpecial] - rowsWritten : batch.count
            // Rows that are written in the same way, up to the next special one.
            let end = isPlain ? min(batch.count, row + max(0, special)) : row
            if end > row { try writeLines(batch, row..<end) }
            rowsWritten += end - row
            row = end
            guard row < batch.count else { break }
            let rows = row..<min(row + rowsAtATime, batch.count)
            ownLines(0).fill(batch, rows)
            try writeSpecialLines(rows.count, ownLines(0).lanes)
            rowsWritten += rows.count
            row = rows.upperBound
        }
    }

    private func ownLines(_ thread: Int) -> CSVLines {
        while lines.count <= thread { lines.append(CSVLines(sources, styles, rowsAtATime: rowsAtATime)) }
        return lines[thread]
    }

    /// Writes rows that are regular lines. Each thread formats some of them; the pieces are written in order.
    private func writeLines(_ batch: Batch, _ rows: Range<Int>) throws(FirnError) {
        for pieces in RowPieces.groups(batch, rows, threads: options.threads) {
            let lines = pieces.indices.map(ownLines)
            var ends = CSVLineForm(delimiter: dialect.delimiter, newline: newlineBytes, beginsWithNewline: owesNewline)
            let first = ends
            ends.beginsWithNewline = true
            let next = ends
            parallel(count: pieces.count, threads: pieces.count) { (i) throws(Never) in
                lines[i].format(batch, pieces[i], i == 0 ? first : next)
            }
            for part in lines { try put(part.bytes) }
            owesNewline = true
        }
    }

    /// Joins the cells of the lanes to lines whose delimiter has several bytes, that end with delimiters, or that are irregular.
    private func writeSpecialLines(_ rows: Int, _ lanes: [CSVLane]) throws(FirnError) {
        let delimiter = dialect.delimiterBytes, newline = newlineBytes
        var text: [UInt8] = []
        for row in 0..<rows {
            if owesNewline { text += newline }
            owesNewline = true
            var cells = lanes.count + dialect.trailing
            if nextSpecial < specialRows.count, specialRows[nextSpecial] == rowsWritten + row {
                if let lines = dialect.surroundings.inserted[rowsWritten + row] { text += Array(lines.utf8) }
                if let count = dialect.surroundings.cells[rowsWritten + row] { cells = shortened(row, to: count, lanes) }
                nextSpecial += 1
            }
            for i in 0..<cells {
                if i > 0 { text += delimiter }
                if i < lanes.count { lanes[i].append(row, to: &text) }
            }
        }
        try put(text)
    }

    /// Returns the number of cells to write for a row that had `count` of them: no cell with text is left out.
    private func shortened(_ row: Int, to count: Int, _ lanes: [CSVLane]) -> Int {
        guard count < lanes.count else { return min(count, lanes.count + 1 << 10) }
        return (count..<lanes.count).allSatisfy { lanes[$0].isEmpty(row) } ? count : lanes.count
    }

    private var newlineBytes: [UInt8] {
        switch dialect.newline {
        case .lf: [10]
        case .crlf: [13, 10]
        case .cr: [13]
        }
    }

    package func finish() throws(FirnError) {
        let rest = (dialect.surroundings.inserted[rowsWritten] ?? "") + dialect.surroundings.footer
        if owesNewline, dialect.endsWithNewline || !rest.isEmpty { try put(newlineBytes) }
        // Without a line end at the end of the input, the last of these lines had none.
        try put(Array(rest.utf8))
        try output.finish()
    }

    private func put(_ bytes: [UInt8]) throws(FirnError) { try bytes.withBytes(put) }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(FirnError) {
        if dialect.encoding == .utf8 { return try output.write(bytes) }
        if case .named(let name) = dialect.encoding { return try put(bytes, named: name) }
        var encoded: [UInt8] = []
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if dialect.encoding == .latin1 || dialect.encoding == .windows1252 {
                guard let byte = dialect.encoding.byte(scalar) else { throw missing(Character(scalar)) }
                encoded.append(byte)
            } else {
                for unit in String(Character(scalar)).utf16 {
                    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                    encoded += dialect.encoding == .utf16BigEndian ? [high, low] : [low, high]
                }
            }
        }
        try output.write(encoded)
    }

    private func put(_ bytes: UnsafeRawBufferPointer, named name: String) throws(FirnError) {
        if converter == nil { converter = CSVConverter(from: "UTF-8", to: name) }
        guard let converter else {
            throw FirnError(
                .usage, "the encoding \"\(name)\" is not known here", at: .init(file: output.name),
                advice: "write UTF-8 instead: --encoding utf-8")
        }
        let text = Array(bytes), (encoded, used, _) = converter.convert(text)
        guard used == text.count else {
            throw missing(String(decoding: text[used...].prefix(8), as: UTF8.self).first ?? "?")
        }
        try output.write(encoded)
    }

    private func missing(_ character: Character) -> FirnError {
        let name = dialect.encoding == .latin1 ? "Latin-1" : dialect.encoding.rawValue
        return FirnError(
            .rejected, "the character \"\(character)\" is not in \(name)", at: .init(file: output.name),
            advice: "write UTF-8 instead: --encoding utf-8")
    }
}
