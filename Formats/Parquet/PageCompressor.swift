import CBrotli
import CLZ4
import CSnappy
import CZlib
import CZstd
import FirnBytes
import Synchronization

/// Compresses pages. Only one thread at a time may use it.
final class PageCompressor: @unchecked Sendable {
    let compression: ParquetCompression
    private var context: OpaquePointer?

    init(_ compression: ParquetCompression) { self.compression = compression }

    deinit { ZSTD_freeCCtx(context) }

    private static func failure(_ what: String) -> FirnError { FirnError(.outOfMemory, "cannot compress a page: \(what)") }

    /// Returns the compressed bytes; those of the codec `none` are the same.
    func compress(_ bytes: [UInt8]) throws(FirnError) -> [UInt8] {
        let capacity = bound(bytes.count)
        switch compression.codec {
        case .none, .lzo, .lz4: return bytes
        default: break
        }
        var length = capacity, failure: String?
        let out = [UInt8](unsafeUninitializedCapacity: capacity) { out, filled in
            bytes.withUnsafeBytes { source in
                failure = compress(source, UnsafeMutableRawBufferPointer(out), &length)
            }
            filled = failure == nil ? length : 0
        }
        if let failure { throw PageCompressor.failure(failure) }
        return out
    }

    private func bound(_ count: Int) -> Int {
        switch compression.codec {
        case .zstd: ZSTD_compressBound(count)
        case .snappy: snappy_max_compressed_length(count)
        case .gzip: Int(compressBound(UInt(count))) + 64
        case .brotli: BrotliEncoderMaxCompressedSize(count) + 64
        case .lz4Raw: Int(LZ4_compressBound(Int32(clamping: count)))
        case .none, .lzo, .lz4: count
        }
    }

    /// Writes to `out` and sets `length`. Returns why it failed; nil if it did not.
    private func compress(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer, _ length: inout Int) -> String? {
        let source = from.baseAddress?.assumingMemoryBound(to: CChar.self), target = out.baseAddress?.assumingMemoryBound(to: CChar.self)
        switch compression.codec {
        case .zstd:
            if context == nil { context = ZSTD_createCCtx() }
            guard let context else { return "out of memory" }
            length = ZSTD_compressCCtx(context, out.baseAddress, out.count, from.baseAddress, from.count, compression.level)
            return ZSTD_isError(length) == 0 ? nil : String(cString: ZSTD_getErrorName(length))
        case .snappy: return snappy_compress(source, from.count, target, &length) == SNAPPY_OK ? nil : "an error of Snappy"
        case .lz4Raw:
            guard from.count <= Int(LZ4_MAX_INPUT_SIZE) else { return "a page of \(from.count) bytes is too long for LZ4" }
            length = Int(LZ4_compress_default(source, target, Int32(from.count), Int32(out.count)))
            return length > 0 || from.isEmpty ? nil : "an error of LZ4"
        case .brotli:
            let done = BrotliEncoderCompress(
                compression.level, 22, BROTLI_MODE_GENERIC, from.count, from.baseAddress?.assumingMemoryBound(to: UInt8.self), &length,
                out.baseAddress?.assumingMemoryBound(to: UInt8.self))
            return done == BROTLI_FALSE ? "an error of Brotli" : nil
        case .gzip: return gzip(from, out, &length)
        case .none, .lzo, .lz4: return "no codec"
        }
    }

    private func gzip(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer, _ length: inout Int) -> String? {
        var state = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        // 31: gzip with the largest window.
        guard deflateInit2_(&state, compression.level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            return "out of memory"
        }
        defer { deflateEnd(&state) }
        state.next_in = UnsafeMutablePointer(mutating: from.baseAddress?.assumingMemoryBound(to: UInt8.self))
        state.avail_in = UInt32(clamping: from.count)
        state.next_out = out.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.avail_out = UInt32(clamping: out.count)
        guard deflate(&state, Z_FINISH) == Z_STREAM_END else { return "an error of zlib" }
        length = out.count - Int(state.avail_out)
        return nil
    }
}

/// The compressors of a writer: one for each thread that compresses, because each takes memory.
final class CompressorPool: Sendable {
    let compression: ParquetCompression
    private let free: Mutex<[PageCompressor]> = Mutex([])

    init(_ compression: ParquetCompression) { self.compression = compression }

    func with<R>(_ body: (PageCompressor) throws(FirnError) -> R) throws(FirnError) -> R {
        let compressor = free.withLock { $0.popLast() } ?? PageCompressor(compression)
        defer { free.withLock { $0.append(compressor) } }
        return try body(compressor)
    }
}
