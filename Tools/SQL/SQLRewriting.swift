import CSQLite
import FirnBytes
import FirnTable

/// A prepared statement that reads groups from the engine, in place of a statement that groups rows itself.
final class SQLRewriting {
    let statement: OpaquePointer
    let groupings: [SQLGrouping]
    /// Whether the groups are computed before the first step, because SQLite might ask for them after the first row of the result.
    let runsFirst: Bool

    init(_ statement: OpaquePointer, _ groupings: [SQLGrouping], runsFirst: Bool) {
        self.statement = statement
        self.groupings = groupings
        self.runsFirst = runsFirst
    }

    deinit {
        firn_sql_finalize(statement)
        for grouping in groupings { grouping.table.context.groupings[grouping.number] = nil }
    }
}

extension SQLConnection {
    /// Returns a statement with the same rows as the statement at `range` of a text, whose groups the engine computes; nil if SQLite must
    /// execute the statement as it is. SQLite has already prepared it, so that errors and names are those of its text.
    func rewriting(_ sql: [CChar], _ range: Range<Int>) -> SQLRewriting? {
        let text = SQLStatements(Array(sql[range]))
        guard String(validating: text.bytes, as: UTF8.self) != nil else { return nil }
        var tokens = text.tokens(0..<text.bytes.count), start = 0
        if tokens.last?.isSymbol(";") ?? false { tokens.removeLast() }
        if tokens.count > 3, tokens[0].isWord("explain"), tokens[1].isWord("query"), tokens[2].isWord("plan") { start = 3 }
        guard let syntax = SQLSyntax(tokens, text.bytes, from: start) else { return nil }
        let written = String(decoding: text.bytes[tokens[start].range.lowerBound...], as: UTF8.self)
        if let whole = grouping(syntax, syntax.main, written, isPart: false) {
            let edits = whole.edits + syntax.numberedParameters(outside: [syntax.main])
            return prepared(text.replacing(edits), whole.groupings, runsFirst: start == 0 && whole.groupings.count > 1)
        }
        // SELECTs in parentheses that do not depend on the statement around them.
        var groupings: [SQLGrouping] = [], ranges: [Range<Int>] = [], edits: [(range: Range<Int>, text: String)] = []
        for range in syntax.nested(in: start..<tokens.count) where !ranges.contains(where: { $0.contains(range.lowerBound) }) {
            guard groupings.count < SQLConnection.maximumGroupings, let part = grouping(syntax, range, written, isPart: true) else {
                continue
            }
            groupings += part.groupings
            ranges.append(range)
            edits += part.edits
        }
        guard !groupings.isEmpty else { return nil }
        edits += syntax.numberedParameters(outside: ranges)
        guard let changed = text.replacing(edits), hasSamePlan(written, changed, from: tokens[start].range.lowerBound, groupings) else {
            return nil
        }
        return prepared(changed, groupings, runsFirst: start == 0)
    }

    /// The maximum number of SELECTs of a statement whose groups the engine computes.
    private static let maximumGroupings = 16

    /// Returns the groupings of a SELECT and of the SELECTs in its expressions, and the changes of its text; nil if SQLite must execute it.
    private func grouping(
        _ syntax: SQLSyntax, _ range: Range<Int>, _ written: String, isPart: Bool
    ) -> (groupings: [SQLGrouping], edits: [(range: Range<Int>, text: String)])? {
        let number = context.nextGrouping
        guard let reader = try? SQLGroupReader(syntax, range, number: number, isPart: isPart, find: table),
            let literals = try? values(reader.literals),
            let grouping = SQLGrouping(
                reader, literals: literals, number: number,
                evaluate: { [weak self] (sql) throws(FirnError) in try self?.ownRows(sql) ?? [] })
        else { return nil }
        if let join = grouping.join, join.needsLoops {
            guard let loops = loops(written, join, isPart: isPart) else { return nil }
            join.loops = loops
        }
        var groupings = [grouping], edits = reader.edits
        guard reader.subqueries.count < SQLConnection.maximumGroupings else { return nil }
        for subquery in reader.subqueries {
            guard let part = self.grouping(syntax, subquery, written, isPart: true) else { return nil }
            groupings += part.groupings
            edits += part.edits
        }
        return (groupings, edits)
    }

    private func prepared(_ text: [CChar]?, _ groupings: [SQLGrouping], runsFirst: Bool) -> SQLRewriting? {
        for grouping in groupings { context.groupings[grouping.number] = .init(grouping) }
        guard let text, let statement = preparedForGroups(text) else {
            for grouping in groupings { context.groupings[grouping.number] = nil }
            return nil
        }
        return SQLRewriting(statement, groupings, runsFirst: runsFirst)
    }

