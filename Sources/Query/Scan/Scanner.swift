import FirnBytes
import FirnTable

/// Applies a plan's filter to segments.
struct Scanner {
    let plan: QueryPlan
    let table: any Table
    let source: DamageSource

    func segment(_ index: Int) throws(FirnError) -> any Segment {
        do { return try table.segment(index) } catch { throw source.error(error) }
    }

    func scan(_ index: Int, reusing scan: SegmentScan?) throws(FirnError) -> SegmentScan {
        let segment = try segment(index)
        if let scan {
            scan.move(to: segment)
            return scan
        }
        return SegmentScan(plan.slots, textTests: plan.textTests, source: source, segment: segment)
    }

    /// Returns the rows at the given positions, in that order. Every vector is read once. `scan` is used again for the next call.
    func rows(_ positions: ArraySlice<UInt64>, _ scan: inout SegmentScan?) throws(FirnError) -> Batch {
        let ascending = positions.indices.sorted { positions[$0] < positions[$1] }
        var columns = emptyColumns(), at = 0, rows: [Int32] = [], current = -1
        while at < ascending.count {
            let position = positions[ascending[at]]
            let segment = Int(position >> 32), vector = Int(position & 0xFFFF_FFFF) / vectorSize
            rows.removeAll(keepingCapacity: true)
            while at < ascending.count, positions[ascending[at]] >> 32 == position >> 32,
                Int(positions[ascending[at]] & 0xFFFF_FFFF) / vectorSize == vector
            {
                rows.append(Int32(Int(positions[ascending[at]] & 0xFFFF_FFFF) % vectorSize))
                at += 1
            }
            if segment != current { scan = try self.scan(segment, reusing: scan) }
            current = segment
            guard let here = scan else { trap("the segment of the rows is open") }
            let range = here.segment.rows(ofVector: vector)
            for (i, operand) in plan.selected.enumerated() {
                try operand.append(rows, of: vector, first: range.lowerBound, count: range.count, here, to: &columns[i])
                try hold(&columns[i], plan.columns[i].name)
            }
        }
        var permutation = [Int](repeating: 0, count: positions.count)
        for (i, index) in ascending.enumerated() { permutation[index - positions.startIndex] = i }
        if permutation.indices.contains(where: { permutation[$0] != $0 }) {
            for i in columns.indices { columns[i] = try ordered(columns[i], permutation, plan.columns[i].name) }
        }
        return Batch(count: positions.count, columns: columns)
    }

    private func ordered(_ column: Column, _ rows: [Int], _ name: String) throws(FirnError) -> Column {
        var ordered = column.emptyCopy
        do throws(Damage) { try ordered.hold(memory(name), adding: column.footprint) } catch { throw source.error(error) }
        ordered.appendGathered(column, rows: rows)
        return ordered
    }

    /// Calls `body` for every vector with matches: its number, its first row, its number of rows, the mask of 16 words and the number of
    /// matches.
    /// `body` returns false to stop; then this also returns false.
    func forEachMatch(_ scan: SegmentScan, _ body: (Int, Int, Int, UnsafeMutablePointer<UInt64>, Int) throws(FirnError) -> Bool)
        throws(FirnError) -> Bool
    {
        let segment = scan.segment
        scan.statistics.segments += 1
        scan.statistics.rows += segment.rowCount
        scan.statistics.vectors += segment.vectorCount
        let whole = try plan.filter.verdict(scan, nil)
        if whole == .none {
            scan.statistics.segmentsSkipped += 1
            return true
        }
        let mask = scan.takeMask()
        defer { scan.giveBack(mask) }
        for vector in 0..<segment.vectorCount {
            if let live = segment.live, live.noneSet(ofVector: vector) { continue }
            let verdict = whole == .all ? whole : try plan.filter.verdict(scan, vector)
            if verdict == .none {
                scan.statistics.vectorsSkipped += 1
                continue
            }
            let range = segment.rows(ofVector: vector)
            let rows = range.count
            for w in 0..<16 { mask[w] = w < rows >> 6 ? .max : w == rows >> 6 ? (1 &<< UInt64(rows & 63)) &- 1 : 0 }
            if let live = segment.live {
                for w in 0..<16 where vector * 16 + w < live.words.count { mask[w] &= live.words[vector * 16 + w] }
            }
            if verdict == .unknown { try plan.filter.narrow(scan, vector, rows, mask) }
            var hits = 0
            for w in 0..<16 { hits &+= mask[w].nonzeroBitCount }
            scan.statistics.rowsMatched += hits
            if hits > 0, try !body(vector, range.lowerBound, rows, mask, hits) { return false }
        }
        return true
    }

