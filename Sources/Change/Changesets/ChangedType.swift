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
        guard difference.leftOutOld == 0, difference.leftOutNew == 0, options.scope.rows == nil,
            options.tolerance.isNone, options.tolerances.isEmpty, options.ignore.isEmpty, options.renamed.isEmpty,
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
        let old = old.map(VisibleTable.of), new = new.map(VisibleTable.of)
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
        var old: RowLocation
        var new: RowLocation
        /// The cells that differ, as positions in `shared`.
        var cells: [Int]
    }

    /// The columns that both sides have with the same shape, without those of the key.
    private(set) var shared: [(name: String, old: Int, new: Int)] = []
    /// The columns of the key that have the same shape on both sides.
    private var sharedKey: Set<String> = []
    private(set) var pairs: [Pair] = []
    private(set) var removed: [RowLocation] = []
    private(set) var added: [RowLocation] = []

    init(_ type: ChangedType, _ options: DifferenceOptions) throws(FirnError) {
        guard let old = type.old, let new = type.new else {
            removed = try type.old.map { (table) throws(FirnError) in try DifferingRows.locations(table, options.oldName) } ?? []
            added = try type.new.map { (table) throws(FirnError) in try DifferingRows.locations(table, options.newName) } ?? []
            return
        }
        let key = Set(type.key)
        for (columnPosition, column) in old.type.columns.enumerated()
        where old.type.hasColumn(column, of: new.type, in: old.schema, other: new.schema) {
            if key.contains(column.name) {
                sharedKey.insert(column.name)
            } else {
                shared.append((column.name, columnPosition, new.type.index(of: column.name)!))
            }
        }
        if let difference = type.difference {
            try find(difference, old, new, options)
        } else {
            try findByPosition(old, new, options)
        }
    }

    /// Removes a cell from those that are written with its row.
    mutating func leaveOut(_ number: Int, of pair: Int) { pairs[pair].cells.removeAll { $0 == number } }

    private mutating func find(_ difference: TableDifference, _ old: any Table, _ new: any Table, _ options: DifferenceOptions)
        throws(FirnError)
    {
        // The positions of the compared columns among those that are written.
        let written = Dictionary(shared.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        let cellNumbers = difference.columns.map { written[$0.name] }
        let unshared = UnsharedColumns(old, new, shared, sharedKey, options),
            exact = ExactAnyColumns(difference.old, difference.new, shared.map(\.name), sharedKey, options)
        try difference.forEachMatch(changed: unshared.isEmpty && exact.isEmpty) { before, after, columns throws(FirnError) in
            var cells = columns.compactMap { cellNumbers[$0] }
            try exact.addCells(before, after, to: &cells)
            var isWanted = !cells.isEmpty
            if !isWanted { isWanted = try exact.hasOtherKey(before, after) }
            if !isWanted { isWanted = try unshared.hasValue(before, after) }
            if isWanted { pairs.append(Pair(old: before, new: after, cells: cells)) }
        }
        try difference.forEachEntry(of: [.added, .removed]) { entry throws(FirnError) in
            switch entry {
            case .added(let location): added.append(location)
            case .removed(let location): removed.append(location)
            case .changed: break
            }
            return true
        }
    }

    private mutating func findByPosition(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        let before = try DifferingRows.locations(old, options.oldName), after = try DifferingRows.locations(new, options.newName),
            common = min(before.count, after.count)
        let (first, second) = try LinkResolution.pair(old, new), columns = shared.map { ColumnPairing($0.name, old: first, new: second) }
        let was = RowReader(first, name: options.oldName), becomes = RowReader(second, name: options.newName)
        pairs = (0..<common).map { Pair(old: before[$0], new: after[$0], cells: []) }
        for (i, column) in columns.enumerated() {
            for k in 0..<common
            where try !column.same(was.value(before[k], column.old.index), becomes.value(after[k], column.new.index), tolerance: 0) {
                pairs[k].cells.append(i)
            }
        }
        let exact = ExactAnyColumns(first, second, shared.map(\.name), [], options)
        if !exact.isEmpty { for k in 0..<common { try exact.addCells(before[k], after[k], to: &pairs[k].cells) } }
        removed = Array(before[common...])
        added = Array(after[common...])
    }

    /// Returns the locations of all live rows.
    static func locations(_ table: any Table, _ name: String) throws(FirnError) -> [RowLocation] {
        var locations: [RowLocation] = []
        do throws(Damage) {
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                    locations.append(RowLocation(segment: index, position: row))
                }
            }
        } catch { throw FirnError(error, in: name) }
        return locations
    }
}

/// Compares columns of type any exactly. Values of different kinds in them can be equivalent: a float and a double, a list and a set. A
/// content hash distinguishes them, so changes do too.
private struct ExactAnyColumns {
    /// By the number of the cell.
    private let cells: [(number: Int, old: Int, new: Int)]
    private let key: [(old: Int, new: Int)]
    private let readers: (old: RowReader, new: RowReader)

    /// Takes the tables with link-resolved columns.
    init(_ old: any Table, _ new: any Table, _ shared: [String], _ key: Set<String>, _ options: DifferenceOptions) {
        func positions(_ name: String) -> (old: Int, new: Int)? {
            guard let a = old.type.index(of: name), let b = new.type.index(of: name), old.schema.mayHoldAny(old.type.columns[a].type) else {
                return nil
            }
            return (a, b)
        }
        cells = shared.enumerated().compactMap { number, name in positions(name).map { (number, $0.old, $0.new) } }
        self.key = key.sorted().compactMap(positions)
        readers = (RowReader(old, name: options.oldName), RowReader(new, name: options.newName))
    }

    var isEmpty: Bool { cells.isEmpty && key.isEmpty }

    func addCells(_ before: RowLocation, _ after: RowLocation, to numbers: inout [Int]) throws(FirnError) {
        for cell in cells where !numbers.contains(cell.number) {
            if try readers.old.value(before, cell.old) != readers.new.value(after, cell.new) { numbers.append(cell.number) }
        }
    }

    func hasOtherKey(_ before: RowLocation, _ after: RowLocation) throws(FirnError) -> Bool {
        for column in key where try readers.old.value(before, column.old) != readers.new.value(after, column.new) { return true }
        return false
    }
}

/// Columns that only one side has, or that have a different shape on the other.
private struct UnsharedColumns {
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

    func hasValue(_ before: RowLocation, _ after: RowLocation) throws(FirnError) -> Bool {
        for column in old where try !readers.old.value(before, column).isNull { return true }
        for column in new where try !readers.new.value(after, column).isNull { return true }
        return false
    }
}
