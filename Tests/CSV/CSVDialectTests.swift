import FirnBytes
import FirnCSV
import FirnExchange
import FirnTable
import FirnKit
import Testing

/// Texts of other forms than RFC 4180: what is detected, what is reported, and that the same bytes are written back.
@Suite struct CSVDialectTests {
    /// Reads a text and checks the rows, a remark, and that the text is written back, unless `isKept` is false.
    private func check(
        _ text: String, _ rows: [[Value]], says remark: String? = nil, isKept: Bool = true, _ change: (inout CSVOptions) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var options = CSVOptions()
        options.isLossless = true
        change(&options)
        let table = try Table(text, options)
        #expect(table.rows == rows, "\(text.debugDescription)", sourceLocation: sourceLocation)
        if let remark {
            #expect(table.reader.remarks.contains { $0.contains(remark) }, "\(table.reader.remarks)", sourceLocation: sourceLocation)
        }
        let back = String(decoding: try table.written(), as: UTF8.self)
        if isKept {
            #expect(back == text, "\(table.reader.losses)", sourceLocation: sourceLocation)
        } else {
            #expect(!table.reader.losses.isEmpty, "\(back.debugDescription)", sourceLocation: sourceLocation)
        }
    }

    private let ab: [[Value]] = [[.int(1), .string("x")], [.int(2), .string("y")]]

    @Test(arguments: [";", "|", "\t", ":", "~", "^", "::", "||", "|~|"]) func `a delimiter is found by the number of cells of all records`(
        delimiter: String
    ) throws {
        let rows = (1...5).map { [Value.int(Int64($0)), .string("w, \($0)"), .int(7)] }
        let text = "id#name#n\n" + (1...5).map { "\($0)#\(delimiter == "," ? "\"w, \($0)\"" : "w, \($0)")#7\n" }.joined()
        try check(text.replacing("#", with: delimiter), rows, says: "cells are separated by")
    }

    @Test func `a delimiter of several characters can be given, and a comma with a space is found`() throws {
        try check("a@@b\n1@@x\n2@@y\n", ab) { $0.delimiterBytes = Array("@@".utf8) }
        try check("a, b\n1, x\n2, y\n", ab, says: "cells are separated by \", \"")
        try check("a::b\n1::x:y\n", [[.int(1), .string("x:y")]]) { $0.delimiterBytes = Array("::".utf8) }
    }

    @Test func `other quotes and backslashes before quotes are found, and can be given`() throws {
        try check("a,b\n1,'x, y'\n2,'z, z'\n", [[.int(1), .string("x, y")], [.int(2), .string("z, z")]], says: "quoted with \"'\"")
        try check("a,b\n1,\"x \\\"y\\\", z\"\n", [[.int(1), .string("x \"y\", z")]], says: "a backslash precedes")
        try check("a,b\n1,'x\n", [[.int(1), .string("'x")]])
        try check("a,b\n1,\"x\n", [[.int(1), .string("\"x")]]) { $0.quoting = .none }
        try check("a,b\n1,$x, y$\n", [[.int(1), .string("x, y")]]) { $0.quoting = .mark(36) }
        try check("a,b\n1,\"x|\"y, z\"\n", [[.int(1), .string("x\"y, z")]]) { $0.escape = 124 }
    }

    @Test func `lines before and after the table, comments and blank lines are not rows and are written back`() throws {
        try check("sep=;\r\na;b\r\n1;x\r\n2;y\r\n", ab, says: "as the first line \"sep=;\" specifies")
        try check("Report of the year\n\na,b,c\n1,x,5\n2,y,6\n", ab.map { $0 + [.int($0 == ab[0] ? 5 : 6)] }, says: "begins in line")
        try check("a,b\n1,x\n2,y\n\n* the end\n", ab, says: "after the table")
        try check("a,b\n1,x\n\n\n2,y\n", ab, says: "2 blank lines")
        try check("# by hand\na,b\n1,x\n#no\n2,y\n# end\n", ab, says: "comment")
        try check("one\ntwo\na,b\n1,x\n2,y\n", ab) { $0.skipped = 2 }
        try check("a,b\n1,x\n2,y\nz,3\n", ab) { $0.skippedFooter = 1 }
        try check("a,b\n% x,y\n1,x\n2,y\n", ab, says: "1 comment line") { $0.comment = "%" }
    }

