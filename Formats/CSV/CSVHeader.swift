import FirnBytes
import FirnExchange

/// What the first bytes of a text determine: dialect, number of columns, names.
struct CSVHeader {
    var dialect = CSVDialect()
    var marks: CSVMarks
    /// The number of cells in a record.
    var width: Int
    /// The names of the columns, unique and not empty.
    var names: [String]
    /// The length of the header in bytes.
    var length: Int
    var remarks: [String] = []
    /// Whether writing the header in the dialect gives the same bytes.
    var isKept = true

    /// The memory that a column needs while its input is read (name, guesses, values of a batch, schema), in bytes.
    static let columnSize = 2048

    /// The cells of the first record, with what is needed to compare them with those below.
    private(set) var cells: [Cell] = []

    /// Parses the first record, which `block` must contain completely. `charge` is for the columns. `isNormalised` means that the text is
    /// that of `CSVNormaliser`.
    init(
        _ block: CSVBlock, _ form: CSVForm, hasHeader: Bool, _ source: any CSVSource, isNormalised: Bool, charge: MemoryCharge
    ) throws(FirnError) {
        let memory = block.memory, count = block.count
        dialect.quote = form.quote
        dialect.escape = form.escape
        dialect.delimiterBytes = form.delimiter
        dialect.hasHeader = hasHeader
        marks = form.marks(isNormalised: isNormalised)
        var start = isNormalised ? 0 : CSVHeader.skip(lines: form.preambleLines, memory, count) ?? count
        if !isNormalised { dialect.newline = CSVHeader.newline(memory + start, count - start, marks.quote) }
        let newline = dialect.newlineByte
        marks.newline = newline
        var finder = CSVRecordFinder(marks)
        let table = start
        // Blank lines before the header are skipped. The normaliser writes none, and a row of one empty cell is an empty line.
        if !isNormalised { start = CSVHeader.skipBlankLines(memory, start, count, newline: newline) }
        if start > table { remarks.append("blank lines before the first record were skipped") }
        finder.advance(memory + start, to: count - start, limit: 1, isLast: true)
        let end = finder.records > 0 ? start + finder.boundary : count
        guard end > start else {
            throw CSVHeader.nothing(after: form.preambleLines, source.input.name)
        }
        if start > 0 {
            guard let before = String(validating: UnsafeBufferPointer(start: memory, count: start), as: UTF8.self) else {
                throw try source.invalid(at: 0, newline: newline)
            }
            dialect.surroundings.keep(preamble: before)
            isKept = !dialect.surroundings.isCut
        }
        cells = try CSVHeader.cells(memory, start, end, marks, source, charge)
        width = cells.count
        names = cells.indices.map { "column\($0 + 1)" }
        length = start
        if hasHeader {
            length = end
            names = cells.map(\.text)
            dialect.quotesHeader = cells.contains(where: \.isQuotedNeedlessly)
            if finder.records == 0 { dialect.endsWithNewline = false }
            var lineEnd = end
            if finder.records > 0 {
                lineEnd -= 1
                if newline == 10, lineEnd > start, memory[lineEnd - 1] == 13 { lineEnd -= 1 }
                isKept = isKept && lineEnd + (dialect.newline == .crlf ? 2 : 1) == end
            }
            isKept =
                isNormalised
                || isKept && dialect.headerText(names).elementsEqual(UnsafeBufferPointer(start: memory + start, count: lineEnd - start))
            makeNamesUnique()
        }
    }

