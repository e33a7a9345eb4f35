import CBzip2
import CLZMA
import CZlib
import CZstd
import FirnBytes
import FirnDisk

/// Receives the bytes of an output and passes them to its stream. Subclasses compress them.
class OutputSink {
    fileprivate let stream: StreamOut
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)

    fileprivate init(_ stream: StreamOut) { self.stream = stream }
    deinit { room.deallocate() }

    /// Makes the sink of a compression.
    static func make(
        _ compression: Compression, _ stream: StreamOut, effort: Compression.Effort, threads: Int
    ) throws(FirnError) -> OutputSink? {
        switch compression {
        case .none: nil
        case .gzip: try GzipSink(stream, effort)
        case .zstd: try ZstdSink(stream, effort, threads: threads)
        case .xz: try XzSink(stream, effort)
        case .bzip2: try Bzip2Sink(stream, effort)
        }
    }

    /// Compresses bytes and writes what is complete.
    final func write(_ bytes: UnsafeRawBufferPointer) throws(FirnError) {
        var rest = bytes
        while !rest.isEmpty {
            let (read, written, _) = try code(rest, into: room, ends: false)
            rest = UnsafeRawBufferPointer(rebasing: rest[read...])
            try stream.write(UnsafeRawBufferPointer(rebasing: room[..<written]))
        }
    }

    /// Writes the end of the compressed data.
    final func finish() throws(FirnError) {
        while true {
            let (_, written, isDone) = try code(UnsafeRawBufferPointer(start: nil, count: 0), into: room, ends: true)
            try stream.write(UnsafeRawBufferPointer(rebasing: room[..<written]))
            if isDone { return }
        }
    }

    /// Compresses some of the bytes. Returns how many were consumed and written, and whether the data is complete.
    fileprivate func code(
        _ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer, ends: Bool
    ) throws(FirnError) -> (read: Int, written: Int, isDone: Bool) { trap("subclasses of OutputSink override code(_:into:ends:)") }

    fileprivate func failure(_ what: String = "out of memory") -> FirnError {
        FirnError(.outOfMemory, "cannot compress: \(what)", at: .init(file: stream.path))
    }
}

/// Writes one Zstandard frame with a checksum.
private final class ZstdSink: OutputSink {
    private let context: OpaquePointer

    init(_ stream: StreamOut, _ effort: Compression.Effort, threads: Int) throws(FirnError) {
        guard let context = ZSTD_createCCtx() else {
            throw FirnError(.outOfMemory, "cannot compress: out of memory", at: .init(file: stream.path))
        }
        self.context = context
        let level: Int32 =
            switch effort {
            case .fast: 1
            case .standard: 3
            case .small: 19
            }
        super.init(stream)
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        // A library that was built without threads refuses this, and compresses on the calling thread.
        if threads > 1 { ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, Int32(min(threads, 4))) }
    }

    deinit { ZSTD_freeCCtx(context) }

    override func code(
        _ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer, ends: Bool
    ) throws(FirnError) -> (read: Int, written: Int, isDone: Bool) {
        var source = ZSTD_inBuffer(src: from.baseAddress, size: from.count, pos: 0)
        var out = ZSTD_outBuffer(dst: into.baseAddress, size: into.count, pos: 0)
        let left = ZSTD_compressStream2(context, &out, &source, ends ? ZSTD_e_end : ZSTD_e_continue)
        if ZSTD_isError(left) != 0 { throw failure(String(cString: ZSTD_getErrorName(left))) }
        return (source.pos, out.pos, left == 0)
    }
}

/// Writes one gzip member without name and time, so that equal data gives equal bytes.
private final class GzipSink: OutputSink {
    private let state: UnsafeMutablePointer<z_stream>

