import Foundation

/// Results in sections, one for each value of a key: live, and evaluated when looked at. Sections stand in the order in which the sorted results first
/// come to their keys; an element whose key an earlier section has joins that section.
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>: RandomAccessCollection, Equatable, CustomStringConvertible {
    let sections: SectionSource<Key, SectionElement>

    init(_ sections: SectionSource<Key, SectionElement>) { self.sections = sections }

    // MARK: Where it is

    public var realm: Realm? { Realm(sections.core) }
    public var isInvalidated: Bool { sections.isInvalidated }
    public var isFrozen: Bool { sections.core.isFrozen }

    /// Equal are copies of the same sectioned results only.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a.sections === b.sections }

    // MARK: Sections

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    /// How many sections there are.
    public var count: Int { sections.sections.count }
    /// The keys of all sections, in order.
    public var allKeys: [Key] { sections.sections.map(\.key) }

    /// The section that stands at a place now. It stays that of its key, wherever it goes.
    public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
        let sections = sections.sections
        precondition(index >= 0 && index < sections.count, ResultsMessage.outOfBounds("SectionedResults[]", index, sections.count))
        return ResultsSection(SectionPart(self.sections, sections[index].key))
    }

    /// The element at `[section, place within it]`.
    public subscript(indexPath: IndexPath) -> SectionElement {
        precondition(indexPath.count == 2, "an element of sectioned results has a path of two numbers: its section, and its place within it")
        return self[indexPath[0]][indexPath[1]]
    }

    public func makeIterator() -> AnyIterator<ResultsSection<Key, SectionElement>> {
        // Sections as they were when the iteration began.
        var parts = sections.sections.map { SectionPart(sections, $0.key) }.makeIterator()
        return AnyIterator { parts.next().map { ResultsSection($0) } }
    }

    // MARK: Versions

    /// The sections as they are in the version that their realm is at, for good, for any thread. The keys are asked for now, and never again.
    public func freeze() -> SectionedResults {
        if isFrozen { return self }
        sections.core.confinement.check()
        precondition(!isInvalidated, "Access to invalidated Results objects")
        guard let moved = sections.moved(to: sections.core.frozen()) else {
            preconditionFailure("Cannot freeze a collection of an object in the same write transaction as it was created in: commit first.")
        }
        return SectionedResults(moved)
    }

    /// The live sections of this thread's realm; nil if what they come from is not there any more.
    public func thaw() -> SectionedResults? {
        if !isFrozen { return self }
        let live = sections.core.thawed()
        return withExtendedLifetime(live) { sections.moved(to: live).map { SectionedResults($0) } }
    }

    public var description: String {
        "SectionedResults <\(Key.self), \(SectionElement.self)> (\n" + map { "\($0)".replacingOccurrences(of: "\n", with: "\n\t") }.joined(separator: ",\n") + "\n)"
    }
}

/// The elements that have one key: a collection as others are. It is bound to its key, not to a place: when no element has the key any more the section
/// is invalidated.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: OrderedRealmCollection, Identifiable {
    let part: SectionPart<Key, T>

    init(_ part: SectionPart<Key, T>) { self.part = part }

    public func _makeSource() -> _CollectionSource { part }
    public func _with(_ source: _CollectionSource) -> ResultsSection { ResultsSection(source as! SectionPart<Key, T>) }

    /// What the key block gave for each of the elements.
    public var key: Key { part.key }
    public var id: Key { part.key }

    /// How many elements there are: never 0 while the section is there.
    public var count: Int { part.count }

    public subscript(index: Int) -> T {
        let count = part.count
        precondition(index >= 0 && index < count, ResultsMessage.outOfBounds("ResultsSection[]", index, count))
        return part.element(at: index)
    }

    /// Both are the section of the same key of the same sectioned results.
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.part.isSame(as: b.part) }
}

enum ResultsMessage {
    static func outOfBounds(_ member: String, _ index: Int, _ count: Int) -> String {
        count == 0 ? "Requested index \(index) calling \(member) when empty" : "Requested index \(index) calling \(member) when max is \(count - 1)"
    }
}
