import FirnBytes
import FirnExchange
import FirnTable

/// The values of a column without children, as buffers of an Arrow type.
struct ArrowLeaf {
    let field: ArrowField
    let column: Column
    let present: Bits?

    struct Encoded {
        var buffers: [ArrowBuffer] = []
        /// The number of bytes of texts.
        var total = 0
    }

    private var count: Int { column.count }
    private func isPresent(_ row: Int) -> Bool { present?[row] ?? true }

    /// Returns the buffers after the validity. `wrong` receives the rows that the type cannot express.
    func encode(_ wrong: inout [Int]) -> Encoded {
        switch field.type {
        case .bool:
            var bits = Bits(repeating: false, count: count)
            for i in 0..<count where column.words[i] != 0 { bits[i] = true }
            return Encoded(buffers: [.bits(bits)])
        case .int(64, true), .duration: return Encoded(buffers: [.words(column.words)])
        case .float(64): return Encoded(buffers: [.reals(column.reals)])
        case .decimal(let precision, let scale, 128) where column.type.kind == .double:
            if let words = ArrowLeaf.decimals(column.reals, precision: precision, scale: scale) { return Encoded(buffers: [.words(words)]) }
            return Encoded(buffers: [.bytes(decimals(precision, scale, 2, &wrong))])
        default:
            guard let bytes = values(&wrong) else { return texts() }
            return Encoded(buffers: [.bytes(bytes)])
        }
    }

    /// Returns the bytes of values of a fixed width that are not laid out as Arrow needs them; nil for texts.
    private func values(_ wrong: inout [Int]) -> [UInt8]? {
        switch field.type {
        case .int(let bits, let isSigned): return integers(bits, isSigned, &wrong)
        case .float(let bits): return reals(bits, &wrong)
        case .decimal(let precision, let scale, let bits): return decimals(precision, scale, bits / 64, &wrong)
        case .date: return ArrowLeaf.wholeDays(column) ?? numbers(Int32.self, &wrong) { days($0) }
        case .timestamp(let unit, _): return numbers(Int64.self, &wrong) { units($0, unit) }
        case .time(let unit):
            func time(_ row: Int) -> Int64? { column.text.withBytes(row) { LogicalText.time($0, unit) } }
            return unit.digits <= 3
                ? numbers(Int32.self, &wrong) { time($0).flatMap { Int32(exactly: $0) } } : numbers(Int64.self, &wrong, time)
        case .interval: return intervals(&wrong)
        case .fixedBytes(let width): return identifiers(width)
        default: return nil
        }
    }

    private func numbers<T: FixedWidthInteger>(_ type: T.Type, _ wrong: inout [Int], _ value: (Int) -> T?) -> [UInt8] {
        var found: [Int] = []
        let out = ArrowEncoder.bytes(count, as: T.self) { row in
            guard isPresent(row) else { return 0 }
            guard let value = value(row) else {
                found.append(row)
                return 0
            }
            return value
        }
        wrong += found
        return out
    }

    private func integers(_ bits: Int, _ isSigned: Bool, _ wrong: inout [Int]) -> [UInt8] {
        func exact<T: FixedWidthInteger>(_ type: T.Type, _ wrong: inout [Int]) -> [UInt8] {
            numbers(T.self, &wrong) { T(exactly: column.words[$0]) }
        }
        switch (bits, isSigned) {
        case (8, true): return ArrowLeaf.narrowed(column.words, to: Int8.self) ?? exact(Int8.self, &wrong)
        case (8, false): return exact(UInt8.self, &wrong)
        case (16, true): return ArrowLeaf.narrowed(column.words, to: Int16.self) ?? exact(Int16.self, &wrong)
        case (16, false): return exact(UInt16.self, &wrong)
        case (32, true): return ArrowLeaf.narrowed(column.words, to: Int32.self) ?? exact(Int32.self, &wrong)
        case (32, false): return exact(UInt32.self, &wrong)
        case (64, true): return exact(Int64.self, &wrong)
        default:
            return numbers(UInt64.self, &wrong) { row in
                guard let (magnitude, isNegative) = coefficient(row, scale: 0), !isNegative || magnitude == 0 else { return nil }
                return UInt64(exactly: magnitude)
            }
        }
    }

    private func reals(_ bits: Int, _ wrong: inout [Int]) -> [UInt8] {
        switch bits {
        case 32: return ArrowEncoder.bytes(count, as: UInt32.self) { Float(column.reals[$0]).bitPattern }
        default: return numbers(UInt16.self, &wrong) { ArrowLeaf.half(column.reals[$0]) }
        }
    }

