import Foundation
import Testing

/// The command with encrypted files.
@Suite struct EncryptionTests {
    private let key = Data(0..<64)
    private let digits = (1...64).map { String($0 / 16, radix: 16) + String($0 % 16, radix: 16) }.joined()

    /// A folder with two keys, one as bytes and one as digits, and a CSV file, also encrypted with the first key.
    private func prepared() throws -> Scratch {
        let scratch = try Scratch()
        try key.write(to: scratch.file("k1"))
        try scratch.write("k2", digits + "\n")
        var text = "id,secret\n"
        for id in 0..<3000 { text += "\(id),the marmalade heist number \(id * 7919 % 3001)\n" }
        try scratch.write("heists.csv", text)
        let made = try scratch.firn("convert", "--key", "id", "heists.csv", "a.firn", "--new-key-file", "k1")
        #expect(made.code == 0, "\(made.errors)")
        return scratch
    }

    private func shows(_ scratch: Scratch, _ name: String) throws -> Bool {
        let bytes = try Data(contentsOf: scratch.file(name))
        return ["marmalade", "heists", "secret"].contains { bytes.range(of: Data($0.utf8)) != nil }
    }

    @Test func `convert encrypts a file, and every command reads it with the key`() throws {
        let scratch = try prepared()
        try #expect(!shows(scratch, "a.firn"))
        let count = ["query", "--key-file", "k1", "-a", "count", "--format", "csv", "a.firn"]
        #expect(try FirnRun(count, in: scratch.folder).out == "count\n3000\n")
        #expect(
            try scratch.firn("query", "--key-file", "k1", "--format", "csv", "-s", "secret", "a.firn", "id == 1").out
                == "secret\nthe marmalade heist number 1917\n")
        for words in [
            ["verify", "--full", "a.firn"], ["schema", "a.firn"], ["info", "a.firn"], ["index", "a.firn", "heists.secret"],
            ["sql", "a.firn", "SELECT count(*) FROM heists GROUP BY secret ORDER BY secret"],
            ["diff", "heists.csv", "a.firn", "--key", "id"],
            ["convert", "--force", "a.firn", "b.csv"], ["compact", "--dry-run", "a.firn"], ["compact", "a.firn"],
        ] {
            let run = try FirnRun(words + ["--key-file", "k1"], in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            if words[0] != "info" {
                let locked = try FirnRun(words, in: scratch.folder)
                #expect(
                    locked.code == 4 && locked.errors.contains("encrypted") || words[1].hasSuffix("csv"),
                    "\(words): \(locked.out) \(locked.errors)")
            }
            try #expect(!shows(scratch, "a.firn"), "\(words)")
        }
        #expect(try scratch.read("b.csv") == scratch.read("heists.csv"))
        // The environment contains the key as digits. A key is never an argument.
        let hex = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(
            try FirnRun(count.filter { !$0.hasPrefix("k") && $0 != "--key-file" }, in: scratch.folder, environment: ["FIRN_KEY": hex]).out
                == "count\n3000\n")
    }

    @Test func `wrong, missing, malformed and unneeded keys have different errors`() throws {
        let scratch = try prepared()
        let missing = try scratch.firn("query", "a.firn", "id > 1")
        #expect(
            missing.code == 4 && missing.errors.contains("the file is encrypted") && missing.errors.contains("--key-file")
                && missing.errors.contains("FIRN_KEY"))
        let wrong = try scratch.firn("query", "--key-file", "k2", "a.firn", "id > 1")
        #expect(wrong.code == 4 && wrong.errors.contains("not the one that the file was encrypted with"))
        #expect(try scratch.firn("verify", "--key-file", "k2", "a.firn").code == 4)
        try scratch.write("k3", "abcdef\n")
        let malformed = try scratch.firn("info", "--key-file", "k3", "a.firn")
        #expect(malformed.code == 2 && malformed.errors.contains("128 hexadecimal digits"))
        #expect(try scratch.firn("info", "a.firn", environment: ["FIRN_KEY": "12"]).code == 2)
        try scratch.firn("convert", "heists.csv", "plain.firn")
        let needless = try scratch.firn("info", "--key-file", "k1", "plain.firn")
        #expect(needless.code == 2 && needless.errors.contains("not encrypted"))
        // With several files, the error proposes the environment variable instead of --key-file.
        for words in [
            ["diff", "a.firn", "plain.firn"], ["hash", "a.firn", "plain.firn"], ["verify", "a.firn", "plain.firn"],
            ["diff", "plain.firn", "a.firn"],
        ] {
            let run = try FirnRun(words + ["--key-file", "k1"], in: scratch.folder)
            #expect(run.code == 2 || words[0] != "diff", "\(words): \(run.code)")
            #expect(
                run.code != 0 && run.errors.contains("omit --key-file") && run.errors.contains("FIRN_KEY"),
                "\(words): \(run.code) \(run.errors)")
            let hex = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            #expect(try FirnRun(words, in: scratch.folder, environment: ["FIRN_KEY": hex]).code == 0, "\(words)")
        }
        // A key in the environment may be meant for another file.
        #expect(try scratch.firn("info", "plain.firn", environment: ["FIRN_KEY": digits]).code == 0)
        // If --key-file is used instead of --new-key-file, the command is refused before an unencrypted file is written.
        let mistaken = try scratch.firn("convert", "heists.csv", "b.firn", "--key-file", "k1")
        #expect(mistaken.code == 2 && mistaken.errors.contains("--new-key-file") && !scratch.has("b.firn"))
        #expect(try scratch.firn("convert", "heists.csv", "b.csv", "--new-key-file", "k1").code == 2)
        #expect(try scratch.firn("convert", "--lossless", "heists.csv", "b.firn", "--new-key-file", "k1").code == 2)
        #expect(try scratch.firn("compact", "a.firn", "b.firn", "--key-file", "k1", "--new-key-file", "k2", "--plain").code == 2)
        #expect(!scratch.has("b.firn") && !scratch.has("b.csv"))
    }

    @Test func `info without the key reports that the file is encrypted`() throws {
        let scratch = try prepared()
        let info = try scratch.firn("info", "a.firn")
        #expect(info.code == 0 && info.out.hasPrefix("a.firn: ") && info.out.contains("encrypted") && !info.out.contains("heists"))
        let object = try JSONSerialization.jsonObject(with: Data(try scratch.firn("info", "--json", "a.firn").out.utf8)) as? [String: Any]
        #expect(object?["encrypted"] as? Bool == true && object?["types"] == nil)
        let opened =
            try JSONSerialization.jsonObject(with: Data(try scratch.firn("info", "--json", "--key-file", "k1", "a.firn").out.utf8))
            as? [String: Any]
        #expect(opened?["encrypted"] as? Bool == true && (opened?["types"] as? [Any])?.count == 1)
    }

    @Test func `compact and convert keep, change and remove keys`() throws {
        let scratch = try prepared()
        func isSame(_ name: String, _ keyFile: String?) throws -> Bool {
            let run = try FirnRun(
                ["diff", "heists.csv", name, "--key", "id"] + (keyFile.map { ["--key-file", $0] } ?? []), in: scratch.folder)
            return run.code == 0
        }
        for (command, flags, name, keyFile) in [
            ("compact", ["--key-file", "k1"], "b.firn", "k1"), ("compact", ["--key-file", "k1", "--new-key-file", "k2"], "c.firn", "k2"),
            ("compact", ["--key-file", "k1", "--plain"], "d.firn", nil), ("convert", ["--key-file", "k1"], "e.firn", "k1"),
            ("convert", ["--key-file", "k1", "--new-key-file", "k2"], "f.firn", "k2"),
            ("convert", ["--key-file", "k1", "--plain"], "g.firn", nil),
        ]
            as [(String, [String], String, String?)]
        {
            let run = try FirnRun([command, "a.firn", name] + flags, in: scratch.folder)
            #expect(run.code == 0, "\(run.errors)")
            try #expect(isSame(name, keyFile), "\(command) \(flags)")
            #expect(try shows(scratch, name) == (keyFile == nil), "\(command) \(flags)")
            #expect(try FirnRun(["verify", "--full", name] + (keyFile.map { ["--key-file", $0] } ?? []), in: scratch.folder).code == 0)
        }
        // Both commands encrypt an unencrypted file, also in place, although it does not become smaller.
        try #expect(scratch.firn("compact", "d.firn", "--new-key-file", "k2").code == 0)
        try #expect(isSame("d.firn", "k2") && !shows(scratch, "d.firn"))
        try #expect(scratch.firn("convert", "g.firn", "h.firn", "--new-key-file", "k1").code == 0)
        try #expect(isSame("h.firn", "k1") && !shows(scratch, "h.firn"))
        // Two files with two keys: one in a file, one in the environment.
        #expect(try scratch.firn("diff", "b.firn", "c.firn", "--key-file", "k1", environment: ["FIRN_KEY": digits]).code == 0)
        #expect(try scratch.firn("convert", "b.firn", "c.firn", "i.firn", "--key-file", "k1", environment: ["FIRN_KEY": digits]).code == 2)
    }

    @Test func `input from a pipe that will be encrypted is not stored in a temporary file`() throws {
        let scratch = try prepared()
        try FileManager.default.createDirectory(at: scratch.file("tmp"), withIntermediateDirectories: true)
        // No temporary file can be created, so the command succeeds only if it needs none.
        let nowhere = ["TMPDIR": scratch.file("none").path]
        #expect(
            try scratch.firn("convert", "-", "z.firn", "--from", "csv", input: scratch.read("heists.csv"), environment: nowhere).code != 0)
        let run = try scratch.firn(
            "convert", "-", "z.firn", "--from", "csv", "--new-key-file", "k1", input: scratch.read("heists.csv"), environment: nowhere)
        #expect(run.code == 0, "\(run.errors)")
        try #expect(!shows(scratch, "z.firn"))
    }
}
