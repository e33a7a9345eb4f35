import FirnBytes
import FirnDisk
import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Remembers the extents whose hash was checked: a direct-mapped table of 64-bit marks, shared by all threads without locks. An overwritten
/// mark costs one more check, never an error.
final class VerifiedExtents: @unchecked Sendable {
    private static let count = 1 << 15
    private let marks: UnsafeMutablePointer<Atomic<UInt64>>
    /// Whether all extents count as checked: see `FileReading.mappedUnchecked`.
    private let trusts: Bool

    init(for file: File, trusting: Bool = false) throws(FirnError) {
        trusts = trusting
        // The system zeroes the memory when it is first touched, so opening does not pay for it. An atomic word has the layout of the word.
        marks = try file.zeroedMemory(bytes: VerifiedExtents.count * 8).bindMemory(to: Atomic<UInt64>.self, capacity: VerifiedExtents.count)
    }

    deinit { free(marks) }

    @inline(__always)
    private func slot(of ref: ExtentRef) -> (slot: Int, mark: UInt64) {
        let unit = ref.offset >> 6
        let mark = ref.hash.low ^ (unit &* 0x9E37_79B9_7F4A_7C15) ^ (ref.length << 40)
        return (Int(truncatingIfNeeded: (unit ^ unit >> 15) & UInt64(VerifiedExtents.count - 1)), mark | 1)
    }

    @inline(__always)
    func contains(_ ref: ExtentRef) -> Bool {
        let (slot, mark) = slot(of: ref)
        return marks[slot].load(ordering: .relaxed) == mark || trusts
    }

    @inline(__always)
    func insert(_ ref: ExtentRef) {
        let (slot, mark) = slot(of: ref)
        marks[slot].store(mark, ordering: .relaxed)
    }
}
