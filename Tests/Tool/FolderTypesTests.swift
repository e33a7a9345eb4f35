import FirnKit
import Foundation
import Testing

/// Folders of Parquet and Arrow files that were written from an input of several types.
@Suite struct FolderTypesTests {
    private static let formats = ["parquet", "arrow"]

    /// Makes `t.firn` from a fixture with links between its types.
    private func source(_ fixture: String, _ flags: String...) throws -> Scratch {
        let scratch = try Scratch(), name = URL(filePath: fixture).lastPathComponent
        try FileManager.default.copyItem(at: Folders.fixtures.appending(path: fixture), to: scratch.file(name))
        let run = try FirnRun(["convert", name, "t.firn", "-q"] + flags, in: scratch.folder)
        #expect(run.code == 0, "\(run.errors)")
        return scratch
    }

    private func hash(_ scratch: Scratch, _ file: String) throws -> String {
        let run = try scratch.firn("hash", file)
        #expect(run.code == 0, "\(run.errors)")
        return String(run.out.prefix(32))
    }

    @Test(arguments: formats) func `a folder that was written from several types is read as these types, with their links`(format: String)
        throws
    {
        for scratch in [try source("sqlite/shop.db", "--links"), try source("realm/links.realm")] {
            let run = try scratch.firn("convert", "t.firn", "out/", "--to", format)
            #expect(run.code == 0 && !run.errors.contains("row ids"), "\(run.errors)")
            let expected = try hash(scratch, "t.firn")
            #expect(try hash(scratch, "out") == expected)
            let back = try scratch.firn("convert", "out", "back.firn")
            #expect(back.code == 0 && !back.errors.contains("column"), "\(back.errors)")
            #expect(try hash(scratch, "back.firn") == expected)
        }
    }

    @Test(arguments: formats + ["db"]) func `queries follow links among values of any kind`(format: String) throws {
        let scratch = try source("realm/links.realm"), question = ["`any`.name != nil", "--agg", "count", "--format", "csv"]
        let target = format == "db" ? "t.db" : "out/"
        #expect(try scratch.firn("convert", "t.firn", target, "--to", format == "db" ? "sqlite" : format, "-q").code == 0)
        let expected = try FirnRun(["query", "t.firn:Person"] + question, in: scratch.folder).out
        #expect(expected.hasPrefix("count\n") && expected != "count\n0\n")
        #expect(try FirnRun(["query", "\(target.hasSuffix("/") ? "out" : target):Person"] + question, in: scratch.folder).out == expected)
        // A database stores typed links as numbers.
        if format != "db" { #expect(try hash(scratch, target) == hash(scratch, "t.firn")) }
    }

    @Test(arguments: formats) func `queries name a type of a folder, and follow its links`(format: String) throws {
        let scratch = try source("sqlite/shop.db", "--links")
        #expect(try scratch.firn("convert", "t.firn", "out/", "--to", format, "-q").code == 0)
        for operand in ["out:customer", "out/:customer"] {
            let query = try scratch.firn("query", operand, "city.name == 'Oslo'", "--agg", "count", "--format", "csv")
            #expect(query.out == "count\n2\n", "\(query.out)\(query.errors)")
        }
        let unknown = try scratch.firn("query", "out:nothing")
        #expect(unknown.code != 0 && unknown.errors.contains("nothing"), "\(unknown.errors)")
        let several = try scratch.firn("query", "out")
        #expect(several.code == 2 && several.errors.contains("several types") && several.errors.contains("customer"), "\(several.errors)")
        let sql = try scratch.firn("sql", "--format", "csv", "out", "SELECT count(*) AS n FROM customer")
        #expect(sql.code == 0 && sql.out.hasPrefix("n\n"), "\(sql.out)\(sql.errors)")
    }

    @Test(arguments: formats) func `files of a folder that were written one by one are one table`(format: String) throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(at: scratch.file("days"), withIntermediateDirectories: true)
        for day in ["mon", "tue"] {
            try scratch.write("\(day).csv", "n,a,b,c\n1,2,3,4\n")
            #expect(try scratch.firn("convert", "\(day).csv", "days/\(day).\(format)", "-q").code == 0)
        }
        #expect(try scratch.firn("query", "days", "-a", "count", "--format", "csv").out == "count\n2\n")
        try scratch.write("wed.csv", "n\n1\n")
        #expect(try scratch.firn("convert", "wed.csv", "days/wed.\(format)", "-q").code == 0)
        let run = try scratch.firn("convert", "days", "days.firn")
        // One line for all columns that the third file lacks.
        #expect(
            run.errors.contains("columns \"a\", \"b\", \"c\": in 2 of 3 inputs; null in the others")
                && run.errors.split(separator: "\n").count { $0.contains("column") } == 1, "\(run.errors)")
    }

    @Test(arguments: formats) func `the files of a folder are replaced only when all of them are complete`(format: String) throws {
        let scratch = try source("sqlite/shop.db", "--links")
        #expect(try scratch.firn("convert", "t.firn", "out/", "--to", format, "-q").code == 0)
        let out = scratch.file("out"), names = try FileManager.default.contentsOfDirectory(atPath: out.path).sorted()
        func facts() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: out.path).sorted().map { name in
                let facts = try FileManager.default.attributesOfItem(atPath: out.appending(path: name).path)
                return "\(name) \(facts[.systemFileNumber] ?? "") \(facts[.size] ?? "")"
            }
        }
        let sizes = try names.map { try Data(contentsOf: out.appending(path: $0)).count }, before = try facts()
        // Some of the files are larger than the limit, and others are not.
        let limit = (sizes.max() ?? 0) / 1024
        try #require(limit > 0 && (sizes.min() ?? 0) <= limit * 1024 && names.count > 1)
        for target in ["out/", "new/"] {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/bash")
            process.arguments = [
                "-c", "trap '' XFSZ; ulimit -f \(limit); exec \"$0\" convert -q -f t.firn \(target) --to \(format) 2> errors.txt",
                FirnRun.binary.path,
            ]
            process.currentDirectoryURL = scratch.folder
            try process.run()
            process.wait()
            let errors = try scratch.read("errors.txt")
            #expect(process.terminationStatus == 5, "\(target): \(errors)")
        }
        #expect(try facts() == before)
        #expect(!scratch.has("new"))
    }
}
