import FirnExchange

/// Reads values that columns hold as text, to store them as Parquet does: the reverse of `LogicalText`.
enum WrittenText {
    /// Returns the units of a time of day since midnight; nil if the text is no time of day, or has more digits than the unit.
    static func time(_ text: [UInt8], _ perSecond: Int64) -> Int64? {
        guard text.count >= 8, text[2] == UInt8(ascii: ":"), text[5] == UInt8(ascii: ":") else { return nil }
        func pair(_ at: Int) -> Int64? {
            guard 48...57 ~= text[at], 48...57 ~= text[at + 1] else { return nil }
            return Int64(text[at] - 48) * 10 + Int64(text[at + 1] - 48)
        }
        guard let hours = pair(0), let minutes = pair(3), let seconds = pair(6), hours < 24, minutes < 60, seconds < 60 else { return nil }
        var scale = perSecond, fraction: Int64 = 0
        if text.count > 8 {
            guard text[8] == UInt8(ascii: "."), text.count > 9 else { return nil }
            for byte in text[9...] {
                guard 48...57 ~= byte else { return nil }
                scale /= 10
                guard scale > 0 || byte == 48 else { return nil }
                fraction += Int64(byte - 48) * scale
            }
        }
        return ((hours * 60 + minutes) * 60 + seconds) * perSecond + fraction
    }

    /// Returns the parts of an ISO 8601 duration such as `P1Y2M3DT4H5M6.5S`; nil if the text is none, or if a part does not fit.
    static func interval(_ text: [UInt8]) -> (months: UInt32, days: UInt32, milliseconds: UInt32)? {
        guard text.first == UInt8(ascii: "P"), text.count > 2 else { return nil }
        var months: UInt64 = 0, days: UInt64 = 0, milliseconds: UInt64 = 0, isTime = false
        var number: UInt64 = 0, digits = 0, decimals: Int?
        for byte in text.dropFirst() {
            switch byte {
            case 48...57:
                guard digits < 12 else { return nil }
                digits += 1
                number = number * 10 + UInt64(byte - 48)
                if let count = decimals { decimals = count + 1 }
            case UInt8(ascii: "."), UInt8(ascii: ","):
                guard isTime, decimals == nil, digits > 0 else { return nil }
                decimals = 0
            case UInt8(ascii: "T"):
                guard !isTime, digits == 0 else { return nil }
                isTime = true
            default:
                guard digits > 0, decimals == nil || byte == UInt8(ascii: "S") else { return nil }
                switch (byte, isTime) {
                case (UInt8(ascii: "Y"), false): months += number * 12
                case (UInt8(ascii: "M"), false): months += number
                case (UInt8(ascii: "W"), false): days += number * 7
                case (UInt8(ascii: "D"), false): days += number
                case (UInt8(ascii: "H"), true): milliseconds += number * 3_600_000
                case (UInt8(ascii: "M"), true): milliseconds += number * 60_000
                case (UInt8(ascii: "S"), true):
                    var places = decimals ?? 0
                    while places > 3 {
                        guard number % 10 == 0 else { return nil }
                        number /= 10
                        places -= 1
                    }
                    for _ in places..<3 { number *= 10 }
                    milliseconds += number
                default: return nil
                }
                (number, digits, decimals) = (0, 0, nil)
            }
        }
        guard digits == 0, let months = UInt32(exactly: months), let days = UInt32(exactly: days),
            let milliseconds = UInt32(exactly: milliseconds)
        else { return nil }
        return (months, days, milliseconds)
    }

    /// Returns a number with `scale` digits after the point as a signed big-endian number of `length` bytes, in units of its last digit;
    /// nil if the text is none, has more digits after the point that are not zeros, or does not fit.
    static func number(_ text: [UInt8], scale: Int, length: Int) -> [UInt8]? {
        var rest = text[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        var bytes = [UInt8](repeating: 0, count: length), places: Int?, hasDigit = false
        // Multiplies by ten and adds a digit. Returns false if the number needs more bytes.
        func add(_ digit: UInt8) -> Bool {
            var carry = Int(digit)
            for i in bytes.indices.reversed() {
                carry += Int(bytes[i]) * 10
                bytes[i] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
            return carry == 0
        }
        for byte in rest {
            if byte == UInt8(ascii: "."), places == nil {
                places = 0
                continue
            }
            guard 48...57 ~= byte else { return nil }
            hasDigit = true
            if let count = places {
                if count == scale {
                    guard byte == 48 else { return nil }
                    continue
                }
                places = count + 1
            }
            guard add(byte - 48) else { return nil }
        }
        guard hasDigit else { return nil }
        for _ in (places ?? 0)..<scale { guard add(0) else { return nil } }
        guard bytes.first.map({ $0 < 0x80 }) ?? false else { return nil }
        guard isNegative else { return bytes }
        var carry = 1
        for i in bytes.indices.reversed() {
            carry += Int(~bytes[i])
            bytes[i] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        return bytes
    }
}
