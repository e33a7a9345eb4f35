import FirnBytes

/// How a text is cut into records and cells: delimiter, quote, escape and line ends. The fast scan (`CSVIndex`) reads plain forms only.
struct CSVForm: Hashable, Sendable {
    var delimiter: [UInt8] = [UInt8(ascii: ",")]
    var quote: UInt8? = UInt8(ascii: "\"")
    /// The byte before a quote within quotes; nil if quotes are doubled.
    var escape: UInt8?
    /// Whether a carriage return alone ends a record, and whether a line feed does.
    var endsAtReturns = false
    var endsAtFeeds = true
    /// The bytes at the start of a comment line; empty if there are no comments.
    var comment: [UInt8] = []
    /// The number of lines before the table.
    var preambleLines = 0
    /// The number of lines after the table that are not rows.
    var footerLines = 0
    /// Whether records that repeat the header, lines of dashes around it and lines of control characters are no rows.
    var omitsMarks = false

    /// Whether the fast scan reads this form.
    var isPlain: Bool {
        delimiter.count == 1 && escape == nil && comment.isEmpty && footerLines == 0 && !omitsMarks && endsAtReturns != endsAtFeeds
    }

    /// The marks of the text itself, whose form must be plain, or of the text that `CSVNormaliser` makes of it. That has quotes around cells
    /// with marks in them, also if the form has none.
    func marks(isNormalised: Bool) -> CSVMarks {
        // A cell may contain the first byte of a delimiter of several bytes.
        CSVMarks(
            delimiter: delimiter.count > 1 ? 0x1F : delimiter[0], quote: quote ?? (isNormalised ? UInt8(ascii: "\"") : CSVMarks.noQuote),
            newline: 10)
    }
}

/// The position of a cell within a text.
struct CSVCellRange {
    var start: Int
    var end: Int
    /// Whether the cell was in quotes. `start ..< end` is then the text within them.
    var isQuoted = false
    /// Whether the text contains doubled or escaped quotes.
    var hasEscapes = false
    /// Whether the bytes of the cell, with its quotes, are the same cell in a form in which quotes are doubled.
    var isPlain = false
}

/// What is unusual in a record.
struct CSVOddities: Sendable {
    /// Quotes within quoted cells that are neither doubled nor escaped.
    var innerQuotes = 0
    /// Cells that begin with a quote that does not quote them.
    var literalQuotes = 0
    /// The position of a quote that is never closed.
    var unclosed: Int?
    /// Quoted cells with spaces around the quotes.
    var spaced = 0
    /// Whether unquoted cells contain quotes, line ends or escapes, or bytes are escaped that need not be.
    var isLenient = false

    var isFaulty: Bool { innerQuotes > 0 || literalQuotes > 0 }
    /// Whether anything is unusual.
    var isAny: Bool { isFaulty || unclosed != nil || spaced > 0 || isLenient }
}

/// Reads one record at a time, of any form.
struct CSVRecordScan {
    enum LineEnd { case feed, returnFeed, carriageReturn, none }

    let form: CSVForm
    private(set) var cells: [CSVCellRange] = []
    private(set) var oddities = CSVOddities()
    /// The end of the record before its line end, and the start of the next record.
    private(set) var contentEnd = 0, next = 0
    private(set) var lineEnd = LineEnd.none

    private let first: UInt8, long: [UInt8]?, quote: Int, escape: Int

    init(_ form: CSVForm) {
        self.form = form
        first = form.delimiter[0]
        long = form.delimiter.count > 1 ? form.delimiter : nil
        quote = form.quote.map(Int.init) ?? -1
        escape = form.escape.map(Int.init) ?? -1
    }

    /// Scans the record that begins at `start`. Returns false if its end may be after `end`. `isLast` means that the text ends there.
    mutating func scan(_ text: [UInt8], from start: Int, to end: Int, isLast: Bool) -> Bool {
        scan(text.span, from: start, to: end, isLast: isLast)
    }

    private mutating func scan(_ text: Span<UInt8>, from start: Int, to end: Int, isLast: Bool) -> Bool {
        cells.removeAll(keepingCapacity: true)
        oddities = CSVOddities()
        var at = start
        while true {
            guard let after = cell(text, at, end, isLast: isLast) else { return false }
            if after < end, let length = delimiterLength(text, after, end, isLast: isLast) {
                if length < 0 { return false }
                at = after + length
                continue
            }
            contentEnd = after
            break
        }
        if contentEnd >= end {
            guard isLast else { return false }
            (lineEnd, next) = (.none, end)
        } else if text[contentEnd] == 10 {
            (lineEnd, next) = (.feed, contentEnd + 1)
        } else if contentEnd + 1 < end, text[contentEnd + 1] == 10 {
            (lineEnd, next) = (.returnFeed, contentEnd + 2)
        } else {
            guard contentEnd + 1 < end || isLast else { return false }
            (lineEnd, next) = (.carriageReturn, contentEnd + 1)
        }
        return true
    }

    /// Returns the length of the delimiter at a position; nil if there is none, and -1 if the text ends within what may be one.
    private func delimiterLength(_ text: Span<UInt8>, _ at: Int, _ end: Int, isLast: Bool) -> Int? {
        guard text[at] == first else { return nil }
        guard let long else { return 1 }
        let available = min(long.count, end - at)
        for i in 1..<max(available, 1) where text[at + i] != long[i] { return nil }
        if available == long.count { return long.count }
        return isLast ? nil : -1
    }

    /// Whether a record ends at a position. A carriage return at the end of the available text counts as an end.
    private func endsRecord(_ text: Span<UInt8>, _ at: Int, _ end: Int) -> Bool {
        let byte = text[at]
        if byte == 10 { return form.endsAtFeeds }
        guard byte == 13 else { return false }
        return form.endsAtReturns || at + 1 >= end || text[at + 1] == 10 && form.endsAtFeeds
    }

