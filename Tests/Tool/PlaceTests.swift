import FirnKit
import Foundation
import Testing

/// Targets of commands: existing files, their own input, pipes and devices.
@Suite struct PlaceTests {
    private func rows(_ scratch: Scratch, _ count: Int = 50) throws {
        try scratch.write("a.csv", "id,name\n" + (0..<count).map { "\($0),name \($0)\n" }.joined())
    }

    private func shell(_ script: String, in scratch: Scratch) throws -> (code: Int32, out: String) {
        let process = Process(), out = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = scratch.folder
        process.environment = ProcessInfo.processInfo.environment.merging(["FIRN": FirnRun.binary.path, "SWIFT_BACKTRACE": "enable=no"]) {
            $1
        }
        process.standardOutput = out
        try process.run()
        let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.wait()
        return (process.terminationStatus, text)
    }

    private func mode(_ scratch: Scratch, _ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: scratch.file(name).path)[.posixPermissions] as! Int
    }

    @Test func `a file that is replaced keeps its permissions`() throws {
        let scratch = try Scratch()
        try rows(scratch)
        #expect(try scratch.firn("convert", "a.csv", "a.firn").code == 0)
        chmod(scratch.file("a.firn").path, 0o600)
        for i in 0..<5 { #expect(try scratch.firn("tag", "a.firn", "t\(i)").code == 0) }
        #expect(try scratch.firn("query", "a.firn", "--limit", "1").code == 0)
        #expect(try scratch.firn("compact", "a.firn", "--keep", "1").code == 0)
        #expect(try mode(scratch, "a.firn") == 0o600)
        #expect(try scratch.firn("convert", "--force", "a.csv", "a.firn").code == 0)
        #expect(try mode(scratch, "a.firn") == 0o600)
        try scratch.write("b.csv", "x\n")
        chmod(scratch.file("b.csv").path, 0o640)
        #expect(try scratch.firn("convert", "--force", "a.firn", "b.csv").code == 0)
        #expect(try mode(scratch, "b.csv") == 0o640)
        #expect(try scratch.read("b.csv") == scratch.read("a.csv"))
    }

    @Test
    func `with --force compact and convert may replace their own input, or fail while another process writes it`()
        throws
    {
        let scratch = try Scratch()
        try rows(scratch)
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id").code == 0)
        try FileManager.default.createSymbolicLink(at: scratch.file("link.firn"), withDestinationURL: scratch.file("a.firn"))
        for words in [["compact", "a.firn", "a.firn"], ["compact", "a.firn", "link.firn"], ["convert", "a.firn", "link.firn"]] {
            #expect(try FirnRun(words, in: scratch.folder).code == 5, "\(words)")
            #expect(try FirnRun(words + ["--force"], in: scratch.folder).code == 0, "\(words)")
        }
        // The next commit of a running writer would be lost.
        let stress = FirnRun.binary.deletingLastPathComponent().appending(path: "firn-stress")
        func stressed(_ words: String...) throws -> Process {
            let process = Process()
            process.executableURL = stress
            process.arguments = words
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            return process
        }
        try stressed("soak", scratch.file("w.firn").path, "--count", "10").wait()
        let busy = try stressed("write", scratch.file("w.firn").path)
        defer {
            kill(busy.processIdentifier, SIGKILL)
            busy.wait()
        }
        for words in [["compact", "w.firn", "w.firn", "--force"], ["convert", "w.firn", "w.firn", "--force"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0 || run.code == 5, "\(words): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("compact", "a.firn@1", "a.firn", "--force").code == 2)
    }

    @Test func `devices and pipes are written to, and never replaced`() throws {
        let scratch = try Scratch()
        try rows(scratch)
        #expect(try scratch.firn("convert", "a.csv", "a.firn").code == 0)
        #expect(mkfifo(scratch.file("pipe").path, 0o600) == 0)
        for words in [
            ["convert", "a.csv", "pipe", "--to", "firn", "--force"], ["compact", "a.firn", "pipe", "--force"],
            ["recover", "a.firn", "pipe", "--force"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 5 || run.code == 2, "\(words): \(run.code) \(run.errors)")
        }
        #expect(scratch.names == ["a.csv", "a.firn", "pipe"])
        // The reader starts later than the writer.
        let read = try shell("(sleep 0.3; cat pipe) & \"$FIRN\" convert -q a.firn pipe --to csv; wait", in: scratch)
        #expect(read.out == (try scratch.read("a.csv")))
    }

    @Test func `errors name the target, not its temporary file`() throws {
        let scratch = try Scratch()
        // Random numbers, so that no output fits into the block.
        var random = Random(seed: 1)
        try scratch.write("a.csv", "id,name\n" + (0..<3000).map { "\($0),\(random.next())\n" }.joined())
        for (command, name) in [("convert a.csv b.firn", "b.firn"), ("convert a.csv b.ndjson", "b.ndjson")] {
            // Files are limited to one block.
            let run = try shell("trap '' XFSZ; ulimit -f 1; \"$FIRN\" \(command) 2>&1", in: scratch)
            #expect(run.code == 5 && run.out.contains("\(name): cannot write: ") && !run.out.contains(".tmp-"), "\(run)")
            #expect(scratch.names == ["a.csv"])
        }
    }

    @Test func `output never goes into a file if the standard streams are closed`() throws {
        let scratch = try Scratch()
        try rows(scratch)
        for closed in ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"] {
            for words in [
                "log --keep 9 a.firn", "tag a.firn x --force", "index a.firn name", "compact --in-place a.firn", "revert a.firn 1",
                "convert --force a.firn b.csv",
            ] {
                #expect(try scratch.firn("convert", "--force", "a.csv", "a.firn").code == 0)
                _ = try shell("\"$FIRN\" \(words) \(closed)", in: scratch)
                let verified = try scratch.firn("verify", "--full", "a.firn")
                #expect(verified.code == 0, "\(words) \(closed): \(verified.out)")
            }
        }
    }

    @Test func `no temporary file remains if the reader of standard output ends early`() throws {
        let scratch = try Scratch()
        try rows(scratch, 60_000)
        try scratch.write("b.csv", "id,name\n" + (0..<60_000).map { "\($0),other \($0)\n" }.joined())
        let run = try shell("{ \"$FIRN\" diff a.csv b.csv --key id --changes c.firn; echo $? > code; } | head -1; cat code", in: scratch)
        #expect(scratch.names.filter { $0.contains(".tmp-") } == [], "\(run)")
        #expect(run.out.contains("141") || scratch.has("c.firn"), "\(run)")
    }
}
