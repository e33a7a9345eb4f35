import FirnBytes
import FirnTable

/// One search for the rows of the root from which a change is reached, over the nodes of a filter: down from the rows in the scope, then up
/// from the changes.
struct ReachSearch {
    /// The rows of a node that have to be tested.
    enum Reach {
        case all
        case rows([Int64])

        var listed: [Int64] {
            if case .rows(let rows) = self { return rows }
            return []
        }

        /// Returns the rows, ascending and distinct; nil if scanning the whole table costs no more.
        func rows(outOf count: Int) -> [Int64]? {
            guard case .rows(let rows) = self else { return nil }
            let distinct = RowIDSet(rows).rowIDs
            return distinct.count > max(64, count / 4) ? nil : distinct
        }
    }

    private let nodes: [KeyPathFilter.Node]
    /// By node.
    var changes: [TableChanges?] = []
    var tables: [(any Table)?] = []
    var oldTables: [(any Table)?] = []
    /// The rows of each node that differ in columns that matter.
    private(set) var own: [[Int64]] = []
    /// Whether anything differs in the node or in nodes that it refers to.
    private var stirs: [Bool] = []
    var reached: [Reach?]
    private var links: [[FollowedLinks?]]
    private(set) var decoded = TableChanges.Decoded()

    init(_ filter: KeyPathFilter) {
        nodes = filter.nodes
        reached = Array(repeating: nil, count: nodes.count)
        links = nodes.map { Array(repeating: nil, count: $0.edges.count) }
    }

    mutating func weigh() {
        for (n, node) in nodes.enumerated() {
            let modified = changes[n]?.modified
            own.append(modified.map { node.isWhole ? $0.rowIDs : $0.rows(in: node.columns) } ?? [])
            stirs.append(!own[n].isEmpty || node.edges.contains(where: matters))
        }
    }

    func matters(_ edge: KeyPathFilter.Edge) -> Bool {
        if stirs[edge.node] { return true }
        guard edge.isInverse, let changes = changes[edge.node] else { return false }
        return !changes.inserted.isEmpty || !changes.deleted.isEmpty || !relinked(edge, changes).isEmpty
    }

    /// Returns the rows that differ in the column of an inverse.
    private func relinked(_ edge: KeyPathFilter.Edge, _ changes: TableChanges) -> [Int64] {
        var column = Bits(count: nodes[edge.node].columns.count)
        column[edge.column] = true
        return changes.modified.rows(in: column)
    }

    /// Finds the rows of each node that have to be tested, and the targets of their links.
    mutating func goDown() throws(Damage) {
        for n in nodes.indices.reversed() {
            guard let reach = reached[n], stirs[n], let table = tables[n] else { continue }
            let rows = reach.rows(outOf: table.rowCount)
            reached[n] = rows.map { .rows($0) } ?? .all
            for (e, edge) in nodes[n].edges.enumerated() where matters(edge) {
                guard let rows, !edge.isInverse else {
                    reached[edge.node] = .all
                    continue
                }
                let followed = try FollowedLinks(of: rows, in: table, column: edge.column, &decoded)
                links[n][e] = followed
                if case .all? = reached[edge.node] { continue }
                reached[edge.node] = .rows((reached[edge.node]?.listed ?? []) + followed.targets)
            }
        }
    }

    /// Finds the rows that count as modified in each node. Returns those of the last node, the root.
    mutating func comeUp() throws(Damage) -> RowIDSet {
        var counted: [RowIDSet] = []
        for n in nodes.indices {
            var rows = own[n]
            if let reach = reached[n], stirs[n], let table = tables[n] {
                for (e, edge) in nodes[n].edges.enumerated() {
                    if edge.isInverse {
                        rows += try targets(edge, counted[edge.node], in: table)
                    } else if counted[edge.node].isEmpty {
                        continue
                    } else if let followed = links[n][e] {
                        rows += followed.rows(leadingTo: counted[edge.node]).map { reach.listed[$0] }
                    } else {
                        rows += try table.rows(leadingTo: counted[edge.node], column: edge.column, &decoded)
                    }
                }
            }
            counted.append(RowIDSet(rows))
        }
        return counted.last ?? RowIDSet([])
    }

    /// Returns the rows of `table` that rows that count as modified link to, or that rows began or ceased to link to.
    private mutating func targets(_ edge: KeyPathFilter.Edge, _ counted: RowIDSet, in table: any Table) throws(Damage) -> [Int64] {
        var targets: [Int64] = []
        let changes = changes[edge.node]
        let moved = changes.map { relinked(edge, $0) } ?? []
        if let source = tables[edge.node] {
            let rows = RowIDSet(counted.rowIDs + (changes?.inserted ?? []) + moved).rowIDs
            targets += try FollowedLinks(of: rows, in: source, column: edge.column, &decoded).targets
        }
        let gone = RowIDSet((changes?.deleted ?? []) + moved).rowIDs
        if !gone.isEmpty {
            guard let source = oldTables[edge.node] else {
                trap("a filter with inverses needs the old version too: pass oldTables")
            }
            // A column that the old version does not have contained no links.
            if edge.column < source.type.columns.count {
                targets += try FollowedLinks(of: gone, in: source, column: edge.column, &decoded).targets
            }
        }
        var live: [Int64] = []
        for rowID in RowIDSet(targets).rowIDs where try table.holds(rowID) { live.append(rowID) }
        return live
    }
}

extension Table {
    /// Whether there is a live row with this id.
    fileprivate func holds(_ rowID: Int64) throws(Damage) -> Bool {
        guard let index = try segmentIndex(of: rowID) else { return false }
        let segment = try segment(index)
        guard let position = try segment.position(of: rowID) else { return false }
        return segment.live?[position] ?? true
    }
}
