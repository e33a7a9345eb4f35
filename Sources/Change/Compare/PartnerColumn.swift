import FirnBytes
import FirnTable

/// A column of the old table. One part of it is in memory: the vector that contains the partners that are compared, or their whole segment
/// where rows are not decoded vector by vector. Read the partners in ascending order of their vectors.
struct PartnerColumn {
    let pairing: ColumnPairing
    private let table: any Table
    private let name: String
    private(set) var values = Column(ColumnType(.int))
    /// The partners that are in `values`.
    private var held: Range<UInt32> = 0..<0
    /// The partner that is in the first row of `values`.
    var start: UInt32 { held.lowerBound }
    private var segment = -1
    private var reader: (any ColumnReader)?

    /// `name` is that of the table, in errors.
    init(_ pairing: ColumnPairing, of table: any Table, _ name: String) {
        self.pairing = pairing
        self.table = table
        self.name = name
    }

    /// Reads the values of a partner (segment << 16 | row) and of those near it. Returns the partners that are now in `values`, in order.
    mutating func read(_ partner: UInt32) throws(FirnError) -> Range<UInt32> {
        if held.contains(partner) { return held }
        held = 0..<0
        do throws(Damage) {
            if reader == nil || segment != Int(partner >> 16) {
                // The segment before is released first.
                (reader, values) = (nil, Column(ColumnType(.int)))
                segment = Int(partner >> 16)
                let next = try table.segment(segment).column(pairing.old.index)
                if let all = try next.wholeColumn() {
                    let start = partner & ~0xFFFF
                    values = all
                    held = start..<start + UInt32(clamping: all.count)
                    guard held.contains(partner) else { throw Damage("a column has \(all.count) rows") }
                    return held
                }
                reader = next
                values = Column(pairing.old.column, in: pairing.old.schema)
            }
            let start = partner & ~1023
            try reader?.read(vector: Int(partner >> 10) & 63, into: &values)
            held = start..<start + UInt32(clamping: values.count)
            guard held.contains(partner) else { throw Damage("a vector has \(values.count) rows") }
        } catch { throw FirnError(error, in: name) }
        return held
    }
}
