import FirnBytes
import FirnTable
import FirnThreads

/// A query over a table. The initializer checks names, types and arguments, so errors are reported before any row is read.
///
///     let run = try QueryRun(QueryRequest(filter: "age > 30 SORT(name ASC)", select: ["name", "birth.place.name"]), table: people)
///     try run.forEachBatch { batch in …; return true }
///
/// A run reads the table as it is. If the table changes (that of a transaction), create a new run after each change.
///
/// Results have the same rows in the same order for any number of threads. Sums of doubles may differ in the last digit.
package final class QueryRun {
    /// The columns of the result.
    package let columns: [ColumnSchema]
    /// What the last run has read so far.
    package internal(set) var statistics = QueryStatistics()
    let plan: QueryPlan
    /// The table that was passed to the initializer.
    let whole: any Table
    /// The table that is scanned: all of it, or only the candidates of indexes.
    private(set) var table: any Table
    private(set) var scanner: Scanner
    private(set) var use: IndexUse?
    /// Whether `narrow` must still try the indexes. They are used at most once for each run; false means never.
    private var mayUseIndexes: Bool
    let threads: Int
    /// The durations of the last run's steps, in the order in which they ended.
    var steps: [(name: String, spent: Duration)] = []
    /// The maximum number of rows in a batch.
    static let batchSize = segmentSize

    /// Binds a request to a table. `threads` is the number of threads that the work is divided among. `file` is the
    /// file of the table, for errors.
    /// - Throws: `QueryError` if a name, type or argument is wrong.
    package init(
        _ request: QueryRequest, table: any Table, file: String? = nil, threads: Int = 1, usingIndexes: Bool = true
    ) throws(QueryError) {
        plan = try QueryPlan(request, table)
        self.table = table
        whole = table
        mayUseIndexes = usingIndexes
        self.threads = max(1, min(threads, 256))
        scanner = Scanner(plan: plan, table: table, source: DamageSource(typeName: table.type.name, file: file))
        if let group = plan.group {
            columns = try QueryRun(
                group.after, table: MemoryTable(TypeSchema("result", columns: group.columns), schema: Schema(), batches: [])
            ).columns
        } else {
            columns = plan.columns
        }
    }

    /// Called before rows are read: restricts the scan to the candidates of indexes, if these are few.
    private func narrow() throws(FirnError) {
        guard mayUseIndexes else { return }
        mayUseIndexes = false
        do throws(Damage) {
            guard let use = try IndexUse(plan.filter, plan.slots, whole) else { return }
            self.use = use
            table = ChosenRows(use.candidates, of: whole)
            scanner = Scanner(plan: plan, table: table, source: scanner.source)
        } catch { throw scanner.source.error(error) }
    }

    /// Passes the result to `body` in order, in batches of 1 to 65,536 rows. `body` returns false to stop.
    /// - Throws: `FirnError` if stored bytes are damaged, if the memory limit is reached, or what `body` throws.
    package func forEachBatch(_ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        statistics = QueryStatistics()
        steps = []
        try narrow()
        if let group = plan.group { return try forEachGroup(group, body) }
        if let (offset, limit) = streaming { return try timed("scan and rows") { () throws(FirnError) in try stream(offset, limit, body) } }
        let positions = try ordered()
        try timed("rows") { () throws(FirnError) in try materialise(positions, body) }
    }

    /// Returns the number of rows of the result.
    package func count() throws(FirnError) -> Int {
        statistics = QueryStatistics()
        try narrow()
        if plan.group == nil, let (offset, limit) = streaming {
            let total = try matchCount()
            return min(max(0, total - offset), limit)
        }
        if plan.group == nil { return try ordered().count }
        var count = 0
        try forEachBatch { batch in
            count += batch.count
            return true
        }
        return count
    }

    /// Returns the rows of a segment that match the filter; see `matches(ofSegments:)`.
    package func matches(ofSegment index: Int) throws(FirnError) -> Bits { try matches(ofSegments: [index])[0] }

    /// Returns the rows of some segments that match the filter, without the descriptors: one bit for each physical row, clear for deleted
    /// rows.
    package func matches(ofSegments chosen: [Int]) throws(FirnError) -> [Bits] {
        guard !chosen.isEmpty else { return [] }
        let scanner = Scanner(plan: plan, table: whole, source: scanner.source), runs = min(threads, chosen.count)
        var out: [Bits] = []
        for outcome in each(
            runs,
            { (run) throws(FirnError) -> ([Bits], QueryStatistics) in
                var found: [Bits] = [], scan: SegmentScan?
                for i in (chosen.count * run / runs)..<(chosen.count * (run + 1) / runs) {
                    scan = try scanner.scan(chosen[i], reusing: scan)
                    found.append(try scanner.matches(scan!))
                }
                return (found, scan?.takeStatistics() ?? QueryStatistics())
            })
        {
            let (found, more) = try outcome.get()
            statistics = statistics + more
            out += found
        }
        return out
    }

    /// Returns the rows of the result, in order. The request must not have groups.
    package func rowLocations() throws(FirnError) -> [RowLocation] {
        trap(unless: plan.group == nil, "groups have no row positions: use forEachBatch")
        try narrow()
        let indices = (table as? ChosenRows)?.segmentIndices
        return try ordered().map { RowLocation(segment: indices?[Int($0 >> 32)] ?? Int($0 >> 32), position: Int($0 & 0xFFFF_FFFF)) }
    }

    /// The same if an index supplies the candidates; nil if all rows would have to be scanned.
    package func locationsByIndex() throws(FirnError) -> [RowLocation]? {
        statistics = QueryStatistics()
        try narrow()
        return use == nil ? nil : try rowLocations()
    }

    // MARK: Streaming

    /// The number of rows to skip and the maximum to return, if no descriptor needs all rows first; otherwise nil.
    var streaming: (offset: Int, limit: Int)? {
        var offset = 0, limit = Int.max
        for descriptor in plan.descriptors {
            switch descriptor {
            case .limit(let count): limit = min(limit, count)
            case .offset(let count):
                if limit != .max { limit = max(0, limit - count) }
                offset += min(count, 1 << 60)
            case .sort, .distinct: return nil
            }
        }
        return (offset, limit)
    }

    private func stream(_ offset: Int, _ limit: Int, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        var left = limit, skip = offset, isDone = limit == 0
        let wave = limit < segmentSize ? 1 : threads
        // One scan for each thread for the whole run, so that rows reached through links are fetched once.
        let scans = Slots<SegmentScan>(count: wave)
        for start in stride(from: 0, to: table.segmentCount, by: wave) where !isDone {
            let count = min(wave, table.segmentCount - start)
            if count == 1 {
                let current = try scanner.scan(start, reusing: scans[0])
                scans[0] = current
                current.statistics = QueryStatistics()
                isDone = try !scanner.batches(current, skip: &skip, left: &left, body)
                statistics = statistics + current.takeStatistics()
                continue
            }
            let scanner = scanner
            let outcomes = each(count) { (i) throws(FirnError) -> ([Batch], QueryStatistics) in
                let scan = try scanner.scan(start + i, reusing: scans[i])
                scans[i] = scan
                scan.statistics = QueryStatistics()
                var out: [Batch] = [], none = 0, all = Int.max
                _ = try scanner.batches(scan, skip: &none, left: &all) { (batch) throws(FirnError) in
                    out.append(batch)
                    return true
                }
                return (out, scan.takeStatistics())
            }
            for outcome in outcomes {
                let (batches, more) = try outcome.get()
                statistics = statistics + more
                for batch in batches where !isDone { isDone = try !QueryRun.give(batch, &skip, &left, body) }
            }
        }
    }

    /// Passes on a batch without the rows to skip and those over the limit. Returns false when no more rows are needed.
    static func give(_ batch: Batch, _ skip: inout Int, _ left: inout Int, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError)
        -> Bool
    {
        if skip >= batch.count {
            skip -= batch.count
            return true
        }
        let range = skip..<min(batch.count, left < batch.count ? skip + left : batch.count)
        skip = 0
        left -= range.count
        let part = range.count == batch.count ? batch : Batch(count: range.count, columns: batch.columns.map { $0.slice(range) })
        if part.count > 0, try !body(part) { return false }
        return left > 0
    }

    private func matchCount() throws(FirnError) -> Int {
        if let constant = plan.filter as? ConstantNode {
            do { try (table as? SelectedRows)?.check() } catch { throw scanner.source.error(error) }
            return constant.value ? table.rowCount : 0
        }
        let scanner = scanner
        return try share { (scan, range) throws(FirnError) -> Int in
            var count = 0
            for segment in range {
                if segment != range.lowerBound { scan.move(to: try scanner.segment(segment)) }
                _ = try scanner.forEachMatch(scan) { (_, _, _, _, hits) throws(FirnError) in
                    count += hits
                    return true
                }
            }
            return count
        } whole: {
            $0 + $1
        } ?? 0
    }

    // MARK: Ordering

    /// The number of rows that a leading SORT followed by a limit needs of each range of segments; nil if it needs all.
    private var bound: Int? {
        guard case .sort? = plan.descriptors.first else { return nil }
        return count(after: 1)
    }

    /// Returns the number of rows that the descriptors after the first `start` can use, if they are offsets followed by a limit; otherwise
    /// nil.
    private func count(after start: Int) -> Int? {
        var offset = 0
        for descriptor in plan.descriptors.dropFirst(start) {
            switch descriptor {
            case .offset(let count): offset += min(count, 1 << 40)
            case .limit(let count): return offset + min(count, 1 << 40)
            default: return nil
            }
        }
        return nil
    }

    /// The number of distinct rows after which a leading DISTINCT followed by a limit is complete; nil if there is no such limit.
    private var enough: Int? {
        guard case .distinct? = plan.descriptors.first else { return nil }
        return count(after: 1)
    }

    /// Returns the positions that the descriptors leave, in order.
    func ordered() throws(FirnError) -> [UInt64] {
        var collected: Collector?
        if let enough, let first = plan.descriptors.first {
            // The ranges of segments grow, so that little is read if few segments are sufficient, and all threads work if they are not.
            var start = 0, length = 1
            while start < table.segmentCount, collected?.positions.count ?? 0 < enough || collected == nil {
                let end = min(table.segmentCount, start + length)
                guard let part = try collect(start..<end) else { break }
                if collected == nil { collected = part } else { collected!.append(contentsOf: part) }
                collected!.prune(first, to: .max)
                start = end
                length = max(2 * length, threads)
            }
        } else {
            collected = try timed("scan") { () throws(FirnError) in try collect(0..<table.segmentCount) }
        }
        guard collected != nil else { return [] }
        return timed("order") {
            collected!.run(plan.descriptors)
            return collected!.result
        }
    }

    /// Collects the matches of some segments with their sort and distinct keys.
    private func collect(_ segments: Range<Int>) throws(FirnError) -> Collector? {
        let plan = plan, scanner = scanner, bound = bound
        let first = plan.descriptors.first
        return try share(segments) { (scan, range) throws(FirnError) -> Collector in
            var collector = Collector(plan), rows: [Int32] = []
            for segment in range {
                if segment != range.lowerBound { scan.move(to: try scanner.segment(segment)) }
                _ = try scanner.forEachMatch(scan) { (vector, start, count, mask, _) throws(FirnError) in
                    if let cut = collector.cut, try !cut.narrow(mask, vector, scan) { return true }
                    Scanner.rows(mask, into: &rows)
                    try collector.append(segment, vector, start, count, rows, plan, scan)
                    try collector.hold(plan, scanner)
                    if let bound, let first, collector.positions.count > max(4 * bound, 8 * vectorSize) {
                        collector.prune(first, to: bound, plan)
                    }
                    return true
                }
            }
            return collector
        } whole: { a, b in
            var out = a
            out.append(contentsOf: b)
            return out
        }
    }

    /// Passes on the rows at the given positions, in that order, in batches. Within a batch, every vector is read once.
    private func materialise(_ positions: [UInt64], _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        var scans = [SegmentScan?](repeating: nil, count: threads), at = 0, together = 1, most = threads
        defer { for scan in scans { if let scan { statistics = statistics + scan.takeStatistics() } } }
        rounds: while at < positions.count {
            // The threads make one batch each.
            let first = at, count = min(together, (positions.count - at + QueryRun.batchSize - 1) / QueryRun.batchSize)
            let scanner = scanner, held = scans
            let outcomes = each(count) { (i) throws(FirnError) -> (Batch, SegmentScan?) in
                let start = first + i * QueryRun.batchSize
                var scan = held[i]
                return (try scanner.rows(positions[start..<min(start + QueryRun.batchSize, positions.count)], &scan), scan)
            }
            for (i, outcome) in outcomes.enumerated() { if case .success((_, let scan)) = outcome { scans[i] = scan } }
            var largest = 0
            for outcome in outcomes {
                switch outcome {
                case .success(let (batch, _)):
                    largest = max(largest, batch.columns.reduce(0) { $0 + $1.footprint })
                    at += batch.count
                    if try !body(batch) { return }
                case .failure(let error):
                    // One batch at a time may fit into the memory limit.
                    guard count > 1, error.code == .outOfMemory else { throw error }
                    (together, most) = (1, 1)
                    for scan in scans.dropFirst() { if let scan { statistics = statistics + scan.takeStatistics() } }
                    scans = [scans[0]]
                    continue rounds
                }
            }
            // Each batch is in memory twice while its rows are put in order.
            together = largest > table.memory.limit / (8 * threads) ? 1 : most
        }
    }

    // MARK: Threads

    /// Runs `body` on ranges of consecutive segments, one for each thread, and joins the results in order.
    func share<T>(
        _ chosen: Range<Int>? = nil, threads: Int? = nil,
        _ body: @escaping @Sendable (SegmentScan, Range<Int>) throws(FirnError) -> T, whole join: (T, T) -> T
    ) throws(FirnError) -> T? {
        let base = chosen?.lowerBound ?? 0, segments = chosen?.count ?? table.segmentCount
        guard segments > 0 else { return nil }
        let runs = min(threads ?? self.threads, segments), scanner = scanner
        let outcomes = each(runs) { (i) throws(FirnError) -> (T, QueryStatistics) in
            let range = (base + segments * i / runs)..<(base + segments * (i + 1) / runs)
            let scan = try scanner.scan(range.lowerBound, reusing: nil)
            return (try body(scan, range), scan.takeStatistics())
        }
        var total: T?
        for outcome in outcomes {
            let (part, more) = try outcome.get()
            statistics = statistics + more
            total = total.map { join($0, part) } ?? part
        }
        return total
    }

    private func each<T>(_ count: Int, _ body: @escaping @Sendable (Int) throws(FirnError) -> T) -> [Result<T, FirnError>] {
        parallelMap(count: count, threads: threads) { i in
            do throws(FirnError) { return .success(try body(i)) } catch { return .failure(error) }
        }
    }
}