    private func names(_ text: String) throws -> [String] { try Table(text).names }

    @Test(arguments: [";", "|"]) func `records that begin with a number sign are rows, and lines of another form are comments`(
        delimiter: String
    ) throws {
        func text(_ lines: String) -> String { lines.replacing(";", with: delimiter) }
        let rows: [[Value]] = [["#101", "Crash"], ["#102", "Slow"], ["104", "x"]].map { $0.map(Value.string) }
        try check(text("issue;title\n#101;Crash\n#102;Slow\n104;x\n"), rows)
        #expect(try names(text("# made by hand\n#id;name\n1;x\n2;y\n")) == ["#id", "name"])
        try check(text("# by hand\na;b\n1;x\n#no\n2;y\n# end\n"), ab, says: "comment")
        let off = try Table(text("a;b\n1;x\n#no\n2;y\n")) { $0.comment = "" }
        #expect(off.rows.count == 3 && off.rows[1] == [.string("#no"), .null])
    }

    @Test func `titles are found after sep= and when they are padded, and an incomplete header is no title`() throws {
        #expect(try names("sep=;\nSales report\n\nRegion;Units\nNorth;10\nSouth;20\n") == ["Region", "Units"])
        #expect(try names("sep=;\nReport of sales;;\n\nRegion;Units;x\nNorth;10;1\nSouth;20;2\n") == ["Region", "Units", "x"])
        #expect(try names("Report 2024;;;\nid;name;amount;\n1;Ann;10;\n2;Bob;20;\n") == ["id", "name", "amount"])
        #expect(try names("Report,,\nid,name,amount\n1,Ann,10\n2,Bob,20\n") == ["id", "name", "amount"])
        #expect(try names("Report\nid,name,amount\n1,Ann,10\n2,Bob,20\n") == ["id", "name", "amount"])
        #expect(try names("id,,\n1,Ann,2\n2,Bob,3\n") == ["id", "column_2", "column_3"])
        #expect(try names("id,,,\n1,Ann,2,\n2,Bob,3,\n").first == "id")
    }

    @Test func `lines above a blank line are not rows if they have fewer cells than the table below it`() throws {
        let names = ["a", "b", "c", "d"], row: [Value] = [.string("x"), .double(-12.5), .double(1.5), .string("y")]
        for (above, end) in [
            ("\"K:\";\"1\"\n\"V:\";\"2\"\n\"B:\";\"3\"\n\n", ""), ("Konto:;DE12;x\n\n", ""), ("\"Konto:\";\"DE12\";\n\n", ";"),
        ] {
            let rows = "\"x\";\"-12,50\";\"1,50\";\"y\"\(end)\n\"z\";\"3,00\";\"4,50\";\"w\"\(end)\n"
            let table = try Table(above + "\"a\";\"b\";\"c\";\"d\"\(end)\n" + rows)
            #expect(table.schema.types[0].columns.prefix(4).map(\.name) == names && table.rows.count == 2, "\(above)")
            #expect(Array(table.rows[0].prefix(4)) == row, "\(above)")
        }
        // A header above a blank line is one if the first record below it is of numbers, as the others are.
        let table = try Table("a,b\n\n1,2,3\n4,5,6\n7,8,9\n")
        #expect(table.schema.types[0].columns.map(\.name) == ["column_1", "a", "b"] && table.rows.count == 3)
    }

    @Test func `a header without a name for the names of rows begins with the second column`() throws {
        for text in [
            "mpg,cyl\nMazda,21,6\nDatsun,22.8,4\n", "\"mpg\" \"cyl\"\n\"Mazda\" 21 6\n\"Datsun\" 22.8 4\n",
            "mpg\tcyl\nMazda RX4\t21\t6\nDatsun 710\t22.8\t4\n",
        ] {
            let table = try Table(text)
            #expect(table.schema.types[0].columns.map(\.name) == ["column_1", "mpg", "cyl"], "\(text)")
            #expect(table.rows[1][1] == .double(22.8) && table.rows[1][2] == .int(4), "\(text)")
            #expect(String(decoding: try table.written(), as: UTF8.self) == text)
        }
        // A cell more in some rows, or an empty one in all, is no name.
        #expect(try Table("a,b\n1,2,3\n4,5\n").schema.types[0].columns.map(\.name) == ["a", "b", "column_3"])
        #expect(try Table("a,b\n1,2,\n4,5,\n").schema.types[0].columns.map(\.name) == ["a", "b"])
    }

