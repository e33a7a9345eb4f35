import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnStore

/// Refuses every lock with an error number, as media without locks do.
private final class Lockless: DiskCalls {
    private let code: Int32
    init(_ code: Int32) { self.code = code }
    func before(_ call: DiskCall, of file: UInt64) -> Int32? {
        if case .lock = call { code } else { nil }
    }
}

/// Several open stores, several names of a file, and media without locks.
@Suite struct LockTests {
    private func written(_ path: String, versions: Int = 3) throws -> Story {
        let store = try Store.create(path: path, overwrite: false)
        var story = Story(seed: 8)
        for _ in 0..<versions { try story.commit(store, keep: 2) }
        return story
    }

    /// Returns the error of `body`, or nil.
    private func refusal(_ body: () throws -> Void) -> FirnError? {
        do { try body() } catch { return error as? FirnError }
        return nil
    }

    @Test(arguments: [37 /* ENOLCK */, 95 /* EOPNOTSUPP */, 38 /* ENOSYS */] as [Int32])
    func `on a medium without locks, files are read by copies, and writing is an error with advice`(code: Int32) throws {
        let scratch = Scratch(), story = try written(scratch("a"))
        let reader = try Store.open(path: scratch("a"), writable: false, calls: Lockless(code)), snapshot = try reader.snapshot()
        #expect(try story.holds(snapshot) && reader.isCopying && reader.pins() == [snapshot.version])
        let writer = try Store.open(path: scratch("a"), writable: true, calls: Lockless(code))
        for error in [refusal { _ = try writer.begin() }, refusal { _ = try writer.snapshot() }] {
            #expect(error?.code == .inputOutput && error?.advice?.contains("no locks") == true, "\(String(describing: error))")
        }
    }

