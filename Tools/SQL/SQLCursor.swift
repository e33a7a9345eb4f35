import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// Executes a plan: finds the rows, and reads a column of them when SQLite first asks for it.
final class SQLCursor: SQLVirtualCursor {
    private enum Source {
        case none
        /// Vector by vector: the rows that a query matches, or all rows.
        case scan(QueryRun?)
        /// Rows that were found, in order, in chunks.
        case found
        /// The same for frequent look-ups of few rows: vectors stay decoded between them.
        case kept
        /// The candidates of an index; vectors stay decoded as well.
        case candidates
    }

    let table: SQLTable
    private let rows: UnsafeMutablePointer<firn_sql_rows>
    private let columns: UnsafeMutablePointer<firn_sql_column>
    private var source = Source.none
    private var reader: SQLReader
    private var buffers: [ColumnBuffer?]
    private let width: Int
    /// The matching rows of the current vector.
    private let chosen: UnsafeMutablePointer<Int32>
    /// A counter that increases with every run of rows.
    private var stamp: UInt64 = 0

    // Scanning.
    private var segment = -1, vector = 0
    private var matches: Bits?
    private var seen: QueryStatistics?
    /// Whether the current rows are a chunk of `positions`.
    private var isFound = false
    private var found: FoundRows?

    // Found rows.
    private var positions: [UInt64] = []
    private var chunk = 0..<0
    private var chunkSize = 0
    private var sorted = QuerySyntax(.constant(true))
    /// Whether there can be more rows than were found.
    private var isPartial = false
    private var vectors: VectorStore?
    private var numbers: VectorNumbers?
    private var lookups = 0
    /// The index of the last look-up. It must stay alive while its candidates are read.
    private var index: EqualityIndex?
    private var indexKey: [Int] = []
    private var candidates: EqualityIndex.Matches?
    private var repeated: RepeatedLookup?
    /// Counters that are added to the table's work when the cursor ends.
    private var given = 0, repeats = 0

