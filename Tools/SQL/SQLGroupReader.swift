import FirnTable

/// The error for a statement that SQLite executes alone.
struct NotGrouped: Error {}

/// Reads a SELECT with groups or aggregates, of one table or of a join, and collects the changes of its text with which it reads the groups from
/// `SQLGroupTable`. Whatever is not known for certain throws `NotGrouped`. SQLite has already accepted the statement.
struct SQLGroupReader {
    let tokens: [SQLToken]
    let bytes: [UInt8]
    /// For each token that is a parameter its number.
    let parameters: [Int]
    /// The tables of FROM.
    var scope = SQLScope()
    /// The name by which the statement calls the first table, as it writes it.
    var spelling = ""
    /// Whether the statement is SELECT DISTINCT of columns, whose rows have the order of the first rows.
    private(set) var isDistinct = false

    /// The columns by which the rows are grouped.
    private(set) var keys: [Int] = []
    var measures: [SQLMeasure] = []
    /// The conditions of WHERE and ON. `outer`: the table of the LEFT JOIN that the condition belongs to.
    var conditions: [(test: SQLTest, outer: Int?)] = []
    /// The literals of aggregates and of the test as written.
    var literals: [String] = []
    /// The changes of the text.
    var edits: [(range: Range<Int>, text: String)] = []

    /// A result column: its tokens, without those of the alias.
    private struct Item {
        var tokens: Range<Int>
        var alias: String?
    }
    private var items: [Item] = []
    /// The aliases of the result columns.
    var aliases: Set<String> { Set(items.compactMap(\.alias)) }

    /// Reads the tokens of a statement. `find` returns the table of a name with certainty, or nil.
    init(_ tokens: [SQLToken], _ bytes: [UInt8], from start: Int, number: Int, find: (_ name: String, _ isMain: Bool) -> SQLTable?)
        throws(NotGrouped)
    {
        self.tokens = tokens
        self.bytes = bytes
        parameters = SQLGroupReader.numbers(tokens)
        guard !tokens[start...].contains(where: { $0.kind == .other || SQLGroupReader.isForeign($0) }) else { throw NotGrouped() }
        let clauses = try SQLGroupReader.clauses(tokens, start)
        try readFrom(clauses.from, find)
        if let condition = clauses.condition { try readCondition(condition) }
        for part in try split(clauses.items) { items.append(try item(part)) }
        if let group = clauses.group { try readKeys(group) } else if clauses.isDistinct { readDistinct() }
        for item in items { _ = try readExpression(item.tokens, seesAliases: false) }
        if let having = clauses.having {
            guard clauses.group != nil else { throw NotGrouped() }
            _ = try readExpression(having, seesAliases: true)
        }
        if let order = clauses.order { for term in try split(order) { try readOrder(term) } }
        if let limit = clauses.limit { try readLimit(limit) }
        guard clauses.group != nil || !keys.isEmpty || !measures.isEmpty, measures.count <= SQLGroupTable.measures else {
            throw NotGrouped()
        }

        let end = clauses.condition?.upperBound ?? clauses.from.upperBound
        edits.append(
            (
                tokens[clauses.from.lowerBound - 1].range.lowerBound..<tokens[end - 1].range.upperBound,
                "FROM main.\(SQLGroupTable.name)(\(number)) AS \(spelling)"
            ))
    }

    /// Whether a token has a meaning that is not handled.
    private static func isForeign(_ token: SQLToken) -> Bool {
        guard token.isName else { return false }
        // Names of the table of groups would be taken for its columns.
        if SQLGroupTable.isReserved(token.text) { return true }
        return token.kind == .word
            && ["select", "over", "filter", "exists", "raise", "union", "intersect", "except", "window", "values", "indexed", "with"]
                .contains(token.text)
    }

    /// Returns the numbers that SQLite gives to parameters; 0 for other tokens.
    private static func numbers(_ tokens: [SQLToken]) -> [Int] {
        var known: [String: Int] = [:], largest = 0
        return tokens.map { token in
            guard token.kind == .parameter else { return 0 }
            if token.text.hasPrefix("?") {
                let number = Int(token.text.dropFirst()) ?? largest + 1
                largest = max(largest, number)
                return number
            }
            if let number = known[token.text] { return number }
            largest += 1
            known[token.text] = largest
            return largest
        }
    }

