import CDecimal
import FirnBytes

/// A point in time: seconds since 1970-01-01 00:00:00 UTC, rounded down, and the nanoseconds after them (0 ..< 1,000,000,000).
package struct Timestamp: Hashable, Sendable, Comparable {
    package var seconds: Int64
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds) }
}

/// A decimal of up to 34 digits (IEEE 754-2008 decimal128, binary-integer form). Equality is that of the bits: 1.0 and 1.00 differ.
/// `compare` compares by value.
package struct Decimal: Hashable, Sendable, CustomStringConvertible {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Fails unless the text is a number that fits without loss of digits.
    package init?(_ text: String) {
        guard let read = Decimal.read(text), !read.inexact else { return nil }
        self = read.value
    }

    /// Fails unless the text is a number. Digits after the 34th are rounded to the nearest, ties to even.
    package init?(rounding text: String) {
        guard let read = Decimal.read(text) else { return nil }
        self = read.value
    }

    private static func read(_ text: String) -> (value: Decimal, inexact: Bool)? {
        // The C library would end the text at a NUL.
        guard !text.utf8.contains(0),
            let first = text.utf8.first(where: { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: ".") }),
            first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") || "inNI".utf8.contains(first)
        else { return nil }
        var inexact: Int32 = 0
        let value = Decimal(bits: firn_decimal_from_text(text, &inexact))
        // The library reads NaN from any text that is not a number, and from any that begins with "nan".
        return value.isNaN && !["nan", "+nan", "-nan"].contains(text.lowercased()) ? nil : (value, inexact != 0)
    }

    package init(_ value: Int64) { self.init(bits: firn_decimal_from_int64(value)) }
    package init(_ value: Double) { self.init(bits: firn_decimal_from_double(value)) }
    init(bits: firn_decimal) { self.init(high: bits.high, low: bits.low) }
    var bits: firn_decimal { firn_decimal(low: low, high: high) }

    /// The nearest double.
    package var double: Double { firn_decimal_to_double(bits) }
    package var isNaN: Bool { firn_decimal_is_nan(bits) != 0 }

    /// Compares by value: returns -1, 0 or 1, or nil if either is NaN.
    package func compare(_ other: Decimal) -> Int? {
        let order = firn_decimal_compare(bits, other.bits)
        return order == 2 ? nil : Int(order)
    }

    /// Compares with a double by exact value, without rounding either: returns -1, 0 or 1, or nil if either is NaN.
    package func compare(_ other: Double) -> Int? {
        var inexact: Int32 = 0
        let below = Decimal(bits: firn_decimal_at_most_double(other, &inexact))
        guard let order = compare(below) else { return nil }
        return inexact != 0 && order == 0 ? -1 : order
    }

    package static func + (a: Decimal, b: Decimal) -> Decimal { Decimal(bits: firn_decimal_add(a.bits, b.bits)) }
    package static func - (a: Decimal, b: Decimal) -> Decimal { Decimal(bits: firn_decimal_subtract(a.bits, b.bits)) }
    package static func * (a: Decimal, b: Decimal) -> Decimal { Decimal(bits: firn_decimal_multiply(a.bits, b.bits)) }
    package static func / (a: Decimal, b: Decimal) -> Decimal { Decimal(bits: firn_decimal_divide(a.bits, b.bits)) }

    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(FIRN_DECIMAL_TEXT_MAX)) { buffer in
            let length = Int(firn_decimal_to_text(bits, buffer.baseAddress!))
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(length), as: UTF8.self)
        }
    }
}

