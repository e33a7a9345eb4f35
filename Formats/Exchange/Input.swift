import FirnBytes
import FirnDisk

/// Reads bytes from a file, standard input or memory, from the first to the last, and from the first again after `rewind`. Zstandard,
/// gzip, xz and bzip2 contents (recognised by their first bytes, whatever the name) are decompressed. Only one thread at a time may use an
/// input.
package final class Input {
    /// The path as the user gave it; `-` is standard input.
    package let path: String
    /// The name in the locations of errors.
    package let name: String
    package let compression: Compression
    /// The size of the source in bytes as stored (compressed), if it is known.
    package let totalBytes: UInt64?
    /// The number of bytes delivered since the beginning or the last `rewind`.
    package private(set) var position: UInt64 = 0

    /// The budget to which readers of this input charge memory.
    package var budget = MemoryBudget.process

    /// What can cancel the reading.
    package var progress: Progress?

    private var source: InputSource
    /// The bytes that were read from a pipe, kept for the second reading.
    private var spool: Spool?

    /// Opens a file, or standard input for `-`.
    /// - Parameters:
    ///   - rereadable: Whether the bytes of a pipe are kept so that `rewind` works; pass false to read once.
    ///   - staysOffDisk: Whether they are kept in memory instead of an unnamed temporary file.
    /// - Throws: `FirnError` with the reason, if the file is missing, is a directory or may not be read.
    package init(path: String, rereadable: Bool = true, staysOffDisk: Bool = false) throws(FirnError) {
        let stream = try StreamIn(path: path)
        self.path = path
        name = stream.path
        totalBytes = stream.totalSize
        compression = Compression.of(try stream.peek(10), named: path)
        source = try Input.decoder(of: compression, stream, memory: budget.limit)
        // Standard input cannot be opened a second time, even if it is a file.
        if rereadable, stream.totalSize == nil || path == "-" { spool = Spool(inMemory: staysOffDisk) }
    }

    /// Makes an input from bytes in memory, for example in tests.
    package init(bytes: [UInt8], name: String) {
        path = name
        self.name = name
        totalBytes = UInt64(bytes.count)
        compression = .none
        source = MemorySource(bytes)
    }

    /// The number of bytes read from the source so far (compressed, if it is compressed). With `totalBytes`, this is the progress.
    package var bytesRead: UInt64 { source.taken }

    /// Fills `into` and returns the number of bytes, which is less than its size only at the end.
    package func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        try progress?.check()
        var done = 0
        if let spool, position < spool.length {
            done = try spool.read(into: into, at: position)
        }
        if done < into.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: into[done...])
            let more = try source.read(into: rest)
            if let spool { try spool.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(rest)[..<more])) }
            done += more
        }
        position += UInt64(done)
        return done
    }

    /// Reads all remaining bytes.
    package func readToEnd() throws(FirnError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = 1 << 16
        if let totalBytes, compression == .none { piece = Int(clamping: totalBytes - min(totalBytes, position)) + 1 }
        while true {
            let start = bytes.count
            var failure: FirnError?, got = 0
            // The buffer is not initialized because all of it is overwritten.
            let more = [UInt8](unsafeUninitializedCapacity: piece) { buffer, count in
                do throws(FirnError) { got = try read(into: UnsafeMutableRawBufferPointer(buffer)) } catch { failure = error }
                count = got
            }
            if let failure { throw failure }
            if start == 0 { bytes = more } else { bytes.append(contentsOf: more) }
            if got < piece { return bytes }
            piece = max(piece, min(bytes.count, 64 << 20))
        }
    }

    /// Returns the first bytes of the decompressed data, at most 64 KiB, without consuming them. Allowed only before the first `read` or
    /// after
    /// `rewind`.
    package func peek(_ count: Int) throws(FirnError) -> [UInt8] {
        trap(unless: position == 0, "peek reads the first bytes: call rewind first")
        let count = min(count, 1 << 16)
        var failure: FirnError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FirnError) { filled = try read(into: UnsafeMutableRawBufferPointer(buffer)) } catch { failure = error }
        }
        if let failure { throw failure }
        if spool == nil { source = PrefixedSource(bytes, source) }
        position = 0
        return bytes
    }

    /// Returns to the first byte.
    package func rewind() throws(FirnError) {
        position = 0
        if spool != nil { return }
        if let memory = source.memory {
            source = memory
        } else {
            guard totalBytes != nil, path != "-" else {
                throw FirnError(.usage, "a pipe that was opened for one reading cannot be read again", at: .init(file: name))
            }
            source = try Input.decoder(of: compression, try StreamIn(path: path), memory: budget.limit)
        }
    }

    private static func decoder(of compression: Compression, _ stream: StreamIn, memory: Int) throws(FirnError) -> InputSource {
        switch compression {
        case .none: PlainSource(stream)
        case .zstd: try ZstdSource(stream)
        case .gzip: try GzipSource(stream)
        case .xz: try XzSource(stream, limit: memory)
        case .bzip2: try Bzip2Source(stream)
        }
    }
}

