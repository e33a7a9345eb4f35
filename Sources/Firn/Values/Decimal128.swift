import FirnBytes
import FirnTable
import Foundation

/// A decimal number of up to 34 digits with an exponent from -6143 to 6144 (IEEE 754-2008 decimal128), for example for amounts of money.
///
/// Comparison and hashing are by value, so 1.0 equals 1.00, although each keeps its digits. NaN equals itself and is ordered before every
/// number. A literal of digits and a point is read through `Double`, so only 17 of its digits count: write longer ones as strings. A string
/// literal that is not a number traps when it is evaluated: use `init(string:)` for untrusted text.
public struct Decimal128: Sendable {
    let stored: FirnTable.Decimal

    package init(_ stored: FirnTable.Decimal) { self.stored = stored }

    /// The number as the type of the modules below.
    package var modelDecimal: FirnTable.Decimal { stored }

    /// Creates zero.
    public init() { self.init(FirnTable.Decimal(Int64(0))) }

    /// Parses a number such as `-12.50`, `1.5E+40`, `Inf` or `NaN`.
    ///
    /// - Throws: `FirnError` of code `.usage` if the text is not a number or needs more than 34 digits.
    public init(string: String) throws(FirnError) {
        guard let read = FirnTable.Decimal(string) else {
            let isNumber = FirnTable.Decimal(rounding: string) != nil
            throw FirnError(
                .usage, "\"\(string)\" " + (isNumber ? "does not fit into a decimal128" : "is not a decimal number"),
                advice: isNumber
                    ? "a decimal128 has 34 digits and an exponent from -6143 to 6144" : "a decimal is written as in -12.50 or 1.5E+40")
        }
        self.init(read)
    }

    /// Parses a number. See `init(string:)`.
    public init(_ string: String) throws(FirnError) { try self.init(string: string) }

    /// Creates the decimal with the fewest digits that represents the double: 0.1 becomes 0.1.
    public init(_ value: Double) { self.init(shortest: value.description) }

    /// Creates the decimal with the fewest digits that represents the float.
    public init(_ value: Float) { self.init(shortest: value.description) }

    /// Creates the exact value of an integer; one of more than 34 digits is rounded to nearest.
    public init(_ value: some BinaryInteger) {
        if let small = Int64(exactly: value) {
            self.init(FirnTable.Decimal(small))
        } else {
            self.init(shortest: String(value))
        }
    }

    /// Converts Foundation's decimal. More than 34 digits are rounded to nearest.
    public init(_ value: Foundation.Decimal) { self.init(shortest: value.description) }

    /// Converts integers exactly, and floating-point numbers to the decimal with the fewest digits that represents them.
    public init(number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self.init(decimal.decimalValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"): self.init(number.floatValue)
        case UInt8(ascii: "d"): self.init(number.doubleValue)
        case UInt8(ascii: "Q"): self.init(number.uint64Value)
        default: self.init(number.int64Value)
        }
    }

    /// Converts an integer of any size, Float, Double, String, NSNumber or Decimal; NSNull and nil become NaN. Traps on anything else, and
    /// on text that is not a number: use `init(string:)` for untrusted text.
    public init(value: Any?) {
        guard let value, !(value is NSNull) else {
            self = .nan
            return
        }
        switch value {
        case let decimal as Decimal128: self = decimal
        case let number as NSNumber where type(of: value) is NSNumber.Type: self.init(number: number)
        case let float as Float: self.init(float)
        case let double as Double: self.init(double)
        case let integer as any BinaryInteger: self.init(integer)
        case let text as String where FirnTable.Decimal(rounding: text) != nil: self.init(shortest: text)
        case let decimal as Foundation.Decimal: self.init(decimal)
        default: trap("\"\(value)\" cannot be converted to a Decimal128: pass a number, or a string that contains one")
        }
    }

    /// Creates the exact value of an integer; nil if it has more digits than fit.
    public init?<T: BinaryInteger>(exactly source: T) {
        if let small = Int64(exactly: source) {
            self.init(FirnTable.Decimal(small))
        } else {
            guard let read = FirnTable.Decimal(String(source)) else { return nil }
            self.init(read)
        }
    }

    /// Parses and rounds a text, which must be a number.
    private init(shortest text: String) {
        guard let read = FirnTable.Decimal(rounding: text) else { trap("\"\(text)\" is not a decimal number") }
        self.init(read)
    }
}

extension Decimal128 {
    /// Not a number.
    public static let nan = Decimal128(FirnTable.Decimal(high: 0x7C00_0000_0000_0000, low: 0))
    /// Positive infinity, greater than every other number.
    public static let infinity = Decimal128(FirnTable.Decimal(high: 0x7800_0000_0000_0000, low: 0))
    /// The greatest finite number, 9.999…E+6144.
    public static let max = Decimal128(FirnTable.Decimal(high: 0x5FFF_ED09_BEAD_87C0, low: 0x378D_8E63_FFFF_FFFF))
    /// The least finite number, -9.999…E+6144.
    public static let min = -max

    /// Whether the number is NaN.
    public var isNaN: Bool { stored.isNaN }
    /// The same as `isNaN`, as in Realm: quiet and signaling NaN are not distinguished.
    public var isSignaling: Bool { isNaN }
    /// The same as `isNaN`, as in Realm: quiet and signaling NaN are not distinguished.
    public var isSignalingNaN: Bool { isNaN }
    /// Whether the number is an infinity.
    public var isInfinite: Bool { stored.high & 0x7C00_0000_0000_0000 == 0x7800_0000_0000_0000 }
    /// Whether the number is neither NaN nor an infinity.
    public var isFinite: Bool { stored.high & 0x7800_0000_0000_0000 != 0x7800_0000_0000_0000 }

    /// The nearest double.
    public var doubleValue: Double { stored.double }
    /// The value as Foundation's decimal; NaN if it does not fit there (exponents beyond 127).
    public var decimalValue: Foundation.Decimal {
        Foundation.Decimal(string: stringValue, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
    }
    /// The number with all its digits: `1.00`, `1.5E+40`, `NaN`, `Inf`.
    public var stringValue: String { isNaN ? "NaN" : stored.description }
}

extension Decimal128: CustomStringConvertible {
    /// The same as `stringValue`.
    public var description: String { stringValue }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
    /// Creates an integer, exactly.
    public init(integerLiteral value: Int64) { self.init(FirnTable.Decimal(value)) }
    /// Creates the decimal with the fewest digits that represents the double.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Parses a number. Traps if the text is not a number of at most 34 digits: use `init(string:)` for untrusted text.
    public init(stringLiteral value: String) {
        guard let read = FirnTable.Decimal(value) else {
            trap("\"\(value)\" is not a decimal of at most 34 digits: use Decimal128(string:) to catch the error")
        }
        self.init(read)
    }
}

extension Decimal128: Codable {
    /// Decodes a string or a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let read = FirnTable.Decimal(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is not a decimal of at most 34 digits")
            }
            self.init(read)
        } else if let integer = try? container.decode(Int64.self) {
            self.init(integer)
        } else if let double = try? container.decode(Double.self) {
            // Foundation's decimal keeps more digits of a number in JSON, but its exponents end at 127.
            let decimal = try? container.decode(Foundation.Decimal.self)
            self = decimal.flatMap { $0.isNaN ? nil : Decimal128($0) } ?? Decimal128(double)
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither a string nor a number, so not a decimal")
        }
    }

    /// Encodes a string, which keeps all digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
