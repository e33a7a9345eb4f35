/// Prints a message to standard error, in debug and release builds, and stops the process.
///
/// Every programming error ends here: `precondition` and `preconditionFailure` of the standard library print nothing in release builds.
/// The message is made in a function of its own, so that the code around the call stays small.
@usableFromInline @inline(never)
package func trap(_ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(message(), file: file, line: line)
}

/// Stops the process with a message, in debug and release builds, unless the condition holds.
@inlinable @inline(__always)
package func trap(
    unless condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !condition() { trap(message(), file: file, line: line) }
}
