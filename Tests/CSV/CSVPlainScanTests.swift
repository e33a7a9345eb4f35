import FirnExchange
import FirnKit
import Testing

@testable import FirnCSV

@Suite struct CSVPlainScanTests {
    private static let pieces = [
        "a", "bc", "", "7", " ", "x\(String(repeating: "y", count: 61))", "\"q\"", "\"a,b\"", "\"a\"\"b\"", "\"two\nlines\"", "\"\"",
        "\"open",
        "in\"ner", "\\", "\"e\\\"s\"", " \"s\"", "\"s\" ", "\r", "#", "\"\(String(repeating: "z,\n", count: 40))\"",
    ]

    private func form(_ random: inout Random) -> CSVForm {
        var form = CSVForm()
        form.escape = [nil, nil, UInt8(ascii: "\\")].randomElement(using: &random) ?? nil
        if form.escape == nil, Int.random(in: 0..<4, using: &random) == 0 { form.quote = nil }
        form.comment = Bool.random(using: &random) ? [35] : []
        form.endsAtReturns = Int.random(in: 0..<4, using: &random) == 0
        return form
    }

    @Test func `a plain record has the cells and the line end that the full scan finds, and nothing unusual`() {
        let seed = Seed.one(31)
        var random = Random(seed), plainRecords = 0
        for round in 0..<1500 {
            let form = form(&random)
            var record: [String] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                record.append(CSVPlainScanTests.pieces.prefix(round % 2 == 0 ? 11 : 20).randomElement(using: &random) ?? "")
            }
            let text = Array((record.joined(separator: ",") + (["\n", "\r\n", "\r"].randomElement(using: &random) ?? "") + "1,2\n").utf8)
            // What follows the text in memory must not matter.
            let memory = text + (0..<64).map { _ in [10, 34, 44, 92].randomElement(using: &random) ?? 0 }
            let end = Int.random(in: 0...4, using: &random) == 0 ? Int.random(in: 1...text.count, using: &random) : text.count
            let plain = memory.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.flatMap { CSVPlainScan(form)?.record($0, from: 0, to: end, capacity: bytes.count) }
            }
            guard let plain else { continue }
            plainRecords += 1
            var scan = CSVRecordScan(form)
            let note: Comment = "seed \(seed) round \(round): \(record)"
            let isComplete = scan.scan(Array(text[..<end]), from: 0, to: end, isLast: false)
            #expect(isComplete, note)
            #expect(!scan.oddities.isAny, note)
            #expect(plain.cells == scan.cells.count, note)
            #expect(plain.quotedCells == scan.cells.count { $0.isQuoted }, note)
            let filled = scan.cells.lastIndex { $0.start < $0.end || $0.isQuoted }.map { $0 + 1 } ?? 0
            #expect(plain.filled == filled && filled >= 2, note)
            #expect((plain.contentEnd, plain.next) == (scan.contentEnd, scan.next), note)
            #expect(plain.lineEnd == scan.lineEnd, note)
            #expect(plain.lineFeeds == text[..<plain.contentEnd].count { $0 == 10 }, note)
            #expect(form.comment.isEmpty || text[0] != 35, note)
        }
        #expect(plainRecords > 200)
    }

    @Test(arguments: [0, 1, 65_535, 131_072, 262_143, 262_144, 262_145, 600_000])
    func `one unusual record among plain ones is found in its line, wherever the buffer ends`(offset: Int) throws {
        var text = "k,n,t\n", lines = 1, rows = 0, oddLine = 0
        while text.utf8.count < 700_000 {
            if oddLine == 0, text.utf8.count >= offset {
                text += "\(rows),1,x,surplus\r\n"
                lines += 1
                oddLine = lines
            } else if rows % 7 == 3 {
                text += "\(rows),2,\"two\nlines, \"\"quoted\"\"\"\n"
                lines += 2
            } else {
                text += "\(rows),3,plain\(rows % 11)\n"
                lines += 1
            }
            rows += 1
        }
        let table = try Table(text, CSVOptions())
        #expect(table.rows.count == rows)
        #expect(table.rows.enumerated().allSatisfy { $0.element[0] == .int(Int64($0.offset)) })
        #expect(
            table.rows.count { $0[2] == .string("two\nlines, \"quoted\"") }
                == (0..<rows).count { $0 % 7 == 3 && table.rows[$0][1] == .int(2) })
        #expect(table.rows.count { $0[3] == .string("surplus") } == 1)
        #expect(table.reader.remarks.contains { $0.contains("1 row (line \(oddLine))") }, "\(table.reader.remarks)")
    }
}
