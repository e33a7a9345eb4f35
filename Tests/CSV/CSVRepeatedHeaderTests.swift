import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Records that are no rows: the header again, rules of dashes, control characters.
@Suite struct CSVRepeatedHeaderTests {
    private static let rows = (0..<30).map { "\($0),name \($0),\(Double($0) / 4),2024-01-\(10 + $0 % 10)\n" }
    private static let header = "id,name,price,day\n"

    private func verify(
        _ text: String, rows: Int = 30, report: String? = "repeat the header, or consist of dashes or control characters",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for threads in [1, 3] {
            var options = CSVOptions()
            options.isLossless = true
            options.threads = threads
            options.blockSize = 200
            let table = try Table(text, options)
            #expect(table.rows.count == rows, sourceLocation: sourceLocation)
            #expect(table.types == ["int", "string", "double", "date"], "\(table.reader.remarks)", sourceLocation: sourceLocation)
            #expect(table.rows.first?.first == .int(0), sourceLocation: sourceLocation)
            if let report {
                #expect(
                    table.reader.remarks.contains {
                        $0.replacing("repeats", with: "repeat").replacing("consists", with: "consist").contains(report)
                    }, sourceLocation: sourceLocation)
            } else {
                #expect(!table.reader.remarks.contains { $0.contains("header") }, sourceLocation: sourceLocation)
            }
            #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
        }
    }

    @Test func `files that were joined with their headers are one table`() throws {
        let header = Self.header, rows = Self.rows
        try verify(header + rows[..<10].joined() + header + rows[10..<20].joined() + header + rows[20...].joined())
        try verify(header + rows[..<10].joined() + "\u{0C}" + header + rows[10...].joined())
        try verify(header + rows.joined() + header)
        try verify(header + header + rows.joined())
    }

    @Test func `a rule below the header, and control characters at the end, are no rows`() throws {
        let header = Self.header, rows = Self.rows.joined()
        try verify(header + "-----,-----,-----,-----\n" + rows)
        try verify(header + "=====,=====,=====,=====\n" + rows)
        try verify(header + rows + "\u{1A}")
        try verify(header + rows + String(repeating: "\0", count: 100))
        try verify(header + rows, report: nil)
    }

    @Test func `records that only resemble a header are rows`() throws {
        // In a table of texts, the first record may be a row as well.
        let texts = try Table("yes,no\nno,yes\nyes,no\n")
        #expect(texts.rows.count == 2)
        let null = try Table("id,a,b\n1,5,6\n--,--,--\n2,7,8\n" + (3..<30).map { "\($0),1,2\n" }.joined())
        #expect(null.rows.count == 30)
        var options = CSVOptions()
        options.comment = ""
        #expect(try Table(Self.header + Self.rows.joined() + Self.header, options).rows.count == 31)
        options.comment = nil
        options.hasHeader = false
        #expect(try Table(Self.header + Self.rows.joined() + Self.header, options).rows.count == 32)
    }
}
