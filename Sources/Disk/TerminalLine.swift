#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The line on standard error that shows the progress of a command. A signal to stop (SIGINT, SIGTERM, SIGHUP) removes it before the
/// process ends, so that the shell's prompt does not follow it.
package enum TerminalLine {
    /// Allocated separately, because signal handlers read it.
    nonisolated(unsafe) static let isShown: UnsafeMutablePointer<Bool> = {
        let shown = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        shown.initialize(to: false)
        return shown
    }()

    /// The text that removes the line.
    package static let removal = "\r\u{1B}[K"

    /// Records that a line is about to be shown, which a signal must remove.
    package static func willShow() { isShown.pointee = true }
    /// Records that the line was removed.
    package static func didRemove() { isShown.pointee = false }

    /// Removes the line; called by signal handlers.
    static func removeInHandler() {
        guard isShown.pointee else { return }
        isShown.pointee = false
        let text: StaticString = "\r\u{1B}[K"
        _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
    }
}
