import FirnBytes
import FirnTable

/// Texts as positions in a list of different texts, as an Arrow dictionary has them.
package struct CodedColumn: Sendable {
    /// The position of each row's text in `values`; any position if it has none.
    let codes: [Int32]
    /// The rows that have a text; nil: all.
    let present: Bits?
    let values: Text

    /// All codes are positions in `values`.
    package init(codes: [Int32], present: Bits?, values: Text) {
        self.codes = codes
        self.present = present
        self.values = values
    }

    /// The texts of a column, each with a code of its own.
    package init(_ column: Column) {
        self.init(codes: Array(0..<Int32(column.count)), present: column.present, values: column.text)
    }

    /// Returns the codes of some rows, with the same values.
    package subscript(rows: Range<Int>) -> CodedColumn {
        let bits = present.map { present in
            var bits = Bits(repeating: false, count: rows.count)
            for row in rows where present[row] { bits[row - rows.lowerBound] = true }
            return bits
        }
        return CodedColumn(codes: Array(codes[rows]), present: bits, values: values)
    }

    package var footprint: Int { codes.count * 4 + values.bytes.count + values.offsets.count * 8 }

    /// Returns the column in Arrow's layout.
    func part(_ field: ArrowField) throws(ArrowFault) -> ArrowRecord.Part {
        guard values.bytes.count <= Int(Int32.max) else { throw ArrowFault("the texts of a batch have more than 2 GiB", code: .rejected) }
        let nulls = field.isNullable ? present.map { codes.count - $0.ones } ?? 0 : 0
        let offsets = ArrowEncoder.bytes(values.offsets.count, as: Int32.self) { Int32(truncatingIfNeeded: values.offsets[$0]) }
        let texts = ArrowRecord.Part(nodes: [Int64(values.count), 0], buffers: [.none, .bytes(offsets), .bytes(values.bytes)])
        return ArrowRecord.Part(
            nodes: [Int64(codes.count), Int64(nulls)], buffers: [nulls == 0 ? .none : ArrowBuffer(present), .codes(codes)],
            charge: values.charge, dictionary: [texts])
    }
}
