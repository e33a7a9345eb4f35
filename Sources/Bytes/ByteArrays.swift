extension Array where Element: BitwiseCopyable {
    /// Calls `body` with the bytes. Keeps the type of the error, which `withUnsafeBytes` does not.
    @inlinable
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBufferPointer { (bytes) throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

extension Array where Element == UInt8 {
    /// Calls `body` with the bytes, which it may change. Keeps the type of the error, which `withUnsafeMutableBytes` does not.
    @inlinable
    package mutating func withMutableBytes<R, E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeMutableBufferPointer { (bytes) throws(E) in try body(UnsafeMutableRawBufferPointer(bytes)) }
    }
}
