import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A read-only memory mapping of a file. It extends beyond the end of the file, so that a file that grows stays visible without a new
/// mapping. Callers must not touch bytes after the end of the file, because the process would be killed.
package final class Mapping: @unchecked Sendable {
    /// The first byte of the mapping.
    package let base: UnsafeRawPointer
    /// The length of the mapping in bytes of address space.
    package let reach: Int
    private let watch: Int?

    /// Whether bytes were read that the file no longer has, because another program truncated it. They read as zeros, so callers must check
    /// this before they use what was read.
    package var isBroken: Bool { watch.map(MappingFaults.isBroken) ?? false }

    /// Whether truncation of the file is reported as an error. False if all slots for watched mappings were in use: truncation would then
    /// end the process.
    package var isWatched: Bool { watch != nil }

    /// The number of faults in all mappings, and of forks of the process. Code that reads through many mappings checks whether it has
    /// grown.
    package static var faults: UnsafePointer<Int> { UnsafePointer(MappingFaults.count) }

    /// Returns a watched mapping, or nil if none can be made; the file can then be read by copying.
    package static func watched(_ file: File, minimum: Int = 0) -> Mapping? {
        guard let mapping = try? Mapping(file, minimum: minimum), mapping.isWatched else { return nil }
        return mapping
    }

    /// Maps at least `minimum` bytes, at least 64 MiB, and at least twice the length of the file.
    package init(_ file: File, minimum: Int = 0) throws(FirnError) {
        // A file with holes may have any length. One that exceeds half of the address space is not mapped.
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
        MappedMemory.add(UInt(bitPattern: memory), length)
    }

    deinit {
        MappedMemory.remove(UInt(bitPattern: base))
        MappingFaults.remove(watch)
        munmap(UnsafeMutableRawPointer(mutating: base), reach)
    }

    /// Returns the bytes `offset ..< offset + count`, which must be in the file.
    package func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
        trap(unless: offset >= 0 && count >= 0 && offset <= reach - count, "ask for bytes inside the mapping")
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    /// Takes the first `count` bytes out of the resident memory of the process. They can be read as before: the system maps them again,
    /// usually from the page cache. For code that reads a large file from the first byte to the last.
    package func release(count: Int) {
        trap(unless: count >= 0 && count <= reach, "release bytes inside the mapping")
        _ = madvise(UnsafeMutableRawPointer(mutating: base), count, MADV_DONTNEED)
    }
}
