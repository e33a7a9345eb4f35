import FirnTable

/// Conversions that compilers make vector instructions of. Each does all rows, also those without a value, and returns nil if a row does
/// not have the expected form; then the caller converts row by row.
extension ArrowLeaf {
    /// 1.5 × 2^52: a double of less than 2^51 that is added to it has its nearest integer in the low bits.
    private static let rounding = 6_755_399_441_055_744.0

    /// Integers of fewer bits.
    static func narrowed<T: FixedWidthInteger & SignedInteger>(_ words: [Int64], to type: T.Type) -> [UInt8]? {
        var excess: Int64 = 0
        let out = words.withUnsafeBufferPointer { words in
            ArrowEncoder.bytes(words.count, as: T.self) { i in
                let narrow = T(truncatingIfNeeded: words[i])
                excess |= Int64(narrow) ^ words[i]
                return narrow
            }
        }
        return excess == 0 ? out : nil
    }

    /// Whole days.
    static func wholeDays(_ column: Column) -> [UInt8]? {
        var excess: Int64 = 0
        let out = column.words.withUnsafeBufferPointer { words in
            column.extra.withUnsafeBufferPointer { extra in
                ArrowEncoder.bytes(words.count, as: Int32.self) { i in
                    let sum = Double(words[i]) * (1.0 / 86_400) + ArrowLeaf.rounding
                    let day = Int64(bitPattern: sum.bitPattern) &- Int64(bitPattern: ArrowLeaf.rounding.bitPattern)
                    let narrow = Int32(truncatingIfNeeded: day)
                    excess |= (Int64(narrow) &* 86_400 ^ words[i]) | extra[i]
                    return narrow
                }
            }
        }
        return excess == 0 ? out : nil
    }

    /// Doubles with `scale` digits after the point, as decimals of 128 bits: two words for each.
    static func decimals(_ reals: [Double], precision: Int, scale: Int) -> [Int64]? {
        guard precision <= 15, 0...15 ~= scale else { return nil }
        var power = 1.0, limit = 1.0
        for _ in 0..<scale { power *= 10 }
        for _ in 0..<precision { limit *= 10 }
        var wrong = 0
        let out = [Int64](unsafeUninitializedCapacity: reals.count * 2) { out, filled in
            reals.withUnsafeBufferPointer { reals in
                for i in 0..<reals.count {
                    let sum = reals[i] * power + ArrowLeaf.rounding, whole = sum - ArrowLeaf.rounding
                    let number = Int64(bitPattern: sum.bitPattern) &- Int64(bitPattern: ArrowLeaf.rounding.bitPattern)
                    wrong &+= whole.magnitude < limit && whole / power == reals[i] ? 0 : 1
                    out[i &* 2] = number
                    out[i &* 2 &+ 1] = number &>> 63
                }
            }
            filled = reals.count * 2
        }
        return wrong == 0 ? out : nil
    }
}
