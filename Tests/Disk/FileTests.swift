import FirnBytes
import FirnKit
import Foundation
import Testing
@testable import FirnDisk

/// A temporary folder on the disk, not in memory, because this module calls the file system.
struct Scratch {
    private let folder = TemporaryFolder(onDisk: true)
    var path: String { folder.path }
    func callAsFunction(_ name: String) -> String { folder.file(name) }
}

/// Refuses the nth call with an error number.
final class Refusal: DiskCalls, @unchecked Sendable {
    private var left: Int
    private let code: Int32
    var names: [String] = []
    init(after left: Int, code: Int32) { (self.left, self.code) = (left, code) }
    func before(_ call: DiskCall, of file: UInt64) -> Int32? {
        names.append(call.name)
        left -= 1
        return left == -1 ? code : nil
    }
}

@Suite struct FileTests {
    @Test func `bytes that are written at an offset can be read there`() throws {
        let scratch = Scratch()
        let file = try File(path: scratch("a"), .createNew)
        try file.write([1, 2, 3], at: 10)
        #expect(try file.size() == 13)
        #expect(try file.read(count: 20, at: 9) == [0, 1, 2, 3])
        #expect(file.isRegular && !file.isDirectory)
        try file.sync()
        try file.truncate(to: 11)
        #expect(try file.readAll() == [UInt8](repeating: 0, count: 10) + [1])
        if try file.allocate(offset: 0, length: 5000) { #expect(try file.size() == 5000) }
        #expect(try File(path: scratch("a"), .read).identity() == file.identity())
        #expect(try FileFacts(path: scratch("a")) == file.facts() && FileFacts(path: scratch("none")) == nil)
    }

    @Test func `missing folders are created, also with names that begin with a combining mark`() throws {
        let scratch = Scratch(), mark = "\u{301}"
        try Paths.makeDirectories(scratch("a/\(mark)b/\(mark)"))
        #expect(Paths.kind(scratch("a/\(mark)b/\(mark)")) == .directory)
        #expect(Paths.directory(of: scratch("a/\(mark)b")) == scratch("a"))
    }

    @Test func `errors have the code, the system's message and the path`() {
        let scratch = Scratch()
        do {
            _ = try File(path: scratch("none"), .read)
            Issue.record("a missing file was opened")
        } catch {
            #expect(error.code == .notFound && error.message.contains("No such file") && error.location?.file == scratch("none"))
        }
        #expect(throws: FirnError.self) {
            _ = try File(path: scratch("a"), .createNew); _ = try File(path: scratch("a"), .createNew)
        }
    }

    @Test func `a script refuses calls before they change the file`() throws {
        let scratch = Scratch(), script = Refusal(after: 2, code: 28 /* ENOSPC */)
        let file = try File(path: scratch("a"), .createNew, calls: script)
        try file.write([1], at: 0)
        do {
            try file.write([2], at: 1)
            Issue.record("a refused write returned")
        } catch {
            #expect(error.code == .noSpace)
        }
        #expect(try file.size() == 1)
        try file.sync()
        #expect(script.names == ["open", "write", "write", "status", "sync"])
    }

    @Test func `a script for a folder receives all calls for files and names in it`() throws {
        let scratch = Scratch(), script = Refusal(after: .max, code: 5)
        ScriptedDisk.begin(in: scratch.path, script)
        let replacement = try Replacement(of: scratch("a"), overwrite: false)
        try replacement.file.write([1], at: 0)
        try replacement.finish()
        try Paths.rename(scratch("a"), to: scratch("b"))
        try Paths.remove(scratch("b"))
        ScriptedDisk.end(in: scratch.path)
        try File(path: scratch("c"), .createNew).write([1], at: 0)
        #expect(script.names == ["open", "write", "sync", "link", "remove", "syncDirectory", "rename", "remove"])
    }

