import FirnBytes
import FirnDisk

/// Whether the version that a writer begins from is on the medium, or only where the system keeps what it has of the file.
///
/// A program that was stopped between its root and the sync, or whose sync failed, leaves a root behind that all others see. The next commit writes over the root before
/// it: were it to come to the medium without what is behind the one it follows, no whole version would be left.
extension Store {
    /// + v: locked by whoever has made version v durable, as long as the file is open there and no other version came since. A hint: who finds no lock does the work once more.
    static let durableBase: UInt64 = 1 << 60

    /// Lets others know, while this store is there, that a version is durable.
    func tellDurable(_ version: UInt64) {
        // Behind the one before, it is one lock with that for the system.
        if let toldDurable, toldDurable + 1 != version { file.unlock(at: Store.durableBase, count: ExtentRef.maximumVersion) }
        toldDurable = (try? file.lock(.shared, at: Store.durableBase + version)) ?? false ? version : nil
    }

    func isKnownDurable(_ root: Root) throws(FirnError) -> Bool {
        if lock.withLock({ durableVersion == root.version }) { return true }
        return try file.firstConflict(in: Store.durableBase + root.version..<Store.durableBase + root.version + 1) != nil
    }

    /// Makes the version that the file is at durable, whoever wrote it, and the name of the file.
    func makeDurable() throws(FirnError) {
        try file.sync()
        try Paths.syncDirectory(of: Paths.linkEnd(place), ifAllowed: true)
    }

    /// After the sync of a commit failed, whose root others see: writes it once more, byte for byte. The system may count its pages as written that are not, and the sync of
    /// whoever goes on from there would say that all is well; now it is about these pages too. Nobody was told that the commit is there, so it may as well be torn. What cannot be
    /// written, or read back, was lost before: nothing is made worse.
    func renew(_ root: Root) {
        var extents: [(ref: ExtentRef, bytes: [UInt8])] = []
        do {
            // Where the record lists nothing, all but the root was synced before the root was there.
            if root.listsExtents {
                let (bytes, record) = try stored(root.record) { (bytes) throws(Damage) in try CommitRecord(bytes) }
                extents.append((root.record, bytes))
                for ref in record.listed where ref != root.record { extents.append((ref, try stored(ref) { _ in }.bytes)) }
            }
            for (ref, bytes) in extents { try file.write(bytes, at: ref.offset) }
            let offset = root.offset(of: root.version)
            try file.write(try file.read(count: try root.encoded(sealing: cipher).count, at: offset), at: offset)
        } catch {}
    }

    /// The bytes of an extent as they are in the file, sealed or not, which are as its reference says; and what `body` makes of what it holds.
    private func stored<R>(_ ref: ExtentRef, _ body: (UnsafeRawBufferPointer) throws(Damage) -> R) throws(Damage) -> (bytes: [UInt8], R) {
        guard ref.offset >= UInt64(Root.slotBytes), ref.length <= length, ref.offset <= length - ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
        let bytes = try file.copy(ref, isSealed: cipher != nil)
        defer { File.giveBack(bytes) }
        guard let opened = try cipher?.open(bytes, ref) else { return (Array(bytes), try body(bytes)) }
        return try withExtendedLifetime(opened) { () throws(Damage) in (Array(bytes), try body(opened.bytes)) }
    }
}
