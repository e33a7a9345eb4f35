import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// One run of a join. One table is scanned in batches; the rows of the others are in memory, and are found by the numbers of their values.
/// The rows of the result pass through the steps in chunks, in the order of nested loops.
final class JoinRun {
    let join: SQLJoin
    let scope: SQLScope
    /// The table that is scanned.
    private let first: Int
    private var steps: [JoinStep]
    /// The columns that are needed, by number: of tables in memory all rows, of the scanned table the rows of the batch.
    private var columns: [Column]
    /// For each step, and after the last one, the rows of each table in the current chunk.
    private var levels: [[[UInt32]]]
    /// For each level, the tables whose rows are still needed there.
    private var needed: [[Int]] = []
    /// For each level, the comparisons that its rows must satisfy.
    private var relations: [[(match: SQLMatch, comparison: Int)]]
    private var keys: JoinKeys
    private var measures: [JoinMeasure]
    /// The numbers of the values of columns whose texts or dates are measured.
    private var numbered: [Int: (values: JoinValues, numbers: [UInt32])] = [:]
    /// For each condition of an aggregate and each of its tables, whether it holds for the table's rows.
    private var chosen: [[[Bool]]]
    private var charges: [MemoryCharge] = []
    private var groupCharge: MemoryCharge?

    /// The maximum number of rows in a chunk.
    private static let chunk = 4096

    init(_ join: SQLJoin, first: Int, _ steps: [SQLJoin.Step]) {
        self.join = join
        scope = join.scope
        self.first = first
        self.steps = steps.map { JoinStep($0, $0.matches.map { JoinValues(join.kind(of: $0) ?? .words) }) }
        columns = [Column](repeating: Column(ColumnType(.int)), count: scope.columns.count)
        levels = [[[UInt32]]](repeating: [[UInt32]](repeating: [], count: join.scope.sources.count), count: steps.count + 1)
        var place = [Int](repeating: 0, count: join.scope.sources.count)
        for (i, step) in steps.enumerated() { place[step.source] = i + 1 }
        relations = (0...steps.count).map { level in
            join.relations.filter {
                max(place[join.scope.source(of: $0.match.left)], place[join.scope.source(of: $0.match.right)]) == level
            }
        }
        keys = JoinKeys(join.keys, join.scope)
        measures = join.measures.map { JoinMeasure($0, join) }
        chosen = join.choices.map { $0.map { _ in [] } }
        for column in measures.compactMap(\.numbered) where numbered[column] == nil {
            numbered[column] = (JoinValues(JoinKeys.kind(scope.columns[column].form)), [])
        }
        for level in 0...steps.count {
            var sources = Set(measures.flatMap { $0.measure.operand?.columns ?? [] }.map(scope.source))
            sources.formUnion(keys.sources + join.choices.joined().map(\.source))
            for step in steps[level...] { sources.formUnion(step.matches.map { scope.source(of: $0.left) }) }
            for relation in relations[level...].joined() {
                sources.formUnion([relation.match.left, relation.match.right].map(scope.source))
            }
            needed.append(sources.sorted())
        }
    }

    func run() throws(FirnError) -> SQLGrouping.Result {
        for at in steps.indices { try build(at) }
        let needed = join.neededColumns(first)
        try join.forEachBatch(of: first, needed, and: restriction()) { (batch) throws(FirnError) in
            for (column, values) in zip(needed, batch.columns) { columns[column] = values }
            for at in steps.indices { steps[at].number(left: first, scope, columns) }
            number(first)
            try choose(first, batch.count)
            for start in stride(from: 0, to: batch.count, by: JoinRun.chunk) {
                let end = min(batch.count, start + JoinRun.chunk)
                levels[0][first] = (start..<end).map { UInt32(truncatingIfNeeded: $0) }
                try extend(0, end - start)
            }
            try hold()
            return true
        }
        for measure in measures where !join.isExact(measure.measure, count: keys.count) {
            throw FirnError(.unsupported, "SQLite adds the values of this statement")
        }
        return result()
    }

    // MARK: Tables in memory

