import FirnBytes
import FirnTable

/// Writes and reads values that are kept as text, because no kind of column holds them.
package enum LogicalText {
    /// Appends a time of day as `HH:MM:SS`, a point and the digits of the unit. Returns false if it is not a time of day.
    package static func append(time: Int64, _ unit: TimeUnit, to text: inout Text) -> Bool {
        guard time >= 0, time < 86_400 * unit.perSecond else { return false }
        let seconds = time / unit.perSecond, fraction = time % unit.perSecond
        for (i, part) in [seconds / 3600, seconds / 60 % 60, seconds % 60].enumerated() {
            if i > 0 { text.bytes.append(UInt8(ascii: ":")) }
            text.bytes.append(UInt8(48 + part / 10))
            text.bytes.append(UInt8(48 + part % 10))
        }
        if unit.digits > 0 { text.bytes.append(UInt8(ascii: ".")) }
        var scale = unit.perSecond / 10
        while scale > 0 {
            text.bytes.append(UInt8(48 + fraction / scale % 10))
            scale /= 10
        }
        text.offsets.append(text.bytes.count)
        return true
    }

    /// Returns a time of day as a number of units; nil if the text is not one, or has digits that the unit cannot express.
    package static func time(_ text: UnsafeRawBufferPointer, _ unit: TimeUnit) -> Int64? {
        func two(_ at: Int) -> Int64? {
            guard at + 2 <= text.count, 48...57 ~= text[at], 48...57 ~= text[at + 1] else { return nil }
            return Int64(text[at] - 48) * 10 + Int64(text[at + 1] - 48)
        }
        guard let hour = two(0), let minute = two(3), let second = two(6), text[2] == 58, text[5] == 58, hour < 24, minute < 60, second < 60
        else { return nil }
        var nanoseconds: Int64 = 0, scale: Int64 = 100_000_000
        if text.count > 8 {
            guard text[8] == 46, text.count > 9, text.count <= 18 else { return nil }
            for byte in text[9...] {
                guard 48...57 ~= byte else { return nil }
                nanoseconds += Int64(byte - 48) * scale
                scale /= 10
            }
        }
        let perUnit = 1_000_000_000 / unit.perSecond
        guard nanoseconds % perUnit == 0 else { return nil }
        return (hour * 3600 + minute * 60 + second) * unit.perSecond + nanoseconds / perUnit
    }

    /// Appends months, days and a time as an ISO 8601 duration, such as `P14M3DT4.5S`. Each part can be negative.
    package static func append(months: Int64, days: Int64, nanoseconds: Int128, to text: inout Text) {
        var out = "P"
        if months != 0 { out += "\(months)M" }
        if days != 0 { out += "\(days)D" }
        if nanoseconds != 0 || months == 0 && days == 0 {
            let magnitude = nanoseconds.magnitude
            out += "T" + (nanoseconds < 0 ? "-" : "") + "\(magnitude / 1_000_000_000)"
            if magnitude % 1_000_000_000 > 0 {
                var digits = "\(magnitude % 1_000_000_000 + 1_000_000_000)".dropFirst()
                while digits.last == "0" { digits.removeLast() }
                out += "." + digits
            }
            out += "S"
        }
        text.append(out)
    }

    /// Reads an ISO 8601 duration as months, days and nanoseconds; nil if the text is none, or does not fit.
    package static func interval(_ text: UnsafeRawBufferPointer) -> (months: Int32, days: Int32, nanoseconds: Int64)? {
        guard text.first == UInt8(ascii: "P"), text.count > 1 else { return nil }
        var months: Int64 = 0, days: Int64 = 0, nanoseconds: Int64 = 0, at = 1, isTime = false, hasPart = false
        while at < text.count {
            if text[at] == UInt8(ascii: "T"), !isTime {
                isTime = true
                at += 1
                continue
            }
            let isNegative = text[at] == UInt8(ascii: "-")
            if isNegative { at += 1 }
            var whole: Int64 = 0, fraction: Int64 = 0, digits = 0, isFraction = false
            while at < text.count, 48...57 ~= text[at] || text[at] == UInt8(ascii: ".") {
                if text[at] == UInt8(ascii: ".") {
                    guard !isFraction else { return nil }
                    isFraction = true
                } else if isFraction {
                    guard digits < 9 || text[at] == 48 else { return nil }
                    if digits < 9 { fraction = fraction * 10 + Int64(text[at] - 48) }
                    digits = min(digits + 1, 9)
                } else {
                    guard whole < 1 << 58 else { return nil }
                    whole = whole * 10 + Int64(text[at] - 48)
                }
                at += 1
            }
            guard at < text.count, text[at - 1] != UInt8(ascii: "-") else { return nil }
            for _ in digits..<9 { fraction *= 10 }
            guard let (part, amount) = LogicalText.part(text[at], isTime, whole, fraction, isFraction: isFraction) else { return nil }
            let signed = isNegative ? -amount : amount
            switch part {
            case 0: months += signed
            case 1: days += signed
            default:
                let (sum, overflow) = nanoseconds.addingReportingOverflow(signed)
                guard !overflow else { return nil }
                nanoseconds = sum
            }
            guard abs(months) < 1 << 40, abs(days) < 1 << 40 else { return nil }
            hasPart = true
            at += 1
        }
        guard hasPart, let m = Int32(exactly: months), let d = Int32(exactly: days) else { return nil }
        return (m, d, nanoseconds)
    }

    /// Returns which part a letter stands for (months, days, nanoseconds), and the amount in it.
    private static func part(_ letter: UInt8, _ isTime: Bool, _ whole: Int64, _ fraction: Int64, isFraction: Bool) -> (Int, Int64)? {
        let names: [UInt8: (Int, Int64)] =
            isTime
            ? [UInt8(ascii: "H"): (2, 3600), UInt8(ascii: "M"): (2, 60), UInt8(ascii: "S"): (2, 1)]
            : [UInt8(ascii: "Y"): (0, 12), UInt8(ascii: "M"): (0, 1), UInt8(ascii: "W"): (1, 7), UInt8(ascii: "D"): (1, 1)]
        guard let (part, factor) = names[letter], !isFraction || letter == UInt8(ascii: "S") else { return nil }
        let (amount, overflow) = whole.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        guard part == 2 else { return (part, amount) }
        let (scaled, tooLong) = amount.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, tooLarge) = scaled.addingReportingOverflow(fraction)
        return tooLong || tooLarge ? nil : (part, sum)
    }

    /// Appends a decimal of any number of digits: a signed number with `scale` digits after the point.
    package static func append(decimal bytes: UnsafeRawBufferPointer, isBigEndian: Bool = false, scale: Int, to text: inout Text) {
        let isNegative = ((isBigEndian ? bytes.first : bytes.last) ?? 0) >= 0x80
        // The magnitude, in units of 32 bits, the lowest first.
        var units = [UInt32](repeating: 0, count: (bytes.count + 3) / 4), carry: UInt64 = isNegative ? 1 : 0
        for i in bytes.indices {
            let byte = bytes[isBigEndian ? bytes.count - 1 - i : i]
            units[i / 4] |= UInt32(isNegative ? ~byte : byte) << UInt32(i % 4 * 8)
        }
        for i in units.indices where carry > 0 {
            let sum = UInt64(units[i]) + carry
            units[i] = UInt32(truncatingIfNeeded: sum)
            carry = sum >> 32
        }
        if carry > 0 { units.append(1) }
        // The digits, the lowest first.
        var digits: [UInt8] = scale < 0 && units.contains { $0 != 0 } ? [UInt8](repeating: 48, count: -scale) : []
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
        let point = max(scale, 0)
        while let last = digits.last, last == 48, digits.count > point + 1 { digits.removeLast() }
        while digits.count <= point { digits.append(48) }
        if isNegative { text.bytes.append(UInt8(ascii: "-")) }
        for (i, digit) in digits.enumerated().reversed() {
            text.bytes.append(digit)
            if i == point, point > 0 { text.bytes.append(UInt8(ascii: ".")) }
        }
        text.offsets.append(text.bytes.count)
    }
}
