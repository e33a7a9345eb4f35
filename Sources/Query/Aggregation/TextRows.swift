import FirnBytes

/// Some texts in memory that another value owns: all from the first on, or those of the given rows.
struct TextRows {
    private let start: UnsafeRawPointer
    private let offsets: UnsafePointer<Int>
    private let rows: UnsafePointer<Int32>?
    let count: Int

    /// Text i is bytes[offsets[rows[i]] ..< offsets[rows[i] + 1]]; without `rows`, it is that of row i.
    init(bytes: UnsafeRawPointer, offsets: UnsafePointer<Int>, rows: UnsafePointer<Int32>? = nil, count: Int) {
        start = bytes
        self.offsets = offsets
        self.rows = rows
        self.count = count
    }

    /// The row of a text.
    @inline(__always)
    func row(_ index: Int) -> Int { rows.map { Int($0[index]) } ?? index }

    @inline(__always)
    subscript(index: Int) -> UnsafeRawBufferPointer {
        let row = row(index)
        return UnsafeRawBufferPointer(start: start + offsets[row], count: offsets[row &+ 1] &- offsets[row])
    }

    @inline(__always)
    func length(_ index: Int) -> Int {
        let row = row(index)
        return offsets[row &+ 1] &- offsets[row]
    }

    /// Copies a text to `target`, which has room for it.
    @inline(__always)
    func copy(_ index: Int, to target: UnsafeMutableRawPointer) {
        let from = start + offsets[row(index)], count = length(index)
        // Most texts are short: two words, which may overlap, cost less than a call.
        if count > 16 {
            target.copyMemory(from: from, byteCount: count)
        } else if count >= 8 {
            let first = from.loadUnaligned(as: UInt64.self), last = from.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            target.storeBytes(of: first, as: UInt64.self)
            target.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            let first = from.loadUnaligned(as: UInt32.self), last = from.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            target.storeBytes(of: first, as: UInt32.self)
            target.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
        } else {
            for i in 0..<count { target.storeBytes(of: from.load(fromByteOffset: i, as: UInt8.self), toByteOffset: i, as: UInt8.self) }
        }
    }

    /// Returns the texts of other rows, which must exist.
    func ofRows(_ rows: UnsafeBufferPointer<Int32>) -> TextRows {
        TextRows(bytes: start, offsets: offsets, rows: rows.baseAddress, count: rows.count)
    }

    /// Returns at most `limit` texts from `first` on.
    func dropping(_ first: Int, keeping limit: Int) -> TextRows {
        let count = min(limit, count - first)
        guard let rows else { return TextRows(bytes: start, offsets: offsets + first, count: count) }
        return TextRows(bytes: start, offsets: offsets, rows: rows + first, count: count)
    }
}

extension Text {
    /// Calls `body` with all texts.
    @inline(__always)
    func withRows<R>(_ body: (TextRows) -> R) -> R { withRows(nil, count: count, body) }

    /// Calls `body` with the texts of the given rows.
    func withRows<R>(_ rows: UnsafeBufferPointer<Int32>, _ body: (TextRows) -> R) -> R {
        withRows(rows.baseAddress, count: rows.count, body)
    }

    @inline(__always)
    private func withRows<R>(_ rows: UnsafePointer<Int32>?, count: Int, _ body: (TextRows) -> R) -> R {
        bytes.withUnsafeBytes { bytes in
            offsets.withUnsafeBufferPointer { offsets in
                let offsets = offsets.baseAddress!
                // Without bytes, any address does.
                return body(TextRows(bytes: bytes.baseAddress ?? UnsafeRawPointer(offsets), offsets: offsets, rows: rows, count: count))
            }
        }
    }

    /// Appends `count` texts whose offsets are not set yet, with `bytes` bytes in total.
    mutating func appendRoom(count: Int, bytes more: Int) {
        offsets.append(contentsOf: repeatElement(bytes.count, count: count))
        bytes.append(contentsOf: repeatElement(0, count: more))
    }

    /// Calls `body` with the offsets and the bytes.
    mutating func withMutableRows(_ body: (UnsafeMutablePointer<Int>, UnsafeMutableRawPointer) -> Void) {
        offsets.withUnsafeMutableBufferPointer { offsets in
            bytes.withUnsafeMutableBytes { bytes in
                let offsets = offsets.baseAddress!
                body(offsets, bytes.baseAddress ?? UnsafeMutableRawPointer(offsets))
            }
        }
    }

    /// Removes the last texts, so that `end` bytes are left.
    mutating func removeLast(_ count: Int, leaving end: Int) {
        offsets.removeLast(count)
        bytes.removeLast(bytes.count - end)
    }
}