    @Test func `a delimiter between spaces is not a cell`() throws {
        let table = try Table(" id , name , v \n" + (1...50).map { " \($0) , n\($0) , \($0 * 2) \n" }.joined())
        #expect(table.schema.types[0].visibleColumns.count == 3 && table.rows.count == 50)
        #expect(table.rows[3][0] == .int(4) && table.rows[3][2] == .int(8))
    }

    @Test func `a footer that is padded with delimiters is no row, and only after a blank line`() throws {
        let rows: [[Value]] = [[.int(1), .string("Ann"), .int(10)], [.int(2), .string("Bob"), .int(20)]]
        try check("Report,,\n,,\nid,name,amount\n1,Ann,10\n2,Bob,20\n,,\nExported by Bob,,\n", rows, says: "2 lines (first: line 6)")
        try check("id,name,amount\n1,Ann,10\n2,Bob,20\n\nExported,,\n,,\n", rows, says: "after the table")
        try check("id,v\n1,2\n2,3\n3,4\n\nTotal: 3\n", [[1, 2], [2, 3], [3, 4]].map(numbers), says: "after the table")
        #expect(try Table("id,name,amount\n1,Ann,10\n2,Bob,20\nx,,\n").rows.count == 3)
        #expect(try Table("id,name,amount\n1,Ann,10\n,,\n3,,\n").rows.count == 3)
        #expect(try Table("id,name,amount\n1,Ann,10\n,,\nx,,\n4,Cid,5\n").rows.count == 4)
    }

    @Test(arguments: [
        "name\nSmith, John\nDoe, Jane\n", "name\nAnn\nBob\nCid\nDan\nSmith, John\n", "Last name\nSmith, John\nDoe, Jane\n",
        "preis\n1,5\n2,5\n", "Preis in EUR\n1,5\n2,5\n",
        "url\nhttp://a/x;y=1\nhttp://b/z;k=2\n", "note\nfirst\nx,y\nx,y\nx,y\n",
    ]) func `texts with delimiters below a header without one are one column, and no line is lost`(text: String) throws {
        let lines = text.split(separator: "\n").map(String.init)
        let values = lines.dropFirst().map { Double($0.replacing(",", with: ".")).map(Value.double) ?? .string($0) }
        try check(text, values.map { [$0] }, says: "one column")
        #expect(try names(text) == [lines[0]])
    }

    @Test func `an empty cell in the first row of one column with trailing delimiters is a row`() throws {
        try check("5,\n,\n7,\n8,\n", [[.int(5)], [.null], [.int(7)], [.int(8)]]) { $0.hasHeader = false }
        try check(",\n5,\n7,\n8,\n", [[.null], [.int(5)], [.int(7)], [.int(8)]]) { $0.hasHeader = false }
    }

    @Test func `other quotes are recognised if a cell needs them or a whole column has them`() throws {
        for mark in ["'", "`"] {
            func text(_ lines: String) -> String { lines.replacing("'", with: mark) }
            try check(
                text("id,word\n1,a\n2,'q'\n3,b\n"), [[.int(1), .string("a")], [.int(2), .string(text("'q'"))], [.int(3), .string("b")]])
            try check(text("id,word\n1,'a'\n2,'b'\n"), [[.int(1), .string("a")], [.int(2), .string("b")]], says: "quoted with")
            try check(text("id;word\n1;a\n2;'q;r'\n"), [[.int(1), .string("a")], [.int(2), .string("q;r")]], isKept: true)
        }
    }

