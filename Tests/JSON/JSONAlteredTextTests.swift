import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// Mutated documents, lines and sequences, with maps, nested lists and numbers in every notation. What is read is written back and compared
/// with the text by another parser, value by value. `FIRN_MUTATIONS=1000000` sets the number of texts, `FIRN_SEED` the first seed.
@Suite struct JSONAlteredTextTests {
    private static let scalars = [
        "1", "2", "-3", "1.5", "2.50", "1e3", "1E+2", "-0", "1.0", "0.1", "6.40E-05", "9007199254740993", "12345678901234567890",
        "0.12345678901234567890", "1e400", "null", "true", "false", "\"NA\"", "\"\"", "\"12\"", "\"007\"", "\"a b\"", "\"é\\u0041\\n\"",
        "\"2024-01-02\"", "\"2024-01-02T03:04:05Z\"", "\"67e55044-10b1-426f-9247-bb680e5fe0c8\"", "[]", "{}", "[null]",
        "\"\\ud83d\\ude00\"",
    ]
    private static let keys = ["a", "b", "id", "", "a.b", "é", "2024-01-01", "2024-01-02", "2024-01-03", "x1", "x2", "x3", "value", "key"]
    private static let alphabet = Array("{}[],:\"\\ \n\r\t0123456789.eE+-truefalsn\u{1E}é".utf8)

