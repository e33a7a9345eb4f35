import FirnBytes
import Firn
import Foundation

/// A value of a property of any type, or the key of a section.
public protocol RLMValue {
    /// The type of the value.
    var rlm_valueType: RLMPropertyType { get }
}

extension Bool: RLMValue { public var rlm_valueType: RLMPropertyType { .bool } }
extension Int: RLMValue { public var rlm_valueType: RLMPropertyType { .int } }
extension Int8: RLMValue { public var rlm_valueType: RLMPropertyType { .int } }
extension Int16: RLMValue { public var rlm_valueType: RLMPropertyType { .int } }
extension Int32: RLMValue { public var rlm_valueType: RLMPropertyType { .int } }
extension Int64: RLMValue { public var rlm_valueType: RLMPropertyType { .int } }
extension Float: RLMValue { public var rlm_valueType: RLMPropertyType { .float } }
extension Double: RLMValue { public var rlm_valueType: RLMPropertyType { .double } }
extension String: RLMValue { public var rlm_valueType: RLMPropertyType { .string } }
extension Data: RLMValue { public var rlm_valueType: RLMPropertyType { .data } }
extension Date: RLMValue { public var rlm_valueType: RLMPropertyType { .date } }
extension UUID: RLMValue { public var rlm_valueType: RLMPropertyType { .UUID } }
extension ObjectId: RLMValue { public var rlm_valueType: RLMPropertyType { .objectId } }
extension Decimal128: RLMValue { public var rlm_valueType: RLMPropertyType { .decimal128 } }
/// Represents nil.
extension NSNull: RLMValue { public var rlm_valueType: RLMPropertyType { .any } }
extension NSNumber: RLMValue {
    /// The type of the number: `.bool`, `.int`, `.float` or `.decimal128` if it has that type, otherwise `.double`.
    public var rlm_valueType: RLMPropertyType {
        switch AnyRealmValue(untyped: self) {
        case .bool?: .bool
        case .int?: .int
        case .float?: .float
        case .decimal128?: .decimal128
        default: .double
        }
    }
}
extension RLMObject: RLMValue { public var rlm_valueType: RLMPropertyType { .object } }

// MARK: Conversion from and to Firn

/// Converts a value of Firn to one of this module: objects to `RLMObject`, values of any type to their contents, nil within collections to
/// `NSNull`.
func shown(_ value: Any?) -> Any? {
    guard let value else { return nil }
    switch value {
    case let object as DynamicObject: return RLMObject(object)
    case let any as AnyRealmValue: return shown(any.content)
    case let element as DynamicElement: return shown(element.content)
    case let elements as [Any?]: return elements.map { shown($0) ?? NSNull() }
    case let elements as Set<AnyHashable?>:
        return Set(elements.map { element -> AnyHashable in element.flatMap { shown($0.base) as? AnyHashable } ?? AnyHashable(NSNull()) })
    case let entries as [String: Any?]: return entries.mapValues { shown($0) ?? NSNull() }
    default: return value
    }
}

/// Converts a value of this module to one of Firn.
func given(_ value: Any?) -> Any? {
    guard let value else { return nil }
    switch value {
    case is NSNull: return nil
    case let object as RLMObject: return object.base
    case let collection as any RLMCollection: return collection.untypedElements
    case let dictionary as any AnyDictionary: return dictionary.untypedEntries
    case let elements as [Any?]: return elements.map { given($0) }
    case let elements as Set<AnyHashable>: return elements.map { given($0.base) }
    case let entries as [String: Any?]: return entries.mapValues { given($0) }
    default: return value
    }
}

/// Converts an element to the element type of its collection; nil to `NSNull` if that fits. Traps if the element has another type.
func typed<T>(_ element: DynamicElement, as type: T.Type = T.self) -> T {
    if let content = shown(element.content) {
        guard let fitting = content as? T else {
            trap(
                "The collection has \(Swift.type(of: content)) elements, not \(T.self): use RLMArray<\(Swift.type(of: content))>, or <Any>."
            )
        }
        return fitting
    }
    if let null = NSNull() as? T { return null }
    guard let null = Optional<Any>.none as Any as? T else {
        trap(
            "An element is nil, which is not of type \(T.self): use \(T.self)? or Any as the type of the collection's elements.")
    }
    return null
}

/// Returns the Swift type of a collection's elements.
func elementClass(_ type: DynamicType) -> Any.Type {
    func either<T>(_ plain: T.Type) -> Any.Type { type.isOptional ? T?.self : plain }
    return switch type.kind {
    case .object, .linkingObjects: either(RLMObject.self)
    case .any: Any.self
    case .bool: either(Bool.self)
    case .int: either(Int.self)
    case .float: either(Float.self)
    case .double: either(Double.self)
    case .string: either(String.self)
    case .data: either(Data.self)
    case .date: either(Date.self)
    case .decimal128: either(Decimal128.self)
    case .objectId: either(ObjectId.self)
    case .UUID: either(UUID.self)
    }
}

/// Returns the elements of any sequence.
func elements(of sequence: any Sequence) -> [Any] {
    func all<S: Sequence>(_ sequence: S) -> [Any] { sequence.map { $0 as Any } }
    return all(sequence)
}

/// Converts an index to one of this module: nil to `NSNotFound`.
func position(_ index: Int?) -> UInt { UInt(index ?? NSNotFound) }