    @Test func `rows that are shorter and longer than the header are counted separately`() throws {
        let table = try Table("a,b,c\n1,2,3\n1,2\n1,2,3,4,5\n1,2,3\n1\n")
        #expect(table.reader.remarks.contains { $0.hasPrefix("2 rows (first: line 3) with fewer than 3 cells") }, "\(table.reader.remarks)")
        #expect(table.reader.remarks.contains { $0.hasPrefix("1 row (line 4) with more cells than the header, which has 3") })
        let plain = try Table("1,2,3\n1,2,3\n1,2,3,4\n1,2,3\n") { $0.hasHeader = false }
        #expect(!plain.reader.remarks.contains { $0.contains("fewer") }, "\(plain.reader.remarks)")
        #expect(
            plain.reader.remarks.contains { $0.hasPrefix("1 row (line 3) with more cells than the usual 3") }, "\(plain.reader.remarks)")
    }

    @Test func `a record of numbers without rows, too many skipped lines and lone surrogates are reported as what they are`() throws {
        #expect(try Table("7,8,9\n").reader.remarks.contains { $0.contains("use --no-header") })
        #expect(try Table("a,b\n").reader.remarks.isEmpty)
        let skipped = #expect(throws: FirnError.self) { try Table("a,b\n1,2\n") { $0.skipped = 9 } }
        #expect(skipped?.message == "there is no header and no row after the first 9 lines")
        let units = Array("a,b\n1,".utf16) + [0xD800, 10]
        let bytes: [UInt8] = [0xFF, 0xFE] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let surrogate = #expect(throws: FirnError.self) { try Table(bytes) }
        #expect(surrogate?.description.contains("byte 14") == true, "\(surrogate?.description ?? "")")
        #expect(try Table("a,b\n1,x\n\n2,y\n").reader.remarks.contains { $0.contains("1 blank line was skipped") })
    }

    @Test func `rows of another width are padded or widen the table, with the number and the first line in a remark`() throws {
        try check(
            "a,b,c\n1,2,3\n4,5\n6\n7,8,9\n", [[1, 2, 3], [4, 5, nil], [6, nil, nil], [7, 8, 9]].map(numbers), says: "2 rows (first: line 3)"
        )
        try check("a,b\n1,2\n4,5,6\n", [[1, 2, nil], [4, 5, 6]].map(numbers), says: "1 row (line 3) with more cells than the header")
        try check("a,b,\n1,2,\n4,5,\n", [[1, 2], [4, 5]].map(numbers), says: "end with a delimiter")
        try check("a,b\n1,2,\n4,5,\n", [[1, 2], [4, 5]].map(numbers), says: "end with a delimiter")
        try check("a,b\n1,2\n4,5,6\n", [[1, 2], [4, 5]].map(numbers), says: "cut", isKept: false) { $0.ragged = .cut }
        try check("a,b\n1,2\n4,5,\n6\n", [[1, 2], [4, 5], [6, nil]].map(numbers)) { $0.ragged = .pad }
        var options = CSVOptions()
        options.ragged = .pad
        let error = #expect(throws: FirnError.self) { try Table("a,b\n1\n4,5,6\n", options) }
        #expect(error?.description == "test.csv:3:6: expected 2 cells, found 3" && error?.advice?.contains("--ragged") == true)
        nonisolated(unsafe) var rejected: [UInt8] = []
        options.rejects = Rejects { row, _ in rejected += Array(row) }
        let table = try Table("a,b\n1\n4,5,6\n7,8\n", options)
        #expect(table.rows == [[1, nil], [7, 8]].map(numbers) && table.reader.rejectedCount == 1 && rejected == Array("4,5,6\n".utf8))
    }

    private func numbers(_ row: [Int64?]) -> [Value] { row.map { $0.map(Value.int) ?? .null } }

    @Test func `one row of a million cells does not widen a table of short rows`() throws {
        let text = "a,b\n" + String(repeating: "1,2\n", count: 3000) + String(repeating: ",", count: 1_000_000) + "x\n"
        let error = #expect(throws: FirnError.self) { try Table(text) }
        #expect(error?.location?.line == 3002 && error?.advice?.contains("--ragged") == true)
    }

    @Test func `a header is missing if the first record has the types of all others`() throws {
        let rows: [[Value]] = [[.int(1), .string("x"), .double(0.5)], [.int(2), .string("y"), .double(1.5)]]
        try check("1,x,0.5\n2,y,1.5\n", rows, says: "the first record is data")
        #expect(try Table("1,x,0.5\n2,y,1.5\n").names == ["column1", "column2", "column3"])
        var options = CSVOptions()
        options.hasHeader = true
        #expect(try Table("1,x,0.5\n2,y,1.5\n", options).names == ["1", "x", "0.5"])
        #expect(try Table("country,2019,2020\nDE,1,2\n").names == ["country", "2019", "2020"])
        #expect(try Table("a,b\nc,d\n").names == ["a", "b"])
        #expect(try Table("id,x\n1,2\n").rows.count == 1)
    }

    @Test func `quotes that do not enclose cells are text`() throws {
        try check("a,b\n1,5\" x\n2,\"y\"\n", [[.int(1), .string("5\" x")], [.int(2), .string("y")]], isKept: false)
        try check(
            "a,b\n1,\"he said \"no\" twice\"\n2,\"y, z\"\n", [[.int(1), .string("he said \"no\" twice")], [.int(2), .string("y, z")]],
            says: "within quoted cells", isKept: false)
        try check(
            "a,b\n1,\"x\n2,\"y, z\"\n", [[.int(1), .string("\"x")], [.int(2), .string("y, z")]], says: "quote at the beginning",
            isKept: false)
        try check(
            "a,b\n1, \"x, y\" \n2,z\n", [[.int(1), .string("x, y")], [.int(2), .string("z")]], says: "spaces around", isKept: false)
        let error = #expect(throws: FirnError.self) { try Table("a,b\n1,\"x, y\"\n2,\"z\n3\n4,5,6,7\n") }
        #expect(error?.description == "test.csv:3:3: a quote is opened here and never closed")
    }

    @Test func `line ends may be mixed, and a carriage return within a cell is text`() throws {
        try check("a,b\n1,x\r\n2,y\n", ab, isKept: false)
        try check("a,b\r1,x\n2,y\r\n", ab, says: "lines end in different ways", isKept: false)
        try check("a,b\r1,x\r2,y\r", ab)
        try check("a,b\n1,x\ry\n", [[.int(1), .string("x\ry")]], isKept: false)
    }

    @Test func `text that is not UTF-8 is read as Latin-1 or Windows-1252, and written back`() throws {
        for (byte, name, letter) in [(UInt8(0xE9), "latin-1", "é"), (0x80, "windows-1252", "€")] {
            let bytes = Array("a;b\n1;x".utf8) + [byte, 10]
            var options = CSVOptions()
            options.isLossless = true
            let table = try Table(bytes, options)
            #expect(table.rows == [[.int(1), .string("x\(letter)")]])
            #expect(table.reader.remarks.contains { $0.contains("text is not UTF-8 and was read as \(name)") })
            #expect(try table.written() == bytes)
        }
        var options = CSVOptions()
        options.isLossless = true
        options.encoding = CSVEncoding(rawValue: "windows-1250")
        let table = try Table(Array("a,b\n1,x".utf8) + [0xB3, 10], options)
        #expect(table.rows == [[.int(1), .string("xł")]])
        #expect(try table.written() == Array("a,b\n1,x".utf8) + [0xB3, 10])
        #expect(CSVEncoding(rawValue: "no such encoding") == nil)
    }

    @Test func `single bytes that are not UTF-8 do not change the other characters`() throws {
        for (bytes, text) in [([UInt8(0xE9)], "é"), ([0x80], "€"), ([0xC3], "Ã"), ([0xE2, 0x82], "â‚"), ([0xF0, 0x9F, 0x98], "ðŸ˜")] {
            var options = CSVOptions()
            options.isLossless = true
            let table = try Table(Array("a,b\nżółw,x".utf8) + bytes + Array("\n日本,ö\n".utf8), options)
            #expect(table.rows == [[.string("żółw"), .string("x\(text)")], [.string("日本"), .string("ö")]])
            #expect(
                table.reader.remarks.contains {
                    $0.hasPrefix("text is UTF-8 except \(bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"), which")
                        && $0.contains("the first at byte 13;")
                }, "\(table.reader.remarks)")
            #expect(table.reader.dialect.encoding == .utf8 && !table.reader.losses.isEmpty)
        }
        // At the very end, and as the only name of an encoding.
        #expect(try Table(Array("a,b\nżółw,x".utf8) + [0xC3]).rows == [[.string("żółw"), .string("xÃ")]])
        var named = CSVOptions(), output = CSVWriterOptions()
        (named.encoding, output.encoding) = (.mixed, .mixed)
        let table = try Table(Array("a,b\nżółw,x".utf8) + [0xE9, 10], named)
        #expect(CSVEncoding(rawValue: CSVEncoding.mixed.rawValue) == .mixed)
        #expect(String(decoding: try table.written(output), as: UTF8.self) == "a,b\nżółw,xé\n")
        var strict = CSVOptions()
        strict.encoding = .utf8
        #expect(throws: FirnError.self) { try Table(Array("a,b\nżółw,x".utf8) + [0xE9, 10], strict) }
    }

    @Test(arguments: Seed.first(200)) func `a text with single bytes of Windows-1252 has the same rows in blocks of any size`(seed: Seed)
        throws
    {
        var random = Random(seed)
        var bytes = Array("a,b\n".utf8), expected: [[Value]] = []
        for _ in 0..<random.number(20...4000) {
            var text = ""
            for _ in 0..<random.number(1...6) {
                switch random.below(12) {
                case 0:
                    let byte = UInt8(random.number(0xA1...0xBF))
                    bytes.append(byte)
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                case 1:
                    text += "x"
                    bytes.append(UInt8(ascii: "x"))
                default:
                    let character = ["é", "ß", "日", "€", "😀", "ю"][random.below(6)]
                    text += character
                    bytes += Array(character.utf8)
                }
            }
            expected.append([.string(text), .int(1)])
            bytes += Array(",1\n".utf8)
        }
        #expect(try Table(bytes).rows == expected)
    }
}

