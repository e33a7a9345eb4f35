import CSQLite

/// Reads a WHERE clause of comparisons of columns with values.
struct SQLTestReader {
    private let reader: SQLGroupReader
    private let end: Int
    private var at: Int
    private var depth = 0
    /// The literals as written.
    private(set) var literals: [String]

    /// The maximum nesting, and the maximum number of literals.
    private static let maximumDepth = 100
    static let maximumLiterals = 1000

    init(_ reader: SQLGroupReader, _ range: Range<Int>) {
        self.reader = reader
        literals = reader.literals
        at = range.lowerBound
        end = range.upperBound
    }

    mutating func read() throws(NotGrouped) -> SQLTest {
        let test = try alternatives(true)
        guard at == end else { throw NotGrouped() }
        return test
    }

    private var token: SQLToken? { at < end ? reader.tokens[at] : nil }
    private mutating func take(_ word: String) -> Bool {
        guard token?.isWord(word) ?? false else { return false }
        at += 1
        return true
    }
    private mutating func takeSymbol(_ symbol: String) -> Bool {
        guard token?.isSymbol(symbol) ?? false else { return false }
        at += 1
        return true
    }

    // `isTrue`: whether the test must hold, or its negation. A test that is null holds in neither case.

    private mutating func alternatives(_ isTrue: Bool) throws(NotGrouped) -> SQLTest {
        var parts = [try conjunction(isTrue)]
        while take("or") { parts.append(try conjunction(isTrue)) }
        return parts.count == 1 ? parts[0] : isTrue ? .or(parts) : .and(parts)
    }

    private mutating func conjunction(_ isTrue: Bool) throws(NotGrouped) -> SQLTest {
        var parts = [try negation(isTrue)]
        while take("and") { parts.append(try negation(isTrue)) }
        return parts.count == 1 ? parts[0] : isTrue ? .and(parts) : .or(parts)
    }

    private mutating func negation(_ isTrue: Bool) throws(NotGrouped) -> SQLTest {
        var isTrue = isTrue
        while take("not") { isTrue.toggle() }
        guard takeSymbol("(") else { return try comparison(isTrue) }
        depth += 1
        guard depth <= SQLTestReader.maximumDepth else { throw NotGrouped() }
        let test = try alternatives(isTrue)
        depth -= 1
        guard takeSymbol(")") else { throw NotGrouped() }
        return try whole(test)
    }

    /// Returns the test if it ends where one can end.
    private func whole(_ test: SQLTest) throws(NotGrouped) -> SQLTest {
        guard let token else { return test }
        guard token.isSymbol(")") || token.isWord("and") || token.isWord("or") else { throw NotGrouped() }
        return test
    }

    private mutating func column() -> Int? {
        guard let (column, next) = reader.column(at, before: end) else { return nil }
        at = next
        return column
    }

    /// An operator, the one that holds if it does not, and both for exchanged sides.
    private static let comparisons: [String: (isTrue: Int, isFalse: Int, flipped: Int, flippedFalse: Int)] = {
        let equal = (FIRN_SQL_EQ, FIRN_SQL_NE, FIRN_SQL_EQ, FIRN_SQL_NE), unequal = (FIRN_SQL_NE, FIRN_SQL_EQ, FIRN_SQL_NE, FIRN_SQL_EQ)
        return [
            "=": equal, "==": equal, "<>": unequal, "!=": unequal, "<": (FIRN_SQL_LT, FIRN_SQL_GE, FIRN_SQL_GT, FIRN_SQL_LE),
            "<=": (FIRN_SQL_LE, FIRN_SQL_GT, FIRN_SQL_GE, FIRN_SQL_LT), ">": (FIRN_SQL_GT, FIRN_SQL_LE, FIRN_SQL_LT, FIRN_SQL_GE),
            ">=": (FIRN_SQL_GE, FIRN_SQL_LT, FIRN_SQL_LE, FIRN_SQL_GT),
        ]
    }()

