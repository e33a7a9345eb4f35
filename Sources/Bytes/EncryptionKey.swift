/// The key of an encrypted file: 64 bytes.
package struct EncryptionKey: Hashable, Sendable {
    package static let count = 64
    package let bytes: [UInt8]

    /// Returns nil if there are not exactly 64 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == EncryptionKey.count else { return nil }
        self.bytes = bytes
    }

    /// Reads the contents of a key file or of a variable: the 64 bytes, or 128 hexadecimal digits with any white space between them (tools
    /// that print digits break lines).
    /// Returns nil for anything else.
    package init?(written: [UInt8]) {
        if let key = EncryptionKey(written) {
            self = key
            return
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }
        let digits = written.filter { !isSpace($0) }
        guard digits.count == 2 * EncryptionKey.count else { return nil }
        var bytes: [UInt8] = [], high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x41...0x46: value = digit - 0x41 + 10
            case 0x61...0x66: value = digit - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self.init(bytes)
    }
}
