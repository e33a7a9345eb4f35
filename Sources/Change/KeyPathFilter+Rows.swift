import FirnBytes
import FirnModel

extension KeyPathFilter {
    /// Which rows of the root are asked about.
    package enum Scope: Sendable {
        case all
        /// In any order, repeated or not.
        case rows([Int64])
    }

    /// The rows of the root that count as modified.
    package struct Answer: Sendable {
        /// Of rows that were not asked about it may hold some.
        package let rows: RowSet
        /// What was read of columns of links.
        package let decoded: TableChanges.Decoded
    }

    /// A row counts as modified if it differs in a column that matters, or leads (in the new version, through columns that matter) to a row
    /// that counts as modified; over an inverse, if such a row leads to it, or some row began or ceased to. `changes`: of a type by name, nil
    /// where nothing changed; `tables`: the new version of a type; `oldTables`: the old one, asked for if the filter has inverses.
    /// - Complexity: by the changes if nothing changed in what the root leads to. Otherwise each row that is led to is looked at once for each
    ///   place in the paths, and where these are most of a type's rows, its column of links is scanned instead.
    package func modifiedRows(among scope: Scope, changes: (String) throws(Damage) -> TableChanges?, tables: (String) throws(Damage) -> (any Table)?,
                              oldTables: (String) throws(Damage) -> (any Table)? = { _ in nil }) throws(Damage) -> Answer {
        var search = ReachSearch(self)
        for node in nodes { search.changes.append(try changes(schema.types[node.type].name)) }
        search.weigh()
        let root = nodes.count - 1
        guard nodes[root].edges.contains(where: search.matters) else {
            return Answer(rows: RowSet(ascending: search.own[root]), decoded: search.decoded)
        }
        for node in nodes {
            let name = schema.types[node.type].name
            search.tables.append(try tables(name))
            search.oldTables.append(try oldTables(name))
        }
        search.reached[root] = switch scope {
        case .all: .all
        case .rows(let rows): .rows(rows)
        }
        try search.goDown()
        return Answer(rows: try search.comeUp(), decoded: search.decoded)
    }
}