    private func value(_ random: inout Random, _ pool: [String], depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
        case 3: return list(&random, pool, depth: depth - 1)
        case 4, 5: return object(&random, pool, depth: depth - 1)
        default: return pool.randomElement(using: &random) ?? "0"
        }
    }

    private func list(_ random: inout Random, _ pool: [String], depth: Int) -> String {
        "[" + (0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, pool, depth: depth) }.joined(separator: ",") + "]"
    }

    private func object(_ random: inout Random, _ pool: [String], depth: Int) -> String {
        var keys = JSONAlteredTextTests.keys.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random))
        if Int.random(in: 0..<40, using: &random) == 0, let key = keys.first { keys.append(key) }
        return "{" + keys.map { "\"\($0)\":" + value(&random, pool, depth: depth) }.joined(separator: ",") + "}"
    }

    private func text(_ random: inout Random, _ layout: JSONOptions.Layout) -> [UInt8] {
        let pool = (0..<Int.random(in: 1...5, using: &random)).map { _ in JSONAlteredTextTests.scalars.randomElement(using: &random) ?? "" }
        // Most rows have the same members.
        let members = JSONAlteredTextTests.keys.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        let rows = (0..<Int.random(in: 0...10, using: &random)).map { _ in
            if Int.random(in: 0..<8, using: &random) == 0 { return value(&random, pool, depth: 2) }
            let present = members.filter { _ in Int.random(in: 0..<8, using: &random) > 0 }
            return "{" + present.map { "\"\($0)\":" + value(&random, pool, depth: 3) }.joined(separator: ",") + "}"
        }
        var text: String
        switch layout {
        case .lines: text = rows.map { $0 + "\n" }.joined()
        case .values:
            let before = ["", "\u{1E}", "\n", " "].randomElement(using: &random) ?? ""
            text = rows.map { before + $0 }.joined(separator: before.isEmpty ? "\n" : "") + "\n"
        case .document:
            let array = "[" + rows.joined(separator: ",") + "]"
            let forms = [
                array, array, rows.first ?? "{}", "{\"n\":1,\"rows\":\(array),\"after\":{\"x\":[1.50]}}",
                "{" + rows.enumerated().map { "\"k\($0.offset)\":\($0.element)" }.joined(separator: ",") + "}",
            ]
            text = forms.randomElement(using: &random) ?? array
        }
        var bytes = Array(text.utf8)
        for _ in 0..<max(0, Int.random(in: -2...3, using: &random)) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random),
                byte = JSONAlteredTextTests.alphabet.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[at] = byte
            case 1: bytes.insert(byte, at: at)
            case 2: bytes.remove(at: at)
            default: bytes.insert(contentsOf: bytes[at..<min(at + Int.random(in: 1...20, using: &random), bytes.count)], at: at)
            }
        }
        return bytes
    }

    /// A value with numbers as digits and exponent, and members in the order of their names. `drops`: members that are null are omitted.
    private indirect enum Plain: Equatable {
        case word(String)
        case number(String, Int)
        case list([Plain])
        case object([String], [Plain])

        init(_ document: JSONDocument, drops: Bool) {
            switch document {
            case .null: self = .word("null")
            case .bool(let truth): self = .word("\(truth)")
            case .string(let text): self = .word("\"" + text)
            case .number(let text): self = Plain.number(text)
            case .array(let elements): self = .list(elements.map { Plain($0, drops: drops) })
            case .object(let members):
                let kept = members.filter { !drops || $0.1 != .null }.sorted {
                    Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8))
                }
                self = .object(kept.map(\.0), kept.map { Plain($0.1, drops: drops) })
            }
        }

        private static func number(_ text: String) -> Plain {
            let parts = text.lowercased().split(separator: "e"), mantissa = parts[0].split(separator: ".")
            let isNegative = mantissa[0].hasPrefix("-"), fraction = mantissa.count > 1 ? mantissa[1] : ""
            var digits = Substring(mantissa[0].drop { $0 == "-" } + fraction),
                exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.count
            while digits.hasSuffix("0") {
                digits.removeLast()
                exponent += 1
            }
            digits = digits.drop { $0 == "0" }
            return digits.isEmpty ? .number("0", 0) : .number((isNegative ? "-" : "") + digits, exponent)
        }
    }

    private func values(_ bytes: [UInt8], _ layout: JSONOptions.Layout, drops: Bool) throws -> [Plain] {
        let marks = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        if layout != .document, marks.allSatisfy({ $0 <= 32 }) { return [] }
        switch layout {
        case .document: return [Plain(try JSONDocument(bytes: marks), drops: drops)]
        case .lines:
            return try marks.split(separator: 10).filter { !$0.allSatisfy { $0 <= 32 } }.map {
                Plain(try JSONDocument(bytes: Array($0)), drops: drops)
            }
        case .values: return try JSONDocument.several(bytes: marks.map { $0 == 0x1E ? 32 : $0 }).map { Plain($0, drops: drops) }
        }
    }

    @Test func `mutated texts are errors, or are written back with equal values unless the reader names a difference`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["FIRN_MUTATIONS"].flatMap(UInt64.init) ?? 3000, first = environment["FIRN_SEED"].flatMap(UInt64.init) ?? 0
        var read = 0, compared = 0, failures = 0
        for seed in first..<first + count {
            var random = Random(seed: seed)
            let layout = [JSONOptions.Layout.document, .lines, .values][Int(seed % 3)], bytes = text(&random, layout)
            var options = JSONOptions(layout: layout)
            options.threads = 1
            options.isLossless = Bool.random(using: &random)
            options.findsLayout = layout == .values
            if Int.random(in: 0..<3, using: &random) == 0 { options.blockSize = 64 }
            if Int.random(in: 0..<6, using: &random) == 0 {
                options.maps = [["*", "a", "*.a", "b.*"].randomElement(using: &random) ?? "*"]
            }
            if Int.random(in: 0..<6, using: &random) == 0 { options.objects = ["a"] }
            options.mayLackPaths = true
            let rejected = Rejected()
            if !options.isLossless, Int.random(in: 0..<4, using: &random) == 0 {
                options.rejects = Rejects { row, _ in rejected.rows.append(Array(row)) }
            }
            do throws(FirnError) {
                let reader = try JSONReader(Input(bytes: bytes, name: "in.json"), options: options)
                var written = options
                let isDocument = reader.remarks.contains { $0.contains("is one JSON document") }, form = isDocument ? .document : layout
                written.layout = form == .document ? .document : .lines
                let output = Output(memory: "out"), writer = JSONWriter(output, options: written)
                try writer.begin(reader.schema)
                var rows = 0
                while let (type, batch) = try reader.next() {
                    rows += batch.count
                    try writer.write(batch, type: type)
                }
                try writer.finish()
                read += 1
                // What the reader or the writer reports has another value: null or missing, repeated keys, equal keys.
                let remarks = reader.remarks + writer.remarks
                if remarks.contains(where: { $0.contains("twice") || $0.contains("both are now") || $0.contains("same text in") }) {
                    continue
                }
                guard rejected.rows.isEmpty else {
                    #expect(layout == .document || rows + rejected.rows.count <= bytes.count, "seed \(seed)")
                    continue
                }
                guard let wanted = try? values(bytes, form, drops: !options.isLossless) else { continue }
                compared += 1
                let got = try? values(output.bytes, form, drops: !options.isLossless)
                if got != wanted, failures < 5 {
                    failures += 1
                    Issue.record(
                        "seed \(seed): \(String(decoding: bytes, as: UTF8.self).debugDescription) is written as \(String(decoding: output.bytes, as: UTF8.self).debugDescription); \(remarks)"
                    )
                }
            } catch {
                #expect(
                    !error.message.contains("changed while it was read"),
                    "seed \(seed): \(error) \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
        if environment["FIRN_MUTATIONS"] != nil { print("\(count) texts: \(read) read, \(compared) compared") }
        #expect(compared > count / 20)
    }
}

private final class Rejected: @unchecked Sendable { var rows: [[UInt8]] = [] }
