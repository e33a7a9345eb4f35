import FirnBytes
import FirnModel

/// Groups and aggregates the rows of some segments; several, of consecutive runs of segments, are then merged in order, so that the
/// result does not depend on which thread ran first. For one thread at a time.
final class Grouper: @unchecked Sendable {
    let plan: GroupPlan
    private var tables: [KeyTable]
    /// Numbers (number so far, number in the next key's table) pairs; the last table's numbers are the groups.
    private var chains: [WordTable]
    /// One for every measure; of those that share one, only the first's is filled.
    private var measures: [Accumulator]
    private let filled: [Int]
    private var rowCounts: [Int] = []
    private let needsRows: Bool
    // Of one vector: the chosen rows, their groups, numbers of keys, 0 …, and the mask of as many rows as are looked at alone.
    private let rows = UnsafeMutablePointer<Int32>.allocate(capacity: vectorSize)
    private let groups = UnsafeMutablePointer<UInt32>.allocate(capacity: vectorSize)
    private let ids = UnsafeMutablePointer<UInt32>.allocate(capacity: vectorSize)
    private let ascending = UnsafeMutablePointer<Int32>.allocate(capacity: vectorSize)
    private let mask = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
    /// Of the segment at hand: what keys come to combined → group, -1 where not met yet.
    private var dense: [Int32] = []
    private var denseKeys: [DenseKey]?
    private var denseSegment = -1

    static let denseLimit = 1 << 18

    /// A key with few values in a segment, as numbers from 1 on; 0 is null.
    private struct DenseKey {
        let slot: Int
        /// How many numbers, with that of null.
        let size: Int
        /// The least value of a column of words; nil: codes of a dictionary.
        let low: Int64?
    }

    init(_ plan: GroupPlan) {
        self.plan = plan
        tables = plan.keys.map { KeyTable($0.type) }
        chains = plan.keys.map { _ in WordTable() }
        measures = plan.measures.map { Accumulator($0) }
        filled = plan.measures.indices.map { i in plan.measures[..<i].firstIndex { $0.shares(with: plan.measures[i]) } ?? i }
        if plan.keys.isEmpty { rowCounts = [0] }
        needsRows = !plan.keys.isEmpty || measures.contains { $0.needsRows }
        for i in 0..<vectorSize { ascending[i] = Int32(truncatingIfNeeded: i) }
        for i in measures.indices { measures[i].resize(rowCounts.count) }
    }

    deinit {
        rows.deallocate()
        groups.deallocate()
        ids.deallocate()
        ascending.deallocate()
        mask.deallocate()
    }

    /// Adds the rows of a vector of `count` rows that `mask` has a bit for: `hits` of them.
    func add(_ segment: Int, _ vector: Int, _ count: Int, _ mask: UnsafePointer<UInt64>, _ hits: Int, _ scan: SegmentScan) throws(FirnError) {
        if needsRows { Scanner.rows(mask, into: rows) }
        if plan.keys.isEmpty { rowCounts[0] &+= hits } else {
            try findGroups(segment, vector, count, hits, scan)
            rowCounts.withUnsafeMutableBufferPointer { counts in
                if counts.count <= 64, hits >= counts.count &* 8 {
                    Lanes.with(counts, 0, &+) { lanes in for j in 0..<hits { lanes[Int(groups[j]) &* 4 &+ j & 3] &+= 1 } }
                } else {
                    for j in 0..<hits { counts[Int(groups[j])] &+= 1 }
                }
            }
        }
        let chosen = RowChoice(mask: mask, count: count, hits: hits, rows: rows, groups: plan.keys.isEmpty ? nil : UnsafePointer(groups))
        for i in measures.indices {
            guard let operand = plan.measures[i].operand, filled[i] == i else { continue }
            measures[i].resize(rowCounts.count)
            if case .path(let path) = operand, path.steps.isEmpty {
                if plan.keys.isEmpty, chosen.isWhole, !measures[i].needsRows, measures[i].add(try scan.sum(path.slot, vector)) { continue }
                if hits * 16 >= count || scan.isLoaded(path.slot, vector) {
                    try scan.withColumn(path.slot, vector) { (column) throws(FirnError) in measures[i].add(column, chosen) }
                    continue
                }
            }
            try addComputed(i, operand, vector, chosen, scan)
        }
    }

