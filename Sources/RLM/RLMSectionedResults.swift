import FirnBytes
import Firn
import Foundation

/// Results in sections, one for each key. Live, and evaluated when read. The sections have the order in which their keys first occur in the
/// sorted results; an element whose key an earlier section has is in that section.
public final class RLMSectionedResults<RLMKeyType, RLMObjectType>: Sequence, RLMThreadConfined, CustomStringConvertible {
    private let base: SectionedResults<AnyRealmValue, DynamicElement>

    init(_ base: SectionedResults<AnyRealmValue, DynamicElement>) { self.base = base }

    /// The realm of the results; never nil, because only managed collections have sections.
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    /// True if the object that the results come from was deleted or their realm was invalidated.
    public var isInvalidated: Bool { base.isInvalidated }
    /// True if the sections are frozen.
    public var isFrozen: Bool { base.isFrozen }

    /// The number of sections.
    public var count: UInt { UInt(base.count) }
    /// The keys of all sections, in order; nil as `NSNull`.
    public var allKeys: [RLMKeyType] { base.allKeys.map { key($0) } }

    /// Returns the section at an index. It remains the section of its key if its index changes.
    public subscript(index: UInt) -> RLMSection<RLMKeyType, RLMObjectType> { RLMSection(base[Int(clamping: index)]) }
    /// As the subscript.
    public func object(at index: UInt) -> RLMSection<RLMKeyType, RLMObjectType> { self[index] }

    /// Iterates over the sections at the time of the call.
    public func makeIterator() -> AnyIterator<RLMSection<RLMKeyType, RLMObjectType>> {
        let sections = base.makeIterator()
        return AnyIterator { sections.next().map { RLMSection($0) } }
    }

    /// Returns the frozen sections at the version of their realm, for any thread. The keys are computed now and only once.
    public func freeze() -> RLMSectionedResults { isFrozen ? self : RLMSectionedResults(base.freeze()) }
    /// Returns the live sections, or nil if their source no longer exists.
    public func thaw() -> RLMSectionedResults? { isFrozen ? base.thaw().map { RLMSectionedResults($0) } : self }

    /// Calls `block` as for collections, with the changes of sections.
    public func addNotificationBlock(
        _ block: @escaping (RLMSectionedResults, RLMSectionedResultsChange) -> Void, keyPaths: [String]? = nil, queue: DispatchQueue? = nil
    ) -> RLMNotificationToken {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            let (now, told) = RLMSectionedResultsChange.of(change)
            block(RLMSectionedResults(now), told)
        }
    }

    /// A text with all sections and at most 100 elements of each.
    ///
    /// - Complexity: O(*n*) for *n* sections.
    public var description: String {
        "RLMSectionedResults (\n" + map { "\t\($0)".replacingOccurrences(of: "\n", with: "\n\t") }.joined(separator: ",\n") + "\n)"
    }
}

/// The elements with one key. A section belongs to its key, not to its index: when no element has the key any more, the section is
/// invalidated.
public final class RLMSection<RLMKeyType, RLMObjectType>: Sequence, RLMThreadConfined, CustomStringConvertible {
    private let base: ResultsSection<AnyRealmValue, DynamicElement>

    init(_ base: ResultsSection<AnyRealmValue, DynamicElement>) { self.base = base }

    /// The realm of the section; never nil, because only managed collections have sections.
    public var realm: RLMRealm? { base.realm.map(RLMRealm.init) }
    /// True if no element has the section's key any more, the object that the elements come from was deleted, or their realm was
    /// invalidated.
    public var isInvalidated: Bool { base.isInvalidated }
    /// True if the section is frozen: it never changes, and any thread can read it.
    public var isFrozen: Bool { base.isFrozen }

    /// The key that the key block returned for each of the elements; nil as `NSNull`.
    public var key: RLMKeyType { RLM.key(base.key) }
    /// The number of elements; never 0 while the section is valid.
    public var count: UInt { UInt(base.count) }

    /// Returns the element at an index. Traps if the index is out of bounds.
    public subscript(index: UInt) -> RLMObjectType { typed(base[Int(clamping: index)]) }
    /// As the subscript.
    public func object(at index: UInt) -> RLMObjectType { self[index] }
    /// Iterates over the elements at the time of the call.
    public func makeIterator() -> RLMElementIterator<RLMObjectType> { RLMElementIterator(Results(untyped: base._makeSource())) }

