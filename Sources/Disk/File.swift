import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

#if os(Linux)
    // The Glibc module hides it (it wants _GNU_SOURCE); the C and Swift conventions agree for these types.
    @_silgen_name("fallocate")
    private func fallocate(_ descriptor: Int32, _ mode: Int32, _ offset: Int, _ length: Int) -> Int32
#endif

/// One open file. Reads and writes are complete or throw, have explicit offsets, and can be called from any thread. The file is closed on
/// release.
package final class File: Sendable {
    package enum Access: Sendable {
        case read, readWrite
        /// Opens a device or a pipe. If no process reads it, opening waits for one.
        case write
        /// Creates the file; it is an error if it exists.
        case createNew
        /// Creates the file, or truncates it if it exists.
        case createOrTruncate
    }

    /// The path in errors.
    package let path: String
    /// The file descriptor.
    package let descriptor: Int32
    /// Whether the file was opened for writing.
    package let isWritable: Bool
    let calls: (any DiskCalls)?
    /// The number of this open file in the calls that a script sees.
    private let number: UInt64
    private let forks = Forks.count

    /// Whether the file was opened by a process that this one was forked from. The parent owns its locks; this process has none and takes
    /// none.
    package var isInherited: Bool { forks != Forks.count }

    /// Opens or creates a file. `shownAs` is its path in errors.
    package init(path: String, _ access: Access, mode: UInt32 = 0o666, shownAs: String? = nil, calls: (any DiskCalls)? = nil)
        throws(FirnError)
    {
        let flags: Int32 =
            switch access {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .write: O_WRONLY
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            case .createOrTruncate: O_RDWR | O_CREAT | O_TRUNC
            }
        let calls = calls ?? ScriptedDisk.calls(at: path), number = calls == nil ? 0 : ScriptedDisk.nextNumber()
        while let calls,
            let code = calls.before(.open(path: path, creates: flags & O_CREAT != 0, empties: flags & O_TRUNC != 0), of: number)
        {
            if code != EINTR { throw systemError(code, "cannot open", path) }
        }
        let result = retrying { Int(open(path, flags | O_CLOEXEC, mode_t(mode))) }
        guard result >= 0 else { throw systemError(Int32(-result), "cannot open", path) }
        self.path = shownAs ?? path
        descriptor = try File.aside(Int32(result), path)
        isWritable = access != .read
        self.calls = calls
        self.number = number
    }

    /// Duplicates a descriptor below 3 to a higher number. In a program that was started without standard streams, output would otherwise
    /// go into the file.
    private static func aside(_ descriptor: Int32, _ path: String) throws(FirnError) -> Int32 {
        guard descriptor <= 2 else { return descriptor }
        let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3), code = errno
        _ = closeCall(descriptor)
        if higher < 0 { throw systemError(code, "cannot open", path) }
        return higher
    }

    /// Takes over an open descriptor.
    init(adopting descriptor: Int32, path: String, isWritable: Bool) {
        self.path = path
        self.descriptor = descriptor
        self.isWritable = isWritable
        calls = nil
        number = 0
    }

    deinit { close(descriptor) }

    /// Passes a call to the script. Throws if the script refuses it; returns true if the call counts as made. An interrupted call is passed
    /// again.
    @inline(__always)
    @discardableResult
    func consult(_ call: @autoclosure () -> DiskCall, _ doing: @autoclosure () -> String, retries: Bool = true) throws(FirnError) -> Bool {
        guard let calls else { return false }
        while let code = calls.before(call(), of: number) {
            if code == EINTR, retries { continue }
            if code == 0 { return true }
            throw systemError(code, doing(), path)
        }
        return false
    }

    // MARK: Reading

    /// Fills `into` from `offset`. Returns the number of bytes read, which is smaller only at the end of the file.
    @discardableResult
    package func read(into: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FirnError) -> Int {
        try consult(.read(offset: offset, count: into.count), "cannot read")
        var done = 0
        while done < into.count {
            let got = retrying { pread(descriptor, into.baseAddress! + done, into.count - done, off_t(offset) + off_t(done)) }
            if got < 0 { throw systemError(Int32(-got), "cannot read", path) }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Returns `count` bytes from `offset`, or as many as the file has.
    package func read(count: Int, at offset: UInt64) throws(FirnError) -> [UInt8] {
        var failure: FirnError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FirnError) { filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the bytes of the whole file.
    package func readAll() throws(FirnError) -> [UInt8] { try read(count: Int(try size()), at: 0) }

    // MARK: Changing

    /// Writes all bytes at `offset`, or throws.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FirnError) {
        try consult(.write(offset: offset, bytes: bytes), "cannot write")
        var done = 0
        while done < bytes.count {
            let put = retrying {
                FileSizeLimit.report { pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done)) }
            }
            if put <= 0 { throw systemError(put == 0 ? EIO : Int32(-put), "cannot write", path) }
            done += put
        }
    }

    /// Writes all bytes at `offset`, or throws.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(FirnError) {
        try bytes.withBytes { (bytes) throws(FirnError) in try write(bytes, at: offset) }
    }

    /// Makes everything that was written durable, including the length of the file. It is never repeated: after a failed sync the kernel
    /// may have dropped the pages, so a second call could succeed without them. A file without a name is not synced: it ends with the
    /// process.
    package func sync() throws(FirnError) {
        if try consult(.sync, "cannot sync", retries: false) { return }
        if hasNoName { return }
        #if canImport(Glibc)
            let result = fdatasync(descriptor)
        #else
            let result = fcntl(descriptor, F_FULLFSYNC) == -1 ? fsync(descriptor) : 0
        #endif
        if result != 0 { throw systemError(errno, "cannot sync", path) }
    }

    private var hasNoName: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Sets the length of the file.
    package func truncate(to length: UInt64) throws(FirnError) {
        try consult(.truncate(length: length), "cannot set the length")
        let result = retrying { FileSizeLimit.report { Int(ftruncate(descriptor, off_t(length))) } }
        if result < 0 { throw systemError(Int32(-result), "cannot set the length", path) }
    }

    /// Allocates blocks and extends the file to cover them. Returns false, without a change, if the medium does not support this.
    package func allocate(offset: UInt64, length: UInt64) throws(FirnError) -> Bool {
        try consult(.allocate(offset: offset, length: length), "cannot allocate")
        #if os(Linux)
            let result = retrying { FileSizeLimit.report { Int(fallocate(descriptor, 0, off_t(offset), off_t(length))) } }
            if result >= 0 { return true }
            if result == -Int(EOPNOTSUPP) || result == -Int(ENOSYS) { return false }
            throw systemError(Int32(-result), "cannot allocate", path)
        #else
            return false
        #endif
    }

    // MARK: Memory

    /// Returns zeroed memory for the state of the file, which the caller frees with `free`. The system provides its pages when they are
    /// touched.
    package func zeroedMemory(bytes: Int) throws(FirnError) -> UnsafeMutableRawPointer {
        try consult(.memory(bytes: bytes), "cannot allocate memory for the state of the file")
        guard let memory = calloc(bytes, 1) else { throw systemError(ENOMEM, "cannot allocate memory for the state of the file", path) }
        return memory
    }

    /// Returns memory for bytes of the file, which the caller frees with `giveBack`. The size may come from an untrusted file, so a failure
    /// is an error.
    package func memory(for bytes: Int) throws(FirnError) -> UnsafeMutableRawBufferPointer {
        try consult(.memory(bytes: bytes), "cannot allocate memory for reading")
        guard let memory = malloc(max(bytes, 1)) else { throw systemError(ENOMEM, "cannot allocate memory for reading", path) }
        return UnsafeMutableRawBufferPointer(start: memory, count: bytes)
    }

    /// Frees memory from `memory(for:)`.
    package static func giveBack(_ memory: UnsafeRawBufferPointer) { free(UnsafeMutableRawPointer(mutating: memory.baseAddress)) }

    // MARK: Asking

    /// Returns the next range of stored bytes at or after an offset; the bytes before it are a hole and read as zeros. Returns nil if there
    /// is no more data. If the medium does not report holes, everything is data.
    package func data(from offset: UInt64) -> Range<UInt64>? {
        let seekData: Int32 = 3, seekHole: Int32 = 4
        let start = lseek(descriptor, off_t(offset), seekData)
        if start < 0 { return errno == ENXIO ? nil : offset..<UInt64(off_t.max) }
        let end = lseek(descriptor, start, seekHole)
        return UInt64(start)..<(end > start ? UInt64(end) : UInt64(off_t.max))
    }

    /// Whether it is a regular file.
    package var isRegular: Bool { kind == S_IFREG }
    /// Whether it is a directory.
    package var isDirectory: Bool { kind == S_IFDIR }

    private var kind: mode_t? { (try? status()).map { $0.st_mode & S_IFMT } }

    func status() throws(FirnError) -> stat {
        try consult(.status, "cannot read the status")
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw systemError(errno, "cannot read the status", path) }
        return status
    }
}

private func closeCall(_ descriptor: Int32) -> Int32 { close(descriptor) }
