import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a file or pipe from beginning to end through a large buffer. Used by one thread at a time. Bytes that are not flushed are lost.
package final class StreamOut {
    /// The path, or the name in errors.
    package let path: String
    /// The number of bytes that were accepted so far, written or buffered.
    package private(set) var position: UInt64 = 0
    private let descriptor: Int32
    private let owner: File?
    private let capacity: Int
    private let buffer: UnsafeMutableRawPointer
    private var used = 0
    /// The bytes of a stream in memory; nil for other streams.
    private var kept: [UInt8]?

    /// Makes a stream that keeps what is written in memory.
    package init(memory name: String) {
        descriptor = -1
        path = name
        owner = nil
        kept = []
        capacity = 4096
        buffer = .allocate(byteCount: capacity, alignment: 4096)
    }

    /// The bytes that a stream in memory has, flushed ones only.
    package var bytes: [UInt8] { kept ?? [] }

    /// Writes to a descriptor, which the caller closes.
    package init(descriptor: Int32, name: String, capacity: Int = 1 << 20) {
        self.descriptor = descriptor
        path = name
        owner = nil
        self.capacity = max(capacity, 4096)
        buffer = .allocate(byteCount: self.capacity, alignment: 4096)
    }

    /// Writes to a file from its current position (the beginning, if it was just opened).
    package init(_ file: File, capacity: Int = 1 << 20) {
        descriptor = file.descriptor
        path = file.path
        owner = file
        self.capacity = max(capacity, 4096)
        buffer = .allocate(byteCount: self.capacity, alignment: 4096)
    }

    /// Returns a stream to standard output.
    package static func standardOutput() -> StreamOut { StreamOut(descriptor: 1, name: "standard output", capacity: 1 << 18) }
    /// Returns a stream to standard error.
    package static func standardError() -> StreamOut { StreamOut(descriptor: 2, name: "standard error", capacity: 1 << 12) }

    deinit { buffer.deallocate() }

    /// Appends bytes; they are written when the buffer is full, or by `flush`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FirnError) {
        guard bytes.count > 0 else { return }
        position += UInt64(bytes.count)
        if bytes.count > capacity - used {
            try flush()
            if bytes.count >= capacity { return try put(bytes) }
        }
        memcpy(buffer + used, bytes.baseAddress!, bytes.count)
        used += bytes.count
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(FirnError) { try bytes.withBytes(write) }

    /// Appends bytes.
    package func write(_ bytes: ArraySlice<UInt8>) throws(FirnError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(FirnError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Appends the UTF-8 bytes of a text.
    package func write(_ text: String) throws(FirnError) {
        var copy = text, failure: FirnError?
        copy.withUTF8 { do throws(FirnError) { try write(UnsafeRawBufferPointer($0)) } catch { failure = error } }
        if let failure { throw failure }
    }

    /// Writes the buffered bytes.
    package func flush() throws(FirnError) {
        let pending = UnsafeRawBufferPointer(start: buffer, count: used)
        used = 0
        try put(pending)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(FirnError) {
        guard kept == nil else {
            kept?.append(contentsOf: bytes)
            return
        }
        try owner?.consult(.write(offset: position, bytes: bytes), "cannot write")
        var done = 0
        while done < bytes.count {
            let count = retrying { FileSizeLimit.report { writeCall(descriptor, bytes.baseAddress! + done, bytes.count - done) } }
            if count <= 0 { throw systemError(count == 0 ? EIO : Int32(-count), "cannot write", path) }
            done += count
        }
    }
}

private func writeCall(_ descriptor: Int32, _ from: UnsafeRawPointer, _ count: Int) -> Int { write(descriptor, from, count) }
