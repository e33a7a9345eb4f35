import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// Executes a plan: finds the rows, and reads a column of them when SQLite first asks for it.
final class SQLCursor: SQLVirtualCursor {
    enum Source {
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
    let rows: UnsafeMutablePointer<firn_sql_rows>
    private let columns: UnsafeMutablePointer<firn_sql_column>
    var source = Source.none
    var reader: SQLReader
    var buffers: [ColumnBuffer?]
    let width: Int
    /// The matching rows of the current vector.
    let chosen: UnsafeMutablePointer<Int32>
    /// A counter that increases with every run of rows.
    private var stamp: UInt64 = 0

    // Scanning.
    var segment = -1, vector = 0
    var matches: Bits?
    var seen: QueryStatistics?
    /// Whether the current rows are a chunk of `positions`.
    var isFound = false
    var found: FoundRows?

    // Found rows.
    var positions: [UInt64] = []
    var chunk = 0..<0
    var chunkSize = 0
    var sorted = QuerySyntax(.constant(true))
    /// Whether there can be more rows than were found.
    var isPartial = false
    var vectors: VectorStore?
    var numbers: VectorNumbers?
    var lookups = 0
    /// The index of the last look-up. It must stay alive while its candidates are read.
    var index: EqualityIndex?
    var indexKey: [Int] = []
    var candidates: EqualityIndex.Matches?
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
    func findInOrder(_ wanted: Int?) throws(FirnError) {
        let run = try table.run(QueryRequest(parsed: sorted, limit: wanted))
        positions = try run.rowLocations().map { UInt64($0.segment) << 32 | UInt64($0.position) }
        table.work.add(run.statistics)
    }

    func begin(found: [UInt64]) {
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
    mutating func add(_ statistics: QueryStatistics, since seen: inout QueryStatistics?) {
        segments += statistics.segments - (seen?.segments ?? 0)
        segmentsSkipped += statistics.segmentsSkipped - (seen?.segmentsSkipped ?? 0)
        vectorsSkipped += statistics.vectorsSkipped - (seen?.vectorsSkipped ?? 0)
        seen = statistics
    }
}