    @Test func `reading a version that was overwritten because its pin is invisible is an error, never wrong data`() throws {
        let scratch = Scratch()
        var story = try written(scratch("a"))
        let reader = try Store.open(path: scratch("a"), writable: false, calls: Lockless(37)), snapshot = try reader.snapshot()
        let writer = try Store.open(path: scratch("a"), writable: true)
        var errors = 0
        for _ in 0..<60 {
            try story.commit(writer, keep: 2)
            // A new snapshot each time: what was copied is kept, and is correct.
            do { #expect(try story.holds(try reader.snapshot())) } catch is Damage { errors += 1 }
        }
        do { #expect(try story.holds(snapshot)) } catch is Damage { errors += 1 }
        #expect(errors > 0, "the pinned version was not overwritten")
    }

    @Test func `a second writer is refused, or waits until the first one ends`() throws {
        let scratch = Scratch()
        _ = try written(scratch("a"))
        let one = try Store.open(path: scratch("a"), writable: true), two = try Store.open(path: scratch("a"), writable: true)
        let transaction = try one.begin()
        #expect(refusal { _ = try two.begin(wait: .no) }?.code == .locked)
        let order = NSLock()
        nonisolated(unsafe) var ended = false
        try parallel(count: 2, threads: 2) { (index) throws(FirnError) in
            if index == 0 {
                let other = try two.begin()
                #expect(order.withLock { ended })
                #expect(other.base.version == 4)
                other.cancel()
            } else {
                usleep(30_000)
                order.withLock { ended = true }
                let catalogue = try transaction.write([])
                if !transaction.base.catalogue.isNone { transaction.free(transaction.base.catalogue) }
                try transaction.commit(catalogue: catalogue, keep: 2)
            }
        }
    }

    @Test func `all links to a file share its lock, its pins and its commits`() throws {
        let scratch = Scratch()
        var story = try written(scratch("a"))
        try FileManager.default.createSymbolicLink(atPath: scratch("soft"), withDestinationPath: "a")
        try FileManager.default.linkItem(atPath: scratch("a"), toPath: scratch("hard"))
        let stores = try ["a", "soft", "hard"].map { try Store.open(path: scratch($0), writable: true) }
        for writer in stores {
            let transaction = try writer.begin(wait: .no)
            for other in stores where other !== writer { #expect(throws: FirnError.self) { _ = try other.begin(wait: .no) } }
            transaction.cancel()
            try story.commit(writer, keep: 2)
            for other in stores { #expect(try story.holds(other.snapshot())) }
        }
        let held = try stores[1].snapshot()
        #expect(try stores[2].pins() == [held.version] && stores[0].pins() == [held.version])
    }

    @Test func `readers of a renamed or removed file keep their version, and writers of a file without its name are refused`() throws {
        let scratch = Scratch()
        var story = try written(scratch("a"))
        let reader = try Store.open(path: scratch("a"), writable: false), writer = try Store.open(path: scratch("a"), writable: true)
        let snapshot = try reader.snapshot()
        try Paths.rename(scratch("a"), to: scratch("b"))
        #expect(try story.holds(snapshot) && story.holds(reader.snapshot()))
        #expect(refusal { _ = try writer.begin() }?.message.contains("replaced or removed") == true)
        // It is the same file with its new name: the reader sees later commits.
        let renamed = try Store.open(path: scratch("b"), writable: true)
        try story.commit(renamed, keep: 2)
        #expect(try story.holds(reader.snapshot()))
        try Paths.remove(scratch("b"))
        #expect(try story.holds(snapshot) && story.holds(reader.snapshot()))
        #expect(throws: FirnError.self) { _ = try Store.open(path: scratch("b"), writable: false) }
        #expect(throws: FirnError.self) { _ = try writer.begin() }
    }

    @Test func `a copy of a file that is being written is a committed version or an error`() throws {
        var right = 0, wrong = 0
        for round in 0..<150 {
            let scratch = Scratch(), store = try Store.create(path: scratch("a"), overwrite: false)
            var story = Story(seed: UInt64(round)), random = Random(seed: UInt64(round) &* 31)
            for _ in 0..<6 { try story.commit(store, keep: 2) }
            // Reads like cp: block after block, with complete commits in between.
            let file = try File(path: scratch("a"), .read), block = [4096, 16_384, 1 << 17][round % 3]
            var copy: [UInt8] = []
            while true {
                let part = try file.read(count: block, at: UInt64(copy.count))
                copy += part
                if part.count < block { break }
                // If commits are faster than the copy, the file grows faster than it is read. So their number is limited.
                if story.contents.count < 250 { for _ in 0..<random.below(round % 5 + 1) { try story.commit(store, keep: 2) } }
            }
            try place(copy, at: scratch("b"))
            do {
                let opened = try Store.open(path: scratch("b"), writable: true), snapshot = try opened.snapshot()
                #expect(try story.holds(snapshot), "round \(round)")
                right += 1
            } catch is Damage { wrong += 1 } catch let error as FirnError {
                #expect(error.code == .damaged, "round \(round): \(error)")
                wrong += 1
            }
        }
        #expect(right > 10 && wrong > 10, "\(right) right, \(wrong) torn")
    }

    @Test func `relative paths become absolute, and absolute paths stay`() {
        #expect(Paths.absolute("a/b") == FileManager.default.currentDirectoryPath + "/a/b" && Paths.absolute("/a") == "/a")
    }

    @Test func `the processes that hold a version are reported, where the system provides them`() throws {
        let scratch = Scratch()
        _ = try written(scratch("a"))
        let store = try Store.open(path: scratch("a"), writable: true), other = try Store.open(path: scratch("a"), writable: false)
        let mine = try store.snapshot(), theirs = try other.snapshot()
        let holders = try store.pinHolders()
        #if os(Linux)
            #expect(holders[theirs.version]?.map(\.process) == [Machine.processID] && mine.version == theirs.version)
            #expect(holders[theirs.version]?.first?.description.contains("process \(Machine.processID) (") == true)
            theirs.release()
            #expect(try store.pinHolders().isEmpty)
        #else
            #expect(holders.isEmpty)
        #endif
    }
}
