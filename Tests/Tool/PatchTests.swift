import FirnKit
import Foundation
import Testing

@Suite struct PatchTests {
    @Test func `a field with an empty name is patched by its name`() throws {
        let scratch = try Scratch()
        let rows =
            ["{\"id\":2,\"o\":{\"b\":7,\"a\":8}}", "{\"id\":3,\"o\":{\"\":-5}}", "{\"id\":8,\"o\":{\"b\":\"s5\"}}"].joined(separator: "\n")
            + "\n"
        try scratch.write("a.ndjson", "{\"id\":1,\"o\":null}\n" + rows)
        try scratch.write("b.ndjson", "{\"id\":1,\"o\":{\"\":6}}\n" + rows)
        try scratch.write("e.ndjson", "{\"id\":1,\"o\":null}\n" + rows + "{\"id\":99,\"o\":{\"b\":\"zz\"}}\n")
        for name in ["a", "b", "e"] {
            #expect(try scratch.firn("convert", "\(name).ndjson", "\(name).firn", "--key", "id", "--type", "T", "-q").code == 0)
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        for name in ["a", "e"] {
            let run = try scratch.firn("patch", "\(name).firn", "c.firn")
            #expect(run.code == 0, "\(run.out)\(run.errors)")
            let out = try scratch.firn("convert", "\(name).firn", "-", "--to", "ndjson").out
            #expect(out.contains("{\"id\":3,\"o\":{\"\":-5}}") && out.contains("{\"id\":1,\"o\":{\"\":6}}"), "\(out)")
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn").code == 0)
        #expect(try scratch.firn("patch", "--reverse", "a.firn", "c.firn").code == 0)
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "ndjson").out.contains("{\"id\":1"))
    }

