#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the machine says of itself and of the time.
package enum Machine {
    /// Seconds from an arbitrary start, never running backwards.
    package static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    package static func sleep(seconds: Double) {
        var nap = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        nanosleep(&nap, nil)
    }

    /// Nanoseconds since 1970-01-01 00:00 UTC.
    package static var wallNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Seconds since 1970-01-01 00:00 UTC and nanoseconds within the second.
    package static var wallClock: (seconds: Int64, nanoseconds: Int32) {
        let now = wallNanoseconds
        return (now / 1_000_000_000, Int32(now % 1_000_000_000))
    }

    package static let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Bytes of memory that the machine has.
    package static let memory = max(1 << 28, Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))))

    /// The most memory this process has held so far, in bytes.
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

    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    package static var processID: Int32 { getpid() }

    /// A random number, from the system.
    package static var random: UInt64 { UInt64.random(in: 0 ... .max) }
}