extension Table {
    fileprivate init(_ text: String, _ change: (inout CSVOptions) -> Void) throws {
        var options = CSVOptions()
        change(&options)
        try self.init(text, options)
    }
}

@Suite struct UnmarkedUnicodeTests {
    private func bytes(_ text: String, big: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in big ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
    }

    @Test(arguments: [
        "a,b\nhéllo,1\n", "a,b\n😀,1\nx,2\n", "中,b\nhéllo 😀,1\n", "中中,中\n中😀,中中\n一,丁\n", "a\tb\r\nшшш\t1\r\n",
        "name,note\n" + String(repeating: "中文字符😀,Ā\n", count: 3000),
    ]) func `UTF-16 without a byte order mark is recognised, also with surrogates and few ASCII characters`(text: String) throws {
        for big in [false, true] {
            let input = Input(bytes: bytes(text, big: big), name: "test.csv"), reader = try CSVReader(input)
            #expect(reader.dialect.encoding == (big ? .utf16BigEndian : .utf16LittleEndian), "\(text.prefix(20))")
            let first = text.replacing("\r\n", with: "\n").split(separator: "\n")[0].split(whereSeparator: { ",\t".contains($0) }).map(
                String.init)
            #expect(reader.schema.types[0].columns.map(\.name) == first)
        }
    }

