import CSQLite
import FirnBytes
import FirnModel

/// Where the rows with a value stand, for joins: candidates, by a hash of the value as SQL has it, in the order of the table. SQLite compares
/// them itself.
final class EqualityIndex {
    /// For each live row with a value; chained. What a look-up needs of one lies together.
    private struct Entry {
        /// Row of the table: segment << 16 | row.
        var position: UInt32
        var next: Int32
        /// High bits of the hash: few others than the rows meant get past it.
        var tag: UInt32
    }
    private var entries: [Entry] = []
    private var heads: [Int32]
    private let mask: UInt64

    /// Nil where the table is too large to be counted so.
    init?(_ table: any Table, _ columns: [SQLColumn], column index: Int) throws(Damage) {
        let rows = table.rowCount
        guard rows < Int(Int32.max), table.segmentCount <= 1 << 16 else { return nil }
        var size = 64
        while size < rows { size *= 2 }
        heads = Array(repeating: -1, count: size)
        mask = UInt64(size - 1)
        entries.reserveCapacity(rows)
        let reader = SQLReader(table, columns), buffer = ColumnBuffer(), form = columns[index].form
        // Backwards, as each row goes before those that are there.
        for number in (0..<table.segmentCount).reversed() {
            let segment = try reader.move(to: number)
            guard segment.rowCount <= segmentSize else { return nil }
            for vector in (0..<segment.vectorCount).reversed() {
                let column = try reader.fill(buffer, column: index, vector: vector), range = segment.rows(ofVector: vector)
                for row in (0..<range.count).reversed() where segment.live?[range.lowerBound + row] ?? true {
                    guard column.present.map({ $0[row >> 6] >> UInt64(row & 63) & 1 == 1 }) ?? true else { continue }
                    let hash = EqualityIndex.hash(column, row, form), slot = Int(hash & mask)
                    entries.append(Entry(position: UInt32(number << 16 | (range.lowerBound + row)), next: heads[slot], tag: UInt32(truncatingIfNeeded: hash >> 32)))
                    heads[slot] = Int32(entries.count - 1)
                }
            }
        }
    }

    /// Rows that may hold the value, as positions of `SQLReader`, ascending; nil if the index cannot tell.
    func candidates(_ value: OpaquePointer, _ form: SQLForm, into out: inout [UInt64]) -> Bool {
        guard let hash = EqualityIndex.hash(value, form) else { return false }
        guard let hash = hash.known else { return true }
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        var at = heads[Int(hash & mask)]
        while at >= 0 {
            let entry = entries[Int(at)]
            if entry.tag == tag { out.append(UInt64(entry.position >> 16) << 32 | UInt64(entry.position & 0xFFFF)) }
            at = entry.next
        }
        return true
    }

    /// Whether look-ups by such columns can be answered.
    static func isUseful(_ form: SQLForm) -> Bool { form.isNumeric || form.isTextual || form == .blob }

    private static func hash(_ column: firn_sql_column, _ row: Int, _ form: SQLForm) -> UInt64 {
        switch Int(column.form) {
        case FIRN_SQL_INT: mix(UInt64(bitPattern: column.words[row]), 1)
        case FIRN_SQL_REAL: realHash(column.reals[row])
        default: hashBytes(UnsafeRawBufferPointer(start: column.bytes + Int(column.offsets[row]), count: Int(column.offsets[row + 1] - column.offsets[row])))
        }
    }

    private struct Hash {
        /// Nil: no value of the column equals it.
        var known: UInt64?
    }

    /// Nil: rows equal to the value may have other hashes.
    private static func hash(_ value: OpaquePointer, _ form: SQLForm) -> Hash? {
        switch form {
        case .int, .bool: return Hash(known: SQLNumbers.whole(SQLValue(numeric: value)).map { mix(UInt64(bitPattern: $0), 1) })
        case .real, .float:
            switch SQLValue(numeric: value) {
            case .int(let x): return Hash(known: Double(x) < 0x1p63 && Int64(Double(x)) == x ? realHash(Double(x)) : nil)
            case .real(let x): return Hash(known: realHash(x))
            default: return Hash(known: nil)
            }
        default:
            let type = Int(firn_sql_value_type(value))
            if type == FIRN_SQL_NULL { return Hash(known: nil) }
            guard type == (form == .blob ? FIRN_SQL_BLOB : FIRN_SQL_TEXT) else { return nil }
            var count: Int64 = 0
            let base = firn_sql_value_bytes(value, &count)
            // As in SQLConditions: the digits of a decimal may be meant.
            if form == .text, count >= 16, base.map({ $0[0] <= UInt8(ascii: "9") }) ?? false { return nil }
            return Hash(known: hashBytes(UnsafeRawBufferPointer(start: base, count: Int(count))))
        }
    }
}
