import FirnBytes
import FirnChange
import FirnModel

/// What changed between two versions of a file, found out type by type when somebody asks, once for all observers of a realm.
final class VersionChanges {
    let old: DatabaseSnapshot
    let new: DatabaseSnapshot
    private var known: [String: TableChanges] = [:]
    /// What was read to find out.
    private(set) var decoded = TableChanges.Decoded()

    init(_ old: DatabaseSnapshot, _ new: DatabaseSnapshot) {
        self.old = old
        self.new = new
    }

    func changes(_ type: String) throws(Damage) -> TableChanges {
        if let changes = known[type] { return changes }
        let changes = try TableChanges.between(old.table(named: type), new.table(named: type))
        known[type] = changes
        count(changes.decoded)
        return changes
    }

    func count(_ more: TableChanges.Decoded) {
        decoded.vectors += more.vectors
        decoded.values += more.values
    }

    /// None of the types has changed.
    func areSame(_ types: Set<String>) throws(Damage) -> Bool {
        for type in types where try !changes(type).isEmpty { return false }
        return true
    }

    /// The rows of a type that count as modified for a filter.
    func modifiedRows(_ filter: KeyPathFilter, among scope: KeyPathFilter.Scope) throws(Damage) -> RowSet {
        let answer = try filter.modifiedRows(among: scope, changes: { (type) throws(Damage) in try self.changes(type) }, tables: { (type) throws(Damage) in self.new.table(named: type) })
        count(answer.decoded)
        return answer.rows
    }
}

extension Schema {
    /// The types that a query over one type may look at: all that links, in whatever direction, connect with it.
    func connected(with type: String) -> Set<String> {
        var found: Set<String> = [type], grows = true
        while grows {
            grows = false
            for one in types {
                for case let target? in one.columns.map(\.type.target) where found.contains(one.name) != found.contains(target) {
                    found.formUnion([one.name, target])
                    grows = true
                }
            }
        }
        return found
    }
}
