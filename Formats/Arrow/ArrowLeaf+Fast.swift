import FirnTable

/// Conversions that compilers make vector instructions of. Each does all rows, also those without a value, and returns false or nil if a row
/// does not have the expected form; then the caller converts row by row.
extension ArrowLeaf {
    /// 1.5 × 2^52: a double of less than 2^51 that is added to it has its nearest integer in the low bits.
    private static let rounding = 6_755_399_441_055_744.0
    private static let secondsPerDay: Int64 = 86_400

    /// Writes integers in fewer bits.
    static func narrow<T: FixedWidthInteger>(_ words: UnsafeBufferPointer<Int64>, to out: UnsafeMutableBufferPointer<T>) -> Bool {
        var excess: Int64 = 0
        for i in 0..<words.count {
            let narrow = T(truncatingIfNeeded: words[i])
            excess |= Int64(truncatingIfNeeded: narrow) ^ words[i]
            out[i] = narrow
        }
        return excess == 0
    }

    /// Writes seconds as whole days.
    static func days(_ seconds: UnsafeBufferPointer<Int64>, to out: UnsafeMutableBufferPointer<Int32>) -> Bool {
        var excess: Int64 = 0
        for i in 0..<seconds.count {
            let day = day(seconds[i])
            out[i] = day
            excess |= Int64(day) &* secondsPerDay ^ seconds[i]
        }
        return excess == 0
    }

    /// Whether seconds are whole days.
    static func areDays(_ seconds: UnsafeBufferPointer<Int64>) -> Bool {
        var excess: Int64 = 0
        for i in 0..<seconds.count { excess |= Int64(day(seconds[i])) &* secondsPerDay ^ seconds[i] }
        return excess == 0
    }

    private static func day(_ seconds: Int64) -> Int32 {
        let sum = Double(seconds) * (1.0 / 86_400) + rounding
        return Int32(truncatingIfNeeded: Int64(bitPattern: sum.bitPattern) &- Int64(bitPattern: rounding.bitPattern))
    }

    /// Writes seconds in a smaller unit.
    static func units(_ seconds: UnsafeBufferPointer<Int64>, perSecond: Int64, to out: UnsafeMutableBufferPointer<Int64>) -> Bool {
        let limit = Int64.max / perSecond
        var wrong = 0
        for i in 0..<seconds.count {
            wrong |= seconds[i] > limit || seconds[i] < -limit ? 1 : 0
            out[i] = seconds[i] &* perSecond
        }
        return wrong == 0
    }

    /// Writes doubles with `scale` digits after the point as decimals of 128 bits: two words for each.
    static func decimals(_ reals: UnsafeBufferPointer<Double>, precision: Int, scale: Int, to out: UnsafeMutableBufferPointer<Int64>)
        -> Bool
    {
        guard precision <= 15, 0...15 ~= scale else { return false }
        var power = 1.0, limit = 1.0
        for _ in 0..<scale { power *= 10 }
        for _ in 0..<precision { limit *= 10 }
        var wrong = 0
        for i in 0..<reals.count {
            let sum = reals[i] * power + rounding, whole = sum - rounding
            let number = Int64(bitPattern: sum.bitPattern) &- Int64(bitPattern: rounding.bitPattern)
            wrong &+= whole.magnitude < limit && whole / power == reals[i] ? 0 : 1
            out[i &* 2] = number
            out[i &* 2 &+ 1] = number &>> 63
        }
        return wrong == 0
    }

    // MARK: Arrays

    static func narrowed<T: FixedWidthInteger>(_ words: [Int64], to type: T.Type) -> [UInt8]? {
        words.withUnsafeBufferPointer { words in bytes(of: T.self, words.count) { narrow(words, to: $0) } }
    }

    static func wholeDays(_ column: Column) -> [UInt8]? {
        var excess: Int64 = 0
        for extra in column.extra { excess |= extra }
        guard excess == 0 else { return nil }
        return column.words.withUnsafeBufferPointer { words in bytes(of: Int32.self, words.count) { days(words, to: $0) } }
    }

    static func decimals(_ reals: [Double], precision: Int, scale: Int) -> [Int64]? {
        var isDone = false
        let out = [Int64](unsafeUninitializedCapacity: reals.count * 2) { out, filled in
            isDone = reals.withUnsafeBufferPointer { decimals($0, precision: precision, scale: scale, to: out) }
            filled = isDone ? reals.count * 2 : 0
        }
        return isDone ? out : nil
    }

    private static func bytes<T>(of type: T.Type, _ count: Int, _ write: (UnsafeMutableBufferPointer<T>) -> Bool) -> [UInt8]? {
        var isDone = false
        let out = [UInt8](unsafeUninitializedCapacity: count * MemoryLayout<T>.size) { out, filled in
            isDone = out.withMemoryRebound(to: T.self, write)
            filled = isDone ? count * MemoryLayout<T>.size : 0
        }
        return isDone ? out : nil
    }
}
