import FirnBytes
import FirnCSV
import FirnExchange
import FirnTable
import Testing

@Suite struct CSVInferenceTests {
    /// Checks the type of a column with these cells, and that it is written with the same bytes.
    private func check(_ cells: [String], _ type: String, _ notation: Notation = .plain, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let text = "x,n\n" + cells.map { "\($0),1\n" }.joined()
        let table = try Table(text)
        #expect(table.types[0] == type, sourceLocation: sourceLocation)
        #expect(table.notations[0] == notation, sourceLocation: sourceLocation)
        #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
    }

    @Test func `each column gets the narrowest type that round-trips every cell`() throws {
        try check(["1", "-2", "9223372036854775807", "-9223372036854775808", "0"], "int")
        try check(["1", "", "3"], "int?")
        try check(["1", "1.5", "-0"], "double")
        try check(["1.0", "2.5", "-3.0"], "double", .pointZero)
        try check(["1.10", "2.25", "0.00", "-0.00"], "double", .fixed(2))
        try check(["1.10", "1.1"], "decimal128")
        try check(["1.1", "9007199254740993"], "decimal128")
        try check(["9223372036854775808", "1"], "decimal128")
        try check(["1e21", "2"], "double")
        try check(["0.000001", "2"], "double")
        try check(["0.0000001", "0.1234567"], "double", .fixed(7))
        try check(["true", "false", "true"], "bool")
        try check(["True", "False"], "bool", .capitalised)
        try check(["TRUE", "FALSE", ""], "bool?", .upperCase)
        try check(["2016-09-29", "1904-02-29"], "date", .dateOnly)
        try check(["2016-09-29 10:11:12", "1904-02-29 00:00:00"], "date", .dateTimeSpace(0))
        try check(["2016-09-29T10:11:12.250Z", "1904-02-29T00:00:00.000Z"], "date", .dateTimeZ(3))
        try check(["2016-09-29T10:11:12", "1904-02-29T00:00:00"], "date", .dateTimeT(0))
        try check(["0f8fad5b-d9cb-469f-a165-70867728950e", "00000000-0000-0000-0000-000000000000"], "uuid")
        try check(["0F8FAD5B-D9CB-469F-A165-70867728950E"], "uuid", .uuidUpper)
        try check(["abc", ""], "string?")
        try check(["", ""], "string?")
    }

    @Test func `text that no other type round-trips stays text`() throws {
        for cells in [
            ["007", "1"], ["+1"], ["1_000"], ["1e400"], ["01.5"], ["1,000".replacing(",", with: ".") + ".0"], ["0x10"], ["nan"],
            ["-"], ["--1"], ["2016-02-30"], ["2016-09-29", "2016-09-29 10:11:12"], ["2016-09-29T10:11:12.10Z", "2016-09-29T10:11:12.125Z"],
            ["true", "True"], ["true", "1"],
            ["yes"], ["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"], ["-1e", "1.e5"],
            ["1234567890123456789012345678901234567890"],
        ] {
            try check(cells, "string")
        }
    }

    @Test func `a single cell that is not an integer changes the type of thirty thousand integers`() throws {
        let cells = (0..<30_000).map(String.init) + ["1.7", "007", "1_000"]
        try check(cells, "string")
        try check((0..<30_000).map(String.init) + ["1.7"], "double")
    }

    @Test func `each of thousands of days is examined`() throws {
        let days = (0..<5000).map { "20\(10 + $0 % 80)-0\(1 + $0 % 9)-\(10 + $0 % 19)" }
        try check(days, "date", .dateOnly)
        try check(days + [""] + days, "date?", .dateOnly)
        // One cell keeps its text beside dates; many make the column text.
        for other in ["2023-02-29", "2024-13-01", "2024-2-100", "2024/05/31", "x", "abcdefghij", "12", "1234567890"] {
            for cells in [[other] + days, days + [other]] {
                let text = "x,n\n" + cells.map { "\($0),1\n" }.joined(), table = try Table(text)
                #expect(table.types[0] == "date?" && table.notations[0] == .dateOnly, "\(other)")
                #expect(String(decoding: try table.written(), as: UTF8.self) == text, "\(other)")
            }
            try check(days + [String](repeating: other, count: 3000), "string")
        }
    }

    @Test func `columns with and without nulls keep their rows across batches`() throws {
        var text = "a,b,c\n"
        for i in 0..<150_000 { text += "\(i),\(i % 7 == 0 ? "" : "w\(i % 100)"),\(i % 3).5\n" }
        let table = try Table(text)
        #expect(table.batches.map(\.count) == [65_536, 65_536, 18_928])
        #expect(table.types == ["int", "string?", "double"])
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
    }

    @Test func `requested types are used, and cells that do not fit are errors or set aside`() throws {
        var options = CSVOptions()
        options.types = TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.double)), ColumnSchema("b", ColumnType(.string))])
        #expect(try Table("a,b\n1,2\n", options).rows == [[.double(1), .string("2")]])
        do {
            _ = try Table("a,b\n1,2\nn/a,3\n", options)
            Issue.record("the cell was accepted")
        } catch {
            #expect(error.description == "test.csv:3:1: expected a number, found \"n/a\" (column \"a\")")
        }
        nonisolated(unsafe) var rejected: [UInt8] = []
        options.rejects = Rejects { row, _ in rejected += Array(row) }
        let table = try Table("a,b\n1,2\nn/a,\"x\"\"y\"\n,5\n4,5\n", options)
        #expect(table.rows == [[.double(1), .string("2")], [.double(4), .string("5")]])
        #expect(table.reader.rejectedCount == 2)
        #expect(String(decoding: rejected, as: UTF8.self) == "n/a,\"x\"\"y\"\n,5\n")
    }

    @Test func `the allText option makes all columns text, and nullWords sets the texts for null`() throws {
        var options = CSVOptions()
        options.allText = true
        #expect(try Table("a,b\n1,2\n", options).rows == [[.string("1"), .string("2")]])
        options = CSVOptions()
        options.nullWords = ["NA"]
        let text = "a,b\n1,x\nNA,\n3,\"NA\"\n"
        let table = try Table(text, options)
        #expect(table.types == ["int?", "string"])
        #expect(table.rows[1] == [.null, .string("")])
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
    }

    @Test func `selected columns are returned in the requested order`() throws {
        var options = CSVOptions()
        options.columns = ["c", "a"]
        let table = try Table("a,b,c\n1,2,x\n", options)
        #expect(table.names == ["c", "a"])
        #expect(table.rows == [[.string("x"), .int(1)]])
        options.columns = ["d"]
        #expect(throws: FirnError.self) { _ = try Table("a,b,c\n1,2,x\n", options) }
    }
}
