import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads a file or pipe from beginning to end in large pieces. Used by one thread at a time.
package final class StreamIn {
    /// The path, or the name in errors.
    package let path: String
    /// The length of the source in bytes, if it is a regular file.
    package let totalSize: UInt64?
    /// The number of bytes that were returned so far.
    package private(set) var position: UInt64 = 0
    private let descriptor: Int32
    private let closes: Bool
    private let capacity: Int
    private let buffer: UnsafeMutableRawPointer
    private var start = 0, end = 0
    private var ended = false
    /// The number of bytes that are read for a look at the first ones.
    private static let leastPiece = 16 << 10

    /// Opens a file; "-" is standard input.
    package init(path: String, capacity: Int = 1 << 20) throws(FirnError) {
        if path == "-" {
            descriptor = 0
            closes = false
            self.path = "standard input"
        } else {
            let result = retrying { Int(open(path, O_RDONLY | O_CLOEXEC)) }
            guard result >= 0 else { throw systemError(Int32(-result), "cannot open", path) }
            descriptor = Int32(result)
            closes = true
            self.path = path
        }
        self.capacity = max(capacity, 4096)
        buffer = .allocate(byteCount: self.capacity, alignment: 4096)
        var status = stat()
        totalSize = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? UInt64(status.st_size) : nil
        if Paths.kind(path) == .directory && closes {
            throw FirnError(.inputOutput, "cannot read: it is a directory", at: .init(file: path))
        }
        #if os(Linux)
            if totalSize != nil { _ = posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_SEQUENTIAL)) }
        #endif
    }

    /// Reads from a descriptor, which the caller closes.
    package init(descriptor: Int32, name: String, capacity: Int = 1 << 20) {
        self.descriptor = descriptor
        closes = false
        path = name
        self.capacity = max(capacity, 4096)
        buffer = .allocate(byteCount: self.capacity, alignment: 4096)
        totalSize = nil
    }

    deinit {
        buffer.deallocate()
        if closes { close(descriptor) }
    }

    /// Returns the next bytes, as many as one read delivers; empty at the end. They are valid until the next call.
    package func next() throws(FirnError) -> UnsafeRawBufferPointer {
        if start == end { try fill() }
        let piece = UnsafeRawBufferPointer(start: buffer + start, count: end - start)
        position += UInt64(piece.count)
        start = end
        return piece
    }

    /// Returns up to `count` bytes without advancing (fewer at the end of the input, or if `count` is larger than the buffer).
    package func peek(_ count: Int) throws(FirnError) -> UnsafeRawBufferPointer {
        let wanted = min(count, capacity)
        if start + wanted > capacity {
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
        }
        while end - start < wanted && !ended {
            // Not all that the buffer holds: many inputs are mapped after their first bytes were examined.
            end += try readOnce(into: end, count: max(StreamIn.leastPiece, start + wanted - end))
        }
        return UnsafeRawBufferPointer(start: buffer + start, count: min(wanted, end - start))
    }

    /// Fills `into`. Returns the number of bytes, which is smaller only at the end of the input.
    package func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = min(into.count, end - start)
        if done > 0 {
            memcpy(into.baseAddress!, buffer + start, done)
            start += done
        }
        while done < into.count && !ended {
            let got = retrying { readCall(descriptor, into.baseAddress! + done, into.count - done) }
            if got < 0 { throw systemError(Int32(-got), "cannot read", path) }
            if got == 0 { ended = true }
            done += got
        }
        position += UInt64(done)
        return done
    }

    /// Returns all remaining bytes.
    package func readToEnd() throws(FirnError) -> [UInt8] {
        var bytes: [UInt8] = []
        if let totalSize, totalSize > position { bytes.reserveCapacity(Int(totalSize - position)) }
        while true {
            let piece = try next()
            if piece.isEmpty { return bytes }
            bytes.append(contentsOf: piece)
        }
    }

    private func fill() throws(FirnError) {
        start = 0
        end = 0
        if !ended { end = try readOnce(into: 0, count: capacity) }
    }

    /// Reads at most `count` bytes, as far as the buffer has space for them.
    private func readOnce(into offset: Int, count: Int) throws(FirnError) -> Int {
        let got = retrying { readCall(descriptor, buffer + offset, min(count, capacity - offset)) }
        if got < 0 { throw systemError(Int32(-got), "cannot read", path) }
        if got == 0 { ended = true }
        return got
    }
}

private func readCall(_ descriptor: Int32, _ into: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, into, count) }