    /// The error for an input without any record, apart from skipped lines before and after the table.
    static func nothing(after first: Int, before last: Int = 0, _ name: String) -> FirnError {
        func lines(_ count: Int) -> String { count == 1 ? "line" : "\(count) lines" }
        let parts = [first > 0 ? "after the first \(lines(first))" : nil, last > 0 ? "before the last \(lines(last))" : nil]
            .compactMap(\.self)
        let flags = [first > 0 ? "--skip" : nil, last > 0 ? "--skip-footer" : nil].compactMap(\.self)
        guard !parts.isEmpty else {
            return FirnError(.rejected, "the input is empty: there is no header and no row", at: .init(file: name))
        }
        return FirnError(
            .rejected, "there is no header and no row \(parts.joined(separator: " and "))", at: .init(file: name),
            advice:
                "\(flags.joined(separator: " and ")) \(flags.count == 1 ? "sets" : "set") the number of lines \(last == 0 ? "before" : first == 0 ? "after" : "around") the table"
        )
    }

    /// Returns the position after the blank lines from a position on.
    static func skipBlankLines(_ memory: UnsafePointer<UInt8>, _ start: Int, _ count: Int, newline: UInt8) -> Int {
        var at = start
        while at < count, memory[at] == newline || (memory[at] == 13 && at + 1 < count && memory[at + 1] == newline) { at += 1 }
        return at
    }

    /// Returns the position after some lines; nil if there are fewer.
    static func skip(lines: Int, _ memory: UnsafePointer<UInt8>, _ count: Int) -> Int? {
        var at = 0
        for _ in 0..<lines {
            while at < count, memory[at] != 10, memory[at] != 13 { at += 1 }
            if at >= count { return nil }
            at += memory[at] == 13 && at + 1 < count && memory[at + 1] == 10 ? 2 : 1
        }
        return at
    }

    private mutating func makeNamesUnique() {
        var taken = Set(names.filter { !$0.isEmpty }), used = Set<String>(), nextNumber: [String: Int] = [:], unnamed = 0, doubled = 0
        for (i, name) in names.enumerated() {
            if !name.isEmpty, used.insert(name).inserted { continue }
            let stem = name.isEmpty ? "column" : name
            var number = name.isEmpty ? i + 1 : nextNumber[name] ?? 2
            while taken.contains("\(stem)_\(number)") { number += 1 }
            if !name.isEmpty { nextNumber[name] = number + 1 }
            let unique = "\(stem)_\(number)"
            taken.insert(unique)
            used.insert(unique)
            dialect.headerNames[i] = name
            names[i] = unique
            if name.isEmpty { unnamed += 1 } else { doubled += 1 }
            if unnamed + doubled <= 3 {
                remarks.append(
                    name.isEmpty
                        ? "column \(i + 1) has no name; it is called \"\(unique)\""
                        : "column \(i + 1) has the name \"\(name)\" of another column; it is called \"\(unique)\"")
            }
        }
        if unnamed + doubled > 3 { remarks.append("\(unnamed + doubled - 3) more columns have no name or the name of another column") }
    }

    /// Charges memory for `width` columns, and for the copies of a long record, before it is allocated.
    private static func take(_ width: Int, length: Int, _ charge: MemoryCharge, _ text: any CSVSource) throws(FirnError) {
        // One copy for the index, one for the cells, one for the names in the schema, and one to compare with the header in the dialect.
        let copies = length < 1 << 18 ? 0 : length * 4
        let more = width * columnSize + copies - charge.bytes
        guard more > 0, !charge.take(more) else { return }
        let size = copies > width * columnSize ? MemoryBudget.words(length) : "\(width) cells"
        throw FirnError.beyondMemory("a first record of \(size)", more, charge.budget, at: .init(file: text.input.name, line: 1))
    }

    struct Cell {
        var text: String
        var isQuoted: Bool
        var isQuotedNeedlessly: Bool
    }

