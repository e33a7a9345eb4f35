import FirnBytes
import Synchronization

/// The opened extents of an encrypted file that somebody holds: who reads one that another holds gets the same. Usable from any thread.
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

    /// `sealed`: the bytes in the file.
    fileprivate func open(_ ref: ExtentRef, _ sealed: UnsafeRawBufferPointer) throws(Damage) -> OpenedExtent {
        if let known = shared.withLock({ $0[ref] }) { return known }
        // Others decrypt meanwhile; should one of them be as far with the same extent, there is one copy more for a while.
        let extent = try cipher.open(sealed, ref)
        shared.withLock { $0.add(ref, extent) }
        return extent
    }
}

/// What one source of an encrypted file has opened: it stays in memory as long as the source lives.
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
        // What was given out before is what stays.
        return held.withLock { held in
            if let known = held[ref] {
                memory.release(Int(clamping: ref.length))
                return known
            }
            held[ref] = extent
            return extent
        }.bytes
    }

    /// Opens the bytes as they are in the file now, whatever is in memory.
    func check(_ ref: ExtentRef, _ sealed: UnsafeRawBufferPointer) throws(Damage) { _ = try opened.cipher.open(sealed, ref) }
}
