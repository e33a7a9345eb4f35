import FirnExchange

/// The parts of a number of at most 16 bytes, such as `-12.50`: a sign, digits, and digits after a point. All bytes are examined
/// together, without a loop.
///
/// Up to 16 bytes are read, also after the text (see `scanSlack`).
struct CSVShortNumber {
    static let maximumLength = 16

    private let memory: UnsafePointer<UInt8>
    let isNegative: Bool
    /// The number of digits before the point, and of those after it; 0 without a point.
    let whole: Int, fraction: Int

    /// Fails for other texts, among them numbers with an exponent, and for lengths other than 1 … 16.
    @inline(__always)
    init?(_ memory: UnsafePointer<UInt8>, _ count: Int) {
        guard count &- 1 < CSVShortNumber.maximumLength, count > 0 else { return nil }
        let digits = Bytes16(memory).isAmong(UInt8(ascii: "0"), count: 10).mask
        var others = ~digits & ((1 &<< UInt32(truncatingIfNeeded: count)) &- 1)
        self.memory = memory
        isNegative = memory[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        if isNegative { others &= others &- 1 }
        if others == 0 {
            (whole, fraction) = (count &- first, 0)
        } else {
            let point = others.trailingZeroBitCount
            guard others & (others &- 1) == 0, memory[point] == UInt8(ascii: "."), point &+ 1 < count else { return nil }
            (whole, fraction) = (point &- first, count &- point &- 1)
        }
        if whole == 0 { return nil }
    }

    @inline(__always) private var first: Int { isNegative ? 1 : 0 }
    @inline(__always) private var hasLeadingZero: Bool { memory[first] == UInt8(ascii: "0") }

    /// Returns the shapes as `numberShape` does; nil for whole numbers of 16 digits.
    @inline(__always)
    var shape: CSVShape? {
        let startsWithZero = hasLeadingZero
        if startsWithZero, whole > 1 { return CSVShape.none }
        if fraction > 0 {
            let zeros = startsWithZero ? min(fraction, zerosAfterPoint) : 0
            let last = memory[first &+ whole &+ fraction]
            return fractionShape(startsWithZero: startsWithZero, zeros: zeros, fraction: fraction, last: last)
        }
        if startsWithZero, isNegative { return .negativeZero }
        return whole <= 15 ? .wholeNumber : nil
    }

    @inline(__always)
    private var zerosAfterPoint: Int {
        let zeros = Bytes16(memory).equal(Bytes16(repeating: UInt8(ascii: "0"))).mask
        return (~zeros &>> UInt32(truncatingIfNeeded: first &+ whole &+ 1)).trailingZeroBitCount
    }

    /// Returns the integer in a text; nil if there is none. The same as `NumberText.parseInt64`.
    @inline(__always)
    static func int(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard let memory = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let number = CSVShortNumber(memory, bytes.count), number.fraction == 0
        else { return NumberText.parseInt64(bytes) }
        let value = Int64(bitPattern: number.digits(memory + number.first, number.whole))
        return number.isNegative ? 0 &- value : value
    }

    /// Returns the nearest double; nil if the text is not a number. The same as `NumberText.parseDouble`.
    @inline(__always)
    static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
        guard let memory = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), let number = CSVShortNumber(memory, bytes.count) else {
            return NumberText.parseDouble(bytes)
        }
        let first = memory + number.first
        var mantissa = number.digits(first, number.whole)
        var value: Double
        if number.fraction > 0 {
            // At most 15 digits, so both integers are exact doubles, and their quotient is the nearest one.
            let power = powers[number.fraction]
            mantissa = mantissa &* power &+ number.digits(first + number.whole + 1, number.fraction)
            value = Double(mantissa) / Double(power)
        } else {
            guard mantissa <= 1 << 53 else { return NumberText.parseDouble(bytes) }
            value = Double(mantissa)
        }
        if number.isNegative { value = -value }
        return value
    }

    /// Returns `count` digits, 1 to 16, as an integer.
    @inline(__always)
    private func digits(_ memory: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        if count <= 8 { return Self.upToEight(memory, count) }
        return Self.upToEight(memory, count &- 8) &* 100_000_000 &+ Self.upToEight(memory + (count &- 8), 8)
    }

    /// Adds neighbouring digits, then pairs, then fours.
    @inline(__always)
    private static func upToEight(_ memory: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        let bytes = UInt64(littleEndian: UnsafeRawPointer(memory).loadUnaligned(as: UInt64.self))
        // The first digits move to the end, after zeros.
        var value = (bytes & 0x0F0F_0F0F_0F0F_0F0F) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
        value = value &* 10 &+ value &>> 8
        let pairs: UInt64 = 0x0000_00FF_0000_00FF
        value = (value & pairs) &* 0x000F_4240_0000_0064 &+ (value &>> 16 & pairs) &* 0x0000_2710_0000_0001
        return value &>> 32
    }
}

private let powers: [UInt64] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
    1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
]

/// Returns the shapes of the text of a cell among those of numbers, and the number of digits after its point. Texts that are not empty
/// only. Reads bytes after the text, as `CSVShortNumber` does.
@inline(__always)
func cellShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    if let number = CSVShortNumber(memory, count), let shape = number.shape { return (shape, number.fraction) }
    return numberShape(memory, count)
}
