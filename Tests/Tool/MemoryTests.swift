import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// Small files that need much memory when they are unpacked, read by every command: the error names the column, and nothing crashes.
@Suite struct MemoryTests {
    /// 8 columns, each with 16 MB of text, in less than 1 MB.
    static func bomb(_ path: String, ending: String = "") throws {
        let type = TypeSchema("T", columns: (0..<8).map { ColumnSchema("c\($0)", ColumnType(.string)) })
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let long = String(repeating: "a", count: 1 << 20)
        let rows = (0..<16).map { row in (0..<8).map { _ in Value.string(long + "\(row)" + ending) } }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
    }

    @Test func `every command reports the column of a small file that unpacks beyond --memory`() throws {
        let folder = TemporaryFolder(), bomb = folder.file("bomb.firn"), other = folder.file("other.firn")
        try MemoryTests.bomb(bomb)
        try MemoryTests.bomb(other, ending: "x")
        #expect((try FileManager.default.attributesOfItem(atPath: bomb)[.size] as! Int) < 1 << 20)
        let commands: [[String]] = [
            ["query", bomb, "--json"], ["query", bomb, "TRUEPREDICATE SORT(c0 ASC, c1 ASC)", "--json"],
            ["sql", bomb, "SELECT * FROM T ORDER BY c0", "--json"],
            ["convert", bomb, folder.file("out.csv")], ["compact", bomb, folder.file("out.firn")],
            ["diff", bomb, other], ["verify", "--full", bomb], ["recover", bomb, folder.file("saved.firn")], ["hash", bomb],
        ]
        for command in commands {
            let run = try FirnRun(command + ["--memory", "10MB"])
            #expect(!run.isCrash && run.code == 5, "\(command): \(run.code) \(run.errors.prefix(300))")
            #expect(run.errors.contains("column \"T.c") && run.errors.contains("--memory"), "\(command): \(run.errors.prefix(300))")
        }
        for name in ["out.csv", "out.firn", "saved.firn"] { #expect(!FileManager.default.fileExists(atPath: folder.file(name)), "\(name)") }
        #expect(try FirnRun(["info", bomb, "--memory", "10MB"]).code == 0)
        #expect(try FirnRun(["query", bomb, "c0 ENDSWITH \"15\"", "--select", "c1", "--json", "--memory", "2GB"]).code == 0)
    }

    /// The smallest address space in KiB, up to 250 KiB, in which the libraries of the command can be loaded and Swift's runtime starts.
    private static func leastAddressSpace(_ folder: URL) throws -> Int {
        try stride(from: 38_000, to: 60_000, by: 250).first { limit in
            let run = try FirnRun(["--version"], in: folder, addressSpace: limit)
            return [0, 5].contains(run.code)
        } ?? 60_000
    }

    @Test(arguments: [100, 500, 1_500, 4_000, 20_000, 40_000])
    func `a command in a small address space prints an error with exit code 5, and leaves no temporary file`(more: Int) throws {
        let scratch = try Scratch(), limit = try MemoryTests.leastAddressSpace(scratch.folder) + more
        try scratch.write("a.csv", "id,city,x\n" + (0..<60_000).map { "\($0),city \($0 % 200),\($0 * 7919 % 100_003)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-k", "id", "-q").code == 0)
        for words in [
            ["hash", "a.firn"], ["query", "a.firn", "--group-by", "city", "-q"], ["compact", "a.firn", "b.firn", "--force"],
            ["convert", "a.csv", "b.firn", "--force"], ["diff", "a.firn", "a.firn"], ["sql", "a.firn", "SELECT count(*) FROM a"],
        ] {
            let run = try FirnRun(words, in: scratch.folder, addressSpace: limit)
            #expect([0, 5].contains(run.code), "\(words), \(limit) KiB: \(run.code) \(run.errors.suffix(300))")
            if run.code == 5 { #expect(run.errors.contains("firn: "), "\(words): \(run.errors)") }
            #expect(!scratch.names.contains { $0.contains(".tmp-") }, "\(words): \(scratch.names)")
        }
    }

    @Test func `--memory takes sizes, and the error lists their units`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.csv")
        try Data("a\n1\n".utf8).write(to: URL(filePath: path))
        for size in ["500MB", "1.5GiB", "20_000_000", "64 mb"] {
            #expect(try FirnRun(["query", path, "--memory", size]).code == 0, "\(size)")
        }
        for size in ["much", "5XB", "10kB", "-1"] { #expect(try FirnRun(["query", path, "--memory=\(size)"]).code == 2, "\(size)") }
    }

    /// The commands that are run on each bomb.
    private static func commands(_ bomb: String, _ folder: TemporaryFolder) -> [[String]] {
        [
            ["query", bomb, "-n", "1"], ["query", bomb, "--json"], ["query", bomb, "-S", "c0", "-n", "1"],
            ["query", bomb, "-g", "c0", "-a", "count"], ["verify", "--full", bomb],
            ["convert", bomb, folder.file("out.csv")], ["convert", bomb, folder.file("out.ndjson")], ["diff", bomb, bomb],
            ["diff", bomb, bomb, "--key", "c0"], ["hash", bomb],
            ["sql", bomb, "SELECT * FROM T"], ["sql", bomb, "SELECT * FROM T a JOIN T b ON a.c0 = b.c0 ORDER BY 1"], ["info", bomb],
            ["recover", bomb, folder.file("saved.firn")],
        ]
    }

    /// The command ends with the error of the limit, or with success if it reads little of the file, but never with a signal.
    private func check(_ run: FirnRun, _ bomb: Bomb, _ command: [String]) {
        let name = "\(bomb) \(command): \(run.code) \(run.errors.prefix(400))"
        #expect(!run.isCrash, "\(name)")
        // 1: the files differ. 3: a key is not unique.
        #expect([0, 1, 2, 3, bomb.code].contains(run.code), "\(name)")
        if run.code == 5 {
            #expect(bomb.names.contains { run.errors.contains($0) } || run.errors.contains("the limit of SQLite"), "\(name)")
        }
        if run.code == 5 { #expect(run.errors.contains("--memory"), "\(name)") }
    }

    @Test(arguments: Bomb.allCases)
    func `every command ends with success or an error on a bomb, with limited address space and with --memory`(bomb: Bomb) throws {
        let folder = TemporaryFolder(), path = folder.file("bomb.firn")
        try bomb.write(path)
        #expect((try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int) < 4 << 20)
        var refused = 0
        let place = Bomb.allCases.firstIndex(of: bomb) ?? 0
        for (number, command) in MemoryTests.commands(path, folder).enumerated() where Tier.isLong || (number + place) % 3 == 0 {
            let run = try FirnRun(command, addressSpace: 1 << 20)
            check(run, bomb, command)
            if run.code == bomb.code { refused += 1 }
            guard Tier.isLong || (number + place) % 6 == 0 || command[0] == "recover" else { continue }
            check(try FirnRun(command + ["--memory", "100MB"] + (command[0] == "recover" ? ["--force"] : [])), bomb, command)
        }
        #expect(refused >= Tier.cases(1, of: 4), "\(bomb): \(refused)")
    }

    @Test func `every command reports a directory that lists a segment many times as damaged`() throws {
        let folder = TemporaryFolder(), path = folder.file("twice.firn")
        let columns = [ColumnSchema("c0", ColumnType(.string))], writer = try HostileWriter(path, columns)
        try writer.write(rows: segmentSize, times: 100_000) { writer, _ in
            HostileWriter.Part(chunk: try writer.extent(HostileWriter.text([0x60, 97])))
        }
        for command in MemoryTests.commands(path, folder)
        where command[0] != "info" && command != ["query", path, "-n", "1"] && command[0] != "diff" {
            let run = try FirnRun(command, addressSpace: 1 << 20)
            #expect(!run.isCrash, "\(command): \(run.code) \(run.errors.prefix(300))")
            // `recover` may save some of the rows.
            if command[0] == "recover" { continue }
            #expect(
                run.code == (command[0] == "verify" ? 1 : 4) && (run.errors + run.out).contains("do not ascend"),
                "\(command): \(run.code) \(run.errors.prefix(300))")
        }
    }

    /// `FIRN_BOMBS=folder swift test --filter "Tool.MemoryTests"`, for measurements.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FIRN_BOMBS"] != nil))
    func `the bombs are written to a folder`() throws {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["FIRN_BOMBS"] ?? "")
        for bomb in Bomb.allCases { try bomb.write(folder.appending(path: "\(bomb).firn").path) }
    }
}
