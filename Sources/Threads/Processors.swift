#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The processors of the machine.
package enum Processors {
    /// The number of processors that are online, at least 1.
    package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
