import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// A join of tables by equalities, whose groups the engine computes: one table is scanned, and the others are read into memory before.
/// Aggregates with FILTER of one table are a join of that table alone.
final class SQLJoin {
    let scope: SQLScope
    let keys: [Int]
    let measures: [SQLMeasure]
    let literals: [SQLValue]
    /// Whether the groups have the order of their first rows.
    let keepsOrder: Bool
    /// The equalities of inner joins, and of the LEFT JOIN of each table.
    private var inner: [SQLMatch] = []
    private var outer: [[SQLMatch]]
    /// Other comparisons of two tables of inner joins.
    private(set) var relations: [(match: SQLMatch, comparison: Int)] = []
    /// The conditions of each table.
    private var tests: [[SQLTest]]
    private(set) var filters: [PredicateSyntax] = []
    /// The tables with columns for computed keys, by source.
    private var computed: [Int: ComputedTable] = [:]
    /// The conditions of aggregates, each once, divided by table.
    private let choiceTests: [(test: SQLTest, parts: [(source: Int, test: SQLTest)])]
    /// The same for the values of a run.
    private(set) var choices: [[Choice]] = []
    /// The tables that `prefetch` has read.
    private var kept: [Int: (batches: [Batch], charge: MemoryCharge)] = [:]
    /// The order in which SQLite nests the tables, if the result depends on it.
    var loops: [Int]?
    private var planNumbers: [Int]?
    /// What the engine does for the statement, in words.
    var work = ""

    /// The rows of a table that an aggregate may use.
    struct Choice {
        let source: Int
        /// The columns of the predicate.
        let columns: [Int]
        let predicate: PredicateSyntax
        /// Whether a row of nulls is used: that of a LEFT JOIN without a match.
        let holdsForNulls: Bool
    }

    /// Returns nil if the conditions are not those of a join by equalities.
    init?(_ reader: SQLGroupReader, _ literals: [SQLValue]) {
        scope = reader.scope
        keys = reader.keyColumns
        measures = reader.measures
        self.literals = literals
        keepsOrder = reader.isDistinct
        let sources = scope.sources
        tests = sources.map { _ in [] }
        outer = sources.map { _ in [] }
        guard let choices = SQLJoin.choices(reader.measures, scope) else { return nil }
        choiceTests = choices
        for condition in reader.conditions {
            for part in condition.test.conjuncts {
                let found = Set(part.columns.map(scope.source))
                if let outer = condition.outer {
                    guard found.contains(outer), found.allSatisfy({ $0 <= outer }) else { return nil }
                    if case .match(let match) = part {
                        self.outer[outer].append(scope.source(of: match.right) == outer ? match : match.flipped)
                    } else if found.count == 1 {
                        tests[outer].append(part.moved(by: sources[outer].first))
                    } else {
                        return nil
                    }
                } else {
                    // A condition on the table of a LEFT JOIN would have to be tested after it.
                    guard !found.contains(where: { sources[$0].isOuter }) else { return nil }
                    if case .match(let match) = part {
                        inner.append(match)
                    } else if case .relation(let match, let comparison) = part {
                        relations.append((match, comparison))
                    } else if found.count == 1, let source = found.first {
                        tests[source].append(part.moved(by: sources[source].first))
                    } else {
                        return nil
                    }
                }
            }
        }
        guard sources.indices.allSatisfy({ !sources[$0].isOuter || !outer[$0].isEmpty }),
            order(from: 0, cost: { source, _ in Double(source) }) != nil
        else {
            return nil
        }
    }

    /// Returns the conditions of aggregates, each once; nil if one compares several tables.
    private static func choices(
        _ measures: [SQLMeasure], _ scope: SQLScope
    ) -> [(test: SQLTest, parts: [(source: Int, test: SQLTest)])]? {
        var choices: [(test: SQLTest, parts: [(source: Int, test: SQLTest)])] = []
        for test in measures.compactMap(\.filter) where !choices.contains(where: { $0.test == test }) {
            let parts = test.conjuncts.map { (sources: Set($0.columns.map(scope.source)), test: $0) }
            guard parts.allSatisfy({ $0.sources.count == 1 }) else { return nil }
            let sources = Set(parts.flatMap(\.sources)).sorted()
            choices.append(
                (test, sources.map { source in (source, .and(parts.filter { $0.sources.contains(source) }.map(\.test))) }))
        }
        return choices
    }

