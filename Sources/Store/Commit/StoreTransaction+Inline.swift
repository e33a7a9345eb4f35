import FirnBytes
import FirnDisk

/// Inline files: one commit, stored as a root and one extent.
extension StoreTransaction {
    /// The maximum length of the extent of an inline file, in bytes.
    package static let maximumInlineBytes = Int(Root.maximumSlotDistance * 4096 - Root.inlineOffset)

    /// Whether the file can become an inline file: no other process can have seen it, so its first commit may set the position of the
    /// second slot.
    package var canBeInline: Bool { base.version == 0 && store.writer.replacement != nil && !store.isEncrypted }

    /// Commits these bytes as the catalogue of version 1 of an inline file, durably, and ends the transaction; nothing else that it wrote
    /// is kept. The bytes follow the root, and the file ends with them. The next commit must rewrite what it keeps of them.
    @discardableResult
    package func commitInline(_ bytes: [UInt8]) throws(FirnError) -> UInt64 {
        trap(
            unless: canBeInline && bytes.count <= StoreTransaction.maximumInlineBytes,
            "only a small file that has no name yet can be committed as an inline file")
        guard !store.isInherited else { throw store.file.inherited }
        do throws(FirnError) {
            try lock.withLock { () throws(FirnError) in
                trap(unless: isOpen, "commit a transaction once")
                try checkUnbroken()
                try publishInline(bytes)
                close()
            }
        } catch {
            cancel()
            throw error
        }
        return version
    }

    private func publishInline(_ bytes: [UInt8]) throws(FirnError) {
        let catalogue = bytes.withUnsafeBytes {
            ExtentRef(offset: Root.inlineOffset, length: UInt64(bytes.count), birth: version, hash: Hash128(of: $0))
        }
        var root = Root(
            version: version, end: catalogue.units.upperBound, oldestKept: 0, time: max(Machine.wallNanoseconds, base.time),
            listsExtents: false,
            identity: store.identity, record: .none, catalogue: catalogue)
        root.readerFeatures = base.root.readerFeatures | neededFeatures
        root.secondSlot = max(1, (Root.inlineOffset + UInt64(bytes.count) + 4095) / 4096)
        var image = root.encoded()
        image += repeatElement(0, count: Int(Root.inlineOffset) - image.count)
        image += bytes
        do throws(FirnError) {
            try store.file.write(image, at: 0)
            try store.file.truncate(to: UInt64(image.count))
            try store.writer.replacement!.finish()
        } catch {
            fail(error)
            throw error
        }
        store.writer.replacement = nil
        store.published(version)
        store.secondOffset.store(root.secondOffset, ordering: .relaxed)
        // The next writer loads its state from the file.
        store.writer.forget()
    }
}
