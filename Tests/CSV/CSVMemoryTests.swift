import FirnBytes
import FirnExchange
import FirnTable
import Testing

@testable import FirnCSV

/// Headers and rows that need much memory, and the remarks for columns of text.
@Suite struct CSVMemoryTests {
    @Test func `a header beyond the memory limit is an error with its position, before memory for its cells is allocated`() throws {
        let width = 3_000_000
        for text in [[UInt8](repeating: 44, count: width - 1) + [10], [UInt8](repeating: 44, count: width - 1)] {
            let input = Input(bytes: text, name: "test.csv")
            input.budget = MemoryBudget(limit: 64 << 20)
            let error = #expect(throws: FirnError.self) { try CSVReader(input) }
            #expect(
                error?.code == .outOfMemory && error?.message.contains("3000000 cells") == true && error?.location?.line == 1,
                "\(String(describing: error))")
            #expect(error?.advice?.contains("--memory") == true)
            // The blocks with the record, and no memory for its cells.
            #expect(input.budget.peak < 32 << 20 && input.budget.used == 0, "\(input.budget.peak)")
        }
        let input = Input(bytes: [UInt8](repeating: 44, count: 9999) + [10], name: "test.csv")
        input.budget = MemoryBudget(limit: 64 << 20)
        let reader = try CSVReader(input)
        #expect(reader.schema.types[0].columns.count == 10_000 && input.budget.used == 10_000 * CSVHeader.columnSize)
    }

    @Test func `a row beyond the memory limit is an error with its position`() throws {
        let input = Input(bytes: Array("a\n1\n\"".utf8) + [UInt8](repeating: 120, count: 40 << 20), name: "test.csv")
        input.budget = MemoryBudget(limit: 16 << 20)
        let error = #expect(throws: FirnError.self) { try CSVReader(input) }
        #expect(error?.code == .outOfMemory && error?.location?.line ?? 0 > 0, "\(String(describing: error))")
    }

    @Test func `rows with many columns are read in batches with a limited number of slots`() throws {
        let width = 20_000, rows = 300
        var options = CSVOptions()
        options.blockSize = 1 << 18
        let line = String(repeating: ",", count: width - 1) + "\n"
        let reader = try CSVReader(Input(bytes: Array((0...rows).map { _ in line }.joined().utf8), name: "test.csv"), options: options)
        var count = 0, batches = 0
        while let (_, batch) = try reader.next() {
            #expect(batch.count * width <= max(CSVReader.maximumWideCells, CSVReader.maximumWideBytes + (1 << 19)))
            count += batch.count
            batches += 1
        }
        #expect(count == rows && batches >= 2)
    }

    @Test func `a block allocates a bounded number of cells for the rows that its first ones let expect`() {
        #expect(CSVSetting.expectedRows(after: 100, share: 0.1, columns: 8) == 1127)
        // One short row, as rows with missing cells are, of a block of many.
        for columns in [1, 128, 10_000, 1_000_000] {
            let expected = CSVSetting.expectedRows(after: 1, share: 1e-9, columns: columns)
            #expect(expected >= 1 && expected <= CSVReader.batchRows && expected * columns <= max(columns, CSVReader.maximumWideCells))
        }
        // Rows that were read already have memory.
        #expect(CSVSetting.expectedRows(after: 300, share: 1, columns: 10_000) == 300)
    }

    @Test func `a lower memory limit makes smaller batches`() throws {
        let width = 5000, rows = 300, limit = 32 << 20
        let line = String(repeating: ",", count: width - 1) + "\n"
        let input = Input(bytes: Array((0...rows).map { _ in line }.joined().utf8), name: "test.csv")
        input.budget = MemoryBudget(limit: limit)
        let reader = try CSVReader(input)
        var count = 0
        while let (_, batch) = try reader.next() {
            #expect(batch.count * width <= limit / 128)
            count += batch.count
        }
        #expect(count == rows)
    }

    @Test func `many columns are written a few rows at a time and round trip`() throws {
        let width = 30_000, rows = 40
        var text = (0..<width).map { "c\($0)" }.joined(separator: ",") + "\n"
        for row in 0..<rows { text += (0..<width).map { "\($0 &* 7 % 13 + row)" }.joined(separator: ",") + "\n" }
        #expect(try Table(text).written() == Array(text.utf8))
    }

    @Test func `reading ends with an error if the process exceeds its memory limit elsewhere`() throws {
        let line = String(repeating: ",", count: 4999) + "\n"
        let input = Input(bytes: Array((0...400).map { _ in line }.joined().utf8), name: "test.csv")
        input.budget = MemoryBudget(limit: 64 << 20) { more, _ in more < 1 << 20 }
        let error = #expect(throws: FirnError.self) {
            let reader = try CSVReader(input)
            while try reader.next() != nil {}
        }
        #expect(error?.code == .outOfMemory && error?.location?.file == "test.csv", "\(String(describing: error))")
    }

    private func remarks(_ text: String, nulls: [String] = []) throws -> [String] {
        var options = CSVOptions()
        options.nullWords += nulls
        options.blockSize = 64
        return try CSVReader(Input(bytes: Array(text.utf8), name: "test.csv"), options: options).remarks
    }

    @Test func `a remark names the texts that keep a column from being numeric, and the option that makes it numeric`() throws {
        let ages = "age,name\n" + (0..<30).map { "\($0 % 4 == 1 ? "XX" : "\($0)"),n\($0)" }.joined(separator: "\n") + "\n"
        #expect(try remarks(ages) == ["column \"age\" is text because of \"XX\" in 8 rows; --null XX makes it int"])
        #expect(try remarks(ages, nulls: ["XX"]).isEmpty)
        #expect(
            try remarks("a\n1.5\n2.25\nno/ne\n-x\n3\n") == [
                "column \"a\" is text because of \"no/ne\" and \"-x\" in 2 rows; --null no/ne,-x makes it double"
            ])
        #expect(
            try remarks("a\n2020-01-01\n2020-01-02\n(none)\n") == [
                "column \"a\" is text because of \"(none)\" in 1 row; --null='(none)' makes it date"
            ])
        #expect(
            try remarks("id,d\n1,2020-01-02T03:04:05Z\n2,Z\n3,2020-01-02T03:04:05+01:00\n") == [
                "column \"d\" is text because of \"Z\" in 1 row; --null Z makes it date"
            ])
        #expect(try remarks("a,b\nXX,1\nXX,2\n1,3\n2,4\n3,5\n").count == 1, "texts in the first rows count too")
        // Another remark if other text remains or if the texts are quoted, and none if they are most of the column.
        for text in ["a\n1\n2\n3\nXX\nx y z and more\n", "a\n1\n2\n3\n\"XX\"\n", "a\n1\n2\n3\n4\n5\nA\nB\nC\nD\n"] {
            let found = try remarks(text)
            #expect(
                found.count == 1 && found[0].contains("cells") && found[0].contains("number") && found[0].contains(" (first: row "),
                "\(found)")
        }
        for text in ["a\nM\nF\nM\n1\n", "a\nNA\nNA\n", "a\n01\n02\nNA\n", "a\nx\ny\nz\n1\n2020-01-01\n"] {
            #expect(try remarks(text).isEmpty, "\(text)")
        }
    }

    @Test func `the remark names the type that the option results in`() throws {
        for (cells, words) in [
            (["1", "2", "XX"], "XX"), (["1.50", "2.25", "missing"], "missing"), (["true", "false", "?!"], "?!"),
            (["1", "9223372036854775808", "XX"], "XX"),
        ] {
            let text = "a,b\n" + cells.map { "\($0),x" }.joined(separator: "\n") + "\n"
            let remark = try #require(try remarks(text).first)
            var options = CSVOptions()
            options.nullWords.append(words)
            let type = try CSVReader(Input(bytes: Array(text.utf8), name: "t"), options: options).schema.types[0].columns[0].type
            #expect(remark.hasSuffix("makes it \(type.kind.name)"), "\(remark), \(type.name)")
        }
    }

    @Test func `Latin-1 and UTF-16 that were read losslessly are written in their encoding`() throws {
        let text = "name,ort\nJosé,Köln\n\"Zoë, Ana\",Ærø\n"
        let latin = text.unicodeScalars.map { UInt8($0.value) }
        func encoded(_ mark: [UInt8], big: Bool) -> [UInt8] {
            var bytes = mark
            for unit in text.utf16 {
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                bytes += big ? [high, low] : [low, high]
            }
            return bytes
        }
        let little = encoded([0xFF, 0xFE], big: false), big = encoded([0xFE, 0xFF], big: true), bare = encoded([], big: false),
            marked: [UInt8] = [0xEF, 0xBB, 0xBF] + Array(text.utf8)
        let inputs: [([UInt8], CSVEncoding?)] = [(latin, .latin1), (little, nil), (big, nil), (bare, .utf16LittleEndian), (marked, nil)]
        for (bytes, encoding) in inputs {
            var options = CSVOptions()
            options.encoding = encoding
            let plain = try Table(bytes, options)
            #expect(plain.schema.types[0].envelope?.contains("exact") == false)
            if encoding != nil || bytes[0] != 0xEF {
                #expect(try plain.written() == Array(text.utf8), "without isLossless, CSV is written as UTF-8")
            }
            options.isLossless = true
            let exact = try Table(bytes, options)
            #expect(try exact.written() == bytes)
            var utf8 = CSVWriterOptions()
            utf8.encoding = .utf8
            if bytes[0] != 0xEF { #expect(try exact.written(utf8) == Array(text.utf8)) }
        }
        var options = CSVOptions()
        options.encoding = .latin1
        options.isLossless = true
        var table = try Table(latin, options)
        table.batches[0].columns[0].text = Text(["Łódź", "x"])
        let error = #expect(throws: FirnError.self) { try table.written() }
        #expect(error?.message.contains("\"Ł\" is not in Latin-1") == true && error?.advice?.contains("--encoding utf-8") == true)
    }

    @Test func `a cell is read as a float or integer only if its value is exact or the shortest text`() throws {
        func value(_ text: String, _ kind: ScalarKind) throws -> Value {
            var options = CSVOptions()
            options.types = TypeSchema("T", columns: [ColumnSchema("a", ColumnType(kind))])
            return try Table("a,b\n\(text),x\n", options).rows[0][0]
        }
        for text in ["0.1", "0.10000000149011612", "0.100000001490116119384765625"] {
            #expect(try value(text, .float) == .float(0.1), "\(text)")
        }
        #expect(try value("0.1000000000000000055511151231257827021181583404541015625", .double) == .double(0.1))
        for (text, whole) in [("1.0", 1), ("1e3", 1000), ("7", 7), ("9223372036854775807.0", Int64.max)] {
            #expect(try value(text, .int) == .int(whole), "\(text)")
        }
        for (text, kind) in [("0.10000000149011613", ScalarKind.float), ("1.5", .int), ("-0.0", .int), ("0.10000000000000000555", .double)]
        { #expect(throws: FirnError.self, "\(text)") { try value(text, kind) } }
    }

    @Test func `the copies of a long record are charged before they are made`() throws {
        let long = [UInt8](repeating: 49, count: 8 << 20)
        // A header of one cell; a cell; a quoted cell of a text that is not regular; a blank record.
        for (text, limit) in [
            (long, 40 << 20), (Array("a,b\n1,2\n".utf8) + long, 12 << 20), (Array("a,b\n1\n\"x\"\"".utf8) + long + [34], 20 << 20),
        ] {
            let input = Input(bytes: text, name: "test.csv")
            input.budget = MemoryBudget(limit: limit)
            let error = #expect(throws: FirnError.self) {
                let reader = try CSVReader(input)
                while try reader.next() != nil {}
            }
            #expect(error?.code == .outOfMemory && error?.advice?.contains("--memory") == true, "\(String(describing: error))")
            #expect(input.budget.used == 0, "\(input.budget.used)")
        }
    }
}
