import CSQLite
import FirnBytes
import FirnModel
import FirnQuery

/// Carries out a plan: finds the rows, and fills columns with them when they are looked at.
final class SQLCursor {
    private enum Source {
        case none
        /// Segment by segment, vector by vector: the rows that a query matches, or all.
        case scan(QueryRun?)
        /// Rows that were found, in order, a chunk at a time.
        case found
        /// Likewise, few at a time again and again: vectors are kept from one time to the next.
        case kept
    }

    let table: SQLTable
    private let rows: UnsafeMutablePointer<firn_sql_rows>
    private let columns: UnsafeMutablePointer<firn_sql_column>
    private var source = Source.none
    private var reader: SQLReader
    private var buffers: [ColumnBuffer?]
    private let width: Int
    /// Of the vector at hand, those that match.
    private let chosen: UnsafeMutablePointer<Int32>
    /// Grows with every run of rows.
    private var stamp: UInt64 = 0

    // Scanning.
    private var segment = -1, vector = 0
    private var matches: Bits?
    private var seen: QueryStatistics?
    /// The rows at hand are a chunk of `positions`.
    private var isFound = false
    private var found: FoundRows?

    // Found rows.
    private var positions: [UInt64] = []
    private var chunk = 0..<0
    private var chunkSize = 0
    private var sorted = QuerySyntax(.constant(true))
    /// There may be more rows than were found.
    private var isPartial = false
    private var vectors: VectorStore?
    private var lookups = 0

    init(_ table: SQLTable, _ rows: UnsafeMutablePointer<firn_sql_rows>) throws(FirnError) {
        try table.begin()
        self.table = table
        self.rows = rows
        width = table.columns.count
        reader = SQLReader(table.table, table.columns)
        buffers = Array(repeating: nil, count: width + 1)
        columns = .allocate(capacity: width + 1)
        columns.initialize(repeating: firn_sql_column(), count: width + 1)
        chosen = .allocate(capacity: vectorSize)
        rows.pointee.columns = columns
        rows.pointee.column_count = Int32(width)
        rows.pointee.ended = true
    }

    deinit {
        columns.deallocate()
        chosen.deallocate()
        table.file.end()
    }

    // MARK: Beginning

    func begin(_ plan: SQLPlan, _ number: Int, _ values: UnsafeMutablePointer<OpaquePointer?>?, count: Int) throws(FirnError) {
        note(plan, number)
        stamp += 1
        rows.pointee.ended = false
        if let lookup = plan.lookup, try find(plan.terms[lookup], values) { return try advance() }
        guard let filter = predicate(plan, values) else {
            source = .none
            rows.pointee.ended = true
            return
        }
        if plan.order.isEmpty {
            let run = filter == .constant(true) ? nil : try table.run(QueryRequest(parsed: QuerySyntax(filter)))
            if let run, let places = try run.positionsByIndex() {
                begin(found: places.map { UInt64($0.segment) << 32 | UInt64($0.row) })
                isPartial = false
                table.work.add(run.statistics)
                table.work.lookups += 1
                return try advance()
            }
            source = .scan(run)
            segment = -1
            seen = nil
        } else {
            let sort = plan.order.map { SortKeySyntax(PathSyntax([.name(table.columns[$0.column].schema.name)]), ascending: !$0.isDescending) }
            sorted = QuerySyntax(filter, descriptors: [.sort(sort)])
            begin(found: [])
            let wanted = SQLCursor.wanted(plan, values)
            try findInOrder(wanted)
            isPartial = wanted != nil
        }
        try advance()
    }

    /// Finds all rows in order, or the first of them.
    private func findInOrder(_ wanted: Int?) throws(FirnError) {
        let run = try table.run(QueryRequest(parsed: sorted, limit: wanted))
        positions = try run.rowPositions().map { UInt64($0.segment) << 32 | UInt64($0.row) }
        table.work.add(run.statistics)
    }

    private func note(_ plan: SQLPlan, _ number: Int) {
        while table.work.plans.count <= number { table.work.plans.append((table.plans[table.work.plans.count].description, 0)) }
        table.work.plans[number].runs += 1
    }

