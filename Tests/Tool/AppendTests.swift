import FirnKit
import Foundation
import Testing

@Suite struct AppendTests {
    /// A file with a key, an optional column and a tagged version.
    private func people() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("people.csv", "id,name,age\n1,Ann,36\n2,Bo,\n")
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id", "-q").code == 0)
        return scratch
    }

    private func rows(_ scratch: Scratch, _ file: String = "people.firn") throws -> String {
        try scratch.firn("query", file, "--format", "csv").out
    }

    @Test func `append adds the rows of a CSV file in one version, and keeps older versions and tags`() throws {
        let scratch = try people()
        #expect(try scratch.firn("tag", "people.firn", "first").code == 0)
        try scratch.write("more.csv", "age,id,name\n7,3,Cy\n,4,Di\n")
        let run = try scratch.firn("append", "people.firn", "more.csv")
        #expect(run.code == 0 && run.out == "people.firn:people: version 3: 2 added, 0 removed, 0 changed\n", "\(run.out)\(run.errors)")
        #expect(run.errors == "")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n3,Cy,7\n4,Di,\n")
        #expect(try rows(scratch, "people.firn@first") == "id,name,age\n1,Ann,36\n2,Bo,\n")
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
    }

    @Test func `append reads several inputs, folders, compressed text and standard input as one version`() throws {
        let scratch = try people()
        try FileManager.default.createDirectory(at: scratch.file("in"), withIntermediateDirectories: true)
        try scratch.write("in/a.csv", "id,name\n3,Cy\n")
        try scratch.write("in/b.ndjson", "{\"id\":4,\"name\":\"Di\",\"age\":9}\n")
        try scratch.write("c.csv", "id,name,age\n5,Ed,1\n")
        #expect(try scratch.firn("convert", "c.csv", "c.csv.gz", "-q").code == 0)
        let run = try scratch.firn("append", "people.firn", "in", "c.csv.gz", "-", input: "id;name;age\n6;Flo;2\n")
        #expect(run.code == 0 && run.out.contains("version 2: 4 added"), "\(run.out)\(run.errors)")
        #expect(run.errors.contains("in/a.csv: column \"age\" is not in the input; null in its rows"), "\(run.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n3,Cy,\n4,Di,9\n5,Ed,1\n6,Flo,2\n")
    }

    @Test func `rows of other formats are added if their values fit`() throws {
        let scratch = try people()
        for (i, format) in ["parquet", "arrow", "json", "sqlite", "firn", "tsv"].enumerated() {
            try scratch.write("m.csv", "id,name,age\n\(i + 3),Cy,\(i)\n")
            #expect(try scratch.firn("convert", "m.csv", "m.\(format)", "-f", "-q").code == 0)
            let run = try scratch.firn("append", "people.firn", "m.\(format)")
            #expect(run.code == 0 && run.out.contains("1 added"), "\(format): \(run.out)\(run.errors)")
        }
        let found = try rows(scratch)
        #expect(found.hasSuffix("3,Cy,0\n4,Cy,1\n5,Cy,2\n6,Cy,3\n7,Cy,4\n8,Cy,5\n"), "\(found)")
        // A double that is no integer.
        try scratch.write("half.csv", "id,name,age\n9,Cy,1.5\n")
        #expect(try scratch.firn("convert", "half.csv", "half.parquet", "-q").code == 0)
        let run = try scratch.firn("append", "people.firn", "half.parquet")
        #expect(
            run.code == 3 && run.errors.contains("half.parquet: row 1: column \"age\" is int?, and the input has double"), "\(run.errors)")
    }

    @Test func `a column that the file lacks is an error with its name, and nothing is written`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        try scratch.write("more.csv", "id,name,city\n3,Cy,Rome\n")
        let run = try scratch.firn("append", "people.firn", "more.csv")
        #expect(
            run.code == 3 && run.out == ""
                && run.errors.contains("more.csv: type \"people\" has no column \"city\", which the input has")
                && run.errors.contains("firn patch"), "\(run.errors)")
        try scratch.write("more.csv", "id,nam\n3,Cy\n")
        let near = try scratch.firn("append", "people.firn", "more.csv")
        #expect(near.code == 3 && near.errors.contains("did you mean \"name\"?"), "\(near.errors)")
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
    }

    @Test func `a missing column that cannot be null is an error`() throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,age\n3,1\n")
        let run = try scratch.firn("append", "people.firn", "more.csv")
        #expect(run.code == 3 && run.errors.contains("more.csv: column \"name\" of type \"people\" cannot be null"), "\(run.errors)")
        let lines = try scratch.firn("append", "people.firn", "-", input: "{\"id\":3,\"age\":1}\n")
        #expect(lines.code == 3 && lines.errors.contains("\"name\""), "\(lines.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n")
    }

    @Test func `a value that does not fit its column is an error with its position, and --rejects leaves the row out`() throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,name,age\n3,Cy,old\n4,Di,5\n")
        let run = try scratch.firn("append", "people.firn", "more.csv")
        #expect(run.code == 3 && run.errors.contains("more.csv:2") && run.errors.contains("old"), "\(run.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n")
        let rest = try scratch.firn("append", "people.firn", "more.csv", "--rejects", "bad.csv")
        #expect(rest.code == 3 && rest.out.contains("version 2: 1 added, 0 removed, 0 changed, 1 rejected"), "\(rest.out)\(rest.errors)")
        #expect(try scratch.read("bad.csv") == "3,Cy,old\n")
    }

    @Test(arguments: [1, 6000])
    func `a key that exists or is repeated is an error with its input and row`(count: Int) throws {
        let scratch = try people()
        let many = (0..<count).map { "\($0 + 10),x,1\n" }.joined()
        try scratch.write("a.csv", "id,name,age\n" + many)
        try scratch.write("b.csv", "id,name,age\n5,new,\n2,old,\n")
        let known = try scratch.firn("append", "people.firn", "a.csv", "b.csv")
        #expect(
            known.code == 3 && known.errors.contains("b.csv: row 2: type \"people\" already has a row with the key id = 2")
                && known.errors.contains("firn upsert"), "\(known.errors)")
        try scratch.write("b.csv", "id,name,age\n5,new,\n10,twice,\n")
        let twice = try scratch.firn("append", "people.firn", "a.csv", "b.csv")
        #expect(
            twice.code == 3 && twice.errors.contains("b.csv: row 2: the key id = 10 is also in row 1 of a.csv"), "\(twice.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n")
        #expect(try scratch.firn("log", "people.firn", "--json").out.contains("\"version\":2") == false)
    }

    @Test func `many rows are appended as segments`() throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,name,age\n" + (3...20_000).map { "\($0),name \($0),\($0 % 90)\n" }.joined())
        let run = try scratch.firn("append", "people.firn", "more.csv")
        #expect(run.code == 0 && run.out.contains("19,998 added"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("query", "people.firn", "id == 20000", "--format", "csv").out == "id,name,age\n20000,name 20000,20\n")
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
    }

    @Test func `--dry-run reports and changes nothing`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        try scratch.write("more.csv", "id,name,age\n3,Cy,1\n4,Di,\n")
        let run = try scratch.firn("append", "--dry-run", "people.firn", "more.csv")
        #expect(
            run.code == 0 && run.out == "people.firn:people: would be 2 added, 0 removed, 0 changed; nothing was written\n",
            "\(run.out)\(run.errors)")
        try scratch.write("more.csv", "id,name,age\n1,Cy,1\n")
        #expect(try scratch.firn("append", "--dry-run", "people.firn", "more.csv").code == 3)
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
    }

    @Test func `--json prints one object, --quiet prints nothing, and an input without rows makes no version`() throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,name\n3,Cy\n")
        let run = try scratch.firn("append", "--json", "people.firn", "more.csv").out
        for part in [#""type":"people""#, #""added":1"#, #""removed":0"#, #""changed":0"#, #""version":2"#, "null in its rows"] {
            #expect(run.contains(part), "\(run)")
        }
        try scratch.write("more.csv", "id,name\n4,Cy\n")
        let quiet = try scratch.firn("append", "-q", "people.firn", "more.csv")
        #expect(quiet.code == 0 && quiet.out == "" && quiet.errors == "")
        try scratch.write("more.csv", "id,name\n")
        let none = try scratch.firn("append", "people.firn", "more.csv")
        #expect(none.code == 0 && none.out.contains("nothing to change, no new version"), "\(none.out)\(none.errors)")
    }

    @Test func `the type is chosen by --type or FILE:Type if there are several`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x\n1\n")
        let sql = "CREATE TABLE one (x INTEGER); CREATE TABLE two (x INTEGER);"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import sqlite3; sqlite3.connect('d.sqlite').executescript('\(sql)')"]
        process.currentDirectoryURL = scratch.folder
        try process.run()
        process.wait()
        #expect(try scratch.firn("convert", "d.sqlite", "d.firn", "-q").code == 0)
        let run = try scratch.firn("append", "d.firn", "a.csv")
        #expect(run.code == 2 && run.errors.contains("several types"), "\(run.errors)")
        #expect(try scratch.firn("append", "d.firn", "-t", "two", "a.csv").out.contains("d.firn:two: version 2: 1 added"))
        #expect(try scratch.firn("append", "d.firn:one", "a.csv").out.contains("d.firn:one: version 3: 1 added"))
        #expect(try scratch.firn("append", "d.firn", "-t", "three", "a.csv").code == 2)
    }

    @Test func `an encrypted file is changed with its key, and stays encrypted`() throws {
        let scratch = try Scratch()
        try scratch.write("key", (0..<64).map { String(format: "%02x", $0) }.joined())
        try scratch.write("a.csv", "id,name\n1,Ann\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id", "--new-key-file", "key", "-q").code == 0)
        try scratch.write("b.csv", "id,name\n2,Bo\n")
        #expect(try scratch.firn("append", "a.firn", "b.csv").code == 4)
        let run = try scratch.firn("append", "a.firn", "b.csv", "--key-file", "key")
        #expect(run.code == 0 && run.out.contains("1 added"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("query", "a.firn").code == 4)
        #expect(try scratch.firn("query", "a.firn", "--key-file", "key", "--format", "csv").out == "id,name\n1,Ann\n2,Bo\n")
    }

    @Test func `FILE must be an existing .firn file at its newest version`() throws {
        let scratch = try people()
        #expect(try scratch.firn("append", "people.firn@1", "people.csv").code == 2)
        let other = try scratch.firn("append", "people.csv", "people.csv")
        #expect(other.code == 4 && other.errors.contains("firn convert"), "\(other.errors)")
        let none = try scratch.firn("append", "none.firn", "people.csv")
        #expect(none.code == 5 && none.errors.contains("firn convert INPUT none.firn"), "\(none.errors)")
        #expect(try scratch.firn("append", "people.firn", "none.csv").code == 5)
        #expect(try scratch.firn("append", "people.firn").code == 2)
        #expect(try scratch.firn("append", "people.firn", "people.csv", "--rows", "/x").code == 2)
    }

    @Test func `--filename adds the path of the input to a column of the file`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x\n1\n")
        try scratch.write("b.csv", "x\n2\n")
        #expect(try scratch.firn("convert", "--filename", "source", "a.csv", "all.firn", "-q").code == 0)
        let run = try scratch.firn("append", "--filename", "source", "all.firn", "b.csv")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try rows(scratch, "all.firn") == "x,source\n1,a.csv\n2,b.csv\n")
    }

    @Test func `objects, lists and maps are read from JSON, and from CSV with paths and JSON`() throws {
        let scratch = try Scratch()
        try scratch.write("a.ndjson", "{\"id\":1,\"name\":{\"first\":\"Ann\",\"last\":\"Lee\"},\"tags\":[\"a\"]}\n")
        #expect(try scratch.firn("convert", "a.ndjson", "a.firn", "-q").code == 0)
        let lines = try scratch.firn(
            "append", "a.firn", "-", input: "{\"id\":2,\"name\":{\"last\":\"Ray\",\"first\":\"Bo\"},\"tags\":[]}\n")
        #expect(lines.code == 0, "\(lines.errors)")
        try scratch.write("b.csv", "id,name.first,name.last,tags\n3,Cy,Fox,\"[\"\"b\"\",\"\"c\"\"]\"\n")
        let cells = try scratch.firn("append", "a.firn", "b.csv")
        #expect(cells.code == 0, "\(cells.errors)")
        #expect(
            try scratch.firn("query", "a.firn", "--format", "ndjson").out == """
                {"id":1,"name":{"first":"Ann","last":"Lee"},"tags":["a"]}
                {"id":2,"name":{"first":"Bo","last":"Ray"},"tags":[]}
                {"id":3,"name":{"first":"Cy","last":"Fox"},"tags":["b","c"]}

                """)
        let field = try scratch.firn(
            "append", "a.firn", "-", input: "{\"id\":4,\"name\":{\"first\":\"D\",\"last\":\"E\",\"x\":1},\"tags\":[]}\n")
        #expect(field.code == 3 && field.errors.contains("\"x\""), "\(field.errors)")
    }

    @Test func `columns from the names of folders are added if the file has them`() throws {
        let scratch = try Scratch()
        for year in ["2023", "2024", "2025"] {
            try FileManager.default.createDirectory(at: scratch.file("in/year=\(year)"), withIntermediateDirectories: true)
            try scratch.write("a.csv", "x\n\(year.suffix(1))\n")
            #expect(try scratch.firn("convert", "a.csv", "in/year=\(year)/a.parquet", "-q").code == 0)
        }
        #expect(try scratch.firn("convert", "in/year=2023/a.parquet", "in/year=2024/a.parquet", "all.firn", "-q").code == 0)
        let run = try scratch.firn("append", "all.firn", "in/year=2025")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try rows(scratch, "all.firn") == "x,year\n3,2023\n4,2024\n5,2025\n")
    }

    @Test func `several processes append one after the other`() throws {
        let scratch = try people()
        let processes = try (3...8).map { id in
            try scratch.write("\(id).csv", "id,name\n\(id),x\n")
            let process = Process()
            process.executableURL = FirnRun.binary
            process.arguments = ["append", "-q", "people.firn", "\(id).csv"]
            process.currentDirectoryURL = scratch.folder
            try process.run()
            return process
        }
        for process in processes {
            process.wait(seconds: 60)
            #expect(process.terminationStatus == 0)
        }
        #expect(try scratch.firn("query", "people.firn", "-a", "count", "--format", "csv").out == "count\n8\n")
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
    }

    @Test func `a column of links is refused`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "s.json",
            """
            {"v":1,"type":"P","key":["id"],"columns":[{"name":"id","type":"int"},{"name":"up","type":"link<P>?"}]}

            """)
        try scratch.write("p.csv", "id,up\n1,\n2,0\n")
        #expect(try scratch.firn("convert", "--schema", "s.json", "p.csv", "p.firn", "-q").code == 0)
        let run = try scratch.firn("append", "p.firn", "-", input: "id,up\n3,1\n")
        #expect(run.code == 3 && run.errors.contains("column \"up\" has links"), "\(run.errors)")
        let rest = try scratch.firn("append", "p.firn", "-", input: "id\n3\n")
        #expect(rest.code == 0, "\(rest.errors)")
        // Links to deleted rows become null.
        #expect(try scratch.firn("delete", "p.firn", "id == 1").code == 0)
        #expect(try scratch.firn("query", "p.firn", "up == nil", "-s", "id", "--format", "csv").out == "id\n2\n3\n")
        #expect(try scratch.firn("verify", "--full", "p.firn").code == 0)
    }
}

