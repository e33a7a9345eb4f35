import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

@Suite struct CSVPropertyTests {
    private static let pieces = [
        "", "\"\"", "1", "2.50", "-0", "007", "abc", "é", "日本", "\"a,b\"", "\"x\"\"y\"", "\"two\nlines\"", "\"two\r\nlines\"", "a\"b",
        "true", "2020-02-29",
        "1e21", "\"\"\"\"", " ", "\u{0}", "12345678901234567890", "\"1\"",
        "longer text than sixteen bytes, surely".replacing(",", with: ""),
    ]

    private func randomText(_ random: inout Random, newline: String) -> (text: String, width: Int) {
        let width = Int.random(in: 2...6, using: &random)
        var text = (0..<width).map { "c\($0)" }.joined(separator: ",") + newline
        let columns = (0..<width).map { _ in
            (0..<Int.random(in: 1...3, using: &random)).map { _ in CSVPropertyTests.pieces.randomElement(using: &random)! }
        }
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            text += columns.map { $0.randomElement(using: &random)! }.joined(separator: ",") + newline
        }
        if Bool.random(using: &random), text.hasSuffix(newline) { text.removeLast(1) }
        return (text, width)
    }

    @Test func `each cell of random tables survives a round trip`() throws {
        let seed = Seed.one(1)
        var random = Random(seed)
        for round in 0..<600 {
            let text = randomText(&random, newline: ["\n", "\r\n"][round & 1]).text
            let bytes = Array(text.utf8)
            let table = try Table(bytes)
            let back = try table.written()
            #expect(plainCells(bytes) == plainCells(back), "seed \(seed) round \(round): \(text.debugDescription)")
            if table.reader.losses.isEmpty { #expect(bytes == back, "seed \(seed) round \(round): \(text.debugDescription)") }
            #expect(try Table(back).rows == table.rows, "seed \(seed) round \(round)")
        }
    }

    @Test func `the size of blocks and the number of threads do not change the result`() throws {
        let seed = Seed.one(2)
        var random = Random(seed)
        for round in 0..<25 {
            let bytes = Array(randomText(&random, newline: ["\n", "\r\n", "\r"][round % 3]).text.utf8)
            let whole = try Table(bytes)
            for size in [1, 2, 3, 5, 7, 16, 63, 64, 65, 200] {
                var options = CSVOptions()
                options.blockSize = size
                options.threads = size & 1 + 1
                let table = try Table(bytes, options)
                #expect(table.schema == whole.schema, "seed \(seed) round \(round) size \(size)")
                #expect(table.rows == whole.rows, "seed \(seed) round \(round) size \(size)")
            }
        }
    }

    @Test func `random bytes are rows or an error, and never a trap`() {
        let seed = Seed.one(3)
        var random = Random(seed)
        let alphabet = Array("\",\n\r\t;ab1.-é\u{0}".utf8) + [0xFF, 0xC3, 0xEF, 0xBB, 0xBF, 0xFE]
        for round in 0..<3_000 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                round & 1 == 0 ? alphabet.randomElement(using: &random)! : UInt8.random(in: 0...255, using: &random)
            }
            var options = CSVOptions()
            options.blockSize = Int.random(in: 1...80, using: &random)
            options.threads = 1
            options.hasHeader = round & 2 == 0
            options.encoding = [nil, .utf8, .latin1, .utf16LittleEndian][round / 4 % 4]
            if round & 64 == 0 { options.rejects = Rejects { _, _ in } }
            do {
                let table = try Table(bytes, options)
                var same = CSVWriterOptions()
                same.isExact = true
                let back = try table.written(same)
                if table.reader.losses.isEmpty, table.reader.rejectedCount == 0 {
                    #expect(back == bytes, "seed \(seed) round \(round): \(bytes)")
                }
            } catch {
                #expect(error.location != nil, "\(error)")
            }
        }
    }
}
