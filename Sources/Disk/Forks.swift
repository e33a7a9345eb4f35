#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Distinguishes a forked child from the process that called `fork`. A child shares the open files of its parent, including locks: whatever
/// it unlocks, truncates or removes belongs to the parent.
package enum Forks {
    /// How often this process or its ancestors were forked since the first file was opened. Reading it is cheap.
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