    /// Adds the cell that begins at a position, and returns the position after it; nil if more text is needed.
    private mutating func cell(_ text: Span<UInt8>, _ start: Int, _ end: Int, isLast: Bool) -> Int? {
        var open = start
        while open < end, text[open] == 32, first != 32 { open += 1 }
        if open == end, !isLast { return nil }
        if open < end, Int(text[open]) == quote {
            switch quoted(text, open, end, isLast: isLast) {
            case .more: return nil
            case .closed(let close, let after, let hasEscapes, let inner):
                let isSpaced = open > start || after > close + 1
                if isSpaced { oddities.spaced += 1 }
                oddities.innerQuotes += inner
                let isPlain = !isSpaced && inner == 0 && (!hasEscapes || escape < 0)
                cells.append(CSVCellRange(start: open + 1, end: close, isQuoted: true, hasEscapes: hasEscapes, isPlain: isPlain))
                return after
            case .literal: oddities.literalQuotes += 1
            }
        }
        var at = start, hasEscapes = false, isLenient = false
        while at < end {
            let byte = text[at]
            if byte == first, let length = delimiterLength(text, at, end, isLast: isLast) {
                if length < 0 { return nil }
                break
            }
            if byte == 10 || byte == 13 {
                if endsRecord(text, at, end) { break }
                isLenient = true
            }
            if Int(byte) == quote { isLenient = true }
            if Int(byte) == escape, quote < 0 {
                if at + 1 >= end, !isLast { return nil }
                // The writer quotes such cells.
                isLenient = true
                hasEscapes = true
                at += 1
            }
            at += 1
        }
        at = min(at, end)
        if at == end, !isLast { return nil }
        if isLenient { oddities.isLenient = true }
        cells.append(CSVCellRange(start: start, end: at, hasEscapes: hasEscapes, isPlain: !isLenient))
        return at
    }

    private enum Quoted { case more, literal, closed(Int, after: Int, hasEscapes: Bool, inner: Int) }

    /// Scans a cell whose quote is at `open`. A quote within it that is followed by neither a delimiter nor a line end is text if the cell
    /// ends with a quote in the same line. Otherwise the quote at `open` is text too.
    private mutating func quoted(_ text: Span<UInt8>, _ open: Int, _ end: Int, isLast: Bool) -> Quoted {
        var at = open + 1, hasEscapes = false, crossesLines = false, inner = 0
        while at < end {
            let byte = text[at]
            if Int(byte) == escape {
                if at + 1 >= end { break }
                if !isEscaped(text[at + 1]) { oddities.isLenient = true }
                hasEscapes = true
                at += 2
                continue
            }
            if Int(byte) == quote {
                if at + 1 < end, Int(text[at + 1]) == quote, escape < 0 || isDoubled(text, at, end) {
                    // Some writers double quotes in texts in which others are escaped.
                    if escape >= 0 { oddities.isLenient = true }
                    hasEscapes = true
                    at += 2
                    continue
                }
                var after = at + 1
                while after < end, text[after] == 32, first != 32 { after += 1 }
                if after >= end, !isLast { return .more }
                if after >= end || endsRecord(text, after, end) {
                    return .closed(at, after: min(after, end), hasEscapes: hasEscapes, inner: inner)
                }
                // A delimiter can begin with a space that was passed over.
                for from in at + 1...after where text[from] == first {
                    guard let length = delimiterLength(text, from, end, isLast: isLast) else { continue }
                    if length < 0 { return .more }
                    return .closed(at, after: from, hasEscapes: hasEscapes, inner: inner)
                }
                if crossesLines { return .literal }
                inner += 1
            } else if byte == 10 || byte == 13, endsRecord(text, at, end) {
                if inner > 0 { return .literal }
                crossesLines = true
            } else if inner > 0, byte == first, let length = delimiterLength(text, at, end, isLast: isLast) {
                if length < 0 { return .more }
                var after = at + length
                while after < end, text[after] == 32 { after += 1 }
                if after >= end, !isLast { return .more }
                if after < end, Int(text[after]) == quote { return .literal }
            }
            at += 1
        }
        guard isLast else { return .more }
        oddities.unclosed = oddities.unclosed ?? open
        return .literal
    }

    /// Whether two quotes at a position, in a form with an escape, are one within the text: neither the cell nor the record ends after them.
    private func isDoubled(_ text: Span<UInt8>, _ at: Int, _ end: Int) -> Bool {
        guard at + 2 < end else { return false }
        return text[at + 2] != first && text[at + 2] != 10 && text[at + 2] != 13
    }

    /// Appends the text of a cell to `out`, without escapes.
    func append(_ cell: CSVCellRange, of text: [UInt8], to out: inout [UInt8]) {
        guard cell.hasEscapes else { return out.append(contentsOf: text[cell.start..<cell.end]) }
        var at = cell.start
        while at < cell.end {
            let byte = text[at]
            if Int(byte) == escape, at + 1 < cell.end, isEscaped(text[at + 1]) {
                out.append(text[at + 1])
                at += 2
            } else if Int(byte) == quote, at + 1 < cell.end, Int(text[at + 1]) == quote {
                out.append(byte)
                at += 2
            } else {
                out.append(byte)
                at += 1
            }
        }
    }

    /// Whether an escape before this byte is not part of the text.
    private func isEscaped(_ byte: UInt8) -> Bool {
        Int(byte) == quote || Int(byte) == escape || quote < 0 && (byte == first || byte == 10 || byte == 13)
    }
}
