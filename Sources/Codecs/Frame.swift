import FirnBytes

/// Whole byte strings as zstd frames without magic number, size or checksum: whoever stores them keeps the size and a hash.
package enum Frame {
    /// Deterministic for a level of 1 … 19.
    package static func compress(_ bytes: [UInt8], level: Int) -> [UInt8] {
        var frame: [UInt8] = []
        bytes.withUnsafeBytes { _ = PageCompressor(level: level).compress($0, into: &frame) }
        return frame
    }

    /// The bytes of a frame that must come to exactly `size`; `Damage` if they do not. Bound `size` before: memory is taken for it.
    package static func expand(_ frame: UnsafeRawBufferPointer, size: Int) throws(Damage) -> [UInt8] {
        try PageDecompressor.inflate(frame, size: size)
    }
}
