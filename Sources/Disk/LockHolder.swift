import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A process that holds a lock of a file.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
    /// The locked byte.
    package let offset: UInt64
    /// The id of the process.
    package let process: Int32
    /// The name of the program, as the system reports it; empty if it is not known.
    package let program: String

    package var description: String { "process \(process)" + (program.isEmpty ? "" : " (\(program))") }
}

extension File {
    /// Returns the processes that have locked bytes of `range` through other open files than this one. On Linux the information is from
    /// /proc, for processes that this one may inspect; elsewhere the result is empty. All of them are searched, because locks do not name
    /// theirs. Use it for messages only.
    package func lockHolders(in range: Range<UInt64>) -> [LockHolder] {
        #if os(Linux) || os(Android)
            guard let own = try? status() else { return [] }
            var found: Set<LockHolder> = []
            for name in (try? Paths.list("/proc")) ?? [] {
                guard let process = Int32(name) else { continue }
                for number in (try? Paths.list("/proc/\(name)/fdinfo")) ?? [] {
                    var there = stat()
                    guard stat("/proc/\(name)/fd/\(number)", &there) == 0, there.st_ino == own.st_ino, there.st_dev == own.st_dev else {
                        continue
                    }
                    if process == getpid(), Int32(number) == descriptor { continue }
                    for offset in File.locks(of: "/proc/\(name)/fdinfo/\(number)", in: range) {
                        found.insert(LockHolder(offset: offset, process: process, program: File.line("/proc/\(name)/comm")))
                    }
                }
            }
            return found.sorted { ($0.offset, $0.process) < ($1.offset, $1.process) }
        #else
            return []
        #endif
    }

    /// Reads lines such as `lock: 1: OFDLCK ADVISORY READ -1 fe:00:16237327 <first> <last>`, one for each lock of the open file.
    private static func locks(of path: String, in range: Range<UInt64>) -> [UInt64] {
        text(path).split(separator: "\n").compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count == 9, words[0] == "lock:", words[2] == "OFDLCK", let first = UInt64(words[7]), range.contains(first) else {
                return nil
            }
            return first
        }
    }

    private static func line(_ path: String) -> String { text(path).split(separator: "\n").first.map(String.init) ?? "" }

    /// Reads a file of /proc, which has no length.
    private static func text(_ path: String) -> String {
        guard let file = try? File(path: path, .read), let bytes = try? file.read(count: 64 << 10, at: 0) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