    init(_ stream: StreamOut, _ effort: Compression.Effort) throws(FirnError) {
        state = .allocate(capacity: 1)
        state.initialize(to: z_stream())
        super.init(stream)
        let level: Int32 =
            switch effort {
            case .fast: 1
            case .standard: 6
            case .small: 9
            }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(state, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else { throw failure() }
    }

    deinit {
        deflateEnd(state)
        state.deallocate()
    }

    override func code(
        _ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer, ends: Bool
    ) throws(FirnError) -> (read: Int, written: Int, isDone: Bool) {
        // zlib counts in 32 bits.
        let given = min(from.count, 1 << 30)
        state.pointee.next_in = UnsafeMutablePointer(mutating: from.baseAddress?.assumingMemoryBound(to: UInt8.self))
        state.pointee.avail_in = UInt32(given)
        state.pointee.next_out = into.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_out = UInt32(into.count)
        let result = deflate(state, ends ? Z_FINISH : Z_NO_FLUSH)
        guard [Z_OK, Z_BUF_ERROR, Z_STREAM_END].contains(result) else { throw failure("error \(result) of zlib") }
        return (given - Int(state.pointee.avail_in), into.count - Int(state.pointee.avail_out), result == Z_STREAM_END)
    }
}

/// Writes one xz stream with a CRC-64.
private final class XzSink: OutputSink {
    private let state: UnsafeMutablePointer<lzma_stream>

    init(_ stream: StreamOut, _ effort: Compression.Effort) throws(FirnError) {
        state = .allocate(capacity: 1)
        state.initialize(to: lzma_stream())
        super.init(stream)
        // The levels above 6 need more than 100 MiB of memory. The highest bit is LZMA_PRESET_EXTREME.
        let preset: UInt32 =
            switch effort {
            case .fast: 1
            case .standard: 6
            case .small: 6 | 1 << 31
            }
        guard lzma_easy_encoder(state, preset, LZMA_CHECK_CRC64) == LZMA_OK else { throw failure() }
    }

    deinit {
        lzma_end(state)
        state.deallocate()
    }

    override func code(
        _ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer, ends: Bool
    ) throws(FirnError) -> (read: Int, written: Int, isDone: Bool) {
        state.pointee.next_in = from.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_in = from.count
        state.pointee.next_out = into.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_out = into.count
        let result = lzma_code(state, ends ? LZMA_FINISH : LZMA_RUN)
        guard [LZMA_OK, LZMA_BUF_ERROR, LZMA_STREAM_END].contains(result) else { throw failure("error \(result.rawValue) of liblzma") }
        return (from.count - state.pointee.avail_in, into.count - state.pointee.avail_out, result == LZMA_STREAM_END)
    }
}

/// Writes one bzip2 stream.
private final class Bzip2Sink: OutputSink {
    private let state: UnsafeMutablePointer<bz_stream>

    init(_ stream: StreamOut, _ effort: Compression.Effort) throws(FirnError) {
        state = .allocate(capacity: 1)
        state.initialize(to: bz_stream())
        super.init(stream)
        guard BZ2_bzCompressInit(state, effort == .fast ? 1 : 9, 0, 0) == BZ_OK else { throw failure() }
    }

    deinit {
        BZ2_bzCompressEnd(state)
        state.deallocate()
    }

    override func code(
        _ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer, ends: Bool
    ) throws(FirnError) -> (read: Int, written: Int, isDone: Bool) {
        let given = min(from.count, 1 << 30)
        state.pointee.next_in = UnsafeMutablePointer(mutating: from.baseAddress?.assumingMemoryBound(to: CChar.self))
        state.pointee.avail_in = UInt32(given)
        state.pointee.next_out = into.baseAddress?.assumingMemoryBound(to: CChar.self)
        state.pointee.avail_out = UInt32(into.count)
        let result = BZ2_bzCompress(state, ends ? BZ_FINISH : BZ_RUN)
        guard [BZ_RUN_OK, BZ_FINISH_OK, BZ_STREAM_END].contains(result) else { throw failure("error \(result) of bzip2") }
        return (given - Int(state.pointee.avail_in), into.count - Int(state.pointee.avail_out), result == BZ_STREAM_END)
    }
}
