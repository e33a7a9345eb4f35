import FirnBytes
import FirnExchange
import FirnTable

/// What the first reading of an input found: its form and all that its columns have in common.
struct CSVOpened {
    var source: any CSVSource
    var header: CSVHeader
    /// The positions of the cells that are read.
    var cells: [Int]
    var found: CSVGuesses
    var dialect: CSVDialect
    var remarks: [String]
    /// What an export in the dialect does not reproduce.
    var losses: [String] = []
}

/// Finds out how an input is to be read. The form that its first bytes show is tried on the whole input. If a record contradicts it, it is
/// given up, and the whole input is surveyed in several forms; the form with the fewest contradictions is used for all records.
struct CSVOpening {
    private(set) var options: CSVOptions
    private let columnCharge: MemoryCharge
    private(set) var text: CSVText
    /// Whether the encoding was chosen because the text is not UTF-8.
    private var isFallback = false
    /// What the text contains if it is UTF-8 apart from single bytes.
    private var mixed: CSVMixedText?

    /// What is done with rows of another width.
    private var ragged: CSVRagged { options.ragged ?? (options.rejects == nil ? .widen : .reject) }
    /// Whether quotes, escapes and line ends that do not fit the guessed form are read in a better form, or as text. Rows are set aside for
    /// their number of cells only, so that the same text is read with and without `rejects`.
    private var isLenient: Bool { ragged != .error }

    init(_ input: Input, _ options: CSVOptions, charge columnCharge: MemoryCharge) throws(FirnError) {
        self.options = options
        self.columnCharge = columnCharge
        text = try CSVText(input, encoding: options.encoding)
    }

    mutating func open() throws(FirnError) -> CSVOpened {
        while true {
            if let opened = startsInUTF8 ? try attempt(try sniff()) : nil { return opened }
            // The text is not UTF-8: either only single bytes are not, or every byte is a character of Windows-1252.
            isFallback = true
            try text.rewind()
            let found = try CSVMixedText(text.input)
            mixed = found.isMostlyUTF8 ? found : nil
            try text.rewind()
            text = try CSVText(text.input, encoding: mixed == nil ? .windows1252 : .mixed)
        }
    }

    /// Whether the first bytes are UTF-8, as far as this is not known.
    var startsInUTF8: Bool {
        guard text.encoding == .utf8, options.encoding == nil, !text.hasByteOrderMark, !text.isBinary else { return true }
        let head = text.head + [UInt8](repeating: 0, count: scanSlack)
        let bad = head.withUnsafeBufferPointer { bytes in bytes.baseAddress.flatMap { firstInvalidUTF8($0, text.head.count) } }
        // The last character may be cut.
        return bad.map { $0 + 4 > text.head.count && text.head.count >= 1 << 16 } ?? true
    }

    func sniff() throws(FirnError) -> CSVGuessedForm {
        let quick = text.head
        // Most texts show their form in the first bytes.
        if let form = CSVSniffer(quick, isWhole: quick.count < 1 << 13, options).quick() { return form }
        try text.rewind()
        var sample = [UInt8](repeating: 0, count: 1 << 20)
        let count = try sample.withMutableBytes { (bytes) throws(FirnError) in try text.read(into: bytes) }
        let isWhole = count < sample.count
        sample.removeLast(sample.count - count)
        try text.rewind()
        return CSVSniffer(sample, isWhole: isWhole, options).guess()
    }

