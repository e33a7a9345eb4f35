import FirnBytes
import FirnTable

/// Groups and aggregates the rows of some segments. Groupers of consecutive ranges of segments are merged in order, so that the result does
/// not depend on the scheduling of threads. Not thread-safe.
final class Grouper: @unchecked Sendable {
    let plan: GroupPlan
    /// The memory of the groups is charged under the name of the first key.
    private let memory: MemoryScope
    private var charges: [MemoryCharge]
    var tables: [ValueNumbering]
    /// One for each key.
    var chains: [KeyChain]
    /// One for each measure. Of measures that share an accumulator, only the first one's is filled.
    private var measures: [Accumulator]
    private let filled: [Int]
    var rowCounts: [Int] = []
    private let needsRows: Bool
    private let program = NumberProgram()
    /// The step of the program that computes a measure's numbers.
    private let numbers: [Int?]
    private lazy var parts = GroupParts()
    // For one vector: the chosen rows, their groups, their key numbers, the numbers 0 …, and a mask for the rows when only the chosen ones
    // are read.
    let rows = UnsafeMutablePointer<Int32>.allocate(capacity: vectorSize)
    let groups = UnsafeMutablePointer<UInt32>.allocate(capacity: vectorSize)
    let ids = UnsafeMutablePointer<UInt32>.allocate(capacity: vectorSize)
    let ascending = UnsafeMutablePointer<Int32>.allocate(capacity: vectorSize)
    private let mask = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
    /// For the current segment: the group of each combined key number, -1 if it has not occurred yet.
    var dense: [Int32] = []
    var denseKeys: [DenseKey]?
    var denseSegment = -1

