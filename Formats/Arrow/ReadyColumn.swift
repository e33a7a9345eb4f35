import FirnBytes
import FirnTable

/// The values of a column in the memory of a pool, and in Arrow's layout.
package enum ReadyColumn: Sendable {
    /// Values of a fixed width, of which none is null.
    case numbers(NumberColumn)
    /// Texts as codes.
    case codes(CodedColumn)
    /// Texts as views.
    case views(ViewColumn)

    package var footprint: Int {
        switch self {
        case .numbers(let numbers): numbers.rows.count * numbers.width
        case .codes(let codes): codes.footprint
        case .views(let views): views.footprint
        }
    }

    package subscript(rows: Range<Int>) -> ReadyColumn {
        switch self {
        case .numbers(var numbers):
            numbers.rows = numbers.rows.lowerBound + rows.lowerBound..<numbers.rows.lowerBound + rows.upperBound
            return .numbers(numbers)
        case .codes(let codes): return .codes(codes[rows])
        case .views(let views): return .views(views[rows])
        }
    }

    /// Returns the column in Arrow's layout.
    func part(_ field: ArrowField) throws(ArrowFault) -> ArrowRecord.Part {
        switch self {
        case .codes(let codes): return try codes.part(field)
        case .views(let views): return try views.part(field)
        case .numbers(let numbers):
            let bytes = numbers.rows.lowerBound * numbers.width..<numbers.rows.upperBound * numbers.width
            return ArrowRecord.Part(
                nodes: [Int64(numbers.rows.count), 0], buffers: [.none, .pooled(numbers.buffer, bytes)], charge: numbers.charge)
        }
    }
}

/// Texts as positions in a list of different texts, as an Arrow dictionary has them.
package struct CodedColumn: Sendable {
    /// The position of each row's text in `values`, in 32 bits; any position if it has none.
    private let codes: PooledBuffer
    /// The codes that are those of the rows.
    private let rows: Range<Int>
    /// The rows that have a text; nil: all.
    private let present: Bits?
    private let values: Text

    /// The first `count` codes of a buffer, which are positions in `values`.
    package init(_ codes: PooledBuffer, count: Int, present: Bits?, values: Text) {
        self.init(codes, rows: 0..<count, present, values)
    }

    private init(_ codes: PooledBuffer, rows: Range<Int>, _ present: Bits?, _ values: Text) {
        self.codes = codes
        self.rows = rows
        self.present = present
        self.values = values
    }

    /// The texts of a column, each with a code of its own.
    package init(_ column: Column, _ pool: BufferPool) {
        let codes = pool.buffer(column.count * 4)
        codes.withValues(Int32.self) { codes in for row in 0..<column.count { codes[row] = Int32(truncatingIfNeeded: row) } }
        self.init(codes, count: column.count, present: column.present, values: column.text)
    }

    /// Returns some rows, with the same values.
    subscript(chosen: Range<Int>) -> CodedColumn {
        let bits = present.map { $0.slice(chosen) }
        return CodedColumn(codes, rows: rows.lowerBound + chosen.lowerBound..<rows.lowerBound + chosen.upperBound, bits, values)
    }

    var footprint: Int { rows.count * 4 + values.bytes.count + values.offsets.count * 8 }

    /// Returns the column in Arrow's layout.
    func part(_ field: ArrowField) throws(ArrowFault) -> ArrowRecord.Part {
        guard values.bytes.count <= Int(Int32.max) else { throw ArrowFault("the texts of a batch have more than 2 GiB", code: .rejected) }
        let nulls = field.isNullable ? present.map { rows.count - $0.ones } ?? 0 : 0
        let offsets = ArrowEncoder.bytes(values.offsets.count, as: Int32.self) { Int32(truncatingIfNeeded: values.offsets[$0]) }
        let texts = ArrowRecord.Part(nodes: [Int64(values.count), 0], buffers: [.none, .bytes(offsets), .bytes(values.bytes)])
        return ArrowRecord.Part(
            nodes: [Int64(rows.count), Int64(nulls)],
            buffers: [nulls == 0 ? .none : ArrowBuffer(present), .pooled(codes, rows.lowerBound * 4..<rows.upperBound * 4)],
            charge: values.charge, dictionary: [texts])
    }
}