    /// IEEE 754 half precision; nil if it cannot represent the number.
    static func half(_ x: Double) -> UInt16? {
        if x.isNaN { return 0x7E00 }
        let bits = HalfPrecision.bits(x)
        return HalfPrecision.value(bits) == x ? bits : nil
    }

    private func days(_ row: Int) -> Int32? {
        guard column.extra[row] == 0, column.words[row] % 86_400 == 0 else { return nil }
        return Int32(exactly: column.words[row] / 86_400)
    }

    private func units(_ row: Int, _ unit: TimeUnit) -> Int64? {
        let (whole, overflow) = column.words[row].multipliedReportingOverflow(by: unit.perSecond)
        let perUnit = 1_000_000_000 / unit.perSecond
        guard column.extra[row] % perUnit == 0 else { return nil }
        // The lowest number of nanoseconds is that of a second that does not fit.
        if overflow {
            let (next, tooLow) = (column.words[row] &+ 1).multipliedReportingOverflow(by: unit.perSecond)
            guard !tooLow, column.words[row] < 0 else { return nil }
            let (value, beyond) = next.subtractingReportingOverflow(unit.perSecond - column.extra[row] / perUnit)
            return beyond ? nil : value
        }
        let (value, beyond) = whole.addingReportingOverflow(column.extra[row] / perUnit)
        return beyond ? nil : value
    }

    private func intervals(_ wrong: inout [Int]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count * 16)
        for row in 0..<count where isPresent(row) {
            guard let (months, days, nanoseconds) = column.text.withBytes(row, { LogicalText.interval($0) }) else {
                wrong.append(row)
                continue
            }
            out.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: months.littleEndian, toByteOffset: row * 16, as: Int32.self)
                bytes.storeBytes(of: days.littleEndian, toByteOffset: row * 16 + 4, as: Int32.self)
                bytes.storeBytes(of: nanoseconds.littleEndian, toByteOffset: row * 16 + 8, as: Int64.self)
            }
        }
        return out
    }

    /// UUIDs of 16 bytes, and object ids of 12.
    private func identifiers(_ width: Int) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count * width)
        out.withUnsafeMutableBytes { bytes in
            for row in 0..<count {
                bytes.storeBytes(of: (column.words[row] ^ Int64.min).bigEndian, toByteOffset: row * width, as: Int64.self)
                if width == 16 {
                    bytes.storeBytes(of: (column.extra[row] ^ Int64.min).bigEndian, toByteOffset: row * 16 + 8, as: Int64.self)
                } else {
                    bytes.storeBytes(
                        of: UInt32(truncatingIfNeeded: column.extra[row]).bigEndian, toByteOffset: row * 12 + 8, as: UInt32.self)
                }
            }
        }
        return out
    }

    // MARK: Texts

    private func texts() -> Encoded {
        var text = column.text
        switch column.type.kind {
        case .decimal:
            text = Text()
            for row in 0..<count { if isPresent(row) { text.append("\(decimal(row))") } else { text.appendEmpty() } }
        case .any:
            text = Text()
            for row in 0..<count {
                if isPresent(row) {
                    var json: [UInt8] = []
                    ExactJSON.append(column.value(at: row), to: &json)
                    text.append(json)
                } else {
                    text.appendEmpty()
                }
            }
        default: break
        }
        let offsets = ArrowEncoder.bytes(text.offsets.count, as: Int32.self) { Int32(truncatingIfNeeded: text.offsets[$0]) }
        return Encoded(buffers: [.bytes(offsets), .bytes(text.bytes)], total: text.bytes.count)
    }

    // MARK: Decimals

    private func decimal(_ row: Int) -> Decimal {
        Decimal(high: UInt64(bitPattern: column.words[row]), low: UInt64(bitPattern: column.extra[row]))
    }

    /// Returns the value of a decimal column in units of its last digit; nil if it has more digits after the point, or too many.
    private func coefficient(_ row: Int, scale: Int) -> (UInt128, Bool)? {
        let value = decimal(row)
        // Infinities, NaN, and coefficients that are not valid have both bits.
        guard value.high >> 61 & 3 != 3 else { return nil }
        var magnitude = UInt128(value.high & (1 << 49 - 1)) << 64 | UInt128(value.low)
        let exponent = Int(value.high >> 49 & 0x3FFF) - 6176, isNegative = value.high >> 63 == 1
        guard magnitude > 0 else { return (0, false) }
        var shift = exponent + scale
        while shift < 0 {
            guard magnitude % 10 == 0 else { return nil }
            magnitude /= 10
            shift += 1
        }
        while shift > 0 {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            magnitude = product
            shift -= 1
        }
        return (magnitude, isNegative)
    }

    /// Returns decimals of `words` times 64 bits.
    private func decimals(_ precision: Int, _ scale: Int, _ words: Int, _ wrong: inout [Int]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count * words * 8)
        for row in 0..<count where isPresent(row) {
            guard let (number, isNegative) = number(row, precision, scale), number.hasDigits(precision) else {
                wrong.append(row)
                continue
            }
            let stored = isNegative ? number.negated : number
            out.withUnsafeMutableBytes { bytes in
                for word in 0..<words {
                    bytes.storeBytes(of: stored.words[word].littleEndian, toByteOffset: (row * words + word) * 8, as: UInt64.self)
                }
            }
        }
        return out
    }

    private func number(_ row: Int, _ precision: Int, _ scale: Int) -> (ArrowNumber, Bool)? {
        switch column.type.kind {
        case .double:
            let x = column.reals[row]
            guard x.isFinite, precision <= 15 else { return nil }
            var power = 1.0
            for _ in 0..<abs(scale) { power *= 10 }
            let scaled = (scale >= 0 ? x * power : x / power).rounded()
            guard scaled.magnitude < 1e15, (scale >= 0 ? scaled / power : scaled * power) == x else { return nil }
            return (ArrowNumber(UInt128(scaled.magnitude)), scaled < 0)
        case .decimal: return coefficient(row, scale: scale).map { (ArrowNumber($0.0), $0.1) }
        default: return column.text.withBytes(row) { ArrowNumber.parse($0, scale: scale) }
        }
    }
}

