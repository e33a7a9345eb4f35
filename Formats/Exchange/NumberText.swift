/// Formats and parses numbers. The functions that write need memory for `NumberText.room` bytes and return the number of bytes written.
/// Every finite double that `writePlain` writes reads back with the same bits.
@usableFromInline
package enum NumberText {
    /// The maximum length of a number that is written here, in bytes.
    package static let room = 48

    // MARK: Whole numbers

    package static func write(_ value: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        if value < 0 {
            out[0] = UInt8(ascii: "-")
            return 1 &+ write(value.magnitude, to: out + 1)
        }
        return write(UInt64(bitPattern: value), to: out)
    }

    package static func write(_ value: UInt64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        guard value >= 100_000_000 else {
            let digits = eightDigits(UInt32(truncatingIfNeeded: value)), zeros = min(digits.trailingZeroBitCount / 8, 7)
            store((digits | asciiZeros) &>> UInt64(8 &* zeros), to: out)
            return 8 &- zeros
        }
        let high = value / 100_000_000, count = write(high, to: out)
        store(eightDigits(UInt32(truncatingIfNeeded: value &- high &* 100_000_000)) | asciiZeros, to: out + count)
        return count &+ 8
    }

    static let asciiZeros: UInt64 = 0x3030_3030_3030_3030

    /// Returns the eight decimal digits of a number below 100,000,000 as bytes, the first one in the lowest byte. All digits are found at the
    /// same time: the halves are divided by 100, then the quarters by 10.
    @inline(__always)
    static func eightDigits(_ value: UInt32) -> UInt64 {
        let high = value / 10_000, low = value &- high &* 10_000
        var parts = UInt64(high) | UInt64(low) &<< 32
        let hundreds = (parts &* 10_486) &>> 20 & 0x7F_0000_007F
        parts = hundreds | (parts &- hundreds &* 100) &<< 16
        let tens = (parts &* 103) &>> 10 & 0x000F_000F_000F_000F
        return tens | (parts &- tens &* 10) &<< 8
    }

    /// Stores eight characters, the first one from the lowest byte.
    @inline(__always)
    static func store(_ text: UInt64, to out: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(out).storeBytes(of: text.littleEndian, as: UInt64.self)
    }

    /// Writes exactly `digits` digits, with leading zeros. Higher digits of the value are dropped.
    @inline(__always)
    static func writePadded(_ value: UInt64, digits: Int, to out: UnsafeMutablePointer<UInt8>) {
        var rest = value, at = digits
        while at >= 2 {
            let next = rest / 100
            let pair = UInt32(truncatingIfNeeded: rest &- next &* 100)
            let tens = (pair &* 103) &>> 10
            at &-= 2
            out[at] = UInt8(truncatingIfNeeded: tens &+ 48)
            out[at &+ 1] = UInt8(truncatingIfNeeded: pair &- tens &* 10 &+ 48)
            rest = next
        }
        if at == 1 { out[0] = UInt8(truncatingIfNeeded: rest % 10 &+ 48) }
    }

    @inline(__always)
    static func digitCount(_ value: UInt64) -> Int {
        var count = 1, limit: UInt64 = 10
        while value >= limit {
            count &+= 1
            if count == 20 { break }
            limit &*= 10
        }
        return count
    }

    /// Parses an optional sign and digits. Returns nil for other texts and for values outside the range of `Int64`.
    package static func parseInt64(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var at = 0
        let negative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        if negative || (bytes.count > 0 && bytes[0] == UInt8(ascii: "+")) { at = 1 }
        while at < bytes.count &- 1, bytes[at] == UInt8(ascii: "0") { at &+= 1 }
        guard at < bytes.count, bytes.count &- at <= 19 else { return nil }
        var value: UInt64 = 0
        while at < bytes.count {
            let digit = bytes[at] &- 48
            if digit > 9 { return nil }
            value = value &* 10 &+ UInt64(digit)
            at &+= 1
        }
        if negative { return value <= 1 &<< 63 ? 0 &- Int64(bitPattern: value) : nil }
        return value < 1 &<< 63 ? Int64(bitPattern: value) : nil
    }

    // MARK: Doubles

    /// Writes the shortest text that reads back with the same bits: whole numbers without a point, an exponent (`1e21`, `1e-7`) from 1e21
    /// on and below 1e-6, and `NaN`, `inf` and `-inf` for values that are not finite.
    package static func writePlain(_ value: Double, to out: UnsafeMutablePointer<UInt8>) -> Int {
        guard value.isFinite else { return writeNonFinite(value, to: out) }
        var at = 0
        if value.sign == .minus {
            out[0] = UInt8(ascii: "-")
            at = 1
        }
        let x = value.magnitude
        if x < 9_007_199_254_740_992, x == x.rounded(.towardZero) { return at &+ write(UInt64(x), to: out + at) }
        if x >= 1e-6, x < 1e15 {
            // A decimal of at most 15 digits that rounds to x is the only one, and so the shortest.
            var digits = 1
            while digits <= 21 {
                let scaled = (x * powersOfTen[digits]).rounded()
                if scaled >= 1e15 { break }
                if scaled / powersOfTen[digits] == x { return at &+ writeScaled(UInt64(scaled), digits: digits, to: out + at) }
                digits &+= 1
            }
        }
        return at &+ writeFromDescription(x, to: out + at)
    }

    /// Writes like `writePlain`, except that whole numbers below 1e21 end in `.0`.
    package static func writePointZero(_ value: Double, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let count = writePlain(value, to: out)
        guard value.isFinite, value.magnitude < 1e21, value == value.rounded(.towardZero) else { return count }
        out[count] = UInt8(ascii: ".")
        out[count &+ 1] = UInt8(ascii: "0")
        return count &+ 2
    }

    /// Writes like `writePlain` or `writePointZero`, except that values below 1e-4 and from 1e16 on have an exponent with a sign and at least
    /// two digits.
    package static func writeTwoDigitExponent(_ value: Double, pointZero: Bool, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let x = value.magnitude
        guard x.isFinite, x != 0, x < 1e-4 || x >= 1e16 else {
            return pointZero ? writePointZero(value, to: out) : writePlain(value, to: out)
        }
        let start = value.sign == .minus ? 1 : 0
        if start == 1 { out[0] = UInt8(ascii: "-") }
        return start + writeFromDescription(x, hasTwoDigitExponent: true, to: out + start)
    }

    /// Writes exactly `digits` digits after the point if that reads back with the same bits; otherwise writes like `writePlain`.
    package static func write(_ value: Double, fixed digits: Int, to out: UnsafeMutablePointer<UInt8>) -> Int {
        guard digits >= 1, digits <= 22 else { return writePlain(value, to: out) }
        let power = powersOfTen[digits], product = value.magnitude * power
        guard product < 9_007_199_254_740_991 else { return writePlain(value, to: out) }
        // The nearest whole number, which the next line verifies.
        let scaled = Int64(product + 0.5)
        guard Double(scaled) / power == value.magnitude else { return writePlain(value, to: out) }
        var at = 0
        if value.sign == .minus {
            out[0] = UInt8(ascii: "-")
            at = 1
        }
        return at &+ writeScaled(UInt64(scaled), digits: digits, to: out + at)
    }

    /// Writes value / 10^digits with exactly that many digits after the point.
    @inline(__always)
    private static func writeScaled(_ value: UInt64, digits: Int, to out: UnsafeMutablePointer<UInt8>) -> Int {
        if digits < 8, value < 100_000_000 {
            let found = eightDigits(UInt32(truncatingIfNeeded: value))
            // At least one digit is before the point.
            let zeros = min(found.trailingZeroBitCount / 8, 7 &- digits), whole = 8 &- zeros &- digits
            let text = (found | asciiZeros) &>> UInt64(8 &* zeros)
            store(text, to: out)
            store(text &>> UInt64(8 &* whole), to: out + whole + 1)
            out[whole] = UInt8(ascii: ".")
            return whole &+ 1 &+ digits
        }
        // 10^20 and more exceed UInt64. Then the whole part is 0, because the value is below 2^53.
        let power = digits < 20 ? wholePowersOfTen[digits] : UInt64.max
        let whole = value / power
        let count = write(whole, to: out)
        out[count] = UInt8(ascii: ".")
        writePadded(value &- whole &* power, digits: digits, to: out + count + 1)
        return count &+ 1 &+ digits
    }

    private static func writeNonFinite(_ value: Double, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let text: StaticString = value.isNaN ? "NaN" : value < 0 ? "-inf" : "inf"
        out.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        return text.utf8CodeUnitCount
    }

    /// Arranges the digits that the standard library finds (shortest, closest) in the form of `writePlain`, or with an exponent of at least
    /// two digits.
    private static func writeFromDescription(
        _ x: Double, hasTwoDigitExponent: Bool = false, to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var text = x.description
        return text.withUTF8 { source in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
                var count = 0, point = -1, exponent = 0, at = 0
                while at < source.count {
                    let byte = source[at]
                    at += 1
                    if byte == UInt8(ascii: ".") {
                        point = count
                    } else if byte == UInt8(ascii: "e") {
                        exponent = Int(parseInt64(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: source[at...]))) ?? 0)
                        break
                    } else if count < 32, count > 0 || byte != UInt8(ascii: "0") {
                        digits[count] = byte
                        count += 1
                    } else if point >= 0 {
                        exponent -= 1  // a zero between the point and the first digit
                    }
                }
                // The value is 0.d1d2d3… × 10^power.
                let power = (point < 0 ? count : point) + exponent
                while count > 1, digits[count - 1] == UInt8(ascii: "0") { count -= 1 }
                let found = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(digits)[..<count])
                return layOut(found, power: power, hasTwoDigitExponent: hasTwoDigitExponent, to: out)
            }
        }
    }

    private static func layOut(
        _ digits: UnsafeBufferPointer<UInt8>, power: Int, hasTwoDigitExponent: Bool, to out: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var at = 0
        func put(_ byte: UInt8) {
            out[at] = byte
            at += 1
        }
        if hasTwoDigitExponent || power > 21 || power < -5 {
            put(digits[0])
            if digits.count > 1 { put(UInt8(ascii: ".")) }
            for digit in digits.dropFirst() { put(digit) }
            put(UInt8(ascii: "e"))
            if hasTwoDigitExponent {
                put(UInt8(ascii: power < 1 ? "-" : "+"))
                let size = UInt64((power - 1).magnitude), count = max(2, digitCount(size))
                writePadded(size, digits: count, to: out + at)
                return at + count
            }
            return at + write(Int64(power - 1), to: out + at)
        }
        if power <= 0 {
            put(UInt8(ascii: "0"))
            put(UInt8(ascii: "."))
            for _ in 0..<(-power) { put(UInt8(ascii: "0")) }
            for digit in digits { put(digit) }
            return at
        }
        for (i, digit) in digits.enumerated() {
            if i == power { put(UInt8(ascii: ".")) }
            put(digit)
        }
        if power > digits.count { for _ in digits.count..<power { put(UInt8(ascii: "0")) } }
        return at
    }

    /// Parses an optional sign, digits with at most one point among or around them, and an optional exponent; also `NaN`, `inf`, `-inf`.
    /// Returns the nearest double; nil if the text is something else or exceeds the largest double.
    package static func parseDouble(_ bytes: UnsafeRawBufferPointer) -> Double? {
        let count = bytes.count
        var at = 0
        let negative = count > 0 && bytes[0] == UInt8(ascii: "-")
        if negative || (count > 0 && bytes[0] == UInt8(ascii: "+")) { at = 1 }
        var mantissa: UInt64 = 0, digits = 0, fraction = 0, seen = 0
        while at < count {
            let digit = bytes[at] &- 48
            if digit > 9 { break }
            mantissa = mantissa &* 10 &+ UInt64(digit)
            if mantissa != 0 { digits &+= 1 }
            seen &+= 1
            at &+= 1
        }
        if at < count, bytes[at] == UInt8(ascii: ".") {
            at &+= 1
            while at < count {
                let digit = bytes[at] &- 48
                if digit > 9 { break }
                mantissa = mantissa &* 10 &+ UInt64(digit)
                if mantissa != 0 { digits &+= 1 }
                fraction &+= 1
                seen &+= 1
                at &+= 1
            }
        }
        guard seen > 0 else { return parseNonFinite(bytes) }
        var exponent = 0
        if at < count, bytes[at] | 32 == UInt8(ascii: "e") {
            guard let value = parseInt64(UnsafeRawBufferPointer(rebasing: bytes[(at &+ 1)...])) else { return nil }
            exponent = Int(max(-100_000, min(100_000, value)))
            at = count
        }
        guard at == count else { return nil }
        exponent &-= fraction
        if digits <= 19, mantissa <= 9_007_199_254_740_992, exponent >= -22, exponent <= 22 {
            let value = exponent < 0 ? Double(mantissa) / powersOfTen[0 &- exponent] : Double(mantissa) * powersOfTen[exponent]
            return negative ? -value : value
        }
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    private static func parseNonFinite(_ bytes: UnsafeRawBufferPointer) -> Double? {
        if bytes.elementsEqual("NaN".utf8) { return .nan }
        if bytes.elementsEqual("inf".utf8) { return .infinity }
        if bytes.elementsEqual("-inf".utf8) { return -.infinity }
        return nil
    }
}

let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]
let wholePowersOfTen: [UInt64] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
    1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000,
    100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
]
