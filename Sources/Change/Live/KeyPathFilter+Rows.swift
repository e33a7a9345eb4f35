import FirnBytes
import FirnTable

extension KeyPathFilter {
    /// The rows of the root that are tested.
    package enum Scope: Sendable {
        case all
        /// Row ids in any order, repeated or not.
        case rows([Int64])
    }

    /// The rows of the root that count as modified.
    package struct Answer: Sendable {
        /// The modified rows. It can contain some rows that were not in the scope.
        package let rows: RowIDSet
        /// The number of vectors and values of link columns that were read.
        package let decoded: TableChanges.Decoded
    }

    /// Returns the rows that count as modified. A row does if it differs in a column that matters, or links (in the new version, through
    /// columns that matter) to a row that counts as modified. Over an inverse, a row counts if such a row links to it, or if a row began or
    /// ceased to link to it.
    /// - Parameters:
    ///   - changes: Returns the changes of a type by name; nil if nothing changed.
    ///   - tables: Returns the new version of a type.
    ///   - oldTables: Returns the old version of a type; called if the filter has inverses.
    /// - Complexity: Proportional to the changes if nothing changed in rows that the root links to. Otherwise each linked row is visited
    /// once for
    ///   each node of the paths; if these are most of the rows of a type, its link column is scanned instead.
    package func modifiedRows(
        among scope: Scope, changes: (String) throws(Damage) -> TableChanges?, tables: (String) throws(Damage) -> (any Table)?,
        oldTables: (String) throws(Damage) -> (any Table)? = { _ in nil }
    ) throws(Damage) -> Answer {
        var search = ReachSearch(self)
        for node in nodes { search.changes.append(try changes(schema.types[node.type].name)) }
        search.weigh()
        let root = nodes.count - 1
        guard nodes[root].edges.contains(where: search.matters) else {
            return Answer(rows: RowIDSet(ascending: search.own[root]), decoded: search.decoded)
        }
        for node in nodes {
            let name = schema.types[node.type].name
            search.tables.append(try tables(name))
            search.oldTables.append(try oldTables(name))
        }
        search.reached[root] =
            switch scope {
            case .all: .all
            case .rows(let rows): .rows(rows)
            }
        try search.goDown()
        return Answer(rows: try search.comeUp(), decoded: search.decoded)
    }
}
