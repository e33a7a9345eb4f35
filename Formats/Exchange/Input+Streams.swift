import CBzip2
import CLZMA
import FirnBytes
import FirnDisk

/// Decompresses formats that consist of streams one after the other, as xz and bzip2. Zeros may pad the last stream. Subclasses decode one
/// stream.
class StreamedSource: InputSource {
    enum Step { case more, end, damaged(String) }

    fileprivate let stream: StreamIn
    private let format: Compression
    private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
    private var used = 0
    private var inStream = true
    /// Whether zeros follow the last stream. Then only another stream may follow.
    private var isPadded = false

    fileprivate init(_ stream: StreamIn, _ format: Compression) {
        self.stream = stream
        self.format = format
        super.init()
    }

    final override var taken: UInt64 { stream.position - UInt64(piece.count - used) }

    /// Begins a stream.
    fileprivate func begin() throws(FirnError) { trap("subclasses of StreamedSource override begin()") }

    /// Decodes some bytes. Returns what follows and how many bytes were consumed and written.
    fileprivate func decode(_ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer) throws(FirnError) -> (
        step: Step, read: Int, written: Int
    ) { trap("subclasses of StreamedSource override decode(_:into:)") }

    final override func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = 0
        while done < into.count {
            if used == piece.count {
                piece = try stream.next()
                used = 0
                if piece.isEmpty {
                    if inStream { throw damaged("cut short") }
                    break
                }
            }
            if !inStream {
                guard let start = piece[used...].firstIndex(where: { $0 != 0 }) else {
                    used = piece.count
                    continue
                }
                used = start
                try beginNext(piece[start])
            }
            // Both libraries count in 32 bits or more.
            let room = UnsafeMutableRawBufferPointer(rebasing: into[done..<min(into.count, done + 1 << 30)])
            let (step, read, written) = try decode(UnsafeRawBufferPointer(rebasing: piece[used...]), into: room)
            used += read
            done += written
            switch step {
            case .more where read == 0 && written == 0: throw damaged("damaged")
            case .more: break
            case .end: inStream = false
            case .damaged(let what): throw damaged(what)
            }
        }
        return done
    }

    private func beginNext(_ first: UInt8) throws(FirnError) {
        guard first == (format == .xz ? 0xFD : UInt8(ascii: "B")) else {
            throw FirnError(
                .damaged, "the compressed data is followed by bytes that are not \(format.name)",
                at: .init(file: stream.path, byte: taken),
                advice: "delete everything from that byte on if it does not belong to the data")
        }
        try begin()
        inStream = true
    }

    private func damaged(_ what: String) -> FirnError {
        FirnError(.damaged, "the compressed data is \(what)", at: .init(file: stream.path, byte: taken))
    }

    fileprivate func outOfMemory(_ what: String = "out of memory") -> FirnError {
        FirnError(.outOfMemory, what, at: .init(file: stream.path))
    }
}

/// Decompresses consecutive xz streams. The memory that a stream needs is limited.
final class XzSource: StreamedSource {
    private let state: UnsafeMutablePointer<lzma_stream>
    private let limit: Int

    init(_ stream: StreamIn, limit: Int) throws(FirnError) {
        state = .allocate(capacity: 1)
        state.initialize(to: lzma_stream())
        self.limit = limit
        super.init(stream, .xz)
        try begin()
    }

    deinit {
        lzma_end(state)
        state.deallocate()
    }

    override fileprivate func begin() throws(FirnError) {
        guard lzma_stream_decoder(state, UInt64(max(limit, 1)), 0) == LZMA_OK else { throw outOfMemory() }
    }

    override fileprivate func decode(_ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer) throws(FirnError) -> (
        step: Step, read: Int, written: Int
    ) {
        state.pointee.next_in = from.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_in = from.count
        state.pointee.next_out = into.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_out = into.count
        let result = lzma_code(state, LZMA_RUN), read = from.count - state.pointee.avail_in
        let written = into.count - state.pointee.avail_out
        switch result {
        case LZMA_OK, LZMA_BUF_ERROR: return (.more, read, written)
        case LZMA_STREAM_END: return (.end, read, written)
        case LZMA_MEM_ERROR: throw outOfMemory()
        case LZMA_MEMLIMIT_ERROR:
            var refusal = outOfMemory(
                "unpacking the xz data needs \(lzma_memusage(state) >> 20) MiB of memory, and the limit is \(limit >> 20) MiB")
            refusal.advice = "raise the limit with --memory"
            throw refusal
        case LZMA_OPTIONS_ERROR: return (.damaged("damaged, or made with options of xz that are not known"), read, written)
        default: return (.damaged("damaged"), read, written)
        }
    }
}

/// Decompresses consecutive bzip2 streams.
final class Bzip2Source: StreamedSource {
    private let state: UnsafeMutablePointer<bz_stream>

    init(_ stream: StreamIn) throws(FirnError) {
        state = .allocate(capacity: 1)
        state.initialize(to: bz_stream())
        super.init(stream, .bzip2)
        try begin()
    }

    deinit {
        BZ2_bzDecompressEnd(state)
        state.deallocate()
    }

    override fileprivate func begin() throws(FirnError) {
        // Without a stream, this does nothing.
        BZ2_bzDecompressEnd(state)
        state.pointee = bz_stream()
        guard BZ2_bzDecompressInit(state, 0, 0) == BZ_OK else { throw outOfMemory() }
    }

    override fileprivate func decode(_ from: UnsafeRawBufferPointer, into: UnsafeMutableRawBufferPointer) throws(FirnError) -> (
        step: Step, read: Int, written: Int
    ) {
        let given = min(from.count, 1 << 30)
        state.pointee.next_in = UnsafeMutablePointer(mutating: from.baseAddress?.assumingMemoryBound(to: CChar.self))
        state.pointee.avail_in = UInt32(given)
        state.pointee.next_out = into.baseAddress?.assumingMemoryBound(to: CChar.self)
        state.pointee.avail_out = UInt32(into.count)
        let result = BZ2_bzDecompress(state), read = given - Int(state.pointee.avail_in)
        let written = into.count - Int(state.pointee.avail_out)
        switch result {
        case BZ_OK: return (.more, read, written)
        case BZ_STREAM_END: return (.end, read, written)
        case BZ_MEM_ERROR: throw outOfMemory()
        default: return (.damaged("damaged"), read, written)
        }
    }
}
