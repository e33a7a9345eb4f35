/// Divides integers by a power of ten up to 10^4 with two multiplications. The result equals that of IEEE division, several times as fast.
///
/// 1 / power is split into `high`, its first 21 bits, and `low`, the rest. For |k| ≤ 2^32, k · high is exact and the error of k · low is
/// below 2^-72 of the quotient, so their sum is rounded once. It is rounded to the same double as the quotient unless a midpoint of two
/// doubles is between the sum and the quotient. k / power is never a midpoint itself (5^d times 54 odd bits exceed the bits of k), so it
/// differs from the nearest midpoint by at least 2^-54 / power of its value, which is more than 2^-68.
struct DecimalScale {
    let high: Double, low: Double

    init(_ power: Double) {
        high = Double(bitPattern: (1 / power).bitPattern & ~0xFFFF_FFFF)
        // high · power has 35 bits, its difference to 1 fewer: both are exact.
        low = (1 - high * power) / power
    }

    /// Replaces n integers by their quotients in place. Returns false and changes nothing if the magnitude of one of them is too large.
    func divide(_ words: UnsafeMutableRawPointer, _ n: Int) -> Bool {
        var bits: UInt64 = 0
        for i in 0..<n { bits |= words.load(fromByteOffset: i &* 8, as: UInt64.self) &+ 1 << 32 }
        guard bits < 1 << 33 else { return false }
        // Adding the integers to the bits of 1.5 · 2^52 gives doubles whose low bits are these integers.
        let magic: Int64 = 0x4338_0000_0000_0000, base = 0x1.8p52
        var i = 0
        while i &+ 4 <= n {
            let four = words.loadUnaligned(fromByteOffset: i &* 8, as: SIMD4<Int64>.self) &+ SIMD4(repeating: magic)
            let numbers = unsafeBitCast(four, to: SIMD4<Double>.self) - SIMD4(repeating: base)
            words.storeBytes(
                of: numbers * SIMD4(repeating: high) + numbers * SIMD4(repeating: low), toByteOffset: i &* 8, as: SIMD4<Double>.self)
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
