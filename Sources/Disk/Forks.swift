#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells a process that came out of `fork` from the one that called it. A child shares what the parent had open, locks included: what the child
/// unlocks, truncates or removes is the parent's.
package enum Forks {
    /// How often this process, and those it descends from, came out of a fork since the first file was opened. One word, for whoever compares often.
    package static var count: Int { counter.pointee }

    nonisolated(unsafe) private static let counter: UnsafeMutablePointer<Int> = {
        let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        counter.initialize(to: 0)
        // Called in the child before `fork` returns there, when it has one thread.
        _ = MappingFaults.count
        pthread_atfork(nil, nil) {
            Forks.counter.pointee += 1
            MappingFaults.increment()
        }
        return counter
    }()
}