    /// Reads the whole text in the guessed form, or in a better one. Returns nil if the text is not UTF-8.
    private func attempt(_ guess: CSVGuessedForm) throws(FirnError) -> CSVOpened? {
        var hasHeader = true
        if let set = options.hasHeader { hasHeader = set } else if try asksForUnnamed(guess.form) { hasHeader = false }
        while true {
            var opened: CSVOpened?
            var survey: CSVSurvey?
            if guess.form.isPlain {
                opened = try read(text, guess.form, hasHeader: hasHeader, isNormalised: false, isTentative: isLenient)
                if opened?.found.invalidText != nil { return nil }
            }
            if try needsSurvey(opened, guess.form) {
                let whole = try self.survey(guess.form, hasHeader: hasHeader, opened)
                var best = try withoutMarks(whole)
                if let offset = best.invalidText {
                    guard options.encoding == nil, !text.isBinary, !text.hasByteOrderMark else {
                        throw try text.invalid(at: offset, newline: 10)
                    }
                    return nil
                }
                var layout = try CSVLayout(best, ragged, name: text.input.name)
                if best.form.omitsMarks, try !hasTypes(layout, best) {
                    // In a table of texts, the header may be a row, and so may be the records like it.
                    best = whole
                    layout = try CSVLayout(best, ragged, name: text.input.name)
                }
                if ragged == .reject, guess.form.isPlain, best.mayEndInQuotes || layout.isPlain(best) && best.form == guess.form {
                    // The fast scan sets the same rows aside.
                    opened = try read(text, guess.form, hasHeader: hasHeader, isNormalised: false, isTentative: false)
                    if opened?.found.invalidText != nil { return nil }
                } else if opened == nil || !(layout.isRegular(best) && best.form == guess.form) {
                    try refuseUnclosed(best)
                    opened = try normalise(layout, best, hasHeader: hasHeader)
                    if opened?.found.invalidText != nil { return nil }
                    survey = best
                }
            }
            guard var opened else { return nil }
            if options.hasHeader == nil, hasHeader, opened.header.isDataRow(opened.found, opened.cells, options) {
                hasHeader = false
                continue
            }
            finish(&opened, guess, survey)
            if options.hasHeader == nil, hasHeader, opened.found.rows == 0, opened.header.hasNumber {
                opened.remarks.append("there is no row after the header, which contains a number; use --no-header if it is a row")
            }
            if options.hasHeader == nil, !hasHeader {
                opened.remarks.append(
                    "the first record is data, as its cells have the types of those below; the columns are named column1 and so on; use --header if it contains their names"
                )
            }
            return opened
        }
    }

    /// Whether columns are requested by the names that columns without a header have, which the header does not contain.
    private func asksForUnnamed(_ form: CSVForm) throws(FirnError) -> Bool {
        guard form.isPlain, let wanted = options.columns ?? options.types?.columns.map(\.name) else { return false }
        guard wanted.contains(where: { $0.hasPrefix("column") && Int($0.dropFirst(6)) != nil }) else { return false }
        let header = try CSVReader.readHeader(text, form, hasHeader: true, isNormalised: false, columnCharge)
        return Set(wanted).isDisjoint(with: header.names)
    }

    /// Whether a reading without the survey may be wrong, or lose what a lossless conversion must keep.
    func isDoubtful(_ opened: CSVOpened) -> Bool {
        let ends = opened.found.ends
        if opened.found.bad != nil { return true }
        if ends.bareReturns, opened.header.width > 1 { return true }
        if options.isLossless, ends.blankLines > 0 { return true }
        if ends.endsPadded, opened.found.rows > 1 { return true }
        if opened.dialect.hasHeader, options.comment != "", opened.header.width > 1, mayHaveMarks(opened) { return true }
        // A column without name and values at the end is not one.
        guard options.hasHeader != false, options.columns == nil else { return false }
        return opened.header.width > 1 && opened.header.cells.last?.text.isEmpty == true && opened.header.cells.last?.isQuoted == false
            && opened.found.columns.last.map { $0.nulls == $0.cells && !$0.hasQuotedNothing } == true
    }

    /// Whether cells that keep a column from being numeric, or are exceptions in it, are its name or dashes.
    private func mayHaveMarks(_ opened: CSVOpened) -> Bool {
        zip(opened.found.columns, opened.cells).contains { guess, cell in
            let name = opened.header.names[cell]
            guard guess.choice().kind != .string || guess.choiceWithoutWords != nil else { return false }
            return guess.oddTexts.contains { text in
                text == name || text.hasSuffix(name) && text.utf8.first == 12 || text.hasPrefix("---") || text.hasPrefix("===")
            }
        }
    }

    private func needsSurvey(_ opened: CSVOpened?, _ form: CSVForm) throws(FirnError) -> Bool {
        guard let opened else { return true }
        guard isLenient else { return false }
        if isDoubtful(opened) { return true }
        // The cells of the chosen columns do not show whether records are marks.
        guard opened.dialect.hasHeader, options.comment != "", opened.header.width > 1, opened.cells.count < opened.header.width else {
            return false
        }
        return try !CSVSurvey(text, form, hasHeader: true).marks.isEmpty
    }

