import FirnBytes
import FirnChange
import FirnQuery
import FirnTable

struct ObservedMap<Key: _MapKey, Element: RealmCollectionValue>: Observed {
    let map: Map<Key, Element>
    let cell: CollectionCell

    var core: RealmCore { cell.core }
    var rootType: String? { cell.type.kind == .link || cell.type.kind == .embedded ? cell.type.target : nil }
    var names: PropertyNames { rootType.flatMap { core.knownAccess($0)?.names } ?? PropertyNames() }
    var dependencies: Set<String>? { (rootType.map { core.schema.connected(with: $0) } ?? []).union([cell.access.name]) }

    /// Reads the table directly: no transaction is open during notifications.
    func state() -> [Value.Entry] {
        guard cell.isValid, let row = cell.access.position(of: cell.rowID) else { return [] }
        let value = core.reading(.null) { () throws(Damage) in
            try cell.access.value(Int32(row.segment), Int32(row.position), cell.column)
        }
        if case .map(let entries) = value { return entries }
        return []
    }

    func difference(from old: [Value.Entry], to new: [Value.Entry], _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage)
        -> MapChanges?
    {
        var rows: [Int64] = []
        for entry in new { entry.value.forEachLink { rows.append($0) } }
        let modified = try filter.map { (filter) throws(Damage) in try versions.modifiedRows(filter, among: .rows(rows)) }
        let changes = MapChanges.between(old: old, new: new) { modified?.contains($0) ?? false }
        return changes.isEmpty ? nil : changes
    }

    func moved(to core: RealmCore) -> ObservedMap? {
        guard let owner = core.object(cell.rowID, like: cell.access) else { return nil }
        let cell = CollectionCell.of(owner, cell.column)
        return ObservedMap(map: Map(cell), cell: cell)
    }

    func change(_ difference: MapChanges?) -> RealmMapChange<Map<Key, Element>> {
        guard let difference else { return .initial(map) }
        func keys(_ names: [String]) -> [Key] { names.map { Key(_name: $0) } }
        return .update(
            map, deletions: keys(difference.deletions), insertions: keys(difference.insertions),
            modifications: keys(difference.modifications))
    }
}
