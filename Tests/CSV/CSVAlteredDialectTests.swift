import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

/// Mutated texts in every dialect: delimiters, quotes, escapes, encodings, `sep=`, lines before and after the table, comments, rows that end
/// early or late, line ends. Each text contains words that occur once, and none may vanish without a report. `FIRN_MUTATIONS=1000000` sets
/// the number of texts, `FIRN_SEED` the first seed.
@Suite struct CSVAlteredDialectTests {
    private static let alphabet = Array("0123456789,.;'\" \n\r\t-+|\\#=:\0é\u{FEFF}".utf8)

    private func cell(_ random: inout Random, _ word: String, _ delimiter: String, _ kind: Int) -> String {
        switch kind {
        case 0: return word
        case 1: return "\"\(word)\(delimiter) \"\"x\"\"\""
        case 2: return "\"\(word)\\\"\(delimiter)y\""
        case 3: return "\"\(word)\nnext\""
        case 4: return " \(word) "
        case 5: return " \"\(word)\" "
        case 6: return "'\(word)\(delimiter)z'"
        case 7: return "5\" \(word)"
        case 8: return "\(word)é"
        case 9:
            return ["", "NA", "1,5", "1.234,56", "12", "1.2.2024", "(12)", "3.5", "\"\"", "-", "12 %"].randomElement(using: &random) ?? ""
        default: return "\(word)"
        }
    }

