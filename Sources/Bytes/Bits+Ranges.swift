/// Tests which values of a vector are in `low ... high`.
///
/// Each function writes one word for every 64 values to `out`. The bits after the last value are zero.
package enum RangeBits {
    package static func of(_ values: UnsafePointer<Int64>, count: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>)
    {
        let words = (count &+ 63) >> 6
        guard low <= high else { return out.update(repeating: 0, count: words) }
        let span = UInt64(bitPattern: high &- low)
        for w in 0..<words {
            let start = w &* 64
            var bits: UInt64 = 0
            var i = min(64, count &- start) &- 1
            while i >= 0 {
                bits = bits &+ bits &+ (UInt64(bitPattern: values[start &+ i] &- low) <= span ? 1 : 0)
                i &-= 1
            }
            out[w] = bits
        }
    }

    /// NaN is in no range.
    package static func of(
        _ values: UnsafePointer<Double>, count: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>
    ) {
        let words = (count &+ 63) >> 6, whole = count >> 6
        let least = SIMD8<Double>(repeating: low), most = SIMD8<Double>(repeating: high)
        let bitValues = SIMD8<UInt64>(1, 2, 4, 8, 16, 32, 64, 128)
        let base = UnsafeRawPointer(values)
        for w in 0..<whole {
            var bits: UInt64 = 0
            for part in 0..<8 {
                let eight = base.loadUnaligned(fromByteOffset: (w &* 8 &+ part) &* 64, as: SIMD8<Double>.self)
                let hits = SIMD8<UInt64>(repeating: 0).replacing(with: bitValues, where: (eight .>= least) .& (eight .<= most))
                let four = hits.lowHalf | hits.highHalf, two = four.lowHalf | four.highHalf
                bits |= (two[0] | two[1]) &<< UInt64(truncatingIfNeeded: part &* 8)
            }
            out[w] = bits
        }
        if whole < words {
            var bits: UInt64 = 0
            for i in whole &* 64..<count where values[i] >= low && values[i] <= high { bits |= 1 &<< UInt64(truncatingIfNeeded: i & 63) }
            out[whole] = bits
        }
    }

    /// Sets the first `count` bits to `value`. The bits after them are zero.
    package static func fill(_ out: UnsafeMutablePointer<UInt64>, count: Int, _ value: Bool) {
        let words = (count &+ 63) >> 6
        out.update(repeating: value ? .max : 0, count: words)
        if value, count & 63 != 0 { out[words &- 1] = (1 &<< UInt64(truncatingIfNeeded: count & 63)) &- 1 }
    }
}
