import FirnKit
import Foundation
import Testing

/// Documents of JSON on the command line: layouts, rows within documents, maps.
@Suite struct JSONDocumentTests {
    private static func lock(_ versions: [String: String]) -> String {
        let packages = versions.sorted { $0.key < $1.key }.map { name, version in
            "    \"node_modules/\(name)\": {\"version\": \"\(version)\", \"resolved\": \"https://r/\(name)\", \"dependencies\": {\"d-\(name)\": \"^1\"}}"
        }
        return "{\n  \"name\": \"app\",\n  \"lockfileVersion\": 3,\n  \"packages\": {\n\(packages.joined(separator: ",\n"))\n  }\n}\n"
    }

    private static let old = Dictionary(uniqueKeysWithValues: (0..<20).map { ("p\($0)", "1.0.\($0)") })

    @Test func `two package-locks are compared package by package, as documents and as rows`() throws {
        let scratch = try Scratch()
        var new = JSONDocumentTests.old
        new["p3"] = "2.0.0"
        new["p4"] = nil
        new["added"] = "0.1.0"
        try scratch.write("old.json", JSONDocumentTests.lock(JSONDocumentTests.old))
        try scratch.write("new.json", JSONDocumentTests.lock(new))
        let rows = try scratch.firn("diff", "old.json", "new.json", "--rows", "/packages")
        #expect(rows.code == 1 && rows.out.contains("1 added, 1 removed, 1 changed, 18 unchanged"), "\(rows.out) \(rows.errors)")
        #expect(rows.out.contains("~ key=node_modules/p3") && rows.out.contains("version: 1.0.3 → 2.0.0"), "\(rows.out)")
        let whole = try scratch.firn("diff", "old.json", "new.json")
        #expect(whole.code == 1 && whole.out.contains("node_modules/p3.version: 1.0.3 → 2.0.0"), "\(whole.out) \(whole.errors)")
        #expect(whole.errors.contains("matched by \"name\""), "\(whole.errors)")
        #expect(try scratch.firn("diff", "old.json", "old.json").code == 0)
    }

    @Test func `a map is queried by key, and its values by field`() throws {
        let scratch = try Scratch()
        try scratch.write("lock.json", JSONDocumentTests.lock(JSONDocumentTests.old))
        let convert = try scratch.firn("convert", "lock.json", "lock.firn")
        #expect(convert.code == 0 && convert.errors.contains("became maps: \"packages\""), "\(convert.errors)")
        for file in ["lock.json", "lock.firn"] {
            let run = try scratch.firn("query", file, "--select", "packages['node_modules/p7'].version", "--format", "csv")
            #expect(run.code == 0 && run.out.hasSuffix("1.0.7\n"), "\(file): \(run.out) \(run.errors)")
            #expect(try scratch.firn("query", file, "packages['node_modules/p7'].version == '9'").code == 1)
        }
        #expect(try scratch.firn("convert", "lock.firn", "back.json").code == 0)
        #expect(try scratch.firn("diff", "lock.json", "back.json").code == 0)
        let kept = try scratch.firn("schema", "lock.json", "--object", "packages")
        #expect(kept.out.contains("node_modules/p7") && !kept.out.contains("map<string, lock_packages>"), "\(kept.out)")
        let map = try scratch.firn("schema", "lock.json", "--map", "packages.*", "--object", "packages")
        #expect(map.code == 0, "\(map.errors)")
    }