    /// Whether a column of the table is no text.
    private func hasTypes(_ layout: CSVLayout, _ survey: CSVSurvey) throws(FirnError) -> Bool {
        // Whether a record is a row does not depend on the columns that are chosen.
        var whole = self
        whole.options.columns = nil
        return try whole.normalise(layout, survey, hasHeader: true)?.found.columns.contains { $0.choice().kind != .string } ?? true
    }

    /// Surveys the text again, without records that repeat the header, rules and control characters, if there are any.
    private func withoutMarks(_ survey: CSVSurvey) throws(FirnError) -> CSVSurvey {
        guard !survey.marks.isEmpty, survey.hasHeader, options.comment != "" else { return survey }
        var form = survey.form
        form.omitsMarks = true
        let other = try CSVSurvey(text, form, hasHeader: true)
        return other.rows > 0 ? other : survey
    }

    /// Surveys the text in the guessed form and, if records contradict it, in others. Returns the survey with the fewest contradictions.
    private func survey(_ form: CSVForm, hasHeader: Bool, _ opened: CSVOpened?) throws(FirnError) -> CSVSurvey {
        var best = try CSVSurvey(text, form, hasHeader: hasHeader)
        guard best.faults > 0 || opened?.found.ends.bareReturns == true else { return best }
        var others: [CSVForm] = []
        if form.escape == nil, form.quote != nil, !options.doublesQuotes {
            others.append(form)
            others[0].escape = UInt8(ascii: "\\")
        }
        if opened?.found.ends.bareReturns != false {
            var mixed = form
            (mixed.endsAtReturns, mixed.endsAtFeeds) = (true, true)
            others.append(mixed)
        }
        if options.quoting == .automatic, best.quotedCells == 0 {
            var plain = form
            plain.quote = nil
            others.append(plain)
        }
        for other in others where best.faults > 0 || other.endsAtReturns && other.endsAtFeeds {
            let survey = try CSVSurvey(text, other, hasHeader: hasHeader)
            let isMixed = other.endsAtReturns && other.endsAtFeeds
            // Carriage returns end records if the records are then all regular.
            if survey.faults < best.faults || isMixed && survey.faults == 0 && survey.widths.count == 1 && survey.usualWidth > 1 {
                best = survey
            }
        }
        return best
    }

    private func normalise(_ layout: CSVLayout, _ survey: CSVSurvey, hasHeader: Bool) throws(FirnError) -> CSVOpened? {
        if survey.first == nil {
            throw CSVHeader.nothing(
                after: survey.form.preambleLines, before: survey.footer.isEmpty ? 0 : survey.form.footerLines, text.input.name)
        }
        let normaliser = try CSVNormaliser(text, layout, leavesOut: ragged == .reject || options.rejects != nil)
        return try read(normaliser, layout.form, hasHeader: hasHeader, isNormalised: true, isTentative: false).map {
            var opened = $0
            describe(&opened, layout, survey, leftOut: normaliser.leftOut)
            return opened
        }
    }

    /// Returns the header of a text in a plain form.
    func readPlainHeader(_ form: CSVForm) throws(FirnError) -> CSVHeader {
        try CSVReader.readHeader(text, form, hasHeader: options.hasHeader ?? true, isNormalised: false, columnCharge)
    }

    private func read(
        _ source: any CSVSource, _ form: CSVForm, hasHeader: Bool, isNormalised: Bool, isTentative: Bool
    ) throws(FirnError) -> CSVOpened? {
        let header = try CSVReader.readHeader(source, form, hasHeader: hasHeader, isNormalised: isNormalised, columnCharge)
        // Surplus cells may make the columns whose names are missing.
        if isTentative, lacksMadeNames(header) { return nil }
        let cells = try CSVReader.chosenCells(header, options, source)
        try CSVReader.checkTypes(header, options, source)
        let setting = CSVSetting(
            marks: header.marks, width: header.width,
            plans: cells.map {
                let name = header.names[$0]
                return CSVPlan(
                    cell: $0, type: ColumnType(.string), hasComma: mayHaveMarks(name) ? options.hasDecimalComma(name) : nil,
                    isForced: false,
                    nulls: CSVNulls(options.nullWords(of: name)))
            }, checksText: true)
        var found = try CSVReader.look(source, setting, header, options, isTentative: isTentative)
        if found.bad == nil || !isTentative, found.invalidText == nil { try lookForMarks(in: source, setting, header, &found) }
        return CSVOpened(source: source, header: header, cells: cells, found: found, dialect: header.dialect, remarks: header.remarks)
    }

