import FirnBytes
import Foundation

/// Results in sections, one for each value of a key. They are live, and evaluated on access. Sections are in the order in which their keys
/// first occur in the sorted results; an element whose key occurred before is added to that earlier section.
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>: RandomAccessCollection, Equatable,
    CustomStringConvertible
{
    let sections: SectionSource<Key, SectionElement>

    init(_ sections: SectionSource<Key, SectionElement>) { self.sections = sections }

    // MARK: Realm and version

    /// The realm of the results.
    public var realm: Realm? { Realm(sections.core) }
    /// Whether the results can no longer be used, because the object that they come from was deleted or their realm was invalidated.
    public var isInvalidated: Bool { sections.isInvalidated }
    /// Whether the results are frozen.
    public var isFrozen: Bool { sections.core.isFrozen }

    /// Returns whether both are copies of the same sectioned results.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a.sections === b.sections }

    // MARK: Sections

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { count }
    /// The number of sections.
    public var count: Int { sections.sections.count }
    /// The keys of all sections, in order.
    public var allKeys: [Key] { sections.sections.map(\.key) }

    /// The section that is now at a position. It remains the section of its key when its position changes. Traps if the position is out of
    /// bounds.
    public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
        let sections = sections.sections
        trap(unless: index >= 0 && index < sections.count, ResultsMessage.outOfBounds("SectionedResults[]", index, sections.count))
        return ResultsSection(SectionPart(self.sections, sections[index].key))
    }

    /// The element at `[section, position in the section]`.
    public subscript(indexPath: IndexPath) -> SectionElement {
        trap(
            unless: indexPath.count == 2,
            "an index path into sectioned results has two numbers: the section, and the position in the section")
        return self[indexPath[0]][indexPath[1]]
    }

    /// Returns an iterator over the sections at the time of this call.
    public func makeIterator() -> AnyIterator<ResultsSection<Key, SectionElement>> {
        // The sections at the time of this call.
        var parts = sections.sections.map { SectionPart(sections, $0.key) }.makeIterator()
        return AnyIterator { parts.next().map { ResultsSection($0) } }
    }

    // MARK: Versions

    /// Returns the sections at the version of their realm, immutable and usable from any thread. The key block runs during this call and
    /// never again. Traps if the results are invalidated.
    public func freeze() -> SectionedResults {
        if isFrozen { return self }
        sections.core.check()
        trap(unless: !isInvalidated, "Access to invalidated Results objects")
        guard let moved = sections.moved(to: sections.core.frozen()) else {
            trap("Cannot freeze a collection of an object in the same write transaction as it was created in: commit first.")
        }
        return SectionedResults(moved)
    }

    /// Returns the live sections of this thread's realm; nil if the object that they come from does not exist there.
    public func thaw() -> SectionedResults? {
        if !isFrozen { return self }
        let live = sections.core.thawed()
        return withExtendedLifetime(live) { sections.moved(to: live).map { SectionedResults($0) } }
    }

    /// A text with all sections.
    public var description: String {
        "SectionedResults <\(Key.self), \(SectionElement.self)> (\n"
            + map { "\($0)".replacingOccurrences(of: "\n", with: "\n\t") }.joined(separator: ",\n") + "\n)"
    }
}

/// The elements with one key, as a collection. It is bound to its key, not to a position: when no element has the key, the section is
/// invalidated.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: OrderedRealmCollection, Identifiable {
    let part: SectionPart<Key, T>

    init(_ part: SectionPart<Key, T>) { self.part = part }

    /// Returns the origin of the section's elements. Used by the members of collections; not for direct use.
    public func _makeSource() -> _CollectionSource { part }
    /// Returns the section of a source. Traps if the source is not a section with the same types of key and elements. Used by the members
    /// of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> ResultsSection { ResultsSection(source as! SectionPart<Key, T>) }

    /// The key that all elements of the section have.
    public var key: Key { part.key }
    /// The key of the section.
    public var id: Key { part.key }

    /// The number of elements, at least 1 while the section is valid. Traps if the section is invalidated.
    public var count: Int { part.count }

    /// The element at a position. Traps if the position is out of bounds.
    public subscript(index: Int) -> T {
        let count = part.count
        trap(unless: index >= 0 && index < count, ResultsMessage.outOfBounds("ResultsSection[]", index, count))
        return part.element(at: index)
    }

    /// Returns whether both are the section of the same key in the same sectioned results.
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.part.isSame(as: b.part) }
}

enum ResultsMessage {
    static func outOfBounds(_ member: String, _ index: Int, _ count: Int) -> String {
        count == 0
            ? "Requested index \(index) calling \(member) when empty"
            : "Requested index \(index) calling \(member) when max is \(count - 1)"
    }
}