    @Test func `the document around the rows is asked for as a type`() throws {
        let scratch = try Scratch()
        try scratch.write("d.json", #"{"meta":{"count":2,"next":null},"data":{"items":[{"id":1},{"id":2}]},"about":"x"}"#)
        let convert = try scratch.firn("convert", "d.json", "d.firn")
        #expect(convert.code == 0 && convert.errors.contains("the rows are the array at \"/data/items\""), "\(convert.errors)")
        for file in ["d.json:document", "d.firn:document"] {
            let run = try scratch.firn("query", file, "--select", "meta.count,about", "--format", "csv")
            #expect(run.code == 0 && run.out == "meta.count,about\n2,x\n", "\(file): \(run.out) \(run.errors)")
        }
        #expect(try scratch.firn("convert", "d.firn", "-", "--to", "csv").out == "id\n1\n2\n")
        #expect(try scratch.firn("query", "d.firn:other").code == 2)
        try scratch.write("plain.ndjson", "{\"a\":1}\n")
        #expect(try scratch.firn("convert", "plain.ndjson", "plain.firn").code == 0)
        #expect(try scratch.firn("query", "plain.firn:document").code == 2)
        let wrong = try scratch.firn("query", "d.json", "--rows", "/data/item")
        #expect(
            wrong.code == 2 && wrong.errors.contains("nothing at \"/data/item\"") && wrong.errors.contains("\"items\""), "\(wrong.errors)")
        #expect(try scratch.firn("query", "d.firn", "--rows", "/data/items").code == 2)
    }

