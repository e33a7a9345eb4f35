import FirnTable

/// The error for a statement that SQLite executes alone.
struct NotGrouped: Error {}

/// Reads a SELECT with groups or aggregates, of one table or of a join, and collects the changes of its text with which it reads the groups from
/// `SQLGroupTable`. Subqueries in FROM and common table expressions that only select columns and rows are read as parts of it. Whatever is not
/// known for certain throws `NotGrouped`. SQLite has already accepted the statement.
struct SQLGroupReader {
    let syntax: SQLSyntax
    var tokens: [SQLToken] { syntax.tokens }
    var bytes: [UInt8] { syntax.bytes }
    var parameters: [Int] { syntax.parameters }
    /// Returns the table of a name with certainty, or nil.
    let find: (_ name: String, _ isMain: Bool) -> SQLTable?
    /// The nesting of the subquery that is read.
    var depth = 0
    /// The tables of FROM.
    var scope = SQLScope()
    /// The name by which the statement calls the first table, as it writes it.
    var spelling = ""
    /// Whether the statement is SELECT DISTINCT of columns, whose rows have the order of the first rows.
    private(set) var isDistinct = false

    /// Whether the SELECT is a part of the statement and has one row.
    private var isOneRow = false

    /// The columns by which the rows are grouped.
    private(set) var keys: [Int] = []
    /// The expressions by which the rows are grouped, by their index in `keys`, which has their columns.
    private(set) var computedKeys: [Int: Computed] = [:]
    /// The columns of the scope with the values of the keys.
    var keyColumns: [Int] { keys.enumerated().map { computedKeys[$0]?.key.numbers ?? $1 } }
    var measures: [SQLMeasure] = []
    /// The conditions of WHERE and ON. `outer`: the table of the LEFT JOIN that the condition belongs to.
    var conditions: [(test: SQLTest, outer: Int?)] = []
    /// The conditions of WHERE and of inner joins that SQLite computes for each value of a column.
    var computedConditions: [ComputedKey] = []
    /// The literals of aggregates and of the test as written.
    var literals: [String] = []
    /// The SELECTs in its expressions, which must have groups of their own.
    var subqueries: [Range<Int>] = []
    /// The changes of the text.
    var edits: [(range: Range<Int>, text: String)] = []

    /// A result column: its tokens, without those of the alias.
    struct Item {
        var tokens: Range<Int>
        var alias: String?
    }
    private var items: [Item] = []
    /// The aliases of the result columns.
    var aliases: Set<String> { Set(items.compactMap(\.alias)) }

    /// Reads the SELECT in a range of tokens. `isPart`: it is part of the statement, so that its columns need the names that they have as
    /// written. `find` returns the table of a name with certainty, or nil.
    init(_ syntax: SQLSyntax, _ range: Range<Int>, number: Int, isPart: Bool, find: @escaping (_ name: String, _ isMain: Bool) -> SQLTable?)
        throws(NotGrouped)
    {
        self.syntax = syntax
        self.find = find
        let clauses = try SQLGroupReader.clauses(syntax.tokens, range)
        guard !syntax.tokens[range].contains(where: { $0.kind == .other }) else { throw NotGrouped() }
        let nested = syntax.nested(in: range)
        for at in range.dropFirst() where SQLGroupReader.isForeign(syntax.tokens[at]) {
            guard clauses.from.contains(at) || nested.contains(where: { $0.contains(at) }) else { throw NotGrouped() }
        }
        isOneRow = isPart && clauses.group == nil && !clauses.isDistinct
        try readFrom(clauses.from)
        if let condition = clauses.condition { try readCondition(condition) }
        for part in try split(clauses.items) { items.append(try item(part)) }
        if let group = clauses.group { try readKeys(group) } else if clauses.isDistinct { readDistinct() }
        for item in items { _ = try readExpression(item.tokens, seesAliases: false) }
        if isPart { nameItems() }
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
            && ["select", "over", "exists", "raise", "union", "intersect", "except", "window", "values", "indexed", "with"]
                .contains(token.text)
    }

    // MARK: Clauses

    struct Clauses {
        var items: Range<Int>, from: Range<Int>
        var isDistinct: Bool
        var condition: Range<Int>?, group: Range<Int>?, having: Range<Int>?, order: Range<Int>?, limit: Range<Int>?
    }

