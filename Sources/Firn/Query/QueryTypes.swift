import FirnModel
import Foundation

// Which operators of `Query` go with which types.

/// `<` and the like, ranges, and comparisons with other properties of the same family work on it.
public protocol _QueryOrdered: _Element {
    /// The family: all numbers are one.
    associatedtype _Comparand
}

/// Arithmetic and aggregates work on it.
public protocol _QueryNumeric: _QueryOrdered where _Comparand == _NumberComparand {}

/// Text functions work on it: strings, and binaries by their bytes.
public protocol _QueryText: _QueryOrdered {}

/// `Optional`, by a name that extensions can constrain to.
public protocol _QueryOptional {
    associatedtype Wrapped
}

/// `Map`, likewise.
public protocol _QueryMap {
    associatedtype _MapValue: RealmCollectionValue
}

public enum _NumberComparand {}
public enum _TextComparand {}
public enum _DataComparand {}
public enum _BoolComparand {}
public enum _DateComparand {}
public enum _UUIDComparand {}
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

extension Map: _QueryMap { public typealias _MapValue = Value }

/// How text is compared.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Upper and lower case are the same.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Letters with accents and other marks are the same as without.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}
