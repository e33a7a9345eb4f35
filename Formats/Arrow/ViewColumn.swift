import FirnBytes
import FirnTable

/// Texts in Arrow's layout of views: 16 bytes for each row, with the text itself if it has at most 12 bytes, or else where it is. Texts
/// that repeat are stored once.
package struct ViewColumn: Sendable {
    private let views: PooledBuffer
    /// The views that are those of the rows.
    private let rows: Range<Int>
    /// The rows that have a text; nil: all.
    private let present: Bits?
    /// All texts, to which views refer.
    private let values: Text

    private init(_ views: PooledBuffer, rows: Range<Int>, _ present: Bits?, _ values: Text) {
        self.views = views
        self.rows = rows
        self.present = present
        self.values = values
    }

    /// The texts of a column.
    package init(_ column: Column, _ pool: BufferPool) {
        let views = pool.buffer(column.count * TextView.size), text = column.text
        views.withValues(TextView.self) { views in
            TextView.forEach(in: text) { (row, view) in views[row] = view }
            if let present = column.present { for row in 0..<column.count where !present[row] { views[row] = TextView() } }
        }
        self.init(views, rows: 0..<column.count, column.present, text)
    }

    /// Texts that are given by the first `count` codes of a buffer, which are positions in `values`.
    package init(_ codes: PooledBuffer, count: Int, present: Bits?, values: Text, _ pool: BufferPool) {
        var known: [TextView] = []
        known.reserveCapacity(values.count)
        TextView.forEach(in: values) { (_, view) in known.append(view) }
        let views = pool.buffer(count * TextView.size)
        views.withValues(TextView.self) { views in
            codes.withValues(Int32.self) { codes in
                // Codes are checked: they are below the number of texts.
                for row in 0..<count { views[row] = known[Int(codes[row])] }
            }
            if let present { for row in 0..<count where !present[row] { views[row] = TextView() } }
        }
        self.init(views, rows: 0..<count, present, values)
    }

    /// Returns some rows, with the same texts.
    subscript(chosen: Range<Int>) -> ViewColumn {
        let bits = present.map { $0.slice(chosen) }
        return ViewColumn(views, rows: rows.lowerBound + chosen.lowerBound..<rows.lowerBound + chosen.upperBound, bits, values)
    }

    var footprint: Int { rows.count * TextView.size + values.bytes.count }

    /// Returns the column in Arrow's layout: the last buffer has the sizes of those with texts.
    func part(_ field: ArrowField) throws(ArrowFault) -> ArrowRecord.Part {
        guard values.bytes.count <= Int(Int32.max) else { throw ArrowFault("the texts of a batch have more than 2 GiB", code: .rejected) }
        let nulls = field.isNullable ? present.map { rows.count - $0.ones } ?? 0 : 0
        return ArrowRecord.Part(
            nodes: [Int64(rows.count), Int64(nulls)],
            buffers: [
                nulls == 0 ? .none : ArrowBuffer(present),
                .pooled(views, rows.lowerBound * TextView.size..<rows.upperBound * TextView.size),
                .bytes(values.bytes), .words([Int64(values.bytes.count)]),
            ], charge: values.charge)
    }
}

/// One text of Arrow's layout of views: its length in 32 bits, then the text and zeros, or its first four bytes, the number of a buffer
/// (here 0) and the position in it.
struct TextView: BitwiseCopyable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    static let size = 16
    /// The longest text that a view holds itself.
    private static let short = 12

    /// No text.
    init() {}

    /// Calls `body` with each text and its position.
    @inline(__always)
    static func forEach(in text: Text, _ body: (Int, TextView) -> Void) {
        text.bytes.withBytes { bytes in
            for row in 0..<text.count { body(row, TextView(bytes, text.offsets[row]..<text.offsets[row + 1])) }
        }
    }

    /// The text in some of the bytes of a buffer.
    private init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        let count = range.count
        guard count > 0 else { return }
        if count > TextView.short {
            let first = bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt32.self)
            low = UInt64(count) | UInt64(first) << 32
            high = UInt64(range.lowerBound) << 32
            return
        }
        var first: UInt64 = 0, second: UInt64 = 0
        if range.lowerBound + 16 <= bytes.count {
            first = bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self)
            second = bytes.loadUnaligned(fromByteOffset: range.lowerBound + 8, as: UInt64.self)
            // What comes after the text becomes zeros.
            if count < 8 { first &= (1 << UInt64(count * 8)) &- 1 }
            second &= count <= 8 ? 0 : (1 << UInt64((count - 8) * 8)) &- 1
        } else {
            for (i, byte) in bytes[range].enumerated() {
                if i < 8 { first |= UInt64(byte) << UInt64(i * 8) } else { second |= UInt64(byte) << UInt64((i - 8) * 8) }
            }
        }
        low = UInt64(count) | first << 32
        high = first >> 32 | second << 32
    }
}
