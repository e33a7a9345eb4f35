import FirnBytes

/// Compresses byte strings as zstd frames without magic number, size or checksum. The caller must store the size and a hash.
package enum Frame {
    /// Compresses bytes at a level of 1 … 19. Deterministic: the same bytes and level give the same frame.
    package static func compress(_ bytes: [UInt8], level: Int) -> [UInt8] {
        var frame: [UInt8] = []
        bytes.withUnsafeBytes { _ = PageCompressor(level: level).compress($0, into: &frame) }
        return frame
    }

    /// Decompresses a frame. The caller must bound `size` first, because up to `size` bytes are allocated.
    /// - Throws: `Damage` if the frame does not decompress to exactly `size` bytes, or (`isUnread`) if there is not enough memory.
    package static func expand(_ frame: UnsafeRawBufferPointer, size: Int) throws(Damage) -> [UInt8] {
        try PageDecompressor.inflate(frame, size: size)
    }
}
