import FirnTable

/// Results are rounded to 34 digits, to nearest with ties to even. Division by zero gives an infinity or NaN.
extension Decimal128: SignedNumeric {
    /// The type of the absolute value: `Decimal128` itself.
    public typealias Magnitude = Decimal128

    /// Returns the sum, rounded to 34 digits.
    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored + b.stored) }
    /// Returns the difference, rounded to 34 digits.
    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored - b.stored) }
    /// Returns the product, rounded to 34 digits.
    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored * b.stored) }
    /// Returns the quotient, rounded to 34 digits; an infinity or NaN if `b` is zero.
    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 { Decimal128(a.stored / b.stored) }
    /// Adds `b` to `a` and rounds the sum to 34 digits.
    public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }
    /// Subtracts `b` from `a` and rounds the difference to 34 digits.
    public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }
    /// Multiplies `a` by `b` and rounds the product to 34 digits.
    public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
    /// Divides `a` by `b` and rounds the quotient to 34 digits. The result is an infinity or NaN if `b` is zero.
    public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }

    /// Returns the number with the opposite sign and the same digits.
    public static prefix func - (a: Decimal128) -> Decimal128 {
        Decimal128(FirnTable.Decimal(high: a.stored.high ^ signBit, low: a.stored.low))
    }

    /// Reverses the sign.
    public mutating func negate() { self = -self }

    /// The number without its sign, with the same digits.
    public var magnitude: Decimal128 { Decimal128(FirnTable.Decimal(high: stored.high & ~Decimal128.signBit, low: stored.low)) }

    private static var signBit: UInt64 { 1 << 63 }
}

extension Decimal128: Strideable {
    /// Returns `other - self`.
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    /// Returns `self + n`.
    public func advanced(by n: Decimal128) -> Decimal128 { self + n }
}

extension Decimal128: Hashable, Comparable {
    /// Compares by value: 1.0 equals 1.00, -0 equals 0, NaN equals NaN.
    public static func == (a: Decimal128, b: Decimal128) -> Bool { Value.order(.decimal(a.stored), .decimal(b.stored)) == 0 }
    /// Compares by value; NaN is less than every number.
    public static func < (a: Decimal128, b: Decimal128) -> Bool { Value.order(.decimal(a.stored), .decimal(b.stored)) < 0 }

    // These operators form one total order. Strideable would provide others that use distances, which are wrong for NaN and infinities.
    /// Compares by value; NaN is less than every number and equal to itself.
    public static func <= (a: Decimal128, b: Decimal128) -> Bool { !(b < a) }
    /// Compares by value; every number is greater than NaN, and NaN is equal to itself.
    public static func >= (a: Decimal128, b: Decimal128) -> Bool { !(a < b) }
    /// Compares by value; every number is greater than NaN.
    public static func > (a: Decimal128, b: Decimal128) -> Bool { b < a }

    /// Hashes the value: 1.0 and 1.00 have the same hash, and so have -0 and 0, and all NaNs.
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

    /// Hashes a finite number. Numbers of equal value differ only in trailing zeros of their digits, and in the sign of zero.
    private func hashFinite(into hasher: inout Hasher) {
        // Digits beyond 34, and those of the wide form, represent zero.
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
