import FirnBytes
import FirnTable

extension QueryRun {
    func forEachGroup(_ group: GroupPlan, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        let scanner = scanner, plan = plan, threads = threads
        let grouper: Grouper?
        if plan.descriptors.isEmpty {
            grouper = try timed("scan and groups") { () throws(FirnError) in
                try share(threads: group.isSequential ? 1 : threads) { (scan, range) throws(FirnError) -> Grouper in
                    let grouper = Grouper(group, scanner.table, scanner)
                    for segment in range {
                        if segment != range.lowerBound { scan.move(to: try scanner.segment(segment)) }
                        _ = try scanner.forEachMatch(scan) { (vector, _, count, mask, hits) throws(FirnError) in
                            try grouper.add(segment, vector, count, mask, hits, scan)
                            return true
                        }
                    }
                    try grouper.close(scan)
                    return grouper
                } whole: { a, b in
                    a.merge(b, threads: threads)
                    return a
                }
            }
        } else {
            grouper = try grouped(group, try ordered().sorted())
        }
        try forEachGroup(of: grouper ?? Grouper(group, table), body)
    }

    /// Applies the rest of the request to the groups and passes the result to `body`.
    func forEachGroup(of grouper: Grouper, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) {
        let group = plan.group!
        var (rest, chosen) = (group.after, [Int]?.none)
        let figures = try timed("figures") { () throws(FirnError) in try grouper.figures(threads: threads) }
        if let first = group.selection, grouper.count >= PartNumbers.minimumKeys {
            // Only the groups that are needed get their keys.
            let batch = Batch(count: grouper.count, columns: figures)
            let order = try after(first, Array(group.columns.dropFirst(group.keys.count)), batch)
            chosen = try order.rowLocations().map(\.position)
            rest = QueryRequest(select: rest.select)
        }
        let result = try timed("keys") { () throws(FirnError) in try grouper.result(figures, of: chosen) }
        try after(rest, group.columns, result).forEachBatch(body)
    }

    private func after(_ request: QueryRequest, _ columns: [ColumnSchema], _ batch: Batch) throws(FirnError) -> QueryRun {
        do throws(QueryError) {
            return try QueryRun(request, table: MemoryTable(TypeSchema("result", columns: columns), schema: Schema(), batches: [batch]))
        } catch { throw error.asFirnError }
    }

    /// Adds all segments to existing groups, numbering the segments from `first`.
    func addGroups(to grouper: Grouper, from first: Int) throws(FirnError) {
        var scan: SegmentScan?
        for segment in 0..<table.segmentCount {
            let current = try scanner.scan(segment, reusing: scan)
            scan = current
            _ = try scanner.forEachMatch(current) { (vector, _, count, mask, hits) throws(FirnError) in
                try grouper.add(first + segment, vector, count, mask, hits, current)
                return true
            }
        }
        if let scan { statistics = statistics + scan.takeStatistics() }
    }

    /// Groups the rows at the given positions, which ascend.
    private func grouped(_ group: GroupPlan, _ positions: [UInt64]) throws(FirnError) -> Grouper {
        let grouper = Grouper(group, table)
        var at = 0
        var scan: SegmentScan?, current = -1
        var mask = [UInt64](repeating: 0, count: 16)
        while at < positions.count {
            let segment = Int(positions[at] >> 32), vector = Int(positions[at] & 0xFFFF_FFFF) / vectorSize
            for w in 0..<16 { mask[w] = 0 }
            let start = at
            while at < positions.count, Int(positions[at] >> 32) == segment, Int(positions[at] & 0xFFFF_FFFF) / vectorSize == vector {
                let row = Int(positions[at] & 0xFFFF_FFFF) % vectorSize
                mask[row >> 6] |= 1 << UInt64(row & 63)
                at += 1
            }
            if segment != current {
                scan = try scanner.scan(segment, reusing: scan)
                current = segment
            }
            try grouper.add(segment, vector, scan!.segment.rows(ofVector: vector).count, mask, at - start, scan!)
        }
        return grouper
    }
}
