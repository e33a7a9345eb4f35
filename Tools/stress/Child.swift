import FirnBytes
import FirnDisk
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A child process that runs this program with other arguments, and the lines that it has printed. Used by one thread at a time.
final class Child: @unchecked Sendable {
    let process: pid_t
    private let output: Int32
    private let input: Int32
    private var unread: [UInt8] = []
    /// The lines that were read, in order.
    private(set) var lines: [String] = []
    private(set) var isOver = false

    init(_ words: [String]) throws(FirnError) {
        var out: [Int32] = [0, 0], into: [Int32] = [0, 0]
        guard pipe(&out) == 0, pipe(&into) == 0 else { throw systemError(errno, "cannot make a pipe", "pipe") }
        for end in out + into { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if canImport(Glibc)
            var actions = posix_spawn_file_actions_t()
        #else
            var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, into[0], 0)
        posix_spawn_file_actions_adddup2(&actions, out[1], 1)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let own = Paths.linkEnd("/proc/self/exe"), program = own == "/proc/self/exe" ? CommandLine.arguments[0] : own
        var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, &arguments, environ)
        close(out[1])
        close(into[0])
        guard code == 0 else { throw systemError(code, "cannot start", program) }
        self.process = process
        output = out[0]
        input = into[1]
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    deinit {
        if !isOver { kill() }
        close(output)
        close(input)
    }

    /// Reads what the process has printed. Waits until there is something to read, the process has ended, or the time is over.
    func listen(milliseconds: Int32 = 0) {
        var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { break }
            unread.append(contentsOf: buffer[..<count])
        }
        while let end = unread.firstIndex(of: 10) {
            lines.append(String(decoding: unread[..<end], as: UTF8.self))
            unread.removeSubrange(...end)
        }
    }

    /// Waits until the process has printed `count` lines in all. Returns false if it has not within the time.
    func hears(_ count: Int, seconds: Double = 30) -> Bool {
        let end = Machine.seconds + seconds
        while lines.count < count, Machine.seconds < end { listen(milliseconds: 20) }
        return lines.count >= count
    }

    /// Returns the number in the last line that starts with a name, such as `committed 7`; 0 if there is none.
    func last(_ word: String) -> Int64 {
        for line in lines.reversed() where line.hasPrefix(word + " ") { return Int64(line.split(separator: " ")[1]) ?? 0 }
        return 0
    }

    /// Kills the process with SIGKILL, and reads what it had printed.
    func kill() {
        #if canImport(Glibc)
            Glibc.kill(process, SIGKILL)
        #else
            Darwin.kill(process, SIGKILL)
        #endif
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isOver = true
        listen()
    }

    /// Waits until the process exits by itself. Returns whether its exit code is 0.
    func finish() -> Bool {
        _ = write(input, "\n", 1)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isOver = true
        listen()
        return status == 0
    }
}

/// Prints a message to standard error.
func complain(_ text: String) {
    var line = "firn-stress: " + text + "\n"
    _ = line.withUTF8 { write(2, $0.baseAddress!, $0.count) }
}

/// Prints a line without buffering, so that it can be read even if the process is killed immediately afterwards. Exits if the line cannot
/// be written.
func say(_ text: String) {
    var line = text + "\n"
    let isHeard = line.withUTF8 { write(1, $0.baseAddress!, $0.count) == $0.count }
    if !isHeard { exit(1) }
}
