import FirnTable

/// FROM: one table or subquery, or joins of several.
extension SQLGroupReader {
    /// The maximum number of tables whose join the engine computes.
    static let maximumTables = 8
    /// The maximum nesting of subqueries, and the maximum number of columns in a computed column of one.
    private static let maximumSubqueries = 16, maximumOperand = 100

    /// Reads FROM, and collects the tables and their conditions.
    mutating func readFrom(_ range: Range<Int>, isOuter: Bool = false) throws(NotGrouped) {
        var at = range.lowerBound
        let end = range.upperBound
        try readSource(&at, end, isOuter: isOuter)
        while at < end {
            let isOuter = try readJoin(&at, end)
            try readSource(&at, end, isOuter: isOuter)
            if at < end, tokens[at].isWord("on") {
                let first = at + 1
                at = first
                var depth = 0
                while at < end, depth > 0 || !isJoin(at) {
                    depth += tokens[at].isSymbol("(") ? 1 : tokens[at].isSymbol(")") ? -1 : 0
                    at += 1
                }
                guard first < at else { throw NotGrouped() }
                try readCondition(first..<at, ofOuter: isOuter ? scope.sources.count - 1 : nil)
            } else if at < end, tokens[at].isWord("using") {
                at += 1
                try readUsing(&at, end, isOuter: isOuter)
            }
        }
    }

    /// Reads a condition of WHERE, or of ON.
    mutating func readCondition(_ range: Range<Int>, ofOuter source: Int? = nil) throws(NotGrouped) {
        if readTest(range, ofOuter: source) { return }
        guard source == nil else { throw NotGrouped() }
        for part in conjuncts(range) where !readTest(part) {
            guard var found = computed(part) else { throw NotGrouped() }
            (found.key.numbers, found.key.name) = scope.addComputed(from: found.key.column)
            computedConditions.append(found.key)
        }
    }

    /// Reads a condition of comparisons. Returns false if it is none.
    private mutating func readTest(_ range: Range<Int>, ofOuter source: Int? = nil) -> Bool {
        var reader = SQLTestReader(self, range)
        guard let test = try? reader.read() else { return false }
        conditions.append((test, source))
        literals = reader.literals
        return true
    }

    /// Divides a condition at the words AND outside of parentheses and CASE.
    private func conjuncts(_ range: Range<Int>) -> [Range<Int>] {
        var range = range
        while range.count > 2, tokens[range.lowerBound].isSymbol("("), syntax.close(range.lowerBound) == range.upperBound - 1 {
            range = range.lowerBound + 1..<range.upperBound - 1
        }
        var parts: [Range<Int>] = [], first = range.lowerBound, depth = 0, betweens = 0
        for at in range {
            let token = tokens[at]
            if token.isSymbol("(") || token.isWord("case") { depth += 1 }
            if token.isSymbol(")") || token.isWord("end") { depth -= 1 }
            guard depth == 0 else { continue }
            if token.isWord("or") { return [range] }
            if token.isWord("between") { betweens += 1 }
            guard token.isWord("and") else { continue }
            if betweens > 0 {
                betweens -= 1
            } else {
                parts.append(first..<at)
                first = at + 1
            }
        }
        parts.append(first..<range.upperBound)
        return parts.contains { $0.isEmpty } ? [range] : parts
    }

    private func isJoin(_ at: Int) -> Bool {
        tokens[at].isSymbol(",")
            || tokens[at].kind == .word
                && ["join", "inner", "cross", "left", "right", "full", "outer", "natural"].contains(tokens[at].text)
    }

    /// Reads the words between two tables, and returns whether they are those of a LEFT JOIN.
    private func readJoin(_ at: inout Int, _ end: Int) throws(NotGrouped) -> Bool {
        if tokens[at].isSymbol(",") {
            at += 1
            return false
        }
        var words: [String] = []
        while at < end, tokens[at].kind == .word, words.count < 3 {
            words.append(tokens[at].text)
            at += 1
            if words.last == "join" { break }
        }
        switch words {
        case ["join"], ["inner", "join"], ["cross", "join"]: return false
        case ["left", "join"], ["left", "outer", "join"]: return true
        default: throw NotGrouped()
        }
    }

