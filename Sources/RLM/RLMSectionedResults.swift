import Firn
import Foundation

/// Results in sections, one for each key: live, and evaluated when looked at. Sections stand in the order in which the sorted results first come to their
/// keys; an element whose key an earlier section has joins that section.
public final class RLMSectionedResults<RLMKeyType, RLMObjectType>: Sequence, RLMThreadConfined, CustomStringConvertible {
    private let base: SectionedResults<AnyRealmValue, DynamicElement>

    init(_ base: SectionedResults<AnyRealmValue, DynamicElement>) { self.base = base }

    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    public var isInvalidated: Bool { base.isInvalidated }
    public var isFrozen: Bool { base.isFrozen }

    /// How many sections there are.
    public var count: UInt { UInt(base.count) }
    /// The keys of all sections, in order; nil as `NSNull`.
    public var allKeys: [RLMKeyType] { base.allKeys.map { key($0) } }

    /// The section that stands at a place now. It stays that of its key, wherever it goes.
    public subscript(index: UInt) -> RLMSection<RLMKeyType, RLMObjectType> { RLMSection(base[Int(clamping: index)]) }
    public func object(at index: UInt) -> RLMSection<RLMKeyType, RLMObjectType> { self[index] }

    /// Sections as they were when the iteration began.
    public func makeIterator() -> AnyIterator<RLMSection<RLMKeyType, RLMObjectType>> {
        let sections = base.makeIterator()
        return AnyIterator { sections.next().map { RLMSection($0) } }
    }

    /// The sections as they are in the version that their realm is at, for good, for any thread. The keys are asked for now, and never again.
    public func freeze() -> RLMSectionedResults { isFrozen ? self : RLMSectionedResults(base.freeze()) }
    /// The live sections; nil if what they come from is not there any more.
    public func thaw() -> RLMSectionedResults? { isFrozen ? base.thaw().map { RLMSectionedResults($0) } : self }

    /// As collections tell of changes, with sections.
    public func addNotificationBlock(_ block: @escaping (RLMSectionedResults, RLMSectionedResultsChange) -> Void, keyPaths: [String]? = nil, queue: DispatchQueue? = nil) -> RLMNotificationToken {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            guard let (now, told) = RLMSectionedResultsChange.of(change) else { return }
            block(RLMSectionedResults(now), told)
        }
    }

    public var description: String {
        "RLMSectionedResults (\n" + map { "\t\($0)".replacingOccurrences(of: "\n", with: "\n\t") }.joined(separator: ",\n") + "\n)"
    }
}

/// The elements that have one key. It is bound to its key, not to a place: when no element has the key any more the section is invalidated.
public final class RLMSection<RLMKeyType, RLMObjectType>: Sequence, RLMThreadConfined, CustomStringConvertible {
    private let base: ResultsSection<AnyRealmValue, DynamicElement>

    init(_ base: ResultsSection<AnyRealmValue, DynamicElement>) { self.base = base }

    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    public var isInvalidated: Bool { base.isInvalidated }
    /// Frozen sections never change, and can be read by any thread.
    public var isFrozen: Bool { base.isFrozen }

    /// What the key block gave for each of the elements; nil as `NSNull`.
    public var key: RLMKeyType { RLM.key(base.key) }
    /// How many elements there are: never 0 while the section is there.
    public var count: UInt { UInt(base.count) }

    /// Traps if the index is out of bounds.
    public subscript(index: UInt) -> RLMObjectType { typed(base[Int(clamping: index)]) }
    public func object(at index: UInt) -> RLMObjectType { self[index] }
    public func makeIterator() -> RLMElementIterator<RLMObjectType> { RLMElementIterator(Results(untyped: base._makeSource())) }

    /// The section as it is in the version of its realm, for good, for any thread. Held for long while others write, it makes the file grow.
    public func freeze() -> RLMSection { isFrozen ? self : RLMSection(base.freeze()) }
    /// The live section with the same key; nil if what it comes from is not there any more. A live section gives itself.
    public func thaw() -> RLMSection? { isFrozen ? base.thaw().map { RLMSection($0) } : self }

    /// Calls `block` with the section as it is, and after every commit that changed what it holds, its order, or its elements; not of others. What could
    /// not be told at once is told together, the first call included. When its last element leaves it is told as removed, and as inserted when there is one
    /// again.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void) -> RLMNotificationToken { observe(block, nil, nil) }

    /// As above, on a serial queue, with the section of a realm of that queue.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, queue: DispatchQueue) -> RLMNotificationToken { observe(block, nil, queue) }

    /// As above, for some properties of the elements alone; elements that come, go or move are always told of.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, keyPaths: [String]) -> RLMNotificationToken { observe(block, keyPaths, nil) }

    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, keyPaths: [String]?, queue: DispatchQueue?) -> RLMNotificationToken {
        observe(block, keyPaths, queue)
    }

    private func observe(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, _ keyPaths: [String]?, _ queue: DispatchQueue?) -> RLMNotificationToken {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            guard let (now, told) = RLMSectionedResultsChange.of(change) else { return }
            block(RLMSection(now), told)
        }
    }

    public var description: String {
        base.isInvalidated ? "RLMSection (invalidated)" : "RLMSection \(base.key) (\n\(Results(untyped: base._makeSource()).lines)\n)"
    }
}

/// A section's key as it was given.
func key<Key>(_ value: AnyRealmValue) -> Key {
    let content: Any = value.content ?? NSNull()
    guard let key = content as? Key else { preconditionFailure("The section's key is \(content), which is no \(Key.self).") }
    return key
}

/// What an observer of sectioned results, or of one section, is told. A path is `[section, place within it]`. Elements of a removed section are not listed
/// one by one, those of an inserted one are.
public enum RLMSectionedResultsChange {
    /// What is there when the observation begins: told once, first.
    case initial
    /// `deletions`, `modifications` and `sectionsToRemove` are places in the version that was told before, the others places in the new one.
    case update(deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath], sectionsToInsert: IndexSet, sectionsToRemove: IndexSet)

    /// Nil: an error, which is never told.
    static func of<Collection>(_ change: SectionedResultsChange<Collection>) -> (Collection, RLMSectionedResultsChange)? {
        switch change {
        case .initial(let now): (now, .initial)
        case .update(let now, let deletions, let insertions, let modifications, let more, let less):
            (now, .update(deletions: deletions, insertions: insertions, modifications: modifications, sectionsToInsert: more, sectionsToRemove: less))
        case .error: nil
        }
    }

    public var isInitial: Bool { if case .initial = self { true } else { false } }
    public var deletions: [IndexPath] { if case .update(let paths, _, _, _, _) = self { paths } else { [] } }
    public var insertions: [IndexPath] { if case .update(_, let paths, _, _, _) = self { paths } else { [] } }
    public var modifications: [IndexPath] { if case .update(_, _, let paths, _, _) = self { paths } else { [] } }
    public var sectionsToInsert: IndexSet { if case .update(_, _, _, let sections, _) = self { sections } else { [] } }
    public var sectionsToRemove: IndexSet { if case .update(_, _, _, _, let sections) = self { sections } else { [] } }

    /// Those of one section.
    public func deletions(inSection section: UInt) -> [IndexPath] { deletions.filter { $0[0] == Int(section) } }
    public func insertions(inSection section: UInt) -> [IndexPath] { insertions.filter { $0[0] == Int(section) } }
    public func modifications(inSection section: UInt) -> [IndexPath] { modifications.filter { $0[0] == Int(section) } }
}
