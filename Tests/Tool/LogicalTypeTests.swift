import FirnKit
import Foundation
import Testing

/// Logical types of columns and metadata of applications, in the command.
@Suite struct LogicalTypeTests {
    private static let schema = #"""
        {"v":1,"type":"Order","fileMetadata":{"app":"shop"},"metadata":{"origin":"test"},"key":["id"],"columns":[
        {"name":"id","type":"decimal128","logical":"uint64"},
        {"name":"price","type":"double","logical":"decimal(15,2)","metadata":{"unit":"EUR","raw":{"base64":"AP8="}}},
        {"name":"open","type":"string?","logical":"time(s)"},
        {"name":"made","type":"date","logical":"timestamp(us)"},
        {"name":"zoned","type":"date","logical":"timestamp(us,\"UTC\")"},
        {"name":"day","type":"date","logical":"date"},
        {"name":"state","type":"string","logical":"enum(\"new\",\"paid\")"},
        {"name":"doc","type":"string?","logical":"json"},
        {"name":"wait","type":"int","logical":"duration(ms)"},
        {"name":"shape","type":"data","logical":"geometry(\"EPSG:4326\")"},
        {"name":"vector","type":"list<double>","logical":"fixed-list(2)"},
        {"name":"box","type":"Box?"}]}
        {"v":1,"type":"Box","embedded":true,"metadata":{"inner":"yes"},"key":[],"columns":[
        {"name":"note","type":"string?","logical":"enum(\"a\",\"b\")","metadata":{"n":"1"}}]}

        """#.replacing(",\n", with: ",")

    private static let rows = #"""
        {"id":1,"price":0.10,"open":"09:30:00","made":"2024-01-02T03:04:05","zoned":"2024-01-02T03:04:05Z","day":"2024-01-02","state":"new","doc":{"b":1,"a":[2,"x y"]},"wait":5,"shape":"AQI=","vector":[1,2.5],"box":{"note":"a"}}
        {"id":18446744073709551615,"price":0.20,"open":"10:00:00","made":"2024-01-02T03:04:05.5","zoned":"2024-01-02T03:04:05.5Z","day":"2024-01-03","state":"paid","doc":"text","wait":6,"shape":"AQI=","vector":[3,4],"box":{"note":"b"}}
        {"id":7,"price":1000000000.00,"made":"2024-01-02T03:04:06","zoned":"2024-01-02T03:04:06Z","day":"2024-01-04","state":"new","doc":[1,{"c":1.50}],"wait":7,"shape":"AQI=","vector":[5,6]}