    /// Whether columns are requested that the header lacks, by names that columns without a name get.
    private func lacksMadeNames(_ header: CSVHeader) -> Bool {
        let wanted = (options.columns ?? []) + (options.types?.columns.map(\.name) ?? [])
        let made = wanted.filter { $0.wholeMatch(of: /column_?[0-9]+/) != nil }
        return !made.isEmpty && !Set(made).isSubset(of: header.names)
    }

    /// Whether the numbers of a column can have a decimal comma or groups of digits: unless its requested type says otherwise.
    private func mayHaveMarks(_ name: String) -> Bool {
        guard !options.allText else { return false }
        guard let types = options.types, let column = types.index(of: name).map({ types.columns[$0] }) else { return true }
        return column.type.kind.isNumber
    }

    /// Reads the text again, with a comma and with a point before fractions, for the columns that numbers with separators keep from being
    /// numeric.
    private func lookForMarks(
        in source: any CSVSource, _ setting: CSVSetting, _ header: CSVHeader, _ found: inout CSVGuesses
    ) throws(FirnError) {
        let columns = setting.plans.indices.filter { i in
            found.columns[i].mayHaveMarks && mayHaveMarks(header.names[setting.plans[i].cell])
        }
        guard !columns.isEmpty else { return }
        let plans = columns.flatMap { i in [true, false].map { setting.plans[i].reading(hasComma: $0) } }
        let read = try lookAgain(in: source, setting, header: header, plans)
        func choose(as hasComma: Bool?) {
            for (i, column) in columns.enumerated() {
                found.columns[column].choose(
                    comma: read.columns[2 * i], point: read.columns[2 * i + 1], delimiter: header.dialect.delimiterBytes, as: hasComma)
            }
        }
        choose(as: nil)
        if let hasComma = found.hasComma { choose(as: hasComma) }
        if found.hasComma == true { try lookForGroups(in: source, setting, header: header, &found) }
    }

    /// Reads the text again if other columns have decimal commas: for the columns whose points then separate groups of digits.
    private func lookForGroups(
        in source: any CSVSource, _ setting: CSVSetting, header: CSVHeader, _ found: inout CSVGuesses
    ) throws(FirnError) {
        let columns = setting.plans.indices.filter {
            found.columns[$0].mayHavePointGroups && mayHaveMarks(header.names[setting.plans[$0].cell])
        }
        guard !columns.isEmpty else { return }
        let read = try lookAgain(in: source, setting, header: header, columns.map { setting.plans[$0].reading(hasComma: true) })
        for (i, column) in columns.enumerated() { found.columns[column].takeGroups(read.columns[i]) }
    }

    /// Reads the text again for some columns only, without progress.
    private func lookAgain(
        in source: any CSVSource, _ setting: CSVSetting, header: CSVHeader, _ plans: [CSVPlan]
    ) throws(FirnError) -> CSVGuesses {
        var again = setting, quiet = options
        quiet.progress = nil
        again.checksText = false
        again.texts = CSVTextColumns()
        again.plans = plans
        try source.rewind()
        return try CSVReader.look(source, again, header, quiet, isTentative: false)
    }

    /// An unclosed quote is text if the records after it are regular. Otherwise it is an error, because the rest of the text may be its cell.
    private func refuseUnclosed(_ survey: CSVSurvey) throws(FirnError) {
        guard let unclosed = survey.unclosed, unclosed.line != nil else { return }
        if isLenient, ragged == .reject || !survey.mayEndInQuotes { return }
        throw badRecord(.unclosedQuote, width: survey.usualWidth, cell: nil, at: unclosed)
    }

