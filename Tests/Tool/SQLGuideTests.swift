import FirnKit
import Foundation
import Testing

/// The transcripts of docs/guide/sql.md. The commands after `$ ` are run in one folder, from top to bottom, and must print the lines that
/// follow them.
@Suite struct SQLGuideTests {
    @Test func `the transcripts of the page on SQL are what the commands print`() throws {
        let scratch = try Scratch(), demo = Folders.fixtures.appending(path: "demo")
        for name in ["companies-2023.csv", "companies-2026.csv", "artists.ndjson"] {
            try FileManager.default.copyItem(at: demo.appending(path: name), to: scratch.file(name))
        }
        let steps = try Transcript(page: "sql.md").steps
        #expect(steps.count >= 10)
        let tools = FirnRun.binary.deletingLastPathComponent(), library = tools.appending(path: "libfirn_sqlite.so")
        if FileManager.default.fileExists(atPath: library.path) {
            try FileManager.default.createSymbolicLink(at: scratch.file("libfirn_sqlite.so"), withDestinationURL: library)
        }
        for step in steps {
            if step.command.hasPrefix("sqlite3 "),
                !scratch.has("libfirn_sqlite.so")
                    || !["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].contains(where: FileManager.default.isExecutableFile)
            {
                print("skipped: there is no sqlite3 shell, or no libfirn_sqlite.so, for: \(step.command)")
                continue
            }
            let printed = try Transcript.run(step.command, in: scratch)
            #expect(printed == step.output, "\(step.command)")
        }
    }
}
/// The transcripts of a page of docs/guide: the commands after `$ `, and the lines that follow them, which the commands must print. A command
/// that ends with a backslash continues in the lines after `> `.
struct Transcript {
    struct Step {
        var command: String
        var output: String
    }

    let steps: [Step]

    init(page: String) throws {
        let text = try String(contentsOf: Folders.package.appending(path: "docs/guide/\(page)"), encoding: .utf8)
        var steps: [Step] = [], isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2)), output: ""))
            } else if isInside, line.hasPrefix("> "), steps[steps.count - 1].command.hasSuffix("\\") {
                steps[steps.count - 1].command += "\n" + line.dropFirst(2)
            } else if isInside {
                steps[steps.count - 1].output += line + "\n"
            }
        }
        self.steps = steps
    }

    /// Returns what a command prints to standard output and standard error.
    static func run(_ command: String, in scratch: Scratch) throws -> String {
        let process = Process(), out = scratch.file("out.txt"), tools = FirnRun.binary.deletingLastPathComponent()
        process.executableURL = URL(filePath: "/bin/sh")
        process.currentDirectoryURL = scratch.folder
        var environment = ProcessInfo.processInfo.environment
        // The preloaded library that a sanitizer needs, as in FirnSQLTests.ExtensionTests.
        let functions = command.hasPrefix("sqlite3 ") ? environment["FIRN_SHELL_PRELOAD"].map { "LD_PRELOAD='\($0)' " } : nil
        process.arguments = ["-c", (functions ?? "") + command]
        environment["PATH"] = tools.path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
        environment["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = environment
        _ = FileManager.default.createFile(atPath: out.path, contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = process.standardOutput
        try process.run()
        process.wait()
        return try scratch.read("out.txt")
    }
}