/// Cells that the columns of a file cannot have.
@Suite struct AddedCellTests {
    @Test func `cells that are no values of the column are errors, also in a column that has original texts`() throws {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id,a,n\n1,1.50,5\n2,NA,NA\n3,7.25,6\n")
        #expect(try scratch.firn("convert", "--key", "id", "p.csv", "p.firn").code == 0)
        let before = try scratch.firn("hash", "p.firn").out
        for cells in ["\"9,99\",1", "A12,1", "1,B77", "1,1.5", "1,99999999999999999999", "1,2024-01-01", "soon,1"] {
            for command in ["append", "upsert"] {
                let run = try scratch.firn(command, "p.firn", "-", input: "id,a,n\n9,\(cells)\n")
                #expect(run.code != 0, "\(command) \(cells): \(run.out) \(run.errors)")
            }
        }
        #expect(try scratch.firn("hash", "p.firn").out == before)
        // Texts that usually mean null, and other spellings of numbers, are kept as in `convert`.
        #expect(try scratch.firn("append", "p.firn", "-", input: "id,a,n\n10,NA,NA\n11,.5,7\n12,3,8\n").code == 0)
        #expect(try scratch.firn("query", "p.firn", "id >= 10", "-a", "sum(a),sum(n)", "--format", "csv").out == "sum(a),sum(n)\n3.5,15\n")
    }

