import FirnBytes
import FirnTable

/// The access path of a filter through the indexes of a table: the rows that may match. The whole filter is applied to each of them, so
/// results do not depend on indexes.
struct IndexUse {
    /// The indexed columns that are used, such as `Dog.name`.
    let names: [String]
    /// The approximate number of candidates.
    let rowCount: Int
    let candidates: RowCandidates

    /// If more than one row in this many is a candidate, scanning the columns is as fast.
    private static let share = 16

    /// Returns nil if no index helps.
    init?(_ filter: PredicateNode, _ slots: SlotTable, _ table: any Table) throws(Damage) {
        guard let table = table as? any IndexedTable, let path = try IndexUse.accessPath(filter, slots, table) else { return nil }
        guard path.estimate <= max(64, table.rowCount / IndexUse.share) else { return nil }
        candidates = try path.candidates()
        names = path.names
        rowCount = path.estimate
    }

    /// An access path, with an estimate of its rows.
    private indirect enum AccessPath {
        case look(any RowIndex, IndexProbe, column: Int, name: String, estimate: Int)
        case all([AccessPath])
        case any([AccessPath])

        var estimate: Int {
            switch self {
            case .look(_, _, _, _, let estimate): estimate
            case .all(let paths): paths.map(\.estimate).min() ?? .max
            case .any(let paths): paths.reduce(0) { $0 + $1.estimate }
            }
        }

        var names: [String] {
            switch self {
            case .look(_, _, _, let name, _): return [name]
            case .all(let paths), .any(let paths):
                var all: [String] = []
                for name in paths.flatMap(\.names) where !all.contains(name) { all.append(name) }
                return all
            }
        }

        func candidates() throws(Damage) -> RowCandidates {
            switch self {
            case .look(let index, let probe, _, _, _): return try index.candidates(probe)
            case .all(let paths):
                var found = try paths[0].candidates()
                for path in paths.dropFirst() { found.formIntersection(try path.candidates()) }
                return found
            case .any(let paths):
                var found = RowCandidates()
                for path in paths { found.formUnion(try path.candidates()) }
                return found
            }
        }
    }

    private static func accessPath(_ node: PredicateNode, _ slots: SlotTable, _ table: any IndexedTable) throws(Damage) -> AccessPath? {
        switch node {
        case let node as TestNode:
            var paths: [AccessPath] = []
            for look in looks(node, slots, table) { paths.append(try accessPath(look.index, look.column, look.probe, table)) }
            return joined(paths)
        case let node as AndNode: return try accessPath(all: node, slots, table)
        case let node as OrNode:
            var paths: [AccessPath] = []
            for part in node.parts {
                guard let path = try accessPath(part, slots, table) else { return nil }
                paths.append(path)
            }
            return paths.isEmpty ? nil : .any(paths)
        default: return nil
        }
    }

    private static func accessPath(_ index: any RowIndex, _ column: Int, _ probe: IndexProbe, _ table: any IndexedTable) throws(Damage)
        -> AccessPath
    {
        .look(
            index, probe, column: column, name: "\(table.type.name).\(table.type.columns[column].name)", estimate: try index.estimate(probe)
        )
    }

    /// Returns the path for an AND. Ranges of one column are intersected to one range.
    private static func accessPath(all node: AndNode, _ slots: SlotTable, _ table: any IndexedTable) throws(Damage) -> AccessPath? {
        var looks: [(index: any RowIndex, column: Int, probe: IndexProbe)] = [], paths: [AccessPath] = []
        for part in flat(node) {
            guard let test = part as? TestNode else {
                if let path = try accessPath(part, slots, table) { paths.append(path) }
                continue
            }
            for look in self.looks(test, slots, table) {
                if look.index.kind == .values, let known = looks.firstIndex(where: { $0.column == look.column && $0.index.kind == .values })
                {
                    looks[known].probe = looks[known].probe.intersection(look.probe)
                } else {
                    looks.append(look)
                }
            }
        }
        for look in looks { paths.append(try accessPath(look.index, look.column, look.probe, table)) }
        return joined(paths)
    }

    /// Intersects paths that all contain the wanted rows: the most selective one, and those that are not much less selective.
    private static func joined(_ paths: [AccessPath]) -> AccessPath? {
        guard let best = paths.map(\.estimate).min() else { return nil }
        let chosen = paths.filter { $0.estimate <= max(8 * best, 1024) }.sorted { $0.estimate < $1.estimate }
        return chosen.count == 1 ? chosen[0] : .all(chosen)
    }

    private static func flat(_ node: AndNode) -> [PredicateNode] { node.parts.flatMap { part in (part as? AndNode).map(flat) ?? [part] } }

    /// Returns the index look-ups for one condition; for words, one for each word that must occur.
    private static func looks(_ node: TestNode, _ slots: SlotTable, _ table: any IndexedTable) -> [(
        index: any RowIndex, column: Int, probe: IndexProbe
    )] {
        guard let slot = node.plainSlot, slots.paths[slot].count == 1, let column = slots.paths[slot].first else { return [] }
        if case .text(let test, inverted: false) = node.test.form, case .words(let search) = test.form {
            guard let index = table.columnIndex(column, .words) else { return [] }
            return search.wanted.map { (index, column, $0.isPrefix ? .bytes(prefix: $0.word) : .bytes(equal: $0.word)) }
        }
        guard let index = table.columnIndex(column, .values), let probe = node.test.probe(slots.types[slot].kind) else { return [] }
        return [(index, column, probe)]
    }
}

extension ElementTest {
    /// Returns the look-up of the matching values in an index of values, or nil if an index cannot answer the test.
    func probe(_ kind: ScalarKind) -> IndexProbe? {
        var probe: IndexProbe
        switch form {
        case .never: probe = IndexProbe([])
        case .words(let low, let high, inverted: false): probe = .words(low, high)
        case .wordSet(let words, inverted: false): probe = .any(words.map { .words($0, $0) })
        case .reals(let low, let high, inverted: false): probe = .reals(low, high)
        case .pairs(let low, let high, inverted: false): probe = low == high ? .pair(low.word, low.extra) : .words(low.word, high.word)
        case .text(let test, inverted: false):
            guard !test.folding.isNeeded else { return nil }
            switch test.form {
            case .equal(let bytes): probe = .bytes(equal: bytes)
            case .oneOf(let values): probe = .any(values.map { .bytes(equal: $0) })
            case .prefix(let bytes): probe = .bytes(prefix: bytes)
            case .range(let low, _, let high, _): probe = .bytes(low, high)
            default: return nil
            }
        case .value(let comparator, let wanted, let folding):
            guard !folding.isNeeded, comparator == .equal || kind == .decimal, let found = ElementTest.probe(comparator, wanted, kind)
            else { return nil }
            probe = found
        case .valueSet(let values, inverted: false, let folding):
            guard !folding.isNeeded else { return nil }
            probe = .any(values.map { IndexProbe(equal: $0, kind) })
        default: return nil
        }
        if matchesNull { probe.includesNulls = true }
        return probe
    }

    private static func probe(_ comparator: Comparator, _ wanted: Value, _ kind: ScalarKind) -> IndexProbe? {
        if comparator == .equal { return IndexProbe(equal: wanted, kind) }
        guard let word = IndexProbe(equal: wanted, kind).ranges.first?.lowerBound.word else { return nil }
        switch comparator {
        case .less, .lessOrEqual: return .words(.min, word)
        case .greater, .greaterOrEqual: return .words(word, .max)
        default: return nil
        }
    }
}