        """#

    /// Writes `a.firn` with all logical types.
    private func setUp() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("s.json", LogicalTypeTests.schema)
        try scratch.write("a.ndjson", LogicalTypeTests.rows)
        let run = try scratch.firn("convert", "--schema", "s.json", "a.ndjson", "a.firn")
        #expect(run.code == 0, "\(run.errors)")
        return scratch
    }

    private func schema(_ scratch: Scratch, _ file: String) throws -> String {
        let run = try scratch.firn("schema", "--json", file)
        #expect(run.code == 0, "\(run.errors)")
        return run.out
    }

    @Test func `logical types and metadata survive every command that writes a file`() throws {
        let scratch = try setUp(), wanted = try schema(scratch, "a.firn")
        for part in [
            #""logical":"uint64""#, #""logical":"timestamp(us,\"UTC\")""#, #""fileMetadata":{"app":"shop"}"#,
            #""metadata":{"unit":"EUR","raw":{"base64":"AP8="}}"#, #""metadata":{"inner":"yes"}"#, #""logical":"fixed-list(2)""#,
        ] {
            #expect(wanted.contains(part), "\(part) in \(wanted)")
        }
        func check(_ file: String, _ words: String..., line: UInt = #line) throws {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            #expect(try schema(scratch, file) == wanted, "\(words)")
            #expect(try scratch.firn("verify", "--full", file).code == 0)
        }
        // What `schema --json` prints is a schema again.
        try scratch.write("s2.json", wanted)
        try check("b.firn", "convert", "--schema", "s2.json", "a.ndjson", "b.firn")
        try check("c.firn", "convert", "a.firn", "c.firn")
        try check("d.firn", "convert", "--where", "id > 0", "a.firn", "d.firn")
        try check("e.firn", "compact", "a.firn", "e.firn")
        try check("e.firn", "compact", "--in-place", "e.firn")
        try check("e.firn", "recover", "a.firn", "--force", "e.firn")
        try check("f.firn", "convert", "--limit", "2", "a.firn", "f.firn")
        // Union.
        #expect(try scratch.firn("convert", "--where", "id == 1", "a.firn", "p1.firn").code == 0)
        #expect(try scratch.firn("convert", "--where", "id != 1", "a.firn", "p2.firn").code == 0)
        try check("u.firn", "convert", "--key", "id", "p1.firn", "p2.firn", "u.firn")
        // Changes, patches and reverts.
        #expect(try scratch.firn("diff", "p1.firn", "a.firn", "--changes", "ch.firn").code <= 1)
        try check("p1.firn", "patch", "p1.firn", "ch.firn")
        #expect(try scratch.firn("convert", "--columns", "id,price", "a.firn", "n.firn").code == 0)
        #expect(try scratch.firn("diff", "n.firn", "a.firn", "--changes", "ch2.firn").code <= 1)
        #expect(try scratch.firn("patch", "n.firn", "ch2.firn").code == 0)
        let patched = try schema(scratch, "n.firn")
        for logical in ["uint64", "decimal(15,2)", "time(s)", "json", "duration(ms)", "fixed-list(2)"] {
            #expect(patched.contains(#""logical":"\#(logical)""#), "\(logical) in \(patched)")
        }
        #expect(try scratch.firn("tag", "a.firn", "before").code == 0)
        #expect(try scratch.firn("schema", "a.firn", "--set-meta", "app=other").code == 0)
        #expect(try schema(scratch, "a.firn") != wanted)
        try check("a.firn", "revert", "a.firn", "before")
        // Objects as columns, and back.
        #expect(try scratch.firn("convert", "--flatten", "a.firn", "flat.firn").code == 0)
        #expect(
            try schema(scratch, "flat.firn").contains(
                #"{"name":"box.note","type":"string?","logical":"enum(\"a\",\"b\")","metadata":{"n":"1"}}"#))
        #expect(try scratch.firn("convert", "--nest", "flat.firn", "nest.firn").code == 0)
        #expect(
            try schema(scratch, "nest.firn").contains(
                #"{"name":"note","type":"string?","logical":"enum(\"a\",\"b\")","metadata":{"n":"1"}}"#))
        #expect(try scratch.firn("convert", "--columns", "box.note,price", "a.firn", "some.firn").code == 0)
        let some = try schema(scratch, "some.firn")
        #expect(some.contains(#""logical":"enum(\"a\",\"b\")""#) && some.contains(#""logical":"decimal(15,2)""#) && some.contains("shop"))
    }

    @Test func `inputs whose logical types or metadata differ are united, and the differences are reported`() throws {
        let scratch = try setUp()
        #expect(try scratch.firn("schema", "a.firn", "--set-meta", "unit=USD", "--of", "Order.price").code == 0)
        try scratch.write("s2.json", LogicalTypeTests.schema.replacing("decimal(15,2)", with: "decimal(15,3)"))
        #expect(try scratch.firn("convert", "--schema", "s2.json", "a.ndjson", "b.firn").code == 0)
        let run = try scratch.firn("convert", "a.firn", "b.firn", "c.ndjson")
        #expect(run.errors.contains("column \"price\": "), "\(run.errors)")
        #expect(run.errors.contains("its logical type is not the same in all inputs, and is left out"))
        #expect(run.errors.contains("the metadata \"unit\" differs, and is that of the first input that has it"))
    }

    @Test func `metadata is set, shown and removed`() throws {
        let scratch = try setUp()
        #expect(try scratch.firn("schema", "a.firn", "--set-meta", "owner=Ann=B", "--set-meta", "app=").code == 0)
        #expect(try scratch.firn("schema", "a.firn", "--set-meta", "n=2", "--of", "Box.note").code == 0)
        #expect(try scratch.firn("schema", "a.firn", "--set-meta", "kind=orders", "--of", "Order").code == 0)
        let shown = try scratch.firn("schema", "a.firn").out
        #expect(shown.hasPrefix("metadata owner: Ann=B\n\nOrder\nmetadata origin: test\nmetadata kind: orders\n"), "\(shown)")
        #expect(shown.contains("decimal(15,2)") && shown.contains("unit=EUR, raw=2 B"))
        let info = try scratch.firn("info", "a.firn").out
        #expect(
            info.contains("\nmetadata owner: Ann=B\n") && info.contains("\nmetadata kind: orders\n")
                && info.contains("double decimal(15,2)"))
        let json = try scratch.firn("info", "--json", "a.firn").out
        #expect(json.contains(#""metadata":[{"key":"owner","value":"Ann=B"}]"#) && json.contains(#""logical":"time(s)""#), "\(json)")
        let gone = try scratch.firn("schema", "a.firn", "--set-meta", "none=")
        #expect(gone.code == 1 && gone.errors.contains("there is no metadata \"none\""))
        let versions = try scratch.firn("log", "a.firn").out
        for (words, message) in [
            (["--set-meta", "x"], "needs KEY=VALUE"), (["--set-meta", "=x"], "needs KEY=VALUE"),
            (["--of", "Order"], "--set-meta is not given"),
            (["--set-meta", "a=b", "--of", "Ordr"], "there is no type \"Ordr\""),
            (["--set-meta", "a=b", "--of", "Order.prise"], "did you mean \"price\"?"),
            (["--set-meta", "a=b", "--as", "sql"], "omit one of them"),
        ] {
            let run = try FirnRun(["schema", "a.firn"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(message), "\(words): \(run.errors)")
        }
        #expect(try scratch.firn("schema", "a.ndjson", "--set-meta", "a=b").code != 0)
        #expect(try scratch.firn("log", "a.firn").out == versions)
    }

    @Test func `values are written as what they are`() throws {
        let scratch = try setUp()
        #expect(try scratch.firn("convert", "--columns", "id,price,open,made,zoned,day,doc,wait", "a.firn", "a.csv").code == 0)
        #expect(
            try scratch.read("a.csv") == """
                id,price,open,made,zoned,day,doc,wait
                1,0.10,09:30:00,2024-01-02T03:04:05,2024-01-02T03:04:05Z,2024-01-02,"{""b"":1,""a"":[2,""x y""]}",5
                18446744073709551615,0.20,10:00:00,2024-01-02T03:04:05.5,2024-01-02T03:04:05.5Z,2024-01-03,\"""text\""",6
                7,1000000000.00,,2024-01-02T03:04:06,2024-01-02T03:04:06Z,2024-01-04,"[1,{""c"":1.5}]",7

                """)
        #expect(try scratch.firn("convert", "a.firn", "b.ndjson").code == 0)
        #expect(
            try scratch.read("b.ndjson") == LogicalTypeTests.rows.replacing("1.50", with: "1.5"))
        // The schema makes JSON values texts again.
        #expect(try scratch.firn("convert", "--schema", "s.json", "b.ndjson", "b.firn").code == 0)
        #expect(try scratch.firn("diff", "a.firn", "b.firn").code == 0)
        #expect(try scratch.firn("hash", "a.firn").out.prefix(32) == scratch.firn("hash", "b.firn").out.prefix(32))
        let query = try scratch.firn("query", "a.firn", "--select", "price,made,doc", "--format", "ndjson", "--limit", "1")
        #expect(query.out == #"{"price":0.10,"made":"2024-01-02T03:04:05","doc":{"b":1,"a":[2,"x y"]}}"# + "\n", "\(query.out)")
    }

    @Test func `texts in a column of JSON that are not JSON are written as strings, and counted`() throws {
        let scratch = try Scratch()
        try scratch.write("s.json", #"{"v":1,"type":"a","key":[],"columns":[{"name":"x","type":"string?","logical":"json"}]}"#)
        let texts = [
            "[1, 2]", "{\"a\" :\n null}", "true", "no", "01", "\"x", "[1,]", "{\"a\"}", "1 2", "\"\\uD800\"", "\"\\u00e9\"", "-0.5e3",
        ]
        let cells = texts.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"\n" }.joined()
        try scratch.write("a.csv", "x\n" + cells)
        #expect(try scratch.firn("convert", "--schema", "s.json", "a.csv", "a.firn").code == 0)
        let run = try scratch.firn("convert", "a.firn", "a.ndjson")
        #expect(run.errors.contains("7 texts in columns of JSON are not JSON"), "\(run.errors)")
        #expect(
            try scratch.read("a.ndjson").split(separator: "\n") == [
                #"{"x":[1,2]}"#, #"{"x":{"a":null}}"#, #"{"x":true}"#, #"{"x":"no"}"#, #"{"x":"01"}"#, #"{"x":"\"x"}"#, #"{"x":"[1,]"}"#,
                #"{"x":"{\"a\"}"}"#, #"{"x":"1 2"}"#, #"{"x":"\"\\uD800\""}"#, #"{"x":"\u00e9"}"#, #"{"x":-0.5e3}"#,
            ])
        #expect(try scratch.firn("convert", "a.firn", "b.csv").code == 0)
        #expect(try scratch.firn("diff", "--key", "x", "a.csv", "b.csv").code == 0)
    }

    @Test func `sums of decimals are exact, and keep the digits of their scale`() throws {
        let scratch = try setUp()
        let run = try scratch.firn("query", "a.firn", "--agg", "sum(price),min(price),max(price),avg(price),sum(id)", "--format", "csv")
        #expect(
            run.out.split(separator: "\n").last == "1000000000.30,0.10,1000000000.00,333333333.43333334,18446744073709551623", "\(run.out)")
        // A million cents are ten thousand, which sums of doubles miss.
        try scratch.write(
            "s2.json",
            #"{"v":1,"type":"a","key":[],"columns":[{"name":"g","type":"int"},{"name":"x","type":"double?","logical":"decimal(9,2)"}]}"#)
        let lines = (0..<30_000).map { "\($0 % 3),\($0 % 10 == 0 ? "" : $0 % 2 == 0 ? "0.10" : "-1234.57")\n" }.joined()
        try scratch.write("b.csv", "g,x\n" + lines)
        #expect(try scratch.firn("convert", "--schema", "s2.json", "b.csv", "b.firn").code == 0)
        #expect(try scratch.firn("query", "b.firn", "--agg", "sum(x)", "--format", "csv").out == "sum(x)\n-18517350.00\n")
        let groups = try scratch.firn("query", "b.firn", "--group-by", "g", "--agg", "sum(x)", "--sort", "g", "--format", "csv").out
        #expect(groups == "g,sum(x)\n0,-6172450.00\n1,-6172450.00\n2,-6172450.00\n", "\(groups)")
        let some = try scratch.firn("query", "b.firn", "x > 0", "--agg", "sum(x),count(x)", "--format", "csv").out
        #expect(some == "sum(x),count(x)\n1200.00,12000\n", "\(some)")
    }

    @Test func `times of day compare with shorter literals, and enums and large integers by their values`() throws {
        let scratch = try setUp()
        func ids(_ query: String) throws -> String {
            try scratch.firn("query", "a.firn", query, "--select", "id", "--sort", "id", "--format", "csv").out
                .split(separator: "\n").dropFirst().joined(separator: " ")
        }
        #expect(try ids("open == '10:00'") == "18446744073709551615")
        #expect(try ids("open > '10:00'") == "")
        #expect(try ids("open <= '10:00'").contains("18446744073709551615"))
        #expect(try ids("open IN {'9:30', '8:00'}") == "1")
        #expect(try ids("open BETWEEN {'9:30', '10:00'}") == "1 18446744073709551615")
        #expect(try ids("open BEGINSWITH '09:3'") == "1")
        #expect(try ids("id > 18446744073709551614") == "18446744073709551615")
        #expect(try ids("state == 'new'") == "1 7")
        #expect(try ids("made > 2024-01-02@3:4:5") == "7 18446744073709551615")
    }

    @Test func `diff reports another logical type once, and equal values as equal`() throws {
        let scratch = try setUp()
        try scratch.write("s2.json", LogicalTypeTests.schema.replacing("decimal(15,2)", with: "decimal(12,2)"))
        #expect(try scratch.firn("convert", "--schema", "s2.json", "a.ndjson", "b.firn").code == 0)
        let diff = try scratch.firn("diff", "a.firn", "b.firn")
        #expect(diff.out.contains("~ column price: double decimal(15,2) → double decimal(12,2)\n"), "\(diff.out)")
        #expect(diff.out.contains("0 changed, 3 unchanged"), "\(diff.out)")
        let json = try scratch.firn("diff", "--json", "a.firn", "b.firn").out
        #expect(
            json.contains(
                #""retyped":[{"name":"price","old":"double","new":"double","oldLogical":"decimal(15,2)","newLogical":"decimal(12,2)"}]"#))
        // A format without logical types differs in nothing.
        #expect(try scratch.firn("convert", "--columns", "id,price,state", "a.firn", "c.csv").code == 0)
        let chosen = try scratch.firn("diff", "--columns", "id,price,state", "--key", "id", "a.firn", "c.csv", "--format", "summary")
        #expect(chosen.code == 0 && chosen.out.contains("3 unchanged"), "\(chosen.out)")
    }

    @Test func `a logical type that does not exist or does not fit is refused with its name`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x\n1\n")
        for (column, message) in [
            (#"{"name":"x","type":"int","logical":"uint9"}"#, "an unknown logical type: \"uint9\""),
            (#"{"name":"x","type":"int","logical":"json"}"#, "column \"x\" is int, which cannot have the logical type \"json\""),
            (#"{"name":"x","type":"int","logical":1}"#, "the logical type of column \"x\" is not a text"),
            (#"{"name":"x","type":"int","metadata":{"a":1}}"#, "the metadata of column \"x\" is not an object of texts"),
        ] {
            try scratch.write("s.json", "{\"v\":1,\"type\":\"a\",\"key\":[],\"columns\":[\(column)]}")
            let run = try scratch.firn("convert", "--schema", "s.json", "a.csv", "a.firn")
            #expect(run.code != 0 && run.errors.contains(message), "\(column): \(run.errors)")
        }
    }
}
