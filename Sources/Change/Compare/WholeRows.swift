import FirnBytes
import FirnTable

/// Matches rows that have equal values in all compared columns: each with as many rows of the other table as both have.
struct WholeRows {
    let old: any Table
    let new: any Table
    /// The columns that both tables have and, if rows occur several times, one with the number of each occurrence.
    let key: [String]

    init(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        let names = new.type.columns.map(\.name).filter { old.type.index(of: $0) != nil && options.compares($0) }
        let haveColumns = !old.type.columns.isEmpty || !new.type.columns.isEmpty
        guard !names.isEmpty || !haveColumns else {
            throw FirnError(.usage, "the files have no column in common, so no row of one can be in the other")
        }
        let key = names.map { options.pairing($0, old: old, new: new, isKey: true) }
        let before = try Occurrences(of: old, .old, key, options), after = try Occurrences(of: new, .new, key, options)
        // Rows without columns are all equal.
        guard names.isEmpty || !before.isEmpty || !after.isEmpty else {
            (self.old, self.new, self.key) = (old, new, names)
            return
        }
        var name = "occurrence", copy = 2
        while old.type.index(of: name) != nil || new.type.index(of: name) != nil {
            name = "occurrence_\(copy)"
            copy += 1
        }
        self.old = OccurrenceTable(old, name, before)
        self.new = OccurrenceTable(new, name, after)
        self.key = names + [name]
    }
}

/// How many equal rows precede each row of a table.
private struct Occurrences: Sendable {
    /// By segment, for those with a row that is not the first of its kind.
    private(set) var numbers: [Int: [Int64]] = [:]
    private let charge: MemoryCharge

    var isEmpty: Bool { numbers.isEmpty }

    init(of table: any Table, _ side: DifferenceSide, _ key: [ColumnPairing], _ options: DifferenceOptions) throws(FirnError) {
        let hashes = try KeyHashes(of: table, side, key: key, options: options)
        var repeated = DuplicateKeys(side, table, key: key, options: options)
        try repeated.settle(
            hashes.table(threads: options.execution.threads), hash: { hashes.hashes[Int($0)] },
            position: { hashes.position(of: Int($0)) })
        let segments = Set(repeated.found.map { Int($0.later >> 16) })
        do throws(Damage) {
            charge = try table.memory.holding(
                segments.count * segmentSize * MemoryLayout<Int64>.size, for: "comparing the rows of type \"\(table.type.name)\"")
        } catch { throw FirnError(error, in: options.name(side)) }
        for segment in segments {
            numbers[segment] = [Int64](repeating: 0, count: hashes.starts[segment + 1] - hashes.starts[segment])
        }
        var counts: [UInt32: Int64] = [:]
        for (later, earlier) in repeated.found.sorted(by: { $0.later < $1.later }) {
            counts[earlier, default: 0] += 1
            numbers[Int(later >> 16)]?[Int(later & 0xFFFF)] = counts[earlier]!
        }
    }
}

/// A table with one more column: how many equal rows precede each row.
private final class OccurrenceTable: WrappedTable {
    let base: any Table
    let type: TypeSchema
    var schema: Schema { base.schema }
    private let occurrences: Occurrences

    init(_ base: any Table, _ name: String, _ occurrences: Occurrences) {
        self.base = base
        self.occurrences = occurrences
        var type = base.type, column = ColumnSchema(name, ColumnType(.int))
        column.id = (base.type.columns.map(\.id).max() ?? 0) + 1
        type.columns.append(column)
        self.type = type
    }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        OccurrenceSegment(base: try base.segment(index), column: base.type.columns.count, numbers: occurrences.numbers[index])
    }
}

private final class OccurrenceSegment: WrappedSegment {
    let base: any Segment
    /// The position of the column.
    let column: Int
    /// Nil: each row is the first of its kind.
    let numbers: [Int64]?

    init(base: any Segment, column: Int, numbers: [Int64]?) {
        self.base = base
        self.column = column
        self.numbers = numbers
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        guard index == column else { return try base.column(index) }
        var values = Column(ColumnType(.int))
        for number in numbers ?? [Int64](repeating: 0, count: base.rowCount) { values.append(.int(number)) }
        return MemoryColumnReader(values)
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader { path.count == 1 ? try column(path[0]) : try base.column(path: path) }
}