    private func build(_ at: Int) throws(FirnError) {
        let source = steps[at].source, needed = join.neededColumns(source), table = scope.sources[source].table
        var read: [Column] = needed.map { Column(scope.columns[$0].schema, in: table.table.schema) }
        var count = 0
        let charge = MemoryCharge(table.table.memory), purpose = "the rows of type \"\(table.table.type.name)\" in a join"
        func hold(_ bytes: Int) throws(FirnError) {
            do throws(Damage) { try charge.add(bytes, for: purpose) } catch { throw table.damaged(error) }
        }
        try join.forEachBatch(of: source, needed) { (batch) throws(FirnError) in
            try hold(batch.columns.reduce(0) { $0 + $1.footprint })
            count += batch.count
            guard count <= SQLJoin.maximumRows else { throw FirnError(.unsupported, "SQLite joins these tables") }
            for i in read.indices {
                if read[i].count == 0 { read[i] = batch.columns[i] } else { read[i].append(contentsOf: batch.columns[i]) }
            }
            return true
        }
        for (column, values) in zip(needed, read) { columns[column] = values }
        steps[at].index(columns)
        for earlier in 0..<at { steps[at].number(left: steps[earlier].source, scope, columns) }
        number(source)
        try choose(source, count)
        try hold(steps[at].bytes)
        charges.append(charge)
    }

    /// Numbers the values of a table's columns by which rows are grouped, or which are measured.
    private func number(_ source: Int) {
        keys.number(source, columns)
        for column in numbered.keys where scope.source(of: column) == source {
            guard var one = numbered.removeValue(forKey: column) else { continue }
            one.numbers = one.values.numbers(columns[column], adds: true)
            numbered[column] = one
        }
    }

    /// Finds the rows of a table, or of a batch of it, that satisfy the conditions of aggregates.
    private func choose(_ source: Int, _ count: Int) throws(FirnError) {
        for (i, parts) in join.choices.enumerated() {
            for (j, part) in parts.enumerated() where part.source == source { chosen[i][j] = try rows(part, count) }
        }
    }

    /// Returns whether a condition holds for each row.
    private func rows(_ part: SQLJoin.Choice, _ count: Int) throws(FirnError) -> [Bool] {
        if case .constant(let holds) = part.predicate { return [Bool](repeating: holds, count: count) }
        guard count > 0 else { return [] }
        var described = part.columns.map { scope.columns[$0].schema }, numbers = Column(ColumnType(.int))
        // The name must differ from those of the columns.
        let longest = described.map { $0.name.utf8.count }.max() ?? 0, name = String(repeating: "#", count: longest + 1)
        described.append(ColumnSchema(name, ColumnType(.int)))
        numbers.words = (0..<Int64(count)).map { $0 }
        numbers.count = count
        let type = TypeSchema("rows", columns: described),
            batch = Batch(count: count, columns: part.columns.map { columns[$0] } + [numbers])
        let table = MemoryTable(type, schema: Schema([type]), batches: [batch]), run: QueryRun
        do throws(QueryError) {
            run = try QueryRun(QueryRequest(parsed: QuerySyntax(part.predicate), select: [name]), table: table)
        } catch { throw error.asFirnError }
        var holds = [Bool](repeating: false, count: count)
        try run.forEachBatch { found in
            for row in found.columns[0].words { holds[Int(row)] = true }
            return true
        }
        return holds
    }

    /// Returns a condition that excludes rows of the scanned table without a match, if few values have one.
    private func restriction() -> PredicateSyntax? {
        var parts: [PredicateSyntax] = []
        for step in steps where !step.isOuter {
            for (match, values) in zip(step.matches, step.values) where scope.source(of: match.left) == first {
                guard [.int, .text].contains(scope.columns[match.left].form) else { continue }
                guard let known = values.constants(limit: join.isFiltered(step.source) ? 200 : 4, offset: match.offset ?? 0) else {
                    continue
                }
                let path = ExpressionSyntax.path(PathSyntax([.name(scope.columns[match.left].schema.name)]))
                let constants = known.map { ExpressionSyntax.constant(ConstantSyntax($0)) }
                guard let one = constants.first else { return .constant(false) }
                parts.append(
                    .comparison(
                        constants.count == 1
                            ? ComparisonSyntax(path, .equal, one) : ComparisonSyntax(path, .isIn, .list(nil, constants, .init()))))
            }
        }
        return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
    }

