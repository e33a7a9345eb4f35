import Firn
import Foundation

// What is the same under both names.

public typealias RLMPropertyType = PropertyType
public typealias RLMSortDescriptor = Firn.SortDescriptor
public typealias RLMNotificationToken = NotificationToken
/// What `RLMRealm.addNotificationBlock` tells of; its raw values are the names that Realm has for them.
public typealias RLMNotification = Realm.Notification
public typealias RLMObjectId = ObjectId
public typealias RLMDecimal128 = Decimal128
/// What opening, writing and committing throw.
public typealias RLMError = Realm.Error
public typealias RLMSchema = Realm.Schema
public typealias RLMObjectSchema = ObjectSchema
public typealias RLMProperty = Property

/// Told after each change of a realm.
public typealias RLMNotificationBlock = (_ notification: RLMNotification, _ realm: RLMRealm) -> Void
/// Told when an object was deleted, or which of its properties changed.
public typealias RLMObjectChangeBlock = (_ deleted: Bool, _ changes: [RLMPropertyChange]?, _ error: (any Error)?) -> Void
/// Gives the key of the section that an element belongs to: any value but a link; nil is a key too.
public typealias RLMSectionedResultsKeyBlock = (_ element: Any) -> (any RLMValue)?

/// What belongs to the thread or queue of a realm.
public protocol RLMThreadConfined {
    /// The realm that manages it; nil: none.
    var realm: RLMRealm? { get }
    /// It can no longer be used: it was deleted, or its realm invalidated.
    var isInvalidated: Bool { get }
}

/// One property of an object that changed.
public struct RLMPropertyChange {
    public let name: String
    /// What the property held when the observer was told last; nil of collections.
    public let previousValue: Any?
    /// What it holds now; nil of collections.
    public let value: Any?
}

extension RLMObjectSchema {
    /// A type that no class stands for: see `RLMRealmConfiguration.customSchema`.
    public init(className: String, properties: [RLMProperty], isEmbedded: Bool = false) {
        precondition(properties.filter(\.isPrimaryKey).count <= 1, "type '\(className)' has more than one primary key: keep one")
        self.init(className: className, properties: properties, embedded: isEmbedded)
    }
}

extension RLMProperty {
    /// - Parameters:
    ///   - type: of collections: of one element.
    ///   - objectClassName: the type that links and embedded objects are of.
    ///   - isOptional: nil may be in it; of collections: their elements may be nil. Links always may.
    public init(name: String, type: RLMPropertyType, objectClassName: String? = nil, isPrimaryKey: Bool = false, isOptional: Bool = false,
                isArray: Bool = false, isSet: Bool = false, isDictionary: Bool = false) {
        precondition((type == .object) == (objectClassName != nil), "property '\(name)': objects, and only they, have an objectClassName")
        precondition(type != .linkingObjects, "property '\(name)': inverse links are not stored; ask RLMObject.linkingObjects(ofClass:forProperty:)")
        precondition([isArray, isSet, isDictionary].filter { $0 }.count <= 1, "property '\(name)' is one collection at most")
        self.init(name: name, type: type, objectClassName: objectClassName, isPrimaryKey: isPrimaryKey, isIndexed: isPrimaryKey,
                  isOptional: isOptional || type == .object && !isArray && !isSet && !isDictionary,
                  isArray: isArray, isSet: isSet, isMap: isDictionary)
    }
}

extension RLMSchema {
    /// Types that no class stands for.
    public init(objectSchema: [RLMObjectSchema]) { self.init(objectSchema) }
}
