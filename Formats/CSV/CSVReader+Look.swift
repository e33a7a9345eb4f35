import FirnBytes
import FirnExchange
import FirnTable

/// The first reading of the input.
extension CSVReader {
    /// Reads the header of a text in a form. `isNormalised` means that the text is that of `CSVNormaliser`.
    static func readHeader(
        _ source: any CSVSource, _ form: CSVForm, hasHeader: Bool, isNormalised: Bool, _ columns: MemoryCharge
    ) throws(FirnError) -> CSVHeader {
        // The first record is usually within the first bytes. Otherwise more of the text is read until the record ends.
        var size = 1 << 16
        while true {
            let block = try CSVBlock(capacity: size, source.input)
            try source.rewind()
            block.count = try source.read(into: UnsafeMutableRawBufferPointer(start: block.memory, count: size))
            block.seal()
            if block.count == size, size < CSVBlock.maximumBytes {
                guard containsHeader(block, form, isNormalised: isNormalised) else {
                    size *= 4
                    continue
                }
            }
            let header = try CSVHeader(block, form, hasHeader: hasHeader, source, isNormalised: isNormalised, charge: columns)
            try source.rewind()
            return header
        }
    }

    /// Whether the first record that is not blank ends within a block, which is not the whole text.
    private static func containsHeader(_ block: CSVBlock, _ form: CSVForm, isNormalised: Bool) -> Bool {
        let memory = block.memory, count = block.count
        guard let start = isNormalised ? 0 : CSVHeader.skip(lines: form.preambleLines, memory, count) else { return false }
        let newline = isNormalised ? .lf : CSVHeader.newline(memory + start, count - start, form.marks(isNormalised: isNormalised).quote)
        let firstReturn = find(13, memory, start, count)
        // A carriage return at the end of the block may be the first half of a line end.
        if newline == .cr, firstReturn == count - 1 { return false }
        var marks = form.marks(isNormalised: isNormalised)
        marks.newline = newline == .cr ? 13 : 10
        let first = CSVHeader.skipBlankLines(memory, start, count, newline: marks.newline)
        var finder = CSVRecordFinder(marks)
        finder.advance(memory + first, to: count - first, limit: 1, isLast: false)
        return finder.records > 0 || newline == .lf && firstReturn < count
    }

