import FirnBytes
import FirnExchange
import FirnTable

/// Stored values of fixed length, which are converted to values of a column.
struct ArrowValues {
    let base: UnsafeRawPointer
    let count: Int
    /// The rows that have a value; nil: all. What is stored for the others is any bytes.
    let present: Bits?
    /// The offset of the first value in the file.
    let offset: Int
    let firstRow: Int
    let path: String

    @inline(__always)
    func load<T: FixedWidthInteger>(_ i: Int, as type: T.Type) -> T {
        T(littleEndian: base.loadUnaligned(fromByteOffset: i &* MemoryLayout<T>.size, as: T.self))
    }

    private func fault(_ i: Int, _ stride: Int, _ what: String) -> ArrowFault {
        ArrowFault("row \(firstRow + i) of \"\(path)\" \(what)", at: offset + i * stride, code: .rejected)
    }

    @inline(__always)
    private func isPresent(_ i: Int) -> Bool { present?[i] ?? true }

    func append(_ form: ArrowForm, to out: inout Column, _ changes: inout ArrowChanges) throws(ArrowFault) {
        switch form {
        case .int(let bits, let isSigned): appendIntegers(bits, isSigned, to: &out.words)
        case .bool8: out.words.grow(count, zero: 0) { out in for i in 0..<count { out[i] = load(i, as: Int8.self) == 0 ? 0 : 1 } }
        case .real(let bits): appendReals(bits, to: &out.reals)
        case .dayDate:
            out.words.grow(count, zero: 0) { out in for i in 0..<count { out[i] = Int64(load(i, as: Int32.self)) &* 86_400 } }
            out.extra.append(contentsOf: repeatElement(0, count: count))
        case .milliDate: appendDates(to: &out, &changes)
        case .timestamp(let unit): appendTimes(unit.perSecond, to: &out)
        case .uuid: appendIdentifiers(16, to: &out)
        case .objectID: appendIdentifiers(12, to: &out)
        case .fixedBytes(let width):
            out.text.bytes.reserveCapacity(out.text.bytes.count + count * width)
            let first = out.text.bytes.count
            out.text.bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count * width))
            out.text.offsets.grow(count, zero: 0) { out in for i in 0..<count { out[i] = first &+ (i &+ 1) &* width } }
        case .time(let unit): try appendClock(unit, to: &out.text)
        case .interval(let unit): appendIntervals(unit, to: &out.text)
        case .unsigned64:
            for i in 0..<count { try append(i, UInt128(load(i, as: UInt64.self)), false, scale: 0, stride: 8, to: &out) }
        case .decimalReal(let scale, let bits): try appendDecimalReals(scale, bits, to: &out.reals)
        case .decimal(let scale, let bits):
            for i in 0..<count {
                let (magnitude, isNegative) = try decimal(i, bits)
                try append(i, magnitude, isNegative, scale: scale, stride: bits / 8, to: &out)
            }
        case .decimalText(let scale, let bits):
            for i in 0..<count {
                guard isPresent(i) else {
                    out.text.appendEmpty()
                    continue
                }
                let value = UnsafeRawBufferPointer(start: base + i * bits / 8, count: bits / 8)
                LogicalText.append(decimal: value, scale: scale, to: &out.text)
            }
        case .null, .bool, .text, .bytes, .textOfDecimal, .textOfAny: throw ArrowFault("values of no fixed length")
        }
    }

    private func appendIntegers(_ bits: Int, _ isSigned: Bool, to words: inout [Int64]) {
        words.grow(count, zero: 0) { out in
            switch (bits, isSigned) {
            case (8, true): for i in 0..<count { out[i] = Int64(load(i, as: Int8.self)) }
            case (8, false): for i in 0..<count { out[i] = Int64(load(i, as: UInt8.self)) }
            case (16, true): for i in 0..<count { out[i] = Int64(load(i, as: Int16.self)) }
            case (16, false): for i in 0..<count { out[i] = Int64(load(i, as: UInt16.self)) }
            case (32, true): for i in 0..<count { out[i] = Int64(load(i, as: Int32.self)) }
            case (32, false): for i in 0..<count { out[i] = Int64(load(i, as: UInt32.self)) }
            default: UnsafeMutableRawPointer(out).copyMemory(from: base, byteCount: count * 8)
            }
        }
    }

    private func appendReals(_ bits: Int, to reals: inout [Double]) {
        reals.grow(count, zero: 0) { out in
            switch bits {
            case 16: for i in 0..<count { out[i] = HalfPrecision.value(load(i, as: UInt16.self)) }
            case 32: for i in 0..<count { out[i] = Double(base.loadUnaligned(fromByteOffset: i &* 4, as: Float.self)) }
            default: UnsafeMutableRawPointer(out).copyMemory(from: base, byteCount: count * 8)
            }
        }
    }

    private func appendDates(to out: inout Column, _ changes: inout ArrowChanges) {
        let perDay: Int64 = 86_400_000
        for i in 0..<count {
            let value = load(i, as: Int64.self), rest = value % perDay
            if rest != 0, isPresent(i) { changes.timesOfDates += 1 }
            out.words.append((value / perDay - (rest < 0 ? 1 : 0)) * 86_400)
        }
        out.extra.append(contentsOf: repeatElement(0, count: count))
    }

    private func appendTimes(_ perSecond: Int64, to column: inout Column) {
        // A division by a constant is a multiplication.
        @inline(__always) func split(_ perSecond: Int64) {
            column.words.grow(count, zero: 0) { out in
                for i in 0..<count {
                    let value = load(i, as: Int64.self)
                    out[i] = value / perSecond &- (value % perSecond < 0 ? 1 : 0)
                }
            }
            column.extra.grow(count, zero: 0) { out in
                for i in 0..<count {
                    let rest = load(i, as: Int64.self) % perSecond
                    out[i] = (rest < 0 ? rest &+ perSecond : rest) &* (1_000_000_000 / perSecond)
                }
            }
        }
        switch perSecond {
        case 1: split(1)
        case 1000: split(1000)
        case 1_000_000: split(1_000_000)
        default: split(1_000_000_000)
        }
    }

    /// UUIDs of 16 bytes, and object ids of 12.
    private func appendIdentifiers(_ width: Int, to column: inout Column) {
        column.words.grow(count, zero: 0) { out in
            for i in 0..<count { out[i] = base.loadUnaligned(fromByteOffset: i &* width, as: Int64.self).bigEndian ^ Int64.min }
        }
        column.extra.grow(count, zero: 0) { out in
            for i in 0..<count {
                out[i] =
                    width == 16
                    ? base.loadUnaligned(fromByteOffset: i &* 16 &+ 8, as: Int64.self).bigEndian ^ Int64.min
                    : Int64(base.loadUnaligned(fromByteOffset: i &* 12 &+ 8, as: UInt32.self).bigEndian)
            }
        }
    }

    private func appendClock(_ unit: TimeUnit, to text: inout Text) throws(ArrowFault) {
        let isShort = unit.digits <= 3
        for i in 0..<count {
            guard isPresent(i) else {
                text.appendEmpty()
                continue
            }
            let time = isShort ? Int64(load(i, as: Int32.self)) : load(i, as: Int64.self)
            guard LogicalText.append(time: time, unit, to: &text) else {
                throw fault(i, isShort ? 4 : 8, "is the time \(time) \(unit.rawValue), which is not within a day")
            }
        }
    }

    private func appendIntervals(_ unit: ArrowFormat.IntervalUnit, to text: inout Text) {
        for i in 0..<count {
            guard isPresent(i) else {
                text.appendEmpty()
                continue
            }
            switch unit {
            case .months: LogicalText.append(months: Int64(load(i, as: Int32.self)), days: 0, nanoseconds: 0, to: &text)
            case .days:
                LogicalText.append(
                    months: 0, days: Int64(load(2 * i, as: Int32.self)), nanoseconds: Int128(load(2 * i + 1, as: Int32.self)) * 1_000_000,
                    to: &text)
            case .nanoseconds:
                LogicalText.append(
                    months: Int64(load(4 * i, as: Int32.self)), days: Int64(load(4 * i + 1, as: Int32.self)),
                    nanoseconds: Int128(load(2 * i + 1, as: Int64.self)), to: &text)
            }
        }
    }

    // MARK: Decimals

    static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
    static let maximumCoefficient: UInt128 = {
        var value: UInt128 = 1
        for _ in 0..<34 { value *= 10 }
        return value
    }()

    private func appendDecimalReals(_ scale: Int, _ bits: Int, to reals: inout [Double]) throws(ArrowFault) {
        let divisor = ArrowValues.powersOfTen[scale]
        var highest: UInt64 = 0
        reals.grow(count, zero: 0) { out in
            switch bits {
            case 32: for i in 0..<count { out[i] = Double(load(i, as: Int32.self)) / divisor }
            case 64:
                for i in 0..<count {
                    let value = load(i, as: Int64.self)
                    if isPresent(i) { highest |= value.magnitude }
                    out[i] = Double(value) / divisor
                }
            default:
                let words = bits / 64
                for i in 0..<count {
                    let low = load(i &* words, as: Int64.self)
                    var isLong = false
                    for word in 1..<words where load(i &* words &+ word, as: Int64.self) != low >> 63 { isLong = true }
                    if isPresent(i) { highest |= isLong ? .max : low.magnitude }
                    out[i] = Double(low) / divisor
                }
            }
        }
        // Doubles hold whole numbers of up to 53 bits exactly.
        if highest >= 1 << 53 { throw fault(0, bits / 8, "or one after it is a decimal with more digits than its column declares") }
    }

    /// Returns the magnitude and the sign of a decimal.
    private func decimal(_ i: Int, _ bits: Int) throws(ArrowFault) -> (UInt128, Bool) {
        switch bits {
        case 32:
            let value = load(i, as: Int32.self)
            return (UInt128(value.magnitude), value < 0)
        case 64:
            let value = load(i, as: Int64.self)
            return (UInt128(value.magnitude), value < 0)
        default:
            let words = bits / 64
            let low = load(i * words, as: UInt64.self), high = load(i * words + 1, as: Int64.self)
            for word in 2..<max(words, 2) where load(i * words + word, as: Int64.self) != high >> 63 {
                guard isPresent(i) else { return (0, false) }
                throw fault(i, bits / 8, "is a decimal with more digits than its column declares")
            }
            let value = Int128(high) << 64 | Int128(low)
            return (value.magnitude, value < 0)
        }
    }

    /// Appends a decimal in the encoding of `Decimal` (IEEE 754-2008, binary integer form).
    private func append(_ i: Int, _ magnitude: UInt128, _ isNegative: Bool, scale: Int, stride: Int, to column: inout Column)
        throws(ArrowFault)
    {
        guard magnitude < ArrowValues.maximumCoefficient || !isPresent(i) else {
            throw fault(i, stride, "is a decimal with more digits than its column declares")
        }
        let kept = isPresent(i) ? magnitude : 0
        let high = UInt64(truncatingIfNeeded: kept >> 64) | UInt64(6176 - scale) << 49 | (isNegative ? 1 << 63 : 0)
        column.words.append(Int64(bitPattern: high))
        column.extra.append(Int64(bitPattern: UInt64(truncatingIfNeeded: kept)))
    }
}
