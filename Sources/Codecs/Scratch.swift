import FirnBytes

/// Calls `body` with uninitialized memory on the stack for `count` values. Keeps the type of the error, which
/// `withUnsafeTemporaryAllocation` does from Swift 6.3 on only.
@inline(__always)
func withScratch<T: BitwiseCopyable, R>(
    of type: T.Type, count: Int, _ body: (UnsafeMutablePointer<T>) throws(Damage) -> R
) throws(Damage) -> R {
    let result = withUnsafeTemporaryAllocation(of: type, capacity: count) { scratch in
        Result { () throws(Damage) in try body(scratch.baseAddress!) }
    }
    return try result.get()
}
