import FirnBytes
import FirnDisk
import Foundation
import Testing
@testable import FirnStore

/// A newest root that is damaged: its version was acknowledged, and no writer may overwrite it.
@Suite struct RestoringTests {
    private let scratch = Scratch()
    private var path: String { scratch("a") }

    /// Reads every extent that a catalogue of references names.
    static let isWhole: VersionCheck = { source, catalogue in
        guard let bytes = try? source.read(catalogue) else { return false }
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let ref = try? ExtentRef(from: &reader), (try? source.read(ref)) != nil else { return false }
        }
        return true
    }

    /// A catalogue without references.
    private static let isAnyCatalogue: VersionCheck = { source, catalogue in (try? source.read(catalogue)) != nil }

    /// Writes versions 1 … 3, each with one more extent; the last one is small or large. Returns the catalogue of version 3.
    private func make(key: EncryptionKey? = nil, large: Bool = false) throws -> (whole: [UInt8], root: Root, catalogue: [UInt8]) {
        let store = try Store.create(path: path, overwrite: true, key: key)
        var extents: [ExtentRef] = [], catalogue: [UInt8] = []
        for version in 1...3 {
            let transaction = try store.begin()
            if version > 1 { transaction.free(transaction.base.catalogue) }
            extents.append(try transaction.write(pattern(version, large && version == 3 ? 300_000 : 700)))
            catalogue = catalogueBytes(extents)
            try transaction.commit(catalogue: try transaction.write(catalogue))
        }
        let root = try store.newestRoot()
        #expect(root.version == 3 && root.listsExtents == !large)
        return (try File(path: path, .read).readAll(), root, catalogue)
    }

    /// Checks that the next commit is made on version 3, and that this version is complete.
    private func goesOn(_ bytes: [UInt8], from version: UInt64 = 3, _ catalogue: [UInt8], key: EncryptionKey? = nil, _ what: String) throws
    {
        try place(bytes, at: path)
        let store = try Store.open(path: path, writable: true, key: key, check: RestoringTests.isWhole), transaction = try store.begin()
        #expect(transaction.base.version == version, "\(what)")
        if version == 3 {
            #expect(try transaction.base.read(transaction.base.catalogue).elementsEqual(catalogue), "\(what)")
            for ref in try liveExtents(transaction.base) { _ = try transaction.base.read(ref) }
        }
        transaction.free(transaction.base.catalogue)
        let extents = try refs(transaction.base) + [try transaction.write(pattern(9, 500))]
        try transaction.commit(catalogue: try transaction.write(catalogueBytes(extents)))
        let again = try Store.open(path: path, writable: false, key: key)
        #expect(try again.latestVersion() == version + 1 && again.fellBack == nil, "\(what)")
        #expect(try faults(again).isEmpty, "\(what)")
        guard version == 3 else { return }
        let kept = try again.snapshot(version: 3)
        #expect(try kept.read(kept.catalogue).elementsEqual(catalogue), "\(what)")
    }

    @Test(arguments: [false, true])
    func `readers correct a flipped bit in the newest root, and the next writer restores the root`(isEncrypted: Bool)
        throws
    {
        let key = isEncrypted ? testKey : nil, (whole, root, catalogue) = try make(key: key), slot = Int(root.offset(of: 3))
        for byte in 0..<(isEncrypted ? RootSeal.rootLength : Root.length) {
            var bytes = whole
            bytes[slot + byte] ^= 1 << UInt8(byte % 8)
            try place(bytes, at: path)
            let reader = try Store.open(path: path, writable: false, key: key)
            #expect(try reader.snapshot().version == 3 && reader.fellBack == nil, "byte \(byte)")
            #expect(try File(path: path, .read).readAll() == bytes, "a reader wrote to the file")
            try goesOn(bytes, catalogue, key: key, "byte \(byte)")
        }
    }

    @Test(arguments: [false, true]) func `a newest root that is overwritten is restored from the commit record that a scan finds`(
        isLarge: Bool
    ) throws {
        let (whole, root, catalogue) = try make(large: isLarge), slot = Int(root.offset(of: 3))
        for (what, sector) in [
            ("zeros", [UInt8](repeating: 0, count: 512)), ("garbage", pattern(77, 512)),
            ("half", Array(whole[slot..<slot + 100]) + [UInt8](repeating: 0, count: 412)),
        ] {
            var bytes = whole
            bytes.replaceSubrange(slot..<slot + 512, with: sector)
            try place(bytes, at: path)
            #expect(try Store.open(path: path, writable: false).fellBack != nil, "\(what)")
            try goesOn(bytes, catalogue, what)
        }
    }

    @Test func `if the hash of a root remains, the root is restored byte for byte`() throws {
        let (whole, root, _) = try make(), slot = Int(root.offset(of: 3))
        var bytes = whole
        for byte in 0..<150 { bytes[slot + byte] = 0 }
        try place(bytes, at: path)
        _ = try Store.open(path: path, writable: true, check: RestoringTests.isWhole)
        #expect(try Array(File(path: path, .read).readAll()[slot..<slot + 176]) == Array(whole[slot..<slot + 176]))
    }

    @Test func `a version without a root is not restored if an extent is damaged, and the previous version is the newest`() throws {
        let (whole, root, catalogue) = try make(), slot = Int(root.offset(of: 3))
        for place in [root.catalogue.offset + 3, root.record.offset + 9] {
            var bytes = whole
            bytes.replaceSubrange(slot..<slot + 512, with: [UInt8](repeating: 0, count: 512))
            bytes[Int(place)] ^= 8
            try goesOn(bytes, from: 2, catalogue, "byte \(place)")
        }
    }

    @Test func `a version that only recovery finds is reported as damage`() throws {
        let (whole, root, _) = try make(), slot = Int(root.offset(of: 3))
        var bytes = whole
        bytes[slot + 20] ^= 1
        bytes[slot + 21] ^= 1
        bytes[Int(root.record.offset) + 41] ^= 1  // the record's end of the file; its version and its catalogue are intact
        try place(bytes, at: path)
        #expect(try Salvage(path: path).strayLeads().contains { $0.version == 3 })
        let store = try Store.open(path: path, writable: false)
        #expect(try store.latestVersion() == 2 && store.rootNotice() == nil)
        #expect(try faults(store).contains { $0.contains("version 3 is not read") })
    }

    @Test(arguments: [false, true])
    func `a rejected version does not return when its extents become intact after a writer cleared its slot`(isInline: Bool) throws {
        for last in 2...3 {
            let store = try Store.create(path: path, overwrite: true, atFirstCommit: isInline)
            let first = try store.begin()
            if isInline { try first.commitInline([]) } else { try first.commit(catalogue: try first.write([])) }
            for version in 2...last {
                let transaction = try store.begin()
                transaction.free(transaction.base.catalogue)
                try transaction.commit(catalogue: try transaction.write(pattern(version, 900)))
            }
            let root = try store.newestRoot()
            #expect(root.version == UInt64(last) && (root.secondSlot > 0) == isInline)
            let whole = try File(path: path, .read).readAll(), at = Int(root.catalogue.offset) + 7
            var bytes = whole
            bytes[at] ^= 1
            try place(bytes, at: path)
            let writer = try Store.open(path: path, writable: true, check: RestoringTests.isAnyCatalogue)
            #expect(try writer.latestVersion() == UInt64(last - 1))
            try writer.begin().cancel()
            bytes = try File(path: path, .read).readAll()
            #expect(bytes != whole)
            bytes[at] ^= 1
            try place(bytes, at: path)
            for writable in [false, true] {
                let again = try Store.open(path: path, writable: writable, check: RestoringTests.isAnyCatalogue)
                #expect(try again.snapshot().version == UInt64(last - 1), "version \(last), inline \(isInline)")
                if writable { #expect(try again.begin().base.version == UInt64(last - 1)) }
            }
        }
    }

    @Test func `a damaged older root has no effect, and the next commit follows the newest version`() throws {
        let (whole, root, catalogue) = try make(), slot = Int(root.offset(of: 2))
        var bytes = whole
        bytes.replaceSubrange(slot..<slot + 512, with: pattern(3, 512))
        try goesOn(bytes, catalogue, "garbage")
    }

    @Test func `a store that was opened during another program's transaction restores the root before its first commit`() throws {
        let (whole, root, _) = try make(), slot = Int(root.offset(of: 3))
        var bytes = whole
        bytes.replaceSubrange(slot..<slot + 512, with: [UInt8](repeating: 0, count: 512))
        try place(bytes, at: path)
        let other = try File(path: path, .readWrite)
        #expect(try other.lock(.exclusive, at: Store.writerLock))
        let store = try Store.open(path: path, writable: true, check: RestoringTests.isWhole)
        #expect(try store.latestVersion() == 2 && store.fellBack != nil)
        other.unlock(at: Store.writerLock)
        let transaction = try store.begin()
        #expect(transaction.base.version == 3)
        transaction.cancel()
        #expect(try Store.open(path: path, writable: false).latestVersion() == 3)
    }

    @Test func `an intact version 0 next to a damaged newest root is not an empty store`() throws {
        let store = try Store.create(path: path, overwrite: false), transaction = try store.begin()
        try transaction.commit(catalogue: try transaction.write(pattern(1, 3000)))
        let root = try store.newestRoot(), whole = try File(path: path, .read).readAll()
        for sector in [[UInt8](repeating: 0, count: 512), pattern(5, 512)] {
            var bytes = whole
            bytes.replaceSubrange(4096..<4608, with: sector)
            try place(bytes, at: scratch("b"))
            #expect(try Store.open(path: scratch("b"), writable: false, check: RestoringTests.isAnyCatalogue).snapshot().version == 1)
            #expect(try Store.open(path: scratch("b"), writable: true, check: RestoringTests.isAnyCatalogue).begin().base.version == 1)
        }
        // Its record is damaged as well.
        var bytes = whole
        bytes.replaceSubrange(4096..<4608, with: pattern(5, 512))
        bytes[Int(root.record.offset)] ^= 1
        try place(bytes, at: scratch("c"))
        for writable in [false, true] {
            do throws(FirnError) {
                _ = try Store.open(path: scratch("c"), writable: writable, check: RestoringTests.isAnyCatalogue)
                Issue.record("the file was opened as an empty store")
            } catch { #expect(error.code == .damaged && error.message.contains("not empty"), "\(error)") }
        }
    }
}
