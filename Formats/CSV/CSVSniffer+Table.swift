/// Where the table begins, and whether the text is one.
extension CSVSniffer {
    /// Finds the lines before the table.
    func findTable(_ guess: inout CSVGuessedForm) {
        let reading = read(guess.form)
        guard reading.width > 1, let first = preamble(reading), first > 0, first < reading.records.count else { return }
        let lines = reading.records[first].line - 1
        guess.form.preambleLines = lines
        guess.remarks.append(
            "the table begins in line \(lines + 1); the \(lines == 1 ? "line" : "\(lines) lines") before it \(lines == 1 ? "is" : "are") not read as rows; use --skip to set their number"
        )
    }

    /// Returns the index of the first record of the table.
    func preamble(_ reading: Reading) -> Int? {
        let records = reading.records, width = reading.width
        guard let start = records.firstIndex(where: { $0.count == width }), start <= 100 else { return nil }
        if start == 0 { return paddedPreamble(reading) }
        if reading.apart == start { return start }
        guard records[..<start].allSatisfy({ $0.count * 2 <= max(width, 2) }) else { return nil }
        let rest = records[start...].count { $0.count * 2 > width }
        guard rest * 10 >= records[start...].count * 7, rest > 1, rest >= start || reading.blankBefore.contains(start) else { return nil }
        // One cell above two or three columns can be an incomplete header, or the name of one column.
        guard width < 4 else { return start }
        return (1...start).contains { reading.blankBefore.contains($0) } || isTitle(reading, above: start) ? start : nil
    }

    /// The same if the lines above the table are padded to its width, as spreadsheets do.
    private func paddedPreamble(_ reading: Reading) -> Int? {
        let records = reading.records, width = records.reduce(0) { max($0, min($1.effective, reading.width)) }
        guard reading.width > 2, width > 1, records[0].effective == 1 else { return nil }
        guard let header = records.prefix(20).firstIndex(where: { $0.effective >= width }), header > 0 else { return nil }
        guard records[..<header].allSatisfy({ $0.effective * 2 <= width }) else { return nil }
        let isApart = records[..<header].contains { $0.effective == 0 } || (1...header).contains { reading.blankBefore.contains($0) }
        return isApart || isTitle(reading, above: header) ? header : nil
    }

    /// Whether the first record is a title above a header: the header does not look like the rows below it, and the title is a sentence or
    /// the rows contain numbers.
    private func isTitle(_ reading: Reading, above header: Int) -> Bool {
        let below = header + 1 < reading.records.count ? reading.numbers(from: header + 1) : 0, own = reading.records[header].numbers
        if below != 0, own & below == below { return false }
        if reading.records[0].isProse, !reading.isSpaced { return true }
        return below != 0 && own == 0
    }

    /// Whether the delimiters are text of the cells of one column: the first record has none, and the others do not show a table.
    func isOneColumn(_ reading: Reading) -> Bool {
        let records = reading.records
        guard reading.quoted == 0, records.count > 1, records[0].count == 1, reading.width < 4, preamble(reading) == nil else {
            return false
        }
        if reading.isSpaced || reading.width < 2 { return reading.isSpaced }
        guard records.dropFirst().allSatisfy({ $0.count == reading.width }) else {
            // A few rows of another width are as frequent in tables as in text.
            return reading.usual * 2 > records.count - 1 && reading.usual * 10 < records.count * 9
        }
        let numbers = reading.numbers(from: 1), all: UInt64 = (1 << UInt64(reading.width)) - 1
        // Commas between two numbers are decimal marks.
        return numbers == 0 || reading.form.delimiter == [44] && reading.width == 2 && numbers & all == all
    }

    /// A delimiter that does not occur.
    var unusedDelimiter: [UInt8] {
        let usual: [UInt8] = [44, 59, 9, 124]
        return [isWhole ? usual.first { !sample.contains($0) } ?? 0x1F : 0x1F]
    }
}
