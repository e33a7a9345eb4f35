import FirnBytes
import FirnExchange

/// How `CSVNormaliser` makes a table of a surveyed text.
struct CSVLayout {
    let form: CSVForm
    let hasHeader: Bool
    let ragged: CSVRagged
    /// The number of columns.
    let width: Int
    /// The number of empty cells after the columns of each row.
    let trailing: Int
    /// The number of cells of the header, if it differs from that of the rows.
    let headerCells: Int?
    /// Whether the header has no cell for the first column, which has the names of the rows: each row has one cell more than the header.
    let namesRows: Bool
    let tableEnd: UInt64
    /// Whether blank lines are rows, as in a file of one column.
    let readsBlankLines: Bool
    /// Whether a row with a quote that is never closed is bad; otherwise the quote is text.
    let refusesUnclosed: Bool

    /// - Throws: `FirnError` if a row has so many cells that the others would mostly consist of padding.
    init(_ survey: CSVSurvey, _ ragged: CSVRagged, name: String) throws(FirnError) {
        form = survey.form
        hasHeader = survey.hasHeader
        self.ragged = ragged
        tableEnd = survey.tableEnd
        readsBlankLines = survey.first?.count == 1
        refusesUnclosed = ragged == .error || survey.mayEndInQuotes
        let first = survey.first ?? (1, 1, 1), usual = survey.usualWidth
        let filled = max(survey.widest.cells, first.named), used = filled == 0 ? max(first.count, usual) : filled
        let named = max(hasHeader ? first.named : min(used, usual), 1)
        if ragged == .widen || survey.widths.count == 1 && survey.widest.cells <= named {
            width = used
        } else {
            width = survey.widest.cells <= named ? named : hasHeader ? first.count : max(usual, 1)
        }
        // Cells that most rows fill are not trailing delimiters.
        trailing = survey.beyond(width).count * 2 > survey.rows ? 0 : max(survey.rows > 0 ? usual - width : first.count - width, 0)
        let cells = hasHeader ? first.count : width + trailing
        headerCells = cells == width + trailing ? nil : cells
        namesRows =
            ragged == .widen && hasHeader && survey.widths.count == 1 && survey.rows > 1 && usual == first.count + 1 && width == usual
            && first.named == first.count && survey.beyond(first.count).count * 2 > survey.rows
        let padding = survey.rows.multipliedReportingOverflow(by: width)
        if width > max(first.count, usual), padding.overflow || padding.partialValue - survey.cells > 16 * survey.cells + (1 << 16) {
            throw badRecord(
                .tooMany(survey.widest.cells), width: usual, cell: nil, at: .init(file: name, line: survey.widest.line), isRagged: true)
        }
        // A header that is much wider than the rows makes padding too.
        let most = (survey.cells + first.count) * 64 + (1 << 22)
        if ragged != .reject, ragged != .error, padding.overflow || padding.partialValue - survey.cells > most {
            throw FirnError(
                .rejected,
                "\(survey.rows) rows with \(survey.cells) cells in total would be padded to \(width) columns, more than 64 times as many",
                at: .init(file: name, line: first.line),
                advice: "choose another reading with --ragged, or set bad rows aside with --rejects FILE")
        }
    }

    /// Whether the text can be read without the normaliser, so that the result is the same.
    func isRegular(_ survey: CSVSurvey) -> Bool { isPlain(survey) && survey.widths.allSatisfy { $0.key == width } }

    /// Whether nothing is unusual, except the number of cells of some rows.
    func isPlain(_ survey: CSVSurvey) -> Bool {
        form.isPlain && trailing == 0 && headerCells == nil && tableEnd == .max && survey.unclosed == nil
            && survey.inner.isEmpty && survey.literal.isEmpty && survey.spaced.isEmpty && survey.surroundings.isEmpty
    }

