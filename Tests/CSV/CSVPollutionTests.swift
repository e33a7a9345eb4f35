import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Random tables, written in random forms: the rows are those that were written, and the bytes are written back or the reader says why not.
@Suite struct CSVPollutionTests {
    private struct Form {
        var delimiter = ",", quote = "\"", newline = "\n"
        var escape: String?
        var hasHeader = true, trailing = 0, always = false

        /// Writes a cell, in quotes if it needs them.
        func cell(_ text: String) -> String {
            let special = [delimiter, quote, "\n", "\r", escape ?? quote]
            // Before a delimiter of several characters, a cell must not end with the first of them.
            let isOpen = delimiter.count > 1 && text.last == delimiter.first
            guard
                always || isOpen || text.isEmpty || special.contains(where: { text.contains($0) }) || text.hasPrefix(" ")
                    || text.hasPrefix("#")
            else {
                return text
            }
            let inner: String
            if let escape {
                inner = text.replacing(escape, with: escape + escape).replacing(quote, with: escape + quote)
            } else {
                inner = text.replacing(quote, with: quote + quote)
            }
            return quote + inner + quote
        }

        func line(_ cells: [String]) -> String {
            cells.map(cell).joined(separator: delimiter) + String(repeating: delimiter, count: trailing) + newline
        }
    }

    private static let letters = ["a", "b", "7", " ", ",", ";", "\t", "|", "\"", "'", "\\", "\n", "é", "😀", "#", ":"]

    private func text(_ random: inout Random) -> String {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in CSVPollutionTests.letters.randomElement(using: &random) ?? "" }.joined()
    }

    private func verify(_ text: String, _ rows: [[String]], _ options: CSVOptions, _ note: String) throws {
        var options = options
        options.allText = true
        options.isLossless = true
        options.threads = 1
        let table = try Table(text, options)
        #expect(table.rows == rows.map { $0.map(Value.string) }, "\(note): \(text.debugDescription)")
        let back = String(decoding: try table.written(), as: UTF8.self)
        #expect(back == text || !table.reader.losses.isEmpty, "\(note): \(text.debugDescription) \(back.debugDescription)")
    }

    @Test func `rows in any given form are read as they were written`() throws {
        let seed = Seed.one(11)
        var random = Random(seed)
        for round in 0..<600 {
            var form = Form(), options = CSVOptions()
            form.delimiter = [",", ";", "\t", "|", ":", "::", ", ", "ab", "~#"].randomElement(using: &random) ?? ","
            form.quote = ["\"", "'", "$"].randomElement(using: &random) ?? "\""
            form.escape = [nil, nil, "\\", "^"].randomElement(using: &random) ?? nil
            form.newline = ["\n", "\r\n"].randomElement(using: &random) ?? "\n"
            form.always = Bool.random(using: &random)
            let width = Int.random(in: 2...5, using: &random), count = Int.random(in: 1...8, using: &random)
            let rows = (0..<count).map { _ in (0..<width).map { _ in text(&random) } }
            options.delimiterBytes = Array(form.delimiter.utf8)
            options.quoting = .mark(Array(form.quote.utf8)[0])
            if let escape = form.escape { options.escape = Array(escape.utf8)[0] } else { options.doublesQuotes = true }
            options.hasHeader = true
            options.ragged = .error
            options.blockSize = Int.random(in: 1...100, using: &random)
            let names = (0..<width).map { "n\($0)" }
            try verify(form.line(names) + rows.map(form.line).joined(), rows, options, "seed \(seed) round \(round)")
        }
    }

    @Test func `rows in the usual forms are read without options`() throws {
        let seed = Seed.one(12)
        var random = Random(seed)
        let words = ["amber", "birch", "cedar", "delta", "ember", "fjord"]
        for round in 0..<400 {
            var form = Form()
            form.delimiter = [",", ";", "\t", "|"].randomElement(using: &random) ?? ","
            form.newline = ["\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"
            form.trailing = Int.random(in: 0...2, using: &random)
            let width = Int.random(in: 3...6, using: &random), count = Int.random(in: 4...30, using: &random)
            var rows = (0..<count).map { row in
                (0..<width).map { column in
                    column == 0 ? "\(row + 1)" : (words.randomElement(using: &random) ?? "") + "\(Int.random(in: 0...9, using: &random))"
                }
            }
            for _ in 0..<2 {
                rows[Int.random(in: 0..<count, using: &random)][1] = "x\(form.delimiter) \"y\" z"
            }
            var before = "", after = ""
            switch Int.random(in: 0...4, using: &random) {
            case 0: before = "Report of the year\(form.newline)"
            case 1: before = "# one\(form.newline)# two\(form.newline)"
            case 2: after = "\(form.newline)* the end of it\(form.newline)"
            default: break
            }
            let names = (0..<width).map { "name\($0)" }
            try verify(
                before + form.line(names) + rows.map(form.line).joined() + after, rows, CSVOptions(), "seed \(seed) round \(round)")
        }
    }

    @Test func `rows that end early or late keep every cell`() throws {
        let seed = Seed.one(13)
        var random = Random(seed)
        for round in 0..<300 {
            let width = Int.random(in: 3...6, using: &random), count = Int.random(in: 6...40, using: &random)
            var rows = (0..<count).map { row in (0..<width).map { "c\(row)x\($0)" } }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let row = Int.random(in: 0..<(count - 1), using: &random), cells = Int.random(in: 1...(width + 2), using: &random)
                rows[row] = (0..<cells).map { "c\(row)x\($0)" }
            }
            let text = ([(0..<width).map { "name\($0)" }] + rows).map { $0.joined(separator: ",") + "\n" }.joined()
            var options = CSVOptions()
            options.isLossless = true
            let table = try Table(text, options)
            let read = table.rows.map { row in row.compactMap { if case .string(let text) = $0 { text } else { nil } } }
            #expect(read == rows, "seed \(seed) round \(round): \(text.debugDescription)")
            #expect(String(decoding: try table.written(), as: UTF8.self) == text, "seed \(seed) round \(round)")
            let isRagged = rows.contains { $0.count != width }
            #expect(!isRagged || table.reader.remarks.contains { $0.contains("cells") }, "seed \(seed) round \(round)")
        }
    }
}