    @Test func `numbers with the other decimal mark never become null, also in a column that has original texts`() throws {
        let scratch = try Scratch()
        try scratch.write("e.csv", "id;p\n1;1,5\n2;7,25\n3;NA\n")
        #expect(try scratch.firn("convert", "--key", "id", "e.csv", "e.firn").code == 0)
        let cells = ["0.125", "2.5\n11,3.125\n12,98", "3.125\n11,-2.750\n12,40", "1234.567", "2.5\n11,NA", "7.75\n11,12.125\n12,3"]
        for cell in cells {
            for command in ["append", "upsert"] {
                try FileManager.default.copyItem(at: scratch.file("e.firn"), to: scratch.file("c.firn"))
                let text = "id,p\n10,\(cell)\n", run = try scratch.firn(command, "c.firn", "-", input: text)
                if run.code == 0 {
                    try scratch.write("plain.csv", text)
                    let wanted = try scratch.firn("query", "plain.csv", "-a", "sum(p),count(p)", "--format", "csv").out
                    #expect(
                        try scratch.firn("query", "c.firn", "id >= 10", "-a", "sum(p),count(p)", "--format", "csv").out == wanted, "\(cell)"
                    )
                } else {
                    #expect(run.code == 3 && run.errors.contains("--decimal"), "\(cell): \(run.errors)")
                }
                let exact = try scratch.firn(command, "c.firn", "-", "--decimal", ".", input: text)
                #expect(exact.code == (command == "append" && run.code == 0 ? 3 : 0), "\(cell): \(exact.errors)")
                try FileManager.default.removeItem(at: scratch.file("c.firn"))
            }
        }
    }

    @Test func `one JSON document is not taken apart without --rows`() throws {
        let scratch = try Scratch()
        let rows = (1...3).map { "{\"id\":\($0),\"items\":[{\"id\":5},{\"id\":6}]}\n" }.joined()
        try scratch.write("k.ndjson", rows + "{\"id\":4}\n")
        #expect(try scratch.firn("convert", "--key", "id", "k.ndjson", "k.firn").code == 0)
        try scratch.write("one.json", "{\"id\":9,\"items\":[{\"id\":1},{\"id\":77}]}\n")
        let run = try scratch.firn("upsert", "k.firn", "one.json")
        #expect(run.code == 2 && run.errors.contains("--rows ''"), "\(run.errors)")
        #expect(try scratch.firn("upsert", "k.firn", "one.json", "--rows", "").code == 0)
        #expect(try scratch.firn("query", "k.firn", "-a", "count,max(id)", "--format", "csv").out == "count,max(id)\n5,9\n")
    }

    @Test func `an upsert of CSV with some fields of an object is refused, because the others would be lost`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "o.ndjson", "{\"id\":1,\"name\":{\"first\":\"Ann\",\"last\":\"Lee\"}}\n{\"id\":2,\"name\":{\"first\":\"Bo\",\"last\":\"Ek\"}}\n"
        )
        #expect(try scratch.firn("convert", "--key", "id", "o.ndjson", "o.firn").code == 0)
        let run = try scratch.firn("upsert", "o.firn", "-", input: "id,name.first\n1,Anna\n")
        #expect(run.code != 0 && run.errors.contains("name.last"), "\(run.errors)")
        #expect(try scratch.firn("upsert", "o.firn", "-", input: "id,name.first,name.last\n1,Anna,Lee\n").code == 0)
        #expect(
            try scratch.firn("query", "o.firn", "name.last == 'Lee' AND name.first == 'Anna'", "-a", "count", "--format", "csv").out
                == "count\n1\n")
    }

    @Test func `the exit code of an interrupted command is 130 only if no row was added`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        try scratch.write("in.csv", "v\na\n")
        try scratch.write("more.csv", "v\n" + (0..<20_000).map { "value \($0)\n" }.joined())
        for turn in 0..<12 {
            #expect(try scratch.firn("convert", "in.csv", "a.firn", "-q", "--force").code == 0)
            func size() throws -> Int { try Data(contentsOf: file).count }
            let before = try size(), process = Process()
            process.executableURL = FirnRun.binary
            process.arguments = ["append", file.path, scratch.file("more.csv").path, "--quiet"]
            process.standardError = FileHandle.nullDevice
            try process.run()
            // The commit is about to be written when the file grows.
            let deadline = Date().addingTimeInterval(20)
            while process.isRunning, try size() == before, Date() < deadline {}
            usleep(UInt32(turn % 4 * 500))
            process.interrupt()
            process.wait()
            let rows = try scratch.firn("query", "a.firn", "-a", "count", "--format", "csv").out
            #expect(
                process.terminationReason == .exit && (process.terminationStatus == 0) == rows.contains("20001")
                    && [0, 130].contains(process.terminationStatus), "turn \(turn): \(process.terminationStatus), \(rows)")
        }
    }
}
