import FirnBytes

#if canImport(Glibc)
    import Glibc
#endif

/// Memory for the arrays of one batch of work, used again for the next batch. Not thread-safe; threads may use different arrays.
///
/// It begins on a large page, and asks the system for large pages where it can: a new page of 4 KiB costs about as much time as filling it.
package final class Scratch: @unchecked Sendable {
    private static let largePage = 2 << 20
    private var memory: UnsafeMutableRawPointer?
    private var used = 0
    /// The size of the memory in bytes.
    package private(set) var count = 0

    package init() {}

    deinit { memory?.deallocate() }

    /// Begins a batch whose arrays need at most `bytes` bytes, and 64 bytes more for each array. The arrays of the previous batch end.
    package func begin(arrays: Int, bytes: Int) {
        used = 0
        let needed = bytes + arrays * 64
        guard needed > count else { return }
        memory?.deallocate()
        count = (max(needed, count / 2 * 3) + Scratch.largePage - 1) / Scratch.largePage * Scratch.largePage
        let block = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: Scratch.largePage)
        #if canImport(Glibc)
            _ = madvise(block, count, MADV_HUGEPAGE)
        #endif
        memory = block
    }

    /// Returns uninitialized memory for `size` elements, aligned to 64 bytes. It is valid until the next batch begins.
    package func array<T: BitwiseCopyable>(_ size: Int, of type: T.Type) -> UnsafeMutablePointer<T> {
        guard let memory else { trap("an array before the first batch") }
        let start = (used + 63) / 64 * 64
        used = start + size * MemoryLayout<T>.stride
        trap(unless: used <= count, "the arrays of a batch need more memory than it was begun with")
        return (memory + start).bindMemory(to: T.self, capacity: size)
    }
}