    /// Returns the number of the condition of an aggregate.
    func choice(of measure: SQLMeasure) -> Int? {
        measure.filter.flatMap { filter in choiceTests.firstIndex { $0.test == filter } }
    }

    /// Whether the result depends on the order in which SQLite reads the rows: sums of doubles, and rows without another order.
    var needsLoops: Bool {
        scope.sources.count > 1
            && (keepsOrder
                || measures.contains { measure in
                    [.sum, .total, .avg].contains(measure.function) && measure.operand?.isReal(scope, literals) ?? false
                })
    }

    /// What the engine does, in words.
    var description: String {
        scope.sources.indices.map { source in
            let place = scope.sources[source]
            let conditions = tests[source].map { $0.text(place.table.columns) }
            // The equalities with tables before it.
            let matches = (outer[source] + inner.filter { max(scope.source(of: $0.left), scope.source(of: $0.right)) == source })
                .map { "\(text($0.left)) = \(text($0.right))" }
            let others = relations.filter { max(scope.source(of: $0.match.left), scope.source(of: $0.match.right)) == source }
                .map { "\(text($0.match.left)) \(SQLJoin.signs[$0.comparison] ?? "?") \(text($0.match.right))" }
            let verb = source == 0 ? "" : place.isOuter ? "left join " : "join "
            return verb + place.alias + (matches.isEmpty ? "" : " on " + (matches + others).joined(separator: ", "))
                + (conditions.isEmpty ? "" : " (\(conditions.joined(separator: ", ")))")
        }.joined(separator: " ")
    }

    private func text(_ column: Int) -> String { "\(scope.sources[scope.source(of: column)].alias).\(scope.columns[column].name)" }
    private static let signs = [FIRN_SQL_NE: "<>", FIRN_SQL_LT: "<", FIRN_SQL_LE: "<=", FIRN_SQL_GT: ">", FIRN_SQL_GE: ">="]

    // MARK: Before a run

    /// Returns whether the engine returns what SQLite would, for the rows of the tables as they are and for these values.
    func prepare(_ value: @escaping (SQLTest.Operand) -> SQLValue?) -> Bool {
        filters = []
        computed = [:]
        for (source, tests) in zip(scope.sources, tests) {
            guard let filter = SQLTestBinding(table: source.table, value: value).predicate(.and(tests)) else { return false }
            filters.append(filter)
        }
        choices = []
        kept = [:]
        for choice in choiceTests {
            var parts: [Choice] = []
            for (source, test) in choice.parts {
                let place = scope.sources[source]
                guard let predicate = SQLTestBinding(table: place.table, value: value).predicate(test.moved(by: place.first)) else {
                    return false
                }
                parts.append(
                    Choice(
                        source: source, columns: Set(test.columns).sorted(), predicate: predicate, holdsForNulls: test.holdsForNulls(value))
                )
            }
            choices.append(parts)
        }
        return (inner + outer.joined()).allSatisfy { kind(of: $0) != nil } && relations.allSatisfy { isOrdered($0.match) }
            && keys.allSatisfy(isKey) && measures.allSatisfy(isExact)
    }

    /// Reads tables with the columns of computed keys, and excludes the rows that do not satisfy computed conditions.
    func choose(_ codes: ComputedCodes) {
        computed = codes.tables
        for source in filters.indices { filters[source] = codes.filter(source, and: filters[source]) }
    }

    private func isKey(_ column: Int) -> Bool {
        // Zeros of both signs are one group.
        scope.isOrdered(column) && scope.columns[column].form != .real && scope.columns[column].form != .float
    }

    /// Returns how the values of an equality are compared, as SQLite compares them; nil if the engine does not compare them.
    func kind(of match: SQLMatch) -> JoinValues.Kind? {
        let left = scope.columns[match.left], right = scope.columns[match.right]
        guard !left.isLink, !right.isLink else { return nil }
        if let offset = match.offset {
            for (column, offset) in [(match.left, offset), (match.right, -offset)] {
                guard scope.columns[column].form == .int, let largest = scope.magnitude(column), largest <= 1 << 62,
                    offset.magnitude <= 1 << 60
                else { return nil }
            }
        }
        switch (left.form, right.form) {
        case (.int, .int), (.int, .bool), (.bool, .int), (.bool, .bool): return .words
        case (.real, .real), (.real, .float), (.float, .real), (.float, .float): return .reals
        case (.int, .real), (.int, .float), (.real, .int), (.float, .int), (.bool, .real), (.bool, .float), (.real, .bool), (.float, .bool):
            return .whole
        case (.text, .text), (.blob, .blob): return .bytes
        case (.date(let a), .date(let b)): return a == b && scope.isOrdered(match.left) && scope.isOrdered(match.right) ? .pairs : nil
        case (.uuid(let a), .uuid(let b)): return a == b ? .pairs : nil
        case (.objectID, .objectID): return .pairs
        default: return nil
        }
    }

