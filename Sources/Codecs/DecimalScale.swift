/// Division of whole numbers by a power of ten up to 10^4 by two products, with the result that division has: several times as fast.
///
/// 1 / power is split into `high`, its first 21 bits, and `low`, the rest. For |k| ≤ 2^32, k · high is exact and k · low off by less than
/// 2^-72 of the quotient, so that their sum is rounded once. It is rounded as the quotient is unless a middle between two doubles lies between
/// sum and quotient; but k / power is never such a middle itself (5^d times 54 odd bits are more than k has) and then lies 2^-54 / power of
/// itself away from the nearest at least, which is more than 2^-68.
struct DecimalScale {
    let high: Double, low: Double

    init(_ power: Double) {
        high = Double(bitPattern: (1 / power).bitPattern & ~0xFFFF_FFFF)
        // high · power has 35 bits, the difference to one fewer: both exact.
        low = (1 - high * power) / power
    }

    /// Turns n words into numbers in their place; false, and nothing done, if one of them is too large for that.
    func divide(_ words: UnsafeMutableRawPointer, _ n: Int) -> Bool {
        var bits: UInt64 = 0
        for i in 0..<n { bits |= words.load(fromByteOffset: i &* 8, as: UInt64.self) &+ 1 << 32 }
        guard bits < 1 << 33 else { return false }
        // The words as the low bits of doubles between 2^52 and 2^53.
        let magic: Int64 = 0x4338_0000_0000_0000, base = 0x1.8p52
        var i = 0
        while i &+ 4 <= n {
            let four = words.loadUnaligned(fromByteOffset: i &* 8, as: SIMD4<Int64>.self) &+ SIMD4(repeating: magic)
            let numbers = unsafeBitCast(four, to: SIMD4<Double>.self) - SIMD4(repeating: base)
            words.storeBytes(of: numbers * SIMD4(repeating: high) + numbers * SIMD4(repeating: low), toByteOffset: i &* 8, as: SIMD4<Double>.self)
            i &+= 4
        }
        while i < n {
            let number = Double(words.load(fromByteOffset: i &* 8, as: Int64.self))
            words.storeBytes(of: number * high + number * low, toByteOffset: i &* 8, as: Double.self)
            i &+= 1
        }
        return true
    }
}
