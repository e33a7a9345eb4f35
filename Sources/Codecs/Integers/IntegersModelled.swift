import FirnBytes
import Synchronization

// modelled   id 10 · low (zigzag varint) · span (varint, high − low) · size (varint) · coded bytes
// The text of `size` bytes has a field for each value: its decimal digits, after "-" if it is negative, or nothing if it equals the value
// before it; each field ends with a zero byte. `ModelledBytes` codes the text, with zero as its terminator. The model finds what digits at
// a place have in common, in a column of prices, years or headings, which no encoding of whole values does.

/// Reads modelled integers. All of them are decoded when the first one is read, and kept as long as the reader.
final class IntegersModelled: IntegersBody, @unchecked Sendable {
    private let low: Int64, high: Int64, size: Int, coded: UnsafeRawBufferPointer
    private let decoded = Mutex<[Int64]?>(nil)

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        low = try reader.readSignedVarint()
        high = low &+ Int64(bitPattern: try reader.readVarint())
        size = try reader.readCount(limit: ModelledBytes.maximumBytes)
        guard size >= count else { throw Damage("modelled integers are too short for their values", at: reader.position) }
        coded = try reader.read(count: reader.remaining)
        super.init(count: count)
    }

    override var name: String { "modelled" }
    override var bounds: (Int64, Int64)? { low <= high ? (low, high) : nil }

    override func value(at index: Int) throws(Damage) -> Int64 { try all()[index] }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        try all().withUnsafeBufferPointer { out.update(from: $0.baseAddress! + start, count: n) }
    }

    private func all() throws(Damage) -> [Int64] {
        try decoded.withLock { (decoded) throws(Damage) -> [Int64] in
            if let decoded { return decoded }
            let made = try parse()
            decoded = made
            return made
        }
    }

    private func parse() throws(Damage) -> [Int64] {
        var failure: Damage?
        let text = [UInt8](unsafeUninitializedCapacity: max(size, 1)) { room, filled in
            do throws(Damage) {
                try ModelledBytes.decode(coded, count: size, terminator: 0, into: room.baseAddress!)
                filled = size
            } catch { failure = error }
        }
        if let failure { throw failure }
        var values: [Int64] = [], at = 0
        values.reserveCapacity(count)
        while at < text.count, values.count < count {
            if text[at] == 0 {
                guard let last = values.last else { throw Damage("the first of modelled integers is missing") }
                values.append(last)
            } else {
                values.append(try IntegersModelled.integer(text, &at))
            }
            at &+= 1
        }
        guard at == text.count, values.count == count else { throw Damage("modelled integers have another number of values") }
        return values
    }

    /// Reads an integer up to the zero byte after it.
    private static func integer(_ text: [UInt8], _ at: inout Int) throws(Damage) -> Int64 {
        let isNegative = text[at] == UInt8(ascii: "-")
        if isNegative { at &+= 1 }
        var magnitude: UInt64 = 0, digits = 0
        while at < text.count, text[at] != 0 {
            let digit = UInt64(text[at] &- UInt8(ascii: "0"))
            guard digit < 10, digits < 19 else { throw Damage("a modelled integer is not a number") }
            magnitude = magnitude &* 10 &+ digit
            digits &+= 1
            at &+= 1
        }
        guard at < text.count, digits > 0, magnitude <= UInt64(Int64.max) &+ (isNegative ? 1 : 0) else {
            throw Damage("a modelled integer is not a number")
        }
        return isNegative ? 0 &- Int64(bitPattern: magnitude) : Int64(magnitude)
    }
}

/// Encodes values as modelled digits. Returns nil unless the stream has less than `goal` bytes.
func encodeModelled(_ values: UnsafeBufferPointer<Int64>, low: Int64, high: Int64, goal: Int) -> [UInt8]? {
    guard values.count >= 64, goal > 64, let text = digits(of: values) else { return nil }
    guard let coded = ModelledBytes.encode(text, terminator: 0, limit: goal) else { return nil }
    var out = ByteWriter(reserving: coded.count &+ 24)
    out.append(IntegersEncoding.modelled.rawValue)
    out.appendSignedVarint(low)
    out.appendVarint(UInt64(bitPattern: high &- low))
    out.appendVarint(text.count)
    out.append(contentsOf: coded)
    return out.count < goal ? out.bytes : nil
}

/// Returns nil if the text is too long.
private func digits(of values: UnsafeBufferPointer<Int64>) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(min(values.count &* 8, ModelledBytes.maximumBytes) &+ 32)
    for i in values.indices {
        if i == 0 || values[i] != values[i &- 1] { text.append(contentsOf: String(values[i]).utf8) }
        text.append(0)
        if text.count > ModelledBytes.maximumBytes { return nil }
    }
    return text
}