    /// Values that are computed, or of which few are wanted: of all rows of the vector, or of the chosen ones alone.
    private func addComputed(_ i: Int, _ operand: Operand, _ vector: Int, _ chosen: RowChoice, _ scan: SegmentScan) throws(FirnError) {
        guard operand.leavesTable || chosen.hits * 2 < chosen.count else {
            return measures[i].add(try operand.evaluate(scan, vector, chosen.count, checked: true).column, chosen)
        }
        if !needsRows { Scanner.rows(chosen.mask, into: rows) }
        let column = try operand.evaluate(scan, vector, chosen.count, only: UnsafeBufferPointer(start: rows, count: chosen.hits), checked: true).column
        RangeBits.fill(mask, count: chosen.hits, true)
        measures[i].add(column, RowChoice(mask: mask, count: chosen.hits, hits: chosen.hits, rows: ascending, groups: chosen.groups))
    }

    // MARK: Groups of a vector's rows

    private func findGroups(_ segment: Int, _ vector: Int, _ count: Int, _ hits: Int, _ scan: SegmentScan) throws(FirnError) {
        if denseSegment != segment { try prepareDense(segment, scan) }
        if denseKeys != nil { return try findDense(vector, hits, scan) }
        let chosen = UnsafeBufferPointer(start: rows, count: hits)
        for (i, key) in plan.keys.enumerated() {
            if key.steps.isEmpty {
                try scan.withColumn(key.slot, vector) { (column) throws(FirnError) in tables[i].numbers(column, chosen, into: ids) }
            } else if key.leavesTable {
                let column = try Operand.path(key).evaluate(scan, vector, count, only: chosen).column
                tables[i].numbers(column, UnsafeBufferPointer(start: ascending, count: hits), into: ids)
            } else {
                tables[i].numbers(try Operand.path(key).evaluate(scan, vector, count).column, chosen, into: ids)
            }
            if i == 0 { for j in 0..<hits { groups[j] = chains[0].number(Int64(ids[j])) } } else {
                for j in 0..<hits { groups[j] = chains[i].number(Int64(groups[j]) << 32 | Int64(ids[j])) }
            }
        }
        growCounts()
    }

    private func growCounts() {
        let known = chains[chains.count - 1].keys.count
        if rowCounts.count < known { rowCounts.append(contentsOf: repeatElement(0, count: known - rowCounts.count)) }
    }

    /// Where all keys have few values in this segment, groups are found by those alone: codes of dictionaries, or ints close together.
    private func prepareDense(_ segment: Int, _ scan: SegmentScan) throws(FirnError) {
        denseSegment = segment
        denseKeys = nil
        var keys: [DenseKey] = [], product = 1
        for key in plan.keys {
            guard key.isPlain, let found = try denseKey(key, scan) else { return }
            keys.append(found)
            let (more, overflow) = product.multipliedReportingOverflow(by: found.size)
            guard !overflow, more <= Grouper.denseLimit else { return }
            product = more
        }
        denseKeys = keys
        dense = Array(repeating: -1, count: product)
    }