    /// Whether the engine orders the sides of a comparison as SQLite does.
    private func isOrdered(_ match: SQLMatch) -> Bool {
        switch kind(of: match) {
        case .words: true
        case .reals: scope.isOrdered(match.left) && scope.isOrdered(match.right)
        default: false
        }
    }

    private func isExact(_ measure: SQLMeasure) -> Bool {
        guard let operand = measure.operand else { return true }
        guard !measure.function.isQuantile else { return false }
        guard let column = measure.column else { return operand.bound(scope, literals, isJoin: true) != nil }
        guard !scope.columns[column].isLink else { return false }
        let form = scope.columns[column].form
        switch (measure.function, form) {
        case (_, .any), (_, .json): return false
        case (.count, .decimal), (.count, .longDecimal), (.count, .date): return !measure.isDistinct || scope.isOrdered(column)
        case (.count, _), (.min, _), (.max, _): return scope.isOrdered(column)
        case (_, .real), (_, .float), (_, .int): return bound(of: measure) != nil
        default: return false
        }
    }

    /// Returns a bound of the magnitude of what a measure adds.
    private func bound(of measure: SQLMeasure) -> Double? {
        guard let column = measure.column else { return measure.operand?.bound(scope, literals, isJoin: true)?.magnitude }
        return scope.columns[column].form == .int ? scope.magnitude(column).map { Double($0) } : scope.realMagnitude(column)
    }

    /// Returns whether no sum of some of the rows of a result of `count` rows exceeds what SQLite and the engine add alike.
    func isExact(_ measure: SQLMeasure, count: Int) -> Bool {
        guard [.sum, .total, .avg].contains(measure.function), let operand = measure.operand else { return true }
        guard let bound = bound(of: measure) else { return false }
        let limit = operand.isReal(scope, literals) ? 1e300 : measure.function == .sum ? 0x1p62 : 0x1p53
        return bound * Double(count) <= limit
    }

    // MARK: The order of tables

    /// A table that is joined to those before it.
    struct Step {
        let source: Int
        let isOuter: Bool
        /// The equalities with tables before it, which are on the left.
        let matches: [SQLMatch]
    }

    /// Returns the steps that join all other tables to one of inner joins; nil if an equality is missing.
    /// The step with the lowest cost is first.
    func order(from first: Int, cost: (Int, [SQLMatch]) -> Double) -> [Step]? {
        guard !scope.sources[first].isOuter else { return nil }
        var known: Set<Int> = [first], steps: [Step] = []
        var left = scope.sources.indices.filter { $0 != first && !scope.sources[$0].isOuter }
        while !left.isEmpty {
            let possible = left.map { (source: $0, matches: matches(of: $0, known)) }.filter { !$0.matches.isEmpty }
            let costs = possible.count > 1 ? possible.map { cost($0.source, $0.matches) } : [0]
            guard let at = possible.indices.min(by: { costs[$0] < costs[$1] }) else { return nil }
            steps.append(Step(source: possible[at].source, isOuter: false, matches: possible[at].matches))
            known.insert(possible[at].source)
            left.removeAll { $0 == possible[at].source }
        }
        for source in scope.sources.indices where scope.sources[source].isOuter {
            steps.append(Step(source: source, isOuter: true, matches: outer[source]))
        }
        return steps
    }

    /// Returns the steps in the order of SQLite's loops; nil if an equality is missing.
    private func order(_ loops: [Int]) -> [Step]? {
        var known: Set<Int> = [loops[0]], steps: [Step] = []
        guard !scope.sources[loops[0]].isOuter else { return nil }
        for source in loops.dropFirst() {
            let isOuter = scope.sources[source].isOuter, matches = isOuter ? outer[source] : matches(of: source, known)
            guard !matches.isEmpty, matches.allSatisfy({ known.contains(scope.source(of: $0.left)) }) else { return nil }
            steps.append(Step(source: source, isOuter: isOuter, matches: matches))
            known.insert(source)
        }
        return steps
    }

