// Failures of C libraries, above all for lack of memory. Tests make the calls fail (`LibraryFaultTests`); release builds do not contain
// this.

#if DEBUG
    import Synchronization
#endif

/// A call of a C library that fails if there is not enough memory.
@usableFromInline
package enum LibraryCall: String, Sendable, CaseIterable {
    // zstd
    case compressionContext, compressionDictionary, compress, decompressionContext, decompressionDictionary, decompress
    // OpenSSL
    case cipherContext, seal, open
    // JSON
    case parser
}

@usableFromInline
package enum LibraryFaults {
    #if DEBUG
        private static let isScripted = Atomic<Bool>(false)
        private static let script: Mutex<(@Sendable (LibraryCall) -> Bool)?> = Mutex(nil)

        /// From now on, a call fails if `refuses` returns true for it, in the whole process: a process runs one script. nil ends this.
        package static func begin(_ refuses: (@Sendable (LibraryCall) -> Bool)?) {
            script.withLock { $0 = refuses }
            isScripted.store(refuses != nil, ordering: .releasing)
        }

        package static func refuses(_ call: LibraryCall) -> Bool {
            guard isScripted.load(ordering: .acquiring), let script = script.withLock({ $0 }) else { return false }
            return script(call)
        }
    #else
        @inlinable @inline(__always)
        package static func refuses(_ call: LibraryCall) -> Bool { false }
    #endif
}
