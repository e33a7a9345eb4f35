import FirnBytes

/// Finds the rows of a table by row id, many at a time, and remembers the segments that it has opened. For one thread.
struct RowFinder {
    let table: any Table

    /// The segments that were opened so far, in that order. Locations refer to them.
    private(set) var segments: [any Segment] = []
    private var live: [Bits?] = []

    /// The row ids of an opened segment.
    private struct Span {
        let first: Int64, last: Int64
        let number: Int
        /// Row ids are consecutive, and no row is deleted.
        let isPlain: Bool
        let isDense: Bool
    }
    /// Ascending by row id.
    private var spans: [Span] = []

    init(_ table: any Table) { self.table = table }

    /// A location is packed into one integer: the index of a segment in `segments`, shifted left by this many bits, and the position in
    /// the segment.
    static let positionBits = 16

    /// Returns the locations of the live rows with these ids; -1 for absent ids and for ids without a live row.
    mutating func locations(of rowIDs: [Int64], present: Bits?) throws(Damage) -> [Int] {
        var out = [Int](repeating: -1, count: rowIDs.count), start = 0, latest = 0
        while true {
            start = spans.withUnsafeBufferPointer { spans in
                rowIDs.withUnsafeBufferPointer { ids in
                    out.withUnsafeMutableBufferPointer { out in RowFinder.fill(&out, ids, present, spans, from: start, &latest) }
                }
            }
            guard start < rowIDs.count else { return out }
            out[start] = try location(of: rowIDs[start]) ?? -1
            start += 1
        }
    }

    /// Fills in locations as long as the ids are in plain segments that are known. Returns the index of the first id that is not.
    private static func fill(
        _ out: inout UnsafeMutableBufferPointer<Int>, _ ids: UnsafeBufferPointer<Int64>, _ present: Bits?,
        _ spans: UnsafeBufferPointer<Span>,
        from start: Int, _ latest: inout Int
    ) -> Int {
        var i = start
        while i < ids.count {
            if let present, !present[i] {
                i &+= 1
                continue
            }
            let id = ids[i]
            if latest >= spans.count || id < spans[latest].first || id > spans[latest].last {
                latest = index(of: id, in: spans)
                if latest >= spans.count || id > spans[latest].last { return i }
            }
            guard spans[latest].isPlain else { return i }
            out[i] = spans[latest].number << positionBits | Int(truncatingIfNeeded: id &- spans[latest].first)
            i &+= 1
        }
        return i
    }

    /// Returns the index of the last span that begins at or before an id; out of range if there is none.
    @inline(__always)
    private static func index(of id: Int64, in spans: UnsafeBufferPointer<Span>) -> Int {
        var low = 0, high = spans.count
        while low < high {
            let middle = (low &+ high) >> 1
            if spans[middle].first <= id { low = middle &+ 1 } else { high = middle }
        }
        return low == 0 ? .max : low &- 1
    }

    mutating func location(of rowID: Int64) throws(Damage) -> Int? {
        let known = spans.withUnsafeBufferPointer { RowFinder.index(of: rowID, in: $0) }
        if known < spans.count, rowID <= spans[known].last { return try location(of: rowID, in: spans[known]) }
        guard let index = try table.segmentIndex(of: rowID) else { return nil }
        let segment = try table.segment(index), count = segment.rowCount
        guard count > 0 else { return nil }
        guard count <= segmentSize else { throw Damage("a segment of \(count) rows") }
        let first = try segment.rowID(at: 0), last = try segment.rowID(at: count - 1)
        // An id between two segments can lead to a segment that is already known.
        guard first <= rowID, rowID <= last, known >= spans.count || spans[known].first != first else { return nil }
        let isDense = last &- first == Int64(count - 1)
        let span = Span(first: first, last: last, number: segments.count, isPlain: isDense && segment.live == nil, isDense: isDense)
        spans.insert(span, at: known < spans.count ? known + 1 : 0)
        segments.append(segment)
        live.append(segment.live)
        return try location(of: rowID, in: span)
    }

    private func location(of rowID: Int64, in span: Span) throws(Damage) -> Int? {
        var position = Int(rowID - span.first)
        if !span.isDense {
            guard let found = try segments[span.number].position(of: rowID) else { return nil }
            position = found
        }
        if let live = live[span.number], !live[position] { return nil }
        return span.number << RowFinder.positionBits | position
    }
}
