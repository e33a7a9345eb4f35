import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// Rows with values in few of many columns, and text that needs much memory for its size.
@Suite struct SparseTests {
    private func batches(_ text: String, limit: Int = .max, change: (inout JSONOptions) -> Void = { _ in }) throws -> (
        batches: [Batch], peak: Int
    ) {
        let input = Input(bytes: Array(text.utf8), name: "test.json")
        input.budget = MemoryBudget(limit: limit)
        var options = JSONOptions(layout: .lines)
        options.threads = 1
        change(&options)
        let reader = try JSONReader(input, options: options)
        var batches: [Batch] = []
        while let (_, batch) = try reader.next() { batches.append(batch) }
        return (batches, input.budget.peak)
    }

    @Test func `rows that each have their own key are read in batches with a limited number of slots, with each value in its row`() throws {
        let count = 5000
        let text = (0..<count).map { "{\"k\($0)\":\($0)}\n" }.joined()
        let (batches, peak) = try batches(text)
        #expect(batches.reduce(0) { $0 + $1.count } == count)
        #expect(batches.count >= 3, "rows × columns with a value are 25 million")
        var row = 0
        for batch in batches {
            let filled = batch.columns.count { $0.present.map { !$0.noneSet } ?? true }
            #expect(batch.count * filled <= 1 << 22)
            for i in 0..<batch.count {
                #expect(batch.columns[row].value(at: i) == .int(Int64(row)))
                row += 1
            }
            #expect(batch.columns.reduce(0) { $0 + ($1.count - $1.nullCount) } == batch.count)
            #expect(batch.columns.allSatisfy { $0.count == batch.count && $0.words.count == batch.count })
        }
        // 25 million slots of eight bytes, and presence bits, would be more than 200 MB. The text blocks take 2 × 14 MiB.
        #expect(peak < 120 << 20, "\(peak)")
    }

    @Test func `batches of any size contain the same rows`() throws {
        for seed in Seed.first(Tier.cases(10, of: 40)) {
            var random = Random(seed)
            func value(_ depth: Int) -> String {
                switch random.below(depth > 2 ? 5 : 8) {
                case 0: "null"
                case 1: "\(random.below(1000))"
                case 2: "\"t\(random.below(50))\""
                case 3: "[\((0..<random.below(4)).map { _ in "\(random.below(9))" }.joined(separator: ","))]"
                case 4: "{}"
                case 5: "[" + (0..<random.below(3)).map { _ in object(depth + 1) }.joined(separator: ",") + "]"
                default: object(depth + 1)
                }
            }
            func object(_ depth: Int) -> String {
                var keys: Set<Int> = [], members: [String] = []
                for _ in 0..<random.below(depth == 0 ? 6 : 4) {
                    let key = random.below(depth == 0 ? 40 : 6)
                    // Most keys have values of a single kind, so that columns have specific types.
                    if keys.insert(key).inserted {
                        members.append(
                            "\"k\(key)\":"
                                + (key % 5 == 0
                                    ? value(depth)
                                    : key % 5 == 1
                                        ? "\(random.below(100))"
                                        : key % 5 == 2
                                            ? "\"x\(key)\"" : key % 5 == 3 ? "{\"a\":\(random.below(9))}" : "[{\"b\":\(random.below(9))}]"))
                    }
                }
                return "{" + members.joined(separator: ",") + "}"
            }
            let lines = (0..<200).map { _ in object(0) + "\n" }.joined()
            let whole = try Table(lines, .lines)
            for cells in [1, 7, 300] {
                let cut = try Table(lines, .lines) { $0.batchCells = cells }
                #expect(cut.schema == whole.schema)
                #expect(try text(cut.written(.lines)) == text(whole.written(.lines)), "seed \(seed), \(cells) slots")
                let document = try Table("[" + lines.split(separator: "\n").joined(separator: ",") + "]", .document) {
                    $0.batchCells = cells
                }
                #expect(try text(document.written(.lines)) == text(whole.written(.lines)), "seed \(seed), \(cells) slots, document")
            }
        }
    }

