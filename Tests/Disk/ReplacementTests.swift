import FirnBytes
@testable import FirnDisk
import FirnKit
import Foundation
import Testing

/// Files that replace other files, and the signal handlers of a program that uses the library.
@Suite struct ReplacementTests {
    private let folder = TemporaryFolder()

    private func mode(_ path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test(arguments: [0o600, 0o640, 0o444, 0o606]) func `a file that replaces another one has its permissions from its first byte on`(
        _ wanted: Int
    ) throws {
        let path = folder.file("a")
        try File(path: path, .createNew).write([1], at: 0)
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: path)
        let replacement = try Replacement(of: path, overwrite: true)
        #expect(try mode(replacement.temporaryPath) == wanted)
        try replacement.file.write([2], at: 0)
        // A replacement of a replacement, as compaction makes it.
        let inner = try Replacement(of: replacement.temporaryPath, overwrite: true)
        try inner.file.write([3], at: 0)
        try inner.finish()
        try replacement.finish()
        #expect(try mode(path) == wanted && File(path: path, .read).readAll() == [3])
        // A file that replaces none has the default permissions of the process.
        let new = try Replacement(of: folder.file("b"), overwrite: true), plain = try File(path: folder.file("c"), .createNew)
        #expect(try mode(new.temporaryPath) == mode(plain.path))
    }

    #if os(Linux)
        @Test func `signals that a program handles or ignores keep their action`() {
            var before = sigaction()
            sigaction(SIGURG, nil, &before)
            defer { sigaction(SIGURG, &before, nil) }
            func handler() -> Int {
                var now = sigaction()
                sigaction(SIGURG, nil, &now)
                return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
            }
            for own in [{ _ in } as (@convention(c) (Int32) -> Void), SIG_IGN] {
                signal(SIGURG, own)
                TemporaryPaths.install(SIGURG)
                #expect(handler() == unsafeBitCast(own, to: Int.self))
            }
            signal(SIGURG, SIG_DFL)
            TemporaryPaths.install(SIGURG)
            #expect(handler() != unsafeBitCast(SIG_DFL, to: Int.self))
        }
    #endif

    @Test func `a file that claims to be longer than the address space is not mapped, and the process continues [T7]`() throws {
        let memory = TemporaryFolder(), path = memory.file("a")
        // Only on file systems that allow this length.
        guard (try? File(path: path, .createNew).truncate(to: 5 << 60)) != nil else { return }
        let file = try File(path: path, .read)
        #expect(Mapping.watched(file) == nil)
        #expect(throws: FirnError.self) { try Mapping(file) }
    }
}
