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
    /// that counts as modified. `changes`: of a type by name, nil where nothing changed; `tables`: the new version of a type.
    /// - Complexity: by the changes if nothing changed in what the root leads to. Otherwise each row that is led to is looked at once for each
    ///   place in the paths, and where these are most of a type's rows, its column of links is scanned instead.
    package func modifiedRows(among scope: Scope, changes: (String) throws(Damage) -> TableChanges?,
                              tables: (String) throws(Damage) -> (any Table)?) throws(Damage) -> Answer {
        var own: [[Int64]] = [], matters: [Bool] = []
        for node in nodes {
            let modified = try changes(schema.types[node.type].name)?.modified
            own.append(modified.map { node.isWhole ? $0.rowIDs : $0.rows(in: node.columns) } ?? [])
            matters.append(!own.last!.isEmpty || node.edges.contains { matters[$0.node] })
        }
        let root = nodes.count - 1
        var decoded = TableChanges.Decoded()
        guard nodes[root].edges.contains(where: { matters[$0.node] }) else { return Answer(rows: RowSet(ascending: own[root]), decoded: decoded) }

        // Downwards: which rows of each node are in question, and where they lead.
        var reached: [Reach?] = Array(repeating: nil, count: nodes.count)
        var links: [[FollowedLinks?]] = nodes.map { Array(repeating: nil, count: $0.edges.count) }
        reached[root] = switch scope {
        case .all: .all
        case .rows(let rows): .rows(rows)
        }
        for n in nodes.indices.reversed() {
            guard let reach = reached[n], matters[n], let table = try tables(schema.types[nodes[n].type].name) else { continue }
            let rows = reach.rows(outOf: table.rowCount)
            reached[n] = rows.map { .rows($0) } ?? .all
            for (e, edge) in nodes[n].edges.enumerated() where matters[edge.node] {
                guard let rows else {
                    reached[edge.node] = .all
                    continue
                }
                let followed = try FollowedLinks(of: rows, in: table, column: edge.column, &decoded)
                links[n][e] = followed
                if case .all? = reached[edge.node] { continue }
                reached[edge.node] = .rows((reached[edge.node]?.listed ?? []) + followed.targets)
            }
        }

        // Upwards: which of them count as modified.
        var counted: [RowSet] = []
        for n in nodes.indices {
            var rows = own[n]
            if let reach = reached[n], matters[n], let table = try tables(schema.types[nodes[n].type].name) {
                for (e, edge) in nodes[n].edges.enumerated() where !counted[edge.node].isEmpty {
                    if let followed = links[n][e] {
                        rows += followed.rows(leadingTo: counted[edge.node]).map { reach.listed[$0] }
                    } else {
                        rows += try table.rows(leadingTo: counted[edge.node], column: edge.column, &decoded)
                    }
                }
            }
            counted.append(RowSet(rows))
        }
        return Answer(rows: counted[root], decoded: decoded)
    }
}

private enum Reach {
    case all
    case rows([Int64])

    var listed: [Int64] {
        if case .rows(let rows) = self { return rows }
        return []
    }

    /// Ascending and distinct; nil if scanning the whole table is as good.
    func rows(outOf count: Int) -> [Int64]? {
        guard case .rows(let rows) = self else { return nil }
        let distinct = RowSet(rows).rowIDs
        return distinct.count > max(64, count / 4) ? nil : distinct
    }
}
