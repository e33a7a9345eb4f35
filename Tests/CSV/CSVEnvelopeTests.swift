import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnCSV

/// The text in which a file keeps the dialect of its CSV.
@Suite struct CSVEnvelopeTests {
    @Test(arguments: ["\u{301}", "\u{FE09}# note\n", " \r\n\\n", "\u{200D}", "plain", "\\ \u{308}"])
    func `texts of a dialect are kept, whatever character they begin with`(text: String) throws {
        var dialect = CSVDialect()
        dialect.nullText = text
        dialect.ownNullTexts = [3: text]
        dialect.headerNames = [0: text, 7: "x" + text]
        dialect.surroundings.keep(preamble: text)
        dialect.surroundings.keep(footer: text)
        dialect.surroundings.keep(inserted: text, before: 2)
        let read = try #require(CSVDialect(envelope: dialect.envelope))
        #expect(read.nullText.utf8.elementsEqual(text.utf8) && read.ownNullTexts.mapValues { Array($0.utf8) } == [3: Array(text.utf8)])
        #expect(read.headerNames.mapValues { Array($0.utf8) } == [0: Array(text.utf8), 7: Array("x\(text)".utf8)])
        #expect(read.surroundings.preamble.utf8.elementsEqual(text.utf8) && read.surroundings.footer.utf8.elementsEqual(text.utf8))
        #expect(read.surroundings.inserted.mapValues { Array($0.utf8) } == [2: Array(text.utf8)])
    }

    @Test func `a line before the table that begins with a combining mark is written back`() throws {
        let text = Array("\u{FE09}# title\na;b;c\n1;2;3\n4;5;6\n".utf8)
        var options = CSVOptions()
        options.isLossless = true
        let table = try Table(text, options)
        #expect(table.reader.dialect.surroundings.preamble.utf8.elementsEqual("\u{FE09}# title\n".utf8))
        var exact = CSVWriterOptions()
        exact.isExact = true
        #expect(try table.written(exact) == text)
    }

    @Test func `escapes outside quotes are reported, because they are not written back`() throws {
        var options = CSVOptions()
        options.isLossless = true
        options.quoting = .none
        options.escape = UInt8(ascii: "\\")
        let table = try Table(Array("a,b\nx\\,y,1\n2,3\n".utf8), options)
        #expect(table.rows.first == [.string("x,y"), .int(1)])
        #expect(table.reader.unreproduced.contains { $0.contains("escaped bytes") }, "\(table.reader.unreproduced)")
    }
}

@Suite struct CSVTieTests {
    /// The order of a dictionary differs from process to process, so a guess that depends on it does too.
    @Test(arguments: [
        ("first;last,id;no\nAnn,1,x\n", ["first;last", "id;no", "column_3"]), (",a,;;;\n;1\n", [",a,", "column_2"]),
    ]) func `guesses with equal evidence are the same in every process`(text: String, names: [String]) throws {
        #expect(try Table(text, CSVOptions()).reader.schema.types[0].columns.map(\.name) == names)
    }

    @Test(arguments: ["utf-32le", "utf-32be"]) func `UTF-32 with a byte order mark is detected`(name: String) throws {
        let units: [UInt32] = [0xFEFF] + "a,b\né,1\n𝄞,2\n".unicodeScalars.map(\.value)
        let bytes = units.flatMap { unit in
            let little = (0..<4).map { UInt8(truncatingIfNeeded: unit >> (8 * $0)) }
            return name == "utf-32le" ? little : little.reversed()
        }
        let table = try Table(bytes, CSVOptions())
        #expect(table.rows == [[.string("é"), .int(1)], [.string("𝄞"), .int(2)]])
        #expect(table.reader.remarks.contains { $0.contains("utf-32") })
    }
}
