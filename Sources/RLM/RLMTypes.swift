import FirnBytes
import Firn
import Foundation

// Types that are the same under both names.

/// The types of properties.
public typealias RLMPropertyType = PropertyType
/// A key path and a direction to sort by.
public typealias RLMSortDescriptor = Firn.SortDescriptor
/// Ends an observation when it is invalidated or released.
public typealias RLMNotificationToken = NotificationToken
/// The notifications of `RLMRealm.addNotificationBlock`. The raw values are the names that Realm uses.
public typealias RLMNotification = Realm.Notification
/// An identifier of 12 bytes.
public typealias RLMObjectId = ObjectId
/// A decimal number with 34 digits.
public typealias RLMDecimal128 = Decimal128
/// The errors that opening, writing and committing throw.
public typealias RLMError = Realm.Error
/// The types of a file.
public typealias RLMSchema = Realm.Schema
/// The name and the properties of one type.
public typealias RLMObjectSchema = ObjectSchema
/// One property of a type.
public typealias RLMProperty = Property

/// Called after each change of a realm.
public typealias RLMNotificationBlock = (_ notification: RLMNotification, _ realm: RLMRealm) -> Void
/// Called with the changed properties of an object, or when it was deleted.
public typealias RLMObjectChangeBlock = (_ deleted: Bool, _ changes: [RLMPropertyChange]?, _ error: (any Error)?) -> Void
/// Returns the key of the section of an element: any value except a link. Nil is a key too.
public typealias RLMSectionedResultsKeyBlock = (_ element: Any) -> (any RLMValue)?

/// A value that belongs to the thread or queue of a realm.
public protocol RLMThreadConfined {
    /// The realm that manages the value; nil if it is unmanaged.
    var realm: RLMRealm? { get }
    /// True if the value can no longer be used, because it was deleted or its realm was invalidated.
    var isInvalidated: Bool { get }
}

/// One property of an object that changed.
public struct RLMPropertyChange {
    /// The name of the property.
    public let name: String
    /// The value at the previous call of the observer; nil for collections.
    public let previousValue: Any?
    /// The value now; nil for collections.
    public let value: Any?
}

extension RLMObjectSchema {
    /// Creates a type without a Swift class: see `RLMRealmConfiguration.customSchema`.
    public init(className: String, properties: [RLMProperty], isEmbedded: Bool = false) {
        trap(unless: properties.filter(\.isPrimaryKey).count <= 1, "type \"\(className)\" has more than one primary key: keep one")
        self.init(className: className, properties: properties, embedded: isEmbedded)
    }
}

extension RLMProperty {
    /// Creates a property.
    /// - Parameters:
    ///   - type: The type of the value; for a collection, of one element.
    ///   - objectClassName: The type that links or embedded objects have; nil for other properties.
    ///   - isOptional: Whether the value, or for a collection its elements, can be nil. Links always can.
    public init(
        name: String, type: RLMPropertyType, objectClassName: String? = nil, isPrimaryKey: Bool = false, isOptional: Bool = false,
        isArray: Bool = false, isSet: Bool = false, isDictionary: Bool = false
    ) {
        trap(
            unless: (type == .object) == (objectClassName != nil),
            "property \"\(name)\": an objectClassName is required for objects and not permitted for other types")
        trap(
            unless: type != .linkingObjects,
            "property \"\(name)\": inverse links are not stored: use RLMObject.linkingObjects(ofClass:forProperty:)")
        trap(
            unless: [isArray, isSet, isDictionary].filter { $0 }.count <= 1,
            "property \"\(name)\" can be only one of array, set and dictionary")
        self.init(
            name: name, type: type, objectClassName: objectClassName, isPrimaryKey: isPrimaryKey, isIndexed: isPrimaryKey,
            isOptional: isOptional || type == .object && !isArray && !isSet && !isDictionary,
            isArray: isArray, isSet: isSet, isMap: isDictionary)
    }
}

extension RLMSchema {
    /// Creates a schema of types without Swift classes.
    public init(objectSchema: [RLMObjectSchema]) { self.init(objectSchema) }
}