    private func hold() throws(FirnError) {
        groupCharge = nil
        let bytes =
            measures.reduce(keys.bytes) { $0 + $1.bytes } + numbered.values.reduce(0) { $0 + $1.values.bytes + $1.numbers.count * 4 }
        let table = scope.sources[first].table
        do throws(Damage) { groupCharge = try table.table.memory.holding(bytes, for: "the groups of a join") } catch {
            throw table.damaged(error)
        }
    }

    // MARK: Rows of the result

    /// Joins the tables of the steps from `level` on to a chunk.
    private func extend(_ level: Int, _ count: Int) throws(FirnError) {
        try scope.sources[first].table.context.checkStopped()
        let count = relations[level].isEmpty ? count : filter(level, count)
        guard level < steps.count else { return add(count) }
        let numbers = steps[level].numbers(levels[level], count), none = JoinNumbers.none
        let starts = steps[level].starts, rows = steps[level].rows, isOuter = steps[level].isOuter, isUnique = steps[level].isUnique
        var parents = [UInt32](repeating: 0, count: JoinRun.chunk), found = [UInt32](repeating: none, count: JoinRun.chunk), n = 0
        for i in 0..<count {
            let number = numbers[i], hasNumber = number != none
            let range = hasNumber && !isUnique ? Int(starts[Int(number)])..<Int(starts[Int(number) &+ 1]) : 0..<0
            if range.isEmpty {
                let row = hasNumber && isUnique ? rows[Int(number)] : none
                guard isOuter || row != none else { continue }
                parents[n] = UInt32(truncatingIfNeeded: i)
                found[n] = row
                n &+= 1
            }
            for at in range {
                parents[n] = UInt32(truncatingIfNeeded: i)
                found[n] = rows[at]
                n &+= 1
                if n == JoinRun.chunk {
                    try pass(level, parents, found, count: n)
                    n = 0
                }
            }
            if n == JoinRun.chunk {
                try pass(level, parents, found, count: n)
                n = 0
            }
        }
        if n > 0 { try pass(level, parents, found, count: n) }
    }

    /// Removes the rows of a chunk that do not satisfy the comparisons of a level, and returns the number of the others.
    private func filter(_ level: Int, _ count: Int) -> Int {
        var keeps = [Bool](repeating: true, count: count)
        for (match, comparison) in relations[level] {
            let left = vector(match.left, levels[level], count), right = vector(match.right, levels[level], count)
            for i in 0..<count where !left.valid.isEmpty && !left.valid[i] || !right.valid.isEmpty && !right.valid[i] { keeps[i] = false }
            if left.isReal {
                for i in 0..<count where keeps[i] { keeps[i] = JoinRun.holds(comparison, left.reals[i], right.reals[i]) }
            } else {
                let offset = match.offset ?? 0
                for i in 0..<count where keeps[i] { keeps[i] = JoinRun.holds(comparison, left.words[i] &+ offset, right.words[i]) }
            }
        }
        var n = 0
        for source in needed[level] where !levels[level][source].isEmpty {
            var rows = levels[level][source]
            levels[level][source] = []
            n = 0
            for i in 0..<count where keeps[i] {
                rows[n] = rows[i]
                n &+= 1
            }
            levels[level][source] = rows
        }
        return n
    }

    @inline(__always)
    private static func holds<T: Comparable>(_ comparison: Int, _ left: T, _ right: T) -> Bool {
        switch comparison {
        case FIRN_SQL_LT: left < right
        case FIRN_SQL_LE: left <= right
        case FIRN_SQL_GT: left > right
        case FIRN_SQL_GE: left >= right
        default: left != right
        }
    }

    /// Passes rows to the next level: for each one the row of the chunk that it extends, and the row of the new table.
    private func pass(_ level: Int, _ parents: [UInt32], _ found: [UInt32], count: Int) throws(FirnError) {
        for source in needed[level + 1] {
            var out = levels[level + 1][source]
            levels[level + 1][source] = []
            if out.count < JoinRun.chunk { out = [UInt32](repeating: 0, count: JoinRun.chunk) }
            if source == steps[level].source {
                for j in 0..<count { out[j] = found[j] }
            } else {
                let from = levels[level][source]
                if !from.isEmpty { for j in 0..<count { out[j] = from[Int(parents[j])] } }
            }
            levels[level + 1][source] = out
        }
        try extend(level + 1, count)
    }

