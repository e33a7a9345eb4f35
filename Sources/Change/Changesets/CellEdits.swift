import FirnBytes
import FirnTable

/// The type `edits.NAME` of a changes file: edits of the parts of nested cells (docs/format/changes.md, "Edits of nested cells").
enum CellEdits {
    static func typeName(_ name: String) -> String { "edits.\(name)" }

    static func type(_ name: String) -> TypeSchema {
        TypeSchema(
            typeName(name),
            columns: [
                ColumnSchema("pair", ColumnType(.int)), ColumnSchema("column", ColumnType(.string)), ColumnSchema("kind", ColumnType(.int)),
                ColumnSchema("path", ColumnType(.any, collection: .list)), ColumnSchema("old", ColumnType(.any, optional: true)),
                ColumnSchema("new", ColumnType(.any, optional: true)),
            ])
    }

    /// Whether cells of a column can be stored as edits of their parts.
    static func mayEdit(_ type: ColumnType) -> Bool { type.isCollection || type.kind == .embedded || type.kind == .any }

    /// Returns the edits of one cell; nil unless they are smaller than its two values and convert each value to the other bit for bit.
    static func between(_ old: Value, _ new: Value) -> [ValueEdit]? {
        guard old.isNested, new.isNested else { return nil }
        let edits = [ValueEdit].between(old, new, checks: true)
        guard !edits.isEmpty, !edits.isWhole, edits.size < old.encoded.count + new.encoded.count else { return nil }
        var there = old, back = new
        guard there.apply(edits) == nil, there == new, back.apply(edits.reversed().map(\.reversed)) == nil, back == old else { return nil }
        return edits
    }
}

/// The edits of the cells of one type, for writing.
struct WrittenEdits {
    private var rows: [(pair: Int, column: String, edit: ValueEdit)] = []

    var isEmpty: Bool { rows.isEmpty }

    /// Removes the cells from `rows` that are stored as edits. Cells with links are stored whole, because links have other numbers in a
    /// changes file.
    init(_ type: ChangedType, _ rows: inout DifferingRows, _ options: DifferenceOptions) throws(FirnError) {
        guard let old = type.old, let new = type.new else { return }
        let nested = rows.shared.indices.filter { CellEdits.mayEdit(old.type.columns[rows.shared[$0].old].type) }
        guard !nested.isEmpty else { return }
        let was = RowReader(old, name: options.oldName), becomes = RowReader(new, name: options.newName)
        for (k, pair) in rows.pairs.enumerated() {
            for number in pair.cells where nested.contains(number) {
                let column = rows.shared[number]
                let before = try was.value(pair.old, column.old), after = try becomes.value(pair.new, column.new)
                if before.hasLinks(old.type.columns[column.old].type, in: old.schema)
                    || after.hasLinks(new.type.columns[column.new].type, in: new.schema)
                {
                    continue
                }
                guard let edits = CellEdits.between(before, after) else { continue }
                rows.leaveOut(number, of: k)
                for edit in edits { self.rows.append((k, column.name, edit)) }
            }
        }
    }

    func write(_ name: String, _ write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        let type = CellEdits.type(name)
        var start = 0
        while start < rows.count {
            let end = min(rows.count, start + segmentSize)
            var batch = Batch(type, in: Schema([type]))
            for row in rows[start..<end] {
                let values: [Value] = [
                    .int(Int64(row.pair)), .string(row.column), .int(row.edit.kind.rawValue), .list(row.edit.path),
                    row.edit.old.withoutObjects, row.edit.new.withoutObjects,
                ]
                for (i, value) in values.enumerated() { batch.columns[i].append(value) }
            }
            batch.count = end - start
            try write(type.name, batch)
            start = end
        }
    }
}

/// The edits of the cells of one type, as read.
struct ReadEdits: Sendable {
    private let table: any Table
    private let name: String
    /// By pair: the range of its rows.
    private let ranges: [Int: Range<Int>]
    private let starts: [Int]
    private var isReversed = false

    /// Throws `Damage` if the rows are not in the order of their pairs.
    init(_ table: any Table, pairs: Int, name: String) throws(Damage) {
        self.table = table
        self.name = name
        var ranges: [Int: Range<Int>] = [:], starts = [0], last = -1
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index), reader = try segment.column(0)
            guard segment.live == nil else { throw Damage("deleted rows in a changes file") }
            var numbers = Column(reader.type)
            for vector in 0..<segment.vectorCount {
                try reader.read(vector: vector, into: &numbers)
                for row in 0..<numbers.count {
                    let flat = starts[index] + vector * vectorSize + row
                    guard numbers.isPresent(row), numbers.words[row] >= Int64(last), numbers.words[row] >= 0,
                        numbers.words[row] < Int64(pairs)
                    else { throw Damage("edits of rows that the changes file does not contain") }
                    let pair = Int(numbers.words[row])
                    ranges[pair] = (ranges[pair]?.lowerBound ?? flat)..<flat + 1
                    last = pair
                }
            }
            starts.append(starts[index] + segment.rowCount)
        }
        self.ranges = ranges
        self.starts = starts
    }

    var isEmpty: Bool { ranges.isEmpty }
    var reversed: ReadEdits {
        var copy = self
        copy.isReversed.toggle()
        return copy
    }

    /// The pairs that have edits, in ascending order.
    var pairs: [Int] { ranges.keys.sorted() }

    func reader() -> RowReader { RowReader(table, name: name) }

    /// Returns the edits of a pair, cell by cell, in the order of application.
    func cells(of pair: Int, _ reader: RowReader) throws(FirnError) -> [(column: String, edits: [ValueEdit])] {
        var cells: [(column: String, edits: [ValueEdit])] = []
        for flat in ranges[pair] ?? 0..<0 {
            let location = location(flat)
            guard case .string(let column) = try reader.value(location, 1), case .int(let number) = try reader.value(location, 2),
                let kind = ValueEdit.Kind(rawValue: number),
                case .list(let path) = try reader.value(location, 3), path.allSatisfy(\.isStep)
            else { throw FirnError(.notThisFormat, "the changes file contains an invalid edit", at: .init(file: name)) }
            let edit = ValueEdit(path: path, kind: kind, old: try reader.value(location, 4), new: try reader.value(location, 5))
            if cells.last.map({ !$0.column.utf8.elementsEqual(column.utf8) }) ?? true {
                guard !cells.contains(where: { $0.column.utf8.elementsEqual(column.utf8) }) else {
                    throw FirnError(.notThisFormat, "the edits of a cell are not consecutive in the changes file", at: .init(file: name))
                }
                cells.append((column, []))
            }
            cells[cells.count - 1].edits.append(edit)
        }
        return isReversed ? cells.map { ($0.column, $0.edits.reversed().map(\.reversed)) } : cells
    }

    private func location(_ flat: Int) -> RowLocation {
        var segment = 0
        while starts[segment + 1] <= flat { segment += 1 }
        return RowLocation(segment: segment, position: flat - starts[segment])
    }
}

extension Value {
    fileprivate var isStep: Bool {
        switch self {
        case .string, .int, .null: true
        default: false
        }
    }
}
