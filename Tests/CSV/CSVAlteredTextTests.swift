import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

/// Mutated texts with numbers of every notation. `FIRN_MUTATIONS=1000000` sets the number of texts, `FIRN_SEED` the first seed.
@Suite struct CSVAlteredTextTests {
    private static let tokens = [
        "1,5", "2,75", "-0,5", "1.234,56", "12.345", "1,234.5", "1,234,567", "1'234,5", "1 234", "1\u{A0}234,5", "1\u{202F}234", "0", "7",
        "950",
        "1.5", "1.50", "2.25", "1e3", "1,5e3", ".5", ",5", "5,", "+1,5", " 1,5", "1,5 ", "NA", "", "-", "\"\"", "007", "00,5", "1_000",
        "12,5%", "3 €",
        "1.2.2024", "13.2.2024", "2024-01-02", "1/2/2024", "x", "a b", "true", "1234567890123456789", "0,12345678901234567",
        "1.234.567.890.123.456,5",
        "612 345 678", "192.168.100.101", "\"1,5\"", "\"1,234\"", "\"a;b\"", "9007199254740993", "1,23,456", "-1.234", "1,5-",
    ]
    private static let alphabet = Array("0123456789,.;'\" \n\r\t-+eE%#xN\u{A0}\u{202F}€".utf8)

    private func text(_ random: inout Random) -> [UInt8] {
        let width = Int.random(in: 1...4, using: &random), delimiter = [";", ",", "\t", "|"].randomElement(using: &random) ?? ";"
        let end = Int.random(in: 0..<4, using: &random) == 0 ? "\r\n" : "\n"
        // Most columns have one or two kinds of cells.
        let pools = (0..<width).map { _ in
            (0..<Int.random(in: 1...3, using: &random)).map { _ in CSVAlteredTextTests.tokens.randomElement(using: &random) ?? "" }
        }
        var lines = [(0..<width).map { "c\($0)" }.joined(separator: delimiter)]
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let cells = pools.map { pool in
                let cell = pool.randomElement(using: &random) ?? ""
                return cell.contains(delimiter) && !cell.hasPrefix("\"") ? "\"\(cell)\"" : cell
            }
            lines.append(cells.joined(separator: delimiter))
        }
        if Int.random(in: 0..<6, using: &random) == 0 { lines.removeFirst() }
        var bytes = Array((lines.joined(separator: end) + end).utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random), byte = CSVAlteredTextTests.alphabet.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[at] = byte
            case 1: bytes.insert(byte, at: at)
            case 2: bytes.remove(at: at)
            default: bytes.insert(contentsOf: bytes[at..<min(at + Int.random(in: 1...20, using: &random), bytes.count)], at: at)
            }
        }
        return bytes
    }

    @Test func `mutated texts are errors, or are written back with the same bytes unless the reader names a difference`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["FIRN_MUTATIONS"].flatMap(UInt64.init) ?? 3000, first = environment["FIRN_SEED"].flatMap(UInt64.init) ?? 0
        var read = 0, same = 0, numbers = 0, failures = 0
        for seed in first..<first + count {
            var random = Random(seed: seed)
            let bytes = text(&random)
            var options = CSVOptions()
            options.isLossless = true
            options.threads = 1
            options.hasDecimalComma = [nil, nil, true, false].randomElement(using: &random) ?? nil
            if Int.random(in: 0..<3, using: &random) == 0 { options.blockSize = 64 }
            if Int.random(in: 0..<4, using: &random) == 0 { options.nullWords.append("NA") }
            do throws(FirnError) {
                let table = try Table(bytes, options)
                read += 1
                for (column, type) in table.schema.types[0].columns.enumerated() where !type.type.isOptional {
                    #expect(
                        !table.rows.contains { $0[column].isNull },
                        "seed \(seed): null in \(type.type.name): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
                }
                numbers += table.notations.count { NumberLayout($0) != nil }
                // Delimiters of several characters are not compared in advance.
                guard table.reader.unreproduced.isEmpty, table.reader.dialect.delimiterRest.isEmpty else { continue }
                var exact = CSVWriterOptions()
                exact.isExact = true
                let written = try table.written(exact)
                if written == bytes {
                    same += 1
                } else if failures < 5 {
                    failures += 1
                    Issue.record(
                        "seed \(seed): \(String(decoding: bytes, as: UTF8.self).debugDescription) is written as \(String(decoding: written, as: UTF8.self).debugDescription); \(table.types)"
                    )
                }
            } catch {
                #expect(
                    !error.message.contains("changed while it was read"),
                    "seed \(seed): \(error) \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
        if environment["FIRN_MUTATIONS"] != nil {
            print("\(count) texts: \(read) read, \(same) with the same bytes, \(numbers) columns with a layout")
        }
        #expect(numbers > 0 && same > 0)
    }
}
