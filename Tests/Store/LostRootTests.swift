import FirnBytes
import FirnDisk
import Foundation
import Testing
@testable import FirnStore

/// T6: a root that is lost while the file is open.
@Suite struct LostRootTests {
    @Test func `if the newest root is lost, an open store neither returns to the previous version nor writes [T6]`() throws {
        let scratch = Scratch(), path = scratch("a")
        let store = try Store.create(path: path, overwrite: false)
        for version in 1...3 {
            let transaction = try store.begin()
            try transaction.commit(catalogue: try transaction.write(pattern(version, 300)))
        }
        let other = try Store.open(path: path, writable: true)
        // Version 3 is in the slot at 4096.
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seek(toOffset: 4096)
        try handle.write(contentsOf: Data(count: 512))
        try handle.close()
        for store in [store, other] {
            for attempt in 0..<2 {
                do {
                    if attempt == 0 { _ = try store.begin() } else { _ = try store.snapshot() }
                    Issue.record("the previous version was used without an error")
                } catch { #expect(error.code == .damaged && error.message.contains("version 3"), "\(error)") }
            }
        }
        #expect(try Store.open(path: path, writable: false).fellBack != nil)
    }

    @Test func `a file that was truncated while it was open is not written [T6]`() throws {
        let scratch = Scratch(), path = scratch("a")
        let store = try Store.create(path: path, overwrite: false)
        let transaction = try store.begin()
        try transaction.commit(catalogue: try transaction.write(pattern(1, 20_000)))
        truncate(path, 12_000)
        do {
            _ = try store.begin()
            Issue.record("a truncated file was written")
        } catch { #expect(error.code == .damaged, "\(error)") }
    }

    @Test func `a file that was truncated since a large commit is reported as cut short, with both lengths`() throws {
        let scratch = Scratch(), path = scratch("a")
        let store = try Store.create(path: path, overwrite: false)
        var records: [UInt64] = []
        for count in [100_001, 500] {
            let transaction = try store.begin()
            // The first extent fills the space between the slots.
            _ = try transaction.write(pattern(2, 3550))
            try transaction.commit(catalogue: try transaction.write(pattern(1, count)))
            records.append(try store.newestRoot().record.offset)
        }
        let root = try store.newestRoot(), part = records[0]
        #expect(root.listsExtents && part > 4608)
        // Neither version is complete: the record of each is missing.
        truncate(path, off_t(part))
        let error = #expect(throws: FirnError.self) { try Store.open(path: path, writable: false) }
        #expect(
            error?.code == .damaged && error?.message.hasSuffix("the file was cut short: \(part) of \(root.end * 64) bytes") == true,
            "\(String(describing: error))")
    }

    @Test func `a file that was truncated after its first root is not taken for a new one [T6]`() throws {
        let scratch = Scratch(), path = scratch("a")
        let store = try Store.create(path: path, overwrite: false)
        #expect(try Store.open(path: path, writable: false).fellBack == nil)
        let first = try store.begin()
        #expect(try Store.open(path: path, writable: false).fellBack == nil)
        try first.commit(catalogue: try first.write(pattern(1, 20_000)))
        #expect(try Store.open(path: path, writable: false).fellBack == nil)
        // Part of the root remains: the store is not empty.
        truncate(path, 4200)
        #expect(throws: FirnError.self) { try Store.open(path: path, writable: false) }
        for length in [3000, 513] {
            truncate(path, off_t(length))
            #expect(try Store.open(path: path, writable: false).fellBack != nil, "\(length) bytes")
        }
        truncate(path, 500)
        #expect(throws: FirnError.self) { try Store.open(path: path, writable: false) }
    }
}
