import FirnBytes
import FirnModel

/// One type of two files, whose differences are written: what `Changeset.write` takes.
package struct ChangedType {
    /// Nil: the type is not there.
    let old: (any Table)?
    let new: (any Table)?
    /// The columns that tell rows apart, and which rows and cells differ; without, rows are told apart by where they stand.
    let difference: TableDifference?

    /// A type that both files have, by key. All its rows and columns must have been compared.
    package init(_ difference: TableDifference) {
        let options = difference.options
        guard difference.leftOutOld == 0, difference.leftOutNew == 0, options.rows == nil, options.tolerance == 0, options.ignore.isEmpty, options.columns.isEmpty, options.kinds.count == 3 else {
            preconditionFailure("changes are made of all rows and columns: compare without leaving any out")
        }
        old = difference.plain.old
        new = difference.plain.new
        self.difference = difference
    }

    /// A type that has no key, or that one file alone has.
    package init(old: (any Table)?, new: (any Table)?) {
        precondition(old != nil || new != nil, "a type that no file has")
        self.old = old
        self.new = new
        difference = nil
    }

    var name: String { (old ?? new)!.type.name }

    /// The columns that tell rows apart.
    var key: [String] {
        if let difference { return difference.key.map(\.name) }
        guard old == nil || new == nil, let type = (old ?? new)?.type else { return [] }
        return type.key.map { type.columns[$0].name }
    }
}

/// Which rows of a type are written.
struct DifferingRows {
    struct Pair {
        var old: RowPlace
        var new: RowPlace
        /// Positions in the columns that both sides have alike.
        var cells: [Int]
    }

    /// Columns that both sides have, of one shape, without those of the key.
    private(set) var shared: [(name: String, old: Int, new: Int)] = []
    private(set) var pairs: [Pair] = []
    private(set) var removed: [RowPlace] = []
    private(set) var added: [RowPlace] = []

    init(_ type: ChangedType, _ options: DifferenceOptions) throws(FirnError) {
        guard let old = type.old, let new = type.new else {
            removed = try type.old.map { (table) throws(FirnError) in try DifferingRows.places(table, options.oldName) } ?? []
            added = try type.new.map { (table) throws(FirnError) in try DifferingRows.places(table, options.newName) } ?? []
            return
        }
        let key = Set(type.key)
        for (place, column) in old.type.columns.enumerated() where !key.contains(column.name) {
            if old.type.hasColumn(column, of: new.type, in: old.schema, other: new.schema) { shared.append((column.name, place, new.type.index(of: column.name)!)) }
        }
        if let difference = type.difference {
            try find(difference, old, new, options)
        } else {
            try findByPlace(old, new, options)
        }
    }

    private mutating func find(_ difference: TableDifference, _ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        // Where the columns that were compared stand among those written.
        let places = difference.columns.map { column in shared.firstIndex { $0.name == column.name } }
        let lone = Lone(old, new, shared, Set(difference.key.map(\.name)), options)
        try difference.forEachMatch(changed: lone.isEmpty) { before, after, columns throws(FirnError) in
            let cells = columns.compactMap { places[$0] }
            let isWanted = cells.isEmpty ? try lone.hasValue(before, after) : true
            if isWanted { pairs.append(Pair(old: before, new: after, cells: cells)) }
        }
        try difference.forEachEntry(of: [.added, .removed]) { entry throws(FirnError) in
            switch entry {
            case .added(let place): added.append(place)
            case .removed(let place): removed.append(place)
            case .changed: break
            }
            return true
        }
    }

    private mutating func findByPlace(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        let before = try DifferingRows.places(old, options.oldName), after = try DifferingRows.places(new, options.newName), common = min(before.count, after.count)
        let (first, second) = try LinkSpelling.pair(old, new), columns = shared.map { ColumnPairing($0.name, old: first, new: second) }
        let was = RowReader(first, name: options.oldName), becomes = RowReader(second, name: options.newName)
        pairs = (0..<common).map { Pair(old: before[$0], new: after[$0], cells: []) }
        for (i, column) in columns.enumerated() {
            for k in 0..<common where try !column.same(was.value(before[k], column.old.index), becomes.value(after[k], column.new.index), tolerance: 0) { pairs[k].cells.append(i) }
        }
        removed = Array(before[common...])
        added = Array(after[common...])
    }

    /// All rows that are there.
    static func places(_ table: any Table, _ name: String) throws(FirnError) -> [RowPlace] {
        var places: [RowPlace] = []
        do throws(Damage) {
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                for row in 0..<segment.rowCount where segment.live?[row] ?? true { places.append(RowPlace(segment: index, row: row)) }
            }
        } catch { throw FirnError(error, in: name) }
        return places
    }
}

/// Columns that one side alone has, or in another shape.
private struct Lone {
    private let old: [Int]
    private let new: [Int]
    private let readers: (old: RowReader, new: RowReader)

    init(_ old: any Table, _ new: any Table, _ shared: [(name: String, old: Int, new: Int)], _ key: Set<String>, _ options: DifferenceOptions) {
        let names = key.union(shared.map(\.name))
        self.old = old.type.columns.indices.filter { !names.contains(old.type.columns[$0].name) }
        self.new = new.type.columns.indices.filter { !names.contains(new.type.columns[$0].name) }
        readers = (RowReader(old, name: options.oldName), RowReader(new, name: options.newName))
    }

    var isEmpty: Bool { old.isEmpty && new.isEmpty }

    func hasValue(_ before: RowPlace, _ after: RowPlace) throws(FirnError) -> Bool {
        for column in old where try !readers.old.value(before, column).isNull { return true }
        for column in new where try !readers.new.value(after, column).isNull { return true }
        return false
    }
}
