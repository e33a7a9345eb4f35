import FirnTable
import Foundation

/// A value of any type, for properties whose type differs from object to object.
///
/// Values of all types have one total order: none < bool < numbers < string < data < date < object id < UUID < object < list < dictionary.
/// Numbers of all types compare by their exact value, so `.int(1) == .double(1)` and both have the same hash; a string never equals a
/// number. NaN equals itself and is ordered before all numbers. Strings and data compare by their bytes, dates by the nanosecond.
public enum AnyRealmValue {
    /// No value.
    case none
    case int(Int)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    case uuid(UUID)
    /// A link to an object of any class.
    case object(Object)
    case dictionary(Map<String, AnyRealmValue>)
    case list(List<AnyRealmValue>)

    /// Creates `.none`.
    public init() { self = .none }
}

/// The value, if it is of the requested type; nil otherwise. Nothing is converted.
extension AnyRealmValue {
    /// The integer; nil if the value is of another type.
    public var intValue: Int? { if case .int(let x) = self { x } else { nil } }
    /// The boolean; nil if the value is of another type.
    public var boolValue: Bool? { if case .bool(let x) = self { x } else { nil } }
    /// The float; nil if the value is of another type.
    public var floatValue: Float? { if case .float(let x) = self { x } else { nil } }
    /// The double; nil if the value is of another type.
    public var doubleValue: Double? { if case .double(let x) = self { x } else { nil } }
    /// The string; nil if the value is of another type.
    public var stringValue: String? { if case .string(let x) = self { x } else { nil } }
    /// The data; nil if the value is of another type.
    public var dataValue: Data? { if case .data(let x) = self { x } else { nil } }
    /// The date; nil if the value is of another type.
    public var dateValue: Date? { if case .date(let x) = self { x } else { nil } }
    /// The object id; nil if the value is of another type.
    public var objectIdValue: ObjectId? { if case .objectId(let x) = self { x } else { nil } }
    /// The decimal; nil if the value is of another type.
    public var decimal128Value: Decimal128? { if case .decimal128(let x) = self { x } else { nil } }
    /// The UUID; nil if the value is of another type.
    public var uuidValue: UUID? { if case .uuid(let x) = self { x } else { nil } }
    /// The list; nil if the value is of another type.
    public var listValue: List<AnyRealmValue>? { if case .list(let x) = self { x } else { nil } }
    /// The dictionary; nil if the value is of another type.
    public var dictionaryValue: Map<String, AnyRealmValue>? { if case .dictionary(let x) = self { x } else { nil } }
    /// Returns the object, if it is of this class; nil otherwise.
    public func object<T: Object>(_ objectType: T.Type) -> T? { if case .object(let x) = self { x as? T } else { nil } }

    /// The object without its class, for access by property name; nil if the value is not an object, or is an unmanaged object of a class.
    public var dynamicObject: DynamicObject? { if case .object(let x) = self { x.withoutClass as? DynamicObject } else { nil } }

    /// Creates a list of values.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: array)
        return .list(list)
    }

    /// Creates a dictionary of values.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map[key] = value }
        return .dictionary(map)
    }
}

extension AnyRealmValue: Hashable, Comparable {
    /// Compares by value across types: numbers by their exact value, objects by identity, collections by their elements.
    public static func == (a: AnyRealmValue, b: AnyRealmValue) -> Bool {
        switch (a, b) {
        // The same equality as the model's for the frequent types, without converting to model values.
        case (.int(let x), .int(let y)): x == y
        case (.bool(let x), .bool(let y)): x == y
        case (.string(let x), .string(let y)): x == y && x.utf8.elementsEqual(y.utf8)
        case (.uuid(let x), .uuid(let y)): x == y
        case (.objectId(let x), .objectId(let y)): x == y
        case (.object(let x), .object(let y)): x == y
        case (.list(let x), .list(let y)): x === y || x.elementsEqual(y)
        case (.dictionary(let x), .dictionary(let y)): x == y
        case (.object, _), (.list, _), (.dictionary, _), (_, .object), (_, .list), (_, .dictionary): false
        default: Value.order(Value(a), Value(b)) == 0
        }
    }

    /// Compares in the total order of all types.
    public static func < (a: AnyRealmValue, b: AnyRealmValue) -> Bool {
        let first = a.rank, second = b.rank
        return first == second ? Value.order(Value(a), Value(b)) < 0 : first < second
    }

    /// Objects are ordered after all plain values, lists after objects, dictionaries last.
    private var rank: Int {
        switch self {
        case .object: 1
        case .list: 2
        case .dictionary: 3
        default: 0
        }
    }

    /// Hashes the value so that numbers of equal value have the same hash, whatever their type.
    ///
    /// - Complexity: O(*n*) for *n* elements of a list or bytes of a string or data.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .int(let x): AnyRealmValue.hash(Double(x), into: &hasher)
        case .float(let x): AnyRealmValue.hash(Double(x), into: &hasher)
        case .double(let x): AnyRealmValue.hash(x, into: &hasher)
        case .decimal128(let x): AnyRealmValue.hash(x.doubleValue, into: &hasher)
        case .none: hasher.combine(UInt8(0))
        case .bool(let x): hasher.combine(x)
        case .string(let x): hasher.combine(x)
        case .data(let x): hasher.combine(x)
        case .date(let x): hasher.combine(Timestamp(x))
        case .objectId(let x): hasher.combine(x)
        case .uuid(let x): hasher.combine(x)
        case .object(let x): hasher.combine(x)
        case .list(let x): for element in x { hasher.combine(element) }
        case .dictionary(let x): hasher.combine(x)
        }
    }

    /// Numbers of equal value convert to the same double, whatever their type, because doubles are far coarser than decimals.
    private static func hash(_ number: Double, into hasher: inout Hasher) {
        hasher.combine(UInt8(1))
        if !number.isNaN { hasher.combine(number) }
    }
}

extension AnyRealmValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// Creates `.none`.
    public init(nilLiteral: ()) { self = .none }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AnyRealmValue: CustomStringConvertible {
    /// The description of the value; `nil` for no value.
    public var description: String {
        switch self {
        case .none: "nil"
        case .int(let x): x.description
        case .bool(let x): x.description
        case .float(let x): x.description
        case .double(let x): x.description
        case .string(let x): x
        case .data(let x): x.description
        case .date(let x): x.description
        case .objectId(let x): x.description
        case .decimal128(let x): x.description
        case .uuid(let x): x.description
        case .object(let x): x.description
        case .list(let x): x.description
        case .dictionary(let x): "\(x.asKeyValueSequence())"
        }
    }
}
