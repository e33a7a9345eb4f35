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
