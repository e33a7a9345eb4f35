import FirnKit
import Foundation
import Testing

/// Random tables with cells that look like the marks of CSV, Markdown and HTML.
@Suite struct DiffFormatPropertyTests {
    private static let texts: [String?] = [
        nil, "", "NULL", "_NULL", "__NULL", "a->b", "-->", "-", ">", "x-", "a\nb", "a\r\nb", "|", "a|b", "\\|", "\"", "a,b",
        "<script>alert(1)</script>",
        "</td></table>", "&lt;", "&", "`code`", "*bold*", "[x](http://y)", "snake_case", "_x_", " space ", "+++", "---", "@@", "tab\there",
        "ü→é",
        "e\u{301}", "->\u{301}", "null", "$x$", "~~no~~", "'",
    ]
    private typealias Row = [String?]

    /// Two tables by key. The columns are `x`, `y` and one whose name is hostile.
    private struct Tables {
        static let names = ["x", "y", "<b>|n"]
        var old: [Int: Row] = [:]
        var new: [Int: Row] = [:]

        init(_ random: inout Random) {
            func row(_ random: inout Random) -> Row {
                Tables.names.map { _ in DiffFormatPropertyTests.texts.randomElement(using: &random) ?? nil }
            }
            for key in 1...40 {
                let before = row(&random)
                if Int.random(in: 0..<5, using: &random) > 0 { old[key] = before }
                switch Int.random(in: 0..<5, using: &random) {
                case 0: break
                case 1: new[key] = row(&random)
                case 2:
                    var after = before
                    after[Int.random(in: 0..<3, using: &random)] = DiffFormatPropertyTests.texts.randomElement(using: &random) ?? nil
                    new[key] = after
                default: new[key] = before
                }
            }
        }

        func write(_ scratch: Scratch) throws {
            for (name, rows) in [("old.ndjson", old), ("new.ndjson", new)] {
                // The first row makes the columns of both files the same. It does not differ.
                let all = [(0, ["t", "t", "t"] as Row)] + rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                let lines = try all.map { key, row in
                    var object: [String: Any] = ["id": key]
                    for (name, text) in zip(Tables.names, row) { object[name] = text ?? NSNull() }
                    return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
                }
                try scratch.write(name, lines.joined(separator: "\n") + "\n")
            }
        }

        var differing: [Int] { (1...40).filter { old[$0] != new[$0] } }
    }

