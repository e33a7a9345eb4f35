import CZstd
import FirnBytes
import Synchronization

/// Where zstd could not compress, for want of memory. What it was given is there all the same, in frames that are not compressed; but whoever writes
/// them down looks here, and does not.
package enum CompressionFailures {
    private static let noted = Atomic<Int>(0)

    /// How many there were in this process.
    package static var count: Int { noted.load(ordering: .relaxed) }

    static func note() { noted.add(1, ordering: .relaxed) }
}

/// Compresses pages with one context, one level and at most one dictionary: zstd frames without magic number, content size,
/// dictionary id or checksum (two bytes of header instead of nine and more; sizes and hashes are kept outside).
final class PageCompressor {
    /// nil: there was no memory for it.
    private let context: OpaquePointer?

    init(level: Int, dictionary: UnsafeRawBufferPointer? = nil) {
        guard let context = LibraryFaults.refuses(.compressionContext) ? nil : ZSTD_createCCtx() else {
            context = nil
            CompressionFailures.note()
            return
        }
        func set(_ parameter: ZSTD_cParameter, _ value: Int32) {
            let result = ZSTD_CCtx_setParameter(context, parameter, value)
            precondition(ZSTD_isError(result) == 0, "zstd refused a parameter: \(String(cString: ZSTD_getErrorName(result)))")
        }
        set(ZSTD_c_compressionLevel, Int32(level))
        set(ZSTD_c_contentSizeFlag, 0)
        set(ZSTD_c_dictIDFlag, 0)
        set(ZSTD_c_experimentalParam2, 1) // ZSTD_c_format = magicless
        if let dictionary, dictionary.count > 0 {
            guard !LibraryFaults.refuses(.compressionDictionary), ZSTD_isError(ZSTD_CCtx_loadDictionary(context, dictionary.baseAddress, dictionary.count)) == 0 else {
                ZSTD_freeCCtx(context)
                self.context = nil
                CompressionFailures.note()
                return
            }
        }
        self.context = context
    }

    deinit { ZSTD_freeCCtx(context) }

    /// One frame, appended to `out`. Returns its size.
    @discardableResult
    func compress(_ source: UnsafeRawBufferPointer, into out: inout [UInt8]) -> Int {
        let bound = ZSTD_compressBound(source.count), before = out.count
        let frame = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            guard let context, !LibraryFaults.refuses(.compress) else { return }
            let result = ZSTD_compress2(context, buffer.baseAddress, bound, source.baseAddress, source.count)
            if ZSTD_isError(result) == 0 { count = result } else { ZSTD_CCtx_reset(context, ZSTD_reset_session_only) }
        }
        if frame.isEmpty { appendUncompressed(source, to: &out) } else { out.append(contentsOf: frame) }
        return out.count - before
    }

    /// A frame that any zstd unpacks, made without it (RFC 8878): no flags, a window of 128 KiB, blocks of bytes as they are.
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

/// A dictionary digested for decompression.
final class PageDictionary: @unchecked Sendable {
    fileprivate let digested: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        if LibraryFaults.refuses(.decompressionDictionary) { throw PageDecompressor.noMemory }
        guard let digested = ZSTD_createDDict(bytes.baseAddress, bytes.count) else {
            // Bytes that do not claim to be more than text are one always.
            let claims = bytes.count >= 8 && UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == UInt32(ZSTD_MAGIC_DICTIONARY)
            throw claims ? Damage("text dictionary is not one") : PageDecompressor.noMemory
        }
        self.digested = digested
    }

    deinit { ZSTD_freeDDict(digested) }
}

/// Decompression contexts are expensive to make: threads borrow them from a small pool.
enum PageDecompressor {
    private struct Contexts: @unchecked Sendable { var idle: [OpaquePointer] = [] }
    private static let pool = Mutex(Contexts())

    static let noMemory = Damage("there is no memory to unpack compressed text", isUnread: true)

    private static func borrow() throws(Damage) -> OpaquePointer {
        if LibraryFaults.refuses(.decompressionContext) { throw noMemory }
        if let context = pool.withLock({ $0.idle.popLast() }) { return context }
        guard let context = ZSTD_createDCtx() else { throw noMemory }
        let result = ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam1, 1) // ZSTD_d_format = magicless
        precondition(ZSTD_isError(result) == 0, "zstd does not know frames without magic numbers")
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

    /// The bytes of one frame into `room`; how many they are.
    static func inflate(_ frame: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, dictionary: PageDictionary?) throws(Damage) -> Int {
        let context = try borrow()
        defer { giveBack(context) }
        if LibraryFaults.refuses(.decompress) { throw noMemory }
        let result = if let dictionary {
            ZSTD_decompress_usingDDict(context, room.baseAddress, room.count, frame.baseAddress, frame.count, dictionary.digested)
        } else {
            ZSTD_decompressDCtx(context, room.baseAddress, room.count, frame.baseAddress, frame.count)
        }
        guard ZSTD_isError(result) == 0 else {
            throw ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? noMemory : Damage("compressed text does not unpack")
        }
        return result
    }

    /// The most bytes that a frame of `stored` bytes can hold: a block of 128 KiB takes at least four bytes.
    static func bound(stored: Int) -> Int { (stored / 4 &+ 1) &* (128 << 10) }

    /// The bytes of one frame that must come to exactly `size`. Memory is taken as the bytes come, not as the size promises.
    static func inflate(_ frame: UnsafeRawBufferPointer, size: Int, dictionary: PageDictionary? = nil) throws(Damage) -> [UInt8] {
        guard size >= 0, size <= bound(stored: frame.count) else { throw Damage("compressed text promises too much") }
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
            guard out.count == size else { throw Damage("compressed text has another size") }
            return out
        }
    }
}

/// A run of bytes stored as it is or as a zstd frame, whichever is smaller:
/// `mode u8 (0 as it is, 1 zstd) · size varint · [stored size varint] · bytes`.
enum PageBlock {
    /// `level`: nil takes them as they are.
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

    /// At most `limit` bytes, or `Damage`; added to `charge` before they are unpacked.
    static func read(_ reader: inout ByteReader, limit: Int = 1 << 28, _ charge: MemoryCharge, _ memory: MemoryScope) throws(Damage) -> [UInt8] {
        switch try reader.read(UInt8.self) {
        case 0:
            let bytes = try reader.readLengthPrefixed()
            try charge.add(bytes.count, for: memory.name)
            return Array(bytes)
        case 1:
            let size = try reader.readCount(limit: limit), frame = try reader.readLengthPrefixed()
            guard size <= PageDecompressor.bound(stored: frame.count) else { throw Damage("compressed text promises too much", at: reader.position) }
            try charge.add(size, for: memory.name)
            return try PageDecompressor.inflate(frame, size: size)
        default: throw Damage("unknown block mode", at: reader.position)
        }
    }
}
