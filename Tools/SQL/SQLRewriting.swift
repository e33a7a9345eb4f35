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
            let literals = try? values(reader.literals)
        else { return nil }
        let grouping = SQLGrouping(reader, literals: literals, number: number)
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
