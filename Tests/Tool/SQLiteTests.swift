import FirnKit
import Foundation
import Testing

/// SQLite databases as inputs of the command.
@Suite struct SQLiteTests {
    private func prepared() throws -> Scratch {
        let scratch = try Scratch()
        try FileManager.default.copyItem(at: Folders.fixtures.appending(path: "sqlite/shop.db"), to: scratch.file("shop.db"))
        return scratch
    }

    /// Removes the sizes and the time from the summary of `firn convert`.
    private func comparable(_ output: String) -> String {
        output.replacing(/(?m)^(\S+: [\d,]+ rows?), .*\d s$/) { "\($0.output.1)" }
    }

    @Test func `the guide to SQLite prints what the page shows`() throws {
        let scratch = try prepared(), steps = try Transcript(page: "sqlite.md").steps
        #expect(steps.count >= 6)
        for step in steps {
            #expect(comparable(try Transcript.run(step.command, in: scratch)) == comparable(step.output), "\(step.command)")
        }
    }

    @Test func `a converted database has the hash of its source, all keys, and no differences`() throws {
        let scratch = try prepared()
        for flags in [[], ["--links"], ["--views", "--internal"]] {
            #expect(try FirnRun(["convert", "shop.db", "out.firn", "--force", "-q"] + flags, in: scratch.folder).code == 0)
            #expect(try scratch.firn("verify", "--full", "out.firn").code == 0)
            let source = try FirnRun(["hash", "shop.db", "-q"] + flags, in: scratch.folder), stored = try scratch.firn("hash", "out.firn")
            #expect(source.out.replacing("shop.db", with: "x") == stored.out.replacing("out.firn", with: "x") && source.code == 0)
            let difference = try FirnRun(["diff", "shop.db", "out.firn"] + flags, in: scratch.folder)
            #expect(difference.code == 0, "\(difference.out) \(difference.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        #expect(names == ["out.firn", "shop.db"], "\(names)")
    }

    @Test func `a database with a log next to it is not replaced, with any command`() throws {
        let scratch = try prepared(), before = try Data(contentsOf: scratch.file("shop.db"))
        try scratch.write("a.ndjson", "{\"a\":1}\n")
        try scratch.write("shop.db-wal", "log")
        for words in [["convert", "-f", "a.ndjson", "shop.db"], ["query", "-f", "-o", "shop.db", "a.ndjson"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 5 && run.errors.contains("\"shop.db-wal\""), "\(words): \(run.code) \(run.errors)")
            #expect(try Data(contentsOf: scratch.file("shop.db")) == before && scratch.read("shop.db-wal") == "log")
        }
        try FileManager.default.removeItem(at: scratch.file("shop.db"))
        #expect(try scratch.firn("convert", "a.ndjson", "shop.db").code == 5)
        try FileManager.default.removeItem(at: scratch.file("shop.db-wal"))
        #expect(try scratch.firn("convert", "a.ndjson", "shop.db").code == 0)
        #expect(try scratch.firn("sql", "shop.db", "SELECT * FROM a", "--format", "csv").out == "a\n1\n")
    }

    @Test func `every command reads databases`() throws {
        let scratch = try prepared()
        for (words, expected) in [
            (["query", "shop.db:customer", "active == true", "--select", "name", "--format", "csv"], "name\nAnn\nCy\n"),
            (["query", "--type", "product", "shop.db", "price > 20", "--agg", "count", "--format", "csv"], "count\n2\n"),
            (
                ["query", "shop.db:purchase", "--links", "count > 1", "--select", "customer,count", "--format", "csv"],
                "customer,count\n1,2\n5,4\n"
            ),
            (["query", "--links", "shop.db:customer", "city.name == \"Oslo\"", "--agg", "count", "--format", "csv"], "count\n2\n"),
            (
                ["query", "shop.db:note", "--json-column", "tags", "tags CONTAINS \"oslo\"", "--select", "customer", "--format", "csv"],
                "customer\n1\n"
            ),
            (["sql", "--format", "csv", "shop.db", "SELECT count(*) AS n FROM customer JOIN city ON city = code"], "n\n3\n"),
            (
                ["convert", "--to", "csv", "--columns", "sku,price", "shop.db:product", "-"],
                "sku,price\nA-1,19.90\nB-2,250.00\nC-3,49.95\n"
            ),
            (["convert", "--to", "csv", "shop.db:spending", "-"], "customer,total\n1,289.8\n5,199.8\n"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0 && run.out == expected, "\(words): \(run.out) \(run.errors)")
        }
        #expect(try scratch.firn("query", "shop.db").code == 2)
        let unknown = try scratch.firn("query", "shop.db:custmer")
        #expect(unknown.code == 2 && unknown.errors.contains("did you mean \"customer\"?"), "\(unknown.errors)")
        try scratch.write("a.csv", "a\n1\n")
        for flag in ["--links", "--views"] { #expect(try scratch.firn("query", "a.csv", flag).code == 2) }
        #expect(try scratch.firn("convert", "shop.db", "x.firn", "--rejects", "r").code == 2)
    }

    @Test func `a database that was written from a file or another database has the same rows and tables`() throws {
        let scratch = try prepared()
        for flags in [[], ["--links"]] {
            #expect(try FirnRun(["convert", "shop.db", "shop.firn", "-q", "--force"] + flags, in: scratch.folder).code == 0)
            for source in ["shop.firn", "shop.db"] {
                let run = try FirnRun(
                    ["convert", source, "copy.db", "-q", "--force"] + (source == "shop.db" ? flags : []), in: scratch.folder)
                #expect(run.code == 0, "\(run.errors)")
                let hashes = try scratch.firn("hash", "shop.db", "copy.db", "-q").out.split(separator: "\n").filter { !$0.contains(":") }
                #expect(hashes.count == 2 && hashes[0].prefix(32) == hashes[1].prefix(32), "\(flags) \(source) \(hashes)")
                let linked = try scratch.firn("hash", "shop.db", "copy.db", "-q", "--links").out.split(separator: "\n").filter {
                    !$0.contains(":")
                }
                #expect(linked.count == 2 && linked[0].prefix(32) == linked[1].prefix(32), "\(flags) \(source) \(linked)")
            }
        }
        let schema = try scratch.firn("schema", "copy.db:customer", "--as", "sql")
        #expect(schema.out.contains("\"id\" BIGINT NOT NULL"), "\(schema.out)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        #expect(names == ["copy.db", "shop.db", "shop.firn"], "\(names)")
    }

    @Test func `files of all formats have one hash in SQLite`() throws {
        let scratch = try Scratch(), fixtures = Folders.fixtures
        try scratch.write(
            "a.ndjson", "{\"a\":1,\"b\":[1,\"x\",{\"c\":null}],\"d\":{\"e\":\"ü\",\"f\":[[1],[]]}}\n{\"a\":\"x\",\"b\":true}\n")
        try scratch.write("b.csv", "id,day,price,ok,odd\n1,02.03.2024,1.50,True,007\n2,03.03.2024,2.00,False,x\n3,,NA,True,\n")
        var paths = ["a.ndjson", "b.csv"]
        for name in ["types-v1", "nested", "encodings"] { paths.append(fixtures.appending(path: "parquet/\(name).parquet").path) }
        for name in ["many_commits"] { paths.append(fixtures.appending(path: "realm/\(name).realm").path) }
        for path in paths {
            #expect(try scratch.firn("convert", path, "a.firn", "-q", "--force").code == 0)
            let run = try scratch.firn("convert", "a.firn", "a.db", "-q", "--force")
            #expect(run.code == 0, "\(path) \(run.errors)")
            let stored = try scratch.firn("hash", "a.firn"), written = try scratch.firn("hash", "a.db", "-q")
            #expect(stored.out.prefix(32) == written.out.prefix(32), "\(path) \(written.errors)")
            let direct = try scratch.firn("convert", path, "b.db", "-q", "--force"), hash = try scratch.firn("hash", "b.db", "-q")
            #expect(direct.code == 0 && hash.out.prefix(32) == stored.out.prefix(32), "\(path) \(direct.errors)")
        }
        #expect(try scratch.firn("convert", "b.csv", "b.db", "-q", "--force").code == 0)
        let back = try scratch.firn("convert", "b.db", "-", "--to", "csv", "-q")
        #expect(back.out.hasPrefix("id,day,price,ok,odd\n1,02.03.2024,1.50,True,007\n"), "\(back.out)")
    }

    @Test func `dates outside of the years 0 to 9999 come back from SQLite as text, which is reported`() throws {
        let scratch = try Scratch(), source = Folders.fixtures.appending(path: "realm/all_types.realm").path
        #expect(try scratch.firn("convert", source, "a.firn", "-q").code == 0)
        #expect(try scratch.firn("convert", "a.firn", "a.db", "-q").code == 0)
        let run = try scratch.firn("convert", "a.db", "b.firn")
        #expect(run.code == 0 && run.errors.contains("column \"AllRequired.ts\" is string: 2 values are not date"), "\(run.errors)")
        let dates = try scratch.firn("query", "b.firn:AllRequired", "-s", "ts", "--format", "csv").out
        #expect(dates.contains("\n+73069258126-09-25T03:52:31.000000005Z\n"), "\(dates)")
    }

    @Test func `targets that cannot be databases, and failures, leave the target unchanged`() throws {
        let scratch = try prepared()
        try scratch.write("twice.csv", "id,x\n1,a\n1,b\n")
        try scratch.write("old.db", "old")
        #expect(try scratch.firn("convert", "shop.db", "old.db").code == 5)
        let twice = try scratch.firn("convert", "twice.csv", "old.db", "--key", "id", "--force")
        #expect(twice.code == 3 && twice.errors.contains("UNIQUE constraint failed"), "\(twice.errors)")
        #expect(try scratch.read("old.db") == "old")
        #expect(try scratch.firn("convert", "shop.db", "-", "--to", "sqlite").code == 2)
        #expect(try scratch.firn("convert", "shop.db", "x.db.gz").code == 2)
    }

    static let pairs: [(name: String, key: String, counts: [Int])] = [
        ("country-codes", "ISO3166-1-Alpha-3", [0, 1, 137, 112]), ("football-en1", "team1,team2", [0, 0, 181, 199]),
        ("gemoji", "emoji", [155, 0, 41, 1674]), ("lichess-openings-c", "pgn", [108, 26, 171, 971]),
        ("mime-db", "key", [444, 4, 109, 2048]),
        ("pokeapi-pokemon", "id", [233, 0, 1070, 48]), ("sp500-constituents", "Symbol", [63, 63, 123, 317]),
        ("unicode-emoji", "key", [101, 0, 27, 1778]),
    ]

    @Test(.enabled(if: SharedData.file("pairs/gemoji/meta.json") != nil, "the test data is not next to the package"), arguments: pairs)
    func `the difference of two versions is the same in SQLite and crosswise`(_ pair: (name: String, key: String, counts: [Int])) throws {
        let scratch = try Scratch(), folder = try #require(SharedData.file("pairs/\(pair.name)"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        var paths: [String: String] = [:]
        for side in ["old", "new"] {
            let source = folder.appending(path: try #require(names.first { $0.hasPrefix(side + ".") })).path
            paths[side] = source
            let run = try scratch.firn("convert", source, "\(side).db", "-q")
            #expect(run.code == 0, "\(run.errors)")
        }
        for (old, new) in [("old.db", "new.db"), (paths["old"] ?? "", "new.db"), ("old.db", paths["new"] ?? "")] {
            let run = try scratch.firn("diff", old, new, "--key", pair.key, "--format", "summary", "--json", "-q", "--duplicates", "first")
            let line = run.out.split(separator: "\n").last ?? ""
            let found = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let counts = ["added", "removed", "changed", "unchanged"].map { found?[$0] as? Int ?? -1 }
            #expect(counts == pair.counts, "\(old) \(new) \(run.errors)")
        }
    }

    @Test func `changes between two databases are applied to a file`() throws {
        let scratch = try prepared()
        #expect(try scratch.firn("convert", "shop.db:product", "old.firn", "-q").code == 0)
        var csv = try scratch.firn("convert", "shop.db:product", "-", "--to", "csv", "-q").out
        csv = csv.replacing("49.95", with: "45.00")
        try scratch.write("new.csv", csv)
        #expect(try scratch.firn("convert", "new.csv", "new.firn", "--key", "sku", "--type", "product", "-q").code == 0)
        let difference = try scratch.firn("diff", "shop.db:product", "new.firn", "--changes", "c.firn")
        #expect(difference.code == 1, "\(difference.errors)")
        let patch = try scratch.firn("patch", "old.firn", "c.firn")
        #expect(patch.code == 0, "\(patch.out) \(patch.errors)")
        #expect(try scratch.firn("query", "old.firn", "price == 45", "--agg", "count", "--format", "csv").out == "count\n1\n")
    }

    @Test func `damaged, foreign and compressed databases`() throws {
        let scratch = try prepared(), whole = try Data(contentsOf: scratch.file("shop.db"))
        try whole.dropLast(100).write(to: scratch.file("cut.db"))
        let cut = try scratch.firn("convert", "cut.db", "out.firn")
        #expect(cut.code == 4 && cut.errors.contains("not whole pages") && !scratch.has("out.firn"), "\(cut.errors)")
        try scratch.write("text.db", "a,b\n1,2\n")
        let text = try scratch.firn("schema", "text.db")
        #expect(text.code == 4 && text.errors.contains("not an SQLite database"), "\(text.errors)")
        try whole.write(to: scratch.file("other.csv"))
        #expect(try scratch.firn("query", "other.csv:city", "--agg", "count", "--format", "csv").out == "count\n2\n")
        let piped = try Process.run(
            URL(filePath: "/bin/sh"),
            arguments: ["-c", "cd '\(scratch.folder.path)' && gzip -k shop.db && '\(FirnRun.binary.path)' convert -q shop.db.gz out.firn"])
        piped.wait()
        #expect(piped.terminationStatus == 0 && scratch.has("out.firn"))
    }

    @Test(.enabled(if: SharedData.file("sqlite/northwind.db") != nil, "the test data is not next to the package"))
    func `northwind has the rows that SQLite itself reports`() throws {
        let scratch = try Scratch(), path = try #require(SharedData.file("sqlite/northwind.db")).path
        for (table, count) in [
            ("Categories", 8), ("Customers", 93), ("Employees", 9), ("EmployeeTerritories", 49), ("Order Details", 2155), ("Orders", 830),
            ("Products", 77), ("Regions", 4), ("Shippers", 3), ("Suppliers", 29), ("Territories", 53),
        ] {
            let run = try scratch.firn("query", "\(path):\(table)", "--agg", "count", "--format", "csv")
            #expect(run.out == "count\n\(count)\n", "\(table): \(run.errors)")
        }
        let freight = try scratch.firn("query", "\(path):Orders", "--agg", "sum(Freight) as s", "--format", "csv")
        #expect(freight.out.contains("64942.69"), "\(freight.out)")
        #expect(try scratch.firn("convert", path, "n.firn", "-q").code == 0)
        #expect(try scratch.firn("convert", "n.firn", "n.db", "-q").code == 0)
        let hashes = try scratch.firn("hash", path, "n.db", "-q").out.split(separator: "\n").filter { !$0.contains(":") }
        #expect(hashes.count == 2 && hashes[0].prefix(32) == hashes[1].prefix(32))
    }
}
