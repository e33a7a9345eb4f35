import FirnBytes
import FirnTable

/// Collects the values of one column until a segment is full. If few rows have a value, the column holds only those, with their positions:
/// types with many sparse columns need memory for their values instead of for rows × columns.
struct BufferedColumn {
    private(set) var count = 0
    /// If the column is sparse, the positions of the rows in `values`, ascending. If nil, `values` contains every row.
    private var positions: [Int32]?
    private var values: Column
    /// The number of rows with a value.
    private var ones = 0
    /// The number of rows of a full segment, until there is room for them; then 0. Arrays that only grow by doubling would end with up to
    /// twice the memory that a full segment needs.
    private var expectedRows = 0

    /// The column becomes sparse if fewer than one row in this many has a value, and dense again above twice that share.
    private static let sparseness = 8
    /// A dense column with fewer rows stays dense.
    private static let minimumRows = 64

    /// Creates a column without rows, for segments of `rows` rows. `type` is the type of the column as it is stored.
    init(_ type: ColumnType, rows: Int) {
        values = Column(type)
        expectedRows = rows
    }

    /// Creates a dense column with all rows of `column`.
    init(_ column: Column) {
        values = column
        count = column.count
    }

    /// The bytes of texts, of a column of texts or lists of them.
    var textBytes: Int { BufferedColumn.textBytes(values) }

    private static func textBytes(_ column: Column) -> Int {
        column.text.bytes.count + column.children.reduce(0) { $0 + textBytes($1) }
    }

    var isSparse: Bool { positions != nil }
    /// The number of entries held: all rows of a dense column, the rows with a value of a sparse one.
    var slots: Int { values.count }
    var type: ColumnType { values.type }

    mutating func append(_ column: Column, range: Range<Int>) {
        if count == 0 { values.type = column.type }
        let present = column.present
        let more = present.map { range.count == column.count ? $0.ones : $0.slice(range).ones } ?? range.count
        let total = ones + more, rows = count + range.count
        if positions == nil {
            if rows < BufferedColumn.minimumRows || total * BufferedColumn.sparseness >= rows { return appendDense(column, range, more) }
            becomeSparse()
        } else if total * BufferedColumn.sparseness > rows * 2 {
            values = spreadColumn
            positions = nil
            return appendDense(column, range, more)
        }
        if more > 0 {
            var rows: [Int] = []
            rows.reserveCapacity(more)
            if let present {
                let part = range.count == column.count ? present : present.slice(range)
                part.forEachSet { rows.append(range.lowerBound + $0) }
            } else {
                rows = Array(range)
            }
            values.appendGathered(column, rows: rows)
            values.present = nil
            let shift = count - range.lowerBound
            positions!.append(contentsOf: rows.lazy.map { Int32($0 + shift) })
        }
        ones = total
        count = rows
    }

    private mutating func appendDense(_ column: Column, _ range: Range<Int>, _ more: Int) {
        if expectedRows > 0, values.count > 0, (values.count + range.count) * 2 > expectedRows {
            values.reserve(rows: expectedRows)
            expectedRows = 0
        }
        values.append(contentsOf: column, range: range)
        ones += more
        count += range.count
    }

    private mutating func becomeSparse() {
        var rows: [Int] = []
        rows.reserveCapacity(ones)
        if let present = values.present { present.forEachSet { rows.append($0) } } else { rows = Array(0..<values.count) }
        values = values.gather(rows)
        values.present = nil
        positions = rows.map { Int32($0) }
    }

    /// The validity bitmap; nil if every row has a value.
    var present: Bits? {
        guard let positions else { return values.present }
        var bits = Bits(repeating: false, count: count)
        for position in positions { bits[Int(position)] = true }
        return bits
    }

    /// `present`, or nil if the column is sparse and sharing its validity with other columns cannot save bytes.
    var presenceToShare: Bits? { isSparse && !PresencePlan.mayGain(count, ones: ones) ? nil : present }

    /// The column with an entry for every row.
    var column: Column { positions == nil ? values : spreadColumn }

    private var spreadColumn: Column {
        guard let positions else { return values }
        var out = Column(values.type)
        out.count = count
        out.present = present
        if values.type.isCollection {
            out.children = values.children
            out.offsets = spread(ends: values.offsets, positions)
            return out
        }
        let kind = values.type.kind
        func uses(_ stream: StreamKind) -> Bool { values.type.payload.contains(stream) }
        if uses(.words) { out.words = spread(values.words, positions, 0) }
        if uses(.extra) { out.extra = spread(values.extra, positions, 0) }
        if uses(.reals) { out.reals = spread(values.reals, positions, 0) }
        if kind == .any { out.tags = spread(values.tags, positions, AnyTag.null) }
        if uses(.text) { out.text = Text(offsets: spread(ends: values.text.offsets, positions), bytes: values.text.bytes) }
        return out
    }

    private func spread<T>(_ values: [T], _ positions: [Int32], _ filler: T) -> [T] {
        var out = [T](repeating: filler, count: count)
        for (value, position) in zip(values, positions) { out[Int(position)] = value }
        return out
    }

    /// `ends[0]` is the start of the first row. Rows without a value end where they start.
    private func spread(ends: [Int], _ positions: [Int32]) -> [Int] {
        [Int](unsafeUninitializedCapacity: count + 1) { out, filled in
            out[0] = ends[0]
            var row = 0
            for (i, position) in positions.enumerated() {
                while row < Int(position) {
                    out[row + 1] = ends[i]
                    row += 1
                }
                out[row + 1] = ends[i + 1]
                row += 1
            }
            while row < count {
                out[row + 1] = ends[positions.count]
                row += 1
            }
            filled = count + 1
        }
    }
}
