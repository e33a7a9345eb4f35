/// Numbers of IEEE 754 in 16 bits; Float16 is not available on all platforms.
package enum HalfPrecision {
    @inlinable package static func value(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 31), fraction = Double(bits & 1023)
        let magnitude: Double =
            exponent == 0
            ? fraction * 0x1p-24
            : exponent == 31
                ? (fraction == 0 ? .infinity : .nan) : (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        return bits >> 15 == 1 ? -magnitude : magnitude
    }

    /// Returns the nearest number, ties to even; too large ones are infinite.
    @inlinable package static func bits(_ value: Double) -> UInt16 {
        let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
        if value.isNaN { return sign | 0x7E00 }
        let magnitude = abs(value)
        if magnitude >= 65_520 { return sign | 0x7C00 }
        if magnitude < 0x1p-14 { return sign | UInt16((magnitude * 0x1p24).rounded(.toNearestOrEven)) }
        let exponent = Int(magnitude.exponent), scaled = (magnitude * Double(sign: .plus, exponent: 10 - exponent, significand: 1))
        let fraction = Int(scaled.rounded(.toNearestOrEven))
        // Rounding up can lead to the next exponent, which the sum expresses.
        return sign | UInt16(((exponent + 15) << 10) + (fraction - 1024))
    }
}
