/// Disjoint, ordered ranges of units that never touch: a range that is added next to another one is merged with it.
/// The ranges are stored in sorted pieces of at most 256, so a change moves at most a few kilobytes.
struct RangeMap: Sendable {
    private static let pieceLimit = 256
    private var pieces: [[UnitRange]] = []
    private var firsts: [UInt64] = []
    private(set) var count = 0
    /// The number of units in all ranges.
    private(set) var total: UInt64 = 0

    var last: UnitRange? { pieces.last?.last }

    /// All ranges in ascending order.
    var ranges: [UnitRange] { pieces.flatMap { $0 } }

    /// Returns the position of the last range that begins at or before `unit`.
    private func position(_ unit: UInt64) -> (piece: Int, index: Int)? {
        var low = 0, high = firsts.count
        while low < high {
            let middle = (low &+ high) >> 1
            if firsts[middle] <= unit { low = middle &+ 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let piece = low &- 1
        low = 0
        high = pieces[piece].count
        while low < high {
            let middle = (low &+ high) >> 1
            if pieces[piece][middle].start <= unit { low = middle &+ 1 } else { high = middle }
        }
        return (piece, low &- 1)
    }

    /// Returns the range that contains `unit`.
    func range(holding unit: UInt64) -> UnitRange? {
        guard let (piece, index) = position(unit) else { return nil }
        let range = pieces[piece][index]
        return unit < range.end ? range : nil
    }

    /// Returns the first of the lowest `limit` ranges that has at least `size` units.
    func lowest(fitting size: UInt64, among limit: Int) -> UnitRange? {
        var left = limit
        for piece in pieces {
            for range in piece.prefix(left) where range.end &- range.start >= size { return range }
            left -= piece.count
            if left <= 0 { return nil }
        }
        return nil
    }

    /// Returns the first `size` units of the smallest range that is large enough (the lowest of several), below `limit` and outside the
    /// ascending ranges
    /// `barred`.
    func tightest(fitting size: UInt64, below limit: UInt64, avoiding barred: [UnitRange]) -> UnitRange? {
        var found: UInt64?, room = UInt64.max
        func consider(_ start: UInt64, _ end: UInt64) {
            if start < end, end - start >= size, end - start < room { (found, room) = (start, end - start) }
        }
        for piece in pieces {
            guard let first = piece.first, first.start < limit, room > size else { break }
            for range in piece where range.start < limit && range.end - range.start >= size {
                let end = min(range.end, limit)
                var start = range.start
                for bar in barred where bar.start < end && bar.end > start {
                    consider(start, bar.start)
                    start = bar.end
                }
                consider(start, end)
                if room == size { break }
            }
        }
        return found.map { UnitRange(start: $0, end: $0 + size) }
    }

    func overlaps(_ range: UnitRange) -> Bool {
        guard let (piece, index) = position(range.end - 1) else { return false }
        return pieces[piece][index].end > range.start
    }

    /// Adds units. Returns the merged range that contains them; nil, without a change, if some were already present.
    @discardableResult
    mutating func insert(_ range: UnitRange) -> UnitRange? {
        if overlaps(range) { return nil }
        var merged = range
        total += range.count
        if let (piece, index) = position(range.start) {
            if pieces[piece][index].end == range.start {
                merged.start = pieces[piece][index].start
                removeEntry(piece, index)
            }
        }
        if let (piece, index) = position(range.end), pieces[piece][index].start == range.end {
            merged.end = pieces[piece][index].end
            removeEntry(piece, index)
        }
        insertEntry(merged)
        return merged
    }

    /// Removes units. Returns the rest of their range before and after them; nil, without a change, if some are not present.
    @discardableResult
    mutating func remove(_ range: UnitRange) -> (before: UnitRange?, after: UnitRange?)? {
        guard let (piece, index) = position(range.start), pieces[piece][index].end >= range.end else { return nil }
        let whole = pieces[piece][index]
        total -= range.count
        removeEntry(piece, index)
        var before: UnitRange?, after: UnitRange?
        if whole.start < range.start {
            before = UnitRange(start: whole.start, end: range.start)
            insertEntry(before!)
        }
        if range.end < whole.end {
            after = UnitRange(start: range.end, end: whole.end)
            insertEntry(after!)
        }
        return (before, after)
    }

    private mutating func removeEntry(_ piece: Int, _ index: Int) {
        pieces[piece].remove(at: index)
        count -= 1
        if pieces[piece].isEmpty {
            pieces.remove(at: piece)
            firsts.remove(at: piece)
        } else if index == 0 {
            firsts[piece] = pieces[piece][0].start
        }
    }

    private mutating func insertEntry(_ range: UnitRange) {
        count += 1
        guard !pieces.isEmpty else {
            pieces.append([range])
            firsts.append(range.start)
            return
        }
        let (piece, index) = position(range.start).map { ($0.piece, $0.index + 1) } ?? (0, 0)
        pieces[piece].insert(range, at: index)
        if index == 0 { firsts[piece] = range.start }
        if pieces[piece].count > RangeMap.pieceLimit {
            let half = pieces[piece].count / 2
            let upper = Array(pieces[piece][half...])
            pieces[piece].removeLast(upper.count)
            pieces.insert(upper, at: piece + 1)
            firsts.insert(upper[0].start, at: piece + 1)
        }
    }
}
