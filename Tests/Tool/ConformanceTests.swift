import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// A format that the command writes and reads.
struct OutsideFormat: CustomTestStringConvertible, Sendable {
    /// The extension of its files.
    var name: String
    /// Whether it holds lists and objects as what they are or as JSON that `firn hash` reads as such.
    var isNested = true
    /// The number of columns that a table can have, if it is limited.
    var maximumColumns: Int?

    var testDescription: String { name }

    static let all = [
        OutsideFormat(name: "parquet"), OutsideFormat(name: "arrow"), OutsideFormat(name: "arrows"),
        OutsideFormat(name: "db", isNested: false, maximumColumns: 2000), OutsideFormat(name: "json"), OutsideFormat(name: "ndjson"),
        OutsideFormat(name: "csv", isNested: false),
    ]
    /// Those whose files hold the type of every column.
    static let typed = all.filter { !["json", "ndjson", "csv"].contains($0.name) }
}

/// What holds for all formats.
@Suite struct ConformanceTests {
    /// Converts `source` to each format, and compares its hash there, and in a `.firn` file made of it, with the hash of `source`.
    private func compare(_ source: String, in scratch: Scratch, formats: [OutsideFormat]) throws {
        func hash(_ file: String) throws -> String {
            let run = try scratch.firn("hash", file)
            #expect(run.code == 0, "hash \(file): \(run.errors)")
            return String(run.out.prefix(32))
        }
        let expected = try hash(source)
        #expect(expected.count == 32)
        for format in formats {
            let target = "t.\(format.name)", run = try scratch.firn("convert", source, target, "-f")
            #expect(run.code == 0 && scratch.has(target), "\(target): \(run.errors)")
            #expect(try hash(target) == expected, "\(target)")
            let back = try scratch.firn("convert", target, "back.firn", "-f")
            #expect(back.code == 0, "\(target): \(back.errors)")
            #expect(try hash("back.firn") == expected, "back from \(target)")
        }
    }