    private func sample(_ words: [String] = []) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,Ada\n2,Bo\n3,Cy\n")
        try scratch.write("b.csv", "id,name\n1,Ada\n2,Bob\n4,Di\n")
        for side in ["a", "b"] {
            #expect(
                try FirnRun(["convert", "\(side).csv", "\(side).firn", "--key", "id", "--type", "rows", "-q"] + words, in: scratch.folder)
                    .code == 0)
        }
        return scratch
    }

    @Test func `patch --check reports and changes nothing, patch makes one commit, and conflicts are listed`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        let check = try scratch.firn("patch", "--check", "a.firn", "c.firn")
        #expect(
            check.code == 0 && check.out.contains("the changes apply: 1 added, 1 removed, 1 changed; the rows would be exactly those"),
            "\(check.out)\(check.errors)")
        #expect(try Data(contentsOf: scratch.file("a.firn")) == whole)
        let run = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(run.code == 0 && run.out.contains("version 2"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("query", "a.firn", "--format", "csv").out == "id,name\n1,Ada\n2,Bob\n4,Di\n")
        let again = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(
            again.code == 1
                && again.out.split(separator: "\n").sorted() == [
                    "id=2: the file differs from the recorded values in: name", "id=3: the row to change or remove does not exist",
                    "id=4: the row to add already exists",
                ], "\(again.out)")
        #expect(again.errors.contains("already applied") && again.errors.contains("was not changed"), "\(again.errors)")
        let checked = try scratch.firn("patch", "--check", "a.firn", "c.firn")
        #expect(checked.code == 1 && checked.errors.contains("the changes do not apply to a.firn") && checked.out == again.out)
        let lines = try scratch.firn("patch", "--json", "a.firn", "c.firn").out
        #expect(lines.contains(#""applied":false"#) && lines.contains(#""conflicts":3"#), "\(lines)")
    }

    @Test func `changes of columns that are already applied are reported as such, but not those of other columns`() throws {
        let scratch = try sample()
        try scratch.write("n.csv", "id,name,age\n1,Ada,36\n2,Bob,5\n4,Di,\n")
        #expect(try scratch.firn("convert", "n.csv", "n.firn", "--key", "id", "--type", "rows", "-q").code == 0)
        #expect(try scratch.firn("diff", "a.firn", "n.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 0)
        let bytes = try Data(contentsOf: scratch.file("a.firn"))
        for words in [
            ["a.firn", "c.firn"], ["--check", "a.firn", "c.firn"], ["n.firn", "c.firn"], ["--reverse", "b.firn", "back.firn"],
        ] {
            // The same in reverse: a file without the column has already lost it.
            if words[0] == "--reverse" { #expect(try scratch.firn("diff", "b.firn", "n.firn", "--changes", "back.firn", "-q").code == 1) }
            let again = try FirnRun(["patch"] + words, in: scratch.folder)
            #expect(
                again.code == 1 && again.out == "the columns of \"rows\" are those that the changes lead to\n"
                    && again.errors.contains(words[0] == "--reverse" ? "already reverted" : "already applied"),
                "\(words): \(again.code) \(again.out)\(again.errors)")
        }
        #expect(try Data(contentsOf: scratch.file("a.firn")) == bytes)
        let line = try scratch.firn("patch", "--json", "a.firn", "c.firn")
        #expect(line.code == 1 && line.out.contains(#""applied":false"#) && line.out.contains(#""conflicts":1"#), "\(line.out)")
        // The same columns with other rows.
        try scratch.write("m.csv", "id,name,age\n1,Ada,37\n2,Bob,5\n4,Di,\n")
        #expect(try scratch.firn("convert", "m.csv", "m.firn", "--key", "id", "--type", "rows", "-q").code == 0)
        let other = try scratch.firn("patch", "m.firn", "c.firn")
        #expect(
            other.code == 3 && other.errors.contains("not those that the changes were made from") && !other.errors.contains("already"),
            "\(other.code) \(other.errors)")
    }

    @Test func `invalid patches are refused, and nothing is written`() throws {
        let scratch = try sample()
        for words in [
            ["--ignore", "name"], ["--where", "id > 1"], ["--tolerance", "1"], ["--duplicates", "first"], ["--columns", "name"],
        ] {
            let run = try FirnRun(["diff", "a.firn", "b.firn", "--changes", "c.firn"] + words, in: scratch.folder)
            #expect(run.code == 2 && !scratch.has("c.firn"), "\(words): \(run.errors)")
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--force").code == 2)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "b.firn", "--force").code == 2)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 5)
        #expect(try scratch.firn("patch", "a.csv", "c.firn").code == 4)
        #expect(try scratch.firn("patch", "a.firn", "b.firn").code == 4)
        #expect(try scratch.firn("patch", "a.firn@1", "c.firn").code == 2)
    }

    @Test func `changes of encrypted files are encrypted`() throws {
        let key = Data((0..<64).map { UInt8($0) }).map { String(format: "%02x", $0) }.joined()
        let folder = try Scratch()
        try folder.write("key", key)
        let scratch = try sample(["--new-key-file", folder.file("key").path])
        let words = ["--key-file", folder.file("key").path, "-q"]
        #expect(try FirnRun(["diff", "a.firn", "b.firn", "--changes", "c.firn"] + words, in: scratch.folder).code == 1)
        let bytes = try Data(contentsOf: scratch.file("c.firn"))
        for word in ["Bob", "name", "changes"] { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 4)
        #expect(try FirnRun(["patch", "a.firn", "c.firn"] + words, in: scratch.folder).code == 0)
        #expect(try FirnRun(["diff", "a.firn", "b.firn"] + words, in: scratch.folder).code == 0)
        // The same for several types that link to each other.
        for side in ["d", "e"] {
            try LinkedFile.write(scratch.file("plain-\(side).firn").path, isNew: side == "e")
            #expect(
                try scratch.firn("convert", "plain-\(side).firn", "\(side).firn", "-q", "--new-key-file", folder.file("key").path).code == 0
            )
        }
        #expect(try FirnRun(["diff", "d.firn", "e.firn", "--changes", "f.firn"] + words, in: scratch.folder).code == 1)
        let linked = try Data(contentsOf: scratch.file("f.firn"))
        for word in ["Person", "newKey", "roof", "boss"] { #expect(linked.range(of: Data(word.utf8)) == nil, "\(word)") }
        #expect(try FirnRun(["patch", "d.firn", "f.firn"] + words, in: scratch.folder).code == 0)
        #expect(
            try FirnRun(["hash", "d.firn"] + words, in: scratch.folder).out.prefix(32)
                == scratch.firn("hash", "plain-e.firn").out.prefix(32))
    }

    /// Files of changes written by each version of the format: the result of applying them must never change.
    @Test(arguments: [
        ("cells-1", "people", "a.csv", "b.csv", "fc3e097aad6924c76a70c62863edba1e", "c0c7bdc2c25b6ea7bd880d590fff083e"),
        ("whole-1", "people", "a.csv", "c.csv", "d9dbf86768e03f9a1f450f91f917b01f", "c0c7bdc2c25b6ea7bd880d590fff083e"),
        ("objects-1", "homes", "d.ndjson", "e.ndjson", "b606c2fd6503f2d25db25c13b632dd11", "cae90e3c71db8bd48def316afc98bc25"),
    ])
    func `changes files of every format version stay readable`(
        name: String, type: String, old: String, new: String, last: String, first: String
    ) throws {
        let scratch = try Scratch(), folder = Folders.fixtures.appending(path: "changes")
        let changes = folder.appending(path: "\(name).firn").path
        for (side, source) in [("a.firn", old), ("b.firn", new)] {
            #expect(
                try FirnRun(
                    ["convert", folder.appending(path: source).path, side, "--key", "id", "--type", type, "-q"], in: scratch.folder
                ).code == 0)
        }
        func hash() throws -> String { String(try scratch.firn("hash", "a.firn").out.prefix(32)) }
        #expect(try hash() == first)
        let there = try scratch.firn("patch", "a.firn", changes, "--json")
        #expect(try there.code == 0 && there.out.contains("\"proven\":true") && hash() == last, "\(there.out)\(there.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "-q").code == 0)
        let again = try scratch.firn("patch", "a.firn", changes)
        #expect(again.code == 1 && again.errors.contains("already applied"), "\(again.code) \(again.out)\(again.errors)")
        let back = try scratch.firn("patch", "--reverse", "a.firn", changes)
        #expect(try back.code == 0 && hash() == first, "\(back.out)\(back.errors)")
        let twice = try scratch.firn("patch", "--reverse", "a.firn", changes)
        #expect(
            twice.code == 1
                && twice.errors.contains("the changes are already reverted: the file has exactly the rows before them"), "\(twice.errors)")
        #expect(try scratch.firn("verify", "--full", "-q", "a.firn").code == 0)
    }

    @Test func `files with several linked types are compared and patched together, in both directions`() throws {
        let scratch = try Scratch()
        for side in ["a", "b"] { try LinkedFile.write(scratch.file("\(side).firn").path, isNew: side == "b") }
        func hash(_ file: String) throws -> String { String(try scratch.firn("hash", file).out.prefix(32)) }
        let first = try hash("a.firn"), last = try hash("b.firn")
        let diff = try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn")
        #expect(
            diff.code == 1
                && diff.out == """
                    --- a.firn:Person
                    +++ b.firn:Person
                    - id=2  name=Bo, boss=1, pets=[]
                    + id=3  name=Cy, pets=["cat"]
                    ~ id=1
                        boss: null → 3
                        pets: ["dog"] → ["dog","cat"]
                    1 added, 1 removed, 1 changed, 0 unchanged
                    --- a.firn:Pet
                    +++ b.firn:Pet
                    + tag=cat  at=2
                    1 added, 0 removed, 0 changed, 1 unchanged
                    ~ type Place: 2 rows → 3 rows, without a common key

                    """,
            "\(diff.code) \(diff.out)\(diff.errors)")
        let lines = try scratch.firn("diff", "a.firn", "b.firn", "--json").out.split(separator: "\n")
        #expect(
            lines.filter { $0.contains(#""kind":"type""#) }.count == 3
                && lines.last == #"{"kind":"type","name":"Place","old":2,"new":3,"same":false}"#, "\(lines)")
        let there = try scratch.firn("patch", "a.firn", "c.firn", "--json")
        #expect(
            there.code == 0 && there.out.contains(#""proven":true"#) && there.out.contains("\"hash\":\"\(last)\"")
                && there.out.contains(#"{"type":"Person","added":1,"removed":1,"changed":1}"#), "\(there.out)\(there.errors)")
        #expect(
            try hash("a.firn") == last && scratch.firn("diff", "a.firn", "b.firn").code == 0
                && scratch.firn("verify", "--full", "-q", "a.firn").code == 0)
        #expect(
            try scratch.firn("query", "a.firn:Person", "boss.name == 'Cy' AND pets.tag == 'cat'", "--select", "id", "--format", "csv").out
                == "id\n1\n")
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 1)
        let back = try scratch.firn("patch", "--reverse", "a.firn", "c.firn")
        #expect(try back.code == 0 && hash("a.firn") == first, "\(back.out)\(back.errors)")
        for words in [["--key", "id"], ["--where", "id > 1"], ["--columns", "name"]] {
            #expect(try FirnRun(["diff", "a.firn", "b.firn"] + words, in: scratch.folder).code == 2, "\(words)")
        }
        #expect(try scratch.firn("patch", "--type", "Person", "a.firn", "c.firn").code == 2)
        // A single type, whose links lead to rows that do not exist.
        #expect(try scratch.firn("diff", "a.firn:Person", "b.firn:Person", "--changes", "d.firn", "-q").code == 1)
        let lone = try scratch.firn("patch", "a.firn", "d.firn")
        #expect(
            try lone.code == 1
                && lone.out
                    == "id=1: pets refers to a row that does not exist: Pet tag=\"cat\"\nid=3: pets refers to a row that does not exist: Pet tag=\"cat\"\n"
                && hash("a.firn") == first, "\(lone.out)\(lone.errors)")
    }

    @Test func `links within a type of a converted file are changed by key, and a patch can apply to a type of another name`()
        throws
    {
        let scratch = try Scratch()
        try scratch.write("s.json", #"{"type":"T","columns":[{"name":"id","type":"int"},{"name":"up","type":"link<T>?"}],"key":["id"]}"#)
        try scratch.write("a.csv", "id,up\n10,\n20,0\n30,1\n")
        try scratch.write("b.csv", "id,up\n30,2\n10,0\n40,1\n")
        for (side, type) in [("a", "T"), ("b", "T"), ("d", "U")] {
            let run = try scratch.firn(
                "convert", side == "d" ? "a.csv" : "\(side).csv", "\(side).firn", "--schema", "s.json", "--type", type, "-q")
            #expect(run.code == 0, "\(run.errors)")
        }
        let diff = try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn")
        #expect(
            diff.code == 1 && diff.out.contains("    up: 20 → 40\n") && diff.out.contains("+ id=40  up=10"), "\(diff.out)\(diff.errors)")
        for file in ["a.firn", "d.firn"] {
            let run = try scratch.firn("patch", file, "c.firn")
            #expect(run.code == 0, "\(run.out)\(run.errors)")
        }
        #expect(try scratch.firn("hash", "a.firn").out.prefix(32) == scratch.firn("hash", "b.firn").out.prefix(32))
        #expect(try scratch.firn("query", "d.firn", "up.id == 40", "--select", "id", "--format", "csv").out == "id\n30\n")
    }

    @Test func `a file keeps its key when it is patched to the rows of a CSV file, which names no key`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,one\n2,two\n3,three\n")
        try scratch.write("b.csv", "id,name,at\n1,one,5\n2,deux,6\n4,four,7\n")
        try scratch.write("c.csv", "id,name\n1,one\n1,two\n3,three\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id", "--type", "t").code == 0)
        func key() throws -> Bool { try scratch.firn("schema", "a.firn", "--json").out.contains(#""key":["id"]"#) }
        #expect(try scratch.firn("diff", "a.firn", "b.csv", "--changes", "c.firn").code == 1)
        let there = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(
            try there.code == 0 && there.out.contains("the rows are exactly those that the changes lead to") && key(),
            "\(there.out)\(there.errors)"
        )
        let compared = try scratch.firn("diff", "a.firn", "b.csv")
        #expect(compared.code == 0, "\(compared.out)\(compared.errors)")
        let back = try scratch.firn("patch", "--reverse", "a.firn", "c.firn")
        #expect(try back.code == 0 && key() && scratch.firn("diff", "a.firn", "a.csv").code == 0, "\(back.out)\(back.errors)")
        // By another key: rows that the file's own key would not distinguish.
        #expect(try scratch.firn("diff", "a.firn", "c.csv", "--key", "name", "--changes", "c.firn", "--force").code == 1)
        let refused = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(
            try refused.code == 3 && key() && scratch.firn("diff", "a.firn", "a.csv").code == 0,
            "\(refused.code) \(refused.out)\(refused.errors)")
        // Equal rows: nothing to do.
        #expect(try scratch.firn("diff", "a.firn", "a.csv", "--changes", "d.firn").code == 0)
        #expect(try scratch.firn("patch", "a.firn", "d.firn").code == 0 && key())
    }

    /// As in the football scores: the object types of both files are named after the files.
    @Test(arguments: [
        (#""s":{"a":[1],"b":[5]}"#, #""s":{"a":[1],"b":[9]}"#), (#""s":{"a":[1],"b":[5]}"#, #""s":{"a":[1]}"#),
        (#""s":{"a":[1]}"#, #""s":{"b":[9],"a":[]}"#),
        (#""s":[{"a":1,"b":"x"}]"#, #""s":[{"a":1},{"b":"y"}]"#), (#""s":{"o":{"a":1}}"#, #""s":{"o":{"a":null}}"#),
    ])
    func `objects keep and receive their values if their types have other names and a column is removed in the same patch`(
        old: String, new: String
    ) throws {
        let scratch = try Scratch()
        for rest in [#","x":1"#, ""] {
            for (file, t, s) in [("o", #","t":1"#, old), ("n", "", new)] {
                try scratch.write("\(file).json", "[{\"id\":1\(t)\(rest),\(old)},{\"id\":2\(rest),\(s)},{\"id\":3,\(old)}]")
                let run = try scratch.firn("convert", "\(file).json", "\(file).firn", "--type", "rows", "--key", "id", "-f", "-q")
                #expect(run.code == 0, "\(run.errors)")
            }
            func hash(_ file: String) throws -> Substring { try scratch.firn("hash", file).out.prefix(32) }
            let first = try hash("o.firn"), last = try hash("n.firn")
            #expect(try scratch.firn("diff", "o.firn", "n.firn", "--changes", "c.firn", "-f", "-q").code == 1)
            let there = try scratch.firn("patch", "o.firn", "c.firn")
            #expect(try there.code == 0 && hash("o.firn") == last, "\(there.out)\(there.errors)")
            let back = try scratch.firn("patch", "--reverse", "o.firn", "c.firn")
            #expect(try back.code == 0 && hash("o.firn") == first, "\(back.out)\(back.errors)")
        }
    }

    @Test func `a patch that is killed at any moment leaves the old or the new rows`() throws {
        let scratch = try Scratch()
        for side in ["a", "b"] {
            try LinkedFile.write(scratch.file("\(side).firn").path, isNew: side == "b", more: side == "b" ? 20_000 : 0)
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        func hash(_ file: String) throws -> Substring { try scratch.firn("hash", file).out.prefix(32) }
        let ends = try [hash("a.firn"), hash("b.firn")]
        for turn in 0..<8 {
            try? FileManager.default.removeItem(at: scratch.file("t.firn"))
            try FileManager.default.copyItem(at: scratch.file("a.firn"), to: scratch.file("t.firn"))
            let process = Process()
            process.executableURL = FirnRun.binary
            process.arguments = ["patch", "--quiet", scratch.file("t.firn").path, scratch.file("c.firn").path]
            try process.run()
            usleep(UInt32(turn * 25_000))
            kill(process.processIdentifier, SIGKILL)
            process.wait()
            #expect(try ends.contains(hash("t.firn")) && scratch.firn("verify", "--full", "-q", "t.firn").code == 0, "turn \(turn)")
        }
    }

    @Test func `a patch without changes makes no version`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("diff", "a.firn", "a.firn", "--changes", "none.firn", "-q").code == 0)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        let run = try scratch.firn("patch", "a.firn", "none.firn")
        #expect(run.code == 0 && run.out == "a.firn:rows: nothing to change, no new version\n", "\(run.out)\(run.errors)")
        #expect(try Data(contentsOf: scratch.file("a.firn")) == whole)
        let json = try scratch.firn("patch", "--json", "a.firn", "none.firn")
        #expect(json.code == 0 && json.out.contains(#""applied":false"#) && !json.out.contains(#""version""#), "\(json.out)")
    }

    @Test func `changes of nested cells are smaller than the rows, and round trip`() throws {
        let scratch = try Scratch()
        func json(_ suffix: String) -> String {
            "["
                + (0..<400).map { i in
                    #"{"id":\#(i),"birth":{"place":{"name":"Place \#(i &* 2_654_435_761 % 1_000_003)\#(suffix)","also":"a long text that stays \#(i &* 40_503 % 65_537)"},"years":[\#(i),\#(i * 7 % 91),3]}}"#
                }.joined(separator: ",\n") + "]"
        }
        for (side, suffix) in [("a", ""), ("b", " (X)")] {
            try scratch.write("\(side).json", json(suffix))
            #expect(try scratch.firn("convert", "\(side).json", "\(side).firn", "--key", "id", "--type", "rows", "-q").code == 0)
        }
        func hash(_ file: String) throws -> Substring { try scratch.firn("hash", file).out.prefix(32) }
        let ends = try (hash("a.firn"), hash("b.firn"))
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("query", "c.firn:edits.rows", "-n", "1", "--json").out.contains(#""path":["place","name"]"#))
        let stays = try scratch.firn("query", "c.firn:edits.rows", "--format", "csv").out
        #expect(!stays.contains("a long text that stays"))
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 0)
        #expect(try hash("a.firn") == ends.1)
        #expect(try scratch.firn("patch", "--reverse", "a.firn", "c.firn").code == 0)
        #expect(try hash("a.firn") == ends.0)
    }
}
