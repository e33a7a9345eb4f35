import FirnExchange
import FirnTable

/// A set of shapes: ways to store a text so that writing the value gives the same text. A column can have a type if all its cells share
/// that shape.
struct CSVShape: Equatable, Sendable {
    var rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    @inline(__always) var isEmpty: Bool { rawValue == 0 }
    @inline(__always) func contains(_ other: CSVShape) -> Bool { rawValue & other.rawValue == other.rawValue }
    @inline(__always) func isDisjoint(with other: CSVShape) -> Bool { rawValue & other.rawValue == 0 }
    @inline(__always) mutating func formIntersection(_ other: CSVShape) { rawValue &= other.rawValue }
    @inline(__always) mutating func insert(_ other: CSVShape) { rawValue |= other.rawValue }
    @inline(__always) static func | (a: CSVShape, b: CSVShape) -> CSVShape { CSVShape(rawValue: a.rawValue | b.rawValue) }

    @inline(__always) static var none: CSVShape { CSVShape(rawValue: 0) }

    @inline(__always) static var int: CSVShape { CSVShape(rawValue: 1 << 0) }
    /// A double whose shortest text this is.
    @inline(__always) static var plain: CSVShape { CSVShape(rawValue: 1 << 1) }
    /// A double whose text this is if whole numbers end in `.0`.
    @inline(__always) static var pointZero: CSVShape { CSVShape(rawValue: 1 << 2) }
    /// A double written with a fixed number of digits after the point.
    @inline(__always) static var fixed: CSVShape { CSVShape(rawValue: 1 << 3) }
    @inline(__always) static var decimal: CSVShape { CSVShape(rawValue: 1 << 4) }
    @inline(__always) static var bool: CSVShape { CSVShape(rawValue: 1 << 5) }
    @inline(__always) static var boolCapitalised: CSVShape { CSVShape(rawValue: 1 << 6) }
    @inline(__always) static var boolUpper: CSVShape { CSVShape(rawValue: 1 << 7) }
    /// Like `plain` and `pointZero`, with exponents of at least two digits below 1e-4 and from 1e16 on.
    @inline(__always) static var exponent: CSVShape { CSVShape(rawValue: 1 << 8) }
    @inline(__always) static var exponentPointZero: CSVShape { CSVShape(rawValue: 1 << 9) }
    @inline(__always) static var uuid: CSVShape { CSVShape(rawValue: 1 << 12) }
    @inline(__always) static var uuidUpper: CSVShape { CSVShape(rawValue: 1 << 13) }

    /// Whole numbers of at most 15 digits other than `-0`, and that one.
    @inline(__always) static var wholeNumber: CSVShape { .int | negativeZero }
    @inline(__always) static var negativeZero: CSVShape { .plain | .exponent | .decimal }

    @inline(__always) static var numbers: CSVShape { .int | .doubles | .fixed | .decimal }
    /// Doubles whose whole values have a form of their own.
    @inline(__always) static var doubles: CSVShape { .plain | .pointZero | .exponents }
    @inline(__always) static var exponents: CSVShape { .exponent | .exponentPointZero }
    @inline(__always) static var bools: CSVShape { .bool | .boolCapitalised | .boolUpper }
    @inline(__always) static var uuids: CSVShape { .uuid | .uuidUpper }
    /// Bools and UUIDs.
    @inline(__always) static var others: CSVShape { .bools | .uuids }
}

/// Returns the shapes of a text among those of bools and UUIDs.
@inline(never)
func otherShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> CSVShape {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    if count == 4 || count == 5 {
        // Compares four letters as one number; memory after the text may be read.
        switch (UInt32(littleEndian: bytes.baseAddress!.loadUnaligned(as: UInt32.self)), count == 5 ? memory[4] : 0) {
        case (0x6575_7274, 0), (0x736C_6166, UInt8(ascii: "e")): return .bool  // true, false
        case (0x6575_7254, 0), (0x736C_6146, UInt8(ascii: "e")): return .boolCapitalised  // True, False
        case (0x4555_5254, 0), (0x534C_4146, UInt8(ascii: "E")): return .boolUpper  // TRUE, FALSE
        default: return .none
        }
    }
    if count == 36, let reading = IdentifierText.parseUUID(bytes) {
        switch reading.letters {
        case .lower: return .uuid
        case .upper: return .uuidUpper
        case .none: return .uuids
        }
    }
    return .none
}

