import FirnAttacks
import FirnBytes
import FirnKit
import Foundation
import Testing

private let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/found").standardized

/// Cases that fuzzing found or that were written manually. Each of them once violated a guarantee of a module.
@Suite struct FoundTests {
    /// Runs in a separate process, so that a trap is reported as a failure. Hashes are not checked there.
    private static func replay(_ attack: Attack) {
        Hash128.believesAnything = attack.knowsHashes
        let temporary = TemporaryFolder(), scratch = temporary.file("a")
        let folder = fixtures.appending(path: attack.rawValue)
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() {
            guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { fatalError("\(name) cannot be read") }
            FileHandle.standardError.write(Data("\(attack.rawValue)/\(name)\n".utf8))
            // A hang ends the process.
            alarm(120)
            Array(bytes).withUnsafeBytes { attack.run($0, scratch: scratch) }
            alarm(0)
        }
    }

    @Test func `found hostile files are an error or return their data`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.file) }
    }
    @Test func `found hostile store structures are refused or readable`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.store) }
    }
    @Test func `found hostile changes files are refused or leave an intact file`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.changes) }
    }
    @Test func `found hostile streams are damage or values`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.streams) }
    }
    @Test func `found values that were once read back differently survive a round trip`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.values) }
    }
    @Test func `found CSV is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.csv) }
    }
    @Test func `found JSON is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.json) }
    }
    @Test func `found NDJSON is read, or refused with a position`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.lines) }
    }
    @Test func `found files of other formats are read, or refused with a place`() async {
        await #expect(processExitsWith: .success) {
            for attack in [Attack.realm, .parquet, .arrow, .sqlite] { FoundTests.replay(attack) }
        }
    }
    @Test func `found queries are answered, or refused with a position`() async {
        await #expect(processExitsWith: .success) { FoundTests.replay(.query) }
    }
}
