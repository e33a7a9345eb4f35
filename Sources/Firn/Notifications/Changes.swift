/// What an observer of a collection is told.
///
/// Indices ascend. To bring a copy of the old version up to date: take out `deletions` from the highest down, put in `insertions` from the lowest up,
/// then read anew what is modified.
public enum RealmCollectionChange<CollectionType> {
    /// The collection as it is when the observation begins: told once, first.
    case initial(CollectionType)
    /// The collection now, and how it differs from what was told before: `deletions` and `modifications` are places in the old version, `insertions`
    /// places in the new one. An element that changed its place relative to the others was deleted and inserted.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Never told: for code that has a case for it.
    case error(any Error)

    /// The collection as it is now.
    public var collection: CollectionType? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _): collection
        case .error: nil
        }
    }

    /// Places in the old version.
    public var deletions: [Int] { if case .update(_, let deletions, _, _) = self { deletions } else { [] } }
    /// Places in the new version.
    public var insertions: [Int] { if case .update(_, _, let insertions, _) = self { insertions } else { [] } }
    /// Where elements stood, in the old version, that stayed but changed.
    public var modificationsOld: [Int] { if case .update(_, _, _, let modifications) = self { modifications } else { [] } }

    /// Where the same elements, in the same order, stand in the new version.
    public var modificationsNew: [Int] {
        let deletions = deletions, insertions = insertions
        var deleted = 0, inserted = 0
        return modificationsOld.map { old in
            while deleted < deletions.count, deletions[deleted] < old { deleted += 1 }
            let place = old - deleted
            while inserted < insertions.count, insertions[inserted] <= place + inserted { inserted += 1 }
            return place + inserted
        }
    }
}

extension RealmCollectionChange: @unchecked Sendable where CollectionType: Sendable {}

/// What an observer of a map is told; the keys ascend.
public enum RealmMapChange<Collection: _ObservableMap> {
    case initial(Collection)
    /// The keys whose entries went, came, or stayed and changed.
    case update(Collection, deletions: [Collection.Key], insertions: [Collection.Key], modifications: [Collection.Key])
    /// Never told.
    case error(any Error)
}

/// Maps, for `RealmMapChange`.
public protocol _ObservableMap {
    associatedtype Key
}

extension Map: _ObservableMap {}

/// What an observer of an object is told.
public enum ObjectChange<T> {
    /// Never told.
    case error(any Error)
    /// The object and those of its properties that changed.
    case change(T, [PropertyChange])
    /// The object was deleted: nothing else follows.
    case deleted
}

/// One property that changed.
public struct PropertyChange {
    public let name: String
    /// What the property held when the observer was told last; nil of collections.
    public let oldValue: Any?
    /// What it holds now; nil of collections.
    public let newValue: Any?
}

extension [String] {
    /// For `keyPaths:`: the properties of the elements themselves, and nothing of what they lead to.
    public static var shallow: [String] { ["*"] }
}