    private mutating func comparison(_ isTrue: Bool) throws(NotGrouped) -> SQLTest {
        guard let column = column() else {
            // value < column
            let operand = try operand()
            guard let symbol = token, symbol.kind == .symbol, let found = SQLTestReader.comparisons[symbol.text] else { throw NotGrouped() }
            at += 1
            guard let column = self.column() else { throw NotGrouped() }
            return try whole(.compare(column: column, isTrue ? found.flipped : found.flippedFalse, operand))
        }
        guard token != nil else { return try whole(.isTrue(column: column, isTrue)) }
        let first = try offset()
        if let next = token, next.kind == .symbol, let found = SQLTestReader.comparisons[next.text] {
            at += 1
            // Not as an argument: the end of the test would be looked for before its right-hand side.
            let test = try side(column, first, isTrue ? found.isTrue : found.isFalse)
            return try whole(test)
        }
        guard first == nil else { throw NotGrouped() }
        if take("isnull") { return try whole(.isNull(column: column, isTrue)) }
        if take("notnull") { return try whole(.isNull(column: column, !isTrue)) }
        if take("is") {
            let isPositive = take("not") ? !isTrue : isTrue
            if take("null") { return try whole(.isNull(column: column, isPositive)) }
            // IS TRUE and IS DISTINCT FROM have other meanings.
            guard token?.kind != .word else { throw NotGrouped() }
            let operand = try operand()
            return try whole(.isValue(column: column, operand, isPositive))
        }
        let isPositive = take("not") ? !isTrue : isTrue, isNegated = isPositive != isTrue
        if isNegated, take("null") { return try whole(.isNull(column: column, isPositive)) }
        if take("in") {
            let list = try list()
            return try whole(.isIn(column: column, list, isPositive))
        }
        if take("between") {
            let low = try side(column, nil, isPositive ? FIRN_SQL_GE : FIRN_SQL_LT)
            guard take("and") else { throw NotGrouped() }
            let high = try side(column, nil, isPositive ? FIRN_SQL_LE : FIRN_SQL_GT)
            return try whole(isPositive ? .and([low, high]) : .or([low, high]))
        }
        guard !isNegated else { throw NotGrouped() }
        return try whole(.isTrue(column: column, isTrue))
    }

    /// Reads the right-hand side of a comparison: a value, or a column of another table, to which an integer can be added. `offset` has been
    /// read after the column on the left.
    private mutating func side(_ left: Int, _ offset: Int64?, _ comparison: Int) throws(NotGrouped) -> SQLTest {
        guard let right = column() else {
            guard offset == nil else { throw NotGrouped() }
            return .compare(column: left, comparison, try operand())
        }
        let second = try self.offset()
        guard reader.scope.source(of: left) != reader.scope.source(of: right) else { throw NotGrouped() }
        let match = SQLMatch(left: left, right: right, offset: offset == nil && second == nil ? nil : (offset ?? 0) - (second ?? 0))
        return comparison == FIRN_SQL_EQ ? .match(match) : .relation(match, comparison)
    }

    /// Reads an integer that is added to a column, or subtracted from it.
    private mutating func offset() throws(NotGrouped) -> Int64? {
        guard let sign = token, sign.isSymbol("+") || sign.isSymbol("-") else { return nil }
        guard at + 1 < end, let number = Int64(reader.tokens[at + 1].text), number <= 1 << 53 else { throw NotGrouped() }
        at += 2
        return sign.isSymbol("-") ? -number : number
    }

    private mutating func list() throws(NotGrouped) -> [SQLTest.Operand] {
        guard takeSymbol("(") else { throw NotGrouped() }
        var operands: [SQLTest.Operand] = []
        if takeSymbol(")") { return operands }
        repeat { operands.append(try operand()) } while takeSymbol(",")
        guard takeSymbol(")") else { throw NotGrouped() }
        return operands
    }

    /// Reads a literal, with a sign or without, or a parameter.
    private mutating func operand() throws(NotGrouped) -> SQLTest.Operand {
        guard let first = token else { throw NotGrouped() }
        let start = at
        if first.isSymbol("-") || first.isSymbol("+") { at += 1 }
        guard let value = token, at == start || value.kind == .number else { throw NotGrouped() }
        at += 1
        if value.kind == .parameter { return .parameter(reader.parameters[start]) }
        guard value.isLiteral || value.isWord("null"), literals.count < SQLTestReader.maximumLiterals else { throw NotGrouped() }
        // Equal conditions of aggregates have the same literals.
        let text = String(decoding: reader.bytes[reader.bytes(start..<at)], as: UTF8.self)
        if let known = literals.prefix(64).firstIndex(of: text) { return .literal(known) }
        literals.append(text)
        return .literal(literals.count - 1)
    }
}