    /// Reads name, main.name or a subquery, with or without an alias.
    private mutating func readSource(_ at: inout Int, _ end: Int, isOuter: Bool) throws(NotGrouped) {
        guard at < end, scope.sources.count < SQLGroupReader.maximumTables else { throw NotGrouped() }
        let first = scope.sources.count
        var view: SQLSyntax.View?, table: SQLTable?, last: Int?
        if tokens[at].isSymbol("(") {
            guard let close = syntax.close(at), close < end, tokens[at + 1].isWord("select") else { throw NotGrouped() }
            view = .init(columns: nil, body: at + 1..<close)
            at = close + 1
        } else {
            let isMain = at + 2 < end && tokens[at].isName && tokens[at].text == "main" && tokens[at + 1].isSymbol(".")
            if isMain { at += 2 }
            guard at < end, tokens[at].isName else { throw NotGrouped() }
            view = isMain ? nil : syntax.views[tokens[at].text]
            if view == nil { table = find(tokens[at].text, isMain) }
            last = at
            at += 1
        }
        if at < end, tokens[at].isWord("as") {
            last = at + 1
            guard at + 1 < end, isAlias(at + 1) else { throw NotGrouped() }
            at += 2
        } else if at < end, isAlias(at) {
            last = at
            at += 1
        }
        let alias = last.map { tokens[$0].text }
        guard alias == nil || !scope.relations.contains(where: { $0.alias == alias }) else { throw NotGrouped() }
        if let table, let alias {
            scope.relations.append(scope.add(table, alias: alias, isOuter: isOuter))
        } else if let view {
            let columns = try readSubquery(view, isOuter: isOuter)
            scope.relations.append(.init(alias: alias, columns: columns))
            if let alias, scope.sources.count == first + 1 { scope.rename(first, alias) }
        } else {
            throw NotGrouped()
        }
        if first == 0, let last { spelling = String(decoding: bytes[tokens[last].range], as: UTF8.self) }
    }

    /// Reads a subquery that only selects columns and rows: its tables and conditions become those of the statement. Returns its columns.
    private mutating func readSubquery(
        _ view: SQLSyntax.View, isOuter: Bool
    ) throws(NotGrouped) -> [(name: String, operand: SQLOperand)] {
        let clauses = try SQLGroupReader.clauses(tokens, view.body), first = scope.sources.count
        guard depth < SQLGroupReader.maximumSubqueries, !clauses.isDistinct, clauses.group == nil, clauses.having == nil,
            clauses.order == nil, clauses.limit == nil
        else { throw NotGrouped() }
        let outside = (scope.relations, scope.merged)
        (scope.relations, scope.merged) = ([], [])
        depth += 1
        try readFrom(clauses.from, isOuter: isOuter)
        // A LEFT JOIN of several tables would have rows in which only some of them are null.
        guard !isOuter || scope.sources.count == first + 1 else { throw NotGrouped() }
        if let condition = clauses.condition { try readCondition(condition, ofOuter: isOuter ? first : nil) }
        var columns: [(name: String, operand: SQLOperand)] = []
        for part in try split(clauses.items) { columns += try subqueryColumns(part) }
        if let names = view.columns {
            guard names.count == columns.count else { throw NotGrouped() }
            columns = zip(names, columns).map { ($0, $1.operand) }
        }
        depth -= 1
        (scope.relations, scope.merged) = outside
        return columns
    }

    /// Returns the columns of one item of a subquery: `*`, a column, or a number computed from columns.
    private mutating func subqueryColumns(_ part: Range<Int>) throws(NotGrouped) -> [(name: String, operand: SQLOperand)] {
        let start = part.lowerBound
        if part.count == 1, tokens[start].isSymbol("*") {
            guard scope.merged.isEmpty else { throw NotGrouped() }
            return scope.relations.flatMap(\.columns)
        }
        if part.count == 3, tokens[start].isName, tokens[start + 1].isSymbol("."), tokens[start + 2].isSymbol("*") {
            guard let relation = scope.relations.first(where: { $0.alias == tokens[start].text }) else { throw NotGrouped() }
            return relation.columns
        }
        let item = try item(part)
        if let column = wholeColumn(item.tokens) {
            return [(item.alias ?? tokens[item.tokens.upperBound - 1].text, .column(column))]
        }
        guard let alias = item.alias else { throw NotGrouped() }
        let operand = try operand(item.tokens)
        // A number alone would not be null in a row of a LEFT JOIN without a match.
        guard 1...SQLGroupReader.maximumOperand ~= operand.columns.count else { throw NotGrouped() }
        return [(alias, operand)]
    }

    private func isAlias(_ at: Int) -> Bool {
        tokens[at].isName && (tokens[at].kind == .quoted || !SQLKeywords.all.contains(tokens[at].text))
    }

    /// Reads the columns of USING: those of the last table equal those of the first table that has them.
    private mutating func readUsing(_ at: inout Int, _ end: Int, isOuter: Bool) throws(NotGrouped) {
        guard at < end, tokens[at].isSymbol("(") else { throw NotGrouped() }
        guard let last = scope.relations.last else { throw NotGrouped() }
        let outer = isOuter ? scope.sources.count - 1 : nil
        repeat {
            at += 1
            guard at + 1 < end, tokens[at].isName else { throw NotGrouped() }
            let name = tokens[at].text
            let others = scope.relations.dropLast().compactMap { $0.meaning(name) }
            guard case .operand(.column(let right))? = last.meaning(name), case .operand(.column(let left))? = others.first,
                others.count == 1 || scope.merged.contains(name)
            else { throw NotGrouped() }
            scope.merged.insert(name)
            conditions.append((.match(SQLMatch(left: left, right: right)), outer))
            at += 1
        } while at < end && tokens[at].isSymbol(",")
        guard at < end, tokens[at].isSymbol(")") else { throw NotGrouped() }
        at += 1
    }
}