    /// Returns the fields of a CSV, by code units, so that a line feed after a carriage return is a character of its own.
    private static func records(_ text: String) -> [[String]] {
        var records: [[String]] = [], record: [String] = [], field: [UInt8] = [], isQuoted = false
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && bytes.first == UInt8(ascii: "\""):
                field.append(byte)
                bytes.removeFirst()
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                record.append(String(decoding: field, as: UTF8.self))
                field = []
            case UInt8(ascii: "\n") where !isQuoted:
                records.append(record + [String(decoding: field, as: UTF8.self)])
                (record, field) = ([], [])
            default: field.append(byte)
            }
        }
        return records
    }

    private static func decoded(_ text: String) -> String? {
        text == "NULL" ? nil : text.hasPrefix("_") && text.drop { $0 == "_" } == "NULL" ? String(text.dropFirst()) : text
    }

    @Test(arguments: 1...12)
    func `the records of a CSV applied to the old rows make the new rows`(seed: Int) throws {
        var random = Random(seed: UInt64(seed))
        let tables = Tables(&random), scratch = try Scratch()
        try tables.write(scratch)
        let run = try scratch.firn("diff", "old.ndjson", "new.ndjson", "--key", "id", "--format", "csv")
        #expect(run.code == (tables.differing.isEmpty ? 0 : 1), "\(run.errors)")
        let records = DiffFormatPropertyTests.records(run.out), heading = try #require(records.first)
        #expect(heading.first == "@@")
        let positions = try Tables.names.map { try #require(heading.firstIndex(of: $0)) }, key = try #require(heading.firstIndex(of: "id"))
        var rows = tables.old
        for record in records.dropFirst() {
            let id = try #require(Int(record[key])), fields = positions.map { record[$0] }
            #expect(record.count == heading.count)
            // A field without a change does not distinguish null from the empty text.
            func isSame(_ row: Row?) -> Bool { row?.map { $0 ?? "" } == fields }
            switch record[0] {
            case "+++":
                #expect(tables.old[id] == nil && isSame(tables.new[id]))
                rows[id] = tables.new[id]
            case "---":
                #expect(tables.new[id] == nil && isSame(tables.old[id]))
                rows[id] = nil
            case let mark:
                #expect(mark.hasSuffix("->") && mark.dropLast().allSatisfy { $0 == "-" })
                for (column, field) in fields.enumerated() {
                    let parts = Data(field.utf8).parts(around: Data(mark.utf8))
                    if parts.count == 1 {
                        #expect((tables.old[id]?[column] ?? "") == field)
                        continue
                    }
                    #expect(parts.count == 2 && DiffFormatPropertyTests.decoded(parts[0]) == tables.old[id]?[column])
                    rows[id]?[column] = DiffFormatPropertyTests.decoded(parts[1])
                }
            }
        }
        #expect(rows == tables.new)
    }

    @Test(arguments: 1...6)
    func `a row of Markdown has as many cells as columns, and none of their text is markup`(seed: Int) throws {
        var random = Random(seed: UInt64(seed) + 100)
        let tables = Tables(&random), scratch = try Scratch()
        try tables.write(scratch)
        let run = try scratch.firn("diff", "old.ndjson", "new.ndjson", "--key", "id", "--format", "markdown")
        let lines = run.out.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.hasPrefix("|") }
        #expect(lines.count == tables.differing.count + 2, "\(run.errors)")
        for line in lines {
            #expect(line.replacing(/\\./, with: "").filter { $0 == "|" }.count == 6, "\(line)")
            let plain = line.replacing("<br>", with: "").replacing(/\\./, with: "")
            #expect(!plain.contains { "<>`*[]$~".contains($0) }, "\(line)")
        }
    }

    @Test func `a parser of HTML finds the table and the texts of its cells`() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return }
        let scratch = try Scratch()
        try scratch.write(
            "parse.py",
            """
            import html.parser, json, sys
            class Page(html.parser.HTMLParser):
                def __init__(self):
                    super().__init__()
                    self.open, self.rows, self.tags, self.wrong = [], [], set(), 0
                def handle_starttag(self, tag, attrs):
                    self.tags.add(tag)
                    if tag in ("meta", "br"): return
                    self.open.append(tag)
                    if tag == "tr": self.rows.append([])
                    if tag in ("td", "th"): self.rows[-1].append("")
                def handle_endtag(self, tag):
                    if not self.open or self.open.pop() != tag: self.wrong += 1
                def handle_data(self, data):
                    if self.rows and ("td" in self.open or "th" in self.open): self.rows[-1][-1] += data
            page = Page()
            page.feed(open(sys.argv[1], newline="").read())
            page.close()
            print(json.dumps({"rows": page.rows, "tags": sorted(page.tags), "wrong": page.wrong + len(page.open)}))
            """)
        for seed in 1...6 {
            var random = Random(seed: UInt64(seed) + 200)
            let tables = Tables(&random)
            try tables.write(scratch)
            #expect(try scratch.firn("diff", "old.ndjson", "new.ndjson", "--key", "id", "-o", "d.html", "--force").code == 1)
            let process = Process(), out = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/python3")
            process.arguments = ["parse.py", "d.html"]
            process.currentDirectoryURL = scratch.folder
            process.standardOutput = out
            try process.run()
            let data = out.fileHandleForReading.readDataToEndOfFile()
            process.wait()
            let page = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(page["wrong"] as? Int == 0)
            let tags = Set(page["tags"] as? [String] ?? [])
            #expect(
                tags.isSubset(of: [
                    "html", "head", "meta", "title", "style", "body", "h2", "p", "ul", "li", "table", "tr", "th", "td", "span", "del",
                    "ins", "br",
                ]), "\(tags)")
            let rows = try #require(page["rows"] as? [[String]]), heading = try #require(rows.first)
            #expect(heading.allSatisfy { ["", "id"].contains($0) || Tables.names.contains($0) } && heading.count == 5)
            #expect(rows.count == tables.differing.count + 1 && rows.allSatisfy { $0.count == 5 })
            for row in rows where row[0] == "+" {
                let cells = tables.new[Int(row[1]) ?? 0] ?? []
                for (name, text) in zip(Tables.names, cells) {
                    let shown = row[heading.firstIndex(of: name) ?? 0]
                    #expect(shown == text.map(Self.shown) ?? "null" || shown.hasPrefix("\""), "\(shown)")
                }
            }
        }
    }

    /// Control characters are shown as symbols.
    private static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 && $0 != "\n" ? Unicode.Scalar(0x2400 + $0.value) ?? $0 : $0 })
        )
    }
}

extension Data {
    /// The parts before, between and after a mark.
    fileprivate func parts(around mark: Data) -> [String] {
        var parts: [String] = [], rest = self[...]
        while let range = rest.range(of: mark) {
            parts.append(String(decoding: rest[..<range.lowerBound], as: UTF8.self))
            rest = rest[range.upperBound...]
        }
        return parts + [String(decoding: rest, as: UTF8.self)]
    }
}
