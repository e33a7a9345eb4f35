import FirnExchange
import FirnTable
import Testing

@testable import FirnCSV

/// Texts with letters and digits among numbers.
@Suite struct CSVCodeTests {
    private func column(_ cells: [String]) throws -> (kind: ScalarKind, remarks: [String]) {
        let text = "a,b\n" + cells.map { "\($0),x\n" }.joined()
        let reader = try CSVReader(Input(bytes: Array(text.utf8), name: "t"), options: CSVOptions())
        return (reader.schema.types[0].columns[0].type.kind, reader.remarks)
    }

    private func integers(_ odd: [Int: String]) -> [String] { (0..<3000).map { odd[$0] ?? "\($0)" } }

    @Test func `a single identifier with letters makes a column of integers text, wherever it is`() throws {
        for code in ["A12", "12O", "INV-7", "x1", "1_a", "ä1a"] {
            for row in [0, 1500, 2999] {
                let (kind, remarks) = try column(integers([row: code]))
                #expect(kind == .string, "\(code)")
                #expect(remarks.contains { $0.contains("\"\(code)\"") && $0.contains("--null") }, "\(code): \(remarks)")
            }
        }
    }

    @Test func `words, remarks with spaces and codes among measured values are texts beside null as before`() throws {
        for text in ["SOLD OUT", "1999 (est.)", "lost", "?"] {
            #expect(try column(integers([7: text])).kind == .int, "\(text)")
        }
        #expect(try column((0..<3000).map { $0 == 7 ? "A12" : "\(Double($0) + 0.5)" }).kind == .double)
    }

    @Test func `the reason names what is text or null in a column of numbers`() throws {
        func reasons(_ cells: [String]) throws -> [(column: String, reason: String)] {
            let text = "a,b\n" + cells.map { "\($0),x\n" }.joined()
            return try CSVReader(Input(bytes: Array(text.utf8), name: "t"), options: CSVOptions()).textReasons
        }
        let lost = try reasons(integers([7: "SOLD OUT"]))
        #expect(lost.count == 1 && lost[0].column == "a" && lost[0].reason.contains("stored as null"), "\(lost)")
        // Texts that usually mean null are not worth a remark in each query.
        #expect(try reasons(integers([7: "NA"])).isEmpty)
        #expect(try reasons(integers([7: "B-12"])).count == 1)
    }
}
