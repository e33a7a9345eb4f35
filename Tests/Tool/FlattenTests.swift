import FirnKit
import Foundation
import Testing

/// Fields of objects as columns, columns as objects, and columns of JSON text.
@Suite struct FlattenTests {
    private static let rows =
        #"[{"id":{"code":"B1","n":1},"name":{"first":"A","o":{"z":true}},"tags":["p","q"],"terms":[{"t":"a"},{"t":"b"}],"k":1.5},"#
        + #"{"id":{"code":"B2","n":2},"name":{"first":"B"},"tags":[],"terms":[],"k":2,"a.b":"c"}]"#

    private func compact(_ text: String) -> String { text.replacing("\n", with: "") }

    @Test func `objects become columns of a CSV, which become the same objects again`() throws {
        let scratch = try Scratch()
        try scratch.write("a.json", FlattenTests.rows)
        let flat = try scratch.firn("convert", "--flatten", "a.json", "a.csv")
        #expect(flat.code == 0, "\(flat.errors)")
        #expect(try scratch.read("a.csv").hasPrefix("id.code,id.n,name.first,name.o.z,tags,terms,k,a\\.b\nB1,1,A,true,"))
        let nested = try scratch.firn("convert", "--nest", "a.csv", "b.json")
        #expect(nested.code == 0 && nested.errors.contains("column \"tags\" contains JSON"), "\(nested.errors)")
        #expect(try compact(scratch.read("b.json")) == FlattenTests.rows)
        #expect(try scratch.firn("convert", "--flatten", "a.json", "a.firn", "--key", "id.code").code == 0)
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
        let back = try scratch.firn("convert", "--nest", "a.firn", "c.json")
        #expect(back.code == 0 && back.errors.contains("the key consists of fields"), "\(back.errors)")
        #expect(try compact(scratch.read("c.json")) == FlattenTests.rows)
        #expect(try scratch.firn("diff", "a.json", "b.json", "--key", "id.code").code == 0)
    }

