import FirnKit
import Foundation
import Testing

@Suite struct UsageTests {
    @Test func `help and version end with exit code 0 and print to standard output`() throws {
        let scratch = try Scratch()
        for words in [["--version"], ["-h"], ["--help"], ["help"], ["help", "diff"], ["convert", "-h"], ["query", "--help"], []] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0 && run.errors.isEmpty && !run.out.isEmpty, "firn \(words)")
        }
        #expect(try scratch.firn("--version").out.hasPrefix("firn "))
    }

    @Test func `an invalid command line ends with exit code 2, an explanation and advice, and prints no data`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "x\n1\n")
        let wrong: [[String]] = [
            ["conver", "a", "b"], ["convert"], ["convert", "a.csv"], ["convert", "--nope", "a.csv", "b.firn"], ["query"],
            ["diff", "a.csv"],
            ["info"], ["info", "a", "b"], ["schema"], ["verify"], ["compact"], ["query", "a.csv", "--limit", "many"],
            ["query", "a.csv", "--format", "xml"],
            ["query", "a.csv", "x >"], ["query", "a.csv", "y > 1"], ["query", "a.csv", "--select", "y"],
            ["convert", "a.csv", "b.firn", "--key", "y"],
            ["convert", "a.csv", "b.unknown"], ["completions", "tcsh"], ["help", "nothing"],
        ]
        for words in wrong {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.out.isEmpty && run.errors.hasPrefix("firn: "), "firn \(words): \(run.code) \(run.errors)")
        }
        #expect(scratch.names == ["a.csv"])
    }

    @Test func `errors with very long arguments stay short, and empty names and directories have messages of their own`() throws {
        let scratch = try Scratch(), long = String(repeating: "é", count: 50_000)
        try scratch.write("a.csv", "id\n1\n")
        try FileManager.default.createDirectory(at: scratch.file("folder"), withIntermediateDirectories: true)
        for words in [
            ["query", "a.csv", "--type", long], ["query", long], [long], ["query", "a.csv", "--" + long], ["convert", "a.csv", long],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(
                !run.isCrash && [2, 5].contains(run.code) && run.errors.utf8.count < 10_000,
                "\(words[0]): \(run.code) \(run.errors.utf8.count)")
        }
        for (words, part) in [
            (["query", ""], "the name of a file is empty"), (["convert", "a.csv", ""], "the name of OUT is empty"),
            (["convert", "a.csv", "folder"], "the format of OUT cannot be inferred from the name \"folder\""),
            (["convert", "a.csv", "folder", "--to", "csv"], "folder: cannot write the file: a directory has this name"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect([2, 5].contains(run.code) && run.errors.contains(part), "\(words): \(run.code) \(run.errors)")
        }
    }

    @Test func `a .firn file in a named pipe is an error, and does not wait for another writer`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id\n1\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        #expect(mkfifo(scratch.file("pipe").path, 0o600) == 0)
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", "cat a.firn > pipe"]
        writer.currentDirectoryURL = scratch.folder
        try writer.run()
        let run = try scratch.firn("query", "pipe")
        #expect(run.code == 2 && run.errors.contains("cannot be read from a pipe"), "\(run.code) \(run.errors)")
        writer.wait()
    }

    @Test func `a missing or unreadable file ends with exit code 5`() throws {
        let scratch = try Scratch()
        for words in [
            ["info", "none.firn"], ["query", "none.csv"], ["convert", "none.csv", "out.firn"], ["schema", "none.json"],
            ["verify", "none.firn"],
            ["compact", "none.firn"], ["diff", "none.csv", "none.csv", "--key", "x"], ["convert", ".", "out.firn"],
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 5 && !run.isCrash && run.errors.hasPrefix("firn: "), "firn \(words): \(run.code) \(run.errors)")
        }
        #expect(scratch.names.isEmpty)
    }

    @Test func `colour is used only on request`() throws {
        let scratch = try Scratch()
        #expect(!(try scratch.firn("info", "none").errors.contains("\u{1B}")))
        #expect(try scratch.firn("info", "none", "--color=always").errors.contains("\u{1B}"))
        #expect(try scratch.firn("info", "none", environment: ["CLICOLOR_FORCE": "1"]).errors.contains("\u{1B}"))
        #expect(!(try scratch.firn("info", "none", environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]).errors.contains("\u{1B}")))
    }
}
