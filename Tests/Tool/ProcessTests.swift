import FirnKit
import Foundation
import Testing

/// A run of the built `firn-stress`, and the words and numbers that it prints.
private struct Stress {
    let code: Int32
    let lines: [String]

    init(_ words: [String]) throws {
        let process = Process(), scratch = try Scratch(), out = scratch.file("out")
        process.executableURL = FirnRun.stress
        process.arguments = words
        _ = FileManager.default.createFile(atPath: out.path, contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: out)
        try process.run()
        process.wait()
        code = process.terminationReason == .uncaughtSignal ? 1000 + process.terminationStatus : process.terminationStatus
        lines = try String(contentsOf: out, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    func number(_ name: String) -> Int { lines.first { $0.hasPrefix(name + " ") }.flatMap { Int($0.split(separator: " ")[1]) } ?? -1 }
}

private func count(_ name: String, _ standard: Int) -> Int { ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? standard }

/// Real processes on one file. `FIRN_KILLS=2000 swift test --filter ProcessTests` sets the number of kills. `firn-stress` can also be run
/// manually.
@Suite struct ProcessTests {
    @Test func `killing writers and readers loses no acknowledged commit and leaves no lock`() throws {
        let scratch = try Scratch(), kills = count("FIRN_KILLS", 40)
        let run = try Stress(["kill", scratch.file("a.firn").path, "--kills", String(kills)])
        #expect(run.code == 0, "\(run.lines)")
        #expect(run.number("kills") >= kills && run.number("commits") >= kills / 2, "\(run.lines)")
        if kills > 1000 { print("kills: \(run.lines.joined(separator: ", "))") }
    }

    @Test func `killing writers and readers loses no acknowledged commit and leaves no lock if files are read with system calls`() throws {
        let scratch = try Scratch()
        let run = try Stress(["kill", scratch.file("a.firn").path, "--kills", "10", "--copied", "1"])
        #expect(run.code == 0 && run.number("kills") >= 10, "\(run.lines)")
    }

    /// Writes a key as digits.
    private func keyed(_ scratch: Scratch) throws -> [String] {
        try scratch.write("key", (0..<64).map { String(16 + $0 * 41 % 240, radix: 16) }.joined())
        return ["--key-file", scratch.file("key").path]
    }

    @Test(arguments: [0, 1]) func `killing writers and readers of an encrypted file loses no acknowledged commit`(
        copied: Int
    ) throws {
        let scratch = try Scratch(), kills = count("FIRN_KILLS", 24) / 2
        let run = try Stress(["kill", scratch.file("a.firn").path, "--kills", String(kills), "--copied", String(copied)] + keyed(scratch))
        #expect(run.code == 0 && run.number("kills") >= kills && run.number("commits") >= kills / 2, "\(run.lines)")
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 4)
        #expect(try scratch.firn("verify", "--full", "a.firn", "--key-file", "key").code == 0)
        if kills > 500 { print("kills, encrypted, copied \(copied): \(run.lines.joined(separator: ", "))") }
    }

    @Test(arguments: [0, 1]) func `other processes read an encrypted file while one writes it, and processes with a wrong key get an error`(
        copied: Int
    ) throws {
        let scratch = try Scratch(), commits = count("FIRN_CROWD", 60), key = try keyed(scratch)
        let run = try Stress(
            [
                "crowd", scratch.file("a.firn").path, "--count", String(commits), "--writers", "1", "--threads", "1", "--copied",
                String(copied),
            ] + key)
        #expect(run.code == 0 && run.number("commits") == commits && run.number("elsewhere") > 0, "\(run.lines)")
        if commits > 1000 { print("crowd, encrypted, copied \(copied): \(run.lines.joined(separator: ", "))") }
        // While a process writes: without a key, with a wrong key, and with the right key.
        let writer = Process()
        writer.executableURL = FirnRun.stress
        writer.arguments = ["write", scratch.file("a.firn").path, "--copied", String(copied)] + key
        writer.standardOutput = FileHandle.nullDevice
        try writer.run()
        defer {
            kill(writer.processIdentifier, SIGKILL)
            writer.wait()
        }
        try scratch.write("other", String(repeating: "5a", count: 64))
        for _ in 0..<3 {
            for command in ["read", "write"] {
                let wrong = try Stress([
                    command, scratch.file("a.firn").path, "--count", "1", "--copied", String(copied), "--key-file",
                    scratch.file("other").path,
                ])
                #expect(wrong.code == 1 && wrong.lines.joined().contains("not the one that the file was encrypted with"), "\(wrong.lines)")
                let missing = try Stress([command, scratch.file("a.firn").path, "--count", "1", "--copied", String(copied)])
                #expect(missing.code == 1 && missing.lines.joined().contains("the file is encrypted"), "\(missing.lines)")
            }
            let right = try Stress(["read", scratch.file("a.firn").path, "--count", "5", "--copied", String(copied)] + key)
            #expect(right.code == 0 && right.lines.count == 5, "\(right.lines)")
        }
        #expect(writer.isRunning, "processes with wrong keys must not stop the writer")
    }

    @Test func `many commits to an encrypted data set of constant size keep the file within a constant factor`() throws {
        let scratch = try Scratch(), commits = count("FIRN_SOAK", 300)
        let run = try Stress(["soak", scratch.file("a.firn").path, "--count", String(commits), "--pins", "2"] + keyed(scratch))
        #expect(run.code == 0 && run.number("largest") <= 5 * 500_000, "\(run.lines)")
        if commits > 1000 { print("soak, encrypted: \(run.lines.joined(separator: ", "))") }
    }

    @Test(arguments: [0, 1]) func `readers in threads and processes read complete versions while writers take turns`(copied: Int) throws {
        let scratch = try Scratch(), commits = count("FIRN_CROWD", 60)
        let run = try Stress(["crowd", scratch.file("a.firn").path, "--count", String(commits), "--copied", String(copied)])
        #expect(run.code == 0, "\(run.lines)")
        #expect(run.number("commits") == 2 * commits && run.number("reads") > 0 && run.number("elsewhere") > 0, "\(run.lines)")
        if commits > 1000 { print("crowd: \(run.lines.joined(separator: ", "))") }
    }

    @Test func `a forked child cannot use the files that it inherits, and does not affect its parent`() throws {
        let scratch = try Scratch()
        let run = try Stress(["fork", scratch.file("a.firn").path])
        #expect(run.code == 0 && run.number("forks") == 3, "\(run.lines)")
    }

    @Test(arguments: [0, 4]) func `many commits to a data set of constant size keep the file within a constant factor`(pins: Int) throws {
        let scratch = try Scratch(), commits = count("FIRN_SOAK", 600)
        let run = try Stress(["soak", scratch.file("a.firn").path, "--count", String(commits), "--pins", String(pins)])
        #expect(run.code == 0, "\(run.lines)")
        // Accounts and entries take about 40 KB, and the text up to 400,000 bytes, in each version that is held and in the one being
        // written.
        #expect(run.number("largest") <= (3 + pins) * 500_000 && run.number("largest") <= run.number("settled") * 2, "\(run.lines)")
        if commits > 10_000 { print("soak: \(run.lines.joined(separator: ", "))") }
    }

    @Test func `a file is shrunk in place while writers take turns and readers read`() throws {
        let scratch = try Scratch(), commits = count("FIRN_CROWD", 60)
        let run = try Stress(["crowd", scratch.file("a.firn").path, "--count", String(commits), "--shrink", "1"])
        #expect(run.code == 0, "\(run.lines)")
        #expect(run.number("commits") == 2 * commits && run.number("shrunk") > 0 && run.number("reads") > 0, "\(run.lines)")
    }

    @Test func `a file that is shrunk repeatedly while versions are held stays small`() throws {
        let scratch = try Scratch(), commits = count("FIRN_SOAK", 600) / 2
        let run = try Stress(["soak", scratch.file("a.firn").path, "--count", String(commits), "--pins", "2", "--shrink", "25"])
        #expect(run.code == 0, "\(run.lines)")
        // The live data: accounts and entries, and a text of up to 400,000 bytes.
        #expect(run.number("shrunk") > 0 && run.number("shrunk") <= 520_000 && run.number("largest") <= 5 * 500_000, "\(run.lines)")
    }
}
