import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The resident memory of all mappings of this process. Bytes of a mapped file stay resident after they were read, until the system needs the
/// memory; a command that reads a large file would seem to hold all of it.
package enum MappedMemory {
    /// Mapped bytes beyond this are taken out of resident memory.
    private static let maximum = 64 << 20
    /// The number of columns in opened segments between two questions to the system.
    private static let interval = 128

    private static let known = Mutex<[UInt: Int]>([:])
    private static let columns = Atomic<Int>(0)

    static func add(_ start: UInt, _ length: Int) { known.withLock { $0[start] = length } }
    static func remove(_ start: UInt) { _ = known.withLock { $0.removeValue(forKey: start) } }

    /// Takes the mappings out of resident memory if they occupy much of it. They can be read as before: the system maps the bytes again,
    /// usually from the page cache. Tables call it when a segment of `columns` columns is opened. Programs other than the command keep their mappings
    /// (`ProcessMemory.isOwned`).
    package static func limit(columns count: Int) {
        guard ProcessMemory.isOwned else { return }
        let (before, after) = columns.wrappingAdd(max(1, count), ordering: .relaxed)
        guard before / interval != after / interval, let mapped = ProcessMemory.mapped, mapped > maximum
        else { return }
        known.withLock { known in
            for (start, length) in known { _ = madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED) }
        }
    }
}