    /// Returns the positions of the cells to read.
    static func chosenCells(_ header: CSVHeader, _ options: CSVOptions, _ text: any CSVSource) throws(FirnError) -> [Int] {
        guard let wanted = options.columns else { return Array(0..<header.width) }
        var cells: [Int] = []
        let positions = Dictionary(header.names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        for name in wanted {
            guard let cell = positions[name] else {
                if options.mayLackColumns { continue }
                throw FirnError(
                    .usage, "there is no column \"\(name)\"", at: .init(file: text.input.name),
                    advice: Suggestion.question(for: name, among: header.names) ?? "its columns are " + header.names.listed())
            }
            cells.append(cell)
        }
        return cells
    }

    /// Throws if a column for which texts for null, notations of dates or a decimal mark are given does not exist in the input.
    static func checkNames(_ header: CSVHeader, _ options: CSVOptions, _ text: any CSVSource) throws(FirnError) {
        if options.mayLackColumns { return }
        let names = Set(header.names),
            given =
                options.nullWordsOf.keys.map { ("--null", $0) } + options.datesOf.keys.map { ("--dates", $0) }
                + options.hasDecimalCommaOf.keys.map { ("--decimal", $0) }
        guard let (flag, unknown) = given.sorted(by: { $0.1 < $1.1 }).first(where: { !names.contains($0.1) }) else { return }
        let advice =
            Suggestion.nearest(to: unknown, among: header.names).map { "did you mean \"\($0)\"?" }
            ?? "its columns are " + header.names.listed()
        throw FirnError(
            .usage, "\(flag) names a column \"\(unknown)\" that the input does not have", at: .init(file: text.input.name), advice: advice)
    }

    /// Throws if a column with a requested type does not exist in the input.
    static func checkTypes(_ header: CSVHeader, _ options: CSVOptions, _ text: any CSVSource) throws(FirnError) {
        guard let types = options.types, !options.mayLackColumns else { return }
        let names = Set(header.names)
        guard let unknown = types.columns.first(where: { !names.contains($0.name) }) else { return }
        let advice =
            Suggestion.nearest(to: unknown.name, among: header.names).map { "did you mean \"\($0)\"?" }
            ?? "its columns are " + header.names.listed()
        throw FirnError(
            .usage, "the schema names a column \"\(unknown.name)\" that the input does not have", at: .init(file: text.input.name),
            advice: advice)
    }

    /// Throws unless a link column can be read: its values are row numbers of the input itself, from 0.
    static func checkLink(_ column: ColumnSchema, _ options: CSVOptions, _ name: String) throws(FirnError) {
        guard column.type.target == options.types?.name else {
            throw FirnError(
                .unsupported, "column \"\(column.name)\" links to rows of \"\(column.type.target ?? "")\", and the input contains none",
                at: .init(file: name))
        }
        guard options.rejects == nil else {
            throw FirnError(
                .usage, "rows of \"\(options.types?.name ?? "")\" link to each other by row number, and rejected rows change the numbers",
                at: .init(file: name),
                advice: "omit --rejects, or the columns with links from the schema")
        }
    }

    /// Reads the whole text and merges the guesses of its blocks. `isTentative` ends the reading at the first record that is not regular,
    /// and at text that is not UTF-8; `until` ends it after some number of rows.
    /// - Parameter maximumCells: The maximum number of cells of a column; nil if all of them are in the text.
    static func look(
        _ text: any CSVSource, _ setting: CSVSetting, _ header: CSVHeader, _ options: CSVOptions, isTentative: Bool,
        maximumCells: Int? = nil, until isEnough: (Int) -> Bool = { _ in false }
    ) throws(FirnError) -> CSVGuesses {
        let cutter = CSVCutter(text, header.marks)
        try cutter.skip(header.length)
        let queue = BlockQueue<CSVBlock, CSVGuesses>(threads: options.threads) { (block: CSVBlock) throws(FirnError) in setting.guess(block)
        }
        var whole = CSVGuesses(columns: [CSVGuess](repeating: CSVGuess(), count: setting.plans.count))
        var seen: UInt64 = 0
        // Each cell has at least one byte, with the delimiter or line end after it.
        let maximumCells = maximumCells ?? text.input.totalBytes.map { Int(clamping: $0) / max(1, setting.width) + 1 } ?? Int.max

        func merge(_ part: CSVGuesses) throws(FirnError) {
            try text.input.noteCells(part.columns.count)
            if let offset = part.invalidText {
                guard options.encoding == nil, let plain = text as? CSVText, !plain.isBinary, !plain.hasByteOrderMark else {
                    throw try text.invalid(at: offset, newline: header.marks.newline)
                }
                whole.invalidText = whole.invalidText ?? offset
                return
            }
            if options.rejects == nil, !isTentative, let bad = part.bad {
                throw badRecord(bad.fault, width: header.width, cell: nil, at: try text.locate(bad.offset, newline: header.marks.newline))
            }
            for i in whole.columns.indices {
                whole.columns[i].merge(part.columns[i], after: whole.rows)
                if !whole.columns[i].isText, CSVChoice.isText(whole.columns[i], most: maximumCells) {
                    whole.columns[i].isText = true
                    setting.texts.note(i, of: whole.columns.count)
                }
            }
            whole.rows += part.rows
            whole.ends.merge(part.ends)
            if !setting.keys.isEmpty { whole.keys.merge(part.keys) }
            if whole.bad == nil { whole.bad = part.bad }
            let now = text.input.bytesRead
            options.progress?.add(bytes: Int(now - min(now, seen)))
            seen = now
        }
        while let block = try cutter.next(size: options.blockSize) {
            while queue.pending > options.threads { try merge(try queue.next()!) }
            if whole.invalidText != nil || isTentative && whole.bad != nil || isEnough(whole.rows) { return whole }
            queue.submit(block)
        }
        while let part = try queue.next() { try merge(part) }
        return whole
    }

    /// Returns what the dialect cannot describe.
    static func losses(_ found: CSVGuesses, _ header: CSVHeader, _ cells: [Int], _ options: CSVOptions) -> [String] {
        var losses: [String] = []
        let ends = found.ends
        if header.dialect.newline == .crlf, ends.bareNewlines > 0 { losses.append("line ends are mixed") }
        if header.dialect.newline == .lf, ends.carriageReturns > 0 { losses.append("line ends are mixed") }
        if !header.isKept { losses.append("the header is quoted differently, or blank lines precede it") }
        if ends.bareMarks { losses.append("cells with quotes or carriage returns in them are not quoted") }
        if ends.blankLines > 0 { losses.append("blank lines are not kept") }
        if found.bad != nil { losses.append("rejected rows are not kept") }
        if cells != Array(0..<header.width) { losses.append("columns were left out") }
        if !CSVNullTexts(found.columns, options, names: cells.map { header.names[$0] }).mixed.isEmpty {
            losses.append("several texts stand for null")
        }
        for (i, guess) in found.columns.enumerated() where guess.isQuotedAtRandom {
            losses.append("column \"\(header.names[cells[i]])\" is quoted in some rows only")
        }
        if options.types != nil { losses.append("columns were read with requested types") }
        return losses
    }

    /// Returns the name of the type for a path: `people` for `data/people.csv.zst`.
    static func typeName(_ path: String) -> String {
        guard path != "-" else { return "Row" }
        let file = path.fields(at: UInt8(ascii: "/")).last { !$0.isEmpty } ?? path
        let stem = file.split(separator: ".", omittingEmptySubsequences: true).first.map(String.init) ?? file
        return stem.isEmpty ? "Row" : stem
    }
}

extension Input {
    /// Records `count` more cells or columns whose memory nothing charged. Throws if the process now uses too much memory.
    func noteCells(_ count: Int) throws(FirnError) {
        let bytes = count &* 16
        if !budget.note(bytes) { throw FirnError.beyondMemory("reading \(count) cells", bytes, budget, at: .init(file: name)) }
    }

    /// Records a copy of a long row, which nothing charges, before it is made. Throws if the process would use too much memory.
    func note(bytes count: Int) throws(FirnError) {
        guard count >= 1 << 20, !budget.note(count) else { return }
        throw FirnError.beyondMemory("a row of \(MemoryBudget.words(count))", count, budget, at: .init(file: name))
    }
}

extension CSVCutter {
    /// Skips the first bytes of the text.
    func skip(_ count: Int) throws(FirnError) {
        guard count > 0 else { return }
        var left = count
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: min(count, 1 << 16), alignment: 16)
        defer { memory.deallocate() }
        while left > 0 {
            let got = try text.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<min(left, memory.count)]))
            if got == 0 { break }
            left -= got
        }
        offset = UInt64(count - left)
    }
}
