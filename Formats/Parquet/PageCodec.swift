import CBrotli
import CLZ4
import CSnappy
import CZlib
import CZstd
import FirnBytes
import FirnExchange

/// Memory for the bytes of a page. The bytes after a page, up to `slack`, may be read.
final class PageBuffer {
    static let slack = 32
    private(set) var base: UnsafeMutableRawPointer
    private var capacity: Int
    private let charge: MemoryCharge

    init() {
        capacity = 0
        base = .allocate(byteCount: PageBuffer.slack, alignment: 16)
        charge = MemoryCharge(.process)
    }

    deinit { base.deallocate() }

    func reserve(_ count: Int) throws(ParquetFault) {
        guard count > capacity else { return }
        base.deallocate()
        capacity = 0
        base = .allocate(byteCount: PageBuffer.slack, alignment: 16)
        let total = count + count / 4
        if total > charge.bytes {
            guard charge.take(total - charge.bytes) else { throw ParquetFault.beyondMemory("a page", total, charge.budget) }
        }
        base.deallocate()
        base = .allocate(byteCount: total + PageBuffer.slack, alignment: 16)
        capacity = total
    }
}

/// Decompresses pages.
final class PageCodec {
    private let codec: ParquetFormat.Codec
    private var context: OpaquePointer?

    init(_ codec: ParquetFormat.Codec) { self.codec = codec }

    deinit { ZSTD_freeDCtx(context) }

    private func damaged(_ reason: String = "") -> ParquetFault {
        ParquetFault("the compressed page is damaged" + (reason.isEmpty ? "" : ": " + reason))
    }

    /// Decompresses `from`, which must give exactly `size` bytes.
    func decompress(_ from: UnsafeRawBufferPointer, size: Int, into buffer: PageBuffer) throws(ParquetFault) -> UnsafeRawBufferPointer {
        // What the formats cannot reach is not allocated first.
        let limit: Int =
            switch codec {
            case .snappy: from.count * 64
            case .gzip: from.count * 1100
            case .lz4, .lz4Raw: from.count * 260
            default: .max
            }
        guard size <= limit || size <= 1024 else { throw damaged("\(from.count) bytes cannot become \(size)") }
        try buffer.reserve(size)
        let out = UnsafeMutableRawBufferPointer(start: buffer.base, count: size)
        if size > 0 || !from.isEmpty {
            switch codec {
            case .none: throw damaged()
            case .snappy: try snappy(from, out)
            case .gzip: try gzip(from, out)
            case .brotli: try brotli(from, out)
            case .lz4: try hadoop(from, out)
            case .lz4Raw: guard raw(from, out) else { throw damaged() }
            case .zstd: try zstd(from, out)
            case .lzo: throw ParquetFault.unknown("the codec LZO is not known")
            }
        }
        return UnsafeRawBufferPointer(out)
    }

    private func snappy(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) throws(ParquetFault) {
        let source = from.baseAddress?.assumingMemoryBound(to: CChar.self), target = out.baseAddress?.assumingMemoryBound(to: CChar.self)
        var length = 0
        guard snappy_uncompressed_length(source, from.count, &length) == SNAPPY_OK, length == out.count else {
            throw damaged("it has \(length) bytes instead of \(out.count)")
        }
        guard snappy_uncompress(source, from.count, target, &length) == SNAPPY_OK, length == out.count else { throw damaged() }
    }

    private func gzip(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) throws(ParquetFault) {
        var state = z_stream()
        // 32: gzip or zlib, by the header.
        guard inflateInit2_(&state, 47, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ParquetFault("out of memory", code: .outOfMemory)
        }
        defer { inflateEnd(&state) }
        state.next_in = UnsafeMutablePointer(mutating: from.baseAddress?.assumingMemoryBound(to: UInt8.self))
        state.avail_in = UInt32(clamping: from.count)
        state.next_out = out.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.avail_out = UInt32(clamping: out.count)
        // A page can have several members.
        while true {
            let result = inflate(&state, Z_FINISH)
            guard result == Z_STREAM_END else { throw damaged(result == Z_BUF_ERROR ? "it has other than \(out.count) bytes" : "") }
            if state.avail_out == 0 { return }
            guard state.avail_in > 0, inflateReset(&state) == Z_OK else { throw damaged("it has fewer than \(out.count) bytes") }
        }
    }

    private func brotli(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) throws(ParquetFault) {
        var length = out.count
        let result = BrotliDecoderDecompress(
            from.count, from.baseAddress?.assumingMemoryBound(to: UInt8.self), &length, out.baseAddress?.assumingMemoryBound(to: UInt8.self)
        )
        guard result == BROTLI_DECODER_RESULT_SUCCESS, length == out.count else { throw damaged() }
    }

    private func zstd(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) throws(ParquetFault) {
        if context == nil { context = ZSTD_createDCtx() }
        guard let context else { throw ParquetFault("out of memory", code: .outOfMemory) }
        let length = ZSTD_decompressDCtx(context, out.baseAddress, out.count, from.baseAddress, from.count)
        guard ZSTD_isError(length) == 0 else { throw damaged(String(cString: ZSTD_getErrorName(length))) }
        guard length == out.count else { throw damaged("it has \(length) bytes instead of \(out.count)") }
    }

    private func raw(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) -> Bool {
        guard let size = Int32(exactly: from.count), let room = Int32(exactly: out.count) else { return false }
        let length = LZ4_decompress_safe(
            from.baseAddress?.assumingMemoryBound(to: CChar.self), out.baseAddress?.assumingMemoryBound(to: CChar.self), size, room)
        return length == room
    }

    /// Decompresses the former LZ4: frames as Hadoop writes them (sizes in big-endian), or blocks without a frame.
    private func hadoop(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer) throws(ParquetFault) {
        var at = 0, done = 0
        while from.count - at >= 8 {
            let size = Int(UInt32(bigEndian: from.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            let stored = Int(UInt32(bigEndian: from.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)))
            guard stored <= from.count - at - 8, size <= out.count - done,
                raw(
                    UnsafeRawBufferPointer(rebasing: from[(at + 8)..<(at + 8 + stored)]),
                    UnsafeMutableRawBufferPointer(rebasing: out[done..<done + size]))
            else { break }
            at += 8 + stored
            done += size
        }
        if done == out.count, at == from.count { return }
        guard raw(from, out) else { throw damaged() }
    }
}
