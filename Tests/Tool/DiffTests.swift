import FirnKit
import Foundation
import Testing

@Suite struct DiffTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("old.csv", "id,day,score\n1,2024-01-01,1.50\n2,2024-01-02,2.25\n3,2024-01-03,3.75\n")
        try scratch.write("new.csv", "id,day,score\n1,2024-01-01,1.50\n2,2024-02-02,2.50\n4,2024-01-04,4.00\n5,2024-01-05,5.25\n")
        return scratch
    }

    @Test(arguments: ["added", "removed", "changed"])
    func `--only chooses the differences that are printed, not those that are counted`(kind: String) throws {
        let scratch = try sample()
        func diff(_ words: String...) throws -> FirnRun {
            try FirnRun(["diff", "old.csv", "new.csv", "--key", "id"] + words, in: scratch.folder)
        }
        #expect(try diff("--only", kind, "--format", "summary").out == (try diff("--format", "summary").out))
        let all = try diff("--json").out.split(separator: "\n"), some = try diff("--json", "--only", kind)
        #expect(some.code == 1)
        #expect(
            some.out.split(separator: "\n") == all.filter { $0.contains("\"kind\":\"\(kind)\"") || $0.contains("\"kind\":\"summary\"") })
        let listing = try diff("--only", kind).out.split(separator: "\n").dropFirst(2)
        for (name, mark) in [("added", "+"), ("removed", "-"), ("changed", "~")] {
            #expect(listing.contains { $0.hasPrefix(mark) } == (name == kind))
        }
        #expect(listing.last == "2 added, 1 removed, 1 changed, 1 unchanged")
    }

    @Test func `files without a key are matched by a column that is unique in both`() throws {
        let scratch = try sample()
        let found = try scratch.firn("diff", "old.csv", "new.csv"), chosen = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id")
        #expect((found.code, found.out) == (1, chosen.out))
        #expect(found.errors.contains("matched by \"id\", which is unique in both files") && found.errors.contains("--key"))
        #expect(!chosen.errors.contains("matched by"))
        // The changes apply as if the key had been chosen.
        #expect(try scratch.firn("convert", "old.csv", "base.firn", "--key", "id").code == 0)
        #expect(try scratch.firn("diff", "old.csv", "new.csv", "--changes", "found.firn").code == 1)
        #expect(try scratch.firn("patch", "base.firn", "found.firn").code == 0)
        #expect(try scratch.firn("diff", "base.firn", "new.csv").code == 0)
    }

    @Test func `numbers that JSON cannot write are null in a difference, with a remark`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,d\n1,1.5\n2,NaN\n3,2.5\n")
        try scratch.write("b.csv", "id,d\n1,1.5\n2,Infinity\n3,3.5\n4,-Infinity\n")
        let run = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "--json")
        #expect(run.out.contains(#"{"kind":"changed","key":{"id":2},"cells":{"d":{"old":null,"new":null}}}"#))
        #expect(run.errors.contains("2 values that are not finite numbers were written as null"))
        let finite = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "--json", "--limit", "0")
        #expect(!finite.errors.contains("not finite"))
    }

    @Test(arguments: [["-k", "id"], []])
    func `null and missing cells are equal, as in the hash`(key: [String]) throws {
        let scratch = try Scratch()
        try scratch.write(
            "a.ndjson", #"{"id":1,"c":"x","o":{"v":1}}"# + "\n" + #"{"id":2,"c":null,"o":{"v":null}}"# + "\n" + #"{"id":3,"o":{}}"# + "\n")
        try scratch.write(
            "b.ndjson", #"{"id":1,"c":"x","o":{"v":1}}"# + "\n" + #"{"id":2,"o":{}}"# + "\n" + #"{"id":3,"c":null,"o":{"v":null}}"# + "\n")
        for name in ["a", "b"] {
            let run = try FirnRun(["convert", "--lossless", "\(name).ndjson", "\(name).firn", "-q"] + key, in: scratch.folder)
            #expect(run.code == 0, "\(run.errors)")
        }
        let hashes = try ["a", "b"].map { try scratch.firn("hash", "\($0).firn").out.prefix(32) }
        #expect(hashes[0] == hashes[1])
        for flags in [[], ["--tolerance", "0.1"], ["--key", "c"], ["--key", "id,c"]] {
            let run = try FirnRun(["diff", "a.firn", "b.firn"] + flags, in: scratch.folder)
            #expect(flags == ["--key", "c"] ? !run.isCrash : run.code == 0, "\(flags) \(run.out) \(run.errors)")
        }
    }

    @Test func `files of rows without columns are compared by the number of rows`() throws {
        let scratch = try Scratch()
        try scratch.write("one.ndjson", "{}\n")
        try scratch.write("two.ndjson", "{}\n{}\n")
        try scratch.write("three.ndjson", "{}\n{}\n{}\n")
        for name in ["one.ndjson", "two.ndjson"] {
            let same = try scratch.firn("diff", name, name)
            #expect(same.code == 0, "\(same.errors)")
        }
        let more = try scratch.firn("diff", "two.ndjson", "three.ndjson")
        #expect(more.code == 1 && !more.isCrash, "\(more.code) \(more.out) \(more.errors)")
    }

    @Test func `files without a unique column are compared by whole rows`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x,y\n1,1\n1,1\n1,1\n2,5\n")
        try scratch.write("b.csv", "x,y\n2,5\n1,1\n3,3\n1,1\n3,3\n")
        let run = try scratch.firn("diff", "a.csv", "b.csv")
        #expect(
            (run.code, run.out) == (
                1,
                """
                --- a.csv
                +++ b.csv
                - x=1, y=1
                + x=3, y=3
                + x=3, y=3
                2 added, 1 removed, 0 changed, 3 unchanged

                """
            ))
        #expect(run.errors.contains("whole rows are matched"))
        let lines = try scratch.firn("diff", "a.csv", "b.csv", "--json").out
        #expect(lines.contains(#"{"kind":"removed","key":{},"old":{"x":1,"y":1}}"#), "\(lines)")
        #expect(try scratch.firn("diff", "a.csv", "a.csv").code == 0)
        #expect(try scratch.firn("diff", "a.csv", "b.csv", "--columns", "y").out.contains("2 added, 1 removed, 0 changed, 3 unchanged"))
        let refused = try scratch.firn("diff", "a.csv", "b.csv", "--changes", "c.firn")
        #expect(refused.code == 2 && refused.errors.contains("needs a key"), "\(refused.errors)")
        let tolerant = try scratch.firn("diff", "a.csv", "b.csv", "--tolerance", "0.1")
        #expect(tolerant.code == 1 && tolerant.errors.contains("--tolerance does not apply to whole rows"), "\(tolerant.errors)")
        // Equal rows in another order have the same texts of null.
        try scratch.write("n.csv", "a,v\nx,1\nx,1\nx,NA\n")
        try scratch.write("m.csv", "a,v\nx,1\nx,NA\nx,1\n")
        let shuffled = try scratch.firn("diff", "n.csv", "m.csv")
        #expect(shuffled.code == 0 && !shuffled.errors.contains("original texts"), "\(shuffled.errors)")
    }

    @Test func `a key is found among all columns that are not ignored`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v\n1,a\n2,b\n3,c\n")
        try scratch.write("b.csv", "id,v\n2,a\n3,b\n4,c\n")
        #expect(try scratch.firn("diff", "a.csv", "b.csv").code == 1)
        let ignored = try scratch.firn("diff", "a.csv", "b.csv", "--ignore", "id")
        #expect(ignored.code == 0 && ignored.errors.contains("matched by \"v\""), "\(ignored.errors)")
        // A key beyond the first columns, and one of doubles.
        let names = (0..<30).map { "c\($0)" }.joined(separator: ",")
        func rows(_ last: String) -> String {
            (1...6).map { "\((0..<30).map { _ in "x" }.joined(separator: ",")),\($0)\(last),\($0 % 2)\n" }.joined()
        }
        for fraction in ["", ".5"] {
            try scratch.write("c.csv", names + ",id,n\n" + rows(fraction))
            try scratch.write("d.csv", names + ",id,n\n" + rows(fraction).replacingOccurrences(of: ",1\n", with: ",7\n"))
            let found = try scratch.firn("diff", "c.csv", "d.csv", "--format", "summary")
            #expect(found.errors.contains("matched by \"id\"") && found.out.contains("3 changed"), "\(found.out) \(found.errors)")
        }
        // A column that is unique but for one row is named.
        func numbers(_ shift: Int) -> String { "id,x\n" + (0..<300).map { "\($0 == 7 ? 8 : $0),\($0 % 3)\n" }.joined() + "8,\(shift)\n" }
        try scratch.write("e.csv", numbers(1))
        try scratch.write("f.csv", numbers(2))
        let nearly = try scratch.firn("diff", "e.csv", "f.csv")
        #expect(nearly.errors.contains("\"id\" is unique except in 2 rows: --key id --duplicates first"), "\(nearly.errors)")
    }

    @Test func `an empty array has the columns of the other file`() throws {
        let scratch = try Scratch()
        try scratch.write("old.json", #"[{"id":1,"v":2},{"id":2,"v":3}]"#)
        try scratch.write("none.json", "[]")
        for key in [[], ["--key", "id"]] {
            let removed = try scratch.firn(["diff", "old.json", "none.json"] + key),
                added = try scratch.firn(["diff", "none.json", "old.json"] + key)
            #expect(
                removed.code == 1 && removed.out.contains("0 added, 2 removed") && !removed.out.contains("column"),
                "\(removed.out)\(removed.errors)")
            #expect(
                added.code == 1 && added.out.contains("2 added, 0 removed") && !added.out.contains("column"), "\(added.out)\(added.errors)")
        }
        #expect(try scratch.firn("diff", "none.json", "none.json").code == 0)
    }

    @Test func `the exit code depends only on the kinds of differences that --only selects`() throws {
        let scratch = try sample()
        try scratch.write("more.csv", try scratch.read("old.csv") + "4,2024-01-04,4.00\n")
        for (kind, code) in [("added", 1), ("removed", 0), ("changed", 0)] as [(String, Int32)] {
            for format in ["table", "summary", "ndjson"] {
                let run = try scratch.firn("diff", "old.csv", "more.csv", "--key", "id", "--only", kind, "--format", format)
                #expect(run.code == code && run.out.contains("1"), "\(kind) \(format): \(run.code) \(run.out)")
            }
        }
    }

    @Test func `diff writes cells in the notation of their columns`() throws {
        let scratch = try sample()
        let table = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id").out
        #expect(
            table.contains("day: 2024-01-02 → 2024-02-02") && table.contains("day=2024-01-04, score=4.00") && !table.contains("T00:00"),
            "\(table)")
        let lines = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "ndjson").out
        #expect(
            lines.contains(#""day":{"old":"2024-01-02","new":"2024-02-02"}"#)
                && lines.contains(#""new":{"id":4,"day":"2024-01-04","score":4.00}"#), "\(lines)")
        let keyed = try scratch.firn("diff", "old.csv", "new.csv", "--key", "day").out
        #expect(keyed.contains("- day=2024-01-03") && !keyed.contains("T00:00"), "\(keyed)")
    }

    @Test func `a summary as JSON is one object with the differences of the columns`() throws {
        let scratch = try sample()
        let run = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--json", "--format", "summary")
        #expect(run.code == 1)
        #expect(
            run.out == #"{"kind":"summary","v":1,"added":2,"removed":1,"changed":1,"unchanged":1,"cells":2,"columns":{"day":1,"score":1}}"#
                + "\n")
        try scratch.write("wide.csv", "id,day,score,more\n1,2024-01-01,1.50,x\n")
        let wide = try scratch.firn("diff", "old.csv", "wide.csv", "--key", "id", "--json", "--format", "summary").out
        #expect(
            wide.split(separator: "\n").count == 1 && wide.contains(#""schema":{"added":[{"name":"more","type":"string"}],"removed":[]"#),
            "\(wide)")
        // Every other form of diff is NDJSON with --json.
        for format in ["table", "ndjson"] {
            #expect(
                try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--json", "--format", format).out
                    == (try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--json").out))
        }
    }

    @Test func `--json is refused with a row format other than NDJSON`() throws {
        let scratch = try sample()
        for format in ["csv", "tsv"] {
            for words in [["query", "old.csv"], ["sql", "old.csv", "SELECT * FROM old"]] {
                let run = try FirnRun(words + ["--json", "--format", format], in: scratch.folder)
                #expect(run.code == 2 && run.errors.contains("--json and --format \(format)"), "\(run.errors)")
            }
        }
        for words in [["query", "old.csv"], ["sql", "old.csv", "SELECT * FROM old"]] {
            #expect(try FirnRun(words + ["--json", "--format", "json"], in: scratch.folder).out.hasPrefix("["))
        }
    }

    private func nested() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            "old.json",
            #"[{"id":{"n":1,"of":"a"},"birth":{"place":{"name":"A","type":"nation"},"year":1930},"tags":["x","y","z"]},{"id":{"n":2,"of":"a"},"birth":null,"tags":[]}]"#
        )
        try scratch.write(
            "new.json",
            #"[{"id":{"n":1,"of":"a"},"birth":{"place":{"name":"B","type":"nation"},"year":1930},"tags":["x","new","y","z"]},{"id":{"n":2,"of":"a"},"birth":null,"tags":[]}]"#
        )
        return scratch
    }

    @Test func `members of objects can be keys, and only the changed parts of nested cells are printed`() throws {
        let scratch = try nested()
        let run = try scratch.firn("diff", "old.json", "new.json", "--key", "id.n")
        #expect(run.code == 1 && run.out.contains("~ id.n=1\n    birth.place.name: A → B\n    + tags[1]: new\n"), "\(run.out)\(run.errors)")
        let lines = try scratch.firn("diff", "old.json", "new.json", "--key", "id.n,id.of", "--json").out
        #expect(
            lines.contains(
                #"{"kind":"changed","key":{"id.n":1,"id.of":"a"},"cells":{"birth.place.name":{"path":["birth","place","name"],"old":"A","new":"B"},"tags[1]":{"path":["tags",1],"new":"new"}}}"#
            ), "\(lines)")
        // The same for firn files, and against a file with a column of that name.
        for side in ["old", "new"] { #expect(try scratch.firn("convert", "\(side).json", "\(side).firn", "-q").code == 0) }
        #expect(
            try scratch.firn("diff", "old.firn", "new.firn", "--key", "id.n").out
                == run.out.replacingOccurrences(of: ".json", with: ".firn"))
        try scratch.write("flat.csv", "id.n,tags\n2,[]\n7,[]\n")
        let flat = try scratch.firn("diff", "old.firn", "flat.csv", "--key", "id.n", "--json").out
        #expect(
            flat.contains(#""kind":"removed","key":{"id.n":1}"#)
                && flat.contains(#"{"kind":"added","key":{"id.n":7},"new":{"id.n":7,"tags":"[]"}}"#), "\(flat)")
    }

    @Test func `a member of an object is refused where a key must be a column`() throws {
        let scratch = try nested()
        let unknown = try scratch.firn("diff", "old.json", "new.json", "--key", "id.none")
        #expect(unknown.code == 2 && unknown.errors.contains("id.none"), "\(unknown.errors)")
        let list = try scratch.firn("diff", "old.json", "new.json", "--key", "tags")
        #expect(list.code == 2)
        for words in [
            ["hash", "old.json", "--key", "id.n"],
            ["diff", "old.json", "new.json", "--key", "id.n", "--changes", "c.firn"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains("\"id.n\" is") && run.errors.contains("column"), "\(run.errors)")
        }
    }

    @Test func `rows that differ are printed even if both files claim the same logical hashes`() throws {
        let scratch = try Scratch()
        func csv(_ changed: Range<Int>) -> String {
            "id,x,name\n"
                + (0..<9000).map { i in
                    let mixed = UInt64(i) &* 0x9E37_79B9_7F4A_7C15
                    return "\(i),\(changed.contains(i) ? 1 : mixed >> 1),name \(mixed)"
                }.joined(separator: "\n") + "\n"
        }
        for (name, changed) in [("a", 0..<0), ("b", 500..<530)] {
            try scratch.write("\(name).csv", csv(changed))
            #expect(try scratch.firn("convert", "\(name).csv", "\(name).firn", "--key", "id", "-q").code == 0)
        }
        for byte in [0, 9] as [UInt8] {
            for name in ["a", "b"] {
                #expect(try ForeignHashes.write([UInt8](repeating: byte, count: 16), in: scratch.file("\(name).firn").path) == 3)
            }
            #expect(try scratch.firn("verify", "a.firn").code == 0)
            for (format, wanted) in [
                ("table", "0 added, 0 removed, 30 changed, 8,970 unchanged"), ("summary", "30 changed"), ("ndjson", #""changed":30"#),
            ] {
                let run = try scratch.firn("diff", "a.firn", "b.firn", "--format", format)
                #expect(run.code == 1 && run.out.contains(wanted), "\(byte) \(format): \(run.out.suffix(300))\(run.errors)")
            }
            #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-f", "-q").code == 1)
            #expect(try scratch.firn("query", "c.firn:new.b").out.contains("519"))
            #expect(try scratch.firn("hash", "a.firn").out.prefix(32) != scratch.firn("hash", "b.firn").out.prefix(32))
        }
    }

    @Test func `columns that are not compared are neither shown nor counted, also if only one file has them`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v,w\n1,1,x\n3,3,z\n")
        try scratch.write("b.csv", "id,w,v,e\n1,x,1.0,x\n3,z,3.0,y\n4,q,5.5,\n")
        for words in [["--ignore", "e,v"], ["-c", "id,w"]] {
            let run = try scratch.firn(["diff", "a.csv", "b.csv", "--key", "id", "--only", "changed"] + words)
            #expect(run.code == 0 && !run.out.contains("column"), "\(words): \(run.out)")
        }
        let chosen = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "-c", "w")
        #expect(chosen.code == 1 && chosen.out.contains("+ id=4  w=q\n"), "\(chosen.out)")
        let lines = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "-c", "w", "--json").out
        #expect(lines.contains("\"new\":{\"id\":4,\"w\":\"q\"}"), "\(lines)")
        #expect(try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "--only", "changed").code == 1)
    }

    @Test func `a date that differs in what its notation omits is shown whole`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,d\n" + (0..<1200).map { "\($0),2016-02-15\n" }.joined() + "9999,2016-02-15T21:37:59Z\n")
        try scratch.write("b.csv", "id,d\n" + (0..<1200).map { "\($0),2016-02-15\n" }.joined() + "9999,2016-02-15\n")
        let run = try scratch.firn("diff", "a.csv", "b.csv", "--key", "id")
        #expect(run.out.contains("d: 2016-02-15T21:37:59Z → 2016-02-15T00:00:00Z"), "\(run.out)")
        #expect(try scratch.firn("diff", "a.csv", "b.csv", "--key", "id", "--json").out.contains("\"old\":\"2016-02-15T21:37:59Z\""))
    }
}
