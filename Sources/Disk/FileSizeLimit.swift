#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The process's limit on the length of files (`ulimit -f`). A call that exceeds it causes SIGXFSZ, which ends a program that does not
/// handle it.
enum FileSizeLimit {
    private static var isSet: Bool {
        var limit = rlimit()
        #if canImport(Glibc)
            return getrlimit(__rlimit_resource_t(1 /* RLIMIT_FSIZE */), &limit) == 0 && limit.rlim_cur != rlim_t.max
        #else
            return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < rlim_t(Int64.max)
        #endif
    }

    /// Makes a call that may lengthen a file, and reports the limit as EFBIG. The signal is blocked on this thread during the call, and
    /// removed if the call caused it; the program's disposition of the signal does not change. Without a limit this costs one additional
    /// call.
    @inline(__always)
    static func report(_ call: () -> Int) -> Int { isSet ? shielded(call) : call() }

    private static func shielded(_ call: () -> Int) -> Int {
        var signals = sigset_t(), before = sigset_t(), pending = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        guard pthread_sigmask(SIG_BLOCK, &signals, &before) == 0 else { return call() }
        sigpending(&pending)
        let isOwn = sigismember(&pending, SIGXFSZ) == 0
        let result = call(), code = errno
        if result < 0, code == EFBIG, isOwn {
            sigpending(&pending)
            var taken: Int32 = 0
            if sigismember(&pending, SIGXFSZ) == 1 { sigwait(&signals, &taken) }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = code
        return result
    }

    /// Ignores the signal in the command, so that writes by other libraries report EFBIG too.
    static func ignoreSignal() { signal(SIGXFSZ, SIG_IGN) }
}
