import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnCSV

/// What is read of irregular text does not depend on options that concern something else.
@Suite struct CSVIndependenceTests {
    @Test(arguments: [["a", "b"], ["a"], ["n"], ["b", "n"]])
    func `the chosen columns do not change which records are rows`(columns: [String]) throws {
        let text = "a,b,n\nx,y,1\na,b,n\nz,w,2\n"
        var options = CSVOptions()
        options.columns = columns
        let all = try Table(text, CSVOptions()), some = try Table(text, options)
        #expect(all.rows.count == 2 && some.rows.count == 2)
        #expect(some.reader.remarks.contains { $0.contains("repeats the header") }, "\(some.reader.remarks)")
    }

    @Test func `columns that surplus cells make can be named`() throws {
        var options = CSVOptions()
        options.columns = ["a", "column_3"]
        #expect(try Table("a,b\nx,1\nz,2,q\nz,3,q\n", options).rows.map(\.last) == [.null, .string("q"), .string("q")])
        options.columns = ["a", "column_4"]
        #expect(throws: FirnError.self) { try Table("a,b\nx,1\nz,2,q\nz,3,q\n", options) }
        #expect(throws: FirnError.self) { try Table("a,b\nx,1\n", options) }
    }

    @Test(arguments: ["t\n", "\n", "1,2,3\n"])
    func `text without quotes can contain carriage returns and quotes, whatever the other rows are`(last: String) throws {
        var options = CSVOptions()
        options.quoting = .none
        let rows = try Table("a,b\nx\ry,1\n\"q\",\"\n" + last, options).rows
        #expect(rows[0][0] == .string("x\ry"))
        #expect(rows[1][0] == .string("\"q\"") && rows[1][1] == .string("\""))
    }

    @Test(arguments: [1 << 40, Int.max])
    func `skipping more lines than there are is an error without delay`(lines: Int) {
        var options = CSVOptions()
        options.skipped = lines
        #expect(throws: FirnError.self) { try Table("a,b\nx,1\n", options) }
    }

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `remarks have the numbers of lines for each line end`(newline: String) throws {
        let lines = ["a,b", "x,1", "\"p", "q\",2", "z,2,3"]
        let remarks = try Table(lines.map { $0 + newline }.joined(), CSVOptions()).reader.remarks
        #expect(remarks.contains { $0.contains("(line 5)") }, "\(remarks)")
    }

    @Test(arguments: ["sep=,\nid,name\n1,a\n2,b\n", "sep=,\r\nid,name\r\n1,a\r\n2,b\r\n", "sep=;\nid;name\n1;a\n2;b\n"])
    func `a line that states the delimiter is no header, also above two columns`(text: String) throws {
        let table = try Table(text, CSVOptions())
        #expect(table.rows == [[.int(1), .string("a")], [.int(2), .string("b")]])
    }

    @Test(arguments: ["Z", "+02:00", "-03", " UTC"])
    func `a cell that is a zone alone keeps its text in a column of dates`(zone: String) throws {
        let dates = (0..<2000).map { "\($0),2024-01-0\($0 % 9 + 1)T10:00:00Z" } + ["2000,2024-06-01T00:00:00+02:00", "2001,\(zone)"]
        let text = "id,t\n" + dates.map { $0 + "\n" }.joined()
        var options = CSVOptions()
        options.isLossless = true
        let table = try Table(text, options)
        #expect(String(decoding: try table.written(), as: UTF8.self) == text || !table.reader.losses.isEmpty)
    }
}
