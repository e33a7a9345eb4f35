#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import FirnThreads
import Synchronization

/// Keeps the process alive when another program truncates a mapped file: the handler of SIGBUS maps a page of zeros and sets a mark, which
/// hashes and
/// `Mapping.isBroken` turn into an error. It makes one system call and reads a fixed table of atomic words, so several threads can run it.
/// Other faults are passed to the previous handler. A handler that is installed later receives all faults and should pass on those that are
/// not its own.
enum MappingFaults {
    static let slots = 1024
    /// For each slot: first address, end address, broken. A slot is in use if its second word is not zero.
    nonisolated(unsafe) private static let table: UnsafeMutablePointer<Atomic<UInt>> = {
        let table = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: slots * 3)
        for word in 0..<slots * 3 { (table + word).initialize(to: Atomic(0)) }
        return table
    }()
    /// The number of faults and forks so far.
    nonisolated(unsafe) static let count: UnsafeMutablePointer<Int> = {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        return count
    }()
    nonisolated(unsafe) private static var isInstalled = false
    nonisolated(unsafe) private static var previous = sigaction()
    private static let pageBytes = UInt(sysconf(Int32(_SC_PAGESIZE)))
    private static let lock = Lock()

    /// Registers a mapping. Returns nil if all slots are in use: a fault in the mapping would then end the process.
    static func add(_ base: UInt, _ count: Int) -> Int? {
        lock.withLock {
            if !isInstalled {
                isInstalled = true
                _ = (pageBytes, table, MappingFaults.count)
                install()
            }
            guard let slot = (0..<slots).first(where: { table[$0 * 3 + 1].load(ordering: .relaxed) == 0 }) else { return nil }
            table[slot * 3 + 2].store(0, ordering: .relaxed)
            table[slot * 3].store(base, ordering: .relaxed)
            table[slot * 3 + 1].store(base + UInt(count), ordering: .releasing)
            return slot
        }
    }

    static func remove(_ slot: Int?) {
        guard let slot else { return }
        lock.withLock { table[slot * 3 + 1].store(0, ordering: .releasing) }
    }

    @inline(__always)
    static func isBroken(_ slot: Int) -> Bool { table[slot * 3 + 2].load(ordering: .relaxed) != 0 }

    /// Increments the count atomically. If two increments were lost or merged, a thread that compares counts could miss a fault.
    static func increment() {
        UnsafeMutableRawPointer(count).assumingMemoryBound(to: Atomic<Int>.self).pointee.add(1, ordering: .sequentiallyConsistent)
    }

    private static func install() {
        var action = sigaction()
        #if canImport(Glibc)
            action.__sigaction_handler.sa_sigaction = { signal, info, context in
                if !MappingFaults.handle(UInt(bitPattern: info!.pointee._sifields._sigfault.si_addr)) {
                    MappingFaults.handOn(signal, info, context)
                }
            }
        #else
            action.__sigaction_u.__sa_sigaction = { signal, info, context in
                if !MappingFaults.handle(UInt(bitPattern: info!.pointee.si_addr)) { MappingFaults.handOn(signal, info, context) }
            }
        #endif
        action.sa_flags = Int32(SA_SIGINFO) | Int32(SA_ONSTACK)
        sigaction(SIGBUS, &action, &previous)
    }

    /// Returns true if the address is in a registered mapping; its page is then replaced by zeros.
    private static func handle(_ address: UInt) -> Bool {
        for slot in 0..<slots
        where address < table[slot * 3 + 1].load(ordering: .acquiring) && table[slot * 3].load(ordering: .relaxed) <= address {
            table[slot * 3 + 2].store(1, ordering: .relaxed)
            increment()
            let page = UnsafeMutableRawPointer(bitPattern: address & ~(pageBytes - 1))
            if mmap(page, Int(pageBytes), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED { return true }
        }
        return false
    }

    private static func handOn(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?) {
        #if canImport(Glibc)
            let before = (action: previous.__sigaction_handler.sa_sigaction, plain: previous.__sigaction_handler.sa_handler)
        #else
            let before = (action: previous.__sigaction_u.__sa_sigaction, plain: previous.__sigaction_u.__sa_handler)
        #endif
        // Without a previous handler, the same instruction faults again, and the process ends as it would have without this handler.
        guard UInt(bitPattern: unsafeBitCast(before.plain, to: Int.self)) > 1 else {
            signal(SIGBUS, SIG_DFL)
            return
        }
        if previous.sa_flags & Int32(SA_SIGINFO) != 0 { before.action!(number, info, context) } else { before.plain!(number) }
    }
}
