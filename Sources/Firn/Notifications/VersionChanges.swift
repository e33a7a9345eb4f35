import FirnBytes
import FirnChange
import FirnDatabase
import FirnTable

/// The changes between two versions of a file. They are computed by type on demand, once for all observers of a realm.
final class VersionChanges {
    let old: DatabaseSnapshot
    let new: DatabaseSnapshot
    private var known: [String: TableChanges] = [:]
    /// What was read to compute the changes.
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

    /// Returns whether none of the types has changed.
    func areSame(_ types: Set<String>) throws(Damage) -> Bool {
        for type in types where try !changes(type).isEmpty { return false }
        return true
    }

    /// Returns the rows of a type that are modified according to a filter.
    func modifiedRows(_ filter: KeyPathFilter, among scope: KeyPathFilter.Scope) throws(Damage) -> RowIDSet {
        let answer = try filter.modifiedRows(
            among: scope, changes: changes,
            tables: { (type) throws(Damage) in self.new.table(named: type) },
            oldTables: { (type) throws(Damage) in self.old.table(named: type) })
        count(answer.decoded)
        return answer.rows
    }
}

extension Schema {
    /// Returns the types that a query over one type can read: all that are connected with it by links in either direction. Values of any
    /// type can link to every type.
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
        let isMixed = types.contains { found.contains($0.name) && $0.columns.contains { $0.type.kind == .any } }
        return isMixed ? Set(types.map(\.name)) : found
    }
}