    init(_ plan: GroupPlan, _ table: any Table) {
        self.plan = plan
        memory = MemoryScope(table.memory, type: table.type.name, column: plan.columns.first?.name ?? "")
        charges = [MemoryCharge(table.memory)]
        tables = plan.keys.map { ValueNumbering($0.type) }
        chains = plan.keys.indices.map { KeyChain(isFirst: $0 == 0) }
        measures = plan.measures.map { Accumulator($0) }
        filled = plan.measures.indices.map { i in plan.measures[..<i].firstIndex { $0.shares(with: plan.measures[i]) } ?? i }
        if plan.keys.isEmpty { rowCounts = [0] }
        let program = program
        numbers = zip(plan.measures, measures).map { measure, accumulator in
            guard let operand = measure.operand else { return nil }
            return switch accumulator.numbers {
            case .none: nil
            case .words: program.words(of: operand)
            case .reals: program.reals(of: operand)
            }
        }
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

    /// Adds the `hits` rows whose bit in `mask` is set, from a vector of `count` rows.
    func add(_ segment: Int, _ vector: Int, _ count: Int, _ mask: UnsafePointer<UInt64>, _ hits: Int, _ scan: SegmentScan) throws(FirnError)
    {
        try addRows(segment, vector, count, mask, hits, scan)
        try hold(scan)
    }

    private func addRows(_ segment: Int, _ vector: Int, _ count: Int, _ mask: UnsafePointer<UInt64>, _ hits: Int, _ scan: SegmentScan)
        throws(FirnError)
    {
        if needsRows { Scanner.rows(mask, into: rows) }
        // If few rows are chosen, numbers are read for those only.
        let isSparse = hits &* 2 < count
        var sorted: GroupParts?
        if plan.keys.isEmpty {
            rowCounts[0] &+= hits
        } else {
            try findGroups(segment, vector, count, hits, scan)
            rowCounts.withUnsafeMutableBufferPointer { counts in
                if GroupParts.pay(counts.count, hits) {
                    parts.sort(isSparse ? ascending : rows, groups, hits, counts.count)
                    for group in counts.indices { counts[group] &+= parts.starts[group &+ 1] &- parts.starts[group] }
                    sorted = parts
                } else if counts.count <= 64, hits >= counts.count &* 8 {
                    Lanes.with(counts, 0, &+) { lanes in for j in 0..<hits { lanes[Int(groups[j]) &* 4 &+ j & 3] &+= 1 } }
                } else {
                    for j in 0..<hits { counts[Int(groups[j])] &+= 1 }
                }
            }
        }
        let chosen = RowChoice(mask: mask, count: count, hits: hits, rows: rows, groups: plan.keys.isEmpty ? nil : UnsafePointer(groups))
        program.begin()
        for i in measures.indices {
            guard let operand = plan.measures[i].operand, filled[i] == i else { continue }
            measures[i].resize(rowCounts.count)
            if case .path(let path) = operand, path.steps.isEmpty {
                if plan.keys.isEmpty, chosen.isWhole, !measures[i].needsRows, measures[i].form != .decimalSums,
                    measures[i].add(try scan.sum(path.slot, vector))
                {
                    continue
                }
            }
            if case .path(let path) = operand, path.isPlain, measures[i].takesCodes, let dictionary = try scan.dictionary(path.slot) {
                try scan.withCodes(path.slot, vector) { (codes) throws(FirnError) in
                    measures[i].add(codes: codes, of: dictionary, segment, chosen)
                }
                continue
            }
            if let step = numbers[i], try add(i, step, vector, chosen, isSparse, sorted, scan) { continue }
            if case .path(let path) = operand, path.steps.isEmpty, hits * 16 >= count || scan.isLoaded(path.slot, vector) {
                try scan.withColumn(path.slot, vector) { (column) throws(FirnError) in measures[i].add(column, chosen) }
                continue
            }
            try addComputed(i, operand, vector, chosen, scan)
        }
    }

    /// Adds numbers of the program. Returns false if a row has no value.
    private func add(
        _ i: Int, _ step: Int, _ vector: Int, _ chosen: RowChoice, _ isSparse: Bool, _ sorted: GroupParts?, _ scan: SegmentScan
    ) throws(FirnError) -> Bool {
        var chosen = chosen, only: UnsafeBufferPointer<Int32>?
        let count = chosen.count
        if isSparse {
            if !needsRows { Scanner.rows(chosen.mask, into: rows) }
            only = UnsafeBufferPointer(start: rows, count: chosen.hits)
            RangeBits.fill(mask, count: chosen.hits, true)
            chosen = RowChoice(mask: mask, count: chosen.hits, hits: chosen.hits, rows: ascending, groups: chosen.groups)
        }
        chosen.parts = sorted
        switch measures[i].numbers {
        case .words:
            guard let words = try program.words(step, scan, vector, count, only: only) else { return false }
            measures[i].add(words, chosen)
        case .reals:
            guard let reals = try program.reals(step, scan, vector, count, only: only) else { return false }
            measures[i].add(reals, chosen)
        case .none: return false
        }
        return true
    }

    /// Adds computed values, or values of few chosen rows: evaluated for all rows of the vector, or only for the chosen ones.
    private func addComputed(_ i: Int, _ operand: Operand, _ vector: Int, _ chosen: RowChoice, _ scan: SegmentScan) throws(FirnError) {
        guard operand.leavesTable || chosen.hits * 2 < chosen.count else {
            return measures[i].add(try operand.evaluate(scan, vector, chosen.count, checked: true).whole().column, chosen)
        }
        if !needsRows { Scanner.rows(chosen.mask, into: rows) }
        let column = try operand.evaluate(
            scan, vector, chosen.count, only: UnsafeBufferPointer(start: rows, count: chosen.hits), checked: true
        ).whole().column
        RangeBits.fill(mask, count: chosen.hits, true)
        measures[i].add(column, RowChoice(mask: mask, count: chosen.hits, hits: chosen.hits, rows: ascending, groups: chosen.groups))
    }

    /// Charges the memory of the groups so far.
    private func hold(_ scan: SegmentScan) throws(FirnError) {
        guard rowCounts.count < 1 << 31 else {
            throw FirnError(.unsupported, "more than 2,147,483,648 groups", advice: "filter the rows first")
        }
        do throws(Damage) { try charges[0].grow(to: bytes, for: memory.name) } catch { throw scan.damaged(error) }
    }

    private var bytes: Int {
        var total = rowCounts.count &* 8 &+ dense.count &* 4
        for table in tables { total &+= table.bytes }
        for chain in chains { total &+= chain.bytes }
        for (i, measure) in measures.enumerated() where filled[i] == i { total &+= measure.bytes }
        return total
    }

    // MARK: Merging and the result

    /// Returns, for each key, the key's number in each group.
    private func keyNumbers() -> [[Int]] {
        var at = Array(rowCounts.indices), out: [[Int]] = []
        for chain in chains.reversed() {
            let keys = chain.keys
            out.append(at.map { Int(UInt32(truncatingIfNeeded: keys[$0])) })
            for group in at.indices { at[group] = Int(keys[at[group]] >> 32) }
        }
        return out.reversed()
    }

    func merge(_ other: Grouper) {
        // Together, the two charges cover at least the merged groups.
        charges += other.charges
        var groupOf: [Int] = []
        if plan.keys.isEmpty {
            groupOf = [0]
        } else {
            let numbers = tables.indices.map { tables[$0].numbers(of: other.tables[$0]) }
            var ids = [UInt32](repeating: 0, count: other.rowCounts.count)
            for (i, keys) in other.keyNumbers().enumerated() {
                let known = keys.map { numbers[i][$0] }
                ids.withUnsafeMutableBufferPointer { ids in
                    known.withUnsafeBufferPointer { if let start = ids.baseAddress { chains[i].numbers($0, start) } }
                }
            }
            groupOf = ids.map { Int($0) }
            growCounts()
        }
        for (group, count) in other.rowCounts.enumerated() { rowCounts[groupOf[group]] += count }
        for i in measures.indices {
            measures[i].resize(rowCounts.count)
            measures[i].merge(other.measures[i], groupOf)
        }
    }

    /// Returns one row for each group, in the order of the groups' first rows.
    func result(threads: Int) throws(FirnError) -> Batch {
        // The result is charged in addition to the groups.
        let result: MemoryCharge
        do throws(Damage) { result = try memory.holding(bytes) } catch { throw FirnError(error, in: "") }
        var columns = keyNumbers().enumerated().map { tables[$0.offset].values.gather($0.element) }
        for i in columns.indices { columns[i].text.charge = result }
        for (i, measure) in plan.measures.enumerated() {
            var column = Column(measure.type)
            measures[filled[i]].finish(rowCounts.count, threads: threads)
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
