import CZstd
import FirnBytes
import Synchronization

/// Counts failures of zstd to compress, for lack of memory. The data is then stored in uncompressed frames and nothing is lost, but code
/// that writes frames to a file checks this count and fails instead.
package enum CompressionFailures {
    private static let noted = Atomic<Int>(0)

    /// The number of failures in this process.
    package static var count: Int { noted.load(ordering: .relaxed) }

    static func note() { noted.add(1, ordering: .relaxed) }
}

/// Compresses pages with one context, one level and at most one dictionary. Writes zstd frames without magic number, content size,
/// dictionary id or checksum: the header takes two bytes instead of nine or more. Sizes and hashes are stored outside of the frames.
final class PageCompressor {
    /// nil if there was not enough memory.
    private let context: OpaquePointer?

    init(level: Int, dictionary: UnsafeRawBufferPointer? = nil) {
        guard let context = LibraryFaults.refuses(.compressionContext) ? nil : ZSTD_createCCtx() else {
            context = nil
            CompressionFailures.note()
            return
        }
        func set(_ parameter: ZSTD_cParameter, _ value: Int32) {
            let result = ZSTD_CCtx_setParameter(context, parameter, value)
            trap(unless: ZSTD_isError(result) == 0, "zstd refused a parameter: \(String(cString: ZSTD_getErrorName(result)))")
        }
        set(ZSTD_c_compressionLevel, Int32(level))
        set(ZSTD_c_contentSizeFlag, 0)
        set(ZSTD_c_dictIDFlag, 0)
        set(ZSTD_c_experimentalParam2, 1)  // ZSTD_c_format = magicless
        if let dictionary, dictionary.count > 0 {
            guard !LibraryFaults.refuses(.compressionDictionary),
                ZSTD_isError(ZSTD_CCtx_loadDictionary(context, dictionary.baseAddress, dictionary.count)) == 0
            else {
                ZSTD_freeCCtx(context)
                self.context = nil
                CompressionFailures.note()
                return
            }
        }
        self.context = context
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Appends one frame to `out` and returns its size. A reader needs the same `prefix`, whose content the frame may refer to.
    @discardableResult
    func compress(_ source: UnsafeRawBufferPointer, prefix: UnsafeRawBufferPointer? = nil, into out: inout [UInt8]) -> Int {
        let bound = ZSTD_compressBound(source.count), before = out.count
        let frame = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            guard let context, !LibraryFaults.refuses(.compress) else { return }
            if let prefix {
                let result = ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count)
                trap(unless: ZSTD_isError(result) == 0, "zstd refused a prefix: \(String(cString: ZSTD_getErrorName(result)))")
            }
            let result = ZSTD_compress2(context, buffer.baseAddress, bound, source.baseAddress, source.count)
            if ZSTD_isError(result) == 0 { count = result } else { ZSTD_CCtx_reset(context, ZSTD_reset_session_only) }
        }
        if frame.isEmpty { appendUncompressed(source, to: &out) } else { out.append(contentsOf: frame) }
        return out.count - before
    }

    /// Appends a frame that any zstd can decompress, built without zstd (RFC 8878): no flags, a window of 128 KiB, uncompressed blocks.
    private func appendUncompressed(_ source: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        CompressionFailures.note()
        out += [0, 7 << 3]
        var start = 0
        repeat {
            let count = min(source.count - start, 128 << 10), isLast = start + count == source.count, header = count << 3 | (isLast ? 1 : 0)
            out += [UInt8(truncatingIfNeeded: header), UInt8(truncatingIfNeeded: header >> 8), UInt8(truncatingIfNeeded: header >> 16)]
            out.append(contentsOf: source[start..<start + count])
            start += count
        } while start < source.count
    }
}

/// A zstd dictionary, prepared for decompression.
final class PageDictionary: @unchecked Sendable {
    fileprivate let digested: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        if LibraryFaults.refuses(.decompressionDictionary) { throw PageDecompressor.noMemory }
        guard let digested = ZSTD_createDDict(bytes.baseAddress, bytes.count) else {
            // zstd accepts any bytes that do not begin with its dictionary magic as raw content, so only those with the magic can be
            // damaged.
            let claims = bytes.count >= 8 && UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == UInt32(ZSTD_MAGIC_DICTIONARY)
            throw claims ? Damage("text dictionary is not a zstd dictionary") : PageDecompressor.noMemory
        }
        self.digested = digested
    }

    deinit { ZSTD_freeDDict(digested) }
}

/// Decompresses pages. Creating a context is expensive, so threads borrow contexts from a small pool.
enum PageDecompressor {
    private struct Contexts: @unchecked Sendable { var idle: [OpaquePointer] = [] }
    private static let pool = Mutex(Contexts())

    static let noMemory = Damage("not enough memory to decompress text", isUnread: true)

