#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reports the end of a command for lack of address space (`ulimit -v`). The budget of memory covers the contents of files; smaller
/// allocations, of Swift, C++ and the stacks of threads, cannot report a failure and end the process. With such a limit, these ends become
/// a message and exit code 5.
enum MemoryExhaustion {
    /// Less address space than this counts as none: the default size of a thread's stack.
    private static let room = 8 << 20
    private static let stackBytes = 64 << 10

    /// Installs the handlers, if the address space is limited. Allocates nothing that it needs.
    static func report() {
        #if canImport(Glibc)
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else { return }
            // The main stack grows, and may fail to.
            var stack = stack_t()
            stack.ss_sp = malloc(stackBytes)
            stack.ss_size = stackBytes
            if stack.ss_sp != nil { sigaltstack(&stack, nil) }
            _ = room
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { code in
                if MemoryExhaustion.isExhausted {
                    TemporaryPaths.removeInHandler()
                    let text: StaticString = "firn: the limit of the address space (ulimit -v) is too low for this command\n"
                    _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
                    _exit(5)
                }
                signal(code, SIG_DFL)
                raise(code)
            }
            action.sa_flags = SA_ONSTACK
            // Traps of Swift code are SIGILL or SIGTRAP, depending on the processor.
            for code in [SIGABRT, SIGSEGV, SIGILL, SIGTRAP] { sigaction(code, &action, nil) }
        #endif
    }

    #if canImport(Glibc)
        /// Whether no address space is left. Safe in signal handlers.
        private static var isExhausted: Bool {
            guard let base = mmap(nil, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), base != MAP_FAILED else {
                return true
            }
            munmap(base, room)
            return false
        }
    #endif
}
