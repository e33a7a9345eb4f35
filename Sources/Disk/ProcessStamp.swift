import FirnBytes
import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Identifies the process that made a file. It is part of the file's name, so that another process can determine whether the owner has
/// ended. It consists of a mark of the system since its start, the process id, and the start time of the process. Files of other machines
/// or containers, or from before a restart, never count as abandoned.
package struct ProcessStamp: Equatable, Sendable, CustomStringConvertible {
    /// A hash of the system's boot id and of the namespace of process ids; 0 if it is not known.
    let system: UInt32
    let process: Int32
    /// The start of the process in ticks since the system's start; 0 if it is not known.
    let start: UInt64

    /// The stamp of this process; in a forked child, that of the child.
    package static var own: ProcessStamp {
        let process = getpid()
        return known.withLock { known in
            if let known, known.process == process { return known }
            let stamp = ProcessStamp(system: systemMark(), process: process, start: status(of: process)?.start ?? 0)
            known = stamp
            return stamp
        }
    }
    private static let known: Mutex<ProcessStamp?> = Mutex(nil)

    /// The stamp as text, for example `1a2b3c4d-8x2-k3f9a`.
    package var description: String {
        let mark = String(system, radix: 16)
        return String(repeating: "0", count: 8 - mark.count) + "\(mark)-\(String(process, radix: 36))-\(String(start, radix: 36))"
    }

    init(system: UInt32, process: Int32, start: UInt64) {
        self.system = system
        self.process = process
        self.start = start
    }

    /// Parses the text of `description`. Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 8, let system = UInt32(parts[0], radix: 16),
            let process = Int32(parts[1], radix: 36), process > 0,
            let start = UInt64(parts[2], radix: 36)
        else { return nil }
        self.init(system: system, process: process, start: start)
        guard description == text else { return nil }
    }

    /// Whether the process has certainly ended. False if this process cannot determine it.
    package var isGone: Bool {
        let own = ProcessStamp.own
        guard system != 0, start != 0, system == own.system else { return false }
        if process == own.process { return own.start != 0 && start != own.start }
        if kill(process, 0) != 0, errno == ESRCH { return true }
        guard let now = ProcessStamp.status(of: process) else { return false }
        // The id may have been reused. A process that has ended keeps its id until its parent waits for it.
        return now.start != start || now.isEnded
    }

    private static func systemMark() -> UInt32 {
        // If /proc belongs to another namespace, its ids are not those of `getpid`.
        guard link("/proc/self") == "\(getpid())", let namespace = link("/proc/self/ns/pid"),
            let boot = text("/proc/sys/kernel/random/boot_id")
        else { return 0 }
        return UInt32(truncatingIfNeeded: Hash128(of: Array((boot + namespace).utf8)).low)
    }

    /// Reads `/proc/N/stat`: "N (name) S …". Field 3 is the state, 20 the number of threads, 22 the start. The name may contain any bytes.
    private static func status(of process: Int32) -> (start: UInt64, isEnded: Bool)? {
        guard let line = text("/proc/\(process)/stat"), let end = line.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[line.utf8.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let threads = Int(fields[17]), let start = UInt64(fields[19]) else { return nil }
        return (start, ["Z", "X", "x"].contains(fields[0]) && threads <= 1)
    }

    private static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 256)
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Reads a file of /proc, which has no length.
    private static func text(_ path: String) -> String? {
        guard let file = try? File(path: path, .read), let bytes = try? file.read(count: 4096, at: 0), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
