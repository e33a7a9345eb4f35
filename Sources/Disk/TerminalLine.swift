#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The line on standard error that shows how far a command is. A request to stop (SIGINT, SIGTERM, SIGHUP) removes it before the process ends, so that the shell's
/// prompt does not follow it.
package enum TerminalLine {
    /// In memory of its own: it is read in a signal's handler.
    nonisolated(unsafe) static let isShown: UnsafeMutablePointer<Bool> = {
        let shown = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        shown.initialize(to: false)
        return shown
    }()

    /// The text that removes the line.
    package static let removal = "\r\u{1B}[K"

    /// A line is about to be shown, which has to be removed.
    package static func willShow() { isShown.pointee = true }
    package static func didRemove() { isShown.pointee = false }

    /// For handlers of signals.
    static func removeInHandler() {
        guard isShown.pointee else { return }
        isShown.pointee = false
        let text: StaticString = "\r\u{1B}[K"
        _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
    }
}
