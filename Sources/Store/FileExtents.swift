import FirnBytes
import FirnDisk
import Synchronization

/// The extents of a file, up to its length when a version was pinned. Holds the mapping or copies of what was read, but no pin: an extent
/// stays in the file as long as a version that contains it is pinned elsewhere.
package final class FileExtents: ExtentSource, Sendable {
    package let store: Store
    package var memory: MemoryBudget { store.memory }
    /// Nil if extents are copied.
    private let mapping: Mapping?
    let limit: UInt64
    package let hasUnknownEncodings: Bool
    /// In an encrypted file: the extents that were decrypted through this source.
    private let held: HeldExtents?

    private struct Copy: @unchecked Sendable {
        let ref: ExtentRef
        let bytes: UnsafeRawBufferPointer
    }
    /// Copied extents by offset, each read once. They live as long as this object.
    private let copies: Mutex<[UInt64: [Copy]]> = Mutex([:])

    init(store: Store, mapping: Mapping?, limit: UInt64, hasUnknownEncodings: Bool = false) {
        self.hasUnknownEncodings = hasUnknownEncodings
        self.store = store
        self.mapping = mapping
        held = store.opened.map { HeldExtents($0, store.memory) }
        self.limit = mapping.map { min(limit, UInt64($0.reach)) } ?? limit
    }

    deinit {
        copies.withLock { copies in
            for copy in copies.values.joined() {
                memory.release(copy.bytes.count)
                File.giveBack(copy.bytes)
            }
        }
    }

    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        try check(ref)
        guard let mapping else { return try copy(ref) }
        MappedMemory.willRead(Int(truncatingIfNeeded: ref.length))
        var bytes = storedBytes(ref, mapping)
        if let held {
            bytes = try held.read(ref, bytes)
        } else if !store.verified.contains(ref) {
            guard ref.hash.vouches(for: bytes) else { throw Damage("stored bytes differ from their hash", inFileAt: ref.offset) }
            store.verified.insert(ref)
        }
        try checkIntact()
        return bytes
    }

    /// Reads like `read`, but always checks the bytes that are in the file now.
    func readVerifying(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let bytes = try read(ref)
        guard let mapping else {
            let now = try store.file.copy(ref, isSealed: held != nil)
            defer { File.giveBack(now) }
            try held?.check(ref, now)
            return bytes
        }
        if let held {
            try held.check(ref, storedBytes(ref, mapping))
        } else {
            guard ref.hash.vouches(for: bytes) else { throw Damage("stored bytes differ from their hash", inFileAt: ref.offset) }
        }
        return bytes
    }

    private func check(_ ref: ExtentRef) throws(Damage) {
        try checkOwn()
        guard ref.offset >= Root.inlineOffset, ref.length <= limit, ref.offset <= limit &- ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
    }

    /// Returns the bytes as they are stored.
    private func storedBytes(_ ref: ExtentRef, _ mapping: Mapping) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: mapping.base + Int(truncatingIfNeeded: ref.offset), count: Int(truncatingIfNeeded: ref.length))
    }

    private func copy(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        if let known = copies.withLock({ $0[ref.offset]?.first { $0.ref == ref } }) { return known.bytes }
        if let held {
            if let known = held.known(ref) { return known }
            return try memory.scoped(Int(clamping: ref.length), for: "an extent of the file") { () throws(Damage) in
                let sealed = try store.file.copy(ref, isSealed: true)
                defer { File.giveBack(sealed) }
                return try held.read(ref, sealed)
            }
        }
        try memory.charge(Int(clamping: ref.length), for: "an extent of the file")
        let bytes: UnsafeRawBufferPointer
        do throws(Damage) { bytes = try store.file.copy(ref) } catch {
            memory.release(Int(clamping: ref.length))
            throw error
        }
        let first = copies.withLock { copies in
            if let known = copies[ref.offset]?.first(where: { $0.ref == ref }) { return known }
            let copy = Copy(ref: ref, bytes: bytes)
            copies[ref.offset, default: []].append(copy)
            return copy
        }
        // Another thread read it at the same time.
        if first.bytes.baseAddress != bytes.baseAddress {
            memory.release(bytes.count)
            File.giveBack(bytes)
        }
        return first.bytes
    }

    private func checkOwn() throws(Damage) {
        // The parent may have released the version meanwhile.
        if store.isInherited { throw Damage("the file was opened before this process was forked: open it again", at: 0) }
    }

    /// Throws `Damage` if another program truncated the file while it was mapped, so that bytes read since the last check may be zeros, or
    /// if this process is a child of the one that opened the file.
    package func checkIntact() throws(Damage) {
        try checkOwn()
        if let mapping, mapping.isBroken { throw Damage("the file was cut short while it was open", inFileAt: limit) }
    }
}

extension File {
    /// Returns a copy of the stored bytes of an extent after checking their hash (sealed bytes are not checked). The caller frees it with
    /// `File.giveBack`.
    func copy(_ ref: ExtentRef, isSealed: Bool = false) throws(Damage) -> UnsafeRawBufferPointer {
        let bytes: UnsafeMutableRawBufferPointer
        do throws(FirnError) { bytes = try memory(for: Int(ref.length)) } catch {
            throw Damage(error.message, isUnread: true).shifted(by: ref.offset)
        }
        do throws(Damage) {
            let count: Int
            do throws(FirnError) { count = try read(into: bytes, at: ref.offset) } catch {
                throw Damage(error.message, isUnread: true).shifted(by: ref.offset)
            }
            let read = UnsafeRawBufferPointer(bytes)
            guard count == read.count else { throw Damage("the file was cut short while it was open", inFileAt: ref.offset) }
            guard isSealed || ref.hash.vouches(for: read) else { throw Damage("stored bytes differ from their hash", inFileAt: ref.offset) }
            return read
        } catch {
            File.giveBack(UnsafeRawBufferPointer(bytes))
            throw error
        }
    }
}
