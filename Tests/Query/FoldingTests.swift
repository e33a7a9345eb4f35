import FirnBytes
import FirnTable
import Foundation
import Testing

@testable import FirnQuery

@Suite struct FoldingTests {
    private static let words = [
        "Åsa", "asa", "ÅSA", "A\u{30A}sa", "Café", "CAFÉ", "cafe", "nguyễn", "NGUYEN", "ø", "o", "Ἀθῆναι", "αθηναι", "ёж", "еж", "\u{212A}",
        "k",
    ]

    private func find(_ query: String) throws -> [String] {
        let type = TypeSchema("T", columns: [ColumnSchema("self", ColumnType(.string, optional: true))])
        var batch = Batch(type, in: Schema([type]))
        for word in FoldingTests.words { batch.columns[0].append(.string(word)) }
        batch.count = FoldingTests.words.count
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch])
        return try QueryRun(QueryRequest(filter: query), table: table).rowLocations().map { FoldingTests.words[$0.position] }
    }

    @Test func `text can be compared without case, without diacritics, or without both`() throws {
        func same(_ query: String, _ expected: [String]) throws {
            #expect(try find(query).map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(query)")
        }
        try same("self ==[d] 'Asa'", ["Åsa", "A\u{30A}sa"])
        try same("self ==[cd] 'asa'", ["Åsa", "asa", "ÅSA", "A\u{30A}sa"])
        try same("self ==[dc] 'ÅSA'", ["Åsa", "asa", "ÅSA", "A\u{30A}sa"])
        try same("self CONTAINS[cd] 'FE'", ["Café", "CAFÉ", "cafe"])
        try same("self BEGINSWITH[d] 'Cafe'", ["Café"])
        try same("self ENDSWITH[cd] 'é'", ["Café", "CAFÉ", "cafe"])
        try same("self LIKE[cd] 'c?F*'", ["Café", "CAFÉ", "cafe"])
        try same("self ==[cd] 'nguyen'", ["nguyễn", "NGUYEN"])
        try same("self ==[d] 'o'", ["o"])
        try same("self ==[cd] 'ΑΘΗΝΑΙ'", ["Ἀθῆναι", "αθηναι"])
        try same("self IN[cd] {'Ёж', 'K'}", ["ёж", "еж", "\u{212A}", "k"])
        try same("self !=[cd] 'a' AND NOT self ==[cd] 'asa' AND self BEGINSWITH[c] 'c'", ["Café", "CAFÉ", "cafe"])
    }

    @Test func `diacritics are removed as in Foundation's decomposition`() {
        for code in UInt32(0xC0)..<0x2200 {
            guard let scalar = Unicode.Scalar(code), scalar.properties.isAlphabetic else { continue }
            let parts = Array(String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars)
            let isCovered =
                code < 0x250 || (0x370..<0x530).contains(code) || (0x1E00..<0x2000).contains(code) || code == 0x212A || code == 0x212B
            guard isCovered, !Folding.isMark(scalar), parts.count > 1 else { continue }
            let folded = Folding(marks: true).folded(Array(String(Character(scalar)).utf8))
            #expect(folded == Array(String(Character(parts[0])).utf8), "U+\(String(code, radix: 16))")
        }
    }

    @Test func `ordering comparisons accept no modifiers, and unknown modifiers are refused`() {
        for query in ["self <[d] 'a'", "self ==[x] 'a'", "self BETWEEN[cd] {'a', 'b'}"] {
            #expect(throws: QueryError.self) { try find(query) }
        }
        #expect(throws: QueryError.self) { try QueryRun(QueryRequest(filter: "age ==[d] 5"), table: Zoo.table) }
    }

    @Test(arguments: ["a ==[c] 'x'", "a !=[d] 'x'", "a LIKE[cd] 'x'"])
    func `modifiers are printed as they were written`(text: String) throws {
        #expect(try Parser.query(text).description == text)
    }
}
