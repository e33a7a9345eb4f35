import FirnBytes
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A process that holds a lock of a file.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
    /// The byte that is locked.
    package let offset: UInt64
    package let process: Int32
    /// What the system calls the program; empty if it does not say.
    package let program: String

    package var description: String { "process \(process)" + (program.isEmpty ? "" : " (\(program))") }
}

extension File {
    /// Who has locked bytes of `range`, through whatever open file but this one, as far as the system tells: on Linux that is what /proc shows of the
    /// processes that this one may look at; elsewhere nothing. Locks name no process, so all of them are looked through: for messages, not for decisions.
    package func lockHolders(in range: Range<UInt64>) -> [LockHolder] {
        #if os(Linux) || os(Android)
        guard let own = try? status() else { return [] }
        var found: Set<LockHolder> = []
        for name in (try? Paths.list("/proc")) ?? [] {
            guard let process = Int32(name) else { continue }
            for number in (try? Paths.list("/proc/\(name)/fdinfo")) ?? [] {
                var there = stat()
                guard stat("/proc/\(name)/fd/\(number)", &there) == 0, there.st_ino == own.st_ino, there.st_dev == own.st_dev else { continue }
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

    /// `lock: 1: OFDLCK ADVISORY READ -1 fe:00:16237327 <first> <last>`, a line for each lock of the open file.
    private static func locks(of path: String, in range: Range<UInt64>) -> [UInt64] {
        text(path).split(separator: "\n").compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count == 9, words[0] == "lock:", words[2] == "OFDLCK", let first = UInt64(words[7]), range.contains(first) else { return nil }
            return first
        }
    }

    private static func line(_ path: String) -> String { text(path).split(separator: "\n").first.map(String.init) ?? "" }

    /// Files that have no length.
    private static func text(_ path: String) -> String {
        guard let file = try? File(path: path, .read), let bytes = try? file.read(count: 64 << 10, at: 0) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