    /// A look-up by one value in an index. Later look-ups with the same plan reuse it.
    private struct RepeatedLookup {
        var plan: Int
        var argument: Int
        var form: SQLForm
        unowned(unsafe) let index: EqualityIndex
    }

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
        super.init(table.context)
    }

    deinit {
        endRepeats()
        table.work.rowsGiven += given
        columns.deallocate()
        chosen.deallocate()
        table.file.end()
    }

    // MARK: Beginning

    override func begin(_ number: Int, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) {
        if let repeated, repeated.plan == number, let value = values?[repeated.argument],
            case .hash(let hash, orOdd: false) = EqualityKey.probe(value, repeated.form)
        {
            repeats &+= 1
            begin(candidates: repeated.index.matches(hash))
            rows.pointee.kept = nil
            return try advance()
        }
        endRepeats()
        let plan = table.plans[number]
        table.note(number)
        stamp += 1
        rows.pointee.ended = false
        rows.pointee.is_last = false
        rows.pointee.kept = nil
        if !plan.lookup.isEmpty, try find(plan, values) {
            noteRepeated(plan, number)
            return try advance()
        }
        guard let filter = predicate(plan, values) else {
            source = .none
            rows.pointee.ended = true
            return
        }
        if plan.order.isEmpty {
            let run = filter == .constant(true) ? nil : try table.run(QueryRequest(parsed: QuerySyntax(filter)))
            if let run, let locations = try run.locationsByIndex() {
                begin(found: locations.map { UInt64($0.segment) << 32 | UInt64($0.position) })
                isPartial = false
                table.work.add(run.statistics)
                table.work.lookups += 1
                return try advance()
            }
            source = .scan(run)
            segment = -1
            seen = nil
        } else {
            let sort = plan.order.map {
                SortKeySyntax(PathSyntax([.name(table.columns[$0.column].schema.name)]), ascending: !$0.isDescending)
            }
            sorted = QuerySyntax(filter, descriptors: [.sort(sort)])
            begin(found: [])
            let wanted = SQLCursor.wanted(plan, values)
            try findInOrder(wanted)
            isPartial = wanted != nil
        }
        try advance()
    }

    private func noteRepeated(_ plan: SQLPlan, _ number: Int) {
        guard case .candidates = source, plan.lookup.count == 1, let index else { return }
        let term = plan.terms[plan.lookup[0]]
        repeated = RepeatedLookup(plan: number, argument: term.argument, form: table.columns[term.column].form, index: index)
    }

    private func endRepeats() {
        guard let repeated else { return }
        table.work.plans[repeated.plan].runs += repeats
        table.work.lookups += repeats
        repeats = 0
        self.repeated = nil
    }

    /// Finds all rows in order, or the first `wanted` of them.
    private func findInOrder(_ wanted: Int?) throws(FirnError) {
        let run = try table.run(QueryRequest(parsed: sorted, limit: wanted))
        positions = try run.rowLocations().map { UInt64($0.segment) << 32 | UInt64($0.position) }
        table.work.add(run.statistics)
    }

    private func begin(found: [UInt64]) {
        source = .found
        positions = found
        chunk = 0..<0
        chunkSize = 256
        isFound = true
    }

    /// Returns the number of rows in order that SQLite needs; nil for all.
    private static func wanted(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> Int? {
        func number(_ argument: Int?) -> Int64? {
            guard let argument, let value = values?[argument], case .int(let x) = SQLValue(numeric: value) else { return nil }
            return x
        }
        guard let limit = number(plan.limit), limit >= 0 else { return nil }
        let (sum, overflow) = limit.addingReportingOverflow(max(0, number(plan.offset) ?? 0))
        return overflow ? nil : Int(clamping: sum)
    }

    /// Returns a predicate that holds for all rows that SQLite accepts, and possibly for more; nil if no row can match.
    private func predicate(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> PredicateSyntax? {
        var parts: [PredicateSyntax] = []
        for term in plan.terms where term.column >= 0 {
            guard let value = values?[term.argument] else { continue }
            let conditions = table.conditions(term.column)
            let condition =
                term.isList ? conditions.anyOf(value) : conditions.condition(term.comparison, value, isConstant: term.isConstant)
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

    /// Finds the rows of a look-up. Returns false if they must be found by a query.
    private func find(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) -> Bool {
        let first = plan.terms[plan.lookup[0]]
        if first.column >= 0 { return try find(byValues: plan, values) }
        guard let value = values?[first.argument] else { return false }
        var found: [UInt64] = []
        if first.isList {
            try forEachValue(of: value) { (one) throws(FirnError) in try find(row: one, &found) }
            found.sort()
        } else {
            try find(row: value, &found)
        }
        try begin(lookedUp: found)
        return true
    }

    private func find(byValues plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) -> Bool {
        guard let values else { return false }
        var hash: UInt64 = 0, known = 0, oddTerms = 0
        for at in plan.lookup {
            let term = plan.terms[at]
            guard let value = values[term.argument] else { continue }
            let next: UInt64
            switch EqualityKey.probe(value, table.columns[term.column].form) {
            case .never: return beginWithNothing()
            case .null:
                if term.comparison == FIRN_SQL_EQ { return beginWithNothing() }
                next = nullHash
            case .unknown: continue
            case .hash(let known, let orOdd):
                next = known
                if orOdd { oddTerms += 1 }
            }
            hash = known == 0 ? next : EqualityKey.combine(hash, next)
            known += 1
        }
        guard known > 0 else { return false }
        let key = known == plan.lookup.count ? plan.lookupColumns : knownColumns(plan, values)
        guard oddTerms == 0 else { return try find(byOddValues: plan, values, key) }
        guard let index = try index(of: key) else { return false }
        if lookups > 32 {
            try keepVectors()
            table.work.lookups += 1
            begin(candidates: index.matches(hash))
            return true
        }
        let numbers = try table.vectorNumbers()
        try begin(lookedUp: index.spots(hash, orOdd: false).map(numbers.position))
        return true
    }

    /// Returns the columns of a look-up whose values determine a hash.
    private func knownColumns(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>) -> [Int] {
        plan.lookup.compactMap { at in
            let term = plan.terms[at]
            guard let value = values[term.argument] else { return nil }
            if case .unknown = EqualityKey.probe(value, table.columns[term.column].form) { return nil }
            return term.column
        }
    }

    /// Finds rows if some values can equal odd texts, which have other hashes. If the table has such texts, only the other columns are
    /// looked up.
    private func find(byOddValues plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>, _ key: [Int]) throws(FirnError) -> Bool {
        // This index lists the odd texts of the columns.
        guard let whole = try index(of: key) else { return false }
        var hash: UInt64 = 0, rest: [(column: Int, hash: UInt64, orOdd: Bool)] = [], hasOdd = false, position = 0
        for at in plan.lookup {
            let term = plan.terms[at]
            guard let value = values[term.argument] else { continue }
            var next: (hash: UInt64, orOdd: Bool)
            switch EqualityKey.probe(value, table.columns[term.column].form) {
            case .hash(let hash, let orOdd): next = (hash, orOdd)
            case .null: next = (nullHash, false)
            case .never, .unknown: continue
            }
            next.orOdd = next.orOdd && (whole.hasTooManyOdd[position] || !whole.odd[position].isEmpty)
            hasOdd = hasOdd || next.orOdd
            hash = position == 0 ? next.hash : EqualityKey.combine(hash, next.hash)
            rest.append((term.column, next.hash, next.orOdd))
            position += 1
        }
        let numbers = try table.vectorNumbers()
        if !hasOdd || rest.count == 1 && !whole.hasTooManyOdd[0] {
            try begin(lookedUp: whole.spots(hash, orOdd: hasOdd).map(numbers.position))
            return true
        }
        let others = rest.filter { !$0.orOdd }
        guard !others.isEmpty, let index = try index(of: others.map(\.column)) else { return false }
        let known = others.dropFirst().reduce(others[0].hash) { EqualityKey.combine($0, $1.hash) }
        try begin(lookedUp: index.spots(known, orOdd: false).map(numbers.position))
        return true
    }

    private func index(of key: [Int]) throws(FirnError) -> EqualityIndex? {
        if key == indexKey, let index { return index }
        guard let found = try table.index(key) else { return nil }
        index = found
        indexKey = key
        return found
    }

    private func beginWithNothing() -> Bool {
        source = .none
        table.work.lookups += 1
        return true
    }

    private func begin(lookedUp found: [UInt64]) throws(FirnError) {
        table.work.lookups += 1
        lookups += 1
        begin(found: found)
        isPartial = false
        guard lookups > 32 else { return }
        source = .kept
        isFound = false
        try keepVectors()
    }

    private func begin(candidates matches: EqualityIndex.Matches) {
        candidates = matches
        source = .candidates
        isFound = false
    }

    /// Returns the store that keeps the vectors of look-ups decoded.
    @discardableResult
    private func keepVectors() throws(FirnError) -> VectorStore {
        if let vectors { return vectors }
        let numbers = try table.vectorNumbers(), store = VectorStore(numbers, width: width + 1)
        self.numbers = numbers
        vectors = store
        return store
    }

    private func find(row value: OpaquePointer, _ found: inout [UInt64]) throws(FirnError) {
        guard let id = SQLNumbers.whole(SQLValue(numeric: value)) else { return }
        do throws(Damage) {
            guard let number = try table.table.segmentIndex(of: id), case let segment = try table.table.segment(number),
                let row = try segment.position(of: id),
                segment.live?[row] ?? true
            else { return }
            found.append(UInt64(number) << 32 | UInt64(row))
        } catch { throw table.damaged(error) }
    }

    // MARK: Rows

    /// Moves to the next run of rows.
    override func advance() throws(FirnError) {
        stamp &+= 1
        rows.pointee.stamp = stamp
        rows.pointee.at = 0
        let hasMore: Bool
        switch source {
        case .none: hasMore = false
        case .scan(let run): hasMore = try nextVector(run)
        case .found: hasMore = try nextChunk()
        case .kept: hasMore = nextKept()
        case .candidates: hasMore = nextCandidates()
        }
        rows.pointee.ended = !hasMore
        if hasMore { given &+= Int(rows.pointee.count) }
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

    /// Takes the next rows of one vector.
    private func nextKept() -> Bool {
        let start = chunk.upperBound
        guard start < positions.count else { return false }
        let first = positions[start], number = first / UInt64(vectorSize)
        var end = start
        while end < positions.count, end - start < vectorSize, positions[end] / UInt64(vectorSize) == number {
            chosen[end - start] = Int32(positions[end] % UInt64(vectorSize))
            end += 1
        }
        chunk = start..<end
        hand(chunk.count, ofVector: numbers!.number(ofPosition: first), isLast: end == positions.count)
        return true
    }

    /// Takes the next candidates of one vector.
    private func nextCandidates() -> Bool {
        guard var matches = candidates, matches.at < matches.end else { return false }
        let number = Int(matches.at.pointee.spot) / vectorSize
        var count = 0
        repeat {
            chosen[count] = Int32(truncatingIfNeeded: Int(matches.at.pointee.spot) % vectorSize)
            count &+= 1
            matches.at += 1
            matches.skip()
        } while matches.at < matches.end && Int(matches.at.pointee.spot) / vectorSize == number
        candidates = matches
        hand(count, ofVector: number, isLast: matches.at == matches.end)
        return true
    }

    private func hand(_ count: Int, ofVector number: Int, isLast: Bool) {
        vectors!.trim()
        rows.pointee.rows = UnsafePointer(chosen)
        rows.pointee.count = Int32(count)
        rows.pointee.kept = UnsafePointer(vectors!.columns)
        rows.pointee.vector = Int64(number)
        rows.pointee.is_last = isLast
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
                    // For so few rows, single values are decoded instead of vectors.
                    let first = UInt64(segment) << 32 | UInt64((vector - 1) * vectorSize)
                    positions = (0..<count).map { first + UInt64(rows.pointee.rows![$0]) }
                    chunk = 0..<count
                    rows.pointee.rows = nil
                }
                return true
            }
        }
    }

    /// Selects the matching rows of a vector, and returns their number.
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

    /// Reads a column of the current rows. The last column is the row ids.
    override func load(_ index: Int) throws(FirnError) {
        do throws(Damage) { columns[index] = try loaded(index) } catch { throw table.damaged(error) }
        columns[index].stamp = stamp
    }

    private func loaded(_ index: Int) throws(Damage) -> firn_sql_column {
        if rows.pointee.kept != nil {
            let number = Int(rows.pointee.vector), (segment, vector) = numbers![number]
            return try vectors!.column(index, number: number) { (buffer) throws(Damage) in
                try reader.move(to: segment)
                return index == width
                    ? buffer.fill(rowIDs: try reader.rowIDs(vector: vector)) : try reader.fill(buffer, column: index, vector: vector)
            }
        }
        let buffer: ColumnBuffer
        if let known = buffers[index] {
            buffer = known
        } else {
            buffer = ColumnBuffer()
            buffers[index] = buffer
        }
        if isFound {
            let part = found ?? FoundRows(positions[chunk])
            found = part
            return index == width ? buffer.fill(rowIDs: try reader.rowIDs(part)) : try reader.fill(buffer, column: index, part)
        }
        // `vector` is already the next vector.
        return index == width
            ? buffer.fill(rowIDs: try reader.rowIDs(vector: vector - 1)) : try reader.fill(buffer, column: index, vector: vector - 1)
    }
}

extension SQLTable.Work {
    mutating func add(_ statistics: QueryStatistics) {
        segments += statistics.segments
        segmentsSkipped += statistics.segmentsSkipped
        vectorsSkipped += statistics.vectorsSkipped
    }

    /// Adds what has changed since the last call.
    fileprivate mutating func add(_ statistics: QueryStatistics, since seen: inout QueryStatistics?) {
        segments += statistics.segments - (seen?.segments ?? 0)
        segmentsSkipped += statistics.segmentsSkipped - (seen?.segmentsSkipped ?? 0)
        vectorsSkipped += statistics.vectorsSkipped - (seen?.vectorsSkipped ?? 0)
        seen = statistics
    }
}