    // MARK: Clauses

    private struct Clauses {
        var items: Range<Int>, from: Range<Int>
        var isDistinct: Bool
        var condition: Range<Int>?, group: Range<Int>?, having: Range<Int>?, order: Range<Int>?, limit: Range<Int>?
    }

    /// Divides a statement at the keywords outside of parentheses, which must have the order of the grammar.
    private static func clauses(_ tokens: [SQLToken], _ start: Int) throws(NotGrouped) -> Clauses {
        var marks: [(keyword: Int, first: Int, end: Int)] = [], depth = 0, at = start
        guard at < tokens.count, tokens[at].isWord("select") == false else { throw NotGrouped() }
        if tokens[at].isWord("distinct") || tokens[at].isWord("all") { at += 1 }
        let first = at
        let keywords = ["from", "where", "group", "having", "order", "limit"]
        while at < tokens.count {
            if tokens[at].isSymbol("(") { depth += 1 }
            if tokens[at].isSymbol(")") { depth -= 1 }
            guard depth >= 0 else { throw NotGrouped() }
            if depth == 0, tokens[at].kind == .word, let keyword = keywords.firstIndex(of: tokens[at].text) {
                let hasBy = keyword == 2 || keyword == 4
                guard keyword > marks.last?.keyword ?? -1, !hasBy || at + 1 < tokens.count && tokens[at + 1].isWord("by") else {
                    throw NotGrouped()
                }
                if !marks.isEmpty { marks[marks.count - 1].end = at }
                at += hasBy ? 1 : 0
                marks.append((keyword, at + 1, tokens.count))
            }
            at += 1
        }
        guard depth == 0, let from = marks.first, from.keyword == 0, from.first - 1 > first else { throw NotGrouped() }
        func clause(_ keyword: Int) throws(NotGrouped) -> Range<Int>? {
            guard let mark = marks.first(where: { $0.keyword == keyword }) else { return nil }
            guard mark.first < mark.end else { throw NotGrouped() }
            return mark.first..<mark.end
        }
        guard let table = try clause(0) else { throw NotGrouped() }
        return Clauses(
            items: first..<from.first - 1, from: table, isDistinct: tokens[start].isWord("distinct"), condition: try clause(1),
            group: try clause(2), having: try clause(3),
            order: try clause(4), limit: try clause(5))
    }

    /// Divides tokens at the commas outside of parentheses.
    func split(_ range: Range<Int>) throws(NotGrouped) -> [Range<Int>] {
        var parts: [Range<Int>] = [], depth = 0, first = range.lowerBound
        for at in range {
            if tokens[at].isSymbol("(") { depth += 1 }
            if tokens[at].isSymbol(")") { depth -= 1 }
            if depth == 0, tokens[at].isSymbol(",") {
                parts.append(first..<at)
                first = at + 1
            }
        }
        parts.append(first..<range.upperBound)
        guard parts.allSatisfy({ !$0.isEmpty }) else { throw NotGrouped() }
        return parts
    }

    /// Separates the alias of a result column.
    private func item(_ range: Range<Int>) throws(NotGrouped) -> Item {
        let last = range.upperBound - 1
        guard range.count > 1, tokens[last].isName || tokens[last].kind == .text else { return Item(tokens: range) }
        var name = tokens[last].text
        if tokens[last].kind == .text { name = NameTable.folded(String(name.dropFirst().dropLast())).replacing("''", with: "'") }
        if range.count > 2, tokens[last - 1].isWord("as") { return Item(tokens: range.lowerBound..<last - 1, alias: name) }
        if tokens[last].kind == .word, SQLKeywords.all.contains(name) { return Item(tokens: range) }
        // A name after a whole expression is its alias.
        var trial = self
        guard (try? trial.readExpression(range.lowerBound..<last, seesAliases: false, isTrial: true)) ?? false else {
            return Item(tokens: range)
        }
        return Item(tokens: range.lowerBound..<last, alias: name)
    }

    // MARK: Names

