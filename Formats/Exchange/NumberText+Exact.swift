/// Exact comparison of numbers with their text, for any number of digits.
extension NumberText {
    /// A number other than zero: digits × 10^power, without trailing zeros.
    private struct Parts {
        var isNegative: Bool
        var digits: [UInt8]
        var power: Int

        /// Parses an optional sign, digits with at most one point among them, and an optional exponent. Returns nil for other texts, for
        /// zeros and for more than 800 digits.
        init?(_ text: UnsafeRawBufferPointer) {
            guard text.count <= 1024 else { return nil }
            var at = 0, power = 0, digits: [UInt8] = [], hasPoint = false
            isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
            if isNegative || text.count > 0 && text[0] == UInt8(ascii: "+") { at = 1 }
            while at < text.count {
                let digit = text[at] &- 48
                if digit <= 9 {
                    if digit > 0 || !digits.isEmpty { digits.append(digit) }
                    if hasPoint { power -= 1 }
                } else if text[at] == UInt8(ascii: "."), !hasPoint {
                    hasPoint = true
                } else {
                    break
                }
                at += 1
            }
            if at < text.count {
                guard text[at] | 32 == UInt8(ascii: "e"), let exponent = parseInt64(UnsafeRawBufferPointer(rebasing: text[(at + 1)...])),
                    abs(exponent) < 10_000
                else { return nil }
                power += Int(exponent)
            }
            while digits.last == 0 {
                digits.removeLast()
                power += 1
            }
            guard !digits.isEmpty, digits.count <= 800 else { return nil }
            self.digits = digits
            self.power = power
        }
    }

    /// Returns the whole number that a text such as `1.0`, `1e3` or `9223372036854775807.0` denotes; nil for other numbers and for a
    /// negative zero, which would be written as 0.
    package static func wholeNumber(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard let parts = Parts(text) else {
            guard text.first != UInt8(ascii: "-"), let value = parseDouble(text), value == 0, !text.contains(where: { $0 > 48 && $0 <= 57 })
            else { return nil }
            return 0
        }
        guard parts.power >= 0, parts.digits.count + parts.power <= 19 else { return nil }
        var value: UInt64 = 0
        for digit in parts.digits { value = value * 10 + UInt64(digit) }
        value *= wholePowersOfTen[parts.power]
        if parts.isNegative { return value <= 1 << 63 ? 0 &- Int64(bitPattern: value) : nil }
        return Int64(exactly: value)
    }

    /// Whether the text denotes exactly the value of the double: `0.5`, and `0.1000000000000000055511151231257827021181583404541015625` for
    /// 0.1.
    package static func isExactly(_ text: UnsafeRawBufferPointer, _ value: Double) -> Bool {
        guard value.isFinite, value != 0, let parts = Parts(text), parts.isNegative == (value < 0), abs(parts.power) <= 1100 else {
            return false
        }
        // value = mantissa × 2^exponent with an odd mantissa; text = digits × 2^power × 5^power.
        var mantissa = value.magnitude.significandBitPattern, exponent = Int(value.exponent) - 52
        if value.isNormal { mantissa |= 1 << 52 } else { exponent = -1074 }
        exponent += mantissa.trailingZeroBitCount
        mantissa >>= UInt64(mantissa.trailingZeroBitCount)
        var ours = Big(mantissa), theirs = Big(0)
        for digit in parts.digits { theirs.multiply(by: 10, adding: UInt32(digit)) }
        let fives = abs(parts.power)
        for _ in 0..<fives { if parts.power > 0 { theirs.multiply(by: 5, adding: 0) } else { ours.multiply(by: 5, adding: 0) } }
        let twos = theirs.removeTwos()
        return twos + parts.power == exponent && ours == theirs
    }

    /// A whole number of any size.
    private struct Big: Equatable {
        private var limbs: [UInt32]

        init(_ value: UInt64) {
            limbs = [UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32)]
            trim()
        }

        mutating func multiply(by factor: UInt32, adding more: UInt32) {
            var carry = UInt64(more)
            for i in limbs.indices {
                let product = UInt64(limbs[i]) * UInt64(factor) + carry
                limbs[i] = UInt32(truncatingIfNeeded: product)
                carry = product >> 32
            }
            if carry > 0 { limbs.append(UInt32(carry)) }
        }

        /// Divides by the highest power of two that is a factor, and returns its exponent.
        mutating func removeTwos() -> Int {
            guard let first = limbs.firstIndex(where: { $0 != 0 }) else { return 0 }
            let bits = limbs[first].trailingZeroBitCount
            limbs.removeFirst(first)
            if bits > 0 {
                for i in limbs.indices {
                    limbs[i] = limbs[i] >> UInt32(bits) | (i + 1 < limbs.count ? limbs[i + 1] << UInt32(32 - bits) : 0)
                }
            }
            trim()
            return first * 32 + bits
        }

        private mutating func trim() { while limbs.last == 0 { limbs.removeLast() } }
    }
}