    @Test(arguments: Seed.first(300)) func `random bytes are not taken for UTF-16`(seed: Seed) {
        var random = Random(seed)
        let bytes = (0..<random.number(8...400)).map { _ in random.chance(20) ? 0 : UInt8(random.below(256)) }
        guard let reader = try? CSVReader(Input(bytes: bytes, name: "test.csv")) else { return }
        #expect(reader.dialect.encoding != .utf16LittleEndian && reader.dialect.encoding != .utf16BigEndian, "\(bytes)")
    }

    @Test(arguments: [
        "id t n\n1 \"2024-01-01 10:00:00\" 5\n2 \"2024-01-02 10:00:00\" 6\n",
        "id:t:n\n1:\"2024-01-01 10:00:00\":5\n2:\"2024-01-02 10:00:00\":6\n",
        "id t\n1 \"2024-03-31 01:30:00+01:00\"\n2 \"2024-03-31 03:00:00+02:00\"\n3 \"2024-03-31 03:30:00+02:00\"\n",
    ])
    func `cells that contain the delimiter keep their quotes, whatever their type`(text: String) throws {
        var options = CSVOptions()
        options.delimiterBytes = [Array(text.utf8)[2]]
        let table = try Table(text, options)
        #expect(table.types.count > 1 && table.types[1] == "date")
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
    }