    /// Returns the table that a statement names. A temporary table or view of the name would be read instead of it.
    private func table(_ name: String, isMain: Bool) -> SQLTable? {
        let found = tables.filter { NameTable.folded($0.name) == name }
        guard found.count == 1, !tables.contains(where: { SQLGroupTable.isReserved(NameTable.folded($0.name)) }) else { return nil }
        if isMain { return found[0] }
        let hidden = try? ownRows("SELECT 1 FROM temp.sqlite_master WHERE name = \(SQLSpelling.text(name)) COLLATE NOCASE LIMIT 1")
        return hidden?.isEmpty ?? false ? found[0] : nil
    }

    /// A step of SQLite's plan.
    private struct PlanStep {
        let parent: Int64
        let id: Int64
        let text: String

        /// Whether a step reads a table.
        static func table(_ source: SQLScope.Source, _ text: String) -> Bool {
            guard let prefix = ["scan ", "search "].first(where: text.hasPrefix) else { return false }
            return source.planNames.contains { text.dropFirst(prefix.count).hasPrefix($0 + " virtual table") }
        }
    }

    private func steps(_ rows: [[Value]]) -> [PlanStep]? {
        var steps: [PlanStep] = []
        for row in rows {
            guard case .int(let id) = row[0], case .int(let parent) = row[1], case .string(let text) = row[3] else { return nil }
            steps.append(PlanStep(parent: parent, id: id, text: NameTable.folded(text)))
        }
        return steps
    }

    /// Returns whether SQLite executes a statement and its changed text in the same way, except for the SELECTs whose groups are computed. Then
    /// the order of rows is the same, on which sums of doubles depend.
    private func hasSamePlan(_ written: String, _ changed: [CChar], from start: Int, _ groupings: [SQLGrouping]) -> Bool {
        for grouping in groupings { context.groupings[grouping.number] = .init(grouping) }
        let explained = Array("EXPLAIN QUERY PLAN ".utf8CString.dropLast()) + changed[start...]
        guard let rows = try? ownRows("EXPLAIN QUERY PLAN " + written), let before = steps(rows),
            let prepared = preparedForGroups(explained), let rows = try? SQLStatement(prepared, self).allRows(), let after = steps(rows)
        else {
            forgetErrors()
            return false
        }
        let groups = groupings.map { ":" + NameTable.folded($0.description) }
        func isSame(_ first: Int64, _ second: Int64) -> Bool {
            let a = before.filter { $0.parent == first }, b = after.filter { $0.parent == second }
            // The steps of a computed SELECT have a parent of their own.
            if second != 0, b.contains(where: { step in groups.contains(where: step.text.hasSuffix) }) { return true }
            return a.map(\.text) == b.map(\.text) && zip(a, b).allSatisfy { isSame($0.id, $1.id) }
        }
        return isSame(0, 0)
    }

    /// Returns the order in which SQLite would nest the tables of a join, outermost first; nil if the rows of the join might have another
    /// order. `isPart`: the join is in a subquery of the statement.
    private func loops(_ sql: String, _ join: SQLJoin, isPart: Bool) -> [Int]? {
        guard let rows = try? ownRows("EXPLAIN QUERY PLAN " + sql), let steps = steps(rows) else { return nil }
        guard isPart else { return steps.allSatisfy { $0.parent == 0 } ? loops(steps, join) : nil }
        // The steps of a subquery have a parent of their own.
        var found: [Int]?
        for parent in Set(steps.map(\.parent)) {
            let own = steps.filter { $0.parent == parent }
            guard own.contains(where: { step in join.scope.sources.contains { PlanStep.table($0, step.text) } }) else { continue }
            guard let loops = loops(own, join), found == nil || found == loops else { return nil }
            found = loops
        }
        return found
    }

    /// Returns the order of the tables of a join in the steps of one SELECT.
    private func loops(_ steps: [PlanStep], _ join: SQLJoin) -> [Int]? {
        let scope = join.scope
        var loops: [Int] = []
        for step in steps where !step.text.hasPrefix("use temp b-tree") {
            // A table that is read in another order can determine that of distinct rows, but not the order of the rows of a group.
            guard !join.keepsOrder || !step.text.contains("order by") else { return nil }
            let named = scope.sources.indices.filter { PlanStep.table(scope.sources[$0], step.text) }
            guard named.count == 1, !loops.contains(named[0]) else { return nil }
            loops.append(named[0])
        }
        return loops.count == scope.sources.count ? loops : nil
    }

    /// Returns the values of literals, as SQLite reads them.
    private func values(_ literals: [String]) throws(FirnError) -> [SQLValue] {
        guard !literals.isEmpty else { return [] }
        let row = try ownRows("SELECT " + literals.joined(separator: ",\n"))[0]
        return row.compactMap { SQLValue($0) }
    }
}

extension SQLStatements {
    /// Returns the text with some ranges replaced; nil if they overlap.
    func replacing(_ edits: [(range: Range<Int>, text: String)]) -> [CChar]? {
        var out: [UInt8] = [], at = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            guard edit.range.lowerBound >= at else { return nil }
            out += bytes[at..<edit.range.lowerBound]
            out += edit.text.utf8
            at = edit.range.upperBound
        }
        out += bytes[at...]
        return out.map { CChar(bitPattern: $0) }
    }
}
