import FirnKit
import Foundation
import Testing

/// The flags of `firn diff` about single columns: `--tolerance`, `--rename`, and fields of objects in `--ignore` and `--columns`.
@Suite struct DiffColumnTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("old.csv", "id,name,price,qty\n1,a,10.00,100\n2,b,20.50,200\n3,c,30.25,300\n")
        try scratch.write("new.csv", "id,name,price,qty\n1,a,10.01,100\n2,b,20.50,201\n3,c,30.75,306\n")
        return scratch
    }

    @Test func `a tolerance of one column replaces that of all, and a percentage is one of the larger number`() throws {
        let scratch = try sample()
        for (tolerance, changed) in [
            ([], [1, 2, 3]), (["0.011"], [2, 3]), (["price=0.011"], [2, 3]), (["price=0.011,qty=1"], [3]),
            (["price=0.011", "qty=1"], [3]), (["1"], [3]), (["1,qty=0"], [2, 3]), (["2%"], []), (["qty=2%"], [1, 3]),
            (["qty=2%,price=1.7%"], []), (["qty=1.9%,price=0.6"], [3]), (["`qty`=10, price = 10 "], []),
        ] as [([String], [Int])] {
            let flags = tolerance.flatMap { ["--tolerance", $0] }
            let run = try scratch.firn(["diff", "old.csv", "new.csv", "-k", "id", "--format", "csv"] + flags)
            let keys = run.out.split(separator: "\n").dropFirst().map { $0.split(separator: ",")[1] }
            #expect(keys == changed.map { "\($0)" } && run.code == (changed.isEmpty ? 0 : 1), "\(tolerance) \(run.out)\(run.errors)")
        }
    }

    @Test func `every way to compare two files applies the tolerances of columns`() throws {
        let scratch = try Scratch()
        // Larger than files that are compared as tables, with and without keys that ascend.
        for (name, keys) in [("up", Array(0..<30_000)), ("down", Array((0..<30_000).reversed()))] {
            func rows(_ shift: Int) -> String {
                "id,a,b\n"
                    + keys.map { "\($0),\($0 % 50 + ($0 % 100 == 0 ? shift : 0)).5,\(1000 + ($0 % 300 == 0 ? shift : 0))\n" }.joined()
            }
            try scratch.write("\(name)-old.csv", rows(0))
            try scratch.write("\(name)-new.csv", rows(1))
            for side in ["old", "new"] {
                for format in ["firn", "parquet", "ndjson"] {
                    #expect(try scratch.firn("convert", "\(name)-\(side).csv", "\(name)-\(side).\(format)", "-k", "id", "-q").code == 0)
                }
            }
            // A second version of the old file, which shares segments with the first.
            #expect(try scratch.firn("upsert", "\(name)-old.firn", "\(name)-new.csv", "-q").code == 0)
            let pairs = [
                ("\(name)-old.csv", "\(name)-new.csv"), ("\(name)-old.firn@1", "\(name)-old.firn"),
                ("\(name)-old.firn@1", "\(name)-new.firn"), ("\(name)-old.parquet", "\(name)-new.parquet"),
                ("\(name)-old.ndjson", "\(name)-new.ndjson"), ("\(name)-old.csv", "\(name)-new.parquet"),
            ]
            for (old, new) in pairs {
                for (flags, count) in [
                    ([], 300), (["--tolerance", "a=1"], 100), (["--tolerance", "b=0.1%"], 300), (["--tolerance", "0,b=0.1%,a=1"], 0),
                    (["--tolerance", "1,b=0"], 100),
                ] as [([String], Int)] {
                    let run = try scratch.firn(["diff", old, new, "-k", "id", "--format", "summary"] + flags)
                    #expect(run.out.contains("0 added, 0 removed, \(count) changed"), "\(old) \(new) \(flags) \(run.out)\(run.errors)")
                }
            }
        }
    }

    @Test func `a tolerance that has no effect or is not understood is an error`() throws {
        let scratch = try sample()
        for (value, part) in [
            ("prise=1", "neither file has a column \"prise\""), ("id=1", "\"id\" is part of the key"),
            ("name=1", "the column \"name\" has a tolerance, and is string"), ("price=1,price=2", "column \"price\" twice"),
            ("1,2", "all columns twice"), ("x", "takes a number or a percentage that is not negative, not \"x\""),
            ("price=-1", "not \"-1\""),
            ("inf", "not \"inf\""), ("price=1,", "an item of --tolerance is empty"), ("%", "not \"%\""),
        ] {
            let run = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--tolerance", value)
            #expect(run.code == 2 && run.out.isEmpty && run.errors.contains(part), "\(value) \(run.errors)")
        }
        let ignored = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--tolerance", "price=1", "--ignore", "price")
        #expect(ignored.code == 2 && ignored.errors.contains("\"price\" is not compared"), "\(ignored.errors)")
    }

    @Test func `renamed columns are compared as one, and are a difference of the schema alone`() throws {
        let scratch = try Scratch()
        try scratch.write("old.csv", "nr,town,price\n1,Bern,10\n2,Chur,20\n")
        try scratch.write("new.csv", "id,city,price\n1,Bern,10\n2,Thun,20\n3,Sion,30\n")
        let run = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--rename", "nr=id,town=city")
        #expect(
            (run.code, run.out) == (
                1,
                """
                --- old.csv
                +++ new.csv
                ~ column nr: renamed to id
                ~ column town: renamed to city
                ~ id=2
                    city: Chur → Thun
                + id=3  city=Sion, price=30
                1 added, 0 removed, 1 changed, 1 unchanged

                """
            ), "\(run.errors)")
        let lines = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--rename", "nr=id", "--rename", "town=city", "--json").out
        #expect(lines.contains(#""renamed":[{"old":"nr","new":"id"},{"old":"town","new":"city"}]"#), "\(lines)")
        let csv = try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--rename", "nr=id,town=city", "--format", "csv")
        #expect(csv.out == "!,(nr),(town),\n@@,id,city,price\n->,2,Chur->Thun,20\n+++,3,Sion,30\n", "\(csv.out)")
        // Equal rows under other names are no difference of the contents. The key of a .firn file is found under its new name.
        try scratch.write("same.csv", "id,city,price\n1,Bern,10\n2,Chur,20\n")
        #expect(try scratch.firn("convert", "old.csv", "old.firn", "-k", "nr", "-q").code == 0)
        for old in ["old.csv", "old.firn"] {
            let same = try scratch.firn("diff", old, "same.csv", "--rename", "nr=id,town=city")
            #expect(same.code == 0 && same.out.contains("~ column town: renamed to city"), "\(same.out)\(same.errors)")
            let some = try scratch.firn(
                "diff", old, "same.csv", "--rename", "nr=id,town=city", "-w", "city == 'Chur'", "--format", "summary")
            #expect(some.code == 0 && some.out.contains("1 unchanged"), "\(some.out)\(some.errors)")
        }
        // Two columns can change places.
        try scratch.write("a.csv", "id,x,y\n1,2,3\n")
        try scratch.write("b.csv", "id,y,x\n1,2,3\n")
        #expect(try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--rename", "x=y,y=x").code == 0)
    }

    @Test func `large files with renamed columns, and columns compared as text, are compared under the new names`() throws {
        let scratch = try Scratch()
        let rows = (0..<30_000).map { "\($0),\($0 % 7).5\n" }.joined()
        try scratch.write("old.csv", "nr,worth\n" + rows)
        try scratch.write("new.csv", "id,value\n" + rows)
        #expect(try scratch.firn("diff", "old.csv", "new.csv", "-k", "id", "--rename", "nr=id,worth=value").code == 0)
        for side in ["old", "new"] { #expect(try scratch.firn("convert", "\(side).csv", "\(side).parquet", "-q").code == 0) }
        for (old, new) in [("old.parquet", "new.parquet"), ("old.csv", "new.parquet"), ("old.parquet", "new.csv")] {
            let run = try scratch.firn("diff", old, new, "-k", "id", "--rename", "nr=id,worth=value")
            #expect(run.code == 0, "\(old) \(new) \(run.out)\(run.errors)")
        }
        try scratch.write("t-old.csv", "nr,day\n1,01.02.2024\n2,02.02.2024\n3,soon\n")
        try scratch.write("t-new.csv", "id,date\n1,01.02.2024\n2,02.02.2024\n3,05.02.2024\n")
        for (old, new, names) in [("t-old.csv", "t-new.csv", "nr=id,day=date"), ("t-new.csv", "t-old.csv", "id=nr,date=day")] {
            let key = old == "t-old.csv" ? "id" : "nr"
            let run = try scratch.firn("diff", old, new, "-k", key, "--rename", names, "--format", "summary")
            #expect(run.out.contains("1 changed, 2 unchanged") && run.errors.contains("compared as text"), "\(run.out)\(run.errors)")
        }
    }

    @Test func `a rename of columns that do not exist, twice or onto another column is an error`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,town,price\n1,Bern,10\n")
        try scratch.write("b.csv", "id,city,price\n1,Bern,10\n")
        for (value, part) in [
            ("twn=city", "a.csv: the column \"twn\" does not exist\n      did you mean \"town\"?"),
            ("town=cty", "b.csv: the column \"cty\" does not exist"),
            ("town=price", "a.csv: a column would be renamed to \"price\", which exists"), ("town=city,town=price", "names \"town\" twice"),
            ("town=city,price=city", "names \"city\" twice"), ("town", "--rename takes OLD=NEW, not \"town\""), ("town=", "not \"town=\""),
            ("=city", "not \"=city\""),
        ] {
            let run = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--rename", value)
            #expect(run.code == 2 && run.out.isEmpty && run.errors.contains(part), "\(value) \(run.errors)")
        }
        let changes = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--rename", "town=city", "--changes", "c.firn")
        #expect(changes.code == 2 && changes.errors.contains("omit --rename"), "\(changes.errors)")
    }

    @Test func `fields of objects are left out of a comparison, or compared by themselves`() throws {
        let scratch = try Scratch()
        func rows(_ official: String, _ common: String, _ note: String) -> String {
            #"[{"id":1,"name":{"official":"\#(official)","common":"\#(common)","other":{"note":"\#(note)"}},"tags":[{"n":1,"at":"\#(note)"}]}]"#
        }
        try scratch.write("a.json", rows("Swiss Confederation", "Swiss", "x"))
        try scratch.write("b.json", rows("Schweiz", "Swiss", "y"))
        try scratch.write("c.json", rows("Schweiz", "Suisse", "y"))
        for (old, new, flags, code) in [
            ("a", "b", [], 1), ("a", "b", ["--ignore", "name.official,name.other.note,tags.at"], 0),
            ("a", "b", ["--ignore", "name.official,name.other,tags"], 0),
            ("a", "b", ["--ignore", "name.official,name.other.note"], 1), ("a", "c", ["--ignore", "name.official,name.other,tags"], 1),
            ("a", "b", ["--columns", "name.common"], 0), ("a", "c", ["--columns", "name.common"], 1),
            ("b", "c", ["-c", "name.official,tags"], 0),
            ("b", "c", ["-c", "name.other.note"], 0), ("a", "c", ["-c", "name.other.note"], 1),
        ] as [(String, String, [String], Int32)] {
            for format in ["json", "firn"] {
                for name in [old, new] where format == "firn" {
                    #expect(try scratch.firn("convert", "\(name).json", "\(name).firn", "-k", "id", "-q", "--force").code == 0)
                }
                let run = try scratch.firn(["diff", "\(old).\(format)", "\(new).\(format)", "-k", "id"] + flags)
                #expect(run.code == code, "\(old) \(new) \(flags) \(format) \(run.out)\(run.errors)")
            }
        }
        let parts = try scratch.firn(
            "diff", "a.json", "c.json", "-k", "id", "--ignore", "name.official,name.other,tags", "--only", "changed")
        #expect(parts.out.contains("name.common: Swiss → Suisse\n") && !parts.out.contains("Schweiz"), "\(parts.out)")
        let chosen = try scratch.firn("diff", "a.json", "c.json", "-k", "id", "-c", "name.common", "--json")
        #expect(chosen.out.contains(#""cells":{"name.common":{"old":"Swiss","new":"Suisse"}}"#), "\(chosen.out)")
        let unknown = try scratch.firn("diff", "a.json", "c.json", "-k", "id", "--ignore", "name.offical")
        #expect(unknown.code == 2 && unknown.errors.contains("neither file has a column \"name.offical\""), "\(unknown.errors)")
    }
}
