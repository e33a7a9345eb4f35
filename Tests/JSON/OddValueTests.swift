import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnJSON

/// Numbers in unusual spellings, and strings among numbers, as values and as original texts.
@Suite struct OddValueTests {
    private func read(_ text: String, _ options: JSONOptions = JSONOptions(layout: .lines)) throws -> (TypeSchema, [Batch]) {
        let reader = try JSONReader(Input(bytes: Array(text.utf8), name: "in.ndjson"), options: options)
        var batches: [Batch] = []
        while let (_, batch) = try reader.next() { batches.append(batch) }
        return (reader.schema.types[0], batches)
    }

    private func back(_ text: String) throws -> String {
        let reader = try JSONReader(Input(bytes: Array(text.utf8), name: "in.ndjson"), options: JSONOptions(layout: .lines))
        let output = Output(memory: "back"), writer = JSONWriter(output, options: JSONOptions(layout: .lines))
        try writer.begin(reader.schema)
        while let (type, batch) = try reader.next() { try writer.write(batch, type: type) }
        try writer.finish()
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test func `a companion holds a text only where export would write another one`() throws {
        let (type, batches) = try read(
            "{\"a\":1.5}\n{\"a\":1e3}\n{\"a\":2.0}\n{\"a\":\"NA\"}\n{\"a\":\" 7 \"}\n{}\n{\"a\":3}\n{\"a\":null}\n")
        #expect(type.columns.map(\.type.name) == ["double?", "string?"] && type.companions == [0: 1])
        #expect(OriginalToken.isForm(of: type.columns[1]))
        let values = (0..<8).map { batches[0].columns[0].value(at: $0) }, texts = (0..<8).map { batches[0].columns[1].value(at: $0) }
        #expect(values == [.double(1.5), .double(1000), .double(2), .null, .double(7), .null, .double(3), .null])
        #expect(texts == [.null, .string("1e3"), .string("2.0"), .string("\"NA\""), .string("\" 7 \""), .null, .null, .null])
    }

    @Test func `numbers with two-digit exponents have a notation`() throws {
        func check(_ values: String, _ notation: Notation, originals: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let text = values.split(separator: " ").map { "{\"a\":\($0)}\n" }.joined()
            let (type, batches) = try read(text)
            #expect(type.columns[0].notation == notation && type.columns[0].type.kind == .double, sourceLocation: sourceLocation)
            let kept = type.companions[0].map { at in (0..<batches[0].count).count { batches[0].columns[at].value(at: $0) != .null } }
            #expect(kept ?? 0 == originals, sourceLocation: sourceLocation)
            #expect(try back(text) == text, sourceLocation: sourceLocation)
        }
        try check("1e-05 0.5 2 1.5e+16 0.0001", .twoDigitExponent(pointZero: false))
        try check("1e-05 0.5 2.0 3.0", .twoDigitExponent(pointZero: true))
        try check("1e-05 2.0 3.0 1e+22", .twoDigitExponent(pointZero: true))
        try check("1e-05 2e-05 0.00003 0.5", .twoDigitExponent(pointZero: false), originals: 1)
        try check("1e-05 0.00002 0.00003 0.5", .plain, originals: 1)
        try check("0.00002 0.5 1e-7", .plain)
        try check("1e-05 2.0 3.0 1e3", .twoDigitExponent(pointZero: true), originals: 1)
        try check("1e-05 10000000000000000 -100000000000000000", .plain, originals: 1)
    }

    @Test func `whole numbers in any spelling are integers`() throws {
        let (type, batches) = try read("{\"a\":1}\n{\"a\":1e3}\n{\"a\":-0}\n{\"a\":9007199254740993}\n{\"a\":\"5\"}\n")
        #expect(type.columns[0].type.name == "int")
        #expect((0..<5).map { batches[0].columns[0].value(at: $0) } == [1, 1000, 0, 9_007_199_254_740_993, 5].map { .int($0) })
    }

    @Test func `long numbers are exceptions if they are few and fractions`() throws {
        let few = (0..<200).map { "{\"a\":\($0).5}\n" }.joined()
        #expect(try read(few + "{\"a\":0.12345678901234567890}\n").0.columns[0].type.name == "double")
        #expect(try read(few + "{\"a\":12345678901234567890}\n").0.columns[0].type.name == "decimal128")
        #expect(try read(few + "{\"a\":1e400}\n").0.columns[0].type.name == "decimal128")
        #expect(try read("{\"a\":0.5}\n{\"a\":0.12345678901234567890}\n").0.columns[0].type.name == "decimal128")
    }

    @Test func `strings that are not numbers need a thousand numbers each`() throws {
        func type(_ numbers: Int, _ others: [String]) throws -> String {
            let (type, _) = try read((0..<numbers).map { "{\"a\":\($0)}\n" }.joined() + others.map { "{\"a\":\($0)}\n" }.joined())
            return type.columns[0].type.name
        }
        #expect(try type(1000, ["\"x\""]) == "int?" && type(999, ["\"x\""]) == "any")
        #expect(try type(1000, ["\"x\"", "\"y\""]) == "any" && type(2000, ["\"x\"", "false"]) == "int?")
        #expect(try type(5000, ["\"0012\""]) == "any" && type(5000, ["[]"]) == "any" && type(5000, ["{}"]) == "any")
        #expect(try type(1, ["\"1\"", "\"2\""]) == "any" && type(2, ["\"1\"", "\"2.5\""]) == "double")
    }

    @Test func `random odd values are written back as the same tokens, in blocks of any size`() throws {
        var kept = 0
        for seed in Seed.first(40) {
            var random = Random(seed)
            let pool = [
                "1e3", "1E+2", "-0", "-0.0", "0.50", "1.0", "7.25", "12", "-3", "1e-7", "0.0000001", "123456789012345680.0", "1e21",
                "\"NA\"", "\"\"", "\"4\"", "\"\\u00e9\"", "5e0", "1e-05", "0.00002", "1e+16",
            ]
            let kinds = (0..<1 + random.below(6)).map { _ in pool[random.below(pool.count)] }
            var text = ""
            for row in 0..<1 + random.below(2500) {
                let value = random.below(41) == 0 ? kinds[random.below(kinds.count)] : "\(row)"
                text += "{\"i\":\(row),\"a\":\(value == "\"\\u00e9\"" ? "\"é\"" : value)}\n"
            }
            var small = JSONOptions(layout: .lines)
            small.blockSize = 512
            let (type, batches) = try read(text, small), (whole, all) = try read(text)
            #expect(type == whole && batches.reduce(0) { $0 + $1.count } == all.reduce(0) { $0 + $1.count }, "seed \(seed)")
            // Other columns do not keep the notation of numbers.
            if ["int", "double"].contains(type.columns[1].type.kind.name) {
                #expect(try back(text) == text, "seed \(seed), \(kinds)")
                kept += 1
            }
        }
        #expect(kept > 15)
    }

    @Test func `hostile texts in a companion never make invalid JSON`() throws {
        var type = TypeSchema("r", columns: [ColumnSchema("a", ColumnType(.int, optional: true), id: 0)])
        var companion = type.makeCompanion(of: type.columns[0])
        companion.otherAttributes = [OriginalToken.attribute]
        companion.id = 1
        type.columns.append(companion)
        let texts = ["\"", "\"x", "{", "true", "nul", "1e3", "007", "1.", "\"a\"b\"", "", "-", "\"12\"", "1,2"]
        var numbers = Column(ColumnType(.int, optional: true)), column = Column(ColumnType(.string, optional: true))
        for text in texts {
            numbers.appendNull()
            column.append(.string(text))
        }
        let output = Output(memory: "out"), writer = JSONWriter(output, options: JSONOptions(layout: .lines))
        try writer.begin(Schema([type]))
        try writer.write(Batch(count: texts.count, columns: [numbers, column]), type: "r")
        try writer.finish()
        let lines = String(decoding: output.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.map(String.init) == texts.map { $0 == "true" ? "{\"a\":true}" : $0 == "\"a\"b\"" ? "{\"a\":\"a\\\"b\"}" : "{}" })
    }
}
