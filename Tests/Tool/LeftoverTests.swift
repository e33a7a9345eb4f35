import FirnKit
import Foundation
import Testing

/// What commands leave on disk when they are killed or fail.
@Suite struct LeftoverTests {
    private func rows(_ count: Int) -> String {
        "id,name\n" + (0..<count).map { "\($0),name \($0 &* 7919 % 100_003) \($0 &* 104_729 % 999_983)\n" }.joined()
    }

    /// Runs a shell command line in the folder, with the built command as `firn`.
    private func shell(_ line: String, in scratch: Scratch) throws -> (code: Int32, text: String) {
        let process = Process(), log = scratch.folder.appendingPathExtension("log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", "firn() { \"\(FirnRun.binary.path)\" \"$@\"; }\n" + line]
        process.currentDirectoryURL = scratch.folder
        let handle = try FileHandle(forWritingTo: log)
        (process.standardOutput, process.standardError, process.standardInput) = (handle, handle, FileHandle.nullDevice)
        try process.run()
        process.wait()
        #expect(process.terminationReason == .exit, "\(line)")
        return (process.terminationStatus, try String(contentsOf: log, encoding: .utf8))
    }

    @Test func `exceeding the file size limit ends with exit code 5 and leaves no temporary file`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", rows(60_000))
        #expect(try scratch.firn("convert", "a.csv", "a.firn").code == 0)
        let before = scratch.names
        for line in [
            "firn convert a.csv b.firn", "firn convert --to csv a.firn b.csv", "firn convert a.firn b.firn", "firn compact a.firn b.firn",
            "firn compact a.firn", "firn recover a.firn b.firn",
            "firn query a.firn --format csv > /dev/shm/firn-$$ || { c=$?; rm /dev/shm/firn-$$; exit $c; }",
        ] {
            let run = try shell("ulimit -f 64; \(line)", in: scratch)
            #expect(run.code == 5, "\(line): \(run)")
            #expect(run.text.contains("ulimit -f") && !run.text.contains(".tmp-"), "\(line): \(run.text)")
            #expect(scratch.names == before, "\(line): \(scratch.names)")
        }
    }

    @Test func `the next command that writes in a folder removes the temporary files of killed commands, but not those of running ones`()
        throws
    {
        let scratch = try Scratch()
        try scratch.write("a.csv", rows(10))
        func leftovers() -> [String] { scratch.names.filter { $0.contains(".tmp-") } }
        func start() throws -> (Process, Pipe) {
            let process = Process(), pipe = Pipe()
            process.executableURL = FirnRun.binary
            process.arguments = ["convert", "--from", "csv", "--rejects", "r.txt", "--force", "-", "b.firn"]
            process.currentDirectoryURL = scratch.folder
            (process.standardInput, process.standardError) = (pipe, FileHandle.nullDevice)
            let before = Set(leftovers())
            try process.run()
            // It has begun the file of rejected rows and waits for input.
            while process.isRunning, before.isSuperset(of: leftovers()) { usleep(2000) }
            return (process, pipe)
        }
        let (killed, input) = try start()
        kill(killed.processIdentifier, SIGKILL)
        killed.wait()
        let left = leftovers()
        #expect(left.count == 1)
        let (running, open) = try start()
        #expect(leftovers().count == 1 && leftovers() != left)
        // A command on another target removes them too.
        let (second, more) = try start()
        #expect(leftovers().count == 2)
        kill(second.processIdentifier, SIGKILL)
        second.wait()
        #expect(try scratch.firn("convert", "a.csv", "other.firn").code == 0)
        #expect(leftovers().count == 1)
        withExtendedLifetime(more) {}
        #expect(try scratch.firn("convert", "a.csv", "c.firn", "--rejects", "r.txt", "--force").code == 0)
        #expect(leftovers().count == 1)
        try open.fileHandleForWriting.write(contentsOf: Data("id\n1\n".utf8))
        try open.fileHandleForWriting.close()
        running.wait()
        #expect(running.terminationStatus == 0 && leftovers().isEmpty && scratch.has("r.txt"))
        withExtendedLifetime(input) {}
    }

    @Test func `files made from a file with mode 0600 have mode 0600`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,n\n1,2\n2,3\n")
        try scratch.write("b.csv", "id,n\n1,2\n2,x\n")
        try scratch.write("d.csv", "id,n\n1,5\n")
        try scratch.write("open.firn", "")
        func mode(_ name: String) throws -> Int {
            (try FileManager.default.attributesOfItem(atPath: scratch.file(name).path)[.posixPermissions] as? NSNumber)?.intValue ?? -1
        }
        func close(_ name: String, _ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scratch.file(name).path)
        }
        try close("a.csv", 0o600)
        try close("b.csv", 0o644)
        try close("open.firn", 0o644)
        for words in [
            ["convert", "a.csv", "a.firn", "-k", "id"], ["convert", "a.csv", "l.firn", "--lossless"], ["convert", "a.firn", "c.json"],
            ["convert", "a.firn", "c.firn"], ["convert", "a.csv", "b.csv", "j.ndjson", "--rejects", "r.txt"],
            ["compact", "a.firn", "d.firn"], ["recover", "a.firn", "e.firn"],
            ["diff", "a.firn", "d.csv", "--key", "id", "--changes", "f.firn"],
        ] {
            _ = try FirnRun(words, in: scratch.folder)
        }
        for name in ["a.firn", "l.firn", "c.json", "c.firn", "j.ndjson", "d.firn", "e.firn", "f.firn"] {
            #expect(try mode(name) == 0o600, "\(name)")
        }
        if scratch.has("r.txt") { #expect(try mode("r.txt") == 0o600) }
        // An overwritten file keeps its mode.
        #expect(try scratch.firn("convert", "a.csv", "open.firn", "--force").code == 0)
        #expect(try mode("open.firn") == 0o644)
    }

    @Test func `at most the length of a key is read from a key file, and a key file that others can read is reported`() throws {
        let scratch = try Scratch(), digits = String(repeating: "1f8b", count: 32)
        try scratch.write("a.csv", "id\n1\n")
        try scratch.write("key", digits + "\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scratch.file("key").path)
        // A key may begin like a compressed file.
        try Data([UInt8](repeating: 0x1F, count: 1) + [0x8B] + [UInt8](repeating: 7, count: 62)).write(to: scratch.file("bytes"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scratch.file("bytes").path)
        for flag in ["--key-file", "--new-key-file"] {
            for device in ["/dev/zero", "/dev/urandom"] {
                let run = try scratch.firn("convert", "a.csv", "b.firn", flag, device)
                #expect(run.code == 2 && run.errors.contains("does not contain a key"), "\(run.errors)")
            }
            #expect(try scratch.firn("convert", "a.csv", "b.firn", flag, ".").errors.contains("it is a directory"))
            #expect(try scratch.firn("convert", "a.csv", "b.firn", flag, "/dev/null").code == 2)
        }
        for key in ["key", "bytes"] {
            let made = try scratch.firn("convert", "a.csv", "\(key).firn", "--new-key-file", key)
            #expect(made.code == 0 && !made.errors.contains("other users"), "\(made.errors)")
            #expect(try scratch.firn("query", "\(key).firn", "--key-file", key).code == 0)
        }
        let piped = try shell("firn query key.firn --key-file <(cat key)", in: scratch)
        #expect(piped.code == 0, "\(piped)")
        // Digits separated by spaces.
        try scratch.write("spaced", digits.map { "\($0) \n" }.joined())
        #expect(try scratch.firn("query", "key.firn", "--key-file", "spaced").code == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scratch.file("key").path)
        let warned = try scratch.firn("query", "key.firn", "--key-file", "key")
        #expect(
            warned.code == 0
                && warned.errors.split(separator: "\n").filter { $0.contains("other users can read the key file \"key\"") }.count == 1,
            "\(warned.errors)")
    }

    @Test func `control characters in names are printed visibly`() throws {
        let scratch = try Scratch(), name = "a\u{1B}[31m\u{202E}vsc\u{2066}\u{7}.csv"
        try scratch.write(name, "id,x\u{202E}y\n1,2\n")
        try scratch.write("b.csv", "id,x\u{202E}y\n1,3\n")
        let target = name.dropLast(4) + ".firn"
        for words in [
            ["convert", name, String(target)], ["convert", name, String(target)], ["info", String(target)], ["query", String(target)],
            ["diff", name, "b.csv", "--key", "id"], ["query", name + "x"],
            ["verify", String(target)], ["hash", name], ["schema", name], ["query", String(target), "`x\u{202E}y` > 1", "--explain"],
            ["log", String(target)], ["compact", String(target), "c\u{202E}.firn"],
            ["diff", name, "b.csv", "--key", "id", "--format", "summary"], ["info", String(target), "--json"],
            ["verify", String(target), "--json"], ["sql", name, "select * from t", "--explain"],
        ] {
            let run = try FirnRun(words, in: scratch.folder), text = run.out + run.errors
            #expect(!text.unicodeScalars.contains { [0x1B, 0x202E, 0x2066, 7].contains($0.value) }, "\(words): \(text.debugDescription)")
        }
        #expect(try FirnRun(["info", String(target)], in: scratch.folder).out.contains("a␛[31m<U+202E>vsc<U+2066>␇.firn"))
        #expect(
            try FirnRun(["info", String(target), "--json"], in: scratch.folder).out.contains("a\\u001b[31m\\u202evsc\\u2066\\u0007.firn"))
    }

    @Test func `manual pages are printed and written`() throws {
        let scratch = try Scratch()
        #expect(try scratch.firn("man").out.contains(".SH COMMANDS"))
        #expect(try scratch.firn("man", "query").out.contains("firn\\-query"))
        #expect(try scratch.firn("man", "qeury").errors.contains("did you mean 'firn man query'?"))
        #expect(try scratch.firn("man", "--dir", "pages").code == 0)
        #expect(scratch.has("pages/firn.1") && scratch.has("pages/firn-convert.1"))
        #expect(try scratch.firn("man", "--dir", "pages").code == 5)
        #expect(try scratch.firn("man", "--dir", "pages", "--force").code == 0)
    }
}