    /// Returns the column that the tokens at `at` name, and the index after them; nil if they name none.
    func column(_ at: Int, before end: Int) -> (column: Int, next: Int)? {
        guard at < end, tokens[at].isName else { return nil }
        var name = at
        if at + 1 < end, tokens[at + 1].isSymbol(".") {
            guard at + 2 < end, tokens[at + 2].isName else { return nil }
            name = at + 2
            if name + 1 < end, tokens[name + 1].isSymbol(".") { return nil }
        }
        if tokens[name].kind == .word, SQLKeywords.all.contains(tokens[name].text), !SQLKeywords.names.contains(tokens[name].text) {
            return nil
        }
        if name + 1 < end, tokens[name + 1].isSymbol("(") { return nil }
        return scope.column(tokens[name].text, of: name == at ? nil : tokens[at].text).map { ($0, name + 1) }
    }

    func bytes(_ range: Range<Int>) -> Range<Int> {
        tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
    }

    /// Returns the column that all of the tokens name.
    private func wholeColumn(_ range: Range<Int>) -> Int? {
        guard let (column, next) = column(range.lowerBound, before: range.upperBound), next == range.upperBound else { return nil }
        return column
    }

    // MARK: Groups and order

    private mutating func readKeys(_ range: Range<Int>) throws(NotGrouped) {
        var columns: [Int] = []
        for term in try split(range) {
            let token = tokens[term.lowerBound]
            if let column = wholeColumn(term) {
                columns.append(column)
            } else if term.count == 1, token.kind == .number, let number = Int(token.text), items.indices.contains(number - 1),
                let column = wholeColumn(items[number - 1].tokens)
            {
                columns.append(column)
            } else if term.count == 1, token.isName, case let named = items.filter({ $0.alias == token.text }), named.count == 1,
                let column = wholeColumn(named[0].tokens)
            {
                columns.append(column)
            } else {
                throw NotGrouped()
            }
        }
        for column in columns where !keys.contains(column) { keys.append(column) }
        guard keys.count <= SQLGroupTable.keys else { throw NotGrouped() }
        let texts = columns.compactMap { key($0) }
        guard texts.count == columns.count else { throw NotGrouped() }
        edits.append((bytes(range), texts.joined(separator: ", ")))
    }

    /// Reads SELECT DISTINCT of columns: each of its rows is a group.
    private mutating func readDistinct() {
        let columns = items.compactMap { wholeColumn($0.tokens) }
        guard columns.count == items.count else { return }
        for column in columns where !keys.contains(column) { keys.append(column) }
        if keys.count > SQLGroupTable.keys { keys = [] }
        isDistinct = !keys.isEmpty
    }

    /// Returns the text of a group's column; nil if it is none.
    func key(_ column: Int) -> String? {
        keys.firstIndex(of: column).flatMap { SQLGroupTable.name(key: $0, scope.columns[column].form) }
    }

    /// Returns the text of an aggregate. The sign removes the affinity of a column, which an aggregate does not have.
    mutating func measure(_ measure: SQLMeasure) -> String {
        let number = measures.firstIndex(of: measure) ?? measures.count
        if number == measures.count { measures.append(measure) }
        return "(+\(SQLGroupTable.name(measure: number)))"
    }

    private mutating func readOrder(_ term: Range<Int>) throws(NotGrouped) {
        var term = term
        func drop(_ words: [String]) {
            guard term.count > words.count, words.indices.allSatisfy({ tokens[term.upperBound - words.count + $0].isWord(words[$0]) })
            else {
                return
            }
            term = term.lowerBound..<term.upperBound - words.count
        }
        for words in [["nulls", "first"], ["nulls", "last"], ["asc"], ["desc"]] { drop(words) }
        var plain = term
        if plain.count > 2, tokens[plain.upperBound - 2].isWord("collate") { plain = plain.lowerBound..<plain.upperBound - 2 }
        // An alias precedes a column of the same name.
        if plain.count == 1, tokens[plain.lowerBound].isName, aliases.contains(tokens[plain.lowerBound].text) { return }
        _ = try readExpression(term, seesAliases: true)
    }

    private mutating func readLimit(_ range: Range<Int>) throws(NotGrouped) {
        for at in range {
            switch tokens[at].kind {
            case .number, .symbol: break
            case .parameter: edits.append((tokens[at].range, "?\(parameters[at])"))
            case .word where tokens[at].text == "offset": break
            default: throw NotGrouped()
            }
        }
    }
}
