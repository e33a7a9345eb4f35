import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The resident memory of all mappings of this process. Bytes of a mapped file stay resident after they were read, until the system needs the
/// memory; a program that reads a large file would seem to hold all of it.
package enum MappedMemory {
    /// What counts towards the limit.
    package enum Scope: Sendable {
        /// All resident bytes of mapped files, including the program and its libraries.
        case process
        /// Those of Firn's mappings: the growth since they were last taken out of resident memory. The process maps other files too, such as
        /// those of an interpreter and its modules.
        case mappings
    }

    /// The limit of the command and of the C library in bytes.
    package static let standard = 64 << 20

    private struct State {
        /// The length of each mapping, by its first address.
        var mappings: [UInt: Int] = [:]
        var maximum = Int.max
        var scope = Scope.mappings
        /// The resident bytes of files that do not count.
        var others = 0

        mutating func takeOut() {
            for (start, length) in mappings { _ = madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED) }
            others = scope == .process ? 0 : ProcessMemory.mapped ?? 0
        }
    }
    private static let state = Mutex(State())
    /// The number of bytes that are read between two questions to the system; 0 if there is no limit.
    private static let interval = Atomic<Int>(0)
    private static let read = Atomic<Int>(0)

    /// Limits the resident bytes from now on. Without a call, a process keeps its mappings: in random order, bytes are read faster that stay
    /// mapped.
    package static func limit(to maximum: Int, of scope: Scope) {
        state.withLock { state in
            state.maximum = maximum
            state.scope = scope
            state.takeOut()
            interval.store(max(1, maximum / 4), ordering: .relaxed)
        }
    }

    static func add(_ start: UInt, _ length: Int) {
        state.withLock { state in
            // The modules that the process has loaded meanwhile do not count.
            if state.mappings.isEmpty, state.scope == .mappings, state.maximum < .max { state.others = ProcessMemory.mapped ?? 0 }
            state.mappings[start] = length
        }
    }

    static func remove(_ start: UInt) { state.withLock { _ = $0.mappings.removeValue(forKey: start) } }

    /// Takes the mappings out of resident memory if they occupy more of it than the limit and the bytes that are read meanwhile. They can be
    /// read as before: nothing writes to them, and the system maps the bytes again, usually from the page cache. Code that reads a mapping
    /// calls it with the number of bytes that it is about to read.
    package static func willRead(_ bytes: Int) {
        let interval = interval.load(ordering: .relaxed)
        guard interval > 0 else { return }
        let (before, after) = read.wrappingAdd(bytes, ordering: .relaxed)
        guard before / interval != after / interval else { return }
        state.withLock { state in
            guard let resident = ProcessMemory.mapped else { return }
            state.others = min(state.others, resident)
            if resident - state.others > state.maximum { state.takeOut() }
        }
    }
}
