import FirnTable
import Foundation

// The types that the operators of `Query` apply to.

/// A type with order: `<` and its relatives, ranges, and comparisons with other properties of the same family apply to it.
public protocol _QueryOrdered: _Element {
    /// The family of comparable types; all numbers are one family.
    associatedtype _Comparand
}

/// A type that arithmetic and aggregates apply to.
public protocol _QueryNumeric: _QueryOrdered where _Comparand == _NumberComparand {}

/// A type that text functions apply to: strings, and binary data by its bytes.
public protocol _QueryText: _QueryOrdered {}

/// A type whose values are stored as those of another type, and compared by them: enums and custom types.
public protocol _QueryByStoredValue: _Element, _HasPersistedType {}

/// `Optional`, as a protocol that extensions can be constrained to.
public protocol _QueryOptional {
    associatedtype Wrapped
}

/// `Map`, as a protocol that extensions can be constrained to.
public protocol _QueryMap {
    associatedtype _MapValue: RealmCollectionValue
}

/// `RealmProperty` and `RealmOptional`, as a protocol that extensions can be constrained to.
public protocol _QueryBoxed {
    associatedtype _BoxedValue
}

/// The family of numbers of all types, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct
/// use.
public enum _NumberComparand {}
/// The family of strings, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _TextComparand {}
/// The family of binary data, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _DataComparand {}
/// The family of booleans, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _BoolComparand {}
/// The family of dates, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _DateComparand {}
/// The family of UUIDs, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _UUIDComparand {}
/// The family of object ids, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct use.
public enum _ObjectIdComparand {}

extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Decimal128: _QueryNumeric {}
extension String: _QueryText { public typealias _Comparand = _TextComparand }
extension Data: _QueryText { public typealias _Comparand = _DataComparand }
extension Bool: _QueryOrdered { public typealias _Comparand = _BoolComparand }
extension Date: _QueryOrdered { public typealias _Comparand = _DateComparand }
extension UUID: _QueryOrdered { public typealias _Comparand = _UUIDComparand }
extension ObjectId: _QueryOrdered { public typealias _Comparand = _ObjectIdComparand }

extension Optional: _QueryOptional {}
extension Optional: _QueryOrdered where Wrapped: _QueryOrdered { public typealias _Comparand = Wrapped._Comparand }
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryText where Wrapped: _QueryText {}

extension RealmProperty: _QueryBoxed { public typealias _BoxedValue = Value }
@available(*, deprecated)
extension RealmOptional: _QueryBoxed { public typealias _BoxedValue = Value? }

extension Map: _QueryMap { public typealias _MapValue = Value }

/// How text is compared.
public struct StringOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt8
    /// Creates options from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignores the difference between upper and lower case.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Ignores accents and other diacritical marks.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}
