import FirnModel

/// Results are rounded to 34 digits, to the nearest, ties to even. Division by zero gives an infinity or NaN.
extension Decimal128: SignedNumeric {
    public typealias Magnitude = Decimal128

    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored + b.stored) }
    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored - b.stored) }
    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored * b.stored) }
    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored / b.stored) }
    public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }
    public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }
    public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
    public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }

    /// The same digits with the other sign.
    public static prefix func - (a: Decimal128) -> Decimal128 {
        Decimal128(FirnModel.Decimal(high: a.stored.high ^ signBit, low: a.stored.low))
    }

    public mutating func negate() { self = -self }

    /// The same digits without the sign.
    public var magnitude: Decimal128 { Decimal128(FirnModel.Decimal(high: stored.high & ~Decimal128.signBit, low: stored.low)) }

    private static var signBit: UInt64 { 1 << 63 }
}

extension Decimal128: Strideable {
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    public func advanced(by n: Decimal128) -> Decimal128 { self + n }
}

extension Decimal128: Hashable, Comparable {
    /// By value: 1.0 equals 1.00, -0 equals 0, NaN equals NaN.
    public static func == (a: Decimal128, b: Decimal128) -> Bool { Value.order(.decimal(a.stored), .decimal(b.stored)) == 0 }
    /// By value; NaN is less than every number.
    public static func < (a: Decimal128, b: Decimal128) -> Bool { Value.order(.decimal(a.stored), .decimal(b.stored)) < 0 }

    // The four are one total order. Strideable offers others, by distance, which NaN and infinities would spoil.
    public static func <= (a: Decimal128, b: Decimal128) -> Bool { !(b < a) }
    public static func >= (a: Decimal128, b: Decimal128) -> Bool { !(a < b) }
    public static func > (a: Decimal128, b: Decimal128) -> Bool { b < a }

    public func hash(into hasher: inout Hasher) {
        if isNaN {
            hasher.combine(UInt8(0))
        } else if isInfinite {
            hasher.combine(UInt8(1))
            hasher.combine(stored.high >> 63)
        } else {
            hashFinite(into: &hasher)
        }
    }

    /// Numbers of equal value differ in the zeros at the end of their digits alone, and in the sign of zero.
    private func hashFinite(into hasher: inout Hasher) {
        // Digits beyond 34, and those of the wide form, stand for zero.
        let isWide = stored.high & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000
        var digits = UInt128(stored.high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(stored.low)
        guard !isWide, digits != 0, digits <= Decimal128.maxDigits else {
            hasher.combine(UInt8(2))
            return
        }
        var exponent = stored.high >> 49 & 0x3FFF
        while digits & 1 == 0 {
            let (quotient, rest) = digits.quotientAndRemainder(dividingBy: 10)
            if rest != 0 { break }
            digits = quotient
            exponent += 1
        }
        hasher.combine(UInt8(3))
        hasher.combine(stored.high >> 63)
        hasher.combine(exponent)
        hasher.combine(UInt64(truncatingIfNeeded: digits >> 64))
        hasher.combine(UInt64(truncatingIfNeeded: digits))
    }

    /// 34 nines.
    private static var maxDigits: UInt128 { UInt128(0x1_ED09_BEAD_87C0) << 64 | 0x378D_8E63_FFFF_FFFF }
}
