import FirnAttacks
import FirnBytes
import Foundation
import Testing

private let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/found").standardized

/// Cases that fuzzing found, or that were made by hand: each once made a room break its word.
@Suite struct FoundTests {
    /// In a process of its own: what traps is told as a failure, and hashes are believed there without a look.
    private static func replay(_ attack: Attack) {
        Hash128.believesAnything = attack.knowsHashes
        let scratch = FileManager.default.temporaryDirectory.appending(path: "firn-found-\(getpid())").path
        let folder = fixtures.appending(path: attack.rawValue)
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() {
            guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { fatalError("\(name) cannot be read") }
            FileHandle.standardError.write(Data("\(attack.rawValue)/\(name)\n".utf8))
            let started = ContinuousClock.now
            Array(bytes).withUnsafeBytes { attack.run($0, scratch: scratch) }
            precondition(started.duration(to: .now) < .seconds(20), "\(name) takes too long")
        }
        for path in [scratch, scratch + ".compact", scratch + ".target"] { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test func `T7 hostile files that were found get an error or their data`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.file) }
    }
    @Test func `T7 hostile bookkeeping that was found is refused or held`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.store) }
    }
    @Test func `T7, T14 hostile files of changes that were found are refused, or leave a whole file`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.changes) }
    }
    @Test func `T7 hostile streams that were found are damage or values`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.streams) }
    }
    @Test func `values that were once read back as others are themselves`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.values) }
    }
    @Test func `T8 CSV that was found is rows, or refused with its place`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.csv) }
    }
    @Test func `T8 JSON that was found is rows, or refused with its place`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.json) }
    }
    @Test func `T8 NDJSON that was found is rows, or refused with its place`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.lines) }
    }
    @Test func `queries that were found are answered, or refused with a position`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.query) }
    }
}
