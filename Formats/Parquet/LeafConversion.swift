import FirnBytes
import FirnExchange
import FirnTable

/// Converts stored values of one leaf to values of its column.
struct LeafConversion {
    let form: LeafForm
    let physical: ParquetFormat.Physical
    /// The number of bytes of a value; 0 for those of variable length.
    let stride: Int

    init(_ form: LeafForm, _ node: ParquetNode) {
        self.form = form
        physical = node.physical ?? .boolean
        stride =
            switch physical {
            case .boolean, .byteArray: 0
            case .int32, .float: 4
            case .int64, .double: 8
            case .int96: 12
            case .fixed: node.element.length
            }
    }

    /// The bytes of a converted value in memory, without those of texts.
    var footprint: Int {
        switch form {
        case .date, .timestamp, .int96, .decimal, .unsigned64, .uuid, .objectID: 16
        case .time, .seconds: 24
        case .interval, .decimalText: 56
        default: 8
        }
    }

    /// Appends `count` values of fixed length.
    func append(_ bytes: UnsafeRawPointer, count: Int, to column: inout Column) throws(ParquetFault) {
        // Appends values that are stored one after the other, each converted.
        @inline(__always)
        func appendConverted<Stored: BitwiseCopyable, Value: BitwiseCopyable>(
            to values: inout [Value], zero: Value, _ converted: (Stored) -> Value
        ) {
            values.grow(count, zero: zero) { out in
                for i in 0..<count {
                    out[i] = converted(bytes.loadUnaligned(fromByteOffset: i &* MemoryLayout<Stored>.size, as: Stored.self))
                }
            }
        }
        switch (form, physical) {
        case (.int, .int32): appendConverted(to: &column.words, zero: 0) { (value: Int32) in Int64(value) }
        case (.int, _):
            column.words.grow(count, zero: 0) { out in UnsafeMutableRawPointer(out).copyMemory(from: bytes, byteCount: count * 8) }
        case (.unsigned, _): appendConverted(to: &column.words, zero: 0) { (value: UInt32) in Int64(value) }
        case (.real, .float): appendConverted(to: &column.reals, zero: 0) { (value: Float) in Double(value) }
        case (.real, _):
            column.reals.grow(count, zero: 0) { out in UnsafeMutableRawPointer(out).copyMemory(from: bytes, byteCount: count * 8) }
        case (.float16, _): appendConverted(to: &column.reals, zero: 0, HalfPrecision.value)
        case (.date, _):
            appendConverted(to: &column.words, zero: 0) { (days: Int32) in Int64(days) &* 86_400 }
            column.extra.append(contentsOf: repeatElement(0, count: count))
        case (.timestamp(let unit), _): appendTimes(bytes, count, unit, to: &column)
        case (.int96, _): appendJulian(bytes, count, to: &column)
        case (.uuid, _), (.objectID, _): appendIdentifiers(bytes, count, to: &column)
        case (.bytes, _), (.text, _), (.number, _), (.exactJSON, _):
            column.text.append(fixed: UnsafeRawBufferPointer(start: bytes, count: count * stride), stride: stride, count: count)
        case (.time, _), (.seconds, _), (.interval, _): try appendTexts(bytes, count, to: &column)
        case (.unsigned64, _), (.decimalReal, _), (.decimal, _), (.decimalText, _): try appendDecimals(bytes, count, to: &column)
        case (.null, _): throw ParquetFault("the column is annotated as having no values, and has one")
        case (.bool, _): throw ParquetFault("a boolean of \(physical.name)")
        }
    }

    /// The two halves of identifiers, whose bytes are big-endian.
    private func appendIdentifiers(_ bytes: UnsafeRawPointer, _ count: Int, to column: inout Column) {
        switch form {
        case .uuid:
            column.words.grow(count, zero: 0) { out in
                for i in 0..<count { out[i] = bytes.loadUnaligned(fromByteOffset: i &* 16, as: Int64.self).bigEndian ^ Int64.min }
            }
            column.extra.grow(count, zero: 0) { out in
                for i in 0..<count { out[i] = bytes.loadUnaligned(fromByteOffset: i &* 16 &+ 8, as: Int64.self).bigEndian ^ Int64.min }
            }
        case .objectID:
            column.words.grow(count, zero: 0) { out in
                for i in 0..<count { out[i] = bytes.loadUnaligned(fromByteOffset: i &* 12, as: Int64.self).bigEndian ^ Int64.min }
            }
            column.extra.grow(count, zero: 0) { out in
                for i in 0..<count { out[i] = Int64(bytes.loadUnaligned(fromByteOffset: i &* 12 &+ 8, as: UInt32.self).bigEndian) }
            }
        default: break
        }
    }

