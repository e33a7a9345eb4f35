import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnStore

/// Runs a closure before each read of a root slot.
private final class ReadScript: DiskCalls, @unchecked Sendable {
    var beforeRead: ((UInt64) -> Void)?

    func before(_ call: DiskCall, of file: UInt64) -> Int32? {
        if case .read(let offset, Root.slotBytes) = call { beforeRead?(offset) }
        return nil
    }
}

@Suite struct NewestRootTests {
    private func commit(_ store: Store, _ number: Int) throws {
        let transaction = try store.begin()
        transaction.free(transaction.base.catalogue)
        try transaction.commit(catalogue: try transaction.write(pattern(number, 300)), keep: 2)
    }

    @Test func `a root that is being written does not hide a version that was committed before`() throws {
        let scratch = Scratch(), path = scratch("a")
        let store = try Store.create(path: path, overwrite: true, atFirstCommit: true), first = try store.begin()
        try first.commitInline(pattern(1, 8000))
        for number in 2...3 { try commit(store, number) }
        let script = ReadScript(), reader = try Store.open(path: path, writable: false, calls: script)
        let second = reader.secondOffset.load(ordering: .relaxed)
        #expect(second > 4096)
        try commit(store, 4)
        // Between the reads of the two slots, version 5 is committed, and half of the root of version 6 is written.
        let file = try File(path: path, .readWrite), root = try file.read(count: Root.slotBytes, at: second)
        var steps: [UInt64] = []
        script.beforeRead = { offset in
            steps.append(offset)
            do {
                if steps == [0, second] {
                    try commit(store, 5)
                    try file.write(Array(root[..<64]) + [UInt8](repeating: 7, count: 64), at: second)
                } else if steps == [0, second, 0] {
                    try file.write(root, at: second)
                    try commit(store, 6)
                }
            } catch { Issue.record("\(error)") }
        }
        #expect(try reader.latestVersion() == 6)
        #expect(steps == [0, second, 0, second])
    }

    @Test func `a root that stays damaged does not hide the version before`() throws {
        let scratch = Scratch(), path = scratch("a"), store = try Store.create(path: path, overwrite: true)
        for number in 1...3 { try commit(store, number) }
        let reader = try Store.open(path: path, writable: false), file = try File(path: path, .readWrite)
        try file.write([7], at: 100)
        #expect(try reader.latestVersion() == 3)
        try file.write([7], at: 4096 + 100)
        #expect(throws: FirnError.self) { try reader.latestVersion() }
    }
}
