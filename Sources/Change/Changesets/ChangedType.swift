import FirnBytes
import FirnTable

/// One type of two files whose differences are written by `Changeset.write`.
package struct ChangedType {
    /// Nil if the file does not have the type.
    let old: (any Table)?
    let new: (any Table)?
    /// The difference by key. Without it, rows are matched by their positions.
    let difference: TableDifference?
    /// The type's own key in each file.
    let keys: (old: [String], new: [String])

    /// Makes the changes of a type that both files have, by key. All its rows and columns must have been compared.
    ///
    /// - Parameter newKnowsKeys: Pass false for a file whose format has no keys, such as CSV: then the key of the type is kept.
    package init(_ difference: TableDifference, newKnowsKeys: Bool = true) {
        let options = difference.options
        guard difference.leftOutOld == 0, difference.leftOutNew == 0, options.scope.rows == nil, options.tolerance == 0,
            options.ignore.isEmpty,
            options.columns.isEmpty, options.kinds.count == 3
        else {
            trap("changes need the differences of all rows and columns: compare without leaving any out")
        }
        let old = difference.plain.old, new = difference.plain.new, own = old.type.keyNames
        let stays = !newKnowsKeys && new.type.key.isEmpty && own.allSatisfy { new.type.index(of: $0) != nil }
        self.old = old
        self.new = new
        self.difference = difference
        keys = (own, stays ? own : new.type.keyNames)
    }

    /// Makes the changes of a type that has no key, or that only one file has.
    package init(old: (any Table)?, new: (any Table)?) {
        trap(unless: old != nil || new != nil, "one of the files must have the type")
        self.old = old
        self.new = new
        difference = nil
        keys = (old?.type.keyNames ?? [], new?.type.keyNames ?? [])
    }

    var name: String { (old ?? new)!.type.name }

    /// The columns by which rows are matched.
    var key: [String] {
        if let difference { return difference.key.map(\.name) }
        guard old == nil || new == nil, let type = (old ?? new)?.type else { return [] }
        return type.keyNames
    }
}

/// The rows of a type that are written.
struct DifferingRows {
    struct Pair {
        var old: RowPlace
        var new: RowPlace
        /// The cells that differ, as positions in `shared`.
        var cells: [Int]
    }

    /// The columns that both sides have with the same shape, without those of the key.
    private(set) var shared: [(name: String, old: Int, new: Int)] = []
    /// The columns of the key that have the same shape on both sides.
    private var sharedKey: Set<String> = []
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
        for (place, column) in old.type.columns.enumerated()
        where old.type.hasColumn(column, of: new.type, in: old.schema, other: new.schema) {
            if key.contains(column.name) {
                sharedKey.insert(column.name)
            } else {
                shared.append((column.name, place, new.type.index(of: column.name)!))
            }
        }
        if let difference = type.difference {
            try find(difference, old, new, options)
        } else {
            try findByPlace(old, new, options)
        }
    }

    /// Removes a cell from those that are written with its row.
    mutating func leaveOut(_ number: Int, of pair: Int) { pairs[pair].cells.removeAll { $0 == number } }

    private mutating func find(_ difference: TableDifference, _ old: any Table, _ new: any Table, _ options: DifferenceOptions)
        throws(FirnError)
    {
        // The positions of the compared columns among those that are written.
        let written = Dictionary(shared.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        let places = difference.columns.map { written[$0.name] }
        let lone = Lone(old, new, shared, sharedKey, options),
            loose = Loose(difference.old, difference.new, shared.map(\.name), sharedKey, options)
        try difference.forEachMatch(changed: lone.isEmpty && loose.isEmpty) { before, after, columns throws(FirnError) in
            var cells = columns.compactMap { places[$0] }
            try loose.addCells(before, after, to: &cells)
            var isWanted = !cells.isEmpty
            if !isWanted { isWanted = try loose.hasOtherKey(before, after) }
            if !isWanted { isWanted = try lone.hasValue(before, after) }
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
        let before = try DifferingRows.places(old, options.oldName), after = try DifferingRows.places(new, options.newName),
            common = min(before.count, after.count)
        let (first, second) = try LinkSpelling.pair(old, new), columns = shared.map { ColumnPairing($0.name, old: first, new: second) }
        let was = RowReader(first, name: options.oldName), becomes = RowReader(second, name: options.newName)
        pairs = (0..<common).map { Pair(old: before[$0], new: after[$0], cells: []) }
        for (i, column) in columns.enumerated() {
            for k in 0..<common
            where try !column.same(was.value(before[k], column.old.index), becomes.value(after[k], column.new.index), tolerance: 0) {
                pairs[k].cells.append(i)
            }
        }
        let loose = Loose(first, second, shared.map(\.name), [], options)
        if !loose.isEmpty { for k in 0..<common { try loose.addCells(before[k], after[k], to: &pairs[k].cells) } }
        removed = Array(before[common...])
        added = Array(after[common...])
    }

    /// Returns the places of all live rows.
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

/// Compares columns of type any, in which values of different kinds can be equal by meaning: a float and a double, a list and a set. A
/// content hash distinguishes them, so changes do too.
private struct Loose {
    /// By the number of the cell.
    private let cells: [(number: Int, old: Int, new: Int)]
    private let key: [(old: Int, new: Int)]
    private let readers: (old: RowReader, new: RowReader)

    /// Takes the tables with link-resolved columns.
    init(_ old: any Table, _ new: any Table, _ shared: [String], _ key: Set<String>, _ options: DifferenceOptions) {
        func place(_ name: String) -> (old: Int, new: Int)? {
            guard let a = old.type.index(of: name), let b = new.type.index(of: name), old.schema.mayHoldAny(old.type.columns[a].type) else {
                return nil
            }
            return (a, b)
        }
        cells = shared.enumerated().compactMap { number, name in place(name).map { (number, $0.old, $0.new) } }
        self.key = key.sorted().compactMap(place)
        readers = (RowReader(old, name: options.oldName), RowReader(new, name: options.newName))
    }

    var isEmpty: Bool { cells.isEmpty && key.isEmpty }

    func addCells(_ before: RowPlace, _ after: RowPlace, to told: inout [Int]) throws(FirnError) {
        for cell in cells where !told.contains(cell.number) {
            if try readers.old.value(before, cell.old) != readers.new.value(after, cell.new) { told.append(cell.number) }
        }
    }

    func hasOtherKey(_ before: RowPlace, _ after: RowPlace) throws(FirnError) -> Bool {
        for column in key where try readers.old.value(before, column.old) != readers.new.value(after, column.new) { return true }
        return false
    }
}

/// Columns that only one side has, or that have a different shape on the other.
private struct Lone {
    private let old: [Int]
    private let new: [Int]
    private let readers: (old: RowReader, new: RowReader)

    init(
        _ old: any Table, _ new: any Table, _ shared: [(name: String, old: Int, new: Int)], _ key: Set<String>, _ options: DifferenceOptions
    ) {
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
