import Foundation
import Testing

/// Runs the apps of Tests/Apps. `Tools/apps` builds them as a package that uses Firn like any other, also for release.
@Suite struct AppTests {
    /// SwiftPM builds the apps in the folder of the test bundle.
    private static let folder: URL = {
        var candidates: [URL] = []
        for argument in CommandLine.arguments.prefix(3) {
            var folder = URL(filePath: argument).deletingLastPathComponent()
            for _ in 0..<4 {
                candidates.append(folder)
                folder = folder.deletingLastPathComponent()
            }
        }
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        candidates.append(package.appending(path: ".build/debug"))
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "app-Mail6").path) } ?? candidates.last!
    }()

    @Test(arguments: ["Mail", "Feed", "Habits"], [5, 6])
    func `an app in the style of Realm's compiles in both language modes and finds what it stored`(app: String, mode: Int) throws {
        let process = Process(), output = Pipe()
        process.executableURL = AppTests.folder.appending(path: "app-\(app)\(mode)")
        process.standardOutput = output
        process.standardError = output
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit, "\(said)")
        #expect(said.contains("\(app.lowercased()): Swift \(mode) mode, ") && said.contains(", 0 failed"), "\(said)")
    }
}
