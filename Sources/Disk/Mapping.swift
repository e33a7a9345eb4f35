import FirnBytes
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file's bytes in memory, read-only. Reaches beyond the file's end so that a file that grows stays visible without a new
/// mapping; bytes past the end must not be touched (the process would die), which is the caller's to see to.
package final class Mapping: @unchecked Sendable {
    package let base: UnsafeRawPointer
    /// Bytes of address space.
    package let reach: Int
    private let watch: Int?

    /// True once bytes were touched that the file no longer has: another program cut it short. They read as zero, so
    /// whoever relied on what was read must look here before passing it on.
    package var isBroken: Bool { watch.map(MappingFaults.isBroken) ?? false }

    /// A file that is cut short is an error to whoever reads it. False: all places of those that are watched were taken, and it would end the process.
    package var isWatched: Bool { watch != nil }

    /// How often pages were touched that files no longer had, in all mappings, and the process came out of a fork: whoever reads through many
    /// looks whether it has grown.
    package static var faults: UnsafePointer<Int> { UnsafePointer(MappingFaults.count) }

    /// A mapping that is watched; nil where there is none to be had: reading works all the same.
    package static func watched(_ file: File, minimum: Int = 0) -> Mapping? {
        guard let mapping = try? Mapping(file, minimum: minimum), mapping.isWatched else { return nil }
        return mapping
    }

    /// Reserves at least `minimum` bytes: never less than 64 MiB, nor than twice the file.
    package init(_ file: File, minimum: Int = 0) throws(FirnError) {
        // A file with holes may say any length: what does not fit in half the address space is not mapped.
        let size = try file.size(), most = UInt64(Int.max >> 2)
        guard size <= most, minimum <= most else { throw systemError(ENOMEM, "cannot map", file.path) }
        let length = (max(64 << 20, 2 * Int(size), minimum) + 0xFFFF) & ~0xFFFF
        try file.consult(.map(length: length), "cannot map")
        guard let memory = mmap(nil, length, PROT_READ, MAP_SHARED, file.descriptor, 0), memory != MAP_FAILED else {
            throw systemError(errno, "cannot map", file.path)
        }
        base = UnsafeRawPointer(memory)
        reach = length
        watch = MappingFaults.add(UInt(bitPattern: memory), length)
    }

    deinit {
        MappingFaults.remove(watch)
        munmap(UnsafeMutableRawPointer(mutating: base), reach)
    }

    /// Bytes `offset ..< offset + count`, which the caller knows to be in the file.
    package func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
        precondition(offset >= 0 && count >= 0 && offset <= reach - count, "ask for bytes inside the mapping")
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }
}
