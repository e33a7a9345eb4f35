import FirnBytes
import FirnExchange
import FirnTable

/// Rows of a column: a range, or positions. All of them have a value.
enum PresentRows {
    case range(Range<Int>)
    case positions([Int])

    var count: Int {
        switch self {
        case .range(let range): range.count
        case .positions(let positions): positions.count
        }
    }
}

/// Converts values of a column to those of a leaf.
struct LeafFlattening {
    private let shape: LeafShape
    private let column: Column
    private let rows: PresentRows
    /// The number of values that the type of the leaf cannot express, and that were changed to the nearest one.
    private(set) var changed = 0

    init(_ shape: LeafShape, _ column: Column, _ rows: PresentRows) {
        self.shape = shape
        self.column = column
        self.rows = rows
    }

    /// Returns the values.
    /// - Throws: `.rejected` if the type of the leaf cannot express a value at all.
    mutating func values() throws(FirnError) -> LeafValues {
        var out = LeafValues(shape.physical, length: shape.length)
        switch shape.form {
        case .bool:
            out.bits.grow(rows.count, zero: 0) { bits in each(column.words) { bits[$0] = $1 != 0 ? 1 : 0 } }
        case .int where shape.physical == .int64: out.append(rows.count, as: Int64.self) { words in each(column.words) { words[$0] = $1 } }
        case .int, .unsigned: try narrow(&out)
        case .real where shape.physical == .double:
            out.append(rows.count, as: Double.self) { reals in each(column.reals) { reals[$0] = $1 } }
        case .real: out.append(rows.count, as: Float.self) { reals in each(column.reals) { reals[$0] = Float($1) } }
        case .float16: halves(&out)
        case .date: days(&out)
        case .timestamp(let unit): try times(unit.perSecond, &out)
        case .uuid:
            out.append(rows.count * 2, as: Int64.self) { words in
                each(column.words) { words[2 &* $0] = ($1 ^ Int64.min).bigEndian }
                each(column.extra) { words[2 &* $0 &+ 1] = ($1 ^ Int64.min).bigEndian }
            }
        case .objectID:
            out.fixed.grow(rows.count * 12, zero: 0) { bytes in
                let raw = UnsafeMutableRawPointer(bytes)
                each(column.words) { raw.storeBytes(of: ($1 ^ Int64.min).bigEndian, toByteOffset: $0 &* 12, as: Int64.self) }
                each(column.extra) {
                    raw.storeBytes(of: UInt32(truncatingIfNeeded: $1).bigEndian, toByteOffset: $0 &* 12 &+ 8, as: UInt32.self)
                }
            }
        case .text, .bytes: texts(&out)
        case .decimalReal(let scale): try realDecimals(scale, &out)
        case .decimal(let scale): try decimals(scale, &out)
        case .unsigned64: try decimals(0, &out)
        case .number, .exactJSON, .time, .seconds, .interval, .decimalText: try eachValue(&out)
        case .int96, .null: trap("no column is written as \(shape.form)")
        }
        return out
    }

    /// Calls `body` with the number of each value, from 0, and the value.
    @inline(__always)
    private func each<T: BitwiseCopyable>(_ array: [T], _ body: (Int, T) -> Void) {
        array.withUnsafeBufferPointer { array in
            switch rows {
            case .range(let range): for i in 0..<range.count { body(i, array[range.lowerBound &+ i]) }
            case .positions(let positions): for i in 0..<positions.count { body(i, array[positions[i]]) }
            }
        }
    }

    private func position(_ i: Int) -> Int {
        switch rows {
        case .range(let range): range.lowerBound + i
        case .positions(let positions): positions[i]
        }
    }

    /// The error for a value that the type of the leaf cannot express.
    private func misfit(_ value: String, _ what: String) -> FirnError {
        FirnError(
            .rejected, "column \"\(shape.column.name)\": \(value) \(what)",
            advice: "give the column another logical type, or none, with --schema")
    }

    // MARK: Numbers

    private func narrow(_ out: inout LeafValues) throws(FirnError) {
        guard case .integer(let bits, let isSigned)? = shape.column.logical else {
            trap("a column without a logical type is stored in 64 bits")
        }
        let low: Int64 = isSigned ? -(1 << (Int64(bits) - 1)) : 0,
            high: Int64 = isSigned ? 1 << (Int64(bits) - 1) - 1 : 1 << Int64(bits) - 1
        var wrong: Int64?
        out.append(rows.count, as: Int32.self) { words in
            each(column.words) { i, word in
                if word < low || word > high { wrong = word }
                words[i] = Int32(truncatingIfNeeded: word)
            }
        }
        if let wrong { throw misfit("\(wrong)", "is outside of the range of \(LogicalType.integer(bits: bits, isSigned: isSigned))") }
    }

    private mutating func halves(_ out: inout LeafValues) {
        var inexact = 0
        out.append(rows.count, as: UInt16.self) { halves in
            each(column.reals) { i, real in
                halves[i] = HalfPrecision.bits(real)
                if !real.isNaN, HalfPrecision.value(halves[i]) != real { inexact &+= 1 }
            }
        }
        changed += inexact
    }

