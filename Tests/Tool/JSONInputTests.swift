import FirnKit
import Foundation
import Testing

/// `--rejects` and `--schema` for JSON, on the command line.
@Suite struct JSONInputTests {
    private static let lines =
        "{\"id\":1,\"n\":\"a\"}\n{\"id\":\"x\",\"n\":\"b\"}\nnot json\n\n5\n{\"id\":3,\"n\":\"c\",\"l\":[1,2]}\n{\"id\":4"
    private static let schema = #"{"v":1,"type":"Thing","key":["id"],"columns":[{"name":"id","type":"int"},{"name":"n","type":"string?"}]}"#

    @Test func `lines that cannot be read are set aside and reported, and the other lines are converted`() throws {
        let scratch = try Scratch()
        try scratch.write("in.ndjson", JSONInputTests.lines)
        let plain = try scratch.firn("convert", "in.ndjson", "out.firn")
        #expect(
            plain.code == 3 && plain.errors.contains("in.ndjson:3:1: expected a value") && plain.errors.contains("--rejects")
                && !scratch.has("out.firn"), "\(plain.errors)")
        let run = try scratch.firn("convert", "in.ndjson", "out.firn", "--rejects", "bad")
        #expect(run.code == 3, "\(run.errors)")
        for words in [
            "in.ndjson:3:1: expected a value", "in.ndjson:5:1: expected an object, found 5", "in.ndjson:7:8: ", "3 rejected rows in bad",
            "out.firn: 3 rows, 3 rejected, ",
        ] {
            #expect(run.errors.contains(words), "\(words): \(run.errors)")
        }
        #expect(try scratch.read("bad") == "not json\n5\n{\"id\":4\n")
        #expect(
            try scratch.firn("query", "out.firn", "--format", "ndjson", "--select", "id").out == "{\"id\":1}\n{\"id\":\"x\"}\n{\"id\":3}\n")
        let quiet = try scratch.firn("convert", "in.ndjson", "q.firn", "--rejects", "bad", "-f", "-q")
        #expect(quiet.code == 3 && quiet.errors.isEmpty, "\(quiet.errors)")
        let told = try scratch.firn("convert", "in.ndjson", "j.firn", "--rejects", "bad", "-f", "--json")
        #expect(told.code == 3 && told.out.contains("\"rows\":3,\"rejected\":3,"), "\(told.out)")
        // The same through a pipe, and for input without errors.
        let piped = try scratch.firn("convert", "-", "p.firn", "--from", "ndjson", "--rejects", "pipe", input: JSONInputTests.lines)
        #expect(try piped.code == 3 && scratch.read("pipe") == scratch.read("bad"), "\(piped.errors)")
        try scratch.write("good.ndjson", "{\"a\":1}\n")
        #expect(try scratch.firn("convert", "good.ndjson", "good.firn", "--rejects", "none").code == 0)
        #expect(try scratch.read("none").isEmpty)
        #expect(try scratch.firn("convert", "good.ndjson", "l.firn", "--rejects", "none", "-f", "--lossless").code == 2)
    }

    @Test func `the reasons of all rejected lines are reported or counted`() throws {
        let scratch = try Scratch()
        try scratch.write("in.ndjson", "{\"a\":1}\n" + String(repeating: "{\n", count: 50))
        let run = try scratch.firn("convert", "in.ndjson", "out.firn", "--rejects", "bad")
        #expect(
            run.errors.contains("in.ndjson:21:") && !run.errors.contains("in.ndjson:22:") && run.errors.contains("… and 30 rows more")
                && run.errors.contains("50 rejected rows"), "\(run.errors)")
    }

    @Test func `query and diff also set invalid lines aside and accept a schema`() throws {
        let scratch = try Scratch()
        try scratch.write("a.ndjson", "{\"id\":1,\"x\":1}\n{\"id\":\n{\"id\":2,\"x\":\"1\"}\n")
        try scratch.write("b.json", "[{\"id\":1,\"x\":2}]")
        try scratch.write("s.json", #"{"key":["id"],"columns":[{"name":"id","type":"int"},{"name":"x","type":"double"}]}"#)
        let query = try scratch.firn("query", "a.ndjson", "x > 0", "--schema", "s.json", "--rejects", "bad", "--format", "ndjson")
        #expect(
            query.code == 3 && query.out == "{\"id\":1,\"x\":1}\n" && query.errors.contains("2 rejected rows in bad"),
            "\(query.out) \(query.errors)")
        let diff = try scratch.firn("diff", "a.ndjson", "b.json", "--schema", "s.json", "--rejects", "bad2")
        #expect(diff.code == 3 && diff.out.contains("id=1") && diff.out.contains("x: 1 → 2"), "\(diff.out) \(diff.errors)")
        #expect(try scratch.read("bad2") == scratch.read("bad"))
        #expect(
            try scratch.firn("schema", "b.json", "--schema", "s.json", "--json").out
                == #"{"v":1,"type":"b","key":["id"],"columns":[{"name":"id","type":"int"},{"name":"x","type":"double"}]}"# + "\n")
        #expect(try scratch.firn("convert", "b.json", "b.firn").code == 0)
        for command in [["query", "b.firn"], ["diff", "b.firn", "b.firn"], ["schema", "b.firn"], ["convert", "b.firn", "c.firn"]] {
            for flag in [["--schema", "s.json"], ["--rejects", "r"]] {
                let run = try FirnRun(command + flag, in: scratch.folder)
                #expect(run.code == 2 && run.errors.contains(flag[0]), "\(command + flag): \(run.code) \(run.errors)")
            }
        }
    }

    @Test func `a file made with a printed schema has the same schema`() throws {
        let scratch = try Scratch()
        let schema = """
            {"v":1,"type":"Thing","key":["id","day"],"columns":[{"name":"id","type":"int"},{"name":"day","type":"date","notation":"date"},{"name":"tags","type":"set<string>"},\
            {"name":"spots","type":"list<Thing_spot?>"},{"name":"by","type":"map<string, Thing_spot>"},{"name":"ok?","type":"ok??"},{"name":"raw","type":"data?"},\
            {"name":"price","type":"double","notation":"fixed(2)"},{"name":"up","type":"link<Thing>?"},{"name":"o","type":"objectId?"},{"name":"f","type":"float?","notation":"twoDigitExponentPointZero"},\
            {"name":"d","type":"decimal128?"},{"name":"u","type":"uuid?","notation":"uuidUpper"},{"name":"x","type":"any?"},{"name":"ns","type":"list<int?>?"}]}
            {"v":1,"type":"Thing_spot","embedded":true,"key":[],"columns":[{"name":"x","type":"double?"},{"name":"in","type":"list<ok?>?"}]}
            {"v":1,"type":"ok?","embedded":true,"key":[],"columns":[{"name":"y","type":"bool"}]}

            """
        let lines = """
            {"id":1,"day":"2020-01-01","tags":["a","b"],"spots":[{"x":1.5},null,{"in":[{"y":true}]}],"by":{"k":{"x":2}},"ok?":{"y":false},"raw":"AAE=","price":1.50,\
            "up":1,"o":"0123456789abcdef01234567","f":0.1,"d":12345678901234567890.5,"u":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8","x":[1,{"z":null}],"ns":[1,null]}
            {"id":2,"day":"2020-01-01","tags":[],"spots":[],"by":{},"price":2.00,"up":0}

            """
        try scratch.write("s.json", schema)
        try scratch.write("t.ndjson", lines)
        let first = try scratch.firn("convert", "t.ndjson", "t.firn", "--schema", "s.json")
        #expect(first.code == 0, "\(first.errors)")
        #expect(try scratch.firn("schema", "t.firn", "--json").out == schema)
        #expect(try scratch.firn("verify", "--full", "t.firn").code == 0)
        #expect(try scratch.firn("convert", "t.firn", "-", "--to", "ndjson").out == lines)
        // The full round trip: the printed schema, and the rows as a document.
        #expect(try scratch.firn("convert", "t.firn", "again.json").code == 0)
        try scratch.write("printed.json", try scratch.firn("schema", "t.firn", "--json").out)
        let again = try scratch.firn("convert", "again.json", "again.firn", "--schema", "printed.json")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try scratch.firn("schema", "again.firn").out == scratch.firn("schema", "t.firn").out)
        #expect(try scratch.firn("diff", "t.firn", "again.firn").code == 0)
    }

    @Test func `real tables survive a round trip with their own schema`() throws {
        guard let shared = SharedData.file("json")?.deletingLastPathComponent() else { return }
        for (path, format) in [
            ("json/tate-artists.ndjson", "ndjson"), ("json/scoop-bucket-200.ndjson", "ndjson"), ("json/en.1.json", "json"),
            ("json/de.1.json", "json"),
        ] {
            let scratch = try Scratch(), file = shared.appending(path: path).path
            #expect(try scratch.firn("convert", file, "a.firn").code == 0)
            let printed = try scratch.firn("schema", "a.firn", "--json").out
            try scratch.write("s.json", printed)
            let run = try scratch.firn("convert", file, "b.firn", "--schema", "s.json")
            #expect(run.code == 0, "\(path): \(run.errors)")
            #expect(try scratch.firn("schema", "b.firn", "--json").out == printed, "\(path)")
            #expect(
                try scratch.firn("convert", "b.firn", "-", "--to", format).out
                    == scratch.firn("convert", "a.firn", "-", "--to", format).out, "\(path)")
        }
    }

    @Test func `links in CSV and JSON lead to rows of the input, or are refused`() throws {
        let scratch = try Scratch()
        try scratch.write("s.json", #"{"type":"T","columns":[{"name":"id","type":"int"},{"name":"up","type":"link<T>?"}]}"#)
        for (name, text) in [("good.csv", "id,up\n1,1\n2,\n"), ("good.ndjson", "{\"id\":1,\"up\":1}\n{\"id\":2}\n")] {
            let run = try scratch.firn("convert", name, "good.firn", "-f", "--schema", "s.json", input: try scratch.write(name, text))
            #expect(run.code == 0, "\(name): \(run.errors)")
            #expect(try scratch.firn("verify", "--full", "good.firn").code == 0)
            #expect(try scratch.firn("schema", "good.firn", "--json").out.contains("link<T>?"))
            // With another type name, links still lead to rows of that type.
            #expect(try scratch.firn("convert", name, "named.firn", "-f", "--schema", "s.json", "--type", "U").code == 0)
            #expect(try scratch.firn("schema", "named.firn", "--json").out.contains("link<U>?"))
            #expect(try scratch.firn("convert", "good.firn", "renamed.firn", "-f", "--type", "U").code == 0)
            #expect(try scratch.firn("schema", "renamed.firn", "--json").out.contains("link<U>?"))
            #expect(try scratch.firn("convert", name, "x.firn", "--schema", "s.json", "--rejects", "r").code == 2)
        }
        for (name, text, place) in [
            ("bad.csv", "id,up\n1,1\n2,2\n", "bad.csv:3:3"),
            ("bad.ndjson", "{\"id\":1,\"up\":1}\n{\"id\":2,\"up\":2}\n", "bad.ndjson:2:14"),
        ] {
            try scratch.write(name, text)
            let run = try scratch.firn("convert", name, "bad.firn", "--schema", "s.json")
            #expect(run.code == 3 && run.errors.contains(place) && !scratch.has("bad.firn"), "\(run.code) \(run.errors)")
        }
        let over = try scratch.firn("convert", "good.csv", "x.firn", "--schema", "s.json", "--rejects", "s.json", "-f")
        #expect(over.code == 2 && over.errors.contains("--rejects names \"s.json\""), "\(over.errors)")
    }

    @Test func `types that are only the target of links are created without rows`() throws {
        let scratch = try Scratch()
        let schema =
            #"{"v":1,"type":"A","key":[],"columns":[{"name":"id","type":"int"},{"name":"to","type":"link<B>?"}]}"# + "\n"
            + #"{"v":1,"type":"B","key":[],"columns":[{"name":"x","type":"int"}]}"# + "\n"
        try scratch.write("s.json", schema)
        try scratch.write("a.ndjson", "{\"id\":1}\n{\"id\":2,\"to\":null}\n")
        let run = try scratch.firn("convert", "a.ndjson", "a.firn", "--schema", "s.json", "--type", "A", "--key", "id")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            try scratch.firn("schema", "a.firn", "--json").out
                == schema.replacingOccurrences(of: "\"A\",\"key\":[]", with: "\"A\",\"key\":[\"id\"]"))
        #expect(try scratch.firn("query", "a.firn", "--type", "B").code == 1)
        try scratch.write("a.ndjson", "{\"id\":1,\"to\":0}\n")
        let led = try scratch.firn("convert", "a.ndjson", "b.firn", "--schema", "s.json", "--type", "A")
        #expect(
            led.code == 3 && led.errors.contains("a.ndjson:1:14: a link to a row of \"B\", and the input contains none"), "\(led.errors)")
    }

    @Test func `options override the schema, and the schema overrides the file name`() throws {
        let scratch = try Scratch()
        try scratch.write("in.ndjson", "{\"id\":1,\"n\":\"a\"}\n")
        try scratch.write("in.csv", "id,n\n1,a\n")
        try scratch.write("s.json", JSONInputTests.schema)
        try scratch.write(
            "two.json",
            JSONInputTests.schema + "\n" + #"{"type":"in","columns":[{"name":"n","type":"string"},{"name":"p","type":"Part?"}]}"# + "\n"
                + #"{"type":"Part","embedded":true,"columns":[]}"#)
        func head(_ words: String...) throws -> String {
            let run = try FirnRun(["convert"] + words + ["out.firn", "-f"], in: scratch.folder)
            guard run.code == 0 else { return "\(run.code) \(run.errors)" }
            return try scratch.firn("schema", "out.firn", "--json").out.prefix { $0 != "[" }.description
                + (try scratch.firn("schema", "out.firn", "--json").out.drop { $0 != "[" }.prefix { $0 != "]" }) + "]"
        }
        for file in ["in.ndjson", "in.csv"] {
            #expect(try head(file, "--schema", "s.json") == #"{"v":1,"type":"Thing","key":["id"]"#)
            #expect(try head(file, "--schema", "s.json", "--type", "Other") == #"{"v":1,"type":"Other","key":["id"]"#)
            #expect(try head(file, "--schema", "s.json", "--type", "Other", "--key", "n") == #"{"v":1,"type":"Other","key":["n"]"#)
            #expect(try head(file, "--schema", "two.json", "--type", "Thing") == #"{"v":1,"type":"Thing","key":["id"]"#)
        }
        #expect(try head("in.ndjson", "--schema", "two.json") == #"{"v":1,"type":"in","key":[]"#)
        #expect(try head("in.ndjson", "--schema", "two.json", "--type", "Part").hasPrefix("2 "))
        #expect(try head("in.ndjson", "--schema", "two.json", "--type", "Thin").contains("did you mean \"Thing\"?"))
        try scratch.write("elsewhere.ndjson", "{\"id\":1}\n")
        #expect(try head("elsewhere.ndjson", "--schema", "two.json").contains("the file has several types: Thing, in"))
    }

    @Test func `a schema that contradicts itself is refused before any row is read`() throws {
        let scratch = try Scratch()
        try scratch.write("in.ndjson", "{\"id\":1}\n")
        let cases: [(String, String)] = [
            ("", "s.json:1:1"), ("nonsense", "s.json:1:1"), ("{\"columns\": [}", "s.json:1:14"), ("[]", "no array \"columns\""),
            ("{\"v\":2,\"columns\":[]}", "version"),
            (#"{"columns":[{"name":"id","type":"Nothing"}]}"#, "an unknown type: \"Nothing\""),
            (#"{"columns":[{"name":"id"}]}"#, "has no type"),
            (#"{"columns":[{"type":"int"}]}"#, "no \"name\""),
            (#"{"columns":[{"name":"id","type":"list<list<int>>"}]}"#, "an unknown type"),
            (#"{"type":"T","columns":[{"name":"id","type":"link<U>"}]}"#, "a type that does not exist"),
            (#"{"columns":[{"name":"id","type":"int"},{"name":"id","type":"int"}]}"#, "two columns"),
            (#"{"columns":[{"name":"id","type":"int","notation":"date"}]}"#, "has no notation \"date\""),
            (#"{"columns":[{"name":"id","type":"int","notation":7}]}"#, "the notation of column \"id\" is not a text"),
            (#"{"columns":[{"name":"id","type":"int"}],"key":["di"]}"#, "\"di\" that is not listed"),
            (#"{"columns":[{"name":"id","type":"int"}],"key":["id","id"]}"#, "twice"),
            (#"{"columns":[{"name":"id","type":"int"}],"key":"id"}"#, "is not an array of names"),
            (#"{"columns":[{"name":"id","type":"list<int>"}],"key":["id"]}"#, "which cannot be a key"),
            (#"{"type":"T","columns":[]}"# + "\n" + #"{"type":"T","columns":[]}"#, "two types"),
            (#"{"type":"T","embedded":true,"columns":[]}"#, "all types are embedded"),
            (#"{"type":"T","columns":[]}"# + "\n" + #"{"columns":[]}"#, "one of them has no name"),
            (
                #"{"type":"T","columns":[]}"# + "\n" + #"{"type":"E","embedded":true,"key":["a"],"columns":[{"name":"a","type":"int"}]}"#,
                "has a key"
            ),
            (
                #"{"type":"T","columns":[{"name":"id","type":"date"}]}"# + "\n" + #"{"type":"date","embedded":true,"columns":[]}"#,
                "has the name \"date\""
            ),
            (
                #"{"type":"T","columns":[{"name":"id","type":"link<E>"}]}"# + "\n" + #"{"type":"E","embedded":true,"columns":[]}"#,
                "which is embedded"
            ),
        ]
        for (text, words) in cases {
            try scratch.write("s.json", text)
            let run = try scratch.firn("convert", "in.ndjson", "out.firn", "--schema", "s.json")
            #expect(
                run.code == 3 && run.errors.contains(words) && run.errors.contains("firn schema --json") && !scratch.has("out.firn"),
                "\(text): \(run.code) \(run.errors)")
        }
        let missing = try scratch.firn("convert", "in.ndjson", "out.firn", "--schema", "missing.json")
        #expect(missing.code == 5 && missing.errors.contains("missing.json"), "\(missing.code) \(missing.errors)")
        // A schema without a type name uses the name of the file.
        try scratch.write("s.json", #"{"columns":[{"name":"id","type":"double"}]}"#)
        #expect(try scratch.firn("convert", "in.ndjson", "out.firn", "--schema", "s.json").code == 0)
        #expect(
            try scratch.firn("schema", "out.firn", "--json").out
                == #"{"v":1,"type":"in","key":[],"columns":[{"name":"id","type":"double"}]}"# + "\n")
    }
}
