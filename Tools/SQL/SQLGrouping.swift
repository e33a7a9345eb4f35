import FirnBytes
import FirnQuery
import FirnTable

/// The groups of one SELECT, which the engine computes when the statement runs.
final class SQLGrouping {
    let number: Int
    let scope: SQLScope
    /// The first table.
    let table: SQLTable
    /// The join, if there are several tables, or aggregates with FILTER of one table.
    let join: SQLJoin?
    let keys: [Int]
    /// The expressions of keys, by their index. The column of such a key has one of the values from which it is computed.
    let computed: [Int: ComputedKey]
    /// The conditions that SQLite computes for each value of a column.
    let computedConditions: [ComputedKey]
    let measures: [SQLMeasure]
    private let test: SQLTest?
    private let literals: [SQLValue]
    /// What the engine does, in words.
    let description: String
    /// The orders of groups that SQLite has requested.
    private(set) var orders: [[Order]] = []

    struct Order: Equatable {
        /// The index of a key.
        let key: Int
        let isDescending: Bool
    }

    /// The groups as columns: the keys, then the measures.
    struct Result {
        var count: Int
        var columns: [Column]
    }

    /// The aggregates of the engine, each once. Their results follow those of the keys.
    private let aggregates: [Aggregate]
    /// For each measure the indexes of its aggregate, and of the number of values if there can be none.
    private let sources: [(value: Int, count: Int?)]
    private var filter: PredicateSyntax?
    private var result: (order: Int?, Result)?
    private var planNumber: Int?

    /// Returns the rows of a statement, which can read groups.
    private let evaluate: (String) throws(FirnError) -> [[Value]]
    /// The groups of the computed keys.
    private var codes: ComputedCodes?

    /// Returns nil if the engine cannot compute a join.
    init?(
        _ reader: SQLGroupReader, literals: [SQLValue], number: Int, evaluate: @escaping (String) throws(FirnError) -> [[Value]]
    ) {
        (self.evaluate, self.number, self.literals) = (evaluate, number, literals)
        computed = reader.computedKeys.mapValues(\.key)
        computedConditions = reader.computedConditions
        let scope = reader.scope, columns = scope.columns, isJoin = scope.sources.count > 1 || reader.measures.contains { $0.filter != nil }
        self.scope = scope
        table = scope.sources[0].table
        keys = reader.keys
        measures = reader.measures
        if isJoin {
            guard let join = SQLJoin(reader, literals) else { return nil }
            self.join = join
            test = nil
        } else {
            join = nil
            let tests = reader.conditions.map(\.test)
            test = tests.count > 1 ? .and(tests) : tests.first
        }
        let condition = join.map { [$0.description] } ?? test.map { [$0.text(columns)] } ?? []
        description = (condition + SQLGrouping.words(reader)).joined(separator: ", ")
        join?.work = description

        var aggregates: [Aggregate] = []
        func index(_ aggregate: Aggregate) -> Int {
            if let known = aggregates.firstIndex(where: {
                $0.function == aggregate.function && $0.path == aggregate.path && $0.isDistinct == aggregate.isDistinct
                    && $0.quantile == aggregate.quantile
            }) {
                return known
            }
            aggregates.append(aggregate)
            return aggregates.count - 1
        }
        let isWhole = keys.isEmpty, summation = SQLGrouping.summation
        // Whatever Query cannot compute is found before the run.
        sources =
            isJoin
            ? []
            : measures.map { measure in
                guard let operand = measure.operand else { return (index(Aggregate(.count)), nil) }
                let text = measure.column.map { columns[$0].schema.name } ?? operand.query(columns, literals) ?? ""
                let isOptional = operand.isOptional(scope), count = isOptional ? Aggregate(.count, text) : Aggregate(.count)
                switch measure.function {
                case .count: return (index(measure.isDistinct ? Aggregate(.count, text, distinct: true) : count), nil)
                case .sum: return (index(Aggregate(.sum, text, summation: summation)), isOptional || isWhole ? index(count) : nil)
                case .total: return (index(Aggregate(.sum, text, summation: summation)), nil)
                case .avg: return (index(Aggregate(.avg, text, summation: summation)), nil)
                case .min: return (index(Aggregate(.min, text)), nil)
                case .max: return (index(Aggregate(.max, text)), nil)
                case .median, .quantile: return (index(Aggregate(.quantile, text, quantile: measure.share)), nil)
                }
            }
        // The names must differ from those of the keys.
        let longest = keys.map { columns[$0].schema.name.utf8.count }.max() ?? 0
        for i in aggregates.indices { aggregates[i].name = String(repeating: "#", count: longest + 1) + "\(i)" }
        self.aggregates = aggregates
    }

