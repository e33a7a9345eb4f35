import FirnBytes
import FirnCrypto

/// Writing to encrypted files.
extension StoreTransaction {
    /// Writes an encrypted extent. Its position is allocated first, because the tag covers it.
    func writeSealed(_ bytes: UnsafeRawBufferPointer, _ cipher: ExtentCipher) throws(FirnError) -> ExtentRef {
        let count = bytes.count + ExtentCipher.overhead
        guard UInt64(bytes.count) <= Cipher.maximumBytes else {
            throw FirnError(.unsupported, "an extent of an encrypted file has at most 64 GiB", at: .init(file: store.path))
        }
        let range = try lock.withLock { () throws(FirnError) in
            trap(unless: isOpen, "write before commit or cancel")
            guard !store.isInherited else { throw store.file.inherited }
            try checkUnbroken()
            return allocate(ExtentRef.units(of: UInt64(count)))
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        var entry: Written
        do throws(FirnError) { entry = Written(ref: try cipher.seal(bytes, at: range.start * 64, birth: version, into: buffer)) } catch {
            buffer.deallocate()
            lock.withLock { giveBack(range) }
            throw error
        }
        let direct = count >= StoreTransaction.directBytes
        if !direct { entry.buffer = buffer }
        defer { if direct { buffer.deallocate() } }
        try lock.withLock { () throws(FirnError) in
            if direct { store.writer.extend(to: entry.ref.offset + entry.ref.length) }
            try keep(entry)
        }
        if direct { try writeDirect(UnsafeRawBufferPointer(buffer), at: entry.ref.offset) }
        return entry.ref
    }

    /// Returns the entry for an extent of the store's own data, whose bytes are in `buffer`; encrypted, if the file is.
    func written(_ bytes: UnsafeRawBufferPointer, at range: UnitRange, _ buffer: UnsafeMutableRawBufferPointer) throws(FirnError) -> Written
    {
        guard let cipher = store.cipher else {
            return Written(
                ref: ExtentRef(offset: range.start * 64, length: UInt64(bytes.count), birth: version, hash: Hash128(of: bytes)),
                buffer: buffer)
        }
        let sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + ExtentCipher.overhead, alignment: 16)
        defer { buffer.deallocate() }
        do throws(FirnError) {
            return Written(ref: try cipher.seal(bytes, at: range.start * 64, birth: version, into: sealed), buffer: sealed)
        } catch {
            sealed.deallocate()
            throw error
        }
    }
}
