import CSQLite
import FirnBytes
import FirnDisk
import FirnQuery
import FirnTable
import FirnThreads

/// A type of a file as a table of a connection.
package final class SQLTable: SQLVirtualTable {
    /// The name of the table in statements.
    package let name: String
    let file: SQLFile
    let columns: [SQLColumn]
    private(set) var table: any Table
    private var generation: Int
    var plans: [SQLPlan] = []
    var planNumbers: [String: Int] = [:]
    /// The indexes, by their columns. The connection limits the memory of all indexes and releases the oldest first.
    private var indexes: [[Int]: EqualityIndex] = [:]
    /// The number of look-ups without an index, by their columns.
    private var lookups: [[Int]: Int] = [:]
    private var knownNumbers: VectorNumbers?
    private var knownSample: ColumnSample?
    private var orderedColumns: [Int: Bool] = [:]
    private var magnitudes: [Int: UInt64?] = [:]
    private var realMagnitudes: [Int: Double?] = [:]
    /// The work for statements so far.
    package internal(set) var work = Work()

    package struct Work {
        package var plans: [(description: String, runs: Int)] = []
        package var lookups = 0, segments = 0, segmentsSkipped = 0, vectorsSkipped = 0, rowsGiven = 0
    }

    init(_ table: any Table, file: SQLFile, name: String, context: SQLContext) {
        self.table = table
        self.file = file
        self.name = name
        generation = file.generation
        columns = SQLColumn.all(of: table)
        super.init(context)
    }

    override var declaration: String {
        // SQLite has no table without columns. The hidden column of a type without columns is its row id.
        guard !columns.isEmpty else { return "CREATE TABLE x(firn_row INTEGER HIDDEN)" }
        return "CREATE TABLE x("
            + columns.map { "\(SQLSpelling.name($0.name)) \($0.form.declaration)\($0.isHidden ? " HIDDEN" : "")" }.joined(separator: ", ")
            + ")"
    }

    /// Registers a cursor. If no other cursor is open, it reads the newest version.
    func begin() throws(FirnError) {
        try file.begin()
        guard generation != file.generation else { return }
        guard let newest = file.table(table.type.name), newest.type.columns == table.type.columns else {
            file.end()
            throw FirnError(
                .schema, "the columns of type \"\(table.type.name)\" have changed", at: .init(file: file.name),
                advice: "drop the table \"\(name)\" and create it again")
        }
        if let longer = columns.first(where: { $0.form == .decimal && SQLDecimal.needsText($0.position, of: newest) }) {
            file.end()
            throw FirnError(
                .schema, "the column \"\(longer.name)\" of type \"\(table.type.name)\" now has decimals of more than 15 digits",
                at: .init(file: file.name), advice: "drop the table \"\(name)\" and create it again")
        }
        generation = file.generation
        table = newest
        forgetIndexes()
        lookups = [:]
        knownNumbers = nil
        knownSample = nil
        orderedColumns = [:]
        magnitudes = [:]
        realMagnitudes = [:]
    }

    override var columnCount: Int { columns.count }

    /// Returns the column with a name of SQL.
    func column(named name: String) -> SQLColumn? { positions[name].map { columns[$0] } }
    private lazy var positions = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })

    override func plan(_ info: OpaquePointer) -> Bool {
        choosePlan(info)
        return true
    }

    override func cursor(_ rows: UnsafeMutablePointer<firn_sql_rows>) throws(FirnError) -> SQLVirtualCursor { try SQLCursor(self, rows) }

    /// Counts a run of a plan.
    func note(_ number: Int) {
        while work.plans.count <= number { work.plans.append((plans[work.plans.count].description, 0)) }
        work.plans[number].runs += 1
    }

    func damaged(_ damage: Damage) -> FirnError { FirnError(damage, in: file.name) }

    // MARK: Conditions

    func conditions(_ index: Int) -> SQLConditions {
        let column = columns[index]
        var path = PathSyntax([.name(column.schema.name)]), isOptional = column.schema.type.isOptional
        if column.isLink, let key = column.target?.keySchema {
            path.steps.append(.name(key.name))
            isOptional = true
        }
        // Links to deleted rows are null.
        return SQLConditions(
            path: path, form: column.form, isOptional: isOptional || column.isLink, isNamed: column.isLink && column.target?.key == nil,
            datesAreOrdered: isOrdered(index))
    }

    /// Returns whether Query and SQLite order the column's values in the same way. They differ for NaN, which SQLite treats as null, and
    /// for dates outside the years 0 to 9999. Values that the zones do not exclude are assumed to exist.
    func isOrdered(_ index: Int) -> Bool {
        if let known = orderedColumns[index] { return known }
        let form = columns[index].form
        var result = form.isOrdered && !columns[index].isLink
        switch form {
        case .real, .float: result = result && zonesSatisfy(index) { if case .reals = $0.bounds { true } else { $0.allNull } }
        case .date:
            result =
                result
                && zonesSatisfy(index) { zone in
                    if case .words(let low, let high) = zone.bounds {
                        SQLTimes.ordered.contains(low) && SQLTimes.ordered.contains(high)
                    } else {
                        zone.allNull
                    }
                }
        default: break
        }
        orderedColumns[index] = result
        return result
    }

    /// Returns a bound of the magnitudes of a column of ints; nil if none is known without reading the rows.
    func magnitude(_ index: Int) -> UInt64? {
        if let known = magnitudes[index] { return known }
        var largest: UInt64 = 0
        let isKnown = zonesSatisfy(index) { zone in
            guard case .words(let low, let high) = zone.bounds else { return zone.allNull }
            largest = max(largest, low.magnitude, high.magnitude)
            return true
        }
        magnitudes[index] = isKnown ? largest : UInt64?.none
        return isKnown ? largest : nil
    }

    /// The same for a column of doubles, none of which is NaN or infinite.
    func realMagnitude(_ index: Int) -> Double? {
        if let known = realMagnitudes[index] { return known }
        var largest = 0.0
        let isKnown = zonesSatisfy(index) { zone in
            guard case .reals(let low, let high) = zone.bounds else { return zone.allNull }
            largest = max(largest, low.magnitude, high.magnitude)
            return largest.isFinite
        }
        realMagnitudes[index] = isKnown ? largest : Double?.none
        return isKnown ? largest : nil
    }

    /// Returns whether the bounds of all rows of a column satisfy a test: those of segments, of vectors, or of the values themselves.
    private func zonesSatisfy(_ index: Int, _ test: (Zone) -> Bool) -> Bool {
        do throws(Damage) {
            for number in 0..<table.segmentCount {
                let reader = try table.segment(number).column(columns[index].position)
                if let zone = reader.zone(), zone.isKnown {
                    guard test(zone) else { return false }
                    continue
                }
                // Small files, tables in memory and the last rows of a file have no bounds of segments.
                var values = Column(reader.type)
                for vector in 0..<(reader.rowCount + vectorSize - 1) / vectorSize {
                    if let zone = reader.zone(ofVector: vector), zone.isKnown {
                        guard test(zone) else { return false }
                    } else {
                        try reader.read(vector: vector, into: &values)
                        guard test(values.zone) else { return false }
                    }
                }
            }
            return true
        } catch { return false }
    }

    // MARK: Look-ups

    /// Returns the index of columns, and builds it after a few look-ups. Returns nil before that, or if there is not enough memory.
    func index(_ key: [Int]) throws(FirnError) -> EqualityIndex? {
        if let known = indexes[key] { return known }
        let count = lookups[key, default: 0]
        lookups[key] = count + 1
        guard count >= 4, EqualityIndex.isPossible(rows: table.rowCount) else { return nil }
        let numbers = try vectorNumbers()
        guard numbers.count <= EqualityIndex.maximumVectors else { return nil }
        do throws(Damage) {
            let index = try EqualityIndex(table, columns, on: key, numbers)
            context.makeRoom(for: index.bytes, of: self, key)
            indexes[key] = index
            return index
        } catch {
            guard error.isBeyondMemory else { throw damaged(error) }
            // Without an index, the table is searched.
            lookups[key] = 0
            return nil
        }
    }

    func forgetIndex(_ key: [Int]) { indexes[key] = nil }

    private func forgetIndexes() {
        context.forgetIndexes(of: self)
        indexes = [:]
    }

    func vectorNumbers() throws(FirnError) -> VectorNumbers {
        if let knownNumbers { return knownNumbers }
        do {
            let numbers = try VectorNumbers(table)
            knownNumbers = numbers
            return numbers
        } catch { throw damaged(error) }
    }

    /// Returns a sample for estimates, or nil if the rows cannot be read. The error is reported when a query reads them.
    func sample() -> ColumnSample? {
        if let knownSample { return knownSample }
        guard let numbers = try? vectorNumbers() else { return nil }
        knownSample = try? ColumnSample(table, columns, numbers)
        return knownSample
    }

    /// Binds a query to the table, or to the table with further columns.
    func run(_ request: QueryRequest, on computed: (any Table)? = nil) throws(FirnError) -> QueryRun {
        let threads = context.threads
        do throws(QueryError) {
            return try QueryRun(
                request, table: computed ?? table, file: file.name, threads: threads)
        } catch { throw error.asFirnError }
    }
}

extension Zone {
    fileprivate var isKnown: Bool { allNull || bounds != .none }
}

extension Column {
    fileprivate var zone: Zone {
        var bounds = Zone.Bounds.none, isFirst = true
        for row in 0..<count where isPresent(row) {
            if type.kind == .double || type.kind == .float {
                let x = reals[row]
                if x.isNaN { return Zone(mayHaveNulls: true, allNull: false, bounds: .none) }
                if case .reals(let low, let high) = bounds { bounds = .reals(min(low, x), max(high, x)) } else { bounds = .reals(x, x) }
            } else {
                let x = words[row]
                if case .words(let low, let high) = bounds { bounds = .words(min(low, x), max(high, x)) } else { bounds = .words(x, x) }
            }
            isFirst = false
        }
        return Zone(mayHaveNulls: true, allNull: isFirst, bounds: bounds)
    }
}