    private func denseKey(_ key: BoundPath, _ scan: SegmentScan) throws(FirnError) -> DenseKey? {
        switch key.type.kind {
        case .string, .data:
            guard let dictionary = try scan.dictionary(key.slot) else { return nil }
            return DenseKey(slot: key.slot, size: dictionary.count + 1, low: nil)
        case .bool, .int, .link:
            guard case .words(let low, let high)? = try scan.zone(key.slot)?.bounds, low <= high else { return nil }
            let (span, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, span < Grouper.denseLimit else { return nil }
            return DenseKey(slot: key.slot, size: Int(span) + 2, low: low)
        default: return nil
        }
    }

    private func findDense(_ vector: Int, _ hits: Int, _ scan: SegmentScan) throws(FirnError) {
        for i in denseKeys!.indices {
            let key = denseKeys![i]
            if let low = key.low {
                let isWithin = try scan.withColumn(key.slot, vector) { (column) throws(FirnError) in number(column, hits, from: low, key.size, isFirst: i == 0) }
                guard isWithin else { throw scan.damaged(Damage("a value outside the bounds of its column")) }
            } else {
                _ = try scan.withCodes(key.slot, vector) { (column) throws(FirnError) in number(column, hits, from: 0, key.size, isFirst: i == 0) }
            }
        }
        var isNew = false
        dense.withUnsafeBufferPointer { dense in
            for j in 0..<hits {
                let group = dense[Int(ids[j])]
                groups[j] = UInt32(bitPattern: group)
                isNew = isNew || group < 0
            }
        }
        if isNew {
            for j in 0..<hits where Int32(bitPattern: groups[j]) < 0 {
                let id = Int(ids[j])
                if dense[id] < 0 { dense[id] = Int32(bitPattern: try newDense(id, scan)) }
                groups[j] = UInt32(bitPattern: dense[id])
            }
            growCounts()
        }
    }

    /// Puts the numbers of a key into `ids`, behind those of the keys before it. False where one is not below `size`:
    /// then nothing may be made of them.
    private func number(_ column: Column, _ hits: Int, from low: Int64, _ size: Int, isFirst: Bool) -> Bool {
        let scale = UInt32(truncatingIfNeeded: size), rows = rows, ids = ids
        var largest: UInt64 = 0
        column.words.withUnsafeBufferPointer { words in
            @inline(__always)
            func put(_ j: Int, _ number: UInt64) {
                let number = UInt32(truncatingIfNeeded: number)
                ids[j] = isFirst ? number : ids[j] &* scale &+ number
            }
            if let present = column.present {
                for j in 0..<hits {
                    let row = Int(rows[j])
                    guard present[row] else {
                        put(j, 0)
                        continue
                    }
                    let number = UInt64(bitPattern: words[row] &- low)
                    largest = max(largest, number)
                    put(j, number &+ 1)
                }
            } else {
                for j in 0..<hits {
                    let number = UInt64(bitPattern: words[Int(rows[j])] &- low)
                    largest = max(largest, number)
                    put(j, number &+ 1)
                }
            }
        }
        return largest < UInt64(size - 1)
    }

    private func newDense(_ combined: Int, _ scan: SegmentScan) throws(FirnError) -> UInt32 {
        let keys = denseKeys!
        var numbers: [Int] = [], rest = combined
        for key in keys.reversed() {
            numbers.append(rest % key.size)
            rest /= key.size
        }
        var group: UInt32 = 0
        for (i, number) in numbers.reversed().enumerated() {
            var id: UInt32 = 0
            if number > 0 {
                if let low = keys[i].low {
                    id = tables[i].number(word: low &+ Int64(number - 1))
                } else if let dictionary = try scan.dictionary(keys[i].slot) {
                    id = dictionary.withBytes(number - 1) { tables[i].number(text: $0) }
                }
            }
            group = chains[i].number(i == 0 ? Int64(id) : Int64(group) << 32 | Int64(id))
        }
        return group
    }

    // MARK: Merging and the result

    /// The numbers of each key of each group.
    private func keys(of group: Int) -> [UInt32] {
        var out: [UInt32] = [], at = group
        for i in chains.indices.reversed() {
            let pair = chains[i].keys[at]
            out.append(UInt32(truncatingIfNeeded: pair))
            at = Int(pair >> 32)
        }
        return out.reversed()
    }

    func merge(_ other: Grouper) {
        var groupOf: [Int] = []
        if plan.keys.isEmpty { groupOf = [0] } else {
            let numbers = other.tables.indices.map { i in
                let values = other.tables[i].values
                return (0..<values.count).map { tables[i].number(values, $0) }
            }
            for group in other.rowCounts.indices {
                var id: UInt32 = 0
                for (i, key) in other.keys(of: group).enumerated() {
                    let mapped = numbers[i][Int(key)]
                    id = chains[i].number(i == 0 ? Int64(mapped) : Int64(id) << 32 | Int64(mapped))
                }
                groupOf.append(Int(id))
            }
            growCounts()
        }
        for (group, count) in other.rowCounts.enumerated() { rowCounts[groupOf[group]] += count }
        for i in measures.indices {
            measures[i].resize(rowCounts.count)
            measures[i].merge(other.measures[i], groupOf)
        }
    }

    /// One row a group, in the order the groups were first met.
    func result() throws(FirnError) -> Batch {
        var ids = plan.keys.map { _ in [Int]() }
        for group in rowCounts.indices where !plan.keys.isEmpty {
            for (i, id) in keys(of: group).enumerated() { ids[i].append(Int(id)) }
        }
        var columns = ids.enumerated().map { tables[$0.offset].values.gather($0.element) }
        for (i, measure) in plan.measures.enumerated() {
            var column = Column(measure.type)
            measures[filled[i]].finish(rowCounts.count)
            for group in rowCounts.indices {
                guard column.append(measures[filled[i]].value(group, rowCounts[group], as: measure.function)) else {
                    throw FirnError(.usage, "\(measure.name) does not fit into 64 bits", advice: "take avg, or sum a double of it")
                }
            }
            columns.append(column)
        }
        return Batch(count: rowCounts.count, columns: columns)
    }
}
