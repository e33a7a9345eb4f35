import FirnBytes
import FirnDisk

/// Files of one commit: a root and one extent, and not a byte more.
extension StoreTransaction {
    /// The longest extent that a file may begin alone with.
    package static let mostAlone = Int(Root.mostSecondSlot * 4096 - Root.aloneOffset)

    /// Whether nobody but this program can have seen the store, so that its first commit may say where the second slot will be.
    package var mayStandAlone: Bool { base.version == 0 && store.replacement != nil && !store.isEncrypted }

    /// Makes these bytes, and nothing that the transaction wrote besides, the catalogue of version 1, durably, and ends the transaction. They lie
    /// right behind the root; the file ends with them. The next commit has to write anew whatever of them it keeps.
    @discardableResult
    package func commitAlone(_ bytes: [UInt8]) throws(FirnError) -> UInt64 {
        precondition(mayStandAlone && bytes.count <= StoreTransaction.mostAlone, "only a small file that has no name yet can be committed alone")
        guard !store.isInherited else { throw store.file.inherited }
        do throws(FirnError) {
            try lock.withLock { () throws(FirnError) in
                precondition(isOpen, "commit a transaction once")
                try checkUnbroken()
                try publishAlone(bytes)
                close()
            }
        } catch {
            cancel()
            throw error
        }
        return version
    }

    private func publishAlone(_ bytes: [UInt8]) throws(FirnError) {
        let catalogue = bytes.withUnsafeBytes {
            ExtentRef(offset: Root.aloneOffset, length: UInt64(bytes.count), birth: version, hash: Hash128(of: $0))
        }
        var root = Root(version: version, end: catalogue.units.upperBound, oldestKept: 0, time: max(Machine.wallNanoseconds, base.time), listsExtents: false,
                        identity: store.identity, record: .none, catalogue: catalogue)
        root.readerFeatures = base.root.readerFeatures | neededFeatures
        root.secondSlot = max(1, (Root.aloneOffset + UInt64(bytes.count) + 4095) / 4096)
        var image = root.encoded()
        image += repeatElement(0, count: Int(Root.aloneOffset) - image.count)
        image += bytes
        do throws(FirnError) {
            try store.file.write(image, at: 0)
            try store.file.truncate(to: UInt64(image.count))
            try store.replacement!.finish()
        } catch {
            fail(error)
            throw error
        }
        store.replacement = nil
        store.published(version)
        store.secondOffset.store(root.secondOffset, ordering: .relaxed)
        // The next writer begins from the file.
        store.space = nil
        (store.records, store.checkpoint, store.logBytes) = ([], (0, .none), 0)
        (store.kept, store.keptRef) = (KeptHistory(), .none)
    }
}