/// Returns the shapes of a text among those of numbers, and the number of digits after its point. Texts that are not empty only.
func numberShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    let negative = memory[0] == UInt8(ascii: "-")
    let first = negative ? 1 : 0
    guard count > first else { return (.none, 0) }
    let lead = memory[first] &- 48
    if lead > 9 { return (.none, 0) }
    var at = first &+ 1
    while at < count, memory[at] &- 48 <= 9 { at &+= 1 }
    let whole = at &- first
    // A text with leading zeros is not a number: a number would lose them.
    if lead == 0, whole > 1 { return (.none, 0) }
    if at == count {
        if lead == 0, negative { return (.negativeZero, 0) }
        if whole <= 15 { return (.wholeNumber, 0) }
        return longShape(memory, count, whole: whole, fraction: 0)
    }
    guard memory[at] == UInt8(ascii: "."), at &+ 1 < count else { return exponentShape(memory, count) }
    at &+= 1
    let fraction = count &- at
    var zeros = 0
    if lead == 0 { while zeros < fraction, memory[at &+ zeros] == 48 { zeros &+= 1 } }
    while at < count, memory[at] &- 48 <= 9 { at &+= 1 }
    guard at == count else { return exponentShape(memory, count) }
    if whole &+ fraction > 15 { return longShape(memory, count, whole: whole, fraction: fraction) }
    return (fractionShape(startsWithZero: lead == 0, zeros: zeros, fraction: fraction, last: memory[count &- 1]), fraction)
}

/// Returns the shapes of a number with at most 15 digits, `fraction` of them after the point; `zeros` is the number of zeros after the
/// point that no other digit precedes, and `last` the last digit.
@inline(__always)
func fractionShape(startsWithZero: Bool, zeros: Int, fraction: Int, last: UInt8) -> CSVShape {
    // Each decimal of up to 15 digits has its own double, so the digits survive a round trip.
    var shape = CSVShape.fixed
    if last != UInt8(ascii: "0") {
        if zeros <= 5 { shape.insert(zeros <= 3 ? .doubles : .plain | .pointZero) }
    } else if fraction == 1 {
        shape.insert(.pointZero | .exponentPointZero)
    }
    // Decimals are written with an exponent if the first digit other than zero is the seventh or later after the point, as their standard
    // requires.
    if !startsWithZero || (zeros == fraction ? fraction <= 6 : zeros <= 5) { shape.insert(.decimal) }
    return shape
}

/// Returns the shapes of a number with more than 15 digits, by writing it.
@inline(never)
private func longShape(_ memory: UnsafePointer<UInt8>, _ count: Int, whole: Int, fraction: Int) -> (shape: CSVShape, digits: Int) {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    var shape = CSVShape.none
    if fraction == 0, NumberText.parseInt64(bytes) != nil { shape.insert(.int) }
    let text = count <= 44 ? String(decoding: bytes, as: UTF8.self) : nil
    if let text, let decimal = Decimal(text), decimal.description == text { shape.insert(.decimal) }
    if count < NumberText.room, let value = NumberText.parseDouble(bytes) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.room) { buffer in
            let out = buffer.baseAddress!
            func same(_ length: Int) -> Bool { UnsafeRawBufferPointer(start: out, count: length).elementsEqual(bytes) }
            let hasExponent = value.magnitude < 1e-4 || value.magnitude >= 1e16
            if same(NumberText.writePlain(value, to: out)) { shape.insert(hasExponent ? .plain : .plain | .exponent) }
            if fraction > 0, same(NumberText.writePointZero(value, to: out)) {
                shape.insert(hasExponent ? .pointZero : .pointZero | .exponentPointZero)
            }
            if fraction > 0, fraction <= 22, same(NumberText.write(value, fixed: fraction, to: out)) { shape.insert(.fixed) }
        }
    }
    return (shape, fraction)
}

/// Returns the shapes of a number such as `1e21` or `1e-05`: only those in which the writer writes the same text.
@inline(never)
private func exponentShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    guard count < NumberText.room, let value = NumberText.parseDouble(bytes) else { return (.none, 0) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.room) { buffer in
        let out = buffer.baseAddress!
        func same(_ length: Int) -> Bool { UnsafeRawBufferPointer(start: out, count: length).elementsEqual(bytes) }
        var shape = CSVShape.none
        if same(NumberText.writePlain(value, to: out)) { shape.insert(.plain | .pointZero) }
        if same(NumberText.writeTwoDigitExponent(value, pointZero: false, to: out)) { shape.insert(.exponents) }
        return shape.isEmpty ? (shape, 0) : (shape, -1)
    }
}
