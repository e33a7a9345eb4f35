import FirnBytes
import FirnKit
import Foundation
import Testing

/// Versions, tags and reverts on the command line.
@Suite struct HistoryTests {
    /// A file with three versions: rows 1…3, then a changed row, then an added row.
    private func file(_ scratch: Scratch) throws {
        try scratch.write("a.csv", "id,name\n1,Ada\n2,Bob\n3,Cyd\n")
        #expect(try scratch.firn("convert", "--key", "id", "--type", "people", "a.csv", "db.firn").code == 0)
        #expect(try scratch.firn("index", "db.firn", "people.name").code == 0)
    }

    private func lines(_ run: FirnRun) throws -> [[String: Any]] {
        try run.out.split(separator: "\n").map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as! [String: Any] }
    }

    @Test func `tags are set, listed, moved, read by every command that reads, and deleted`() throws {
        let scratch = try Scratch()
        try file(scratch)
        #expect(try scratch.firn("tag", "db.firn").errors.contains("no tags"))
        #expect(try scratch.firn("tag", "db.firn", "v1@1", "now").code == 0)
        #expect(try lines(scratch.firn("tag", "--json", "db.firn")).map { "\($0["tag"]!) \($0["version"]!)" } == ["now 2", "v1 1"])
        #expect(try scratch.firn("tag", "db.firn").out.contains("v1"))
        for words in [
            ["query", "db.firn@v1", "--format", "csv"], ["sql", "db.firn@now", "SELECT name FROM people"], ["info", "db.firn@v1"],
            ["schema", "db.firn@v1"],
            ["verify", "--full", "db.firn@v1"], ["convert", "db.firn@v1", "out.csv"], ["convert", "db.firn@v1:people", "out.firn"],
            ["index", "db.firn@now"], ["log", "db.firn@v1"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
        }
        #expect(try scratch.read("out.csv") == "id,name\n1,Ada\n2,Bob\n3,Cyd\n")
        #expect(try scratch.firn("diff", "db.firn@v1", "db.firn@now").code == 0)
        // Moving a tag needs --force. Setting it to the same version does not.
        #expect(try scratch.firn("tag", "db.firn", "v1").code == 2 || scratch.firn("tag", "db.firn", "v1").errors.contains("--force"))
        #expect(try scratch.firn("tag", "db.firn", "v1@1").code == 0)
        #expect(try scratch.firn("tag", "--force", "db.firn", "v1@now").code == 0)
        #expect(try lines(scratch.firn("tag", "--json", "db.firn")).map { "\($0["tag"]!) \($0["version"]!)" } == ["now 2", "v1 2"])
        #expect(try scratch.firn("tag", "--delete", "db.firn", "v1").code == 0)
        let gone = try scratch.firn("tag", "--delete", "db.firn", "v1")
        #expect(gone.code == 1 && gone.errors.contains("firn: db.firn: there is no tag \"v1\""), "\(gone.errors)")
        let missing = try scratch.firn("query", "db.firn@v1")
        #expect(missing.code != 0 && missing.errors.contains("firn log"), "\(missing.errors)")
        for name in ["12", "a b", "a:b", "-x@1", "x,y"] { #expect(try scratch.firn("tag", "db.firn", "--", name).code == 2, "\(name)") }
        #expect(try scratch.firn("tag", "db.firn@1", "x@1").code == 2)
        #expect(try scratch.firn("tag", "--delete", "db.firn").code == 2)
        // A file whose actual name contains @ is found by that name.
        try FileManager.default.copyItem(at: scratch.file("db.firn"), to: scratch.file("db.firn@now"))
        #expect(try scratch.firn("info", "db.firn@now").out.hasPrefix("db.firn@now"))
    }

    @Test func `the error for a tag without a name or version shows the syntax`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id\n1\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        for (word, what) in [("@1", "\"@1\" has no name for the tag"), ("@", "\"@\" has no name"), ("v1@", "\"v1@\" names no version")] {
            let run = try scratch.firn("tag", "a.firn", word)
            #expect(run.code == 2 && run.errors.contains(what) && run.errors.contains("NAME@VERSION"), "\(word): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("tag", "a.firn").out.isEmpty && scratch.firn("tag", "-q", "a.firn", "v1@1").code == 0)
    }

    @Test func `the log lists versions with their changes, tags and readers, and -n limits the list`() throws {
        let scratch = try Scratch()
        try file(scratch)
        #expect(try scratch.firn("tag", "db.firn", "first@1").code == 0)
        let all = try lines(scratch.firn("log", "--json", "db.firn"))
        #expect(all.map { $0["version"] as? Int } == [3, 2, 1])
        #expect(all[2]["tags"] as? [String] == ["first"] && all[0]["tags"] as? [String] == [])
        let types = all[2]["types"] as? [[String: Any]]
        #expect(types?.first?["rows"] as? Int == 3 && types?.first?["added"] as? Int == 3)
        #expect((all[0]["types"] as? [[String: Any]])?.first?["changed"] as? Int == 0)
        #expect(try lines(scratch.firn("log", "-n", "1", "--json", "db.firn")).count == 1)
        let text = try scratch.firn("log", "db.firn").out
        #expect(text.contains("tagged first") && text.contains("people: 3 rows (3 added)"), "\(text)")
        #expect(try scratch.firn("log", "a.csv").code != 0)
        #expect(try scratch.firn("log", "--type", "nobody", "db.firn").code == 2)
        // The number of versions that are kept.
        #expect(try scratch.firn("log", "--keep", "3", "db.firn").code == 0)
        for i in 0..<6 {
            #expect(try scratch.firn("index", "db.firn", i % 2 == 0 ? "people.id" : "--drop", i % 2 == 0 ? "--" : "people.id").code == 0)
        }
        #expect(try lines(scratch.firn("log", "--json", "db.firn")).compactMap { $0["version"] as? Int }.count == 4)
        #expect(try scratch.firn("log", "--keep-for", "7d", "db.firn").errors.contains("7 days"))
        #expect(try scratch.firn("log", "--keep-for", "soon", "db.firn").code == 2)
        #expect(try scratch.firn("log", "--keep", "0", "--keep-for", "0", "db.firn").errors.contains("8 newest"))
    }

    @Test func `revert makes a new version with the content of an older one, and the versions between remain`() throws {
        let scratch = try Scratch()
        try file(scratch)
        #expect(try scratch.firn("tag", "db.firn", "v1@1").code == 0)
        #expect(try scratch.firn("revert", "db.firn", "v1").errors.contains("nothing was changed"))
        #expect(try scratch.firn("revert", "db.firn", "99").code != 0)
        #expect(try scratch.firn("revert", "db.firn@1", "v1").code == 2)
        #expect(try scratch.firn("revert", "db.firn", "nobody").errors.contains("no tag"))
        #expect(try scratch.firn("verify", "--full", "db.firn").code == 0)
    }

    @Test func `compaction keeps tags unless an option excludes them, and reports what it drops`() throws {
        let scratch = try Scratch()
        try file(scratch)
        #expect(try scratch.firn("tag", "db.firn", "v1@1", "v2@2").code == 0)
        #expect(try scratch.firn("compact", "db.firn", "b.firn").code == 0)
        #expect(try lines(scratch.firn("tag", "--json", "b.firn")).map { "\($0["tag"]!)" } == ["v1", "v2"])
        #expect(try scratch.firn("diff", "db.firn@v1", "b.firn@v1").code == 0)
        #expect(try scratch.firn("verify", "--full", "b.firn@v1", "b.firn").code == 0)
        let some = try scratch.firn("compact", "--keep", "v2", "db.firn", "c.firn")
        #expect(some.code == 0 && some.errors.contains("dropping 1 tag: v1"), "\(some.errors)")
        #expect(try lines(scratch.firn("tag", "--json", "c.firn")).map { "\($0["tag"]!)" } == ["v2"])
        let none = try scratch.firn("compact", "--keep", "1", "db.firn", "d.firn")
        #expect(none.code == 0 && none.errors.contains("dropping 2 tags"), "\(none.errors)")
        #expect(try lines(scratch.firn("log", "--json", "d.firn")).count == 1)
        #expect(try scratch.firn("compact", "--keep", "nobody", "db.firn", "e.firn").code != 0)
        #expect(!scratch.has("e.firn"))
        #expect(try scratch.firn("compact", "--keep", "0", "db.firn", "e.firn").code == 2)
        #expect(try scratch.firn("compact", "--keep", "2", "db.firn", "e.firn").code == 0)
        #expect(try lines(scratch.firn("log", "--json", "e.firn")).count == 2)
        // A file that would not become smaller in place is left as it is. In both cases the tags remain.
        #expect(try scratch.firn("compact", "db.firn").code == 0)
        #expect(try lines(scratch.firn("tag", "--json", "db.firn")).count == 2)
    }

    @Test func `commands that only read change neither the bytes nor the modification time of a file`() throws {
        let scratch = try Scratch()
        try file(scratch)
        #expect(try scratch.firn("tag", "db.firn", "v1@1").code == 0)
        let path = scratch.file("db.firn"), old = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path.path)
        let before = try Data(contentsOf: path)
        for words in [
            ["query", "db.firn", "name BEGINSWITH 'A'"], ["query", "db.firn@v1"], ["sql", "db.firn", "SELECT count(*) FROM people"],
            ["diff", "db.firn@v1", "db.firn"],
            ["info", "db.firn"], ["schema", "--json", "db.firn"], ["verify", "--full", "db.firn"], ["log", "db.firn"], ["tag", "db.firn"],
            ["index", "db.firn"],
            ["convert", "db.firn", "x.firn"], ["convert", "db.firn@v1", "x.json"], ["compact", "--dry-run", "db.firn"],
            ["compact", "db.firn", "y.firn"],
            ["revert", "db.firn", "v1"], ["tag", "db.firn", "v1@1"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            #expect(try Data(contentsOf: path) == before, "\(words)")
            #expect(try FileManager.default.attributesOfItem(atPath: path.path)[.modificationDate] as? Date == old, "\(words)")
        }
    }
}

/// `tags.firn`: a file with many versions that alternate between two contents.
@Suite struct BackupTests {
    private func fixture(_ name: String, _ scratch: Scratch, as new: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/firn").standardized
        try FileManager.default.copyItem(at: folder.appending(path: name), to: scratch.file(new))
    }

    @Test func `a file is reverted from tag to tag, and the log lists the changes`() throws {
        let scratch = try Scratch()
        try fixture("tags.firn", scratch, as: "db.firn")
        let back = try scratch.firn("revert", "--json", "db.firn", "first")
        #expect(back.code == 0 && back.out.contains("\"added\":100") && back.out.contains("\"removed\":150"), "\(back.out) \(back.errors)")
        #expect(try scratch.firn("diff", "db.firn", "db.firn@first").code == 0)
        #expect(try scratch.firn("diff", "db.firn", "db.firn@second", "--format", "summary").code == 1)
        #expect(try scratch.firn("revert", "db.firn", "second").out.contains("10 removed"))
        #expect(try scratch.firn("log", "-n", "1", "db.firn").out.contains("90 rows (10 removed)"))
        #expect(try scratch.firn("verify", "--full", "db.firn", "db.firn@first").code == 0)
        #expect(try scratch.firn("compact", "db.firn").code == 0)
        #expect(try scratch.firn("diff", "db.firn", "db.firn@second").code == 0)
        #expect(try scratch.firn("verify", "--full", "db.firn", "db.firn@first").code == 0)
    }

    @Test func `the transcripts of the page on history are what the commands print`() throws {
        let scratch = try Scratch()
        try fixture("tags.firn", scratch, as: "db.firn")
        let steps = try Transcript(page: "history.md").steps
        #expect(steps.count >= 8)
        for step in steps { #expect(try Transcript.run(step.command, in: scratch) == step.output, "\(step.command)") }
    }

    @Test func `a copy of a file made while another process writes is one of its complete versions`() throws {
        let scratch = try Scratch()
        try fixture("tags.firn", scratch, as: "db.firn")
        for tag in ["first", "second"] { #expect(try scratch.firn("convert", "db.firn@\(tag)", "\(tag).firn").code == 0) }
        #expect(try scratch.firn("revert", "db.firn", "first").code == 0)
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", "while [ ! -e stop ]; do \"$FIRN\" -q revert db.firn second; \"$FIRN\" -q revert db.firn first; done"]
        writer.currentDirectoryURL = scratch.folder
        writer.environment = ProcessInfo.processInfo.environment.merging(["FIRN": FirnRun.binary.path]) { $1 }
        writer.standardOutput = FileHandle.nullDevice
        writer.standardError = FileHandle.nullDevice
        try writer.run()
        var seen: Set<String> = []
        for i in 0..<12 {
            let run = try scratch.firn("convert", "db.firn", "copy\(i).firn")
            #expect(run.code == 0, "\(run.errors)")
            let same = try ["first", "second"].filter {
                try scratch.firn("diff", "copy\(i).firn", "\($0).firn", "--format", "summary").code == 0
            }
            #expect(same.count == 1, "copy \(i) is neither version")
            seen.formUnion(same)
            if i % 4 == 0 { #expect(try scratch.firn("verify", "--full", "copy\(i).firn").code == 0) }
        }
        try scratch.write("stop", "")
        writer.wait()
        #expect(try scratch.firn("verify", "--full", "db.firn", "db.firn@first", "db.firn@second").code == 0)
    }

    /// The file as a later version of Firn would write it: with an unknown feature bit in byte 7 after `place`, 16 for encodings, 12 for
    /// structure, 24 for writers.
    private func file(_ name: String, withBit bit: UInt8, at place: Int, _ scratch: Scratch, as new: String) throws {
        try fixture(name, scratch, as: new)
        var bytes = [UInt8](try Data(contentsOf: scratch.file(new)))
        for slot in [0, 4096] {
            bytes[slot + place + 7] |= bit
            let hash = Hash128(of: Array(bytes[slot..<slot + 160]))
            bytes.replaceSubrange(slot + 160..<slot + 168, with: withUnsafeBytes(of: hash.low.littleEndian, Array.init))
            bytes.replaceSubrange(slot + 168..<slot + 176, with: withUnsafeBytes(of: hash.high.littleEndian, Array.init))
        }
        try Data(bytes).write(to: scratch.file(new))
    }

    @Test func `a file with an unknown reader feature is refused, and one with an unknown writer feature is read-only`() throws {
        let scratch = try Scratch()
        // A bit of structure.
        try file("plain.firn", withBit: 0x20, at: 12, scratch, as: "newer.firn")
        for words in [["query", "newer.firn"], ["info", "newer.firn"], ["tag", "newer.firn", "x"], ["log", "newer.firn"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(
                run.code == 4 && run.errors.contains("feature bits 29") && run.errors.contains("newer version of Firn"),
                "\(words): \(run.errors)")
        }
        try file("plain.firn", withBit: 0x20, at: 24, scratch, as: "writers.firn")
        let before = try Data(contentsOf: scratch.file("writers.firn"))
        for words in [
            ["query", "-n", "1", "writers.firn"], ["verify", "--full", "writers.firn"], ["log", "writers.firn"],
            ["convert", "writers.firn", "copy.firn"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
        }
        for words in [
            ["tag", "writers.firn", "x"], ["revert", "writers.firn", "1"], ["index", "writers.firn", "Row.score"],
            ["compact", "writers.firn"], ["log", "--keep", "3", "writers.firn"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 4 && run.errors.contains("newer version of Firn"), "\(words): \(run.code) \(run.errors)")
        }
        #expect(try Data(contentsOf: scratch.file("writers.firn")) == before)
    }

    @Test func `a .firn file converted from another one keeps types, keys, lists, links and indexes`() throws {
        let scratch = try Scratch()
        for (name, types) in [("collections.firn", ["Owner", "Thing"]), ("indexes.firn", ["Row"]), ("plain.firn", ["Row"])] {
            try fixture(name, scratch, as: name)
            let run = try scratch.firn("convert", name, "copy-\(name)")
            #expect(run.code == 0, "\(run.errors)")
            #expect(try scratch.firn("verify", "--full", "copy-\(name)").code == 0)
            #expect(try scratch.firn("schema", "--json", name).out == scratch.firn("schema", "--json", "copy-\(name)").out)
            #expect(
                try scratch.firn("index", name).out.split(separator: "\n").count
                    == scratch.firn("index", "copy-\(name)").out.split(separator: "\n").count)
            for type in types {
                let (one, two) = (
                    try scratch.firn("query", "\(name):\(type)", "--format", "json"),
                    try scratch.firn("query", "copy-\(name):\(type)", "--format", "json")
                )
                #expect(one.code == 0 && one.out == two.out && !one.out.isEmpty, "\(name):\(type) \(one.errors)")
            }
        }
        // Links lead to the same rows, although earlier rows were deleted.
        let links = try scratch.firn("query", "copy-collections.firn:Owner", "best.part.size >= 0", "--format", "json")
        #expect(
            try links.code == 0
                && links.out == scratch.firn("query", "collections.firn:Owner", "best.part.size >= 0", "--format", "json").out,
            "\(links.errors)")
    }
}