    private static func cells(
        _ memory: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ marks: CSVMarks, _ text: any CSVSource, _ charge: MemoryCharge
    ) throws(FirnError) -> [Cell] {
        // The width is not known yet. The first estimate counts delimiters; then widths are tried until the index accepts the record.
        var width = 1, inQuotes = false
        for at in start..<end {
            if memory[at] == marks.quote { inQuotes.toggle() } else if memory[at] == marks.delimiter, !inQuotes { width += 1 }
        }
        try take(width, length: end - start, charge, text)
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: end - start + scanSlack)
        defer { copy.deallocate() }
        while true {
            copy.update(from: memory + start, count: end - start)
            (copy + (end - start)).update(repeating: 0, count: scanSlack)
            try take(width, length: end - start, charge, text)
            let index = CSVIndex(width: width)
            _ = index.fill(copy, from: 0, to: end - start, marks: marks)
            if index.rows == 1 {
                var cells: [Cell] = []
                for column in 0..<width {
                    let from = Int(index.cells[column] & CSVIndex.startMask), to = Int(index.cells[column] >> 32)
                    let bytes = UnsafeBufferPointer(start: copy + from, count: to - from)
                    guard let name = String(validating: bytes, as: UTF8.self) else {
                        throw try text.invalid(at: UInt64(start), newline: marks.newline)
                    }
                    let isQuoted = index.cells[column] & CSVIndex.quotedBit != 0
                    cells.append(
                        Cell(text: name, isQuoted: isQuoted, isQuotedNeedlessly: isQuoted && !needsQuotes(copy + from, to - from, marks)))
                }
                return cells
            }
            guard let bad = index.bad.first else {
                throw FirnError(
                    .rejected, "the first record has no end and cannot be read as a header", at: .init(file: text.input.name, line: 1))
            }
            switch bad.fault {
            case .tooFew(let count): width = count
            case .tooMany(let count): width = count
            default:
                throw badRecord(bad.fault, width: width, cell: nil, at: try text.locate(UInt64(start + bad.offset), newline: marks.newline))
            }
        }
    }

    /// Returns the first line end outside quotes.
    static func newline(_ memory: UnsafePointer<UInt8>, _ count: Int, _ quote: UInt8) -> CSVDialect.Newline {
        var inQuotes = false
        for at in 0..<count {
            let byte = memory[at]
            if byte == quote { inQuotes.toggle() }
            if inQuotes { continue }
            if byte == 10 { return .lf }
            if byte == 13 { return at + 1 < count && memory[at + 1] == 10 ? .crlf : .cr }
        }
        return .lf
    }
}

/// Returns the error for a record that cannot be read.
func badRecord(
    _ fault: CSVFault, width: Int, cell: (text: String, column: String, type: ColumnTypeName)?, at location: FirnError.Location,
    isRagged: Bool = false
) -> FirnError {
    let advice =
        isRagged
        ? (fault == .afterQuote
            ? "correct the row, or choose another reading than --ragged error: the quotes are then text"
            : "choose another reading with --ragged, or set bad rows aside with --rejects FILE")
        : "correct the row, or set bad rows aside with --rejects FILE"
    switch fault {
    case .tooFew(let count): return FirnError(.rejected, "expected \(width) cells, found \(count)", at: location, advice: advice)
    case .tooMany(let count): return FirnError(.rejected, "expected \(width) cells, found \(count)", at: location, advice: advice)
    case .afterQuote:
        return FirnError(.rejected, "expected a delimiter or the end of the line after a closing quote", at: location, advice: advice)
    case .unclosedQuote: return FirnError(.rejected, "a quote is opened here and never closed", at: location, advice: advice)
    case .cell:
        guard let cell else { return FirnError(.rejected, "a cell does not fit its column's type", at: location, advice: advice) }
        if cell.type.kind == .double || cell.type.kind == .float, Double(cell.text) != nil {
            return FirnError(
                .rejected,
                "the number \"\(cell.text)\" does not fit into \(cell.type.kind == .float ? "a float" : "a double") unchanged (column \"\(cell.column)\")",
                at: location, advice: "use decimal or string in the schema, or set such rows aside with --rejects FILE")
        }
        let found = cell.text.isEmpty ? "nothing" : "\"\(cell.text)\""
        return FirnError(.rejected, "expected \(cell.type.words), found \(found) (column \"\(cell.column)\")", at: location, advice: advice)
    }
}
