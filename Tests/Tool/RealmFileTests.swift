import FirnKit
import Foundation
import Testing

/// The command with `.realm` files.
@Suite struct RealmFileTests {
    /// A folder with the files of `Tests/Fixtures/realm`.
    private func prepared() throws -> Scratch {
        let scratch = try Scratch(), folder = Folders.package.appending(path: "Tests/Fixtures/realm")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.copyItem(at: folder.appending(path: name), to: scratch.file(name))
        }
        return scratch
    }

    /// Removes the sizes and the time from the summary of `firn convert`.
    private func comparable(_ output: String) -> String {
        output.replacing(/(?m)^(\S+: [\d,]+ rows?), .*\d s$/) { "\($0.output.1)" }
    }

    @Test func `the guide to Realm files prints what the page shows`() throws {
        let scratch = try prepared(), steps = try Transcript(page: "realm-files.md").steps
        #expect(steps.count >= 6)
        for step in steps {
            #expect(comparable(try Transcript.run(step.command, in: scratch)) == comparable(step.output), "\(step.command)")
        }
    }

    @Test(arguments: ["links", "many_commits", "all_types"]) func `a converted file has the hash of its source, and is intact`(
        _ name: String
    ) throws {
        let scratch = try prepared()
        #expect(try scratch.firn("convert", "\(name).realm", "out.firn").code == 0)
        #expect(try scratch.firn("verify", "--full", "out.firn").code == 0)
        let hashes = try scratch.firn("hash", "\(name).realm", "out.firn").out.split(separator: "\n").filter { !$0.contains(":") }
        #expect(hashes.count == 2 && hashes[0].prefix(32) == hashes[1].prefix(32))
        #expect(try scratch.firn("diff", "\(name).realm", "out.firn").code == 0)
    }

    @Test func `every command reads Realm files, and none writes them`() throws {
        let scratch = try prepared(), before = try Data(contentsOf: scratch.file("links.realm"))
        for (words, expected) in [
            (["query", "links.realm:Dog", "--agg", "count", "--format", "csv"], "count\n39\n"),
            (["query", "--type", "Dog", "links.realm", "owner.name BEGINSWITH \"P\"", "--agg", "count", "--format", "csv"], "count\n9\n"),
            (["sql", "--format", "csv", "links.realm", "SELECT count(*) AS n FROM Person"], "n\n11\n"),
            (["convert", "--to", "csv", "--limit", "1", "links.realm:Dog", "-"], "id,owner,name\n0,0,Dog0\n"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0 && run.out == expected, "\(words): \(run.errors)")
        }
        #expect(try scratch.firn("query", "--no-mmap", "links.realm:Dog").code == 0)
        #expect(try scratch.firn("convert", "links.realm", "out.realm").code == 2)
        #expect(try scratch.firn("query", "links.realm@7").code == 2)
        #expect(try scratch.firn("query", "links.realm@previous:Dog").code == 2)
        #expect(try scratch.firn("query", "--internal", "out.csv").code != 0)
        #expect(try Data(contentsOf: scratch.file("links.realm")) == before)
    }

    @Test func `an unknown format, a missing key and damage are different errors`() throws {
        let scratch = try prepared(), whole = try Data(contentsOf: scratch.file("links.realm"))
        var unknown = whole, headless = whole
        unknown[21] = 31
        headless.replaceSubrange(16..<20, with: [0, 0, 0, 0])
        try unknown.write(to: scratch.file("unknown.realm"))
        try headless.write(to: scratch.file("headless.realm"))
        try whole.prefix(30_000).write(to: scratch.file("cut.realm"))
        for (name, part) in [
            ("unknown", "at byte 21: the file has version 31 of Realm's format"),
            ("headless", "at byte 16: the file is encrypted, or is not a Realm file"),
            ("cut", "at byte 30000: the file has 30000 of its"),
        ] {
            let run = try scratch.firn("query", "\(name).realm", "--type", "Dog")
            #expect(run.code == 4 && run.out.isEmpty && run.errors.contains(part), "\(run.errors)")
        }
    }

    @Test func `an encrypted file needs its key, and its copy is encrypted with it`() throws {
        guard let file = SharedData.file("realm/encrypted.realm"), let key = SharedData.file("realm/encrypted.key.hex") else { return }
        let scratch = try Scratch()
        try Data(1...64).write(to: scratch.file("wrong"))
        let wrong = try scratch.firn("query", "--key-file", "wrong", file.path, "--agg", "count")
        #expect(wrong.code == 4 && wrong.errors.contains("the key does not open the file"))
        #expect(try scratch.firn("query", file.path).code == 4)
        let count = try scratch.firn("query", "--key-file", key.path, file.path, "--agg", "count", "--format", "csv")
        #expect(count.out == "count\n5000\n")
        #expect(try scratch.firn("convert", "--key-file", key.path, file.path, "out.firn").code == 0)
        #expect(try scratch.firn("query", "out.firn", "--agg", "count").code == 4)
        #expect(try scratch.firn("query", "--key-file", key.path, "out.firn", "--agg", "count", "--format", "csv").out == "count\n5000\n")
    }
}