    @Test func `a table of scalars has one hash in every format`() throws {
        let scratch = try Scratch()
        var random = Random(seed: 7)
        let rows = (0..<2000).map { row in
            let amount = Double(random.below(1_000_000)) / 64
            return "{\"id\":\(row),\"name\":\"n\(random.below(50))\",\"amount\":\(amount)"
                + ",\"isOpen\":\(row % 3 == 0),\"note\":\(row % 5 == 0 ? "null" : "\"é🌍 \(row)\"")}\n"
        }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn", "--key", "id").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed)
    }

    @Test func `extreme values have one hash in every format with types`() throws {
        let scratch = try Scratch()
        let numbers = ["-9223372036854775808", "9223372036854775807", "0", "-1"]
        let doubles = ["1.7976931348623157e308", "-5e-324", "-0.0", "0.1"], texts = ["", "\\u0000", "\\n\\t\\\"", "\u{10FFFD}"]
        let rows = (0..<4).map { "{\"a\":\(numbers[$0]),\"b\":\(doubles[$0]),\"c\":\"\(texts[$0])\"}\n" }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed)
    }

    @Test func `lists, maps and objects have one hash in every format that holds them`() throws {
        let scratch = try Scratch()
        let rows = (0..<300).map { row in
            "{\"id\":\(row),\"tags\":[\((0..<(row % 4)).map { "\"t\($0)\"" }.joined(separator: ","))]"
                + ",\"place\":\(row % 7 == 0 ? "null" : "{\"x\":\(row),\"y\":{\"z\":\"\(row)\"}}")}\n"
        }
        try scratch.write("t.ndjson", rows.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed.filter(\.isNested))
    }

    @Test func `many types have one hash in every format that holds them, and other formats are refused with some of their names`() throws {
        let scratch = try Scratch(), database = try Database.create(path: scratch.file("t.firn").path), transaction = try database.begin()
        let types = (0..<40).map { number in
            TypeSchema(
                "Type \(number)",
                columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true))], key: [0])
        }
        try transaction.extendSchema(types)
        for (number, type) in types.enumerated() {
            let rows: [[Value]] = (0..<number % 5).map { [.int(Int64($0)), $0 == 2 ? .null : .string("\(number) \($0)")] }
            try transaction.bulkWriter(type.name).append(RandomTables.batch(rows, of: type, in: Schema(types)))
        }
        try transaction.commit()
        try compare("t.firn", in: scratch, formats: OutsideFormat.typed)
        for name in ["t.ndjson", "t.csv"] {
            let run = try scratch.firn("convert", "t.firn", name)
            #expect(run.code == 2 && run.errors.contains("Type 10, Type 11 and 28 more\n") && !scratch.has(name), "\(run.errors)")
        }
        for words in [["query", "t.firn"], ["query", "t.firn", "--type", "other"], ["sql", "t.firn", "SELECT 1 FROM other"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(" and 28 more"), "\(words): \(run.code) \(run.errors)")
        }
    }

    @Test(arguments: OutsideFormat.typed) func `tables without rows or without values keep their columns`(format: OutsideFormat) throws {
        let scratch = try Scratch()
        try scratch.write("t.ndjson", "{\"a\":1,\"b\":\"x\",\"c\":null}\n{\"a\":null,\"b\":null,\"c\":null}\n")
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn").code == 0)
        #expect(try scratch.firn("convert", "t.firn", "none.\(format.name)", "--where", "a == 5").code == 0)
        #expect(try scratch.firn("convert", "t.firn", "null.\(format.name)", "--where", "a == nil").code == 0)
        for (file, count) in [("none", "0"), ("null", "1")] {
            let run = try scratch.firn("query", "\(file).\(format.name)", "-a", "count", "--format", "csv")
            #expect(run.code == 0 && run.out.hasSuffix("\n\(count)\n"), "\(file).\(format.name): \(run.out)\(run.errors)")
            let schema = try scratch.firn("schema", "\(file).\(format.name)", "--json")
            for name in ["a", "b", "c"] { #expect(schema.out.contains("\"\(name)\""), "\(file).\(format.name): \(schema.out)") }
        }
    }

    @Test func `ten thousand columns come back from every format, or are refused with the limit`() throws {
        let scratch = try Scratch(), count = 10_000
        let header = (0..<count).map { "c\($0)" }.joined(separator: ","), row = (0..<count).map(String.init).joined(separator: ",")
        try scratch.write("in.csv", "\(header)\n\(row)\n")
        #expect(try scratch.firn("convert", "in.csv", "t.firn").code == 0)
        for format in OutsideFormat.all {
            let run = try scratch.firn("convert", "t.firn", "t.\(format.name)")
            if let limit = format.maximumColumns {
                #expect(run.code == 3 && run.errors.contains("\(limit)") && !scratch.has("t.\(format.name)"), "\(run.code) \(run.errors)")
            } else {
                #expect(run.code == 0, "\(format.name): \(run.errors)")
                let query = try scratch.firn("query", "t.\(format.name)", "-s", "c9999", "--format", "csv")
                #expect(query.out == "c9999\n9999\n", "\(format.name): \(query.out.prefix(200))\(query.errors)")
            }
        }
    }

    @Test(arguments: OutsideFormat.typed) func `files that are not of the format of their extension are errors`(format: OutsideFormat)
        throws
    {
        let scratch = try Scratch()
        for (number, bytes) in [[UInt8](repeating: 0, count: 4096), Array("PK\u{3}\u{4} something else".utf8), [0xFF, 0xFE, 0, 1]]
            .enumerated()
        {
            let name = "f\(number).\(format.name)"
            try Data(bytes).write(to: scratch.file(name))
            let run = try scratch.firn("convert", name, "out.firn")
            #expect([3, 4].contains(run.code) && run.errors.contains(name) && !run.isCrash, "\(run.code) \(run.errors)")
            #expect(!scratch.has("out.firn"))
        }
    }

    @Test(arguments: OutsideFormat.all) func `changes that were made from a file of any format are applied`(format: OutsideFormat) throws {
        let scratch = try Scratch(), source = "new.\(format.name)"
        try scratch.write("old.ndjson", (0..<50).map { "{\"id\":\($0),\"name\":\"n\($0)\",\"x\":\($0).5}\n" }.joined())
        try scratch.write(
            "new.ndjson", (5..<55).map { "{\"id\":\($0),\"name\":\"\($0 % 7 == 0 ? "other" : "n\($0)")\",\"x\":\($0).5}\n" }.joined())
        for name in ["old", "new"] {
            #expect(try scratch.firn("convert", "\(name).ndjson", "\(name).firn", "--key", "id", "--type", "t").code == 0)
        }
        if format.name != "ndjson" { #expect(try scratch.firn("convert", "new.firn", source).code == 0) }
        let diff = try scratch.firn("diff", "old.firn", source, "--key", "id", "--changes", "c.firn")
        #expect(diff.code == 1, "\(diff.errors)")
        let patch = try scratch.firn("patch", "old.firn", "c.firn")
        #expect(patch.code == 0, "\(patch.errors)")
        #expect(try scratch.firn("diff", "old.firn", "new.firn").code == 0)
    }

    @Test func `a full disk is an error in every format, and leaves the target as it was`() throws {
        let scratch = try Scratch(), disk = scratch.file("disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        let mount = try Process.run(
            URL(filePath: "/bin/sh"), arguments: ["-c", "mount -t tmpfs -o size=64k tmpfs '\(disk.path)' 2>/dev/null"])
        mount.waitUntilExit()
        guard mount.terminationStatus == 0 else { print("skipped: no tmpfs can be mounted here"); return }
        defer { try? Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", "umount '\(disk.path)' 2>/dev/null"]).waitUntilExit() }
        var random = Random(seed: 11)
        try scratch.write("in.csv", "a\n" + (0..<30_000).map { _ in "\(random.below(1 << 62))\n" }.joined())
        for format in OutsideFormat.all {
            let target = "disk/t.\(format.name)"
            try scratch.write(target, "old")
            let full = try scratch.firn("convert", "-f", "in.csv", target)
            #expect(full.code == 5 && !full.isCrash && full.errors.contains(target), "\(full.code) \(full.errors)")
            #expect(try scratch.read(target) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["t.\(format.name)"], "\(format.name)")
            try FileManager.default.removeItem(at: scratch.file(target))
        }
    }

    @Test func `a database that another process has locked is an error that says so`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "lock.py",
            """
            import sqlite3, subprocess, sys
            c = sqlite3.connect("t.db", isolation_level=None)
            c.execute("CREATE TABLE a (x)"); c.execute("INSERT INTO a VALUES (1)"); c.execute("BEGIN EXCLUSIVE"); c.execute("INSERT INTO a VALUES (2)")
            for words in [["query", "t.db"], ["convert", "t.db", "out.firn"]]:
                run = subprocess.run([sys.argv[1], *words], capture_output=True, text=True); print(run.returncode, run.stderr.strip())
            c.execute("ROLLBACK")
            print(subprocess.run([sys.argv[1], "query", "t.db", "-a", "count", "--format", "csv"], capture_output=True, text=True).stdout)
            """)
        let process = Process(), output = scratch.file("output")
        FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "lock.py", FirnRun.binary.path]
        process.currentDirectoryURL = scratch.folder
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.wait()
        let lines = try scratch.read("output").split(separator: "\n")
        let refused = lines.filter { $0.hasPrefix("5 firn: t.db: ") && $0.contains("locked") }
        #expect(refused.count == 2, "\(lines)")
        #expect(lines.last == "1" && !scratch.has("out.firn"), "\(lines)")
    }

    @Test func `an interrupted conversion to any format leaves no file, and the target as it was`() throws {
        let source = try Scratch()
        try source.write("in.csv", "id,name\n" + (0..<400_000).map { "\($0),name \($0 &* 2_654_435_761 % 1_000_003)\n" }.joined())
        #expect(try source.firn("convert", "in.csv", "in.firn", "-q").code == 0)
        for format in OutsideFormat.all { try interrupt(source.file("in.firn").path, "t.\(format.name)") }
    }

    private func interrupt(_ source: String, _ target: String) throws {
        let scratch = try Scratch()
        try scratch.write(target, "kept")
        let process = Process()
        process.executableURL = FirnRun.binary
        process.arguments = ["convert", source, target, "--force", "-q"]
        process.currentDirectoryURL = scratch.folder
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Writing has begun once there is a temporary file.
        let deadline = Date().addingTimeInterval(20)
        while process.isRunning, scratch.names.count < 2, Date() < deadline { usleep(500) }
        process.interrupt()
        process.wait()
        #expect(scratch.names == [target], "\(scratch.names)")
        guard process.terminationStatus != 0 else { return }  // the command ended before the signal arrived
        #expect(process.terminationStatus == 130 || process.terminationReason == .uncaughtSignal, "\(process.terminationStatus)")
        #expect(try scratch.read(target) == "kept")
    }

    @Test(
        .enabled(if: !Pair.all.isEmpty, "the test data is not next to the package"),
        arguments: Pair.all.filter { !["babynames", "country-codes", "ragged-fixed-sp500"].contains($0) })
    func `the difference of two real versions is the same between any two formats`(name: String) throws {
        let pair = try #require(Pair(SharedData.folder!.appending(path: "pairs/\(name)")))
        let scratch = try Scratch()
        let hasNesting = pair.file("old").hasSuffix(".json")
        let formats = OutsideFormat.typed.filter { $0.isNested || !hasNesting }
        for format in formats {
            for side in ["old", "new"] {
                let run = try scratch.firn("convert", pair.file(side), "\(side).\(format.name)", "--type", "rows", "-q")
                #expect(run.code == 0, "\(side).\(format.name): \(run.errors)")
            }
        }
        for (number, format) in formats.enumerated() {
            let other = formats[(number + 1) % formats.count]
            let run = try scratch.firn("diff", "old.\(format.name)", "new.\(other.name)", "--key", pair.key, "--format", "ndjson")
            let last = try #require(run.out.split(separator: "\n").last, "\(run.errors)")
            let summary = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
            let found = ["added", "removed", "changed", "unchanged", "cells"].map { summary[$0] as? Int }
            let rows = ["added", "removed", "changed_rows", "unchanged_rows"].map { pair.count($0) }
            let expected = rows + [pair.changedCellsOfCommonColumns]
            #expect(found == expected, "\(format.name) and \(other.name): \(run.errors)")
        }
    }
}