    @Test func `exceeding the memory limit is an error with the position and the option to raise it`() throws {
        let many = (0..<30_000).map { "{\"a\($0 % 900)\":{\"k\($0)\":\($0)}}\n" }.joined()
        for (text, limit, what) in [(many, 4 << 20, "JSON text"), (many, 17 << 20, "memory")] {
            let error = #expect(throws: FirnError.self) { try batches(text, limit: limit) }
            #expect(
                error?.code == .outOfMemory && error?.message.contains(what) == true && error?.advice?.contains("--memory") == true
                    && error?.location?.file == "test.json", "\(String(describing: error))")
        }
        // The inferred types of 30,000 paths and a small block exceed the limit. With more memory the rows are read.
        func small(_ options: inout JSONOptions) { options.blockSize = 4096 }
        let error = #expect(throws: FirnError.self) { try batches(many, limit: 3 << 20, change: small) }
        #expect(error?.code == .outOfMemory && (error?.location?.line ?? 0) > 1, "\(String(describing: error))")
        let (all, peak) = try batches(many, limit: 256 << 20, change: small)
        #expect(all.reduce(0) { $0 + $1.count } == 30_000 && peak <= 256 << 20)
    }

    @Test(arguments: ["[", "{\"a\":"]) func `text nested too deeply is refused before all of it is in memory`(opening: String) throws {
        let scratch = TemporaryFolder(), folder = scratch.path + "/"
        let column = 512 * opening.utf8.count + 1
        for (prefix, layout, line) in [
            ("", JSONOptions.Layout.document, 1), ("", .lines, 1), ("{\"a\":1}\n{\"a\":\"]\\\"]\"}\n", .lines, 3), ("\n ", .document, 2),
            ("\u{FEFF}", .lines, 1),
        ] {
            try Data((prefix + String(repeating: opening, count: 20_000_000 / opening.utf8.count)).utf8).write(
                to: URL(filePath: folder + "text"))
            let zip = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", "gzip -f '\(folder)text'"])
            zip.wait()
            let input = try Input(path: folder + "text.gz")
            // The text is 20 MB, and parsing all of it would need seven times as much.
            input.budget = MemoryBudget(limit: 32 << 20)
            var options = JSONOptions(layout: layout)
            options.threads = 1
            let error = #expect(throws: FirnError.self) { try JSONReader(input, options: options) }
            #expect(error?.code == .rejected && error?.message == "values nest deeper than 512 levels", "\(String(describing: error))")
            #expect(
                error?.location?.line == line && error?.location?.column == column + (prefix == "\n " ? 1 : 0),
                "\(String(describing: error))")
        }
    }

    @Test func `a number with any number of digits is a float if its value is exactly a float or the shortest text`() throws {
        func given(_ kind: ScalarKind) -> GivenSchema {
            GivenSchema(Schema([TypeSchema("T", columns: [ColumnSchema("a", ColumnType(kind))])]), rows: "T")
        }
        func value(_ text: String, _ kind: ScalarKind, lossless: Bool = false) throws -> Value {
            try Table("{\"a\":\(text)}\n", .lines) {
                $0.given = given(kind)
                $0.isLossless = lossless
            }.batches[0].columns[0].value(at: 0)
        }
        for text in ["0.1", "0.10000000149011612", "0.100000001490116119384765625", "1.0000000149011612e-1"] {
            #expect(try value(text, .float) == .float(0.1), "\(text)")
        }
        #expect(try value("16777216", .float) == .float(16_777_216) && value("1e3", .float) == .float(1000))
        for text in ["0.1", "1e-1"] { #expect(try value(text, .double) == .double(0.1), "\(text)") }
        #expect(try value("9223372036854775808", .double) == .double(9_223_372_036_854_775_808))
        for (text, whole) in [
            ("1.0", 1), ("1e3", 1000), ("9223372036854775807.0", Int64.max), ("-9223372036854775808.000", .min), ("0.0", 0),
        ] { #expect(try value(text, .int) == .int(whole), "\(text)") }
        for (text, kind) in [
            ("0.10000000149011613", ScalarKind.float), ("16777217", .float), ("0.10000000000000000555", .double),
            ("9223372036854775809", .double), ("1.5", .int), ("1e400", .double),
        ] {
            #expect(throws: FirnError.self, "\(text)") { try value(text, kind) }
        }
        // It would be written as 0.1, so lossless reading refuses it.
        let error = #expect(throws: FirnError.self) { try value("0.10000000149011612", .float, lossless: true) }
        #expect(error?.message.contains("would be written back as 0.1") == true)
        #expect(try value("0.1", .float, lossless: true) == .float(0.1))
    }
}