    /// Returns the matches of one segment as bits.
    func matches(_ scan: SegmentScan) throws(FirnError) -> Bits {
        var words = [UInt64](repeating: 0, count: scan.segment.vectorCount * 16)
        _ = try forEachMatch(scan) { (vector, _, _, mask, _) throws(FirnError) in
            for w in 0..<16 { words[vector * 16 + w] = mask[w] }
            return true
        }
        return Bits(words: words, count: scan.segment.rowCount)
    }

    /// Passes on the matches of one segment in batches. Returns false when `body` stops or the limit is reached.
    func batches(_ scan: SegmentScan, skip: inout Int, left: inout Int, _ body: (Batch) throws(FirnError) -> Bool) throws(FirnError) -> Bool
    {
        var columns = emptyColumns(), count = 0
        var rows: [Int32] = []
        var goesOn = true
        var toSkip = skip, toGive = left
        _ = try forEachMatch(scan) { (vector, first, total, mask, hits) throws(FirnError) in
            if toSkip >= hits {
                toSkip -= hits
                return true
            }
            Scanner.rows(mask, into: &rows)
            if toSkip > 0 {
                rows.removeFirst(toSkip)
                toSkip = 0
            }
            if rows.count > toGive { rows.removeLast(rows.count - toGive) }
            if count + rows.count > QueryRun.batchSize {
                goesOn = try body(Batch(count: count, columns: columns))
                columns = emptyColumns()
                count = 0
                if !goesOn { return false }
            }
            for (i, operand) in plan.selected.enumerated() {
                try operand.append(rows, of: vector, first: first, count: total, scan, to: &columns[i])
                try hold(&columns[i], plan.columns[i].name)
            }
            count += rows.count
            toGive -= rows.count
            return toGive > 0
        }
        skip = toSkip
        left = toGive
        if goesOn, count > 0 { goesOn = try body(Batch(count: count, columns: columns)) }
        return goesOn && left > 0
    }

    /// Returns the memory scope of a column of the result, or of a key.
    func memory(_ column: String) -> MemoryScope { MemoryScope(table.memory, type: table.type.name, column: column) }

    /// Charges the current contents of a column of the result.
    func hold(_ column: inout Column, _ name: String, adding more: Int = 0) throws(FirnError) {
        do throws(Damage) { try column.hold(memory(name), adding: more) } catch { throw source.error(error) }
    }

    func emptyColumns() -> [Column] { plan.columns.map { Column($0, in: table.schema) } }

    /// Returns the rows of a mask, ascending.
    static func rows(_ mask: UnsafePointer<UInt64>, into out: inout [Int32]) {
        out.removeAll(keepingCapacity: true)
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: vectorSize) { rows in
            let count = Scanner.rows(mask, into: rows.baseAddress!)
            out.append(contentsOf: UnsafeBufferPointer(rebasing: rows[..<count]))
        }
    }

    /// The same, into memory for 1,024 rows. Returns the number of rows.
    @discardableResult
    static func rows(_ mask: UnsafePointer<UInt64>, into out: UnsafeMutablePointer<Int32>) -> Int {
        var at = 0
        for w in 0..<16 {
            var rest = mask[w]
            let first = Int32(truncatingIfNeeded: w &* 64)
            if rest == .max {
                for i in 0..<64 { out[at &+ i] = first &+ Int32(truncatingIfNeeded: i) }
                at &+= 64
                continue
            }
            while rest != 0 {
                out[at] = first &+ Int32(truncatingIfNeeded: rest.trailingZeroBitCount)
                at &+= 1
                rest &= rest &- 1
            }
        }
        return at
    }
}

extension Operand {
    /// Appends the values of the given rows (ascending, within a vector) to `out`; lists, if a path has several values for each row.
    /// Decodes single values if that is less work.
    func append(_ rows: [Int32], of vector: Int, first: Int, count: Int, _ scan: SegmentScan, to out: inout Column) throws(FirnError) {
        if case .path(let path) = self, path.steps.isEmpty {
            let isLoaded = scan.isLoaded(path.slot, vector)
            if rows.count <= 2, !isLoaded, path.type.kind != .embedded, !path.type.isCollection {
                for row in rows {
                    guard out.append(try scan.value(path.slot, first + Int(row))) else {
                        throw scan.damaged(Damage("a value does not have the type of its column"))
                    }
                }
                return
            }
            let column = try scan.column(path.slot, vector)
            if rows.count == count { out.append(contentsOf: column) } else { out.appendGathered(column, rows: rows.map { Int($0) }) }
            return
        }
        let isPath = if case .path = self { true } else { false }
        let values = try (isPath ? evaluate(scan, vector, count, only: rows) : evaluate(scan, vector, count)).whole()
        var column = values.column
        if let offsets = values.offsets {
            column = out.emptyCopy
            column.count = offsets.count - 1
            column.offsets = offsets
            column.children[0] = values.column
        }
        if isPath || rows.count == count { out.append(contentsOf: column) } else { out.appendGathered(column, rows: rows.map { Int($0) }) }
    }
}