    @Test func `a value that is written like null is quoted`() throws {
        var options = CSVOptions()
        options.nullWords = ["-1"]
        var table = try Table("a,b\n1,2\n-1,3\n", options)
        #expect(table.rows[1][0] == .null)
        // The value that another source would have.
        var column = Column(table.batches[0].columns[0].type)
        for value in [Value.int(-1), .null] { _ = column.append(value) }
        table.batches[0].columns[0] = column
        let text = String(decoding: try table.written(), as: UTF8.self)
        #expect(text == "a,b\n\"-1\",2\n-1,3\n")
        #expect(try Table(text, options).rows.map { $0[0] } == [.int(-1), .null])
    }

    @Test(arguments: [" ", ":", "-", ".", "+", "T", "e", "0"])
    func `values of any type that contain the delimiter are quoted`(delimiter: String) throws {
        let cells = [
            ["10", "20", "-30"], ["1.5", "2.5", "-3.5"], ["2024-01-31", "2024-02-29", "2023-12-01"], ["1e-05", "0.5", "2.5e+20"],
            ["2024-01-31 10:00:00", "2024-02-29 00:00:00", "2023-12-01 01:00:00"], ["true", "false", "true"],
            ["31.12.2024", "30.12.2024", "29.12.2024"],
            ["2024-01-31T10:00:00+01:00", "2024-02-29T00:00:00+02:00", "2023-12-01T01:00:00+01:00"], ["1,5", "2,25", "-3,5"],
            ["0f8fad5b-d9cb-469f-a165-70867728950e", "00000000-0000-0000-0000-000000000000", "0f8fad5b-d9cb-469f-a165-70867728950f"],
        ]
        var options = CSVOptions()
        options.delimiterBytes = Array(delimiter.utf8)
        let lines = [cells.indices.map { "\(Character(UnicodeScalar(UInt8(97 + $0))))" }] + (0..<3).map { row in cells.map { $0[row] } }
        let text = lines.map { line in
            line.map { $0.contains(delimiter) ? "\"\($0)\"" : $0 }.joined(separator: delimiter) + "\n"
        }.joined()
        let table = try Table(text, options), written = try table.written()
        #expect(table.types.filter { $0 == "string" }.isEmpty, "\(table.types)")
        let again = try Table(written, options)
        #expect(again.rows == table.rows && again.types == table.types, "\(String(decoding: written, as: UTF8.self))")
    }

    @Test(arguments: [
        "2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-01-31T10:00:00+01:00", "2024-01-31 10:00:00.250+01", "2024-01-31 10:00",
        "31/01/2024 10:00:00", "2024-01-31 10:00:00 +0100", "2024-01-31 10:00:00 UTC", "10:00:00", "10:00", "10:00:00.5",
    ])
    func `a column of dates or times is not split`(cell: String) throws {
        for count in [2, 3, 150] {
            for header in ["", "seen_at\n"] {
                let lines = (0..<count).map { cell.replacing("10:0", with: "1\($0 % 10):0") + "\n" }
                let table = try Table(header + lines.joined())
                // Times are text, so that the first line is a header.
                let isHeader = header.isEmpty && cell.hasPrefix("10:")
                #expect(table.names.count == 1 && table.rows.count == count - (isHeader ? 1 : 0), "\(count) \(header) \(table.names)")
                #expect(String(decoding: try table.written(), as: UTF8.self) == header + lines.joined())
            }
        }
        // With another column, they are cells.
        #expect(try Table("a:b\n1:2\n3:4\n5:60\n").names == ["a", "b"])
    }

    @Test(arguments: ["nan", "NA", "inf", "-inf", ".5", "-Infinity", "1e3"])
    func `a first record with an unusual number is a row`(cell: String) throws {
        let text = "0.5,\(cell)\n1.5,2.5\n2.5,3.5\n", table = try Table(text)
        #expect(table.rows.count == 3 && table.rows[0][0] == .double(0.5), "\(table.names)")
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
        // Names are names, and so are numbers after a space, and the corner of a table.
        #expect(try Table("x, 2019, 2021\na,1.5,2.5\nb,2.5,3.5\n").rows.count == 2)
        #expect(try Table("-,5,7\n1,1.5,2.5\n2,2.5,3.5\n").rows.count == 2)
        #expect(try Table("share,\(cell)\n1.5,2.5\n2.5,3.5\n").rows.count == 2)
    }
}
