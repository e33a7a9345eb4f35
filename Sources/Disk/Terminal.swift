#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a command needs from its process.
extension Machine {
    /// Returns the value of an environment variable, or nil if it is not set.
    package static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Ends the process. Bytes that are not flushed are lost; temporary files of live replacements remain.
    package static func exit(_ code: Int32) -> Never { exitCall(code) }

    /// Returns the number of columns of the terminal, or nil if the descriptor is not a terminal.
    package static func terminalWidth(_ descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

private func exitCall(_ code: Int32) -> Never { exit(code) }
