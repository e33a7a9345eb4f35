import FirnTable
import Foundation

extension Value {
    /// Converts an untyped Swift value, such as a property in a dictionary, a key or an argument of a predicate. Returns nil if there is no
    /// corresponding value.
    ///
    /// Supported are nil and NSNull, Bool, integers of every type that fit into 64 bits, Float, Double, CGFloat, strings and substrings,
    /// Data and arrays of bytes, Date, UUID, ObjectId, Decimal128, Foundation's Decimal, AnyRealmValue, NSNumber, optionals of these, and
    /// arrays and dictionaries with string keys of these, nested.
    package init?(any value: Any?) {
        guard let value else {
            self = .null
            return
        }
        // The most frequent types come first: comparing types costs less than the casts below.
        let type = type(of: value)
        if type == String.self, let x = value as? String {
            self = .string(x)
        } else if type == Int.self, let x = value as? Int {
            self = .int(Int64(x))
        } else if type == Double.self, let x = value as? Double {
            self = .double(x)
        } else if type == Bool.self, let x = value as? Bool {
            self = .bool(x)
        } else if let optional = value as? any OptionalValue {
            // A cast unwraps an optional without showing whether it was nil.
            self.init(any: optional.wrapped)
        } else if type is NSNumber.Type, let number = value as? NSNumber {
            // Before the casts, which would convert an NSNumber of 1 to Bool, and a Swift Int to NSNumber.
            self.init(number)
        } else {
            self.init(cast: value)
        }
    }

    /// Converts a value that is neither an optional nor an NSNumber.
    private init?(cast value: Any) {
        switch value {
        case let x as Value: self = x
        case let x as String: self = .string(x)
        case let x as Float: self = .float(x)
        case let x as Date: self = .date(Timestamp(x))
        case let x as Data: self = .data([UInt8](x))
        case let x as UUID: self = .uuid(Identifier(x))
        case let x as ObjectId: self = .objectID(x.identifier)
        case let x as Decimal128: self = .decimal(x.modelDecimal)
        case let x as AnyRealmValue: self = Value(x)
        case let x as any BinaryInteger:
            guard let word = Int64(exactly: x) else { return nil }
            self = .int(word)
        case let x as any StringProtocol: self = .string(String(x))
        case let x as CGFloat: self = .double(Double(x))
        case let x as Foundation.Decimal: self = .decimal(Decimal128(x).modelDecimal)
        // Only collections of bytes: a cast to [UInt8] would accept an empty array of any type.
        case let x as any DataProtocol: self = .data([UInt8](x))
        case is NSNull: self = .null
        case let x as [Any?]: self.init(elements: x)
        case let x as [String: Any?]: self.init(fields: x)
        default: return nil
        }
    }

    private init?(elements: [Any?]) {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard let value = Value(any: element) else { return nil }
            values.append(value)
        }
        self = .list(values)
    }

    private init?(fields: [String: Any?]) {
        var entries: [Entry] = []
        entries.reserveCapacity(fields.count)
        for (key, field) in fields {
            guard let value = Value(any: field) else { return nil }
            entries.append(Entry(key, value))
        }
        self = .map(entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }

    private init?(_ number: NSNumber) {
        // There are exactly two NSNumber instances for booleans; all others are numbers.
        if number === true as NSNumber || number === false as NSNumber {
            self = .bool(number.boolValue)
            return
        }
        if let decimal = number as? NSDecimalNumber {
            self = .decimal(Decimal128(decimal.decimalValue).modelDecimal)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"): self = .float(number.floatValue)
        case UInt8(ascii: "d"): self = .double(number.doubleValue)
        case UInt8(ascii: "Q"):
            guard let word = Int64(exactly: number.uint64Value) else { return nil }
            self = .int(word)
        default: self = .int(number.int64Value)
        }
    }
}

/// An optional of any type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