    /// Times within a day and durations, which are texts in memory.
    private func appendTexts(_ bytes: UnsafeRawPointer, _ count: Int, to column: inout Column) throws(ParquetFault) {
        switch form {
        case .time(let unit):
            for i in 0..<count {
                let time = whole(bytes, i)
                guard LogicalText.append(time: time, unit.timeUnit, to: &column.text) else {
                    throw ParquetFault("the time \(time) is not within a day", code: .rejected)
                }
            }
        case .seconds:
            for i in 0..<count {
                guard LogicalText.append(time: whole(bytes, i), .millisecond, to: &column.text) else {
                    throw ParquetFault("the time \(whole(bytes, i)) is not within a day", code: .rejected)
                }
                // Only the seconds, unless there is a fraction.
                if whole(bytes, i) % 1000 == 0 {
                    column.text.bytes.removeLast(4)
                    column.text.offsets[column.text.offsets.count - 1] -= 4
                }
            }
        case .interval:
            for i in 0..<count {
                func part(_ at: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: i * 12 + at, as: UInt32.self).littleEndian }
                LogicalText.append(
                    months: Int64(part(0)), days: Int64(part(4)), nanoseconds: Int128(part(8)) * 1_000_000, to: &column.text)
            }
        default: break
        }
    }

    private func whole(_ bytes: UnsafeRawPointer, _ i: Int) -> Int64 {
        physical == .int32
            ? Int64(bytes.loadUnaligned(fromByteOffset: i * 4, as: Int32.self)) : bytes.loadUnaligned(fromByteOffset: i * 8, as: Int64.self)
    }

    private func appendTimes(_ bytes: UnsafeRawPointer, _ count: Int, _ unit: ParquetFormat.Unit, to column: inout Column) {
        // A division by a constant is a multiplication.
        func split(_ perSecond: Int64) {
            column.words.grow(count, zero: 0) { out in
                for i in 0..<count {
                    let value = bytes.loadUnaligned(fromByteOffset: i &* 8, as: Int64.self)
                    out[i] = value / perSecond &- (value % perSecond < 0 ? 1 : 0)
                }
            }
            column.extra.grow(count, zero: 0) { out in
                for i in 0..<count {
                    let rest = bytes.loadUnaligned(fromByteOffset: i &* 8, as: Int64.self) % perSecond
                    out[i] = (rest < 0 ? rest &+ perSecond : rest) &* (1_000_000_000 / perSecond)
                }
            }
        }
        switch unit {
        case .millis: split(1000)
        case .micros: split(1_000_000)
        case .nanos: split(1_000_000_000)
        }
    }

    /// Nanoseconds of the day, and the Julian day.
    private func appendJulian(_ bytes: UnsafeRawPointer, _ count: Int, to column: inout Column) {
        for i in 0..<count {
            let nanos = bytes.loadUnaligned(fromByteOffset: i * 12, as: Int64.self)
            let day = Int64(bytes.loadUnaligned(fromByteOffset: i * 12 + 8, as: Int32.self))
            let seconds = nanos / 1_000_000_000 - (nanos % 1_000_000_000 < 0 ? 1 : 0)
            column.words.append((day - 2_440_588) * 86_400 + seconds)
            column.extra.append(nanos - seconds * 1_000_000_000)
        }
    }

    // MARK: Decimals

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
    private static let maximumCoefficient: UInt128 = {
        var value: UInt128 = 1
        for _ in 0..<34 { value *= 10 }
        return value
    }()

    private static func tooLong() -> ParquetFault { ParquetFault("a decimal has more digits than its column declares", code: .rejected) }

    private func appendDecimals(_ bytes: UnsafeRawPointer, _ count: Int, to column: inout Column) throws(ParquetFault) {
        switch form {
        case .unsigned64:
            for i in 0..<count {
                try append(magnitude: UInt128(bytes.loadUnaligned(fromByteOffset: i * 8, as: UInt64.self)), false, scale: 0, to: &column)
            }
        case .decimalReal(let scale) where physical != .fixed: try appendReals(bytes, count, scale, to: &column)
        case .decimal(let scale) where physical != .fixed:
            for i in 0..<count {
                let value = whole(bytes, i)
                try append(magnitude: UInt128(value.magnitude), value < 0, scale: scale, to: &column)
            }
        case .decimalText(let scale) where physical != .fixed:
            for i in 0..<count {
                let value = whole(bytes, i)
                withUnsafeBytes(of: value.bigEndian) { LogicalText.append(decimal: $0, isBigEndian: true, scale: scale, to: &column.text) }
            }
        default:
            for i in 0..<count { try append(decimal: UnsafeRawBufferPointer(start: bytes + i * stride, count: stride), to: &column) }
        }
    }

    private func appendReals(_ bytes: UnsafeRawPointer, _ count: Int, _ scale: Int, to column: inout Column) throws(ParquetFault) {
        let divisor = LeafConversion.powersOfTen[scale]
        var highest: UInt64 = 0
        column.reals.grow(count, zero: 0) { out in
            if physical == .int32 {
                for i in 0..<count { out[i] = Double(bytes.loadUnaligned(fromByteOffset: i &* 4, as: Int32.self)) / divisor }
            } else {
                for i in 0..<count {
                    let value = bytes.loadUnaligned(fromByteOffset: i &* 8, as: Int64.self)
                    highest |= value.magnitude
                    out[i] = Double(value) / divisor
                }
            }
        }
        // Doubles hold whole numbers of up to 53 bits exactly.
        if highest >= 1 << 53 { throw LeafConversion.tooLong() }
    }

    /// Appends a decimal in the encoding of `Decimal` (IEEE 754-2008, binary integer form).
    private func append(magnitude: UInt128, _ isNegative: Bool, scale: Int, to column: inout Column) throws(ParquetFault) {
        guard magnitude < LeafConversion.maximumCoefficient else { throw LeafConversion.tooLong() }
        let high = UInt64(truncatingIfNeeded: magnitude >> 64) | UInt64(6176 - scale) << 49 | (isNegative ? 1 << 63 : 0)
        column.words.append(Int64(bitPattern: high))
        column.extra.append(Int64(bitPattern: UInt64(truncatingIfNeeded: magnitude)))
    }

    /// Appends one value of variable length.
    func append(_ bytes: UnsafeRawBufferPointer, to column: inout Column) throws(ParquetFault) {
        switch form {
        case .text, .bytes, .number, .exactJSON: column.text.append(bytes)
        case .decimal, .decimalReal, .decimalText: try append(decimal: bytes, to: &column)
        case .null: throw ParquetFault("the column is annotated as having no values, and has one")
        default: throw ParquetFault("a value of \(bytes.count) bytes where \(stride) are expected")
        }
    }

    /// Appends a decimal that is stored as a signed big-endian number.
    private func append(decimal bytes: UnsafeRawBufferPointer, to column: inout Column) throws(ParquetFault) {
        if case .decimalText(let scale) = form {
            guard bytes.count <= 1 << 12 else { throw ParquetFault("a decimal of \(bytes.count) bytes") }
            LogicalText.append(decimal: bytes, isBigEndian: true, scale: scale, to: &column.text)
            return
        }
        let isNegative = (bytes.first ?? 0) >= 0x80, filler: UInt8 = isNegative ? 0xFF : 0
        var rest = bytes[...]
        while rest.count > 16, rest.first == filler { rest = rest.dropFirst() }
        guard rest.count <= 16, rest.count < 16 || ((rest.first ?? 0) >= 0x80) == isNegative else { throw LeafConversion.tooLong() }
        var bits: UInt128 = isNegative ? .max : 0
        for byte in rest { bits = bits << 8 | UInt128(byte) }
        let magnitude = isNegative ? 0 &- bits : bits
        switch form {
        case .decimal(let scale): try append(magnitude: magnitude, isNegative, scale: scale, to: &column)
        case .decimalReal(let scale):
            guard magnitude < 1 << 53 else { throw LeafConversion.tooLong() }
            let value = Double(UInt64(magnitude)) / LeafConversion.powersOfTen[scale]
            column.reals.append(isNegative ? -value : value)
        default: throw ParquetFault("a decimal in a column of another form")
        }
    }
}
