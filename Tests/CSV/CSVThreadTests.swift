import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Rows that several threads format.
@Suite struct CSVThreadTests {
    private static let cells = ["x", "", "\"a,b\"", "\"two\nlines\"", "\"q \"\"r\"\"\"", "longer than sixteen bytes", "é", "NA"]

    /// Rows of texts, numbers, days and nulls; `marks` adds comments and rows with other numbers of cells.
    private func text(_ rows: Int, marks: Bool, _ random: inout Random) -> String {
        var text = "id,note,price,day,amount\n"
        for i in 0..<rows {
            if marks, random.number(0...999) == 0 { text += "# line \(i)\n" }
            let note = CSVThreadTests.cells.randomElement(using: &random)!
            text +=
                "\(i),\(note),\(random.number(-99_999...99_999)).\(random.number(10...99)),20\(random.number(10...29))-0\(random.number(1...9))-11"
            text +=
                marks && random.number(0...999) == 0 ? "\n" : ",\(random.number(0...9) == 0 ? "" : "\(random.number(0...1_000_000_000))")\n"
        }
        return text
    }

    @Test(arguments: Seed.first(8)) func `rows are written with the same bytes by any number of threads`(seed: Seed) throws {
        var random = Random(seed)
        let number = Int(seed.number), rows = number % 4 == 0 ? 70_000 : random.number(1...20_000)
        let text = text(rows, marks: number % 2 == 0, &random)
        let table = try Table(text)
        let one = try table.written()
        if table.reader.losses.isEmpty { #expect(String(decoding: one, as: UTF8.self) == text, "seed \(seed)") }
        for threads in [2, 3, 8] {
            var options = CSVWriterOptions()
            options.threads = threads
            #expect(try table.written(options) == one, "seed \(seed), \(threads) threads")
        }
    }
}
