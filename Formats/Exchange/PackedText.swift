import CZstd
import FirnBytes

/// Text that is stored compressed: a Zstandard frame with its size, as base64.
package enum PackedText {
    /// Returns nil if compressing fails for lack of memory.
    package static func pack(_ text: [UInt8]) -> String? {
        let bound = ZSTD_compressBound(text.count)
        var length = 0
        let frame = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            length = text.withBytes { ZSTD_compress(buffer.baseAddress, bound, $0.baseAddress, $0.count, 9) }
            count = ZSTD_isError(length) == 0 ? length : 0
        }
        return frame.isEmpty ? nil : Base64.text(frame)
    }

    /// Returns nil for text that `pack` did not write, or if the budget has no memory for the result.
    package static func unpack(_ text: String, _ budget: MemoryBudget) -> [UInt8]? {
        guard let frame = Base64.bytes(Array(text.utf8), .exact) else { return nil }
        let size = frame.withBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        // Larger sizes mean that there is none, or that this is not a frame.
        guard size <= 1 << 33 else { return nil }
        let charge = MemoryCharge(budget)
        guard charge.take(Int(size)) else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let length = frame.withBytes { ZSTD_decompress(buffer.baseAddress, Int(size), $0.baseAddress, $0.count) }
            count = ZSTD_isError(length) == 0 ? length : 0
        }
        return bytes.count == Int(size) ? bytes : nil
    }
}