    private mutating func realDecimals(_ scale: Int, _ out: inout LeafValues) throws(FirnError) {
        let factor = Double(LeafFlattening.power(scale)), limit = Double(LeafFlattening.power(shape.precision))
        var inexact = 0, wrong: Double?
        @inline(__always) func scaled(_ real: Double) -> Int64 {
            let whole = (real * factor).rounded(.toNearestOrEven)
            guard abs(whole) < limit else {
                wrong = real
                return 0
            }
            if whole / factor != real { inexact &+= 1 }
            return Int64(whole)
        }
        if shape.physical == .int32 {
            out.append(rows.count, as: Int32.self) { words in each(column.reals) { words[$0] = Int32(truncatingIfNeeded: scaled($1)) } }
        } else {
            out.append(rows.count, as: Int64.self) { words in each(column.reals) { words[$0] = scaled($1) } }
        }
        if let wrong { throw misfit("\(wrong)", "does not fit decimal(\(shape.precision),\(scale))") }
        changed += inexact
    }

    private static func power(_ exponent: Int) -> UInt128 {
        var value: UInt128 = 1
        for _ in 0..<exponent { value *= 10 }
        return value
    }

    /// Numbers in the encoding of `Decimal` (IEEE 754-2008, binary integer form).
    private mutating func decimals(_ scale: Int, _ out: inout LeafValues) throws(FirnError) {
        let limit = shape.form == .unsigned64 ? UInt128(UInt64.max) : LeafFlattening.power(min(shape.precision, 37)) - 1
        for i in 0..<rows.count {
            let row = position(i), high = UInt64(bitPattern: column.words[row]), low = UInt64(bitPattern: column.extra[row])
            let isNegative = high >> 63 == 1
            guard let (magnitude, isExact) = LeafFlattening.scaled(high, low, scale), magnitude <= limit,
                shape.form != .unsigned64 || !isNegative && isExact || magnitude == 0
            else {
                throw misfit(
                    "\(Decimal(high: high, low: low))",
                    shape.form == .unsigned64 ? "is outside of the range of uint64" : "does not fit decimal(\(shape.precision),\(scale))")
            }
            if !isExact { changed += 1 }
            switch shape.physical {
            case .int32:
                let value = Int32(truncatingIfNeeded: Int64(truncatingIfNeeded: magnitude) * (isNegative ? -1 : 1))
                withUnsafeBytes(of: value.littleEndian) { out.fixed.append(contentsOf: $0) }
            case .int64:
                let bits = isNegative ? 0 &- UInt64(truncatingIfNeeded: magnitude) : UInt64(truncatingIfNeeded: magnitude)
                withUnsafeBytes(of: bits.littleEndian) { out.fixed.append(contentsOf: $0) }
            default:
                let bits = isNegative ? 0 &- magnitude : magnitude
                for byte in 0..<shape.length {
                    let shift = 8 * (shape.length - 1 - byte)
                    out.fixed.append(
                        shift >= 128 ? (isNegative && magnitude > 0 ? 0xFF : 0) : UInt8(truncatingIfNeeded: bits >> UInt128(shift)))
                }
            }
        }
    }