    private func text(_ random: inout Random) -> [UInt8] {
        func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }
        var words = 0
        func word() -> String {
            words += 1
            return "k\(words)z"
        }
        let width = Int.random(in: 1...5, using: &random),
            delimiter = [",", ";", "\t", "|", ":", "::", ", "].randomElement(using: &random) ?? ","
        let ends = chance(6) ? ["\n", "\r\n", "\r"] : [["\n", "\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"]
        let kinds = (0..<width).map { _ in Int.random(in: 0...14, using: &random) }
        var lines: [String] = []
        if chance(6) { lines.append("sep=\(delimiter)") }
        if chance(6) { lines += (0...Int.random(in: 0...2, using: &random)).map { _ in "Report \(word())" } }
        if chance(8) { lines.append("# \(word())") }
        let header = (0..<width).map { _ in chance(12) ? "n" : "n\(word())" }.joined(separator: delimiter)
        if !chance(5) { lines.append(header) }
        if chance(10) { lines.append((0..<width).map { _ in "[\(word())]" }.joined(separator: delimiter)) }
        for row in 0..<Int.random(in: 0...14, using: &random) {
            var cells = kinds.map { cell(&random, word(), delimiter, chance(20) ? Int.random(in: 0...9, using: &random) : $0) }
            if chance(15) { cells.removeLast(Int.random(in: 0..<width, using: &random)) }
            if chance(15) { cells += (0...Int.random(in: 0...2, using: &random)).map { _ in chance(2) ? "" : word() } }
            lines.append(cells.joined(separator: delimiter))
            if chance(25) { lines.append("") }
            if chance(30) { lines.append("# \(word())") }
            if chance(30) { lines.append(header) }
            if row == 3, chance(12) { lines.append(cells.joined(separator: delimiter) + delimiter) }
        }
        if chance(8) { lines.append("Total: \(word())") }
        var text = lines.map { $0 + (ends.randomElement(using: &random) ?? "\n") }.joined()
        if chance(5), !text.isEmpty { text.removeLast() }
        var bytes: [UInt8]
        switch Int.random(in: 0..<12, using: &random) {
        case 0: bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        case 1: bytes = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        case 2: bytes = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        case 3: bytes = [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        case 4: bytes = [0xEF, 0xBB, 0xBF] + Array(text.utf8)
        default: bytes = Array(text.utf8)
        }
        for _ in 0..<max(0, Int.random(in: -2...3, using: &random)) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random),
                byte = CSVAlteredDialectTests.alphabet.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[at] = byte
            case 1: bytes.insert(byte, at: at)
            case 2: bytes.remove(at: at)
            default: bytes.insert(contentsOf: bytes[at..<min(at + Int.random(in: 1...20, using: &random), bytes.count)], at: at)
            }
        }
        return bytes
    }

    private func options(_ random: inout Random) -> CSVOptions {
        func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }
        var options = CSVOptions()
        options.threads = 1
        options.isLossless = chance(2)
        if chance(3) { options.blockSize = 64 }
        if chance(5) { options.hasHeader = chance(2) }
        if chance(8) { options.delimiterBytes = Array([",", ";", "::", "|"].randomElement(using: &random)?.utf8 ?? ",".utf8) }
        if chance(10) {
            options.quoting = [.none, .mark(UInt8(ascii: "'")), .mark(UInt8(ascii: "\""))].randomElement(using: &random) ?? .none
        }
        if chance(10) { options.escape = UInt8(ascii: "\\") }
        if chance(10) { options.comment = ["#", ""].randomElement(using: &random) }
        if chance(6) { options.ragged = [CSVRagged.widen, .pad, .cut, .error, .reject].randomElement(using: &random) }
        if chance(12) { options.allText = true }
        if chance(12) { options.hasDecimalComma = chance(2) }
        return options
    }

    /// The words `k…z` of a text.
    private static func words(_ bytes: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = [], start: Int?
        for (at, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "k") {
                start = at
            } else if byte == UInt8(ascii: "z"), let from = start {
                if at > from + 1 { found.insert(Array(bytes[from...at])) }
                start = nil
            } else if byte &- 48 > 9 {
                start = nil
            }
        }
        return found
    }

    @Test func `no word of a mutated text vanishes without a report, and lossless reading gives the same bytes or says why not`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["FIRN_MUTATIONS"].flatMap(UInt64.init) ?? 1200, first = environment["FIRN_SEED"].flatMap(UInt64.init) ?? 0
        var read = 0, same = 0, reported = 0, failures = 0, reports: [String: Int] = [:]
        for seed in first..<first + count {
            var random = Random(seed: seed)
            let bytes = text(&random), rejected = Rejected()
            var options = options(&random)
            if options.ragged == .reject { options.rejects = Rejects { row, _ in rejected.bytes += row } }
            let shown = String(decoding: bytes, as: UTF8.self).debugDescription
            do throws(FirnError) {
                let table = try Table(bytes, options)
                read += 1
                let exact =
                    rejected.bytes.isEmpty && table.reader.unreproduced.isEmpty && table.reader.dialect.delimiterRest.isEmpty
                    && options.isLossless
                if exact {
                    var exact = CSVWriterOptions()
                    exact.isExact = true
                    let written = try table.written(exact)
                    if written == bytes {
                        same += 1
                        continue
                    }
                    failures += 1
                    if failures <= 5 {
                        Issue.record(
                            "seed \(seed): \(shown) is written as \(String(decoding: written, as: UTF8.self).debugDescription); \(table.types)"
                        )
                    }
                }
                // Letters of other encodings than UTF-8 are in words of ASCII.
                let written = try table.written()
                let lost = CSVAlteredDialectTests.words(bytes.filter { $0 != 0 })
                    .subtracting(CSVAlteredDialectTests.words(written.filter { $0 != 0 }))
                    .subtracting(CSVAlteredDialectTests.words(rejected.bytes.filter { $0 != 0 }))
                if lost.isEmpty { continue }
                let remarks = table.reader.remarks
                if remarks.isEmpty {
                    failures += 1
                    if failures <= 5 {
                        Issue.record(
                            "seed \(seed): \(lost.map { String(decoding: $0, as: UTF8.self) }) vanish from \(shown): \(String(decoding: written, as: UTF8.self).debugDescription)"
                        )
                    }
                }
                reported += 1
                for remark in remarks { reports[String(remark.prefix { !$0.isNumber }.suffix(60)), default: 0] += 1 }
            } catch {
                #expect(!error.message.contains("changed while it was read"), "seed \(seed): \(error) \(shown)")
            }
        }
        if environment["FIRN_MUTATIONS"] != nil {
            print("\(count) texts: \(read) read, \(same) with the same bytes, \(reported) without words, with reports:")
            for (report, count) in reports.sorted(by: { $0.value > $1.value }).prefix(30) { print(count, report) }
        }
        #expect(failures == 0 && same > 0)
    }
}

private final class Rejected: @unchecked Sendable { var bytes: [UInt8] = [] }