    @Test(arguments: ["open", "link", "remove", "syncDirectory", "sync"])
    func `a replacement that is refused at any call leaves a complete file or none`(_ call: String) throws {
        let names = ["open", "write", "sync", "link", "remove", "syncDirectory"]
        let scratch = Scratch(), script = Refusal(after: names.firstIndex(of: call)!, code: 5)
        ScriptedDisk.begin(in: scratch.path, script)
        defer { ScriptedDisk.end(in: scratch.path) }
        do throws(FirnError) {
            let replacement = try Replacement(of: scratch("a"), overwrite: false)
            try replacement.file.write([1, 2], at: 0)
            try replacement.finish()
            #expect(call == "remove")
        } catch { #expect(error.code == .inputOutput && call != "remove") }
        let left = try Paths.list(scratch.path).filter { !$0.contains(".tmp-") || call != "remove" }
        #expect(left == (call == "remove" || call == "syncDirectory" ? ["a"] : []))
        if let name = left.first { #expect(try File(path: scratch(name), .read).readAll() == [1, 2]) }
    }

    @Test func `interrupted calls are repeated, except a sync, which fails`() throws {
        let scratch = Scratch()
        for nth in 0..<6 {
            let file = try File(path: scratch("a"), .createOrTruncate, calls: Refusal(after: nth, code: 4 /* EINTR */))
            try file.write([1, 2], at: 0)
            #expect(try file.read(count: 2, at: 0) == [1, 2])
            try file.truncate(to: 1)
            #expect(try file.size() == 1)
            if nth == 5 { #expect(throws: FirnError.self) { try file.sync() } } else { try file.sync() }
        }
    }

    @Test func `a mapping shows bytes that are appended after it was made`() throws {
        let scratch = Scratch()
        let file = try File(path: scratch("a"), .createNew)
        try file.write([7, 8], at: 0)
        let mapping = try Mapping(file)
        #expect(mapping.reach >= 64 << 20)
        try file.write([9], at: 100_000)
        #expect(mapping.bytes(at: 100_000, count: 1)[0] == 9)
        #expect(Array(mapping.bytes(at: 0, count: 2)) == [7, 8])
    }

    @Test func `open files exclude each other by locks on bytes, and closing a file releases its locks`() throws {
        let scratch = Scratch()
        let one = try File(path: scratch("a"), .createNew)
        var two: File? = try File(path: scratch("a"), .readWrite)
        let base: UInt64 = 1 << 62
        #expect(try one.lock(.exclusive, at: 1 << 61))
        #expect(try two!.lock(.exclusive, at: 1 << 61) == false)
        for version: UInt64 in [9, 3, 5, 4] { #expect(try two!.lock(.shared, at: base + version)) }
        #expect(try one.lock(.shared, at: base + 3))
        #expect(try one.firstConflict(in: base..<(base + 100)) == base + 3)
        #expect(try one.firstConflict(in: (base + 4)..<(base + 100)) == base + 4)
        #expect(try one.firstConflict(in: (base + 6)..<(base + 100)) == base + 9)
        #expect(try one.firstConflict(in: (base + 10)..<(base + 100)) == nil)
        let reader = try File(path: scratch("a"), .read)
        #expect(try reader.lock(.shared, at: base + 1))
        two = nil
        #expect(try one.firstConflict(in: (base + 2)..<(base + 100)) == nil)
        one.unlock(at: 1 << 61)
        let three = try File(path: scratch("a"), .readWrite)
        #expect(try three.lock(.exclusive, at: 1 << 61))
    }

    @Test func `a replaced file has its old content or its complete new content`() throws {
        let scratch = Scratch()
        try replaceFile(scratch("a"), overwrite: false) { (out) throws(FirnError) in try out.write("first") }
        #expect(throws: FirnError.self) {
            try replaceFile(scratch("a"), overwrite: false) { (out) throws(FirnError) in try out.write("x") }
        }
        #expect(throws: FirnError.self) {
            try replaceFile(scratch("a"), overwrite: true) { (out) throws(FirnError) in
                try out.write("half")
                throw FirnError(.rejected, "no")
            }
        }
        #expect(try File(path: scratch("a"), .read).readAll() == Array("first".utf8))
        try replaceFile(scratch("a"), overwrite: true) { (out) throws(FirnError) in try out.write("second") }
        #expect(try File(path: scratch("a"), .read).readAll() == Array("second".utf8))
        #expect(try Paths.list(scratch.path) == ["a"])
        #expect(throws: FirnError.self) { try Replacement.check(scratch.path, overwrite: true) }
    }

    @Test func `streams read the bytes that were written, independent of the sizes of the parts`() throws {
        let scratch = Scratch()
        var random = Random(seed: 170), all: [UInt8] = []
        let file = try File(path: scratch("a"), .createNew)
        let out = StreamOut(file, capacity: 4096)
        for _ in 0..<300 {
            let piece = random.bytes(random.below(9001))
            try out.write(piece)
            all += piece
        }
        try out.flush()
        #expect(out.position == UInt64(all.count))
        let stream = try StreamIn(path: scratch("a"), capacity: 4096)
        #expect(stream.totalSize == UInt64(all.count))
        #expect(Array(try stream.peek(10)) == Array(all[..<10]))
        let first = [UInt8](unsafeUninitializedCapacity: 5000) { buffer, count in count = try! stream.read(into: .init(buffer)) }
        #expect(first == Array(all[..<5000]))
        #expect(Array(try stream.peek(4096)) == Array(all[5000..<9096]))
        #expect(try first + stream.readToEnd() == all)
        #expect(stream.position == UInt64(all.count))
        #expect(try stream.next().isEmpty)
        #expect(throws: FirnError.self) { _ = try StreamIn(path: scratch.path) }
    }

    @Test func `a spool file has no name`() throws {
        let scratch = Scratch()
        let file = try File.spool(directory: scratch.path)
        try file.write([1, 2], at: 0)
        #expect(try file.readAll() == [1, 2])
        #expect(try Paths.list(scratch.path).isEmpty)
    }

    @Test func `the slot of a temporary path can be used again after it is released`() throws {
        // The signal handler is not run here: a child made by fork would be needed, which the Swift overlay hides. Only the registry is
        // tested.
        let slot = TemporaryPaths.add("/nonexistent/firn")
        #expect(slot != nil)
        TemporaryPaths.forget(slot)
        #expect(TemporaryPaths.add("/nonexistent/firn") == slot)
        TemporaryPaths.forget(slot)
    }
}