    @Test func `random nested rows survive flattening to CSV and nesting`() throws {
        let scratch = try Scratch(), seed = Seed.one(31)
        var dice = Random(seed)
        func object(_ depth: Int) -> String {
            var fields = ["\"n\":\(dice.below(1000))"]
            if dice.below(2) == 0 { fields.append("\"s\":\"text \(dice.below(9)), \\\"q\\\"\\n\"") }
            if dice.below(2) == 0 { fields.append("\"l\":[\((0..<dice.below(3)).map { "\"x\($0)\"" }.joined(separator: ","))]") }
            if depth < 3, dice.below(2) == 0 { fields.append("\"in.\(depth)\":\(object(depth + 1))") }
            return "{\(fields.joined(separator: ","))}"
        }
        let lines = (0..<200).map { "{\"id\":\($0),\"o\":\(object(0))}\n" }.joined()
        try scratch.write("a.ndjson", lines)
        #expect(try scratch.firn("convert", "--flatten", "a.ndjson", "a.csv").code == 0)
        #expect(try scratch.firn("convert", "--nest", "a.csv", "b.ndjson").code == 0)
        let diff = try scratch.firn("diff", "a.ndjson", "b.ndjson", "--key", "id")
        #expect(diff.code == 0, "seed \(seed): \(diff.out.prefix(2000)) \(diff.errors)")
    }

    @Test func `a field of objects is selected as a column, and can be the key`() throws {
        let scratch = try Scratch()
        try scratch.write("a.json", FlattenTests.rows)
        #expect(
            try scratch.firn("convert", "a.json", "-", "--to", "csv", "-c", "name.first,id.n,terms.t").out
                == "name.first,id.n,terms.t\nA,1,\"[\"\"a\"\",\"\"b\"\"]\"\nB,2,[]\n")
        #expect(try scratch.firn("convert", "a.json", "k.firn", "-c", "id.code,k", "--key", "id.code").code == 0)
        #expect(try scratch.firn("schema", "k.firn", "--json").out.contains(#""key":["id.code"]"#))
        #expect(
            try scratch.firn("convert", "a.json", "-", "--to", "csv", "-c", "k,name", "--flatten").out.hasPrefix("k,name.first,name.o.z\n"))
        let unknown = try scratch.firn("convert", "a.json", "x.csv", "-c", "name.second")
        #expect(unknown.code == 2 && unknown.errors.contains("has no column \"name.second\""), "\(unknown.errors)")
    }

    @Test func `a field of objects can be the key, and JSON output is the same`() throws {
        let scratch = try Scratch()
        try scratch.write("a.json", FlattenTests.rows)
        let key = try scratch.firn("convert", "a.json", "x.firn", "--key", "id.code")
        #expect(key.code == 0 && key.errors.contains("the key \"id.code\" is a column with the values of that field"), "\(key.errors)")
        #expect(try scratch.firn("schema", "x.firn", "--json").out.contains(#""key":["id.code"]"#))
        #expect(
            try scratch.firn("convert", "x.firn", "-", "--to", "json").out == scratch.firn("convert", "a.json", "-", "--to", "json").out)
        // The other file has the key as a field, in either order and without --key.
        #expect(try scratch.firn("diff", "x.firn", "a.json").code == 0)
        #expect(try scratch.firn("diff", "a.json", "x.firn", "--key", "id.code").code == 0)
        let twice = try scratch.firn("convert", "a.json", "a.json", "y.firn", "--key", "id.code")
        #expect(twice.code != 0 && twice.errors.contains("id.code"), "\(twice.errors)")
        let list = try scratch.firn("convert", "a.json", "y.firn", "--key", "terms.t")
        #expect(list.code == 2 && list.errors.contains("\"terms.t\" cannot be a key"), "\(list.errors)")
        let none = try scratch.firn("convert", "a.json", "y.firn", "--key", "id.nothing")
        #expect(none.code == 2 && none.errors.contains("id.nothing"), "\(none.errors)")
    }

    @Test func `cells of a column are read as JSON, or rejected with their row`() throws {
        let scratch = try Scratch()
        try scratch.write("j.csv", "id,j,t\n1,\"{\"\"a\"\":1,\"\"b\"\":[1,2]}\",x\n2,,y\n3,\"{\"\"a\"\":2}\",z\n")
        #expect(try scratch.firn("convert", "j.csv", "j.firn", "--json-column", "j").code == 0)
        #expect(try scratch.firn("query", "j.firn", "j.a > 1", "--select", "id", "--format", "csv").out == "id\n3\n")
        #expect(
            try scratch.firn("convert", "j.firn", "-", "--to", "ndjson").out
                == "{\"id\":1,\"j\":{\"a\":1,\"b\":[1,2]},\"t\":\"x\"}\n{\"id\":2,\"t\":\"y\"}\n{\"id\":3,\"j\":{\"a\":2},\"t\":\"z\"}\n")
        try scratch.write("bad.csv", "id,j\n1,\"[1]\"\n2,oops\n3,\"1,\"\"b\"\":2\"\n4,\"\"\n5,7\n")
        let plain = try scratch.firn("convert", "bad.csv", "bad.firn", "--json-column", "j")
        #expect(
            plain.code == 3 && plain.errors.contains("column \"j\" of row 2 is not JSON") && !scratch.has("bad.firn"), "\(plain.errors)")
        let run = try scratch.firn("convert", "bad.csv", "bad.firn", "--json-column", "j", "--rejects", "cells")
        #expect(run.code == 3 && run.errors.contains("column \"j\" of row 3 is not JSON"), "\(run.errors)")
        #expect(try scratch.firn("query", "bad.firn", "--format", "ndjson").out.contains("{\"id\":5,\"j\":7}\n"))
        #expect(try scratch.read("cells") == "2,oops\n3,\"1,\"\"b\"\":2\"\n4,\"\"\n")
        try scratch.write("d.csv", "id,meta,more,z\r\n1,{},{},a\r\n2,{bad,{bad,1.50\r\n3,{},x,\r\n4,7,8,\"c;\"\"\"\r\n")
        let both = try scratch.firn("convert", "d.csv", "-", "--to", "ndjson", "--json-column", "meta,more", "--rejects", "rows")
        #expect(both.code == 3 && both.errors.contains("2 rejected rows in rows"), "\(both.errors)")
        #expect(try scratch.read("rows") == "2,{bad,{bad,1.50\r\n3,{},x,\r\n")
        try scratch.write("e.csv", "id,j\n1,null\n2,\n3,{}\n")
        let empty = try scratch.firn("convert", "e.csv", "-", "--to", "ndjson", "--json-column", "j")
        #expect(empty.errors.contains("column \"j\": 1 cell with the JSON null and 1 without text"), "\(empty.errors)")
        let unknown = try scratch.firn("convert", "j.csv", "x.firn", "--json-column", "k")
        #expect(unknown.code == 2 && unknown.errors.contains("\"k\""), "\(unknown.errors)")
        let piped = try scratch.firn(
            "convert", "-", "-", "--from", "csv", "--to", "ndjson", "--json-column", "j", input: scratch.read("j.csv"))
        #expect(piped.out == (try scratch.firn("convert", "j.firn", "-", "--to", "ndjson").out), "\(piped.errors)")
    }

    @Test func `--json-column applies wherever rows are read, from several inputs and .firn files too`() throws {
        let scratch = try Scratch()
        try scratch.write("j.csv", "id,j\n1,\"{\"\"a\"\":1,\"\"b\"\":[1,2]}\"\n2,\n")
        try scratch.write("k.csv", "id,j\n3,\"{\"\"a\"\":2.5,\"\"c\"\":true}\"\n4,\"{\"\"b\"\":[\"\"x\"\"]}\"\n")
        #expect(try scratch.firn("convert", "j.csv", "t.firn").code == 0)
        #expect(try scratch.firn("convert", "j.csv", "j.firn", "--json-column", "j").code == 0)
        for file in ["j.csv", "t.firn"] {
            let query = try scratch.firn("query", file, "j.a = 1", "--select", "id,j.b", "--format", "ndjson", "--json-column", "j")
            #expect(query.out == "{\"id\":1,\"j.b\":[1,2]}\n", "\(file): \(query.out) \(query.errors)")
            let sql = try scratch.firn(
                "sql", file, "SELECT id FROM j WHERE json_extract(j, '$.a') = 1", "--json-column", "j", "--format", "csv")
            #expect(sql.out == "id\n1\n", "\(file): \(sql.out) \(sql.errors)")
            #expect(try scratch.firn("schema", file, "--json-column", "j").out.contains("(embedded)"), "\(file)")
            let diff = try scratch.firn("diff", file, "j.firn", "--key", "id", "--json-column", "j")
            #expect(diff.code == 0, "\(file): \(diff.out) \(diff.errors)")
            #expect(
                try scratch.firn("hash", file, "--json-column", "j").out.prefix(32) == scratch.firn("hash", "j.firn").out.prefix(32),
                "\(file)")
            let unknown = try scratch.firn("query", file, "--json-column", "x")
            #expect(unknown.code == 2 && unknown.errors.contains("\"x\""), "\(unknown.errors)")
        }
        for inputs in [["j.csv", "k.csv"], ["t.firn", "k.csv"]] {
            let united = try FirnRun(["convert"] + inputs + ["-", "--to", "ndjson", "--json-column", "j"], in: scratch.folder)
            #expect(
                united.out
                    == "{\"id\":1,\"j\":{\"a\":1,\"b\":[1,2]}}\n{\"id\":2}\n{\"id\":3,\"j\":{\"a\":2.5,\"c\":true}}\n{\"id\":4,\"j\":{\"b\":[\"x\"]}}\n",
                "\(united.out) \(united.errors)")
            let unknown = try FirnRun(["query"] + inputs + ["--json-column", "x"], in: scratch.folder)
            #expect(unknown.code == 2 && unknown.errors.contains("\"x\""), "\(unknown.errors)")
        }
    }

    @Test func `the schema of flat columns, or of nested ones, reads a flat CSV back with --nest`() throws {
        let scratch = try Scratch()
        try scratch.write("a.json", FlattenTests.rows)
        #expect(try scratch.firn("convert", "--flatten", "a.json", "a.csv").code == 0)
        #expect(try scratch.firn("convert", "--flatten", "a.json", "flat.firn").code == 0)
        try scratch.write("flat.json", scratch.firn("schema", "flat.firn", "--json").out)
        try scratch.write("nested.json", scratch.firn("schema", "a.json", "--json").out)
        let wanted = try scratch.firn("convert", "a.json", "-", "--to", "ndjson").out
        for schema in ["flat.json", "nested.json"] {
            let run = try scratch.firn("convert", "--nest", "--schema", schema, "a.csv", "-", "--to", "ndjson")
            #expect(run.code == 0 && run.out == wanted, "\(schema): \(run.out) \(run.errors)")
        }
        try scratch.write("bad.csv", scratch.read("a.csv").replacing("\"[\"\"p\"\",\"\"q\"\"]\"", with: "5"))
        let bad = try scratch.firn("convert", "--nest", "--schema", "flat.json", "bad.csv", "-", "--to", "ndjson")
        #expect(bad.code == 3 && bad.errors.contains("column \"tags\" of row 1"), "\(bad.errors)")
    }

    @Test func `what flattening cannot keep is reported, and contradictions are refused`() throws {
        let scratch = try Scratch()
        try scratch.write("e.json", #"[{"o":{}},{"o":{"x":null}},{"o":{"x":1}}]"#)
        let empty = try scratch.firn("convert", "--flatten", "e.json", "e.csv")
        #expect(empty.code == 0 && empty.errors.contains("2 objects without any value"), "\(empty.errors)")
        try scratch.write("c.csv", "a,a.b\n1,2\n")
        let conflict = try scratch.firn("convert", "--nest", "c.csv", "c.json")
        #expect(conflict.code == 2 && conflict.errors.contains("both a value and an object"), "\(conflict.errors)")
        #expect(try scratch.firn("convert", "--nest", "--flatten", "c.csv", "c.json").code == 2)
        #expect(try scratch.firn("convert", "--nest", "--lossless", "c.csv", "c.firn").code == 2)
        try scratch.write("n.json", #"[{"a":null},{},{"a":1}]"#)
        let lossless = try scratch.firn("convert", "n.json", "n.firn", "--lossless")
        #expect(lossless.code == 0 && lossless.errors.contains("keeps both"), "\(lossless.errors)")
        #expect(try compact(scratch.firn("convert", "n.firn", "-", "--to", "json").out) == #"[{"a":null},{},{"a":1}]"#)
    }

    @Test func `--nest refuses names with more than 128 parts, and reads those with fewer back`() throws {
        let scratch = try Scratch()
        for parts in [2, 9, 100, 128] {
            let name = Array(repeating: "a", count: parts).joined(separator: ".")
            try scratch.write("n.csv", "\(name),b\n1,2\n")
            let made = try scratch.firn("convert", "-f", "--nest", "n.csv", "n.firn")
            #expect(made.code == 0, "\(parts): \(made.errors)")
            #expect(try scratch.firn("verify", "--full", "n.firn").code == 0)
            let back = try scratch.firn("convert", "-f", "n.firn", "n.json")
            #expect(back.code == 0, "\(parts): \(back.errors)")
            let text = String(repeating: "{\"a\":", count: parts) + "1" + String(repeating: "}", count: parts - 1) + ",\"b\":2}"
            #expect(try compact(scratch.read("n.json")) == "[\(text)]", "\(parts)")
        }
        for parts in [129, 300, 3000] {
            let name = Array(repeating: "a", count: parts).joined(separator: ".")
            try scratch.write("n.csv", "\(name),b\n1,2\n")
            for target in ["x.firn", "x.json"] {
                let run = try scratch.firn("convert", "--nest", "n.csv", target)
                #expect(run.code == 2 && run.errors.contains("--nest: column \"a.a.a."), "\(parts): \(run.code) \(run.errors)")
                #expect(run.errors.contains("its name has \(parts) parts"), "\(run.errors)")
            }
            #expect(scratch.names.allSatisfy { !$0.hasPrefix("x") && !$0.contains(".tmp-") }, "\(scratch.names)")
        }
    }
}