    /// Returns the magnitude of a number as a whole number of units of its last place, and whether that is exact; nil if it is no number
    /// or too large.
    private static func scaled(_ high: UInt64, _ low: UInt64, _ scale: Int) -> (UInt128, Bool)? {
        guard high >> 61 & 3 != 3 else {
            // NaN and the infinities, or a coefficient that is not canonical and stands for zero.
            return high >> 59 & 15 == 15 ? nil : (0, true)
        }
        var magnitude = UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low), exponent = Int(high >> 49 & 0x3FFF) - 6176 + scale
        if magnitude == 0 { return (0, true) }
        while exponent > 0 {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            magnitude = product
            exponent -= 1
        }
        var rest: UInt128 = 0, isExact = true
        while exponent < 0, magnitude > 0 {
            if rest != 0 { isExact = false }
            (magnitude, rest) = magnitude.quotientAndRemainder(dividingBy: 10)
            exponent += 1
        }
        if exponent < 0 { return (0, false) }
        if rest != 0 { isExact = false }
        return (magnitude + (rest >= 5 ? 1 : 0), isExact)
    }

    // MARK: Dates

    private mutating func days(_ out: inout LeafValues) {
        var cut = 0
        out.append(rows.count, as: Int32.self) { days in
            each(column.words) { i, seconds in
                let day = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
                days[i] = Int32(clamping: day)
                if Int64(days[i]) &* 86_400 != seconds { cut &+= 1 }
            }
        }
        // A date on the second has no rest in almost all columns.
        var more = 0
        each(column.extra) { _, rest in more &+= rest != 0 ? 1 : 0 }
        changed += max(cut, more)
    }

    private mutating func times(_ perSecond: Int64, _ out: inout LeafValues) throws(FirnError) {
        let part = 1_000_000_000 / perSecond
        var isTooLarge = false, cut = 0
        out.append(rows.count, as: Int64.self) { times in
            each(column.words) { i, seconds in
                let (product, overflow) = seconds.multipliedReportingOverflow(by: perSecond)
                if overflow { isTooLarge = true }
                times[i] = product
            }
            each(column.extra) { i, rest in
                let (sum, overflow) = times[i].addingReportingOverflow(rest / part)
                if overflow { isTooLarge = true }
                if rest % part != 0 { cut &+= 1 }
                times[i] = sum
            }
        }
        changed += cut
        if isTooLarge { try exactTimes(perSecond, &out) }
    }

    /// Replaces the values by those of the same dates computed in 128 bits: in the first second of the range, the whole second does not fit.
    private func exactTimes(_ perSecond: Int64, _ out: inout LeafValues) throws(FirnError) {
        var times: [Int64] = []
        times.reserveCapacity(rows.count)
        for i in 0..<rows.count {
            let seconds = column.words[position(i)], rest = column.extra[position(i)] / (1_000_000_000 / perSecond)
            guard let time = Int64(exactly: Int128(seconds) * Int128(perSecond) + Int128(rest)) else {
                throw misfit("a date \(seconds) seconds after 1970", "is outside of what 64 bits hold in units of 1/\(perSecond) s")
            }
            times.append(time)
        }
        out = LeafValues(shape.physical, length: shape.length)
        out.append(times.count, as: Int64.self) { words in for i in times.indices { words[i] = times[i] } }
    }

    // MARK: Texts

    private func texts(_ out: inout LeafValues) {
        switch rows {
        case .range(let range) where range.lowerBound == 0 && range.count == column.text.count: out.text = column.text
        case .range(let range): out.text.append(contentsOf: column.text, range: range)
        case .positions(let positions): out.text.append(gathered: column.text, rows: positions)
        }
    }

    private mutating func eachValue(_ out: inout LeafValues) throws(FirnError) {
        for i in 0..<rows.count {
            let row = position(i)
            switch shape.form {
            case .number:
                out.text.append(
                    Decimal(high: UInt64(bitPattern: column.words[row]), low: UInt64(bitPattern: column.extra[row])).description)
            case .exactJSON:
                var text: [UInt8] = []
                let value = column.value(at: row)
                ExactJSON.append(shape.fields.map { value.named($0, shape.column.type) } ?? value, to: &text)
                out.text.append(text)
            case .decimalText(let scale):
                let bytes = column.text.array(row)
                guard let number = WrittenText.number(bytes, scale: scale, length: shape.length) else {
                    throw misfit("\"\(column.text.string(row))\"", "does not fit decimal(\(shape.precision),\(scale))")
                }
                out.fixed += number
            case .interval:
                guard let parts = WrittenText.interval(column.text.array(row)) else {
                    throw misfit("\"\(column.text.string(row))\"", "is not an interval of months, days and milliseconds")
                }
                for part in [parts.months, parts.days, parts.milliseconds] {
                    withUnsafeBytes(of: part.littleEndian) { out.fixed.append(contentsOf: $0) }
                }
            default:
                let perSecond: Int64 = if case .time(let unit) = shape.form { unit.perSecond } else { 1000 }
                guard let time = WrittenText.time(column.text.array(row), perSecond) else {
                    throw misfit(
                        "\"\(column.text.string(row))\"", "is not a time of day with at most \("\(perSecond)".utf8.count - 1) decimals")
                }
                if shape.physical == .int32 {
                    withUnsafeBytes(of: Int32(truncatingIfNeeded: time).littleEndian) { out.fixed.append(contentsOf: $0) }
                } else {
                    withUnsafeBytes(of: time.littleEndian) { out.fixed.append(contentsOf: $0) }
                }
            }
        }
    }
}

extension Value {
    /// Returns the value with the names of fields in its objects, which are those of a type.
    func named(_ schema: Schema, _ type: ColumnType) -> Value {
        switch self {
        case .list(let values): return .list(values.map { $0.named(schema, type.element) })
        case .map(let entries): return .map(entries.map { Entry($0.key, $0.value.named(schema, type.element)) })
        case .object(let entries):
            guard let fields = type.target.flatMap({ schema[$0] })?.columns else { return self }
            return .object(
                entries.enumerated().filter { fields.indices.contains($0.offset) && !$0.element.value.isNull }.map { i, entry in
                    Entry(fields[i].name, entry.value.named(schema, fields[i].type))
                })
        default: return self
        }
    }

    /// Returns the value with the fields of its objects in the order of their types, and without names.
    func positioned(_ schema: Schema, _ type: ColumnType) -> Value {
        switch self {
        case .list(let values): return .list(values.map { $0.positioned(schema, type.isCollection ? type.element : type) })
        case .map(let entries) where type.collection == .map:
            return .map(entries.map { Entry($0.key, $0.value.positioned(schema, type.element)) })
        case .map(let entries), .object(let entries):
            guard type.kind == .embedded, let fields = type.target.flatMap({ schema[$0] })?.columns else { return self }
            let values = Dictionary(entries.map { ($0.key, $0.value) }) { _, last in last }
            return .object(fields.map { Entry("", (values[$0.name] ?? .null).positioned(schema, $0.type)) })
        default: return self
        }
    }
}
