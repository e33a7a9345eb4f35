import FirnTable

/// Formats UUIDs and object ids as hexadecimal text, and parses UUIDs.
@usableFromInline
package enum IdentifierText {
    package enum LetterCase: Sendable { case lower, upper, none }

    /// Writes a UUID: 36 bytes.
    package static func write(uuid value: Identifier, upper: Bool, to out: UnsafeMutablePointer<UInt8>) {
        var at = 0
        for i in 0..<32 {
            if i == 8 || i == 12 || i == 16 || i == 20 {
                out[at] = UInt8(ascii: "-")
                at &+= 1
            }
            out[at] = digit(i < 16 ? value.high : value.low, i & 15, width: 16, upper)
            at &+= 1
        }
    }

    /// Writes an object id: 24 bytes.
    package static func write(objectID value: Identifier, to out: UnsafeMutablePointer<UInt8>) {
        for i in 0..<16 { out[i] = digit(value.high, i, width: 16, false) }
        for i in 0..<8 { out[16 &+ i] = digit(value.low, i, width: 8, false) }
    }

    /// Parses `8-4-4-4-12` hexadecimal digits, all letters in one case. Returns nil for anything else.
    package static func parseUUID(_ bytes: UnsafeRawBufferPointer) -> (value: Identifier, letters: LetterCase)? {
        guard bytes.count == 36, bytes[8] == 45, bytes[13] == 45, bytes[18] == 45, bytes[23] == 45 else { return nil }
        var high: UInt64 = 0, low: UInt64 = 0, cases: UInt8 = 0, at = 0
        for i in 0..<32 {
            if i == 8 || i == 12 || i == 16 || i == 20 { at &+= 1 }
            let byte = bytes[at]
            at &+= 1
            let value: UInt8
            switch byte {
            case 48...57: value = byte &- 48
            case 97...102: (value, cases) = (byte &- 87, cases | 1)
            case 65...70: (value, cases) = (byte &- 55, cases | 2)
            default: return nil
            }
            if i < 16 { high = high &<< 4 | UInt64(value) } else { low = low &<< 4 | UInt64(value) }
        }
        guard cases != 3 else { return nil }
        return (Identifier(high: high, low: low), cases == 0 ? .none : cases == 1 ? .lower : .upper)
    }

    @inline(__always)
    private static func digit(_ value: UInt64, _ index: Int, width: Int, _ upper: Bool) -> UInt8 {
        let nibble = UInt8(truncatingIfNeeded: value &>> UInt64(truncatingIfNeeded: (width &- 1 &- index) &* 4)) & 15
        return nibble < 10 ? nibble &+ 48 : nibble &+ (upper ? 55 : 87)
    }
}
