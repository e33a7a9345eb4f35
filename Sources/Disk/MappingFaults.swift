#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Keeps the process alive when a mapped file is cut short by another program: the kernel's SIGBUS becomes a page of zeros and a mark, which
/// hashes and `Mapping.isBroken` turn into an error. The handler makes one system call and reads a fixed table whose words are written whole.
enum MappingFaults {
    private static let slots = 1024
    /// Per slot: first address, address past the last, broken. A slot is taken if its second word is not zero.
    nonisolated(unsafe) private static let table: UnsafeMutablePointer<UInt> = {
        let table = UnsafeMutablePointer<UInt>.allocate(capacity: slots * 3)
        table.initialize(repeating: 0, count: slots * 3)
        return table
    }()
    nonisolated(unsafe) private static var isInstalled = false
    private static let pageBytes = UInt(sysconf(Int32(_SC_PAGESIZE)))
    private static let lock = Lock()

    /// nil when all slots are taken: the mapping is then not watched.
    static func add(_ base: UInt, _ count: Int) -> Int? {
        lock.withLock {
            if !isInstalled {
                isInstalled = true
                _ = pageBytes
                install()
            }
            guard let slot = (0..<slots).first(where: { table[$0 * 3 + 1] == 0 }) else { return nil }
            table[slot * 3 + 2] = 0
            table[slot * 3] = base
            table[slot * 3 + 1] = base + UInt(count)
            return slot
        }
    }

    static func remove(_ slot: Int?) {
        guard let slot else { return }
        lock.withLock { table[slot * 3 + 1] = 0 }
    }

    @inline(__always)
    static func isBroken(_ slot: Int) -> Bool { table[slot * 3 + 2] != 0 }

    private static func install() {
        var action = sigaction()
        #if canImport(Glibc)
        action.__sigaction_handler.sa_sigaction = { _, info, _ in
            MappingFaults.handle(UInt(bitPattern: info!.pointee._sifields._sigfault.si_addr))
        }
        #else
        action.__sigaction_u.__sa_sigaction = { _, info, _ in MappingFaults.handle(UInt(bitPattern: info!.pointee.si_addr)) }
        #endif
        action.sa_flags = Int32(SA_SIGINFO)
        sigaction(SIGBUS, &action, nil)
    }

    private static func handle(_ address: UInt) {
        for slot in 0..<slots where table[slot * 3] <= address && address < table[slot * 3 + 1] {
            table[slot * 3 + 2] = 1
            let page = UnsafeMutableRawPointer(bitPattern: address & ~(pageBytes - 1))
            if mmap(page, Int(pageBytes), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED { return }
        }
        signal(SIGBUS, SIG_DFL)   // not ours: the same instruction faults again, and the process ends as it would have
    }
}