    /// Returns the frozen section at the version of its realm, for any thread. While it is held and others write, the file grows.
    public func freeze() -> RLMSection { isFrozen ? self : RLMSection(base.freeze()) }
    /// Returns the live section with the same key, or nil if its source no longer exists. A live section returns itself.
    public func thaw() -> RLMSection? { isFrozen ? base.thaw().map { RLMSection($0) } : self }

    /// Calls `block` first with the section, and then after every commit that changed which elements it has, their order or their
    /// properties, but not after changes of other sections. Changes that could not be delivered separately are merged, also with the first
    /// call. When the section loses its last element, it is reported as removed, and when it has elements again, as inserted.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void) -> RLMNotificationToken {
        observe(block, nil, nil)
    }

    /// As above, on a serial queue, with the section of a realm of that queue.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, queue: DispatchQueue)
        -> RLMNotificationToken
    { observe(block, nil, queue) }

    /// As above, for some properties of the elements. Elements that are inserted, deleted or moved are always reported.
    public func addNotificationBlock(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, keyPaths: [String])
        -> RLMNotificationToken
    { observe(block, keyPaths, nil) }

    /// As above, for some properties of the elements, on a serial queue.
    public func addNotificationBlock(
        _ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, keyPaths: [String]?, queue: DispatchQueue?
    ) -> RLMNotificationToken {
        observe(block, keyPaths, queue)
    }

    private func observe(_ block: @escaping (RLMSection, RLMSectionedResultsChange) -> Void, _ keyPaths: [String]?, _ queue: DispatchQueue?)
        -> RLMNotificationToken
    {
        base.observe(keyPaths: keyPaths, on: queue) { change in
            let (now, told) = RLMSectionedResultsChange.of(change)
            block(RLMSection(now), told)
        }
    }

    /// The key and at most 100 elements as text; for an invalidated section, only that it is invalidated.
    public var description: String {
        base.isInvalidated ? "RLMSection (invalidated)" : "RLMSection \(base.key) (\n\(Results(untyped: base._makeSource()).lines)\n)"
    }
}

/// Returns a section's key in the type that the caller expects. Traps if it has another one.
func key<Key>(_ value: AnyRealmValue) -> Key {
    let content: Any = value.content ?? NSNull()
    guard let key = content as? Key else { trap("The section's key is \(content), which is not of type \(Key.self).") }
    return key
}

/// The changes of sectioned results or of one section. A path is `[section, index in the section]`. The elements of a removed section are
/// not listed separately; those of an inserted one are.
public enum RLMSectionedResultsChange {
    /// The first call of an observer, without changes.
    case initial
    /// `deletions`, `modifications` and `sectionsToRemove` are positions in the version of the call before, the others are positions in the
    /// new one.
    case update(
        deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath], sectionsToInsert: IndexSet, sectionsToRemove: IndexSet)

    static func of<Collection>(_ change: SectionedResultsChange<Collection>) -> (Collection, RLMSectionedResultsChange) {
        switch change {
        case .initial(let now): (now, .initial)
        case .update(let now, let deletions, let insertions, let modifications, let more, let less):
            (
                now,
                .update(
                    deletions: deletions, insertions: insertions, modifications: modifications, sectionsToInsert: more,
                    sectionsToRemove: less)
            )
        }
    }

    /// True for the first call.
    public var isInitial: Bool { if case .initial = self { true } else { false } }
    /// The paths of deleted elements in the version before.
    public var deletions: [IndexPath] { if case .update(let paths, _, _, _, _) = self { paths } else { [] } }
    /// The paths of inserted elements in the new version.
    public var insertions: [IndexPath] { if case .update(_, let paths, _, _, _) = self { paths } else { [] } }
    /// The paths of modified elements in the version before.
    public var modifications: [IndexPath] { if case .update(_, _, let paths, _, _) = self { paths } else { [] } }
    /// The indexes of inserted sections in the new version.
    public var sectionsToInsert: IndexSet { if case .update(_, _, _, let sections, _) = self { sections } else { [] } }
    /// The indexes of removed sections in the version before.
    public var sectionsToRemove: IndexSet { if case .update(_, _, _, _, let sections) = self { sections } else { [] } }

    /// The deletions of one section.
    public func deletions(inSection section: UInt) -> [IndexPath] { deletions.filter { $0[0] == Int(section) } }
    /// The insertions of one section.
    public func insertions(inSection section: UInt) -> [IndexPath] { insertions.filter { $0[0] == Int(section) } }
    /// The modifications of one section.
    public func modifications(inSection section: UInt) -> [IndexPath] { modifications.filter { $0[0] == Int(section) } }
}