    /// Records in the dialect what the normaliser changed.
    private func describe(_ opened: inout CSVOpened, _ layout: CSVLayout, _ survey: CSVSurvey, leftOut: [Int]?) {
        var survey = survey
        let width = layout.width + layout.trailing
        if !survey.keepCells(width, leftOut: leftOut) {
            opened.losses.append("too many rows have another number of cells than the columns to list them")
        }
        opened.dialect.newline = CSVLayout.newline(survey)
        opened.dialect.trailing = layout.trailing
        opened.dialect.headerCells = layout.headerCells
        opened.dialect.namesRows = layout.namesRows
        opened.dialect.surroundings = survey.surroundings
        // Rows whose values do not fit the requested types are left out later, and positions after them would be those of other rows.
        if options.rejects != nil, options.types != nil { opened.dialect.surroundings.cells = [:] }
        if survey.endsOpen { opened.dialect.endsWithNewline = false }
        opened.found.ends.endsOpen = survey.endsOpen
        if hasHeaderLoss(opened, survey) { opened.losses.append("the header is quoted differently") }
        if survey.isLenient { opened.losses.append("cells with quotes, line ends or escaped bytes in them are not quoted") }
        opened.remarks += layout.remarks(survey, names: opened.header.names)
        if survey.lineEnds.filter({ $0.key != .none }).count > 1 { opened.losses.append("line ends are mixed") }
        if survey.surroundings.isCut { opened.losses.append("lines that are not rows are longer than 64 KiB") }
        if !survey.inner.isEmpty || !survey.literal.isEmpty { opened.losses.append("quotes within cells are not doubled") }
        if !survey.spaced.isEmpty { opened.losses.append("spaces around quotes are not kept") }
        if layout.ragged == .cut || layout.ragged == .pad, survey.widest.cells > layout.width {
            opened.losses.append("surplus cells are not kept")
        }
    }

    /// Whether the header would be written with other bytes.
    private func hasHeaderLoss(_ opened: CSVOpened, _ survey: CSVSurvey) -> Bool {
        guard opened.dialect.hasHeader else { return false }
        let names = opened.header.names.enumerated().map { opened.dialect.headerNames[$0.offset] ?? $0.element }
        return opened.dialect.headerText(names) != survey.headerText
    }

    /// Adds the encoding and the remarks of the guesses.
    func finish(_ opened: inout CSVOpened, _ guess: CSVGuessedForm, _ survey: CSVSurvey?) {
        opened.dialect.hasByteOrderMark = text.hasByteOrderMark
        opened.dialect.encoding = text.encoding == .mixed ? .utf8 : text.encoding
        if isFallback, mixed == nil, !text.hasWindowsCharacters { opened.dialect.encoding = .latin1 }
        if let survey, survey.form != guess.form {
            if survey.form.escape != guess.form.escape {
                opened.remarks.append("a backslash precedes quotes within cells; use --escape none if it is text")
            }
            if survey.form.quote == nil, guess.form.quote != nil {
                opened.remarks.append(
                    "quotes are read as text, because they do not enclose whole cells; use --quote '\"' to read them as quotes")
            }
        }
        opened.remarks =
            guess.remarks + opened.remarks + CSVNumberMarks.remarks(opened.found.columns, opened.cells.map { opened.header.names[$0] })
        if let mixed {
            let bytes = mixed.otherBytes == 1 ? "1 byte" : "\(CSVChoice.grouped(mixed.otherBytes)) bytes"
            opened.remarks.append(
                "text is UTF-8 except \(bytes), which \(mixed.otherBytes == 1 ? "was" : "were") read as Windows-1252, the first at byte \(CSVChoice.grouped(Int(clamping: mixed.firstOther ?? 0))); use --encoding to set another encoding"
            )
        }
        if text.encoding == .mixed { opened.losses.append("bytes that are not UTF-8 were read as characters of Windows-1252") }
        if opened.dialect.encoding != .utf8 {
            opened.dialect.isExact = options.isLossless
            let name = opened.dialect.encoding.rawValue
            let kept = options.isLossless ? ", and CSV output uses that encoding again" : ""
            opened.remarks.append(
                isFallback
                    ? "text is not UTF-8 and was read as \(name)\(kept); use --encoding to set another encoding"
                    : "text was converted from \(name)\(kept)")
        } else {
            // In a CSV, tabs are part of the bytes to keep; in a TSV, they belong to the format.
            opened.dialect.isExact = options.isLossless && opened.dialect.delimiter == 9 && !options.isTSV
        }
    }
}
