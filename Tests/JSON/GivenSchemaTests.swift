import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnJSON

@Suite struct GivenSchemaTests {
    @Test func `rows written with a schema are read back with the same schema and values`() throws {
        for seed in Seed.first(150) {
            var random = RandomTables(seed)
            let schema = random.schema(), type = schema.roots[0]
            let rows = random.rows(random.number(0...60), of: type, in: schema).map { $0.map(finite) }
            let batch = RandomTables.batch(rows, of: type, in: schema)
            for layout in [JSONOptions.Layout.lines, .document] {
                let output = Output(memory: "out")
                let writer = JSONWriter(output, options: JSONOptions(layout: layout))
                try writer.begin(schema)
                try writer.write(batch, type: type.name)
                try writer.finish()
                let table = try Table(output.bytes, layout) {
                    $0.given = GivenSchema(schema, rows: type.name)
                    $0.blockSize = random.number(1...4000)
                }
                #expect(table.schema.types.map(\.name) == schema.types.map(\.name), "seed \(seed)")
                for (a, b) in zip(table.schema.types, schema.types) {
                    #expect(a.columns.map(\.type) == b.columns.map(\.type) && a.isEmbedded == b.isEmbedded, "seed \(seed): \(a)")
                }
                guard let read = table.batches.first else {
                    #expect(rows.isEmpty)
                    continue
                }
                #expect(table.batches.count == 1 && read.count == rows.count)
                for (row, values) in rows.enumerated() {
                    for (column, value) in values.enumerated() {
                        let back = read.columns[column].value(at: row)
                        #expect(
                            Value.order(unnamed(back), unnamed(value)) == 0,
                            "seed \(seed), row \(row), \(type.columns[column]): \(value) came back as \(back)")
                    }
                }
            }
        }
    }

    /// Replaces infinities, which JSON cannot represent.
    private func finite(_ value: Value) -> Value {
        switch value {
        case .float(let x): .float(x.isFinite ? x : 0.5)
        case .list(let values): .list(values.map(finite))
        case .set(let values): .set(Value.distinctSorted(values.map(finite)))
        case .map(let entries): .map(entries.map { .init($0.key, finite($0.value)) })
        case .object(let entries): .object(entries.map { .init($0.key, finite($0.value)) })
        default: value
        }
    }

    /// Replaces objects by lists of their values, so that only the order of the fields counts.
    private func unnamed(_ value: Value) -> Value {
        switch value {
        case .list(let values): .list(values.map(unnamed))
        case .map(let entries): .map(entries.map { .init($0.key, unnamed($0.value)) })
        case .object(let entries): .list(entries.map { unnamed($0.value) })
        default: value
        }
    }

    private func schema(_ columns: ColumnSchema..., embedded: TypeSchema? = nil) -> GivenSchema {
        GivenSchema(Schema([TypeSchema("T", columns: columns)] + (embedded.map { [$0] } ?? [])), rows: "T")
    }

    private func complaint(_ text: String, _ given: GivenSchema, _ layout: JSONOptions.Layout = .lines, lossless: Bool = false) -> String {
        do {
            _ = try Table(text, layout) {
                $0.given = given
                $0.isLossless = lossless
            }
            return "accepted"
        } catch let error as FirnError { return "\(error)" } catch { return "\(error)" }
    }

    @Test func `a value that does not fit is reported with its line and column`() {
        let spot = TypeSchema("Spot", columns: [ColumnSchema("x", ColumnType(.int))], isEmbedded: true)
        func column(_ type: ColumnType) -> GivenSchema { schema(ColumnSchema("a", type), embedded: spot) }
        let cases: [(ColumnType, String, String)] = [
            (ColumnType(.int), "1.5", "7: expected a whole number, found 1.5 (column \"a\")"), (ColumnType(.int), "1.0", "accepted"),
            (ColumnType(.int), "1e3", "accepted"),
            (ColumnType(.int), "-0", "7: expected a whole number, found -0 (column \"a\")"),
            (ColumnType(.int), "9223372036854775808", "7: expected a whole number, found 9223372036854775808 (column \"a\")"),
            (ColumnType(.int), "null", "7: expected a whole number, found null (column \"a\")"),
            (ColumnType(.int, optional: true), "null", "accepted"),
            (ColumnType(.double), "9007199254740993", "7: the number 9007199254740993 does not fit into a double unchanged (column \"a\")"),
            (ColumnType(.double), "265029224596170500", "accepted"), (ColumnType(.double), "100000000000000000000", "accepted"),
            (
                ColumnType(.double), "100000000000000000001",
                "7: the number 100000000000000000001 does not fit into a double unchanged (column \"a\")"
            ),
            (ColumnType(.float), "0.1", "accepted"),
            (ColumnType(.float), "0.123456789", "7: the number 0.123456789 does not fit into a float unchanged (column \"a\")"),
            (ColumnType(.decimal), "1e99999", "7: the number 1e99999 does not fit into a decimal128 unchanged (column \"a\")"),
            (ColumnType(.string), "5", "7: expected a text, found 5 (column \"a\")"),
            (ColumnType(.bool), "1", "7: expected true or false, found 1 (column \"a\")"),
            (
                ColumnType(.date), "\"2021-02-29\"",
                "7: expected a date (such as 2016-09-29 or 2016-09-29T10:11:12Z), found \"2021-02-29\" (column \"a\")"
            ),
            (ColumnType(.uuid), "\"x\"", "7: expected a UUID, found \"x\" (column \"a\")"),
            (ColumnType(.objectID), "\"0123\"", "7: expected an object id, found \"0123\" (column \"a\")"),
            (ColumnType(.data), "\"YQ==\"", "accepted"),
            (ColumnType(.data), "\"YR==\"", "7: expected bytes as base64, found \"YR==\" (column \"a\")"),
            (ColumnType(.int, collection: .list), "[1, null]", "11: expected a whole number, found null (column \"a\")"),
            (ColumnType(.int, collection: .list, elementOptional: true), "[1, null]", "accepted"),
            (ColumnType(.int, collection: .list), "5", "7: expected an array, found 5 (column \"a\")"),
            (ColumnType(.string, collection: .set), "[\"b\", \"a\", \"b\"]", "18: \"b\" occurs twice in a set (column \"a\")"),
            (ColumnType(.int, collection: .map), "{\"p\": 1, \"q\": []}", "21: expected a whole number, found an array (column \"a\")"),
            (ColumnType(.embedded, target: "Spot"), "{\"x\": \"y\"}", "13: expected a whole number, found \"y\" (column \"a.x\")"),
            (ColumnType(.embedded, target: "Spot"), "{}", "7: the member for column \"a.x\" is missing: expected a whole number"),
            (ColumnType(.embedded, target: "Spot"), "{\"x\": 1, \"z\": 2}", "21: the schema's type \"Spot\" has no \"z\""),
            (ColumnType(.link, target: "T"), "0", "accepted"),
            (ColumnType(.link, target: "T"), "1", "7: a link to row 1, and the rows are counted from 0 to 0 (column \"a\")"),
            (ColumnType(.link, target: "T"), "-1", "7: a link to row -1, and the rows are counted from 0 (column \"a\")"),
        ]
        for (type, value, words) in cases {
            let expected = words == "accepted" ? words : "test.json:1:" + words
            #expect(complaint("{\"a\": \(value)}\n", column(type)) == expected)
            #expect(complaint("{\"a\": \(value)}", column(type), .document) == expected)
        }
        #expect(
            complaint("{\"a\":1}\n\n {\"b\":[{\"a\":2}]}\n", column(ColumnType(.int)))
                == "test.json:3:2: the member for column \"a\" is missing: expected a whole number")
        #expect(complaint("[{\"a\":1},\n 5]", column(ColumnType(.int)), .document) == "test.json:2:2: expected an object, found 5")
    }

    @Test func `types that cannot be read from JSON are refused`() {
        let node = TypeSchema(
            "Node", columns: [ColumnSchema("next", ColumnType(.embedded, optional: true, target: "Node"))], isEmbedded: true)
        #expect(
            complaint("{}\n", schema(ColumnSchema("a", ColumnType(.embedded, target: "Node")), embedded: node)).contains("contains itself"))
        let spot = TypeSchema("Spot", columns: [], isEmbedded: true)
        #expect(
            complaint("{}\n", schema(ColumnSchema("a", ColumnType(.embedded, collection: .set, target: "Spot")), embedded: spot)).contains(
                "a set of objects"))
        let other = GivenSchema(
            Schema([
                TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.link, optional: true, target: "U"))]), TypeSchema("U", columns: []),
            ]), rows: "T")
        #expect(complaint("{\"a\":0}\n", other).contains("a link to a row of \"U\", and the input contains none"))
        #expect(complaint("{\"a\":null}\n", other) == "accepted")
        var text = "{\"a\":1"
        for i in 0...20_001 { text += ",\"k\(i)\":0" }
        #expect(complaint(text + "}\n", schema(ColumnSchema("a", ColumnType(.int)))).contains("too many to be columns"))
    }

    @Test func `columns that the schema does not name are inferred and follow those that it names`() throws {
        let given = schema(ColumnSchema("b", ColumnType(.double)), ColumnSchema("gone", ColumnType(.string, optional: true)))
        let table = try Table("{\"a\":1,\"b\":2,\"c\":{\"d\":null}}\n{\"b\":3,\"a\":4,\"e\":\"2020-01-01\"}\n", .lines) { $0.given = given }
        #expect(table.type.columns.map(\.name) == ["b", "gone", "a", "c", "e"])
        #expect(table.type.columns.map(\.type.name) == ["double", "string?", "int", "T_c?", "date?"])
        #expect(table.remarks == ["the schema's column \"gone\" is in no row"])
        #expect(table.batches[0].columns[0].value(at: 1) == .double(3))
    }

    @Test func `null and missing members are distinguished with a schema too`() throws {
        let spot = TypeSchema(
            "Spot", columns: [ColumnSchema("x", ColumnType(.int, optional: true)), ColumnSchema("y", ColumnType(.int, optional: true))],
            isEmbedded: true)
        let given = GivenSchema(
            Schema([
                TypeSchema(
                    "T",
                    columns: [
                        ColumnSchema("a", ColumnType(.int, optional: true)),
                        ColumnSchema("s", ColumnType(.embedded, optional: true, target: "Spot")),
                        ColumnSchema("l", ColumnType(.embedded, optional: true, collection: .list, target: "Spot")),
                        ColumnSchema("m", ColumnType(.embedded, optional: true, collection: .map, target: "Spot")),
                    ]), spot,
            ]), rows: "T")
        let text =
            "{\"a\":null,\"s\":{\"x\":null}}\n{\"a\":1,\"l\":[{\"x\":null},{\"x\":1,\"y\":2}]}\n{\"a\":null,\"m\":{\"k\":{\"x\":null}}}\n"
        let table = try Table(text, .lines) { $0.given = given }
        #expect(FirnJSONTests.text(try table.written(.lines)) == text)
    }

    @Test func `values that would be written differently are counted, and refused by lossless reading`() throws {
        let given = schema(ColumnSchema("d", ColumnType(.date), notation: .dateOnly), ColumnSchema("u", ColumnType(.uuid, optional: true)))
        let text = "{\"d\":\"2020-01-01\"}\n{\"d\":\"2020-01-01T00:00:00Z\",\"u\":\"6BA7B810-9dad-11d1-80b4-00c04fd430c8\"}\n"
        let table = try Table(text, .lines) { $0.given = given }
        #expect(
            table.remarks == ["column \"d\": 1 value is written back differently", "column \"u\": 1 value is written back differently"])
        #expect(
            complaint(text, given, lossless: true)
                == "test.json:2:6: \"2020-01-01T00:00:00Z\" would be written back as \"2020-01-01\" (column \"d\")")
    }

    @Test func `plain values and objects of objects keep their form with their own schema`() throws {
        for document in [
            "[1,2,3]", "[1,null]", "{\"a\":{\"x\":1},\"b\":{\"x\":2}}", "{\"a\":{\"key\":1},\"b\":{\"key\":2}}",
            "{\"n\":\"x\",\"rows\":[{\"a\":1}]}", "5", "[{\"value\":1}]",
        ] {
            let table = try Table(document)
            let again = try Table(document) { $0.given = GivenSchema(table.schema, rows: table.type.name) }
            #expect(again.schema == table.schema, "\(document)")
            #expect(try again.written() == table.written(), "\(document)")
        }
        let lines = try Table("1\n2\n", .lines)
        let again = try Table("1\n2\n", .lines) { $0.given = GivenSchema(lines.schema, rows: "Row") }
        #expect(again.schema == lines.schema)
    }

    @Test func `rows have the key of the schema`() throws {
        var given = schema(ColumnSchema("b", ColumnType(.int)), ColumnSchema("a", ColumnType(.int)))
        given.schema.types[0].key = [1, 0]
        #expect(try Table("{\"a\":1,\"b\":2}\n", .lines) { $0.given = given }.type.key == [1, 0])
    }

    @Test func `several documents are read one after the other, with positions in the whole text`() throws {
        #expect(
            try JSONDocument.several(bytes: Array("{\"a\":\"}\\\"\"}\n\n{\"b\":[1]} ".utf8)) == [
                .object([("a", .string("}\""))]), .object([("b", .array([.number("1")]))]),
            ])
        let error = #expect(throws: FirnError.self) { try JSONDocument.several(bytes: Array("{\"a\":1}\n{\"b\" 2}\n".utf8)) }
        #expect(error?.location?.line == 2)
        for text in ["", "  ", "{", "}", "]]", "{}}", "\"", "{\"a"] {
            #expect(throws: FirnError.self) { try JSONDocument.several(bytes: Array(text.utf8)) }
        }
    }
}