    /// Adds the rows of a chunk to their groups.
    private func add(_ count: Int) {
        let rows = levels[steps.count], groups = keys.groups(rows, count), used = chosen.indices.map { kept($0, rows, count) }
        for measure in measures {
            let kept = measure.choice.map { used[$0] }
            measure.grow(to: keys.groupCount)
            if let column = measure.numbered, let known = numbered[column] {
                var numbers = JoinStep.gather(known.numbers, rows[scope.source(of: column)], count)
                if let kept { for i in 0..<count where !kept[i] { numbers[i] = JoinNumbers.none } }
                measure.add(numbers, known.values, groups)
            } else if measure.isPresenceOnly {
                let column = measure.measure.column.flatMap { scope.isOptional($0) ? $0 : nil }
                guard column != nil || kept != nil else { continue }
                var values = column.map { vector($0, rows, count, valued: false) } ?? JoinVector()
                values.keep(kept)
                measure.count(values, groups, count)
            } else if let operand = measure.measure.operand {
                var values = value(operand, rows, count)
                values.keep(kept)
                measure.add(values, groups, count)
            }
        }
    }

    /// Returns whether a condition of aggregates holds for the rows of a chunk.
    private func kept(_ choice: Int, _ rows: [[UInt32]], _ count: Int) -> [Bool] {
        var kept = [Bool](repeating: true, count: count)
        for (part, holds) in zip(join.choices[choice], chosen[choice]) {
            let rows = rows[part.source]
            for i in 0..<count { kept[i] = kept[i] && (rows[i] == JoinNumbers.none ? part.holdsForNulls : holds[Int(rows[i])]) }
        }
        return kept
    }

    // MARK: Values

    private func value(_ operand: SQLOperand, _ rows: [[UInt32]], _ count: Int) -> JoinVector {
        switch operand {
        case .column(let column): return vector(column, rows, count)
        case .literal(let index):
            switch join.literals[index] {
            case .int(let x): return JoinVector(words: [Int64](repeating: x, count: count))
            case .real(let x): return JoinVector(reals: [Double](repeating: x, count: count), isReal: true)
            default: trap("literals of measures are numbers")
            }
        case .pair(let sign, let left, let right):
            return JoinVector(sign, value(left, rows, count), value(right, rows, count), count: count)
        }
    }

    /// Returns the values of a column in the rows of a chunk.
    private func vector(_ index: Int, _ rows: [[UInt32]], _ count: Int, valued: Bool = true) -> JoinVector {
        let column = columns[index], source = scope.source(of: index), rows = rows[source]
        var out = JoinVector(isReal: scope.columns[index].form == .real || scope.columns[index].form == .float)
        if scope.sources[source].isOuter || column.present != nil {
            out.valid = [Bool](repeating: true, count: count)
            for i in 0..<count { out.valid[i] = rows[i] != JoinNumbers.none && column.isPresent(Int(rows[i])) }
        }
        guard valued else { return out }
        if out.isReal {
            out.reals = [Double](repeating: 0, count: count)
            if out.valid.isEmpty {
                for i in 0..<count { out.reals[i] = column.reals[Int(rows[i])] }
            } else {
                for i in 0..<count where out.valid[i] { out.reals[i] = column.reals[Int(rows[i])] }
            }
        } else {
            out.words = [Int64](repeating: 0, count: count)
            if out.valid.isEmpty {
                for i in 0..<count { out.words[i] = column.words[Int(rows[i])] }
            } else {
                for i in 0..<count where out.valid[i] { out.words[i] = column.words[Int(rows[i])] }
            }
        }
        return out
    }

    // MARK: The result

    private func result() -> SQLGrouping.Result {
        // Without GROUP BY there is one group, also of no rows.
        for measure in measures { measure.grow(to: max(1, keys.groupCount)) }
        let groups = keys.seen, hits = keys.hits
        var out: [Column] = join.keys.indices.map { key in
            var column = Column(scope.columns[join.keys[key]].schema.type.element(optional: true))
            keys.append(key, groups, to: &column)
            return column
        }
        for measure in measures {
            let source = measure.measure.column.map { scope.columns[$0].schema.type.element(optional: true) }
            out.append(measure.result(groups, hits, source, values: measure.numbered.flatMap { numbered[$0]?.values }))
        }
        return .init(count: groups.count, columns: out)
    }
}

extension ColumnType {
    /// A type of the same single values.
    fileprivate func element(optional: Bool) -> ColumnType { ColumnType(kind, optional: optional) }
}
