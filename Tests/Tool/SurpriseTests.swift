import FirnKit
import Foundation
import Testing

/// Situations that a user meets who knows only the guide.
@Suite struct SurpriseTests {
    private func file(_ scratch: Scratch) throws {
        try scratch.write("a.csv", "id,name\n1,one\n2,two\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id").code == 0)
    }

    private func start(_ program: URL, _ words: String...) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func `a missing version and a missing tag have different errors, which name the command that lists versions`() throws {
        let scratch = try Scratch()
        try file(scratch)
        for (words, message) in [
            (["query", "a.firn@0"], "version 0 is the empty file before the first commit"),
            (["query", "a.firn@99"], "there is no version 99: the newest is 1"),
            (["query", "a.firn@none"], "there is no tag \"none\""),
            (["revert", "a.firn", "77"], "there is no version 77: the newest is 1"),
            (["revert", "a.firn", "none"], "there is no tag \"none\""), (["tag", "a.firn", "x@9"], "there is no version 9"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(
                run.code == 2 && run.errors.contains(message) && run.errors.contains("'firn log a.firn' lists the versions"),
                "\(words): \(run.code) \(run.errors)")
        }
    }

    @Test func `a key is read in the forms that programs print`() throws {
        let scratch = try Scratch(), digits = (0..<64).map { String(16 + $0 * 37 % 240, radix: 16) }.joined()
        try file(scratch)
        try scratch.write("key", digits)
        // Broken into lines, as xxd -p prints it.
        try scratch.write("lines", stride(from: 0, to: 128, by: 60).map { digits.dropFirst($0).prefix(60) + "\n" }.joined())
        #expect(try scratch.firn("convert", "a.firn", "b.firn", "--new-key-file", "key").code == 0)
        #expect(try scratch.firn("verify", "--key-file", "lines", "b.firn").code == 0)
        #expect(try scratch.firn("verify", "b.firn", environment: ["FIRN_KEY": scratch.read("lines")]).code == 0)
    }

    @Test func `a file name that is not UTF-8 is an error, and control characters in names are printed visibly`() throws {
        let scratch = try Scratch()
        try file(scratch)
        try FileManager.default.copyItem(at: scratch.file("a.firn"), to: scratch.file("two\nlines\u{1B}[31m.firn"))
        let verified = try scratch.firn("verify", "two\nlines\u{1B}[31m.firn")
        #expect(verified.code == 0 && !verified.out.contains("\u{1B}") && verified.out.split(separator: "\n").count == 1, "\(verified.out)")
        let shell = Process(), errors = Pipe()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "\"$FIRN\" verify \"$(printf 'bad\\377.firn')\""]
        shell.environment = ProcessInfo.processInfo.environment.merging(["FIRN": FirnRun.binary.path]) { $1 }
        shell.standardError = errors
        try shell.run()
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.wait()
        #expect(shell.terminationStatus == 2 && told.contains("is not UTF-8"), "\(told)")
    }

    @Test func `tags and the number of kept versions can be set while another process writes continuously`() throws {
        let scratch = try Scratch(), stress = FirnRun.binary.deletingLastPathComponent().appending(path: "firn-stress")
        try start(stress, "soak", scratch.file("a.firn").path, "--count", "20").wait()
        let writer = try start(stress, "write", scratch.file("a.firn").path)
        defer {
            kill(writer.processIdentifier, SIGKILL)
            writer.wait()
        }
        for words in [
            ["tag", "a.firn", "one"], ["log", "--keep", "5", "a.firn"], ["tag", "a.firn", "two"], ["tag", "--delete", "a.firn", "one"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
        }
        #expect(writer.isRunning)
    }

    @Test func `every command prints valid lines of JSON with --json`() throws {
        let scratch = try Scratch()
        try file(scratch)
        try scratch.write("key", String(repeating: "5a", count: 64))
        #expect(try scratch.firn("convert", "a.firn", "locked.firn", "--new-key-file", "key").code == 0)
        let asked: [([String], [String])] = [
            (["tag", "a.firn", "one"], ["tag", "time", "v", "version"]), (["tag", "a.firn"], ["tag", "time", "v", "version"]),
            (["log", "a.firn"], ["read", "since", "tags", "time", "types", "v", "version"]),
            (["log", "--keep", "5", "a.firn"], ["file", "keep", "keepSeconds", "v"]),
            (["index", "a.firn", "name"], ["bytes", "column", "entries", "forKey", "kind", "runs", "type", "v"]),
            (["index", "--drop", "a.firn", "name"], ["column", "dropped", "kind", "type", "v"]),
            (["tag", "--delete", "a.firn", "one", "none"], ["deleted", "tag", "v"]),
            (["revert", "a.firn", "1"], ["file", "from", "to", "types", "v", "version"]),
            (["verify", "a.firn"], ["defects", "file", "full", "intact", "seconds", "summary", "v"]),
            (["verify", "locked.firn"], ["defects", "file", "full", "intact", "seconds", "summary", "v"]),
            (["verify", "none.firn"], ["defects", "file", "full", "intact", "seconds", "summary", "v"]),
            (["compact", "a.firn"], ["bytesAfter", "bytesBefore", "columns", "file", "replaced", "v"]),
            (
                ["recover", "a.firn", "r.firn"],
                ["complete", "file", "losses", "remarks", "saved", "target", "v", "version", "withheldRows"]
            ),
        ]
        for (words, keys) in asked {
            let run = try FirnRun(words + ["--json"], in: scratch.folder), lines = run.out.split(separator: "\n")
            #expect(!lines.isEmpty && (run.code <= 1 || words[0] == "verify"), "\(words): \(run.code) \(run.errors)")
            for line in lines {
                let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                // Members without a value may be missing.
                let found = Set((parsed ?? [:]).keys)
                #expect(found.isSubset(of: keys) && found.contains("v"), "\(words): \(line)")
            }
        }
    }

    @Test func `a missing target folder is reported as such`() throws {
        let scratch = try Scratch()
        try file(scratch)
        for target in ["none/b.firn", "none/b.csv"] {
            let run = try scratch.firn("convert", "a.firn", target)
            #expect(run.code == 5 && run.errors.contains("\(target): cannot create the file: its folder does not exist"), "\(run.errors)")
        }
    }

    @Test func `recover refuses folders and devices, and compact refuses a pipe as target`() throws {
        let scratch = try Scratch()
        try file(scratch)
        try FileManager.default.createDirectory(at: scratch.file("folder"), withIntermediateDirectories: false)
        #expect(try scratch.firn("recover", "folder", "b.firn").code == 5 && scratch.firn("recover", "/dev/null", "b.firn").code == 5)
        let piped = try scratch.firn("compact", "a.firn", "-")
        #expect(piped.code == 2 && piped.errors.contains("cannot be written to a pipe") && !scratch.has("-"))
    }
}
