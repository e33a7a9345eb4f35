import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable
import Foundation

/// What an observer of sectioned results, or of one of their sections, receives. An index path is `[section, position in the section]`.
///
/// The elements of a deleted section are not listed individually; those of an inserted section are. There is no case for errors: after an
/// error of reading the file nothing is delivered any more, and `Realm.damage` reports it.
@frozen public enum SectionedResultsChange<Collection> {
    /// The sections when the observation begins: delivered once, first.
    case initial(Collection)
    /// `deletions`, `modifications` and `sectionsToDelete` are positions in the version that was delivered before, the others positions in
    /// the new one.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath], sectionsToInsert: IndexSet,
        sectionsToDelete: IndexSet)

    init(_ collection: Collection, _ changes: SectionedChanges?) {
        guard let changes else {
            self = .initial(collection)
            return
        }
        func paths(_ positions: [SectionedChanges.Position]) -> [IndexPath] { positions.map { [$0.section, $0.item] } }
        self = .update(
            collection, deletions: paths(changes.deletions), insertions: paths(changes.insertions),
            modifications: paths(changes.modificationsOld),
            sectionsToInsert: IndexSet(changes.sectionsToInsert), sectionsToDelete: IndexSet(changes.sectionsToDelete))
    }
}

extension SectionedResultsChange: @unchecked Sendable where Collection: Sendable {}

/// Observed sectioned results.
struct ObservedSections<Key: _Persistable & Hashable, Element: RealmCollectionValue>: Observed {
    let sections: SectionSource<Key, Element>
    let core: RealmCore
    let rootType: String?
    let dependencies: Set<String>?

    init(_ sections: SectionSource<Key, Element>) {
        self.sections = sections
        core = sections.core
        rootType = sections.elements.elementAccess?.name
        let schema = core.schema
        dependencies = rootType.map { schema.connected(with: $0) }
    }

    var names: PropertyNames { sections.elements.names }

    func state() -> [SectionSource<Key, Element>.Section] { sections.sections }

    func difference(
        from old: [SectionSource<Key, Element>.Section], to new: [SectionSource<Key, Element>.Section], _ versions: VersionChanges,
        _ filter: KeyPathFilter?
    ) throws(Damage) -> SectionedChanges? {
        let changes: SectionedChanges
        if rootType == nil {
            changes = .between(old: old.map { ($0.key, $0.values) }, new: new.map { ($0.key, $0.values) })
        } else {
            let modified = try filter.map { (filter) throws(Damage) in try versions.modifiedRows(filter, among: .rows(new.flatMap(\.rows)))
            }
            changes = SectionedChanges.between(old: old.map { .init($0.key, $0.rows) }, new: new.map { .init($0.key, $0.rows) }) {
                modified?.contains($0) ?? false
            }
        }
        return changes.isEmpty ? nil : changes
    }

    func moved(to core: RealmCore) -> ObservedSections? { sections.moved(to: core).map { ObservedSections($0) } }

    func change(_ difference: SectionedChanges?) -> SectionedResultsChange<SectionedResults<Key, Element>> {
        .init(SectionedResults(sections), difference)
    }
}

/// One observed section, at whatever position and whether it exists or not.
struct ObservedSection<Key: _Persistable & Hashable, Element: RealmCollectionValue>: Observed {
    let whole: ObservedSections<Key, Element>
    let key: Key

    var core: RealmCore { whole.core }
    var rootType: String? { whole.rootType }
    var dependencies: Set<String>? { whole.dependencies }
    var names: PropertyNames { whole.names }
    func state() -> [SectionSource<Key, Element>.Section] { whole.state() }

    func difference(
        from old: [SectionSource<Key, Element>.Section], to new: [SectionSource<Key, Element>.Section], _ versions: VersionChanges,
        _ filter: KeyPathFilter?
    ) throws(Damage) -> SectionedChanges? {
        guard var changes = try whole.difference(from: old, to: new, versions, filter) else { return nil }
        let before = old.firstIndex { $0.key == key }, after = new.firstIndex { $0.key == key }
        let stayed = changes.modificationsOld.indices.filter { changes.modificationsOld[$0].section == before }
        changes.modificationsOld = stayed.map { changes.modificationsOld[$0] }
        changes.modificationsNew = stayed.map { changes.modificationsNew[$0] }
        changes.deletions.removeAll { $0.section != before }
        changes.insertions.removeAll { $0.section != after }
        changes.sectionsToDelete.removeAll { $0 != before }
        changes.sectionsToInsert.removeAll { $0 != after }
        // A change of the section's position alone is not a change of the section.
        if let before, let after, changes.sectionsToDelete == [before], changes.sectionsToInsert == [after] {
            let moved = try whole.difference(from: [old[before]], to: [new[after]], versions, filter)
            guard let moved else { return nil }
            changes = moved
            func within(_ section: Int, _ positions: [SectionedChanges.Position]) -> [SectionedChanges.Position] {
                positions.map { .init(section, $0.item) }
            }
            changes.deletions = within(before, changes.deletions)
            changes.insertions = within(after, changes.insertions)
            changes.modificationsOld = within(before, changes.modificationsOld)
            changes.modificationsNew = within(after, changes.modificationsNew)
        }
        return changes.isEmpty ? nil : changes
    }

    func moved(to core: RealmCore) -> ObservedSection? { whole.moved(to: core).map { ObservedSection(whole: $0, key: key) } }

    func change(_ difference: SectionedChanges?) -> SectionedResultsChange<ResultsSection<Key, Element>> {
        .init(ResultsSection(SectionPart(whole.sections, key)), difference)
    }
}
