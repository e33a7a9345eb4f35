import FirnBytes
#if canImport(Glibc)
    import Glibc
    private let setLock: Int32 = 37, setLockWaiting: Int32 = 38, getLock: Int32 = 36  // F_OFD_SETLK, F_OFD_SETLKW, F_OFD_GETLK
#else
    import Darwin
    private let setLock: Int32 = 90, setLockWaiting: Int32 = 91, getLock: Int32 = 92
#endif

// Byte-range locks of the open file description: two `File`s of one path exclude each other even within one process, and the kernel
// releases the locks when the last descriptor closes, however the process ends.
extension File {
    /// The kind of a lock.
    package enum LockKind: Sendable { case shared, exclusive }

    /// Locks `count` bytes at `offset`, which need not exist. Returns false if another holder has a conflicting lock and `wait` is false.
    /// An exclusive lock requires a writable file.
    package func lock(_ kind: LockKind, at offset: UInt64, count: UInt64 = 1, wait: Bool = false) throws(FirnError) -> Bool {
        guard !isInherited else { throw inherited }
        try consult(.lock, cannotLock)
        var range = lockRange(kind == .shared ? Int16(F_RDLCK) : Int16(F_WRLCK), offset, count)
        let result = retrying { Int(fcntl(descriptor, wait ? setLockWaiting : setLock, &range)) }
        if result >= 0 { return true }
        if result == -Int(EAGAIN) || result == -Int(EACCES) { return false }
        throw systemError(Int32(-result), cannotLock, path)
    }

    /// Unlocks `count` bytes at `offset`.
    package func unlock(at offset: UInt64, count: UInt64 = 1) {
        if isInherited { return }
        var range = lockRange(Int16(F_UNLCK), offset, count)
        _ = fcntl(descriptor, setLock, &range)
    }

    /// Returns the lowest byte of `range` that another holder has locked in any way, or nil. The locks of this file itself do not count.
    package func firstConflict(in range: Range<UInt64>) throws(FirnError) -> UInt64? {
        var found: UInt64?
        let low = range.lowerBound
        var high = range.upperBound
        // The kernel reports some lock in the range, not the lowest: the part below it is searched until it has none.
        while low < high {
            var probe = lockRange(Int16(F_WRLCK), low, high - low)
            if fcntl(descriptor, getLock, &probe) != 0 { throw systemError(errno, "cannot read the locks", path) }
            if probe.l_type == Int16(F_UNLCK) { break }
            let start = max(low, UInt64(clamping: probe.l_start))
            found = start
            if start == low { break }
            high = start
        }
        return found
    }

    /// The error of a forked child whose parent opened the file.
    package var inherited: FirnError {
        FirnError(
            .inputOutput, "the file was opened before this process was forked, and belongs to the process that opened it",
            at: .init(file: path),
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
