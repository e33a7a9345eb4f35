import Foundation

/// What an observer of a collection receives.
///
/// Indices are in ascending order. To update a copy of the old version: remove `deletions` from the highest down, insert `insertions` from
/// the lowest up, then read the modified elements again.
@frozen public enum RealmCollectionChange<CollectionType> {
    /// The collection when the observation begins: delivered once, first.
    case initial(CollectionType)
    /// The current collection, and its differences from the version that was delivered before. `deletions` and `modifications` are
    /// positions in the old version, `insertions` positions in the new one. An element that moved relative to the others is reported as
    /// deleted and inserted.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Never delivered; for code that has a case for it. `Realm.damage` reports errors of reading the file.
    case error(any Error)

    /// The current collection.
    public var collection: CollectionType? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _): collection
        case .error: nil
        }
    }

    /// Positions in the old version.
    public var deletions: [Int] { if case .update(_, let deletions, _, _) = self { deletions } else { [] } }
    /// Positions in the new version.
    public var insertions: [Int] { if case .update(_, _, let insertions, _) = self { insertions } else { [] } }
    /// The positions, in the old version, of elements that remained but changed.
    public var modificationsOld: [Int] { if case .update(_, _, _, let modifications) = self { modifications } else { [] } }

    /// The positions, in the new version, of the same elements in the same order.
    public var modificationsNew: [Int] {
        let deletions = deletions, insertions = insertions
        var deleted = 0, inserted = 0
        return modificationsOld.map { old in
            while deleted < deletions.count, deletions[deleted] < old { deleted += 1 }
            let position = old - deleted
            while inserted < insertions.count, insertions[inserted] <= position + inserted { inserted += 1 }
            return position + inserted
        }
    }
}

extension RealmCollectionChange: @unchecked Sendable where CollectionType: Sendable {}

/// What an observer of a map receives. Keys are in ascending order.
@frozen public enum RealmMapChange<Collection: _ObservableMap> {
    /// The map when the observation begins: delivered once, first.
    case initial(Collection)
    /// The current map, and the keys whose entries were removed, were added, or remained and changed.
    case update(Collection, deletions: [Collection.Key], insertions: [Collection.Key], modifications: [Collection.Key])
    /// Never delivered; for code that has a case for it. `Realm.damage` reports errors of reading the file.
    case error(any Error)
}

/// A map, for `RealmMapChange`.
public protocol _ObservableMap {
    associatedtype Key
}

extension Map: _ObservableMap {}

/// What an observer of an object receives.
@frozen public enum ObjectChange<T> {
    /// Never delivered; for code that has a case for it. `Realm.damage` reports errors of reading the file.
    case error(_ error: NSError)
    /// The object, and those of its properties that changed.
    case change(_: T, _: [PropertyChange])
    /// The object was deleted. This is the last notification.
    case deleted
}

/// A property that changed.
public struct PropertyChange {
    /// The name of the property.
    public let name: String
    /// The value at the last notification; nil for collections.
    public let oldValue: Any?
    /// The current value; nil for collections.
    public let newValue: Any?
}

extension [String] {
    /// For `keyPaths:`: only the elements' own properties, without those of linked objects.
    public static var shallow: [String] { ["*"] }
}
