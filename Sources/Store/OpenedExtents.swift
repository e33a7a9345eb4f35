import FirnBytes
import Synchronization

/// The decrypted extents of an encrypted file that are in memory. Sources that read the same extent share one copy. Can be used from any
/// thread.
final class OpenedExtents: Sendable {
    private struct Shared {
        private struct Entry { weak var extent: OpenedExtent? }
        private var entries: [ExtentRef: Entry] = [:]
        private var limit = 1024

        subscript(ref: ExtentRef) -> OpenedExtent? { entries[ref]?.extent }

        mutating func add(_ ref: ExtentRef, _ extent: OpenedExtent) {
            if entries.count >= limit {
                entries = entries.filter { $0.value.extent != nil }
                limit = max(1024, 2 * entries.count)
            }
            entries[ref] = Entry(extent: extent)
        }
    }

    let cipher: ExtentCipher
    private let shared: Mutex<Shared> = Mutex(Shared())

    init(_ cipher: ExtentCipher) { self.cipher = cipher }

    /// Returns the decrypted extent. `sealed` are its stored bytes.
    fileprivate func open(_ ref: ExtentRef, _ sealed: UnsafeRawBufferPointer) throws(Damage) -> OpenedExtent {
        if let known = shared.withLock({ $0[ref] }) { return known }
        // Decryption runs without the lock. If two threads decrypt the same extent, there is a second copy for a while.
        let extent = try cipher.open(sealed, ref)
        shared.withLock { $0.add(ref, extent) }
        return extent
    }
}

/// The extents that one source of an encrypted file has decrypted. They stay in memory as long as the source.
final class HeldExtents: Sendable {
    private let opened: OpenedExtents
    private let held: Mutex<[ExtentRef: OpenedExtent]> = Mutex([:])
    private let memory: MemoryBudget

    init(_ opened: OpenedExtents, _ memory: MemoryBudget) {
        self.opened = opened
        self.memory = memory
    }

    deinit { held.withLock { for ref in $0.keys { memory.release(Int(clamping: ref.length)) } } }

    func known(_ ref: ExtentRef) -> UnsafeRawBufferPointer? { held.withLock { $0[ref]?.bytes } }

    func read(_ ref: ExtentRef, _ sealed: UnsafeRawBufferPointer) throws(Damage) -> UnsafeRawBufferPointer {
        if let known = held.withLock({ $0[ref] }) { return known.bytes }
        try memory.charge(Int(clamping: ref.length), for: "an extent of the file")
        let extent: OpenedExtent
        do throws(Damage) { extent = try opened.open(ref, sealed) } catch {
            memory.release(Int(clamping: ref.length))
            throw error
        }
        // Pointers into the first copy may be in use, so the first copy is kept.
        return held.withLock { held in
            if let known = held[ref] {
                memory.release(Int(clamping: ref.length))
                return known
            }
            held[ref] = extent
            return extent
        }.bytes
    }

    /// Decrypts the bytes that are in the file now, even if the extent is in memory.
    func check(_ ref: ExtentRef, _ sealed: UnsafeRawBufferPointer) throws(Damage) { _ = try opened.cipher.open(sealed, ref) }
}