    private func matches(of source: Int, _ known: Set<Int>) -> [SQLMatch] {
        inner.compactMap { match in
            let left = scope.source(of: match.left), right = scope.source(of: match.right)
            if right == source, known.contains(left) { return match }
            return left == source && known.contains(right) ? match.flipped : nil
        }
    }

    // MARK: Running

    /// The maximum number of rows of a table in memory, and of one that is read while its rows are counted.
    static let maximumRows = 1 << 26
    private static let maximumKept = 1 << 18

    func run() throws(FirnError) -> SQLGrouping.Result {
        defer { kept = [:] }
        var first = 0, steps: [Step]? = []
        if let loops {
            first = loops[0]
            steps = order(loops)
        } else if scope.sources.count > 1 {
            // The largest table is scanned, and those with the fewest rows for each row are joined first.
            let counts = try prefetch(), inner = scope.sources.indices.filter { !scope.sources[$0].isOuter }
            first = inner.max { counts[$0] < counts[$1] } ?? 0
            steps = order(from: first) { Double(counts[$0]) * (share($0, $1) + 1e-6) }
        }
        guard let steps else { throw FirnError(.unsupported, "SQLite joins these tables") }
        note()
        return try JoinRun(self, first: first, steps).run()
    }

    /// Estimates the probability that a row of a table has the values of another one in its columns of equalities.
    private func share(_ source: Int, _ matches: [SQLMatch]) -> Double {
        let place = scope.sources[source], columns = matches.map { $0.right - place.first }
        return (try? place.table.sample()?.share(columns)) ?? 1
    }

    /// Returns the number of rows of each table that satisfy its conditions. A table with few of them is read at the same time.
    private func prefetch() throws(FirnError) -> [Int] {
        var counts: [Int] = []
        for (source, filter) in zip(scope.sources.indices, filters) {
            let table = scope.sources[source].table
            guard filter != .constant(true) else {
                counts.append(table.table.rowCount)
                continue
            }
            var batches: [Batch] = [], count = 0, keeps = true
            let charge = MemoryCharge(table.table.memory)
            try forEachBatch(of: source, neededColumns(source)) { batch in
                count += batch.count
                keeps = count <= SQLJoin.maximumKept
                do { try charge.add(batch.columns.reduce(0) { $0 + $1.footprint }, for: "the rows of a join") } catch { keeps = false }
                if keeps { batches.append(batch) }
                return keeps
            }
            if keeps {
                kept[source] = (batches, charge)
            } else {
                count = try table.run(QueryRequest(parsed: QuerySyntax(filter)), on: computed[source]).count()
            }
            counts.append(count)
        }
        return counts
    }

    /// Returns the columns of a table that a run reads.
    func neededColumns(_ source: Int) -> [Int] {
        var found = Set(keys + measures.flatMap { $0.operand?.columns ?? [] })
        for match in inner + outer.joined() + relations.map(\.match) { found.formUnion([match.left, match.right]) }
        for part in choices.joined() { found.formUnion(part.columns) }
        return found.filter { scope.source(of: $0) == source }.sorted()
    }

    /// Whether a table has conditions.
    func isFiltered(_ source: Int) -> Bool { filters[source] != .constant(true) }

    /// Passes the rows of a table that satisfy its conditions to `body`, in the order of the table.
    func forEachBatch(
        of source: Int, _ columns: [Int], and more: PredicateSyntax? = nil, _ body: (Batch) throws(FirnError) -> Bool
    ) throws(FirnError) {
        if let known = kept.removeValue(forKey: source) {
            for batch in known.batches {
                guard try body(batch) else { return }
            }
            return
        }
        let table = scope.sources[source].table, filter = filters[source]
        let parts = [filter, more].compactMap { $0 }.filter { $0 != .constant(true) }
        let run = try table.run(
            QueryRequest(
                parsed: QuerySyntax(parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)),
                select: columns.map { scope.columns[$0].schema.name }), on: computed[source])
        try run.forEachBatch(body)
        table.work.add(run.statistics)
    }

    /// Counts the run among the plans of the tables.
    private func note() {
        let numbers =
            planNumbers
            ?? scope.sources.enumerated().map { index, source in
                let plan = SQLPlan()
                plan.description = index == 0 ? work : "joined to \(scope.sources[0].alias)"
                source.table.plans.append(plan)
                return source.table.plans.count - 1
            }
        planNumbers = numbers
        for (source, number) in zip(scope.sources, numbers) { source.table.note(number) }
    }
}
