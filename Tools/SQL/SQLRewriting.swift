import CSQLite
import FirnBytes
import FirnTable

/// A prepared statement that reads groups from the engine, in place of a statement that groups rows itself.
final class SQLRewriting {
    let statement: OpaquePointer
    let grouping: SQLGrouping

    init(_ statement: OpaquePointer, _ grouping: SQLGrouping) {
        self.statement = statement
        self.grouping = grouping
    }

    deinit {
        firn_sql_finalize(statement)
        grouping.table.context.groupings[grouping.number] = nil
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
        guard start < tokens.count, tokens[start].isWord("select") else { return nil }
        let number = context.nextGrouping
        guard let reader = try? SQLGroupReader(tokens, text.bytes, from: start + 1, number: number, find: table),
            let literals = try? values(reader.literals), let grouping = SQLGrouping(reader, literals: literals, number: number)
        else { return nil }
        if let join = grouping.join, join.needsLoops {
            let written = String(decoding: text.bytes[tokens[start].range.lowerBound...], as: UTF8.self)
            guard let loops = loops(written, join) else { return nil }
            join.loops = loops
        }
        context.groupings[number] = .init(grouping)
        guard let changed = text.replacing(reader.edits), let statement = preparedForGroups(changed) else {
            context.groupings[number] = nil
            return nil
        }
        return SQLRewriting(statement, grouping)
    }

    /// Returns the table that a statement names. A temporary table or view of the name would be read instead of it.
    private func table(_ name: String, isMain: Bool) -> SQLTable? {
        let found = tables.filter { NameTable.folded($0.name) == name }
        guard found.count == 1, !tables.contains(where: { SQLGroupTable.isReserved(NameTable.folded($0.name)) }) else { return nil }
        if isMain { return found[0] }
        let hidden = try? ownRows("SELECT 1 FROM temp.sqlite_master WHERE name = \(SQLSpelling.text(name)) COLLATE NOCASE LIMIT 1")
        return hidden?.isEmpty ?? false ? found[0] : nil
    }

    /// Returns the order in which SQLite would nest the tables of a join, outermost first; nil if the rows of the join might have another
    /// order.
    private func loops(_ sql: String, _ join: SQLJoin) -> [Int]? {
        let scope = join.scope
        guard let steps = try? ownRows("EXPLAIN QUERY PLAN " + sql) else { return nil }
        var loops: [Int] = []
        for step in steps {
            guard case .string(let text) = step[3] else { return nil }
            let folded = NameTable.folded(text)
            if folded.hasPrefix("use temp b-tree") { continue }
            // A table that is read in another order can determine that of distinct rows, but not the order of the rows of a group.
            guard !join.keepsOrder || !folded.contains("order by") else { return nil }
            guard let prefix = ["scan ", "search "].first(where: folded.hasPrefix) else { return nil }
            let rest = folded.dropFirst(prefix.count)
            let named = scope.sources.indices.filter { rest.hasPrefix(scope.sources[$0].alias + " virtual table") }
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
