import FirnKit
import Foundation
import Testing

/// Rows of other formats are compared, hashed and queried in bounded memory: beyond a part of `--memory`, they are in a temporary file.
@Suite struct TemporaryRowsTests {
    private static let low = ["--memory", "12MB"]

    private static let texts: [String: String] = {
        let count = 40_000, header = "id,name,score,note\n"
        func row(_ id: Int, _ isNew: Bool) -> String {
            "\(id),name \(id * 7919 % 10_007),\(isNew && id % 4000 == 7 ? -1 : Double(id) / 4),\(id % 3 == 0 ? "" : "note \(id)")\n"
        }
        let rows = (0..<count).map { row($0, false) }
        return [
            "o": header + rows.indices.filter { $0 != 9999 }.map { rows[$0] }.joined(),
            "n": header + rows.indices.filter { $0 != 77 }.map { $0 % 4000 == 7 ? row($0, true) : rows[$0] }.joined(),
            "s": header + rows.indices.map { $0 * 7919 % count }.filter { $0 != 9999 }.map { rows[$0] }.joined(),
        ]
    }()

    /// A folder with tables of 40,000 rows as CSV and in other formats, and an empty folder `tmp`. `o` and `n` differ in a few rows; the rows
    /// of `s` are those of `o` in another order.
    private func tables(_ endings: [String]) throws -> Scratch {
        let scratch = try Scratch()
        for (name, text) in Self.texts { try scratch.write(name + ".csv", text) }
        for name in ["o", "n", "s"] {
            for ending in endings {
                let run = try scratch.firn("convert", "-q", "\(name).csv", "\(name).\(ending)")
                #expect(run.code == 0, "\(run.errors)")
            }
        }
        try FileManager.default.createDirectory(at: scratch.file("tmp"), withIntermediateDirectories: true)
        return scratch
    }

    private func run(_ words: [String], _ scratch: Scratch, temporary: String = "tmp") throws -> FirnRun {
        try FirnRun(words, in: scratch.folder, environment: ["TMPDIR": scratch.file(temporary).path])
    }

    @Test func `a difference is the same whether rows are held, in a temporary file, or read where they are`() throws {
        let scratch = try tables(["parquet", "arrow", "db", "firn"])
        for (place, format) in ["table", "ndjson", "summary"].enumerated() {
            let plain = try run(["diff", "o.firn", "n.firn", "--key", "id", "--format", format], scratch)
            #expect(plain.code == 1)
            let other = try run(["diff", "s.firn", "n.firn", "--key", "id", "--format", format], scratch)
            func normal(_ text: String, _ names: String...) -> String {
                names.reduce(text) { $0.replacing("--- \($1)", with: "--- old").replacing("+++ \($1)", with: "+++ new") }
            }
            for (number, (old, new)) in [
                ("o.csv", "n.csv"), ("o.parquet", "n.parquet"), ("o.arrow", "n.arrow"), ("o.db", "n.db"),
                ("o.parquet", "n.firn"), ("o.firn", "n.parquet"), ("o.arrow", "n.db"), ("s.parquet", "n.parquet"), ("s.arrow", "n.arrow"),
                ("s.csv", "n.parquet"), ("s.parquet", "n.csv"),
            ].enumerated() where Tier.isLong || number % 3 == place {
                let words = ["diff", "\(old)", "\(new)", "--key", "id", "--format", format]
                let held = try run(words, scratch), bounded = try run(words + TemporaryRowsTests.low, scratch)
                let expected = old.hasPrefix("s") ? other : plain
                #expect(bounded.code == 1 && bounded.errors == held.errors, "\(words) \(bounded.errors) \(held.errors)")
                #expect(bounded.out == held.out, "\(words)")
                #expect(
                    normal(bounded.out, old, new)
                        == normal(expected.out, "o.firn", "s.firn", "n.firn"), "\(words)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("tmp").path).isEmpty)
    }

    @Test func `hashes, SQL, conditions and changes files do not depend on the memory`() throws {
        let endings = Tier.isLong ? ["parquet", "arrow", "db"] : ["parquet"], scratch = try tables(endings + ["firn"])
        let hash = try run(["hash", "o.firn"], scratch).out.prefix(32)
        for ending in endings + ["csv"] {
            let name = "o.\(ending)"
            for words in [
                ["hash", name], ["hash", name, "--each-column"], ["hash", name, "--key", "id"],
                ["sql", name, "select count(*), sum(score), max(note) from o", "--format", "csv"],
                ["sql", name, "n.\(ending)", "select count(*) from o join n using (id) where o.score <> n.score", "--format", "csv"],
                ["query", name, "score < 100 AND note != null", "--agg", "count", "--format", "csv"],
                ["diff", name, "n.\(ending)", "--key", "id", "--where", "id < 12000", "--format", "ndjson"],
                ["diff", name, "n.\(ending)", "--key", "id", "--changes", "c.firn", "--force", "--format", "summary"],
            ] {
                let held = try run(words, scratch), bounded = try run(words + TemporaryRowsTests.low, scratch)
                #expect(held.out == bounded.out && held.code == bounded.code && !bounded.out.isEmpty, "\(words): \(bounded.errors)")
            }
            #expect(try run(["hash", name], scratch).out.prefix(32) == hash, "\(name)")
            #expect(try scratch.firn("convert", "-q", "-f", "o.csv", "p.firn", "--key", "id").code == 0)
            let patch = try run(["patch", "p.firn", "c.firn"], scratch)
            #expect(patch.code == 0 && patch.out.contains("1 added, 1 removed, 10 changed"), "\(patch.out) \(patch.errors)")
        }
    }

    @Test func `a temporary file that cannot be made or is full is an error with advice, and nothing is left`() throws {
        let scratch = try tables([])
        let words = ["diff", "s.csv", "n.csv", "--key", "id"]
        let missing = try run(words + TemporaryRowsTests.low, scratch, temporary: "nowhere")
        #expect(missing.code == 5 && missing.errors.contains("set TMPDIR"), "\(missing.code) \(missing.errors)")
        #expect(try run(words, scratch, temporary: "nowhere").code == 1)
        let disk = scratch.file("tmp")
        let mount = try Process.run(
            URL(filePath: "/bin/sh"), arguments: ["-c", "mount -t tmpfs -o size=64k tmpfs '\(disk.path)' 2>/dev/null"])
        mount.waitUntilExit()
        guard mount.terminationStatus == 0 else { return print("skipped: no tmpfs can be mounted here") }
        defer { try? Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", "umount '\(disk.path)' 2>/dev/null"]).waitUntilExit() }
        let full = try run(words + TemporaryRowsTests.low, scratch)
        #expect(full.code == 5 && full.errors.contains("s.csv") && full.errors.contains("TMPDIR"), "\(full.code) \(full.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    }

    @Test func `rows beside a key are encrypted in the temporary file`() throws {
        let scratch = try tables(["db"])
        let environment = ["TMPDIR": scratch.file("tmp").path, "FIRN_KEY": String(repeating: "0f", count: 64)]
        for words in [["diff", "s.csv", "n.csv", "--key", "id"], ["sql", "s.db", "select count(*) from s"]] {
            let plain = try run(words, scratch)
            let secret = try FirnRun(words + TemporaryRowsTests.low, in: scratch.folder, environment: environment)
            #expect(secret.out == plain.out && secret.code == plain.code, "\(words) \(secret.errors)")
        }
    }
}
