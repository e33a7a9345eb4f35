import FirnBytes
import FirnChange
import FirnQuery
import FirnTable

/// An observed list, set, results or inverse links.
struct ObservedCollection<Collection: RealmCollection>: Observed {
    enum State {
        /// All rows of a type: the version itself is the state.
        case table
        case rows([Int64])
        case values([Value])
    }

    let collection: Collection
    let source: _CollectionSource
    let core: RealmCore
    let rootType: String?
    let dependencies: Set<String>?

    /// The collection must be managed.
    init(_ collection: Collection) {
        self.collection = collection
        source = collection._makeSource()
        core = source.managedCore
        rootType = source.elementAccess?.name
        let owner = (source as? CellSource)?.cell.access.name
        let schema = core.schema
        dependencies = rootType.map { schema.connected(with: $0) } ?? owner.map { [$0] }
    }

    var names: PropertyNames { source.names }

    func state() -> State {
        if source is TableSource { return .table }
        if rootType != nil { return .rows(source.isInvalidated ? [] : source.rowIDs()) }
        return .values(source.isInvalidated ? [] : (0..<source.count).map(source.value))
    }

    func difference(from old: State, to new: State, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage)
        -> CollectionChanges?
    {
        let changes: CollectionChanges
        switch (old, new) {
        case (.table, .table):
            let modified = try filter.map { (filter) throws(Damage) in try versions.modifiedRows(filter, among: .all).rowIDs }
            guard let rootType, let after = versions.new.table(named: rootType) else { return nil }
            let rows = try versions.changes(rootType)
            let before: any Table =
                versions.old.table(named: rootType) ?? MemoryTable(after.type, schema: versions.new.schema, batches: [])
            changes = try CollectionChanges.between(old: before, new: after, changes: rows, modified: modified)
        case (.rows(let before), .rows(let after)):
            let modified = try filter.map { (filter) throws(Damage) in try versions.modifiedRows(filter, among: .rows(after)) }
            changes = CollectionChanges.between(old: before, new: after) { modified?.contains($0) ?? false }
        case (.values(let before), .values(let after)):
            changes = source.holdsSet ? .between(oldSet: before, newSet: after) : .between(old: before, new: after)
        default: return nil
        }
        return changes.isEmpty ? nil : changes
    }

    func moved(to core: RealmCore) -> ObservedCollection? { source.moved(to: core).map { ObservedCollection(collection._with($0)) } }

    func change(_ difference: CollectionChanges?) -> RealmCollectionChange<Collection> {
        guard let difference else { return .initial(collection) }
        return .update(
            collection, deletions: difference.deletions, insertions: difference.insertions, modifications: difference.modificationsOld)
    }
}