    @Test func `the content decides the layout, with a remark if the name stands for another one`() throws {
        let scratch = try Scratch()
        for (name, text, rows, words) in [
            ("lines.json", "{\"a\":1}\n{\"a\":2}\n", 2, "NDJSON"), ("doc.ndjson", "[\n  {\"a\": 1}\n]\n", 1, "one JSON document"),
            ("jq.json", "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", 2, "sequence"), ("plain.json", "[{\"a\":1}]", 1, ""),
            ("plain.ndjson", "{\"a\":1}\n", 1, ""),
        ] {
            try scratch.write(name, text)
            let run = try scratch.firn("convert", name, "out.firn", "-f", "--lossless")
            #expect(
                run.code == 0 && run.errors.contains("out.firn: \(rows) row") && (words.isEmpty || run.errors.contains(words)),
                "\(name): \(run.errors)")
            #expect(words.isEmpty == !run.errors.hasPrefix("firn: "), "\(name): \(run.errors)")
        }
        // Commands that print no other remarks of readers print this one, unless they are quiet.
        try scratch.write("deep.json", "{\"x\":1,\"data\":{\"items\":[{\"id\":1},{\"id\":2}]}}")
        try scratch.write("named.csv", "{\"a\":1}\n{\"a\":2}\n")
        for (name, key, words) in [("lines.json", "a", "NDJSON"), ("deep.json", "id", "/data/items"), ("named.csv", "a", "JSON")] {
            for command in [["query", name], ["sql", name, "SELECT 1"], ["hash", name], ["diff", name, name, "--key", key]] {
                let run = try FirnRun(command, in: scratch.folder), quiet = try FirnRun(command + ["-q"], in: scratch.folder)
                #expect(run.code == 0 && run.errors.contains(words), "\(command): \(run.errors)")
                #expect(quiet.code == 0 && quiet.errors.isEmpty, "\(command): \(quiet.errors)")
            }
        }
        #expect(try scratch.firn("convert", "jq.json", "jq.firn").code == 0)
        #expect(try scratch.firn("convert", "jq.firn", "-", "--to", "json").out == scratch.read("jq.json"))
    }

    @Test func `a file with nested lists and its printed schema survive a round trip`() throws {
        let scratch = try Scratch()
        let text = #"{"type":"FeatureCollection","features":[{"id":1,"c":[[[1.5,2.5],[3.5,4.5]],[]]},{"id":2,"c":[]}]}"#
        try scratch.write("g.geojson", text)
        #expect(try scratch.firn("convert", "g.geojson", "g.firn").code == 0)
        #expect(try scratch.firn("verify", "--full", "g.firn").code == 0)
        let schema = try scratch.firn("schema", "g.firn", "--json").out
        #expect(schema.contains("\"bare\":true"), "\(schema)")
        try scratch.write("s.json", schema)
        #expect(try scratch.firn("convert", "g.geojson", "h.firn", "--schema", "s.json").code == 0)
        #expect(try scratch.firn("schema", "h.firn", "--json").out == schema)
        for file in ["g.firn", "h.firn"] {
            #expect(
                try scratch.firn("convert", file, "-", "--to", "json").out.replacing("\n", with: "") == text, "\(file)")
            #expect(
                try scratch.firn("query", file, "id == 1", "--select", "c", "--format", "csv").out == "c\n\"[[[1.5,2.5],[3.5,4.5]],[]]\"\n")
            #expect(try scratch.firn("query", file, "id == 1", "--select", "c").out.contains("[[[1.5, 2.5], [3.5, 4.5]], []]"))
        }
        try scratch.write(
            "bad.json", schema.replacing("{\"name\":\"value\",", with: "{\"name\":\"x\",\"type\":\"int\"},{\"name\":\"value\","))
        #expect(try scratch.firn("convert", "g.geojson", "x.firn", "--schema", "bad.json").errors.contains("is bare"))
    }

    @Test func `a patch that adds nested lists writes them as lists`() throws {
        let scratch = try Scratch()
        try scratch.write("old.ndjson", "{\"id\":1}\n")
        let new = "{\"id\":1,\"c\":[[1,2],[4]]}\n{\"id\":2,\"c\":[[5]]}\n"
        try scratch.write("new.ndjson", new)
        for name in ["old", "new"] { #expect(try scratch.firn("convert", "\(name).ndjson", "\(name).firn", "--key", "id").code == 0) }
        #expect(try scratch.firn("diff", "old.firn", "new.firn", "--changes", "c.firn").code == 1)
        let patch = try scratch.firn("patch", "old.firn", "c.firn")
        #expect(patch.code == 0, "\(patch.errors)")
        #expect(try scratch.firn("convert", "old.firn", "-", "--to", "ndjson").out == new)
    }

    @Test func `null differs from missing in objects within objects, lists and maps`() throws {
        let scratch = try Scratch()
        let texts = [
            #"{"v":{"x":1}}\#n{"v":{"x":null}}\#n{"v":{}}\#n"#, #"{"v":{"x":null}}\#n{"v":{}}\#n"#,
            #"{"v":{"x":"a"}}\#n{"v":{"x":2}}\#n{"v":{"x":null}}\#n{"v":{}}\#n"#, #"{"v":[{"x":null},{}]}\#n"#,
            #"{"v":{"w":{"x":true}}}\#n{"v":{"w":{"x":null}}}\#n{"v":{"w":{}}}\#n"#,
            #"{"v":[{"w":[{"x":1},{"x":null}]},{"w":[{}]}]}\#n"#,
        ]
        // Few rows are read singly, many as vectors.
        for text in texts + texts.map({ String(repeating: $0, count: 700) }) {
            try scratch.write("v.ndjson", text)
            #expect(try scratch.firn("convert", "-f", "--lossless", "v.ndjson", "v.firn").code == 0)
            #expect(try scratch.firn("convert", "v.firn", "-", "--to", "ndjson").out == text)
        }
        // Without the flag the same holds if the column is of type any, or has no value.
        for text in texts[1...3] {
            try scratch.write("v.ndjson", text)
            #expect(try scratch.firn("convert", "-f", "v.ndjson", "v.firn").code == 0)
            #expect(try scratch.firn("convert", "v.firn", "-", "--to", "ndjson").out == text)
        }
        try scratch.write("v.ndjson", texts[0])
        let counted = try scratch.firn("convert", "-f", "v.ndjson", "v.firn")
        #expect(counted.errors.contains("column \"v.x\": 1 value was null and 1 missing; both are now missing"), "\(counted.errors)")
    }

    @Test func `a member that only one side of a diff has is a changed value`() throws {
        let scratch = try Scratch()
        try scratch.write("o.ndjson", "{\"id\":1,\"a\":\"x\",\"o\":{\"p\":1}}\n{\"id\":2}\n{\"id\":3,\"l\":[1]}\n")
        try scratch.write("n.ndjson", "{\"id\":1,\"b\":5}\n{\"id\":2}\n{\"id\":3,\"l\":[1]}\n")
        let run = try scratch.firn("diff", "o.ndjson", "n.ndjson", "--key", "id")
        #expect(run.code == 1 && run.out.contains("1 changed, 2 unchanged"), "\(run.out) \(run.errors)")
        for line in ["a: x → null", "b: null → 5", "o: {\"p\":1} → null"] { #expect(run.out.contains(line), "\(line): \(run.out)") }
        let back = try scratch.firn("diff", "n.ndjson", "o.ndjson", "--key", "id", "--format", "ndjson")
        #expect(back.code == 1 && back.out.contains("\"changed\":1,\"unchanged\":2"), "\(back.out)")
        let ignored = try scratch.firn("diff", "o.ndjson", "n.ndjson", "--key", "id", "--ignore", "a,b,o")
        #expect(ignored.code == 0 && ignored.out.isEmpty, "\(ignored.out)")
        let key = try scratch.firn("diff", "o.ndjson", "n.ndjson", "--key", "a")
        #expect(key.code == 2 && key.errors.contains("\"a\" does not exist"), "\(key.errors)")
        // A column of a CSV is part of its schema.
        for (name, text) in [("o.csv", "id,a\n1,x\n"), ("n.csv", "id,b\n1,y\n")] { try scratch.write(name, text) }
        #expect(try scratch.firn("diff", "o.csv", "n.csv", "--key", "id").out.contains("1 unchanged"))
    }

    @Test func `a changes file of documents with other members leads from the old to the new rows`() throws {
        let scratch = try Scratch()
        try scratch.write("o.ndjson", "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\"}\n")
        try scratch.write("n.ndjson", "{\"id\":1,\"b\":5}\n{\"id\":2}\n")
        #expect(try scratch.firn("convert", "o.ndjson", "o.firn", "--key", "id").code == 0)
        let run = try scratch.firn("diff", "o.ndjson", "n.ndjson", "--key", "id", "--changes", "c.firn")
        #expect(run.code == 1 && run.out.contains("2 changed"), "\(run.out) \(run.errors)")
        let patch = try scratch.firn("patch", "o.firn", "c.firn")
        #expect(patch.code == 0, "\(patch.errors)")
        #expect(try scratch.firn("convert", "o.firn", "-", "--to", "ndjson").out == "{\"id\":1,\"b\":5}\n{\"id\":2}\n")
    }

    @Test func `two documents of one row are compared without a value in common`() throws {
        let scratch = try Scratch()
        try scratch.write("o.json", #"{"version":"1.0.0","x":[1,2]}"#)
        try scratch.write("n.json", #"{"version":"1.0.1","x":[1,3]}"#)
        for run in [try scratch.firn("diff", "o.json", "n.json"), try scratch.firn("diff", "o.json", "n.json", "--rows", "")] {
            #expect(run.code == 1 && run.out.contains("version: 1.0.0 → 1.0.1"), "\(run.out) \(run.errors)")
            #expect(run.errors.contains("they are compared with each other"), "\(run.errors)")
        }
        #expect(try scratch.firn("diff", "o.json", "n.json", "--changes", "c.firn").code == 2)
        try scratch.write("row.json", #"{"row":7,"x":[]}"#)
        #expect(try scratch.firn("diff", "o.json", "row.json").out.contains("row_2=1"))
    }

    @Test func `an object whose members are objects of different kinds is one row`() throws {
        let scratch = try Scratch()
        try scratch.write("o.json", #"{"dependencies":{"a":"1","b":"2"},"devDependencies":{"c":"1","d":"2"}}"#)
        try scratch.write("n.json", #"{"dependencies":{"a":"1","b":"3"},"devDependencies":{"c":"1","e":"2"}}"#)
        let run = try scratch.firn("diff", "o.json", "n.json")
        #expect(run.code == 1 && run.out.contains("1 changed, 0 unchanged"), "\(run.out) \(run.errors)")
        for line in ["dependencies.b: 2 → 3", "devDependencies.d: 2", "devDependencies.e: 2"] {
            #expect(run.out.contains(line), "\(line): \(run.out)")
        }
        let keyed = try scratch.firn("convert", "o.json", "-", "--to", "csv", "--rows", "/dependencies")
        #expect(keyed.code == 0, "\(keyed.errors)")
        try scratch.write("keyed.json", #"{"p":{"a":1,"b":2},"q":{"a":3}}"#)
        #expect(try scratch.firn("convert", "keyed.json", "-", "--to", "csv").out == "key,a,b\np,1,2\nq,3,\n")
        #expect(try scratch.firn("convert", "o.json", "-", "--to", "json").out == scratch.read("o.json") + "\n")
    }
}
