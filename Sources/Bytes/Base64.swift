/// Base64 text (RFC 4648).
package enum Base64 {
    /// Which texts can be decoded.
    package enum Form: Sendable {
        /// Exactly the text that `append` writes: padded, and without set bits after the last byte.
        case exact
        /// The alphabet for URLs is accepted too, padding is optional, and bits after the last byte are ignored.
        case lenient
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Appends the padded text of `bytes`.
    package static func append(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.reserveCapacity(out.count + (bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0, size = 0
        func writeGroup() {
            for i in 0..<4 { out.append(i <= size ? digits[Int(group >> UInt32(18 - 6 * i)) & 63] : UInt8(ascii: "=")) }
            (group, size) = (0, 0)
        }
        for byte in bytes {
            group |= UInt32(byte) << UInt32(16 - 8 * size)
            size += 1
            if size == 3 { writeGroup() }
        }
        if size > 0 { writeGroup() }
    }

    /// Appends the padded text of `bytes`.
    package static func append(_ bytes: [UInt8], to out: inout [UInt8]) { bytes.withUnsafeBytes { append($0, to: &out) } }

    /// Returns the padded text of `bytes`.
    package static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        append(bytes, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Returns the bytes of a text; nil if it does not have the form.
    package static func bytes(_ text: UnsafeRawBufferPointer, _ form: Form) -> [UInt8]? {
        let body = text.prefix { $0 != UInt8(ascii: "=") }, padding = text.dropFirst(body.count)
        guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }), body.count % 4 != 1 else { return nil }
        guard form == .lenient || text.count % 4 == 0 else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(body.count / 4 * 3 + 2)
        var group: UInt32 = 0, bits: UInt32 = 0
        for byte in body {
            guard let digit = digit(byte, form) else { return nil }
            group = (group << 6 | digit) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        // Other bits would not survive a round trip.
        return form == .exact && group & (1 << bits - 1) != 0 ? nil : out
    }

    /// Returns the bytes of a text; nil if it does not have the form.
    package static func bytes(_ text: [UInt8], _ form: Form) -> [UInt8]? { text.withUnsafeBytes { bytes($0, form) } }

    private static func digit(_ byte: UInt8, _ form: Form) -> UInt32? {
        switch byte {
        case 65...90: UInt32(byte) - 65
        case 97...122: UInt32(byte) - 71
        case 48...57: UInt32(byte) + 4
        case 43: 62
        case 47: 63
        case 45 where form == .lenient: 62
        case 95 where form == .lenient: 63
        default: nil
        }
    }
}
