#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a command needs of the process it runs in.
extension Machine {
    /// A variable of the environment; nil if it is not set.
    package static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Ends the process. What is not flushed is lost; temporary files of replacements still held stay behind.
    package static func exit(_ code: Int32) -> Never { exitCall(code) }

    /// How many cells a line of the terminal has; nil if the descriptor is no terminal.
    package static func terminalWidth(_ descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

private func exitCall(_ code: Int32) -> Never { exit(code) }
