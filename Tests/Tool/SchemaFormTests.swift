import FirnKit
import Foundation
import Testing

/// `firn schema --as`.
@Suite struct SchemaFormTests {
    private static let row = #"""
        {"code":"A","class":1,"labels":[],"tags":[],"notes":{},"weights":[],"others":[],"made":"2024-01-02T03:04:05","extra":"s","price":2.25,"share":0.5,"isDone":false}

        """#

    private func setUp() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.ndjson", SchemaFormTests.row)
        let schema = Folders.fixtures.appending(path: "schema/shipments.json").path
        let run = try scratch.firn("convert", "--schema", schema, "a.ndjson", "a.firn")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("index", "a.firn", "Shipment.made").code == 0)
        #expect(try scratch.firn("index", "--full-text", "a.firn", "Shipment.hash").code == 0)
        return scratch
    }

    @Test func `the printed classes are those that the tests of the library compile and use`() throws {
        let run = try setUp().firn("schema", "a.firn", "--as", "swift")
        let compiled = try String(contentsOf: Folders.package.appending(path: "Tests/Firn/ShipmentClasses.swift"), encoding: .utf8)
        #expect(run.code == 0 && run.out == compiled, "\(run.out)")
    }

    @Test func `SQLite makes the tables of the printed statements, with keys, indexes and foreign keys`() throws {
        let scratch = try setUp(), run = try scratch.firn("schema", "a.firn", "--as", "sql")
        #expect(run.errors.contains("the index of the words of \"Shipment.hash\" has no equal in SQL"))
        #expect(run.out.contains(#""next" TEXT REFERENCES "Shipment" ("code"),"#) && run.out.contains(#"PRIMARY KEY ("code")"#))
        #expect(run.out.contains(#"CREATE INDEX "Shipment_made" ON "Shipment" ("made");"#))
        #expect(run.out.contains(#""ship to.2nd" BIGINT,"#) && run.out.contains(#""price" NUMERIC(20,2) NOT NULL,"#))
    }

    @Test func `JSON Schema describes rows, objects, nulls and links`() throws {
        let scratch = try setUp(), run = try scratch.firn("schema", "a.firn", "--as", "json-schema")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(run.out.utf8)) as? [String: Any])
        #expect(document["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect((document["items"] as? [String: String])?["$ref"] == "#/$defs/Shipment")
        let types = try #require(document["$defs"] as? [String: [String: Any]])
        let properties = try #require(types["Shipment"]?["properties"] as? [String: [String: Any]])
        #expect(properties["mark"]?["type"] as? [String] == ["string", "null"] && properties["mark"]?["format"] as? String == "uuid")
        #expect((properties["ship to"]?["anyOf"] as? [[String: String]])?.first == ["$ref": "#/$defs/Parcel%20Label"])
        #expect(properties["tags"]?["uniqueItems"] as? Bool == true && properties["extra"]?.isEmpty == true)
        #expect(properties["class"]?["minimum"] as? Int == -32768)
        #expect((types["Shipment"]?["required"] as? [String])?.contains("code") == true)
        #expect((types["Shipment"]?["required"] as? [String])?.contains("next") == false)
    }

    @Test func `every form prints names with U+0000, quotes and other cases`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "n.ndjson", #"{"\u0000":1,"a\u0000b":{"x\u0000":2},"select":3,"SELECT":4,"q\"":5,"a.b":6,"a":{"b":7,"B":8}}"# + "\n")
        for form in ["sql", "json-schema", "parquet", "arrow", "swift"] {
            let run = try scratch.firn("schema", "n.ndjson", "--as", form)
            #expect(run.code == 0 && !run.out.isEmpty && !run.isCrash, "\(form): \(run.errors)")
        }
        let document = try scratch.firn("schema", "n.ndjson", "--as", "json-schema").out
        #expect(document.contains(#""\u0000": {"#) && document.contains(#""a\u0000b": {"#))
        _ = try #require(try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any])
        let sql = try scratch.firn("schema", "n.ndjson", "--as", "sql")
        #expect(
            sql.out.split(separator: "\n").map { $0.split(separator: "\"").dropFirst().first ?? $0 }
                == ["n", "_", "ab.x", "select", "SELECT_2", "q", "a.b", "a.b_2", "a.B_3", ");"], "\(sql.out)")
        #expect(sql.errors.contains(#"column "n.SELECT" is written as "SELECT_2", because SQL ignores case in names"#), "\(sql.errors)")
        #expect(sql.errors.contains("is written as \"ab.x\", because SQL has no U+0000 in names"), "\(sql.errors)")
        // SQLite takes the statement.
        try scratch.write("one.csv", "a\n1\n")
        let made = sql.out.replacing("CREATE TABLE", with: "CREATE TEMP TABLE") + "SELECT count(*) AS n FROM n"
        let run = try scratch.firn("sql", "one.csv", made, "--format", "csv")
        #expect(run.out == "n\n0\n", "\(run.errors)")
    }

    @Test func `a type without columns is left out of SQL`() throws {
        let scratch = try Scratch()
        try scratch.write("e.ndjson", "{}\n")
        let run = try scratch.firn("schema", "e.ndjson", "--as", "sql")
        #expect(
            run.code == 0 && run.out == "" && run.errors.contains("type \"e\" has no columns, and is left out"), "\(run.out) \(run.errors)")
    }

    @Test func `Parquet and Arrow schemas have the logical types and nested groups`() throws {
        let scratch = try setUp()
        let parquet = try scratch.firn("schema", "a.firn", "--as", "parquet").out
        for line in [
            "message Shipment {", "  required int32 class (INTEGER(16,true));", "  optional group ship to {",
            "  required group notes (MAP) {", "      optional double element;", "  required fixed_len_byte_array(9) price (DECIMAL(20,2));",
            "  required int64 made (TIMESTAMP(MICROS,false));",
        ] {
            #expect(parquet.contains(line + "\n"), "\(line) in \(parquet)")
        }
        let arrow = try scratch.firn("schema", "a.firn", "--as", "arrow").out
        for line in [
            "class: int16 not null", "ship to: struct<text: string, 2nd: int64>",
            "labels: list<element: struct<text: string, 2nd: int64> not null> not null", "notes: map<string, string> not null",
            "price: decimal128(20, 2) not null", "made: timestamp[us] not null",
        ] {
            #expect(arrow.contains(line + "\n"), "\(line) in \(arrow)")
        }
    }

    @Test func `names that are no names of Swift and keys of several columns are printed so that they compile`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "a b,a-b\n1,2\n")
        try scratch.write(
            "t.json", #"{"v":1,"type":"Object","key":["a b","a-b"],"columns":[{"name":"a b","type":"int"},{"name":"a-b","type":"int"}]}"#)
        let plain = try scratch.firn("schema", "--schema", "t.json", "a.csv", "--as", "swift")
        #expect(
            plain.out == """
                import Firn
                import Foundation

                // The key consists of a b, a-b. Keys of classes have one property.
                class Object_2: Object {
                    @Persisted var aB: Int
                    @Persisted var aB_2: Int

                    override class func _realmObjectName() -> String? { "Object" }

                    override class func propertiesMapping() -> [String: String] {
                        [
                            "aB": "a b",
                            "aB_2": "a-b",
                        ]
                    }
                }

                """, "\(plain.out) \(plain.errors)")
        #expect(plain.errors.contains("the key of \"Object\" has several columns, and the class has none"))
    }
}
