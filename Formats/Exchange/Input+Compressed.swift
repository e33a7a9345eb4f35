import CZlib
import CZstd
import FirnBytes
import FirnDisk

private func damaged(_ stream: StreamIn, _ what: String, byte: UInt64? = nil) -> FirnError {
    FirnError(.damaged, "the compressed data is \(what)", at: .init(file: stream.path, byte: byte ?? stream.position))
}

/// `byte` is the end of the last frame or member.
private func trailing(_ stream: StreamIn, _ format: String, byte: UInt64) -> FirnError {
    FirnError(
        .damaged, "the compressed data is followed by bytes that are not \(format)", at: .init(file: stream.path, byte: byte),
        advice: "delete everything from that byte on if it does not belong to the data")
}

/// Decompresses consecutive Zstandard frames.
final class ZstdSource: InputSource {
    private let stream: StreamIn
    private let context: OpaquePointer
    private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
    private var used = 0
    /// Whether the position is within a frame, so that the data must not end here.
    private var inFrame = true
    /// The end of the last complete frame; nil within the first one.
    private var end: UInt64?

    init(_ stream: StreamIn) throws(FirnError) {
        guard let context = ZSTD_createDStream() else { throw FirnError(.inputOutput, "out of memory", at: .init(file: stream.path)) }
        self.stream = stream
        self.context = context
        super.init()
    }

    deinit { ZSTD_freeDStream(context) }

    override var taken: UInt64 { stream.position - UInt64(piece.count - used) }

    override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var out = ZSTD_outBuffer(dst: into.baseAddress, size: into.count, pos: 0)
        while out.pos < out.size {
            if used == piece.count {
                piece = try stream.next()
                used = 0
                // An empty piece marks the end of the data; the context may still hold output.
            }
            var source = ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: used)
            let before = out.pos
            let result = ZSTD_decompressStream(context, &out, &source)
            if ZSTD_isError(result) != 0 {
                if let end, ZSTD_getErrorCode(result) == ZSTD_error_prefix_unknown { throw trailing(stream, "Zstandard", byte: end) }
                throw damaged(stream, "damaged: " + String(cString: ZSTD_getErrorName(result)), byte: taken)
            }
            used = source.pos
            if piece.isEmpty, out.pos == before {
                if inFrame { throw damaged(stream, "cut short") }
                break
            }
            if piece.count > 0 || result == 0 { inFrame = result != 0 }
            if result == 0 { end = taken }
        }
        return out.pos
    }
}

/// Decompresses consecutive gzip members. Zeros may pad the last one (to whole blocks, as on tapes).
final class GzipSource: InputSource {
    private let stream: StreamIn
    private let state: UnsafeMutablePointer<z_stream>
    private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
    private var used = 0
    private var inMember = true
    /// The end of the last complete member; nil within the first one.
    private var end: UInt64?
    /// Whether zeros follow the last member. Then nothing else may follow.
    private var isPadding = false

    init(_ stream: StreamIn) throws(FirnError) {
        self.stream = stream
        state = .allocate(capacity: 1)
        state.initialize(to: z_stream())
        super.init()
        guard inflateInit2_(state, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw FirnError(.inputOutput, "out of memory", at: .init(file: stream.path))
        }
    }

    deinit {
        inflateEnd(state)
        state.deallocate()
    }

    override var taken: UInt64 { stream.position - UInt64(piece.count - used) }

    override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = 0
        while done < into.count {
            if used == piece.count {
                piece = try stream.next()
                used = 0
                if piece.isEmpty {
                    if inMember { throw damaged(stream, "cut short") }
                    break
                }
            }
            if !inMember {
                if isPadding || piece[used] == 0 {
                    isPadding = true
                    guard let other = piece[used...].firstIndex(where: { $0 != 0 }) else {
                        used = piece.count
                        continue
                    }
                    used = other
                    throw trailing(stream, "gzip", byte: taken)
                }
                guard piece[used] == 0x1F else { throw trailing(stream, "gzip", byte: taken) }
                inflateReset(state)
                inMember = true
            }
            // zlib counts in 32 bits.
            let room = min(into.count - done, 1 << 30)
            state.pointee.next_in = UnsafeMutablePointer(mutating: piece.baseAddress!.assumingMemoryBound(to: UInt8.self) + used)
            state.pointee.avail_in = UInt32(piece.count - used)
            state.pointee.next_out = into.baseAddress!.assumingMemoryBound(to: UInt8.self) + done
            state.pointee.avail_out = UInt32(room)
            let result = inflate(state, Z_NO_FLUSH)
            used = piece.count - Int(state.pointee.avail_in)
            done += room - Int(state.pointee.avail_out)
            switch result {
            case Z_STREAM_END:
                inMember = false
                end = taken
            case Z_OK, Z_BUF_ERROR: break
            case Z_DATA_ERROR where state.pointee.total_out == 0 && end != nil && state.pointee.total_in < 10:
                throw trailing(stream, "gzip", byte: end!)
            default: throw damaged(stream, "damaged", byte: taken)
            }
        }
        return done
    }
}