    private static func borrow() throws(Damage) -> OpaquePointer {
        if LibraryFaults.refuses(.decompressionContext) { throw noMemory }
        if let context = pool.withLock({ $0.idle.popLast() }) { return context }
        guard let context = ZSTD_createDCtx() else { throw noMemory }
        let result = ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam1, 1)  // ZSTD_d_format = magicless
        trap(unless: ZSTD_isError(result) == 0, "zstd does not support frames without magic numbers")
        return context
    }

    private static func giveBack(_ context: OpaquePointer) {
        let kept = pool.withLock { contexts in
            guard contexts.idle.count < 16 else { return false }
            contexts.idle.append(context)
            return true
        }
        if !kept { ZSTD_freeDCtx(context) }
    }

    /// Decompresses one frame into `room` and returns the number of bytes.
    static func inflate(_ frame: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, dictionary: PageDictionary?)
        throws(Damage) -> Int
    {
        let context = try borrow()
        defer { giveBack(context) }
        if LibraryFaults.refuses(.decompress) { throw noMemory }
        let result =
            if let dictionary {
                ZSTD_decompress_usingDDict(context, room.baseAddress, room.count, frame.baseAddress, frame.count, dictionary.digested)
            } else {
                ZSTD_decompressDCtx(context, room.baseAddress, room.count, frame.baseAddress, frame.count)
            }
        return try checked(result)
    }

    /// Decompresses one frame that refers to the first `prefixCount` bytes of `prefix`, and returns the number of bytes.
    static func inflate(_ frame: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, prefix: [UInt8]?, _ prefixCount: Int)
        throws(Damage) -> Int
    {
        guard let prefix else { return try inflate(frame, into: room, dictionary: nil) }
        let context = try borrow()
        defer { giveBack(context) }
        if LibraryFaults.refuses(.decompress) { throw noMemory }
        let result = prefix.withUnsafeBytes { bytes in
            // A prefix is used for one frame only.
            let accepted = ZSTD_DCtx_refPrefix(context, bytes.baseAddress, min(bytes.count, prefixCount))
            if ZSTD_isError(accepted) != 0 { return accepted }
            return ZSTD_decompressDCtx(context, room.baseAddress, room.count, frame.baseAddress, frame.count)
        }
        return try checked(result)
    }

    private static func checked(_ result: Int) throws(Damage) -> Int {
        guard ZSTD_isError(result) == 0 else {
            throw ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? noMemory : Damage("compressed text cannot be decompressed")
        }
        return result
    }

    /// Returns the maximum number of bytes that a frame of `stored` bytes can hold: a block of 128 KiB takes at least four bytes.
    static func bound(stored: Int) -> Int { (stored / 4 &+ 1) &* (128 << 10) }

    /// Decompresses one frame that must have exactly `size` bytes. Allocates in proportion to the frame first, and up to `size` bytes only
    /// when needed.
    static func inflate(_ frame: UnsafeRawBufferPointer, size: Int, dictionary: PageDictionary? = nil) throws(Damage) -> [UInt8] {
        guard size >= 0, size <= bound(stored: frame.count) else { throw Damage("compressed text claims an impossible size") }
        var failure: Damage?
        var room = min(size, max(64 << 20, frame.count &* 16))
        while true {
            let out = [UInt8](unsafeUninitializedCapacity: max(room, 1)) { buffer, count in
                do throws(Damage) {
                    let all = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: room)
                    count = try inflate(frame, into: all, dictionary: dictionary)
                } catch {
                    failure = error
                    count = 0
                }
            }
            if let found = failure {
                if room == size || found.isUnread { throw found }
                failure = nil
                room = min(size, room &* 8)
                continue
            }
            guard out.count == size else { throw Damage("decompressed text does not have the recorded size") }
            return out
        }
    }
}

/// Bytes stored as they are or as a zstd frame, whichever is smaller:
/// `mode u8 (0 as it is, 1 zstd) · size varint · [stored size varint] · bytes`.
enum PageBlock {
    /// Appends a block. `level` nil stores the bytes uncompressed.
    static func append(_ bytes: [UInt8], level: Int?, to out: inout ByteWriter) {
        if let level, bytes.count >= 16 {
            var frame: [UInt8] = []
            bytes.withUnsafeBytes { _ = PageCompressor(level: level).compress($0, into: &frame) }
            if frame.count + 3 < bytes.count {
                out.append(UInt8(1))
                out.appendVarint(bytes.count)
                out.append(lengthPrefixed: frame)
                return
            }
        }
        out.append(UInt8(0))
        out.append(lengthPrefixed: bytes)
    }

    /// Reads a block. A compressed block is added to `charge` before it is decompressed.
    /// - Throws: `Damage` if the block is malformed or decompresses to more than `limit` bytes.
    static func read(_ reader: inout ByteReader, limit: Int = 1 << 28, _ charge: MemoryCharge, _ memory: MemoryScope) throws(Damage)
        -> [UInt8]
    {
        switch try reader.read(UInt8.self) {
        case 0:
            let bytes = try reader.readLengthPrefixed()
            try charge.add(bytes.count, for: memory.name)
            return Array(bytes)
        case 1:
            let size = try reader.readCount(limit: limit), frame = try reader.readLengthPrefixed()
            guard size <= PageDecompressor.bound(stored: frame.count) else {
                throw Damage("compressed text claims an impossible size", at: reader.position)
            }
            try charge.add(size, for: memory.name)
            return try PageDecompressor.inflate(frame, size: size)
        default: throw Damage("unknown block mode", at: reader.position)
        }
    }
}
