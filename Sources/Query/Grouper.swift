import FirnBytes
import FirnModel

/// Groups and aggregates the rows of some segments; several, of consecutive runs of segments, are then merged in order, so that the
/// result does not depend on which thread ran first.
struct Grouper {
    let plan: GroupPlan
    private var tables: [KeyTable]
    /// Numbers (number so far, number in the next key's table) pairs; the last table's numbers are the groups.
    private var chains: [WordTable]
    private var measures: [Accumulator]
    private var rowCounts: [Int] = []
    // Buffers of one vector.
    private var groups: [UInt32] = []
    private var ids: [UInt32] = []
    /// Of the segment at hand: combined dictionary codes → group, -1 where not met yet.
    private var dense: [Int32] = []
    private var denseSizes: [Int]?
    private var denseSegment = -1

    static let denseLimit = 1 << 18

    init(_ plan: GroupPlan) {
        self.plan = plan
        tables = plan.keys.map { KeyTable($0.type) }
        chains = plan.keys.map { _ in WordTable() }
        measures = plan.measures.map { Accumulator($0) }
        if plan.keys.isEmpty { rowCounts = [0] }
        for i in measures.indices { measures[i].resize(rowCounts.count) }
    }

    mutating func add(_ segment: Int, _ vector: Int, _ first: Int, _ count: Int, _ rows: [Int32], _ scan: SegmentScan) throws(FirnError) {
        try findGroups(segment, vector, count, rows, scan)
        for group in groups { rowCounts[Int(group)] &+= 1 }
        for i in measures.indices {
            guard let operand = plan.measures[i].operand else { continue }
            measures[i].resize(rowCounts.count)
            let column: Column
            var places = rows
            if case .path(let path) = operand, path.steps.isEmpty { column = try scan.column(path.slot, vector) } else { column = try Grouper.values(of: operand, vector, count, &places, scan) }
            measures[i].add(column, places, groups)
        }
    }

    // MARK: Groups of a vector's rows

    private mutating func findGroups(_ segment: Int, _ vector: Int, _ count: Int, _ rows: [Int32], _ scan: SegmentScan) throws(FirnError) {
        groups.removeAll(keepingCapacity: true)
        if plan.keys.isEmpty {
            groups.append(contentsOf: repeatElement(0, count: rows.count))
            return
        }
        if denseSegment != segment { try prepareDense(segment, scan) }
        if let sizes = denseSizes { return try findDense(sizes, vector, rows, scan) }
        for (i, key) in plan.keys.enumerated() {
            var places = rows
            let column = key.steps.isEmpty ? try scan.column(key.slot, vector) : try Grouper.values(of: .path(key), vector, count, &places, scan)
            tables[i].numbers(column, places, into: &ids)
            if i == 0 { for id in ids { groups.append(chains[0].number(Int64(id))) } } else {
                for j in ids.indices { groups[j] = chains[i].number(Int64(groups[j]) << 32 | Int64(ids[j])) }
            }
        }
        growCounts()
    }

    /// The values of an operand for a vector, or, where they lie in other rows, of `rows` alone, which then become their places among them.
    private static func values(of operand: Operand, _ vector: Int, _ count: Int, _ rows: inout [Int32], _ scan: SegmentScan) throws(FirnError) -> Column {
        guard case .path(let path) = operand, path.leavesTable else { return try operand.evaluate(scan, vector, count).column }
        let column = try operand.evaluate(scan, vector, count, only: rows).column
        for i in rows.indices { rows[i] = Int32(truncatingIfNeeded: i) }
        return column
    }

    private mutating func growCounts() {
        let known = chains[chains.count - 1].keys.count
        if rowCounts.count < known { rowCounts.append(contentsOf: repeatElement(0, count: known - rowCounts.count)) }
    }

    /// Where all keys are dictionary columns in this segment and their codes combined are few, groups are found by those codes alone.
    private mutating func prepareDense(_ segment: Int, _ scan: SegmentScan) throws(FirnError) {
        denseSegment = segment
        denseSizes = nil
        var sizes: [Int] = [], product = 1
        for key in plan.keys {
            guard key.isPlain, key.type.kind == .string || key.type.kind == .data, let dictionary = try scan.dictionary(key.slot) else { return }
            sizes.append(dictionary.count + 1)
            let (more, overflow) = product.multipliedReportingOverflow(by: dictionary.count + 1)
            guard !overflow, more <= Grouper.denseLimit else { return }
            product = more
        }
        denseSizes = sizes
        dense = Array(repeating: -1, count: product)
    }

    private mutating func findDense(_ sizes: [Int], _ vector: Int, _ rows: [Int32], _ scan: SegmentScan) throws(FirnError) {
        ids.removeAll(keepingCapacity: true)
        for (i, key) in plan.keys.enumerated() {
            let codes = try scan.codes(key.slot, vector)
            let size = UInt32(sizes[i])
            codes.words.withUnsafeBufferPointer { words in
                // 0 is null, code c is c + 1.
                if let present = codes.present {
                    for j in rows.indices {
                        let row = Int(rows[j]), code = present[row] ? UInt32(truncatingIfNeeded: words[row]) &+ 1 : 0
                        if i == 0 { ids.append(code) } else { ids[j] = ids[j] &* size &+ code }
                    }
                } else if i == 0 {
                    for row in rows { ids.append(UInt32(truncatingIfNeeded: words[Int(row)]) &+ 1) }
                } else {
                    for j in rows.indices { ids[j] = ids[j] &* size &+ UInt32(truncatingIfNeeded: words[Int(rows[j])]) &+ 1 }
                }
            }
        }
        for id in ids {
            var group = dense[Int(id)]
            if group < 0 {
                group = Int32(bitPattern: try newDense(Int(id), sizes, scan))
                dense[Int(id)] = group
            }
            groups.append(UInt32(bitPattern: group))
        }
        growCounts()
    }

    private mutating func newDense(_ combined: Int, _ sizes: [Int], _ scan: SegmentScan) throws(FirnError) -> UInt32 {
        var codes: [Int] = [], rest = combined
        for size in sizes.reversed() {
            codes.append(rest % size)
            rest /= size
        }
        var group: UInt32 = 0
        for (i, code) in codes.reversed().enumerated() {
            var id: UInt32 = 0
            if code > 0, let dictionary = try scan.dictionary(plan.keys[i].slot) { id = dictionary.withBytes(code - 1) { tables[i].number(text: $0) } }
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

    mutating func merge(_ other: Grouper) {
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
            var column = Column(measure.type), accumulator = measures[i]
            accumulator.resize(rowCounts.count)
            for group in rowCounts.indices {
                guard column.append(accumulator.value(group, rowCounts[group])) else {
                    throw FirnError(.usage, "\(measure.name) does not fit into 64 bits", advice: "take avg, or sum a double of it")
                }
            }
            columns.append(column)
        }
        return Batch(count: rowCounts.count, columns: columns)
    }
}