    /// Divides a statement at the keywords outside of parentheses, which must have the order of the grammar.
    static func clauses(_ tokens: [SQLToken], _ range: Range<Int>) throws(NotGrouped) -> Clauses {
        let end = range.upperBound
        var marks: [(keyword: Int, first: Int, end: Int)] = [], depth = 0, at = range.lowerBound + 1
        guard at < end, tokens[range.lowerBound].isWord("select") else { throw NotGrouped() }
        let isDistinct = tokens[at].isWord("distinct")
        if isDistinct || tokens[at].isWord("all") { at += 1 }
        let first = at
        let keywords = ["from", "where", "group", "having", "order", "limit"]
        while at < end {
            if tokens[at].isSymbol("(") { depth += 1 }
            if tokens[at].isSymbol(")") { depth -= 1 }
            guard depth >= 0 else { throw NotGrouped() }
            if depth == 0, tokens[at].kind == .word, let keyword = keywords.firstIndex(of: tokens[at].text) {
                let hasBy = keyword == 2 || keyword == 4
                guard keyword > marks.last?.keyword ?? -1, !hasBy || at + 1 < end && tokens[at + 1].isWord("by") else {
                    throw NotGrouped()
                }
                if !marks.isEmpty { marks[marks.count - 1].end = at }
                at += hasBy ? 1 : 0
                marks.append((keyword, at + 1, end))
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
            items: first..<from.first - 1, from: table, isDistinct: isDistinct, condition: try clause(1),
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
    func item(_ range: Range<Int>) throws(NotGrouped) -> Item {
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

    /// Gives result columns without an alias the names that SQLite takes from the text.
    private mutating func nameItems() {
        for item in items where item.alias == nil {
            let range = bytes(item.tokens), isColumn = wholeColumn(item.tokens) != nil
            let name = isColumn ? tokens[item.tokens.upperBound - 1].text : String(decoding: bytes[range], as: UTF8.self)
            edits.append((range.upperBound..<range.upperBound, " AS \(SQLSpelling.name(name))"))
        }
    }

    // MARK: Names

    /// Returns what the tokens at `at` name, and the index after them; nil if they name no column.
    func named(_ at: Int, before end: Int) -> (meaning: SQLScope.Meaning, next: Int)? {
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
        return scope.meaning(tokens[name].text, of: name == at ? nil : tokens[at].text).map { ($0, name + 1) }
    }

    /// Returns the column of a table that the tokens at `at` name, and the index after them; nil if they name none.
    func column(_ at: Int, before end: Int) -> (column: Int, next: Int)? {
        guard case (.operand(.column(let column)), let next)? = named(at, before: end) else { return nil }
        return (column, next)
    }

    func bytes(_ range: Range<Int>) -> Range<Int> {
        tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
    }

    /// Returns the column that all of the tokens name.
    func wholeColumn(_ range: Range<Int>) -> Int? {
        guard let (column, next) = column(range.lowerBound, before: range.upperBound), next == range.upperBound else { return nil }
        return column
    }

    // MARK: Groups and order

    private mutating func readKeys(_ range: Range<Int>) throws(NotGrouped) {
        var texts: [String] = []
        for term in try split(range) {
            let term = termOfKey(term)
            if let column = wholeColumn(term) {
                if !keys.indices.contains(where: { keys[$0] == column && computedKeys[$0] == nil }) { keys.append(column) }
                guard let text = key(column) else { throw NotGrouped() }
                texts.append(text)
            } else if var found = computed(term) {
                let known = computedKeys.first { $0.value.key.parts == found.key.parts && $0.value.key.column == found.key.column }?.key
                let number = known ?? keys.count
                if known == nil {
                    keys.append(found.key.column)
                    (found.key.numbers, found.key.name) = scope.addComputed(from: found.key.column)
                    computedKeys[number] = found
                }
                guard let text = nameOfKey(number) else { throw NotGrouped() }
                texts.append(found.key.text(text))
            } else {
                throw NotGrouped()
            }
        }
        guard keys.count <= SQLGroupTable.keys else { throw NotGrouped() }
        edits.append((bytes(range), texts.joined(separator: ", ")))
    }

    /// Returns the tokens that a term of GROUP BY means: those of a result column if the term is its number or its alias.
    private func termOfKey(_ term: Range<Int>) -> Range<Int> {
        let token = tokens[term.lowerBound]
        guard term.count == 1 else { return term }
        if token.kind == .number, let number = Int(token.text), items.indices.contains(number - 1) { return items[number - 1].tokens }
        if token.isName, named(term.lowerBound, before: term.upperBound) == nil,
            case let found = items.filter({ $0.alias == token.text }), found.count == 1
        {
            return found[0].tokens
        }
        return term
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
        keys.indices.first { keys[$0] == column && computedKeys[$0] == nil }.flatMap(nameOfKey)
    }

    /// Returns the name of the column with the values of a key, or with a value of the column from which a key is computed.
    func nameOfKey(_ number: Int) -> String? {
        number < SQLGroupTable.keys ? SQLGroupTable.name(key: number, scope.columns[keys[number]].form) : nil
    }

    /// Returns the text of an aggregate. The sign removes the affinity of a column, which an aggregate does not have. The one row of a part
    /// without GROUP BY stays an aggregate, so that SQLite does not merge the part with the statement around it.
    mutating func measure(_ measure: SQLMeasure) -> String {
        let number = measures.firstIndex(of: measure) ?? measures.count
        if number == measures.count { measures.append(measure) }
        return (isOneRow ? "max(" : "(+") + SQLGroupTable.name(measure: number) + ")"
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
