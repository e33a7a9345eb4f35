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
    }
}
