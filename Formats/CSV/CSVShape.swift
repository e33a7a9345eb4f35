import FirnExchange
import FirnModel

/// The ways to hold a text so that writing it gives the same text again, as a set. Two texts share a column's type if both can be held that way.
struct CSVShape: OptionSet, Sendable {
    var rawValue: UInt32

    static let int = CSVShape(rawValue: 1 << 0)
    /// A double whose shortest text this is.
    static let plain = CSVShape(rawValue: 1 << 1)
    /// A double whose shortest text this is once whole numbers end in `.0`.
    static let pointZero = CSVShape(rawValue: 1 << 2)
    /// A double written with as many digits after the point.
    static let fixed = CSVShape(rawValue: 1 << 3)
    static let decimal = CSVShape(rawValue: 1 << 4)
    static let bool = CSVShape(rawValue: 1 << 5)
    static let boolCapitalised = CSVShape(rawValue: 1 << 6)
    static let boolUpper = CSVShape(rawValue: 1 << 7)
    static let date = CSVShape(rawValue: 1 << 8)
    static let dateTimeSpace = CSVShape(rawValue: 1 << 9)
    static let dateTimeT = CSVShape(rawValue: 1 << 10)
    static let dateTimeZ = CSVShape(rawValue: 1 << 11)
    static let uuid = CSVShape(rawValue: 1 << 12)
    static let uuidUpper = CSVShape(rawValue: 1 << 13)

    static let numbers: CSVShape = [.int, .plain, .pointZero, .fixed, .decimal]
    static let bools: CSVShape = [.bool, .boolCapitalised, .boolUpper]
    static let dates: CSVShape = [.date, .dateTimeSpace, .dateTimeT, .dateTimeZ]
    static let uuids: CSVShape = [.uuid, .uuidUpper]
    static let all: CSVShape = [.numbers, .bools, .dates, .uuids]
}

/// The shapes among `wanted` that hold the text, and how many digits follow its point (of a number or of a second).
@inline(__always)
func shape(_ memory: UnsafePointer<UInt8>, _ count: Int, wanted: CSVShape) -> (shape: CSVShape, digits: Int) {
    if !wanted.isDisjoint(with: .numbers) {
        let number = numberShape(memory, count)
        if !number.shape.isEmpty { return number }
    }
    if wanted.isDisjoint(with: [.bools, .dates, .uuids]) { return ([], 0) }
    return otherShape(memory, count)
}

@inline(never)
private func otherShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    if count == 4 || count == 5 {
        if bytes.elementsEqual("true".utf8) || bytes.elementsEqual("false".utf8) { return (.bool, 0) }
        if bytes.elementsEqual("True".utf8) || bytes.elementsEqual("False".utf8) { return (.boolCapitalised, 0) }
        if bytes.elementsEqual("TRUE".utf8) || bytes.elementsEqual("FALSE".utf8) { return (.boolUpper, 0) }
        return ([], 0)
    }
    guard count >= 10 else { return ([], 0) }
    if memory[4] == UInt8(ascii: "-"), let reading = DateText.parse(bytes) {
        let digits = Int(reading.notation.parameter)
        switch reading.notation.code {
        case Notation.dateOnly.code: return (.date, 0)
        case Notation.dateTimeSpace(0).code: return (.dateTimeSpace, digits)
        case Notation.dateTimeT(0).code: return (.dateTimeT, digits)
        default: return (.dateTimeZ, digits)
        }
    }
    if count == 36, let reading = IdentifierText.parseUUID(bytes) {
        switch reading.letters {
        case .lower: return (.uuid, 0)
        case .upper: return (.uuidUpper, 0)
        case .none: return (.uuids, 0)
        }
    }
    return ([], 0)
}

@inline(__always)
private func numberShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    let negative = memory[0] == UInt8(ascii: "-")
    let first = negative ? 1 : 0
    guard count > first else { return ([], 0) }
    let lead = memory[first] &- 48
    if lead > 9 { return ([], 0) }
    var at = first &+ 1
    while at < count, memory[at] &- 48 <= 9 { at &+= 1 }
    let whole = at &- first
    // Leading zeros say that the text is more than a number.
    if lead == 0, whole > 1 { return ([], 0) }
    if at == count {
        if lead == 0, negative { return ([.plain, .decimal], 0) }
        if whole <= 15 { return ([.int, .plain, .decimal], 0) }
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
    // Up to 15 digits name one double each, and the digits come back.
    var shape: CSVShape = .fixed
    if memory[count &- 1] != 48 {
        if zeros <= 5 { shape.formUnion([.plain, .pointZero]) }
    } else if fraction == 1 {
        shape.insert(.pointZero)
    }
    // Decimals are written with an exponent from the seventh digit after the point on (as their standard says), zeros included.
    if lead != 0 || (zeros == fraction ? fraction <= 6 : zeros <= 5) { shape.insert(.decimal) }
    return (shape, fraction)
}

/// Numbers of more than 15 digits: by trial.
@inline(never)
private func longShape(_ memory: UnsafePointer<UInt8>, _ count: Int, whole: Int, fraction: Int) -> (shape: CSVShape, digits: Int) {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    var shape: CSVShape = []
    if fraction == 0, NumberText.parseInt64(bytes) != nil { shape.insert(.int) }
    let text = count <= 44 ? String(decoding: bytes, as: UTF8.self) : nil
    if let text, let decimal = Decimal(text), decimal.description == text { shape.insert(.decimal) }
    if count < NumberText.room, let value = NumberText.parseDouble(bytes) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.room) { buffer in
            let out = buffer.baseAddress!
            func same(_ length: Int) -> Bool { UnsafeRawBufferPointer(start: out, count: length).elementsEqual(bytes) }
            if same(NumberText.writePlain(value, to: out)) { shape.insert(.plain) }
            if fraction > 0, same(NumberText.writePointZero(value, to: out)) { shape.insert(.pointZero) }
            if fraction > 0, fraction <= 22, same(NumberText.write(value, fixed: fraction, to: out)) { shape.insert(.fixed) }
        }
    }
    return (shape, fraction)
}

/// `1e21` and the like: only if the writer would write it so.
@inline(never)
private func exponentShape(_ memory: UnsafePointer<UInt8>, _ count: Int) -> (shape: CSVShape, digits: Int) {
    let bytes = UnsafeRawBufferPointer(start: memory, count: count)
    guard count < NumberText.room, let value = NumberText.parseDouble(bytes) else { return ([], 0) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.room) { buffer in
        let length = NumberText.writePlain(value, to: buffer.baseAddress!)
        return UnsafeRawBufferPointer(start: buffer.baseAddress, count: length).elementsEqual(bytes) ? ([.plain, .pointZero], -1) : ([], 0)
    }
}
