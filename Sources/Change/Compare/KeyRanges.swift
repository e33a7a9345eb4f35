import FirnBytes
import FirnTable
import FirnThreads

/// The least and the greatest value of the first column of a key in each segment of a table.
struct KeyRanges {
    private struct Range: Sendable {
        var low: Column
        var high: Column
    }

    /// Nil for a segment without rows.
    private let ranges: [Range?]
    let segmentCount: Int
    private let column: ColumnPairing.End

    /// Returns nil if a value is null, or if the values have no order that is compared here. With `believesZones`, segments with zones are
    /// not decoded; then the ranges are as wrong as these are.
    init?(
        _ table: any Table, _ side: DifferenceSide, _ key: [ColumnPairing], _ options: DifferenceOptions, believesZones: Bool = false
    ) throws(FirnError) {
        guard let first = key.first else { return nil }
        let end = first.end(side)
        switch first.mode {
        case .words, .pairs, .text: guard KeyOrder.hasOrder(end.column.type) else { return nil }
        default: return nil
        }
        let found = try parallelMap(count: table.segmentCount, threads: options.threads(for: table)) { (i) throws(FirnError) -> Range?? in
            do throws(Damage) {
                let segment = try table.segment(i)
                if believesZones, let known = try KeyRanges.zone(of: segment, end) { return known }
                return try KeyRanges.range(of: segment, end)
            } catch { throw FirnError(error, in: options.name(side)) }
        }
        guard found.allSatisfy({ $0 != nil }) else { return nil }
        ranges = found.map { $0.flatMap { $0 } }
        segmentCount = table.segmentCount
        column = end
    }

    /// Returns the ranges of both tables, which are found at the same time; nil if one of them has none.
    static func both(
        old: any Table, new: any Table, _ key: [ColumnPairing], _ options: DifferenceOptions, believesZones: Bool = false
    ) throws(FirnError) -> (old: KeyRanges, new: KeyRanges)? {
        let found = try parallelMap(count: 2, threads: options.execution.threads) { (i) throws(FirnError) in
            try KeyRanges(i == 0 ? old : new, i == 0 ? .old : .new, key, options, believesZones: believesZones)
        }
        guard let before = found[0], let after = found[1] else { return nil }
        return (before, after)
    }

    /// Returns the range that the zone of a segment states, for numbers.
    private static func zone(of segment: any Segment, _ end: ColumnPairing.End) throws(Damage) -> Range? {
        guard end.column.type.kind == .int, let zone = try segment.zone(of: end.index), !zone.mayHaveNulls,
            case .words(let low, let high) = zone.bounds
        else { return nil }
        var range = Range(low: Column(end.column, in: end.schema), high: Column(end.column, in: end.schema))
        _ = range.low.append(.int(low))
        _ = range.high.append(.int(high))
        return range
    }

    private static func range(of segment: any Segment, _ end: ColumnPairing.End) throws(Damage) -> Range?? {
        var range: Range?, hasAll = true
        try end.read(segment) { (column, _) throws(Damage) in
            guard hasAll, column.present?.allSet ?? true, column.count > 0 else { return hasAll = false }
            let (low, high) = extremes(column)
            if range.map({ KeyOrder.compare(column, low, $0.low, 0) < 0 }) ?? true {
                range = Range(low: column.slice(low..<low + 1), high: range?.high ?? column.slice(high..<high + 1))
            }
            if let known = range, KeyOrder.compare(column, high, known.high, 0) > 0 { range?.high = column.slice(high..<high + 1) }
        }
        return hasAll ? .some(range) : nil
    }

    /// Returns the positions of the least and of the greatest value.
    private static func extremes(_ column: Column) -> (low: Int, high: Int) {
        var low = 0, high = 0
        if column.type.kind == .int || column.type.kind == .bool {
            column.words.withUnsafeBufferPointer { words in
                for i in words.indices {
                    if words[i] < words[low] { low = i }
                    if words[i] > words[high] { high = i }
                }
            }
        } else {
            for i in 1..<max(column.count, 1) {
                if KeyOrder.compare(column, i, column, low) < 0 { low = i }
                if KeyOrder.compare(column, i, column, high) > 0 { high = i }
            }
        }
        return (low, high)
    }

    /// Returns the segments before which all values are below all values after them, each with the least value after it.
    func cuts() -> [(segment: Int, least: Column)] {
        var below: [Column?] = [], greatest: Column?
        for range in ranges {
            below.append(greatest)
            if let range, greatest.map({ KeyOrder.compare(range.high, 0, $0, 0) > 0 }) ?? true { greatest = range.high }
        }
        var cuts: [(segment: Int, least: Column)] = [], least: Column?
        for (i, range) in ranges.enumerated().reversed() {
            if let range, least.map({ KeyOrder.compare(range.low, 0, $0, 0) < 0 }) ?? true { least = range.low }
            if let least, let before = below[i], KeyOrder.compare(before, 0, least, 0) < 0 { cuts.append((i, least)) }
        }
        return cuts.reversed()
    }

    /// Whether the values ascend from segment to segment, except within runs of a few of them.
    var ascend: Bool { segmentCount <= 16 || cuts().count * 16 >= segmentCount }

    /// Returns the segments that can have values from `low` (inclusive) to `high` (exclusive); nil stands for no bound.
    func segments(from low: Column?, to high: Column?) -> Swift.Range<Int> {
        let found = ranges.indices.filter { i in
            guard let range = ranges[i] else { return false }
            return (low.map { KeyOrder.compare(range.high, 0, $0, 0) >= 0 } ?? true)
                && (high.map { KeyOrder.compare(range.low, 0, $0, 0) < 0 } ?? true)
        }
        guard let first = found.first, let last = found.last else { return 0..<0 }
        return first..<last + 1
    }

    /// Returns the rows of a segment with values from `low` (inclusive) to `high` (exclusive); nil stands for all.
    func rows(of number: Int, _ table: any Table, from low: Column?, to high: Column?) throws(Damage) -> Bits? {
        guard let range = ranges[number] else { return nil }
        let isAbove = low.map { KeyOrder.compare(range.low, 0, $0, 0) >= 0 } ?? true
        let isBelow = high.map { KeyOrder.compare(range.high, 0, $0, 0) < 0 } ?? true
        if isAbove, isBelow { return nil }
        let segment = try table.segment(number)
        var bits = Bits(count: segment.rowCount)
        try column.read(segment) { (values, start) throws(Damage) in
            for i in 0..<min(values.count, segment.rowCount - start) {
                if let low, KeyOrder.compare(values, i, low, 0) < 0 { continue }
                if let high, KeyOrder.compare(values, i, high, 0) >= 0 { continue }
                bits[start + i] = true
            }
        }
        return bits
    }
}
