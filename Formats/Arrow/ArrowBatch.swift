import CLZ4
import CZstd
import FirnBytes
import FirnExchange
import Synchronization

/// A batch with its buffers: rows, or values of a dictionary. A buffer that is not compressed is used where it is.
final class ArrowBatch: @unchecked Sendable {
    let header: ArrowBatchHeader
    /// The dictionaries that the batch refers to.
    let dictionaries: ArrowDictionaries
    /// The position among the batches of the file or stream, for errors.
    let index: Int
    private let body: UnsafeRawBufferPointer
    private let bodyOffset: Int
    /// The objects to whose memory the header and the body belong.
    private let owners: [AnyObject]
    /// The buffers, if they are not parts of a body.
    private let given: [UnsafeRawBufferPointer]?
    private let unpacked: Mutex<State> = Mutex(State())

    private struct State {
        var buffers: [Int: ChargedMemory] = [:]
        /// The nodes whose run ends were checked.
        var checked: Set<Int> = []
    }

    var rowCount: Int { header.rowCount }

    init(
        _ header: ArrowBatchHeader, index: Int, body: UnsafeRawBufferPointer, at bodyOffset: Int, owners: [AnyObject],
        dictionaries: ArrowDictionaries
    ) {
        self.header = header
        self.index = index
        self.body = body
        self.bodyOffset = bodyOffset
        self.owners = owners
        self.dictionaries = dictionaries
        given = nil
    }

    /// A batch of buffers that another library of the process owns, as long as `owner` exists.
    init(_ header: ArrowBatchHeader, index: Int, buffers: [UnsafeRawBufferPointer], owner: AnyObject, dictionaries: ArrowDictionaries) {
        self.header = header
        self.index = index
        body = UnsafeRawBufferPointer(start: nil, count: 0)
        bodyOffset = 0
        owners = [owner]
        given = buffers
        self.dictionaries = dictionaries
    }

    /// A buffer, and its offset in the file. The bytes are valid as long as the batch.
    struct Buffer {
        var bytes: UnsafeRawBufferPointer
        var offset: Int
        var count: Int { bytes.count }
    }

    private func stored(_ index: Int) throws(ArrowFault) -> Buffer {
        if let given {
            guard given.indices.contains(index) else { throw ArrowFault("a batch has too few buffers") }
            return Buffer(bytes: given[index], offset: 0)
        }
        let (start, count) = try header.range(index)
        guard start >= 0, count >= 0, start <= Int64(body.count), count <= Int64(body.count) - start else {
            throw ArrowFault("a buffer of \(count) bytes at \(start) is outside the batch of \(body.count) bytes", at: header.offset)
        }
        let range = Int(start)..<Int(start + count)
        return Buffer(bytes: UnsafeRawBufferPointer(rebasing: body[range]), offset: bodyOffset + range.lowerBound)
    }

    /// Returns the bytes of a buffer.
    func buffer(_ index: Int) throws(ArrowFault) -> Buffer {
        let stored = try stored(index)
        guard let codec = header.codec, stored.count > 0 else { return stored }
        if let known = unpacked.withLock({ $0.buffers[index] }) { return Buffer(bytes: .init(known.bytes), offset: stored.offset) }
        guard let size = try ArrowBatch.unpackedSize(stored) else {
            return Buffer(bytes: UnsafeRawBufferPointer(rebasing: stored.bytes[8...]), offset: stored.offset + 8)
        }
        let memory = try ArrowBatch.unpack(stored, codec, size)
        // Another thread may have done the same.
        return unpacked.withLock { state in
            let kept = state.buffers[index] ?? memory
            state.buffers[index] = kept
            return Buffer(bytes: .init(kept.bytes), offset: stored.offset)
        }
    }

    /// The size at the start of a compressed buffer; nil if the rest is not compressed.
    private static func unpackedSize(_ stored: Buffer) throws(ArrowFault) -> Int? {
        guard stored.count >= 8 else { throw ArrowFault("a compressed buffer has \(stored.count) bytes", at: stored.offset) }
        let size = Int64(littleEndian: stored.bytes.loadUnaligned(as: Int64.self))
        if size == -1 { return nil }
        guard size >= 0, let fits = Int(exactly: size) else { throw ArrowFault("a buffer has \(size) bytes", at: stored.offset) }
        return fits
    }

    /// The number of bytes of all buffers, as far as it is stated.
    var plainBytes: Int {
        if let given { return given.reduce(0) { $0 &+ $1.count } }
        guard header.codec != nil else { return body.count }
        var sum = 0
        for index in 0..<header.bufferCount {
            guard let buffer = try? stored(index), buffer.count > 0 else { continue }
            sum = sum &+ min(1 << 40, (try? ArrowBatch.unpackedSize(buffer)) ?? buffer.count)
        }
        return max(sum, 0)
    }

    private static func unpack(_ stored: Buffer, _ codec: ArrowFormat.Codec, _ size: Int) throws(ArrowFault) -> ChargedMemory {
        let from = UnsafeRawBufferPointer(rebasing: stored.bytes[8...])
        // LZ4 cannot reach more; it is not allocated first.
        guard codec != .lz4 || size / 260 <= from.count else {
            throw ArrowFault("the compressed buffer is damaged: \(from.count) bytes cannot become \(size)", at: stored.offset)
        }
        let memory = try ChargedMemory(size, "a buffer")
        switch codec {
        case .zstd:
            let length = ZSTD_decompress(memory.bytes.baseAddress, size, from.baseAddress, from.count)
            guard ZSTD_isError(length) == 0 else {
                let name = String(cString: ZSTD_getErrorName(length))
                throw ArrowFault("the compressed buffer is damaged: \(name)", at: stored.offset)
            }
            guard length == size else {
                throw ArrowFault("the compressed buffer has \(length) bytes instead of \(size)", at: stored.offset)
            }
        case .lz4: try unpackFrame(from, memory.bytes, at: stored.offset)
        }
        return memory
    }

    private static func unpackFrame(_ from: UnsafeRawBufferPointer, _ out: UnsafeMutableRawBufferPointer, at offset: Int)
        throws(ArrowFault)
    {
        var context: OpaquePointer?
        guard LZ4F_isError(LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))) == 0, let context else {
            throw ArrowFault("out of memory", code: .outOfMemory)
        }
        defer { LZ4F_freeDecompressionContext(context) }
        guard let source = from.baseAddress, let target = out.baseAddress else { throw ArrowFault("an empty buffer", at: offset) }
        var read = 0, written = 0
        while true {
            var more = from.count - read, room = out.count - written
            let hint = LZ4F_decompress(context, target + written, &room, source + read, &more, nil)
            guard LZ4F_isError(hint) == 0 else {
                let name = String(cString: LZ4F_getErrorName(hint))
                throw ArrowFault("the compressed buffer is damaged: \(name)", at: offset)
            }
            read += more
            written += room
            if hint == 0 { break }
            // Neither input is left nor room: the frame is longer or shorter than stated.
            if more == 0, room == 0 { throw ArrowFault("the compressed buffer has other than \(out.count) bytes", at: offset) }
        }
        guard written == out.count else {
            throw ArrowFault("the compressed buffer has \(written) bytes instead of \(out.count)", at: offset)
        }
    }

    /// Runs a check of a node once.
    func checkOnce(_ node: Int, _ check: () throws(ArrowFault) -> Void) throws(ArrowFault) {
        if unpacked.withLock({ $0.checked.contains(node) }) { return }
        try check()
        _ = unpacked.withLock { $0.checked.insert(node) }
    }
}