/// 16 bytes in the order in which they are written. An object id uses the first 12.
package struct Identifier: Hashable, Sendable, Comparable {
    /// The first eight bytes, big-endian.
    package var high: UInt64
    /// The last eight (of an object id: four) bytes, big-endian.
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func < (a: Identifier, b: Identifier) -> Bool { (a.high, a.low) < (b.high, b.low) }

    /// `8-4-4-4-12` lower-case hexadecimal digits.
    package var uuidText: String {
        let digits = Identifier.hex(high, 16) + Identifier.hex(low, 16)
        var text = ""
        for (i, digit) in digits.enumerated() {
            if i == 8 || i == 12 || i == 16 || i == 20 { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// 24 lower-case hexadecimal digits.
    package var objectIDText: String { Identifier.hex(high, 16) + Identifier.hex(low, 8) }

    package init?(uuidText: String) {
        let utf8 = Array(uuidText.utf8)
        guard utf8.count == 36, utf8[8] == 45, utf8[13] == 45, utf8[18] == 45, utf8[23] == 45 else { return nil }
        let digits = utf8.filter { $0 != 45 }
        guard digits.count == 32, let high = Identifier.parse(digits[0..<16]), let low = Identifier.parse(digits[16..<32]) else {
            return nil
        }
        self.init(high: high, low: low)
    }

    package init?(objectIDText: String) {
        let utf8 = Array(objectIDText.utf8)
        guard utf8.count == 24, let high = Identifier.parse(utf8[0..<16]), let low = Identifier.parse(utf8[16..<24]) else { return nil }
        self.init(high: high, low: low)
    }

    private static func parse(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 48...57: value = value << 4 | UInt64(digit - 48)
            case 97...102: value = value << 4 | UInt64(digit - 87)
            case 65...70: value = value << 4 | UInt64(digit - 55)
            default: return nil
            }
        }
        return value
    }

    /// Returns the last `width` digits: the low number of an object id has 32 bits, but one of a damaged file may have more.
    private static func hex(_ value: UInt64, _ width: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text.suffix(width)
    }
}

/// One value of any kind. Single rows, keys, arguments and `any` columns use it; whole columns use `Column`. Equality and hashing are by
/// kind and bits, so NaN equals itself; `Value.order` compares numbers by value.
package indirect enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case string(String)
    case data([UInt8])
    case date(Timestamp)
    case decimal(Decimal)
    case objectID(Identifier)
    case uuid(Identifier)
    /// The row id of a linked object.
    case link(Int64)
    case list([Value])
    /// Ascending by `Value.order`, distinct.
    case set([Value])
    /// Ascending by key.
    case map([Entry])
    /// The fields of an embedded object in the order of its type. Absent fields are null.
    case object([Entry])

    /// A key and its value.
    package struct Entry: Hashable, Sendable {
        package var key: String
        package var value: Value

        package init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }

        /// Keys are compared byte by byte: the two Unicode forms of "é" are different keys.
        package static func == (a: Entry, b: Entry) -> Bool { a.key.utf8.elementsEqual(b.key.utf8) && a.value == b.value }

        package func hash(into hasher: inout Hasher) {
            for byte in key.utf8 { hasher.combine(byte) }
            hasher.combine(value)
        }
    }

    package var isNull: Bool { self == .null }

    package static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
        case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        case (.data(let x), .data(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.decimal(let x), .decimal(let y)): x == y
        case (.objectID(let x), .objectID(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.link(let x), .link(let y)): x == y
        case (.list(let x), .list(let y)), (.set(let x), .set(let y)): x == y
        case (.map(let x), .map(let y)), (.object(let x), .object(let y)): x == y
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let x): hasher.combine(x)
        case .int(let x), .link(let x): hasher.combine(x)
        case .float(let x): hasher.combine(x.bitPattern)
        case .double(let x): hasher.combine(x.bitPattern)
        case .string(let x): for byte in x.utf8 { hasher.combine(byte) }
        case .data(let x): hasher.combine(x)
        case .date(let x): hasher.combine(x)
        case .decimal(let x): hasher.combine(x)
        case .objectID(let x), .uuid(let x): hasher.combine(x)
        case .list(let x), .set(let x): hasher.combine(x)
        case .map(let x), .object(let x): hasher.combine(x)
        }
    }
}