    /// Returns the computed conditions and the groups of a statement in words.
    private static func words(_ reader: SQLGroupReader) -> [String] {
        let columns = reader.scope.columns
        let keys = reader.keys.enumerated().map { reader.computedKeys[$0]?.key.text(columns[$1].name) ?? columns[$1].name }
        let measures = reader.measures.map { $0.text(columns, reader.literals) }.joined(separator: ", ")
        let groups = keys.isEmpty ? measures : "group by \(keys.joined(separator: ", "))" + (measures.isEmpty ? "" : ": \(measures)")
        return reader.computedConditions.map { $0.text(columns[$0.column].name) } + [groups]
    }

    /// How SQLite adds doubles. Since 3.43 it compensates the errors.
    static var isCompensated: Bool { SQLConnection.versionNumber >= 3_043_000 }
    private static var summation: Aggregate.Summation { isCompensated ? .compensated : .inOrder }

    // MARK: Before a run

    /// Returns whether the engine returns what SQLite would, for the rows of the table as they are and for the values of parameters.
    func prepare(_ parameters: [Int: Value]) -> Bool {
        let value = { (operand: SQLTest.Operand) -> SQLValue? in
            switch operand {
            case .literal(let index): self.literals[index]
            case .parameter(let number): SQLValue(parameters[number] ?? .null)
            }
        }
        result = nil
        codes = nil
        guard (computed.values + computedConditions).allSatisfy({ scope.isOrdered($0.column) }) else { return false }
        if let join { return join.prepare(value) && compute { join.filters[$0] } }
        let binding = SQLTestBinding(table: table, value: value)
        guard let filter = test.map({ binding.predicate($0) }) ?? .constant(true), keys.allSatisfy(table.isOrdered),
            measures.allSatisfy(isExact)
        else { return false }
        self.filter = filter
        return compute { _ in filter }
    }

    /// Computes the groups of expressions, for the rows of each table that a filter selects. Returns false if SQLite computes them for each row.
    private func compute(_ filter: (Int) -> PredicateSyntax) -> Bool {
        guard !computed.isEmpty || !computedConditions.isEmpty else { return true }
        do { codes = try ComputedCodes(self, where: filter, evaluate) } catch { return false }
        guard let codes else { return false }
        if let join { join.choose(codes) } else { self.filter = codes.filter(0, and: filter(0)) }
        return true
    }

    private func isExact(_ measure: SQLMeasure) -> Bool {
        guard let operand = measure.operand else { return true }
        guard let index = measure.column else {
            return operand.query(table.columns, literals) != nil && operand.bound(scope, literals) != nil
        }
        let column = table.columns[index]
        guard !column.isLink else { return false }
        switch (measure.function, column.form) {
        case (_, .any), (_, .json): return false
        case (.count, .decimal), (.count, .longDecimal), (.count, .date): return !measure.isDistinct || table.isOrdered(index)
        case (.count, _), (.min, _), (.max, _): return table.isOrdered(index)
        case (_, .real), (_, .float): return table.isOrdered(index)
        case (.median, .int), (.quantile, .int): return true
        case (_, .int):
            // No sum of some of the rows may exceed 64 bits, which is an error, or the integers that doubles represent.
            let limit = measure.function == .sum ? UInt64(Int64.max) : 1 << 53
            guard let largest = table.magnitude(index) else { return false }
            let (product, overflow) = largest.multipliedReportingOverflow(by: UInt64(table.table.rowCount))
            return !overflow && product <= limit
        default: return false
        }
    }

