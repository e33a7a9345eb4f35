import FirnBytes
import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension MemoryBudget {
    /// The budget of all files that this process opens without a budget of their own: half of the machine's memory or of what the control
    /// group of the process allows; at most a third of the address space if `ulimit -v` limits it. `--memory` sets another limit.
    ///
    /// In addition to the charged bytes it checks what the process really holds: memory that nothing charged, and memory that the allocator
    /// keeps, count too (see `ProcessMemory.isOwned`).
    package static let process = MemoryBudget(limit: ProcessMemory.standardLimit) { more, limit in
        ProcessMemory.hasRoom(more, ProcessMemory.bound(limit))
    }
}

#if canImport(Glibc)
    /// A function of glibc that Swift's module does not declare.
    @_silgen_name("malloc_trim") private func malloc_trim(_ pad: Int) -> Int32
    @_silgen_name("mallopt") private func mallopt(_ parameter: Int32, _ value: Int32) -> Int32
#endif

/// The memory of this process, as the system reports it.
package enum ProcessMemory {
    private static let owned = Atomic<Bool>(false)

    /// Whether the process only reads files, so that all of its memory counts. In other programs, which need memory for themselves, the
    /// limit for all memory is three quarters of the machine's.
    package static var isOwned: Bool {
        get { owned.load(ordering: .relaxed) }
        set { owned.store(newValue, ordering: .relaxed) }
    }

    /// From now on, the process ends with a message and code 5 if it runs out of a limited address space (`ulimit -v`) where it cannot report
    /// an error. Call it first.
    package static func reportExhaustion() { MemoryExhaustion.report() }

    /// Lets the threads share `count` heaps. glibc otherwise gives a heap to each thread, up to eight for each processor, and the memory that
    /// one thread frees does not serve the others. To be called before threads are started.
    package static func limitHeaps(to count: Int) {
        #if canImport(Glibc)
            _ = mallopt(-8 /* M_ARENA_MAX */, Int32(clamping: max(1, count)))
        #endif
    }

    /// Returns the limit for the memory of the process if `limit` bytes may be charged.
    package static func bound(_ limit: Int) -> Int { isOwned ? limit : max(limit, available / 4 * 3) }

    private static let available = min(Machine.memory, groupLimit ?? .max)

    /// The default limit in bytes for the contents of files.
    package static let standardLimit: Int = {
        var limit = available / 2
        if let space = addressSpace { limit = min(limit, space / 3) }
        return max(1 << 20, limit)
    }()

    /// The limit of the address space in bytes (`ulimit -v`); nil if there is none.
    package static let addressSpace: Int? = {
        var limit = rlimit()
        #if canImport(Glibc)
            guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur < UInt(Int.max) else { return nil }
        #else
            guard getrlimit(RLIMIT_AS, &limit) == 0, limit.rlim_cur < UInt64(Int.max) else { return nil }
        #endif
        return Int(clamping: limit.rlim_cur)
    }()

    /// The limit of the process's control group in bytes; nil if there is none.
    private static let groupLimit: Int? = {
        #if canImport(Glibc)
            var paths = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
            for line in contents("/proc/self/cgroup", most: 4096)?.split(separator: "\n") ?? []
            where line.hasPrefix("0::/") && line.count > 4 {
                paths.append("/sys/fs/cgroup\(line.dropFirst(3))/memory.max")
            }
            return paths.compactMap { contents($0, most: 64).flatMap { Int($0.prefix { $0.isNumber }) } }.min()
        #else
            return nil
        #endif
    }()

    private static func contents(_ path: String, most: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: most)
        let count = read(descriptor, &bytes, most)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    #if canImport(Glibc)
        private static let status = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

        /// The resident bytes of mapped files, including the program; nil if they are not known.
        static var mapped: Int? { held()?.mapped }

        /// Returns the address space, the anonymous memory and the resident mapped files of the process in bytes, or nil if they are not
        /// known. A forked child opens its own file.
        private static func held() -> (space: Int, memory: Int, mapped: Int)? {
            let own = Machine.processID == statusOwner, descriptor = own ? status : open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { if !own { close(descriptor) } }
            return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
                let count = pread(descriptor, room.baseAddress!, 256, 0)
                guard count > 0 else { return nil }
                var numbers = (0, 0, 0), field = 0
                for byte in room[..<count] {
                    if byte == 32 { field += 1 }
                    guard field < 3, byte != 32 else { if field >= 3 { break } else { continue } }
                    let digit = Int(byte) - 48
                    switch field {
                    case 0: numbers.0 = numbers.0 * 10 + digit
                    case 1: numbers.1 = numbers.1 * 10 + digit
                    default: numbers.2 = numbers.2 * 10 + digit
                    }
                }
                let page = Int(sysconf(Int32(_SC_PAGESIZE)))
                return (numbers.0 * page, max(0, numbers.1 - numbers.2) * page, numbers.2 * page)
            }
        }

        private static let statusOwner = Machine.processID

        /// Returns whether the process can allocate `more` bytes: an eighth of its address space stays free, and its memory is not far
        /// above `limit`.
        package static func hasRoom(_ more: Int, _ limit: Int) -> Bool {
            guard var now = held() else { return true }
            // A margin for memory that is never charged: growth, fragmentation, the program itself.
            let most = limit.addingReportingOverflow(limit / 4 + (48 << 20)), bound = most.overflow ? .max : most.partialValue
            func fits() -> Bool {
                if let addressSpace, more > addressSpace - addressSpace / 8 - now.space { return false }
                return more <= bound - min(bound, now.memory)
            }
            if fits() { return true }
            // The allocator keeps freed memory: it is returned to the system before a request is refused.
            _ = malloc_trim(0)
            now = held() ?? now
            return fits()
        }
    #else
        static var mapped: Int? { nil }
        package static func hasRoom(_ more: Int, _ limit: Int) -> Bool { true }
    #endif
}
