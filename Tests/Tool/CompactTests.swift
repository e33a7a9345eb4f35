import FirnKit
import Foundation
import Testing

/// `firn compact` while other processes read the file, and on file systems that are full or read-only.
@Suite struct CompactTests {
    private func run(_ program: URL, _ words: [String]) -> Int32 {
        let process = Process()
        process.executableURL = program
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return -1 }
        process.wait()
        return process.terminationStatus
    }

    private func shell(_ words: String...) -> Int32 { run(URL(filePath: "/usr/bin/env"), words) }

    /// A file with dead space and free space.
    private func grown(_ path: URL) { #expect(run(FirnRun.stress, ["soak", path.path, "--count", "150", "--keep", "20"]) == 0) }

    @Test func `a file with mode 0600 keeps this mode when it is compacted in place or overwritten`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        grown(file)
        func mode() throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber)?.intValue
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let before = try Data(contentsOf: file).count
        #expect(try scratch.firn("compact", "a.firn").code == 0)
        #expect(try mode() == 0o600 && Data(contentsOf: file).count < before)
        try Data("a,b\n1,2\n".utf8).write(to: scratch.file("t.csv"))
        #expect(try scratch.firn("convert", "--force", "t.csv", "a.firn").code == 0)
        #expect(try mode() == 0o600)
    }

    @Test func `readers keep their version while a file is compacted in place, and new readers read the new file`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        grown(file)
        let before = try Data(contentsOf: file).count
        let reader = try PinningReader(file)
        #expect(try scratch.firn("compact", "a.firn").code == 0)
        let after = try Data(contentsOf: file).count
        #expect(after < before * 2 / 3, "\(before) bytes before, \(after) after")
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
        #expect(try scratch.firn("query", "a.firn:Account", "id >= 0").code == 0)
        try reader.end()
        #expect(scratch.names == ["a.firn"])
    }

    @Test func `a file with very many columns lists only those whose sizes changed`() throws {
        let scratch = try Scratch()
        let header = (0..<300).map { "c\($0)" }.joined(separator: ","), row = (0..<300).map { "\($0)" }.joined(separator: ",")
        try Data((header + "\n" + row + "\n" + row + "\n").utf8).write(to: scratch.file("t.csv"))
        #expect(try scratch.firn("convert", "t.csv", "a.firn").code == 0)
        let lines = try scratch.firn("compact", "a.firn", "b.firn").out.split(separator: "\n")
        #expect(lines.count < 70 && lines.contains { $0.contains("other columns)") }, "\(lines.count) lines")
        #expect(try scratch.firn("compact", "--json", "--force", "a.firn", "b.firn").out.split(separator: "\"column\"").count > 300)
    }

    @Test func `compacting on a full disk leaves the file unchanged`() throws {
        let scratch = try Scratch(), disk = scratch.file("disk")
        grown(scratch.file("a.firn"))
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        let size = (try Data(contentsOf: scratch.file("a.firn")).count + 4095) / 4096 * 4096
        guard shell("mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", disk.path) == 0 else {
            print("skipped: no tmpfs can be mounted here"); return
        }
        defer { _ = shell("umount", disk.path) }
        try FileManager.default.copyItem(at: scratch.file("a.firn"), to: disk.appending(path: "a.firn"))
        let run = try scratch.firn("compact", "disk/a.firn")
        #expect(run.code == 5 && run.errors.contains("space"), "\(run.code) \(run.errors)")
        #expect(FileManager.default.contentsEqual(atPath: scratch.file("a.firn").path, andPath: disk.appending(path: "a.firn").path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["a.firn"])
    }

    @Test func `a target that is the file itself is refused with advice to omit it`() throws {
        let scratch = try Scratch()
        grown(scratch.file("a.firn"))
        let run = try scratch.firn("compact", "a.firn", "./a.firn")
        #expect(
            run.code == 5 && run.errors.contains("the file already exists")
                && run.errors.contains("omit OUT to compact the file itself, or use --force to overwrite it"), "\(run.code) \(run.errors)")
        let other = try scratch.firn("compact", "a.firn", "b.firn")
        #expect(other.code == 0, "\(other.errors)")
        let existing = try scratch.firn("compact", "a.firn", "b.firn")
        #expect(existing.code == 5 && !existing.errors.contains("omit OUT"), "\(existing.errors)")
    }

    @Test func `a file with several hard links is not compacted in place, because the links would become different files`() throws {
        let scratch = try Scratch()
        grown(scratch.file("a.firn"))
        try FileManager.default.linkItem(at: scratch.file("a.firn"), to: scratch.file("b.firn"))
        let run = try scratch.firn("compact", "a.firn")
        #expect(run.code == 5 && run.errors.contains("2 hard links"), "\(run.code) \(run.errors)")
        #expect(FileManager.default.contentsEqual(atPath: scratch.file("a.firn").path, andPath: scratch.file("b.firn").path))
        #expect(try scratch.firn("compact", "a.firn", "c.firn").code == 0)
        // A symbolic link is followed and remains a link.
        try FileManager.default.removeItem(at: scratch.file("b.firn"))
        try FileManager.default.createSymbolicLink(atPath: scratch.file("l.firn").path, withDestinationPath: "a.firn")
        #expect(try scratch.firn("compact", "l.firn").code == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("l.firn").path) == "a.firn")
    }

    @Test func `on a read-only file system commands that read work, and commands that write report why they fail`() throws {
        let scratch = try Scratch(), disk = scratch.file("disk")
        grown(scratch.file("a.firn"))
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        guard shell("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk.path) == 0 else {
            print("skipped: no tmpfs can be mounted here"); return
        }
        defer { _ = shell("umount", disk.path) }
        try FileManager.default.copyItem(at: scratch.file("a.firn"), to: disk.appending(path: "a.firn"))
        #expect(shell("mount", "-o", "remount,ro", disk.path) == 0)
        for flags in [[], ["--no-mmap"]] {
            #expect(try FirnRun(["query", "disk/a.firn:Account"] + flags, in: scratch.folder).code == 0)
            #expect(try FirnRun(["verify", "--full", "disk/a.firn"] + flags, in: scratch.folder).code == 0)
            #expect(try FirnRun(["info", "disk/a.firn"] + flags, in: scratch.folder).code == 0)
            #expect(try FirnRun(["compact", "disk/a.firn", flags.isEmpty ? "b.firn" : "c.firn"] + flags, in: scratch.folder).code == 0)
        }
        for words in [
            ["compact", "disk/a.firn"], ["index", "disk/a.firn", "Account.balance"], ["convert", "a.firn:Entry", "disk/b.csv"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 5 && run.errors.lowercased().contains("read-only"), "\(words): \(run.code) \(run.errors)")
        }
    }

    @Test func `a file without write permission can be read, and writing to it is an error`() throws {
        let scratch = try Scratch()
        grown(scratch.file("a.firn"))
        // Root ignores permissions, so the command runs as another user, if that is possible here.
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", FirnRun.binary.path]
        // These permissions must not depend on the umask of the test run.
        _ = shell("chmod", "755", scratch.folder.path)
        _ = shell("chmod", "644", scratch.file("a.firn").path)
        guard shell(nobody[0], nobody[1], nobody[2], nobody[3], nobody[4], "--version") == 0 else {
            print("skipped: the command cannot run as another user here"); return
        }
        let path = scratch.file("a.firn").path
        #expect(shell(nobody[0], nobody[1], nobody[2], nobody[3], nobody[4], "query", path + ":Account") == 0)
        #expect(shell(nobody[0], nobody[1], nobody[2], nobody[3], nobody[4], "compact", path) == 5)
        // The file is writable but its folder is not: rows can be committed, but no new file can be created.
        _ = shell("chmod", "666", path)
        #expect(shell(nobody[0], nobody[1], nobody[2], nobody[3], nobody[4], "compact", path) == 5)
        let made = FirnRun.binary.path + " convert " + path + ":Account " + scratch.file("b.csv").path
        #expect(
            shell(
                "sh", "-c",
                "setpriv --reuid=65534 --regid=65534 --clear-groups \(made) 2>&1 | grep -q 'b.csv: .* its folder is not writable'") == 0)
        #expect(scratch.names == ["a.firn"])
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
    }

    @Test func `versions beyond --keep are removed even if the file grows, and a file without such versions is left unchanged`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        var text = "id,a,b\n"
        for id in 1...30_000 { text += "\(id),\(id * id / 7 % 1000),text \(id % 37) and \(id % 11)\n" }
        try scratch.write("a.csv", text)
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn", "-q").code == 0)
        // A second version of almost no size, with both versions tightly packed.
        #expect(
            try scratch.firn("index", "-q", "a.firn", "a.id").code == 0 && scratch.firn("index", "-q", "--drop", "a.firn", "a.id").code == 0
        )
        #expect(try scratch.firn("compact", "--profile", "small", "--keep", "2", "a.firn", "p.firn").code == 0)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: scratch.file("p.firn"), to: file)
        let before = try Data(contentsOf: file)
        func versions() throws -> Int { try scratch.firn("log", "--json", "a.firn").out.split(separator: "\n").count }
        let count = try versions()
        #expect(count > 1)
        // Keeps all existing versions.
        let all = try scratch.firn("compact", "--profile", "fast", "--keep", "9", "a.firn")
        #expect(all.code == 0 && all.errors.contains("cannot be made smaller, and is unchanged"), "\(all.errors)")
        #expect(try Data(contentsOf: file) == before)
        #expect(
            try scratch.firn("compact", "--profile", "fast", "--keep", "1", "--dry-run", "a.firn").code == 0
                && Data(contentsOf: file) == before)
        let run = try scratch.firn("compact", "--profile", "fast", "--keep", "1", "a.firn")
        #expect(run.code == 0 && !run.errors.contains("was left"), "\(run.errors)")
        #expect(
            try Data(contentsOf: file).count >= before.count, "the file did not grow from \(before.count) bytes, so this case tests nothing"
        )
        #expect(try versions() == 1 && scratch.firn("verify", "--full", "a.firn").code == 0)
        #expect(try scratch.firn("hash", "a.firn").out.prefix(32) == scratch.firn("hash", "a.csv", "--key", "id").out.prefix(32))
    }

    // MARK: --in-place

    @Test func `compact --in-place shortens a file while a reader holds a version, and frees the rest after the reader has ended`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        grown(file)
        let before = try Data(contentsOf: file).count
        let reader = try PinningReader(file)
        let inode = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        let run = try scratch.firn("compact", "--in-place", "a.firn")
        #expect(run.code == 0 && run.out.hasPrefix("a.firn: "), "\(run.out) \(run.errors)")
        #expect(
            run.errors.contains("are held by readers of older versions")
                && run.errors.contains("process \(reader.process.processIdentifier)"), "\(run.errors)")
        try reader.end()
        let second = try scratch.firn("compact", "--in-place", "--json", "a.firn")
        let after = try Data(contentsOf: file).count
        #expect(
            second.code == 0 && second.out.contains("\"bytesAfter\":\(after),") && second.out.contains("\"waitingForReaders\":0,")
                && second.out.contains("\"complete\":true"), "\(second.out)")
        #expect(after < before * 2 / 3, "\(before) bytes before, \(after) after")
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int == inode)
        #expect(scratch.names == ["a.firn"])
    }

    @Test func `compact --in-place needs no space for a second file`() throws {
        let scratch = try Scratch(), disk = scratch.file("disk")
        grown(scratch.file("a.firn"))
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        let size = (try Data(contentsOf: scratch.file("a.firn")).count + 4095) / 4096 * 4096
        guard shell("mount", "-t", "tmpfs", "-o", "size=\(size + 131_072)", "tmpfs", disk.path) == 0 else {
            print("skipped: no tmpfs can be mounted here"); return
        }
        defer { _ = shell("umount", disk.path) }
        try FileManager.default.copyItem(at: scratch.file("a.firn"), to: disk.appending(path: "a.firn"))
        #expect(try scratch.firn("compact", "--in-place", "disk/a.firn").code == 0)
        #expect(try Data(contentsOf: disk.appending(path: "a.firn")).count < size * 2 / 3)
        #expect(try scratch.firn("verify", "--full", "disk/a.firn").code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["a.firn"])
    }

    @Test func `compact --in-place refuses options for a new file, and keeps all hard links of the file`() throws {
        let scratch = try Scratch()
        grown(scratch.file("a.firn"))
        for words in [["b.firn"], ["--keep", "3"], ["--dry-run"], ["--plain"], ["--force"]] {
            let run = try FirnRun(["compact", "--in-place", "a.firn"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains("--in-place"), "\(words): \(run.code) \(run.errors)")
        }
        #expect(
            try scratch.firn("tag", "a.firn", "now").code == 0 && scratch.firn("compact", "--in-place", "a.firn@now").code == 2
                && scratch.firn("tag", "--delete", "a.firn", "now").code == 0)
        try FileManager.default.linkItem(at: scratch.file("a.firn"), to: scratch.file("b.firn"))
        let before = try Data(contentsOf: scratch.file("b.firn")).count
        #expect(try scratch.firn("compact", "--in-place", "a.firn").code == 0)
        #expect(try Data(contentsOf: scratch.file("b.firn")).count < before * 2 / 3)
        #expect(FileManager.default.contentsEqual(atPath: scratch.file("a.firn").path, andPath: scratch.file("b.firn").path))
    }

    @Test func `compact --in-place leaves an intact file when it is killed at any moment, and the next run completes it`() throws {
        let scratch = try Scratch(), file = scratch.file("a.firn")
        for turn in 0..<6 {
            try? FileManager.default.removeItem(at: file)
            grown(file)
            let before = try Data(contentsOf: file).count, process = Process()
            process.executableURL = FirnRun.binary
            process.arguments = ["compact", "--in-place", "--quiet", file.path]
            try process.run()
            usleep(UInt32(turn * turn * 3000))
            kill(process.processIdentifier, turn % 2 == 0 ? SIGKILL : SIGINT)
            process.wait()
            #expect(try scratch.firn("verify", "--full", "a.firn").code == 0, "turn \(turn)")
            #expect(try scratch.firn("compact", "--in-place", "a.firn").code == 0, "turn \(turn)")
            #expect(try Data(contentsOf: file).count < before * 2 / 3, "turn \(turn)")
        }
    }
}

/// A process that holds the version that it finds in a file until it is ended.
private struct PinningReader {
    let process = Process()
    private let input = Pipe(), output = Pipe()

    init(_ file: URL) throws {
        process.executableURL = FirnRun.stress
        process.arguments = ["pin", file.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        #expect(said.hasPrefix("pinned "), "\(said)")
    }

    /// Ends the process, and checks that its version was readable until then.
    func end() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        process.wait()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationStatus == 0 && said.contains("intact "), "\(said)")
    }
}
