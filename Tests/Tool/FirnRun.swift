import FirnKit
import Foundation
import Testing

/// A run of the built command in its own process.
struct FirnRun {
    let code: Int32
    let out: String
    let errors: String
    /// Whether a signal, for example of a trap, ended the process. This is never allowed.
    let isCrash: Bool

    /// SwiftPM builds the command in the folder of the test bundle.
    static let binary: URL = {
        var candidates: [URL] = []
        for argument in CommandLine.arguments.prefix(3) {
            var folder = URL(filePath: argument).deletingLastPathComponent()
            for _ in 0..<4 {
                candidates.append(folder.appending(path: "firn"))
                folder = folder.deletingLastPathComponent()
            }
        }
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        candidates.append(package.appending(path: ".build/debug/firn"))
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) && !$0.hasDirectoryPath } ?? candidates.last!
    }()

    /// The stress test program, in the same folder.
    static let stress = binary.deletingLastPathComponent().appending(path: "firn-stress")

    /// `addressSpace`: the limit of the address space of the command in KiB (`ulimit -v`).
    @discardableResult
    init(_ words: [String], input: String? = nil, in folder: URL? = nil, environment: [String: String] = [:], addressSpace: Int? = nil)
        throws
    {
        let process = Process()
        process.executableURL = addressSpace == nil ? FirnRun.binary : URL(filePath: "/bin/sh")
        // FIRN_TOOL_FLAGS="--no-mmap" runs every command with these flags too.
        let flags = ProcessInfo.processInfo.environment["FIRN_TOOL_FLAGS"]?.split(separator: " ").map(String.init) ?? []
        let takesFlags = words.first.map { !$0.hasPrefix("-") && !["help", "completions", "reference"].contains($0) } ?? false
        process.arguments = takesFlags ? words.prefix(1) + flags + words.dropFirst() : words
        if let addressSpace {
            process.arguments = ["-c", "ulimit -v \(addressSpace); exec \"$0\" \"$@\"", FirnRun.binary.path] + process.arguments!
        }
        process.currentDirectoryURL = folder
        var variables = ProcessInfo.processInfo.environment
        for name in ["NO_COLOR", "CLICOLOR_FORCE"] { variables[name] = nil }
        variables["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = variables.merging(environment) { $1 }
        // Output goes to files because a full pipe that is not read would block the command.
        let scratch = try Scratch()
        let outFile = scratch.file("out"), errorFile = scratch.file("errors"), inFile = scratch.file("in")
        for file in [outFile, errorFile] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        try Data((input ?? "").utf8).write(to: inFile)
        process.standardInput = try FileHandle(forReadingFrom: inFile)
        process.standardOutput = try FileHandle(forWritingTo: outFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        process.wait()
        code = process.terminationStatus
        isCrash = process.terminationReason == .uncaughtSignal
        out = String(decoding: try Data(contentsOf: outFile), as: UTF8.self)
        errors = String(decoding: try Data(contentsOf: errorFile), as: UTF8.self)
    }
}

/// A temporary folder for the files of commands.
final class Scratch {
    private let temporary = TemporaryFolder()
    var folder: URL { temporary.url }

    init() throws {}

    func file(_ name: String) -> URL { folder.appending(path: name) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: file(name))
        return name
    }

    func read(_ name: String) throws -> String { String(decoding: try Data(contentsOf: file(name)), as: UTF8.self) }
    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name).path) }
    var names: [String] { temporary.names }

    func firn(_ words: String..., input: String? = nil, environment: [String: String] = [:]) throws -> FirnRun {
        try firn(words, input: input, environment: environment)
    }

    func firn(_ words: [String], input: String? = nil, environment: [String: String] = [:]) throws -> FirnRun {
        try FirnRun(words, input: input, in: folder, environment: environment)
    }
}

/// Folders of the package.
enum Folders {
    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    static let fixtures = package.appending(path: "Tests/Fixtures")
}