/// The source of an input's bytes.
class InputSource {
    /// Fills `into`; returns fewer bytes only at the end.
    func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        trap("subclasses of InputSource override read(into:)")
    }
    /// The number of bytes of the stored form that are consumed.
    var taken: UInt64 { 0 }
    /// A new source at the first byte, if the source is in memory; nil otherwise.
    var memory: InputSource? { nil }
}

private final class PlainSource: InputSource {
    private let stream: StreamIn
    init(_ stream: StreamIn) { self.stream = stream }
    override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int { try stream.read(into: into) }
    override var taken: UInt64 { stream.position }
}

private final class MemorySource: InputSource {
    private let bytes: [UInt8]
    private var position = 0
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        let count = min(into.count, bytes.count - position)
        into.copyBytes(from: bytes[position..<(position + count)])
        position += count
        return count
    }

    override var taken: UInt64 { UInt64(position) }
    override var memory: InputSource? { MemorySource(bytes) }
}

/// Delivers the bytes that were peeked at, then the rest of their source.
private final class PrefixedSource: InputSource {
    private let prefix: [UInt8]
    private var position = 0
    private let rest: InputSource
    init(_ prefix: [UInt8], _ rest: InputSource) {
        self.prefix = prefix
        self.rest = rest
    }

    override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        let count = min(into.count, prefix.count - position)
        if count > 0 {
            into.copyBytes(from: prefix[position..<(position + count)])
            position += count
        }
        if count == into.count { return count }
        return count + (try rest.read(into: UnsafeMutableRawBufferPointer(rebasing: into[count...])))
    }

    override var taken: UInt64 { rest.taken }
    override var memory: InputSource? { rest.memory }
}

/// Keeps the bytes of a pipe in an unnamed temporary file, or in memory.
private final class Spool {
    private let isInMemory: Bool
    private var memory: [UInt8] = []
    private var file: File?
    private(set) var length: UInt64 = 0

    init(inMemory: Bool) { isInMemory = inMemory }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FirnError) {
        guard bytes.count > 0 else { return }
        if isInMemory {
            memory.append(contentsOf: bytes)
            length += UInt64(bytes.count)
            return
        }
        if file == nil { file = try File.spool() }
        try file!.write(bytes, at: length)
        length += UInt64(bytes.count)
    }

    func read(into: UnsafeMutableRawBufferPointer, at position: UInt64) throws(FirnError) -> Int {
        let count = min(into.count, Int(clamping: length - position))
        if isInMemory {
            into.copyBytes(from: memory[Int(position)..<(Int(position) + count)])
            return count
        }
        guard let file, count > 0 else { return 0 }
        return try file.read(into: UnsafeMutableRawBufferPointer(rebasing: into[..<count]), at: position)
    }
}
