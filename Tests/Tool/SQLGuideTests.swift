import Foundation
import Testing

/// The transcripts of docs/guide/sql.md, run: what stands behind `$ ` is done in one folder, from top to bottom, and what follows is what it prints.
@Suite struct SQLGuideTests {
    private struct Step {
        var command: String
        var output: String
    }

    private static func steps(_ text: String) -> [Step] {
        var steps: [Step] = [], isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2)), output: ""))
            } else if isInside {
                steps[steps.count - 1].output += line + "\n"
            }
        }
        return steps
    }

    @Test func `the transcripts of the page on SQL are what the commands print`() throws {
        let scratch = try Scratch(), demo = Folders.fixtures.appending(path: "demo")
        for name in ["companies-2023.csv", "companies-2026.csv", "artists.ndjson"] { try FileManager.default.copyItem(at: demo.appending(path: name), to: scratch.file(name)) }
        let steps = Self.steps(try String(contentsOf: Folders.package.appending(path: "docs/guide/sql.md"), encoding: .utf8))
        #expect(steps.count >= 10)
        let tools = FirnRun.binary.deletingLastPathComponent(), library = tools.appending(path: "libfirn_sqlite.so")
        if FileManager.default.fileExists(atPath: library.path) { try FileManager.default.createSymbolicLink(at: scratch.file("libfirn_sqlite.so"), withDestinationURL: library) }
        for step in steps {
            if step.command.hasPrefix("sqlite3 "), !scratch.has("libfirn_sqlite.so") || !["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].contains(where: FileManager.default.isExecutableFile) {
                print("skipped: there is no sqlite3 shell, or no libfirn_sqlite.so, for: \(step.command)")
                continue
            }
            let process = Process(), out = scratch.file("out.txt")
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", step.command]
            process.currentDirectoryURL = scratch.folder
            var environment = ProcessInfo.processInfo.environment
            environment["PATH"] = tools.path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
            environment["SWIFT_BACKTRACE"] = "enable=no"
            process.environment = environment
            _ = FileManager.default.createFile(atPath: out.path, contents: nil)
            process.standardOutput = try FileHandle(forWritingTo: out)
            process.standardError = process.standardOutput
            try process.run()
            process.waitUntilExit()
            let printed = try scratch.read("out.txt")
            #expect(printed == step.output, "\(step.command)")
        }
    }
}
