/// Base64 encoding of bytes (RFC 4648).
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var group: UInt32 = 0
            for (i, byte) in part.enumerated() { group |= UInt32(byte) << UInt32(16 - 8 * i) }
            for i in 0..<4 { out.append(i <= part.count ? letters[Int(group >> UInt32(18 - 6 * i)) & 63] : UInt8(ascii: "=")) }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Returns nil if a byte is not in the alphabet or the length is impossible. Accepts the URL-safe alphabet; padding is optional.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        let body = text.prefix { $0 != UInt8(ascii: "=") }
        guard text.count - body.count <= 2, text[body.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }), body.count % 4 != 1 else {
            return nil
        }
        var out: [UInt8] = []
        var group: UInt32 = 0, bits = 0
        for byte in body {
            let value: UInt8
            switch byte {
            case 65...90: value = byte - 65
            case 97...122: value = byte - 71
            case 48...57: value = byte + 4
            case 43, 45: value = 62
            case 47, 95: value = 63
            default: return nil
            }
            group = (group << 6 | UInt32(value)) & 0xFFFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
            }
        }
        return out
    }
}
