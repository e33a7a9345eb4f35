import FirnBytes
import FirnTable
import FirnThreads

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
    /// Whether `dense` has the groups of segments before as well.
    var isDenseKept = false
    private var isDeferred = false
    private var newcomers = Newcomers()

    /// How many of the rows that were added last began a new group.
    private struct Newcomers {
        var rows = 0
        private(set) var areMany = false
        private var known = 0

        mutating func update(_ groups: Int) {
            guard rows > 0 else { return }
            areMany = (groups - known) * 8 > rows
            (known, rows) = (groups, 0)
        }
    }
    private var round: GroupRound
    /// Reads the segments of a round again; nil: rows are added immediately.
    private let scanner: Scanner?
    private var again: SegmentScan?
    private let scratch = Scratch()

    /// With a scanner, `close` must be called after the last row.
    init(_ plan: GroupPlan, _ table: any Table, _ scanner: Scanner? = nil) {
        self.plan = plan
        self.scanner = scanner
        round = GroupRound(plan.keys.map(\.type))
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
        let noted = GroupRound.Vector(segment: segment, vector: vector, count: count, hits: hits)
        var sorted: GroupParts?
        if plan.keys.isEmpty {
            rowCounts[0] &+= hits
        } else {
            if try defers(segment, scan) {
                return try note(noted, mask, scan)
            }
            newcomers.rows &+= hits
            try findGroups(vector, count, hits, scan)
            rowCounts.withUnsafeMutableBufferPointer { counts in
                if GroupParts.pay(counts.count, hits) {
                    parts.sort(noted.isSparse ? ascending : rows, groups, hits, counts.count)
                    for group in counts.indices { counts[group] &+= parts.starts[group &+ 1] &- parts.starts[group] }
                    sorted = parts
                } else if counts.count <= 64, hits >= counts.count &* 8 {
                    Lanes.with(counts, 0, &+) { lanes in for j in 0..<hits { lanes[Int(groups[j]) &* 4 &+ j & 3] &+= 1 } }
                } else {
                    for j in 0..<hits { counts[Int(groups[j])] &+= 1 }
                }
            }
        }
        try measure(noted, mask, sorted: sorted, scan)
    }

    /// Adds the values of the chosen rows to their groups, which are known.
    private func measure(_ noted: GroupRound.Vector, _ mask: UnsafePointer<UInt64>, sorted: GroupParts?, _ scan: SegmentScan)
        throws(FirnError)
    {
        let vector = noted.vector, count = noted.count, hits = noted.hits
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
                    measures[i].add(codes: codes, of: dictionary, noted.segment, chosen)
                }
                continue
            }
            if let step = numbers[i], try add(i, step, vector, chosen, noted.isSparse, sorted, scan) { continue }
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

    // MARK: Rounds

    /// Returns whether the groups of a segment's rows are found later, together with those of other segments: if there are many groups, and
    /// the segment has no direct table, or one that would be filled for the segment alone, mostly with new groups.
    private func defers(_ segment: Int, _ scan: SegmentScan) throws(FirnError) -> Bool {
        if denseSegment != segment {
            newcomers.update(rowCounts.count)
            try prepareDense(segment, scan)
            isDeferred =
                scanner != nil && rowCounts.count >= PartNumbers.minimumKeys && !areManyPlain
                && (denseKeys == nil || !isDenseKept && newcomers.areMany)
        }
        if !isDeferred { try settle(scan) }
        return isDeferred
    }

    /// Whether there are many groups of one key, whose values are looked up without a hash.
    var areManyPlain: Bool { tables.count == 1 && rowCounts.count >= PartNumbers.minimumKeys && tables[0].isPlain }

    private func note(_ vector: GroupRound.Vector, _ mask: UnsafePointer<UInt64>, _ scan: SegmentScan) throws(FirnError) {
        let chosen = UnsafeBufferPointer(start: rows, count: vector.hits)
        for i in plan.keys.indices {
            try withKey(i, of: vector.vector, count: vector.count, chosen: chosen, scan) { (column, chosen) throws(FirnError) in
                round.append(column, chosen, to: i)
            }
        }
        round.append(vector, mask)
        if round.isFull { try settle(scan) }
    }

    /// Finds the groups of the rows that were noted, and adds their values.
    private func settle(_ scan: SegmentScan) throws(FirnError) {
        guard round.rows > 0 else { return }
        try hold(scan)
        let count = round.rows
        scratch.begin(arrays: 2, bytes: count * 8)
        let numbers = scratch.array(count, of: UInt32.self), found = scratch.array(count, of: UInt32.self)
        found.initialize(repeating: 0, count: count)
        for i in plan.keys.indices {
            tables[i].numbers(ofAll: round.keys[i], into: numbers)
            chains[i].numbers(UnsafeBufferPointer(start: numbers, count: count), found)
        }
        growCounts()
        newcomers.rows += count
        rowCounts.withUnsafeMutableBufferPointer { counts in for j in 0..<count { counts[Int(found[j])] &+= 1 } }
        if plan.measures.contains(where: { $0.operand != nil }) { try measureRound(found, scan) }
        round.removeAll()
    }

    /// Completes a range of rows.
    func close(_ scan: SegmentScan) throws(FirnError) {
        try settle(scan)
        for i in measures.indices where filled[i] == i { measures[i].settle() }
        // What the last round added.
        try hold(scan)
    }

    /// Reads the noted vectors again, for the values of the measures.
    private func measureRound(_ found: UnsafePointer<UInt32>, _ scan: SegmentScan) throws(FirnError) {
        guard let scanner else { return }
        var start = 0, current = -1
        for (i, noted) in round.vectors.enumerated() {
            if noted.segment != current {
                again = try scanner.scan(noted.segment, reusing: again)
                current = noted.segment
            }
            guard let again else { continue }
            for j in 0..<noted.hits { groups[j] = found[start + j] }
            start += noted.hits
            try round.withMask(i) { (mask) throws(FirnError) in
                Scanner.rows(mask, into: rows)
                try measure(noted, mask, sorted: nil, again)
            }
        }
        if let again { scan.statistics = scan.statistics + again.takeStatistics() }
    }

    private var bytes: Int {
        var total = rowCounts.count &* 8 &+ dense.count &* 4 &+ round.bytes
        // By index: a loop over values would copy each of them.
        for i in tables.indices { total &+= tables[i].bytes }
        for i in chains.indices { total &+= chains[i].bytes }
        for i in measures.indices where filled[i] == i { total &+= measures[i].bytes }
        return total
    }

    // MARK: Merging and the result

    /// Returns, for each key, the key's number in the given groups; nil: in all.
    private func keyNumbers(_ groups: [Int]? = nil) -> [[Int]] {
        var at = groups ?? Array(rowCounts.indices), out: [[Int]] = []
        for (i, chain) in chains.enumerated().reversed() {
            let keys = chain.keys(at)
            out.append(keys.map { Int(UInt32(truncatingIfNeeded: $0)) })
            if i > 0 { at = keys.map { Int($0 >> 32) } }
        }
        return out.reversed()
    }

    func merge(_ other: Grouper, threads: Int) {
        // Together, the two charges cover at least the merged groups.
        charges += other.charges
        var groupOf: [Int] = []
        if plan.keys.isEmpty {
            groupOf = [0]
        } else {
            let numbers = tables.indices.map { tables[$0].numbers(of: other.tables[$0], threads: threads) }
            var ids = [UInt32](repeating: 0, count: other.rowCounts.count)
            for (i, keys) in other.keyNumbers().enumerated() {
                let known = keys.map { numbers[i][$0] }
                ids.withUnsafeMutableBufferPointer { ids in
                    known.withUnsafeBufferPointer { if let start = ids.baseAddress { chains[i].numbers($0, start, threads: threads) } }
                }
            }
            groupOf = ids.map { Int($0) }
            growCounts()
        }
        for (group, count) in other.rowCounts.enumerated() { rowCounts[groupOf[group]] += count }
        for i in measures.indices {
            measures[i].resize(rowCounts.count)
            measures[i].merge(other.measures[i], groupOf, threads: threads)
        }
    }

    var count: Int { rowCounts.count }

    /// Returns the measures of each group, in the order of the groups' first rows.
    func figures(threads: Int) throws(FirnError) -> [Column] {
        var columns: [Column] = []
        for (i, measure) in plan.measures.enumerated() {
            measures[filled[i]].finish(rowCounts.count, threads: threads)
            if let column = measures[filled[i]].column(measure.type, rowCounts, as: measure.function) {
                columns.append(column)
                continue
            }
            var column = Column(measure.type)
            for group in rowCounts.indices {
                guard column.append(measures[filled[i]].value(group, rowCounts[group], as: measure.function)) else {
                    throw FirnError(.usage, "\(measure.name) does not fit into 64 bits", advice: "take avg, or sum a double of it")
                }
            }
            columns.append(column)
        }
        return columns
    }

    /// Returns one row for each of the given groups (nil: of all groups): the keys, then the measures.
    func result(_ figures: [Column], of groups: [Int]?) throws(FirnError) -> Batch {
        // The result is charged in addition to the groups.
        let result: MemoryCharge
        do throws(Damage) { result = try memory.holding(bytes) } catch { throw FirnError(error, in: "") }
        var columns = keyNumbers(groups).enumerated().map { tables[$0.offset].values($0.element) }
        for i in columns.indices { columns[i].text.charge = result }
        columns += groups.map { groups in figures.map { $0.gather(groups) } } ?? figures
        return Batch(count: groups?.count ?? count, columns: columns)
    }
}
