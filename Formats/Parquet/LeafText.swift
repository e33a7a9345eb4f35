import FirnBytes
import FirnTable

/// Writes values that are kept as text, because no kind of column holds them.
enum LeafText {
    /// Appends a time of day as `HH:MM:SS`, a point and the digits of the unit. Returns false if it is not a time of day.
    static func append(time: Int64, _ unit: ParquetFormat.Unit, to text: inout Text) -> Bool {
        guard time >= 0, time < 86_400 * unit.perSecond else { return false }
        let seconds = time / unit.perSecond
        let fraction = time % unit.perSecond
        for (i, part) in [seconds / 3600, seconds / 60 % 60, seconds % 60].enumerated() {
            if i > 0 { text.bytes.append(UInt8(ascii: ":")) }
            text.bytes.append(UInt8(48 + part / 10))
            text.bytes.append(UInt8(48 + part % 10))
        }
        text.bytes.append(UInt8(ascii: "."))
        var scale = unit.perSecond / 10
        while scale > 0 {
            text.bytes.append(UInt8(48 + fraction / scale % 10))
            scale /= 10
        }
        text.offsets.append(text.bytes.count)
        return true
    }

    /// Appends months, days and milliseconds as an ISO 8601 duration, such as `P14M3DT4.5S`.
    static func append(months: UInt32, days: UInt32, milliseconds: UInt32, to text: inout Text) {
        var out = "P"
        if months > 0 { out += "\(months)M" }
        if days > 0 { out += "\(days)D" }
        if milliseconds > 0 || months == 0 && days == 0 {
            out += "T\(milliseconds / 1000)"
            if milliseconds % 1000 > 0 {
                var digits = "\(milliseconds % 1000 + 1000)".dropFirst()
                while digits.last == "0" { digits.removeLast() }
                out += "." + digits
            }
            out += "S"
        }
        text.append(out)
    }

    /// Appends a decimal of any number of digits: a signed big-endian number with `scale` digits after the point.
    static func append(decimal bytes: UnsafeRawBufferPointer, scale: Int, to text: inout Text) {
        let isNegative = (bytes.first ?? 0) >= 0x80
        // The magnitude, in units of 32 bits, the lowest first.
        var units = [UInt32](repeating: 0, count: (bytes.count + 3) / 4), carry: UInt64 = isNegative ? 1 : 0
        for (i, byte) in bytes.reversed().enumerated() { units[i / 4] |= UInt32(isNegative ? ~byte : byte) << UInt32(i % 4 * 8) }
        for i in units.indices where carry > 0 {
            let sum = UInt64(units[i]) + carry
            units[i] = UInt32(truncatingIfNeeded: sum)
            carry = sum >> 32
        }
        if carry > 0 { units.append(1) }
        // The digits, the lowest first.
        var digits: [UInt8] = []
        while let highest = units.lastIndex(where: { $0 != 0 }) {
            var rest: UInt64 = 0
            for i in stride(from: highest, through: 0, by: -1) {
                let part = rest << 32 | UInt64(units[i])
                units[i] = UInt32(part / 1_000_000_000)
                rest = part % 1_000_000_000
            }
            units.removeLast(units.count - highest - 1)
            for _ in 0..<9 {
                digits.append(UInt8(48 + rest % 10))
                rest /= 10
            }
        }
        while let last = digits.last, last == 48, digits.count > scale + 1 { digits.removeLast() }
        while digits.count <= scale { digits.append(48) }
        if isNegative { text.bytes.append(UInt8(ascii: "-")) }
        for (i, digit) in digits.enumerated().reversed() {
            text.bytes.append(digit)
            if i == scale, scale > 0 { text.bytes.append(UInt8(ascii: ".")) }
        }
        text.offsets.append(text.bytes.count)
    }
}
