#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Facts about the machine and the process, and the time.
package enum Machine {
    /// The seconds since an arbitrary start; never runs backwards.
    package static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Blocks the calling thread for this time. A signal can end the call early.
    package static func sleep(seconds: Double) {
        var nap = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        nanosleep(&nap, nil)
    }

    /// The nanoseconds since 1970-01-01 00:00 UTC.
    package static var wallNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The memory of the machine in bytes, at least 256 MiB.
    package static let memory = max(1 << 28, Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))))

    /// The maximum resident memory of this process so far, in bytes.
    package static var peakMemory: Int {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(0 /* RUSAGE_SELF */, &usage)
            return usage.ru_maxrss * 1024
        #else
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }

    /// Returns whether the descriptor is a terminal.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The id of this process.
    package static var processID: Int32 { getpid() }

    /// A random number from the system.
    package static var random: UInt64 { UInt64.random(in: 0 ... .max) }
}