    private func begin(found: [UInt64]) {
        source = .found
        positions = found
        chunk = 0..<0
        chunkSize = 256
        isFound = true
    }

    /// How many rows of the order SQLite means to take; nil: all.
    private static func wanted(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> Int? {
        func number(_ argument: Int?) -> Int64? {
            guard let argument, let value = values?[argument], case .int(let x) = SQLValue(numeric: value) else { return nil }
            return x
        }
        guard let limit = number(plan.limit), limit >= 0 else { return nil }
        let (sum, overflow) = limit.addingReportingOverflow(max(0, number(plan.offset) ?? 0))
        return overflow ? nil : Int(clamping: sum)
    }

    /// The rows that the engine is to give: all that SQLite would take, and perhaps more. Nil: none can be meant.
    private func predicate(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> PredicateSyntax? {
        var parts: [PredicateSyntax] = []
        for term in plan.terms where term.column >= 0 {
            guard let value = values?[term.argument] else { continue }
            let conditions = table.conditions(term.column)
            let condition = term.isList ? conditions.anyOf(value) : conditions.condition(term.comparison, value, isConstant: term.isConstant)
            switch condition {
            case .unknown: break
            case .never: return nil
            case .rows(let part):
                if part != .constant(true) { parts.append(part) }
            }
        }
        return parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
    }

    // MARK: Look-ups

    /// The rows of a look-up; false: they are to be searched for.
    private func find(_ term: SQLPlan.Term, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) -> Bool {
        guard let value = values?[term.argument] else { return false }
        var found: [UInt64] = []
        if term.column < 0 {
            if term.isList {
                try forEachValue(of: value) { (one) throws(FirnError) in try find(row: one, &found) }
                found.sort()
            } else {
                try find(row: value, &found)
            }
        } else {
            guard let index = try table.index(term.column), index.candidates(value, table.columns[term.column].form, into: &found) else { return false }
        }
        table.work.lookups += 1
        lookups += 1
        begin(found: found)
        isPartial = false
        if lookups > 32 {
            source = .kept
            isFound = false
            if vectors == nil { vectors = VectorStore(table.table, width: width + 1) }
        }
        return true
    }

    private func find(row value: OpaquePointer, _ found: inout [UInt64]) throws(FirnError) {
        guard let id = SQLNumbers.whole(SQLValue(numeric: value)) else { return }
        do throws(Damage) {
            guard let number = try table.table.segmentIndex(of: id), case let segment = try table.table.segment(number), let row = try segment.position(of: id),
                  segment.live?[row] ?? true else { return }
            found.append(UInt64(number) << 32 | UInt64(row))
        } catch { throw table.damaged(error) }
    }

    // MARK: Rows

    /// Goes on to the next run of rows.
    func advance() throws(FirnError) {
        stamp &+= 1
        rows.pointee.stamp = stamp
        rows.pointee.at = 0
        let hasMore: Bool
        switch source {
        case .none: hasMore = false
        case .scan(let run): hasMore = try nextVector(run)
        case .found: hasMore = try nextChunk()
        case .kept: hasMore = nextKept()
        }
        rows.pointee.ended = !hasMore
        if hasMore { table.work.rowsGiven += Int(rows.pointee.count) }
    }

    private func nextChunk() throws(FirnError) -> Bool {
        let start = chunk.upperBound
        if start == positions.count, isPartial {
            isPartial = false
            try findInOrder(nil)
        }
        guard start < positions.count else { return false }
        chunk = start..<min(start + chunkSize, positions.count)
        chunkSize = min(chunkSize * 4, segmentSize)
        found = nil
        rows.pointee.rows = nil
        rows.pointee.count = Int32(chunk.count)
        return true
    }

    /// Rows that lie in one vector.
    private func nextKept() -> Bool {
        let start = chunk.upperBound
        guard start < positions.count else { return false }
        vectors?.trim()
        let first = positions[start], place = first / UInt64(vectorSize)
        var end = start
        while end < positions.count, end - start < vectorSize, positions[end] / UInt64(vectorSize) == place {
            chosen[end - start] = Int32(positions[end] % UInt64(vectorSize))
            end += 1
        }
        chunk = start..<end
        segment = Int(first >> 32)
        vector = Int(first & 0xFFFF_FFFF) / vectorSize
        rows.pointee.rows = UnsafePointer(chosen)
        rows.pointee.count = Int32(chunk.count)
        return true
    }

    private func nextVector(_ run: QueryRun?) throws(FirnError) -> Bool {
        while true {
            if segment < 0 || vector >= reader.segment?.vectorCount ?? 0 {
                segment += 1
                guard segment < table.table.segmentCount else { return false }
                do throws(Damage) { try reader.move(to: segment) } catch { throw table.damaged(error) }
                vector = 0
                matches = reader.segment?.live
                if let run {
                    matches = try run.matches(ofSegment: segment)
                    table.work.add(run.statistics, since: &seen)
                }
                continue
            }
            let count = choose(vector, of: reader.segment!)
            vector += 1
            if count > 0 {
                rows.pointee.count = Int32(count)
                found = nil
                isFound = count <= 2
                if isFound {
                    // Single values are decoded rather than vectors.
                    let first = UInt64(segment) << 32 | UInt64((vector - 1) * vectorSize)
                    positions = (0..<count).map { first + UInt64(rows.pointee.rows![$0]) }
                    chunk = 0..<count
                    rows.pointee.rows = nil
                }
                return true
            }
        }
    }

    /// The matches of a vector.
    private func choose(_ vector: Int, of segment: any Segment) -> Int {
        let total = segment.rows(ofVector: vector).count
        var count = 0
        if let matches {
            for w in vector * vectorSize / 64..<min((vector + 1) * vectorSize / 64, matches.words.count) {
                var rest = matches.words[w]
                let base = Int32(truncatingIfNeeded: (w &* 64) &- (vector &* vectorSize))
                while rest != 0 {
                    chosen[count] = base &+ Int32(truncatingIfNeeded: rest.trailingZeroBitCount)
                    count &+= 1
                    rest &= rest &- 1
                }
            }
        } else {
            count = total
            for row in 0..<total { chosen[row] = Int32(truncatingIfNeeded: row) }
        }
        rows.pointee.rows = UnsafePointer(chosen)
        return count
    }

    // MARK: Values

    /// Fills a column (the last one: row ids) for the rows at hand.
    func load(_ index: Int) throws(FirnError) {
        do throws(Damage) { columns[index] = try loaded(index) } catch { throw table.damaged(error) }
        columns[index].stamp = stamp
    }

    private func loaded(_ index: Int) throws(Damage) -> firn_sql_column {
        if case .kept = source {
            return try vectors!.column(index, segment: segment, vector: vector) { (buffer) throws(Damage) in
                try reader.move(to: segment)
                return index == width ? buffer.fill(rowIDs: try reader.rowIDs(vector: vector)) : try reader.fill(buffer, column: index, vector: vector)
            }
        }
        let buffer: ColumnBuffer
        if let known = buffers[index] { buffer = known } else {
            buffer = ColumnBuffer()
            buffers[index] = buffer
        }
        if isFound {
            let part = found ?? FoundRows(positions[chunk])
            found = part
            return index == width ? buffer.fill(rowIDs: try reader.rowIDs(part)) : try reader.fill(buffer, column: index, part)
        }
        // `vector` is the next one.
        return index == width ? buffer.fill(rowIDs: try reader.rowIDs(vector: vector - 1)) : try reader.fill(buffer, column: index, vector: vector - 1)
    }
}

extension SQLTable.Work {
    fileprivate mutating func add(_ statistics: QueryStatistics) {
        segments += statistics.segments
        segmentsSkipped += statistics.segmentsSkipped
        vectorsSkipped += statistics.vectorsSkipped
    }

    /// What was added since the last time.
    fileprivate mutating func add(_ statistics: QueryStatistics, since seen: inout QueryStatistics?) {
        segments += statistics.segments - (seen?.segments ?? 0)
        segmentsSkipped += statistics.segmentsSkipped - (seen?.segmentsSkipped ?? 0)
        vectorsSkipped += statistics.vectorsSkipped - (seen?.vectorsSkipped ?? 0)
        seen = statistics
    }
}
