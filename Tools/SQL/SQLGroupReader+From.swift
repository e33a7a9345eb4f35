import FirnTable

/// FROM: one table, or joins of several.
extension SQLGroupReader {
    /// The maximum number of tables whose join the engine computes.
    static let maximumTables = 8

    /// Reads FROM, and collects the tables and their conditions.
    mutating func readFrom(_ range: Range<Int>, _ find: (_ name: String, _ isMain: Bool) -> SQLTable?) throws(NotGrouped) {
        var at = range.lowerBound
        let end = range.upperBound
        try readSource(&at, end, isOuter: false, find)
        while at < end {
            let isOuter = try readJoin(&at, end)
            guard scope.sources.count < SQLGroupReader.maximumTables else { throw NotGrouped() }
            try readSource(&at, end, isOuter: isOuter, find)
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
        var reader = SQLTestReader(self, range)
        conditions.append((try reader.read(), source))
        literals = reader.literals
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

    /// Reads name or main.name, with or without an alias.
    private mutating func readSource(
        _ at: inout Int, _ end: Int, isOuter: Bool, _ find: (_ name: String, _ isMain: Bool) -> SQLTable?
    ) throws(NotGrouped) {
        let isMain = at + 2 < end && tokens[at].isName && tokens[at].text == "main" && tokens[at + 1].isSymbol(".")
        if isMain { at += 2 }
        guard at < end, tokens[at].isName, let table = find(tokens[at].text, isMain) else { throw NotGrouped() }
        var last = at
        at += 1
        if at < end, tokens[at].isWord("as") {
            last = at + 1
            guard last < end, isAlias(last) else { throw NotGrouped() }
            at = last + 1
        } else if at < end, isAlias(at) {
            last = at
            at += 1
        }
        let alias = tokens[last].text
        guard !scope.sources.contains(where: { $0.alias == alias }) else { throw NotGrouped() }
        if scope.sources.isEmpty { spelling = String(decoding: bytes[tokens[last].range], as: UTF8.self) }
        scope.add(table, alias: alias, isOuter: isOuter)
    }

    private func isAlias(_ at: Int) -> Bool {
        tokens[at].isName && (tokens[at].kind == .quoted || !SQLKeywords.all.contains(tokens[at].text))
    }

    /// Reads the columns of USING: those of the last table equal those of the first table that has them.
    private mutating func readUsing(_ at: inout Int, _ end: Int, isOuter: Bool) throws(NotGrouped) {
        guard at < end, tokens[at].isSymbol("(") else { throw NotGrouped() }
        let last = scope.sources.count - 1
        repeat {
            at += 1
            guard at + 1 < end, tokens[at].isName else { throw NotGrouped() }
            let name = tokens[at].text
            let others = scope.sources.dropLast().compactMap { scope.column(name, of: $0.alias) }
            guard let right = scope.column(name, of: scope.sources[last].alias), let left = others.first,
                others.count == 1 || scope.merged.contains(name)
            else { throw NotGrouped() }
            scope.merged.insert(name)
            conditions.append((.match(SQLMatch(left: left, right: right)), isOuter ? last : nil))
            at += 1
        } while at < end && tokens[at].isSymbol(",")
        guard at < end, tokens[at].isSymbol(")") else { throw NotGrouped() }
        at += 1
    }
}
