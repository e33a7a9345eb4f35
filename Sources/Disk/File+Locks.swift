import FirnBytes
#if canImport(Glibc)
import Glibc
private let setLock: Int32 = 37, setLockWaiting: Int32 = 38, getLock: Int32 = 36   // F_OFD_SETLK, F_OFD_SETLKW, F_OFD_GETLK
#else
import Darwin
private let setLock: Int32 = 90, setLockWaiting: Int32 = 91, getLock: Int32 = 92
#endif

// Byte-range locks that belong to the open file description: two `File`s on one path exclude each other even inside
// one process, and the kernel drops them when the last descriptor closes, however the process ends.
extension File {
    package enum LockKind: Sendable { case shared, exclusive }

    /// Locks `count` bytes at `offset`. False when another holder is in the way and `wait` is false.
    /// An exclusive lock needs a writable file. The bytes need not exist.
    package func lock(_ kind: LockKind, at offset: UInt64, count: UInt64 = 1, wait: Bool = false) throws(FirnError) -> Bool {
        guard !isInherited else { throw inherited }
        try consult(.lock, cannotLock)
        var range = lockRange(kind == .shared ? Int16(F_RDLCK) : Int16(F_WRLCK), offset, count)
        let result = retrying { Int(fcntl(descriptor, wait ? setLockWaiting : setLock, &range)) }
        if result >= 0 { return true }
        if result == -Int(EAGAIN) || result == -Int(EACCES) { return false }
        throw systemError(Int32(-result), cannotLock, path)
    }

    package func unlock(at offset: UInt64, count: UInt64 = 1) {
        if isInherited { return }
        var range = lockRange(Int16(F_UNLCK), offset, count)
        _ = fcntl(descriptor, setLock, &range)
    }

    /// The lowest byte of `range` that another holder has locked in any way; nil if none has. The file's own locks do not count.
    package func firstConflict(in range: Range<UInt64>) throws(FirnError) -> UInt64? {
        var found: UInt64?
        let low = range.lowerBound
        var high = range.upperBound
        // The kernel names some lock in the range, not the lowest: search what lies below it until nothing does.
        while low < high {
            var probe = lockRange(Int16(F_WRLCK), low, high - low)
            if fcntl(descriptor, getLock, &probe) != 0 { throw systemError(errno, "cannot look at the locks", path) }
            if probe.l_type == Int16(F_UNLCK) { break }
            let start = max(low, UInt64(clamping: probe.l_start))
            found = start
            if start == low { break }
            high = start
        }
        return found
    }

    /// What is said in a child of the process that opened the file.
    package var inherited: FirnError {
        FirnError(.inputOutput, "the file was opened before this process was forked, and belongs to the process that opened it", at: .init(file: path),
                  advice: "open the file again in this process")
    }

    private func lockRange(_ type: Int16, _ offset: UInt64, _ count: UInt64) -> flock {
        var range = flock()
        range.l_type = type
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(offset)
        range.l_len = off_t(count)
        range.l_pid = 0
        return range
    }
}