/// A number of 256 bits without a sign.
struct ArrowNumber {
    /// The lowest first.
    private(set) var words: [UInt64]

    init(_ value: UInt128) { words = [UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64), 0, 0] }

    /// Multiplies by ten and adds a digit. Returns false if the result does not fit.
    private mutating func append(_ digit: UInt64) -> Bool {
        var carry = digit
        for i in 0..<4 {
            let product = UInt128(words[i]) * 10 + UInt128(carry)
            words[i] = UInt64(truncatingIfNeeded: product)
            carry = UInt64(truncatingIfNeeded: product >> 64)
        }
        return carry == 0 && words[3] >> 63 == 0
    }

    /// Whether the number has at most so many digits.
    func hasDigits(_ count: Int) -> Bool {
        var limit = ArrowNumber(1)
        for _ in 0..<count { if !limit.append(0) { return true } }
        for i in (0..<4).reversed() where words[i] != limit.words[i] { return words[i] < limit.words[i] }
        return false
    }

    /// The two's complement.
    var negated: ArrowNumber {
        var out = self, carry: UInt64 = 1
        for i in 0..<4 {
            let (sum, overflow) = (~words[i]).addingReportingOverflow(carry)
            out.words[i] = sum
            carry = overflow ? 1 : 0
        }
        return out
    }

    /// Reads a minus sign if there is one, digits, a point and at most `scale` digits, as a number of units of the last digit.
    static func parse(_ text: UnsafeRawBufferPointer, scale: Int) -> (ArrowNumber, Bool)? {
        var number = ArrowNumber(0), at = 0, after: Int?
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { at = 1 }
        guard at < text.count else { return nil }
        var digits = text.count - at
        while at < text.count {
            if text[at] == UInt8(ascii: "."), after == nil {
                after = 0
                digits -= 1
            } else {
                guard 48...57 ~= text[at] else { return nil }
                if let known = after {
                    after = known + 1
                    // Further zeros say nothing.
                    if known + 1 > scale {
                        guard text[at] == 48 else { return nil }
                        at += 1
                        continue
                    }
                }
                // Units of a negative scale are powers of ten.
                if scale < 0, after == nil, digits - at + (isNegative ? 1 : 0) <= -scale {
                    guard text[at] == 48 else { return nil }
                } else if !number.append(UInt64(text[at] - 48)) {
                    return nil
                }
            }
            at += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(after ?? 0, max(scale, 0))..<max(scale, 0) { guard number.append(0) else { return nil } }
        return (number, isNegative)
    }
}