    /// Notes an order of the groups, and returns its number; nil if the engine cannot produce it.
    func number(of order: [Order]) -> Int? {
        if let known = orders.firstIndex(of: order) { return known }
        orders.append(order)
        return orders.count - 1
    }

    // MARK: Running

    /// Returns the groups in an order, or in that of their first rows.
    func groups(_ order: Int?) throws(FirnError) -> Result {
        if let result, result.order == order { return result.1 }
        var all = result.flatMap { $0.order == nil ? $0.1 : nil }
        if all == nil, let join {
            var found = try join.run()
            found.columns = represented(found.columns)
            all = found
        }
        if let all {
            let found = try ordered(all, order)
            result = (order, found)
            return found
        }
        note()
        guard let filter else { throw FirnError(.usage, "the groups of a statement belong to it") }
        let names = keys.enumerated().map { computed[$0]?.name ?? table.columns[$1].schema.name }
        let sort = order.map { orders[$0].map { QueryRequest.SortKey(names[$0.key], ascending: !$0.isDescending) } } ?? []
        let run = try table.run(
            QueryRequest(
                parsed: QuerySyntax(filter), sort: sort, groupBy: names,
                aggregates: aggregates.isEmpty ? [Aggregate(.count, name: "#")] : aggregates), on: codes?.tables[0])
        let (count, columns) = try run.allRows()
        table.work.add(run.statistics)
        let found = Result(count: count, columns: columns.isEmpty ? [] : finished(columns, count))
        result = (order, found)
        return found
    }

    /// Returns groups in an order.
    private func ordered(_ found: Result, _ order: Int?) throws(FirnError) -> Result {
        guard let order, found.count > 1 else { return found }
        let named = found.columns.enumerated().map { ColumnSchema("k\($0)", $1.type) }, type = TypeSchema("result", columns: named)
        let sort = orders[order].map { QueryRequest.SortKey("k\($0.key)", ascending: !$0.isDescending) }
        let table = MemoryTable(type, schema: Schema([type]), batches: [Batch(count: found.count, columns: found.columns)]), run: QueryRun
        do throws(QueryError) { run = try QueryRun(QueryRequest(sort: sort), table: table) } catch { throw error.asFirnError }
        return Result(count: found.count, columns: try run.allRows().columns)
    }

    /// Replaces the numbers of computed keys by values from which they are computed.
    private func represented(_ columns: [Column]) -> [Column] {
        columns.enumerated().map { codes?.representatives[$0]?.gather($1.words.map { Int($0) }) ?? $1 }
    }

    /// Returns the columns of the keys and of the measures.
    private func finished(_ columns: [Column], _ count: Int) -> [Column] {
        var out = represented(Array(columns[..<keys.count]))
        for (measure, source) in zip(measures, sources) {
            var column = columns[keys.count + source.value]
            if measure.function == .total, column.type.kind == .int {
                var reals = Column(ColumnType(.double))
                for word in column.words { reals.append(.double(Double(word))) }
                column = reals
            }
            if let counts = source.count.map({ columns[keys.count + $0] }) {
                var present = Bits(repeating: true, count: count)
                for group in 0..<count where counts.words[group] == 0 { present[group] = false }
                column.type.isOptional = true
                column.present = present
            }
            out.append(column)
        }
        return out
    }

    /// Counts the run among those of the table's plans.
    private func note() {
        let number = planNumber ?? table.plans.count
        if planNumber == nil {
            planNumber = number
            let plan = SQLPlan()
            plan.description = description
            table.plans.append(plan)
        }
        table.note(number)
    }
}

extension QueryRun {
    /// Returns the rows of the result as columns; no columns if there are no rows.
    func allRows() throws(FirnError) -> (count: Int, columns: [Column]) {
        var columns: [Column] = [], count = 0
        try forEachBatch { batch in
            count += batch.count
            if columns.isEmpty {
                columns = batch.columns
            } else {
                for i in columns.indices { columns[i].append(contentsOf: batch.columns[i]) }
            }
            return true
        }
        return (count, columns)
    }
}
