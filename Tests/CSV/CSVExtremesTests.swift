import FirnBytes
import FirnCSV
import FirnExchange
import FirnTable
import Foundation
import Testing

/// Unusual text: encodings, widths, lengths, and headers of all kinds.
@Suite struct CSVExtremesTests {
    /// Irregular rows are errors.
    private var strict: CSVOptions {
        var options = CSVOptions()
        options.ragged = .error
        return options
    }

    private func utf16(_ text: String, big: Bool) -> [UInt8] {
        ([0xFEFF] + Array(text.utf16)).flatMap { big ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
    }

    @Test func `UTF-16 is detected by its byte order mark, or read without one if the encoding is given`() throws {
        // More than one block of input, with characters of two code units at every block boundary.
        let rows = (0..<20_000).map { "\($0),naïve 日本 😀😀\($0 % 3 == 0 ? "x" : "")" }
        let text = "id,\"größe, 😀\"\n" + rows.joined(separator: "\n") + "\n"
        for big in [false, true] {
            let bytes = utf16(text, big: big)
            let table = try Table(bytes)
            #expect(table.names == ["id", "größe, 😀"] && table.types == ["int", "string"])
            #expect(table.rows.count == 20_000 && table.rows[1] == [.int(1), .string("naïve 日本 😀😀")])
            #expect(table.reader.remarks.contains("text was converted from \(big ? "utf-16be" : "utf-16le")"))
            var options = CSVOptions()
            options.encoding = big ? .utf16BigEndian : .utf16LittleEndian
            #expect(try Table(Array(bytes[2...]), options).rows == table.rows)
            var same = CSVWriterOptions()
            same.isExact = true
            #expect(try table.written(same) == bytes, "the written bytes equal the input")
        }
    }

    @Test func `truncated UTF-16 and unpaired surrogates are refused with a position`() throws {
        for bytes in [
            utf16("a,b\n1,2\n", big: false) + [0x31], [0xFF, 0xFE, 0x61, 0, 0x0A, 0, 0, 0xDC, 0x0A, 0], [0xFF, 0xFE, 0, 0xDC, 0x0A, 0],
            utf16("a\n1\n", big: true) + [0xD8, 0x00],
        ] {
            let error = #expect(throws: FirnError.self) { try Table(bytes) }
            #expect(error?.message.contains("UTF-16") == true && error?.location != nil, "\(String(describing: error))")
        }
    }

    @Test(.timeLimit(.minutes(15))) func `ten thousand columns are read and written`() throws {
        let width = 10_000
        var text = (0..<width).map { "c\($0)" }.joined(separator: ",") + "\n"
        for row in 0..<20 {
            text +=
                (0..<width).map { $0 % 3 == 0 ? "w\($0 ^ row)" : $0 % 3 == 1 ? "\($0 &* row)" : "\($0).5" }.joined(separator: ",") + "\n"
        }
        let start = ContinuousClock.now
        let table = try Table(text)
        #expect(table.types.count == width && table.types[..<3] == ["string", "int", "double"])
        #expect(table.rows.count == 20 && table.rows[7][9_999] == .string("w\(9_999 ^ 7)"))
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
        print("10,000 columns × 20 rows: \(ContinuousClock.now - start)")
        // One row among many has one cell too few or too many.
        let error = #expect(throws: FirnError.self) { try Table(text + String(repeating: ",", count: width) + "\n", strict) }
        #expect(error?.message == "expected 10000 cells, found 10001" && error?.location?.line == 22)
    }

    @Test func `ten thousand columns of one name get different names`() throws {
        let text =
            Array(repeating: "x", count: 10_000).joined(separator: ",") + "\n" + Array(repeating: "1", count: 10_000).joined(separator: ",")
            + "\n"
        let table = try Table(text)
        #expect(Set(table.names).count == 10_000 && table.names[9_999] == "x_10000")
        #expect(table.reader.remarks.count < 10)
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
    }

    @Test(arguments: [1 << 16, 1 << 20, 5 << 20]) func `a field longer than every buffer is read completely`(length: Int) throws {
        let long = String(repeating: "0123456789abcde ", count: length / 16)
        for text in ["a,b\n1,\(long)\n2,y\n", "a,b\n1,\"\(long),\n\"\"\(long)\"\n2,y\n", "a,b\n1,\(long)", "a,\"\(long)\n\"\n1,2\n"] {
            let table = try Table(text)
            #expect(table.rows.count == (text.hasSuffix("\n") && !text.hasSuffix("1,2\n") ? 2 : 1))
            #expect(String(decoding: try table.written(), as: UTF8.self) == text)
        }
        #expect(throws: FirnError.self) { try Table("a,b\n1,\"\(long)", strict) }
    }

    @Test func `missing and repeated column names are replaced for reading and kept for writing`() throws {
        let text = "a,,a,a_2,\"a\",\n1,2,3,4,5,6\n"
        let table = try Table(text)
        #expect(table.names == ["a", "column_2", "a_3", "a_2", "a_4", "column_6"])
        #expect(table.reader.remarks.contains("column 3 has the name \"a\" of another column; it is called \"a_3\""))
        #expect(table.reader.remarks.contains("column 2 has no name; it is called \"column_2\""))
        #expect(plainCells(try table.written()).map { $0.map { $0 ?? [] } } == plainCells(Array(text.utf8)).map { $0.map { $0 ?? [] } })
        let plain = "id,name,name\n1,x,y\n"
        #expect(String(decoding: try Table(plain).written(), as: UTF8.self) == plain)
    }

    @Test(arguments: ["a,b\n", "a,b", "a,b\r\n", "\u{FEFF}a,b\n", "a\n", "a;b\n"]) func `a header without rows is a table without rows`(
        text: String
    ) throws {
        let table = try Table(text)
        #expect(table.rows.isEmpty && table.names.first == "a" && table.types.allSatisfy { $0 == "string?" })
        #expect(try table.written() == Array(text.utf8), "\(text.debugDescription)")
    }

    @Test(arguments: ["", "\n", "\r\n\r\n", "\u{FEFF}"]) func `an empty input is refused`(text: String) throws {
        let error = #expect(throws: FirnError.self) { try Table(text) }
        #expect(error?.message == "the input is empty: there is no header and no row" && error?.code == .rejected)
    }

    @Test func `rows of another width are refused on request with the position, the expected width and advice`() throws {
        let cases: [(String, String)] = [
            ("a,b\n1,2\n3\n", "test.csv:3:2: expected 2 cells, found 1"), ("a,b\n1,2,3\n4,5\n", "test.csv:2:6: expected 2 cells, found 3"),
            ("a,b,c\n\"x\ny\",2\n", "test.csv:3:5: expected 3 cells, found 2"),
            ("a,b\n1,\"x\"y\n", "test.csv:2:6: expected a delimiter or the end of the line after a closing quote"),
            ("a,b\n1,\"x\n", "test.csv:2:3: a quote is opened here and never closed"),
            ("a,b\r\n1,2\r\n1\r\n", "test.csv:3:2: expected 2 cells, found 1"),
        ]
        for (text, words) in cases {
            let error = #expect(throws: FirnError.self, "\(text.debugDescription)") { try Table(text, strict) }
            #expect(error?.description == words)
            #expect(error?.advice == "correct the row, or set bad rows aside with --rejects FILE" && error?.code == .rejected)
        }
    }

    @Test(arguments: ["\n", "\r\n", "\r"]) func `a header after any number of blank lines is found`(newline: String) throws {
        let edge = (1 << 16) / newline.utf8.count
        for count in [1, edge - 3, edge - 1, edge, edge + 9] {
            let text = String(repeating: newline, count: count) + ["a,b", "1,2", "3,4", ""].joined(separator: newline)
            let table = try Table(text)
            #expect(table.names == ["a", "b"] && table.rows.count == 2, "\(count) \(newline.debugDescription): \(table.names)")
        }
    }

    @Test func `a header that is much wider than the rows is padded up to a bound`() throws {
        let width = 20_000, names = (0..<width).map { "c\($0)" }.joined(separator: ",")
        let few = try Table(names + "\n1\n1\n2,3\n")
        #expect(few.rows.count == 3 && few.names.count == width)
        for header in [names, (0..<width).map { "\($0 + 5)" }.joined(separator: ",")] {
            let error = #expect(throws: FirnError.self) { try Table(header + "\n" + String(repeating: "1\n", count: width)) }
            #expect(error?.code == .rejected && error?.advice?.contains("--ragged") == true, "\(String(describing: error))")
            #expect(error?.message.contains("would be padded to \(width) columns") == true, "\(String(describing: error))")
        }
    }
}