    /// One line about everything that was read in an unusual way.
    func remarks(_ survey: CSVSurvey, names: [String]) -> [String] {
        var remarks: [String] = []
        let first = survey.first?.count ?? width, cells = width + trailing
        if trailing > 0 {
            remarks.append(
                trailing == 1
                    ? "rows end with a delimiter, which does not begin another column"
                    : "rows end with \(trailing) empty cells, which are not columns")
        }
        // The header, or else what most rows have, is what the others are compared with.
        let expected = min(width, hasHeader ? first : survey.usualWidth)
        var short = CSVPlaces(), surplus = CSVPlaces()
        let long = ragged == .cut ? survey.beyond(width) : CSVPlaces()
        for (count, lines) in survey.widths.sorted(by: { $0.value.line < $1.value.line }) where count != cells {
            if count < expected { short.add(lines.line, count: lines.count) }
            if count > cells, ragged != .cut { surplus.add(lines.line, count: lines.count) }
        }
        if ragged == .reject || ragged == .error { return remarks + otherRemarks(survey) }
        if !short.isEmpty { remarks.append("\(short.words("row")) with fewer than \(expected) cells; the missing cells are null") }
        if !long.isEmpty { remarks.append("\(long.words("row")) with more than \(width) cells, which were cut") }
        if namesRows {
            remarks.append("each row has one cell more than the header: the first one is the name of the row, in \"\(names.first ?? "")\"")
        } else if width > expected, width > first || !hasHeader {
            var wide = CSVPlaces()
            for (count, lines) in survey.widths.sorted(by: { $0.value.line < $1.value.line }) where count > expected {
                wide.add(lines.line, count: lines.count)
            }
            let list = names[min(expected, names.count)...].prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
            remarks.append(
                "\(wide.words("row")) with more cells than \(hasHeader ? "the header, which has" : "the usual") \(expected); the surplus cells are in \(list)"
                    + (width - expected > 3 ? ", …" : "") + "; use --ragged to pad, cut or reject such rows")
        } else if !surplus.isEmpty, ragged != .pad {
            remarks.append("\(surplus.words("row")) with surplus cells, all of them empty")
        }
        return remarks + otherRemarks(survey)
    }

    private func otherRemarks(_ survey: CSVSurvey) -> [String] {
        var remarks: [String] = []
        if !survey.footer.isEmpty {
            let advice = form.footerLines > 0 ? "" : "; use --skip-footer to set their number"
            remarks.append("\(survey.footer.words("line")) after the table: not read as rows\(advice)")
        }
        if !survey.comments.isEmpty { remarks.append("\(survey.comments.words("comment line")) skipped") }
        if form.omitsMarks {
            remarks.append(
                "\(survey.marks.words("line")) \(survey.marks.count == 1 ? "repeats" : "repeat") the header, or \(survey.marks.count == 1 ? "consists" : "consist") of dashes or control characters: not read as rows; use --comment none if they are rows"
            )
        }
        if !survey.blank.isEmpty { remarks.append("\(survey.blank.words("blank line")) skipped") }
        if !survey.inner.isEmpty { remarks.append("\(survey.inner.words("quote")) within quoted cells, not doubled: read as text") }
        if !survey.literal.isEmpty {
            remarks.append("\(survey.literal.words("cell")) with a quote at the beginning that does not enclose it: read as text")
        }
        if !survey.spaced.isEmpty { remarks.append("\(survey.spaced.words("cell")) with spaces around the quotes, which were left out") }
        let ends = survey.lineEnds.filter { $0.key != .none }
        if ends.count > 1 {
            let names: [(CSVRecordScan.LineEnd, String)] = [(.feed, "LF"), (.returnFeed, "CRLF"), (.carriageReturn, "CR")]
            let list = names.compactMap { end, name in ends[end].map { "\($0) \(name)" } }.joined(separator: ", ")
            remarks.append("lines end in different ways: \(list)")
        }
        if survey.surroundings.isCut { remarks.append("lines that are not rows are longer than 64 KiB, and are not kept") }
        return remarks
    }

    /// The line end that most records have.
    static func newline(_ survey: CSVSurvey) -> CSVDialect.Newline {
        let counts = survey.lineEnds, feeds = counts[.feed] ?? 0
        let returnFeeds = counts[.returnFeed] ?? 0, returns = counts[.carriageReturn] ?? 0
        if returnFeeds > feeds, returnFeeds >= returns { return .crlf }
        return returns > feeds ? .cr : .lf
    }
}
