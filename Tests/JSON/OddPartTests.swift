import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnJSON

/// Numbers in unusual spellings, and strings among numbers, in objects, lists and maps within rows.
@Suite struct OddPartTests {
    private func read(_ text: String, _ options: JSONOptions = JSONOptions(layout: .lines)) throws -> (Schema, [Batch], [String]) {
        let reader = try JSONReader(Input(bytes: Array(text.utf8), name: "in.ndjson"), options: options)
        var batches: [Batch] = []
        while let (_, batch) = try reader.next() { batches.append(batch) }
        return (reader.schema, batches, reader.remarks)
    }

    private func back(_ text: String, _ options: JSONOptions = JSONOptions(layout: .lines)) throws -> String {
        let reader = try JSONReader(Input(bytes: Array(text.utf8), name: "in.ndjson"), options: options)
        let output = Output(memory: "back"), writer = JSONWriter(output, options: options)
        try writer.begin(reader.schema)
        while let (type, batch) = try reader.next() { try writer.write(batch, type: type) }
        try writer.finish()
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test func `one companion holds the texts of all parts of a value`() throws {
        let text = """
            {"p":{"lat":1.5,"at":{"x":1}},"l":[1,2],"m":{"2020-01-01":1,"2020-01-02":2,"2020-01-03":3}}
            {"p":{"lat":1e3,"at":{"x":"NA"}},"l":[3,"4",5e0],"m":{"2020-01-01":1,"2020-01-02":"n/a","2020-01-03":2.0}}
            {"p":{"lat":2.25,"at":{"x":2}},"l":[]}

            """
        let (schema, batches, remarks) = try read(text), type = schema.types[0]
        #expect(type.visibleColumns == [0, 1, 2] && type.columns[1].type.name == "list<int>")
        #expect(type.columns[2].type.kind == .double && type.columns[2].type.elementIsOptional)
        let companions = type.companions.sorted { $0.key < $1.key }.map(\.value)
        #expect(
            companions.map { batches[0].columns[$0].value(at: 1) } == [
                .string(#"{"lat":1e3,"at":{"x":"NA"}}"#), .string(#"{"1":"4","2":5e0}"#),
                .string(#"{"2020-01-02":"n/a","2020-01-03":2.0}"#),
            ])
        #expect(companions.allSatisfy { batches[0].columns[$0].value(at: 0) == .null && batches[0].columns[$0].value(at: 2) == .null })
        #expect(try batches[0].columns[0].field([0]).value(at: 1) == .double(1000))
        #expect(try batches[0].columns[0].field([1, 0]).value(at: 1) == .null)
        #expect(try back(text) == text)
        #expect(
            remarks.contains { $0.contains("column \"p.at.x\": 1 of 3 values is kept as text next to null (first: \"NA\")") }, "\(remarks)")
    }

    @Test func `rows that are no objects keep the texts too`() throws {
        for text in ["1\n1e3\n\"NA\"\nnull\n", "[1,2]\n[1e3,\"NA\",5]\n[]\n", "[[1,2.5],[\"NA\"]]\n[[1e2]]\n"] {
            #expect(try back(text) == text)
        }
        let document = #"[[1,1e3],["NA"]]"#
        #expect(try back(document, JSONOptions()).filter { $0 != "\n" } == document)
    }

    @Test func `maps among whose numbers are texts for null are maps`() throws {
        let text = #"{"m":{"2020-01-01":1,"2020-01-02":"NA","2020-01-03":3}}"# + "\n"
        #expect(try read(text).0.types[0].columns[0].type.collection == .map && back(text) == text)
    }

    @Test func `random nested values are written back as the same tokens, in blocks of any size`() throws {
        for seed in Seed.first(60) {
            var random = Random(seed)
            let pool = ["1e3", "1E+2", "-0", "0.50", "1.0", "7.25", "1e-7", "\"NA\"", "\"\"", "\"4\"", "5e0", "null"]
            let odd = (0..<1 + random.below(5)).map { _ in pool[random.below(pool.count)] }
            func number(_ row: Int) -> String { random.below(9) == 0 ? odd[random.below(odd.count)] : "\(row % 50)" }
            func list(_ depth: Int) -> String {
                let items = (0..<random.below(4)).map { _ in depth > 0 ? list(depth - 1) : number(random.below(99)) }
                return "[" + items.joined(separator: ",") + "]"
            }
            var text = ""
            for row in 0..<1 + random.below(300) {
                let objects = (0..<random.below(3)).map { _ in "{\"q\":\(number(row)),\"d\":{\"r\":\(number(row)),\"s\":\(list(0))}}" }
                let map = ["2020-01-0", "2021-02-0"].flatMap { start in (1..<4).map { "\"\(start)\($0)\":\(number(row))" } }
                text += "{\"i\":\(row),\"o\":{\"x\":\(number(row)),\"y\":{\"z\":\(number(row))}},\"l\":\(list(1)),"
                text += "\"e\":[\(objects.joined(separator: ","))],\"m\":{\(map.joined(separator: ","))}}\n"
            }
            var small = JSONOptions(layout: .lines)
            small.blockSize = 512
            #expect(try read(text, small).0 == read(text).0, "seed \(seed)")
            // What stays of type any keeps values, and not their notation.
            let (schema, _, _) = try read(text)
            guard !schema.types.contains(where: { type in type.columns.contains { $0.type.kind == .any || $0.type.kind == .decimal } })
            else {
                continue
            }
            #expect(try back(text) == text && back(text, small) == text, "seed \(seed), \(odd)")
        }
    }

    @Test func `texts that do not read as the value of their part are ignored`() throws {
        let inner = TypeSchema(
            "o", columns: [ColumnSchema("x", ColumnType(.int, optional: true)), ColumnSchema("y", ColumnType(.string, optional: true))],
            isEmbedded: true)
        var type = TypeSchema("r", columns: [ColumnSchema("o", ColumnType(.embedded, target: "o"), id: 0)])
        var companion = type.makeCompanion(of: type.columns[0])
        companion.id = 1
        type.columns.append(companion)
        let schema = Schema([type, inner])
        let texts = [
            #"{"x":1e0}"#, #"{"x":2e0}"#, #"{"x":{"y":1}}"#, #"{"y":"NA","z":1}"#, "{", "{}", #"{"x":1e0"#, #"{"x":1e0}}"#, #"{"x":nul}"#,
            #"{"x":1e0,"x":"1"}"#, String(repeating: #"{"x":"#, count: 400), #"{"x":"\u00e"}"#, "1",
        ]
        var objects = Column(type.columns[0], in: schema), column = Column(ColumnType(.string, optional: true))
        for text in texts {
            objects.append(.object([Value.Entry("x", .int(1)), Value.Entry("y", .null)]))
            column.append(.string(text))
        }
        let output = Output(memory: "out"), writer = JSONWriter(output, options: JSONOptions(layout: .lines))
        try writer.begin(schema)
        try writer.write(Batch(count: texts.count, columns: [objects, column]), type: "r")
        try writer.finish()
        let lines = String(decoding: output.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(
            lines == texts.enumerated().map { [0: #"{"o":{"x":1e0}}"#, 9: #"{"o":{"x":"1"}}"#][$0.offset] ?? #"{"o":{"x":1}}"# }, "\(lines)"
        )
    }
}
