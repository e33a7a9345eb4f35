import CZlib
import CZstd
import FirnBytes
import FirnDisk

private func damaged(_ stream: StreamIn, _ what: String) -> FirnError {
    FirnError(.rejected, "the compressed data is \(what)", at: .init(file: stream.path, byte: stream.position))
}

/// Zstandard frames one after another.
final class ZstdSource: Source {
    private let stream: StreamIn
    private let context: OpaquePointer
    private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
    private var used = 0
    /// Within a frame: the data must go on.
    private var inFrame = true

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
                // An empty piece at the end of the data: what the context still holds comes out with it.
            }
            var source = ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: used)
            let before = out.pos
            let result = ZSTD_decompressStream(context, &out, &source)
            if ZSTD_isError(result) != 0 { throw damaged(stream, "damaged: " + String(cString: ZSTD_getErrorName(result))) }
            used = source.pos
            if piece.isEmpty, out.pos == before {
                if inFrame { throw damaged(stream, "cut short") }
                break
            }
            if piece.count > 0 || result == 0 { inFrame = result != 0 }
        }
        return out.pos
    }
}

/// Gzip members one after another.
final class GzipSource: Source {
    private let stream: StreamIn
    private let state: UnsafeMutablePointer<z_stream>
    private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
    private var used = 0
    private var inMember = true

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
            case Z_STREAM_END: inMember = false
            case Z_OK, Z_BUF_ERROR: break
            default: throw damaged(stream, "damaged")
            }
        }
        return done
    }
}
