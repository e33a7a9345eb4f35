import FirnKit
import Testing

@testable import FirnCSV

@Suite struct CSVRecordFinderTests {
    /// The ends of records, found byte by byte.
    private func ends(_ text: [UInt8], _ marks: CSVMarks) -> [Int] {
        var ends: [Int] = [], begins = true, inQuotes = false, at = 0
        while at < text.count {
            let byte = text[at]
            if inQuotes {
                if byte == marks.quote {
                    if at + 1 < text.count, text[at + 1] == marks.quote { at += 1 } else { inQuotes = false }
                }
                begins = false
            } else if byte == marks.newline {
                ends.append(at + 1)
                begins = true
            } else if byte == marks.delimiter {
                begins = true
            } else {
                inQuotes = byte == marks.quote && begins
                begins = false
            }
            at += 1
        }
        return ends
    }

    @Test func `the ends of records do not depend on the pieces in which a text is scanned`() {
        let seed = Seed.one(1)
        var random = Random(seed)
        for round in 0..<2000 {
            let alphabet = [Array("\",\na".utf8), Array("\"\",,\n\nabcdefghijklmnop".utf8), Array("abcdefgh,ijklmnop\n".utf8)][round % 3]
            let count = Int.random(in: 0...400, using: &random)
            let text = (0..<count).map { _ in alphabet.randomElement(using: &random)! }
            let marks = CSVMarks(
                delimiter: UInt8(ascii: ","), quote: round % 7 == 0 ? CSVMarks.noQuote : UInt8(ascii: "\""), newline: UInt8(ascii: "\n"))
            let expected = ends(text, marks), padded = text + [UInt8](repeating: UInt8(ascii: "\n"), count: scanSlack)
            padded.withUnsafeBufferPointer { bytes in
                var whole = CSVRecordFinder(marks), end = 0
                while end < count {
                    end = min(count, end + Int.random(in: 1...120, using: &random))
                    whole.advance(bytes.baseAddress!, to: end, limit: .max, isLast: end == count)
                }
                #expect(whole.records == expected.count && whole.boundary == expected.last ?? 0, "seed \(seed) round \(round): \(text)")
                let limit = Int.random(in: 1...6, using: &random)
                var some = CSVRecordFinder(marks)
                some.advance(bytes.baseAddress!, to: count, limit: limit, isLast: true)
                let first = expected.prefix(limit)
                #expect(some.records == first.count && some.boundary == first.last ?? 0, "seed \(seed) round \(round): \(text)")
            }
        }
    }
}
