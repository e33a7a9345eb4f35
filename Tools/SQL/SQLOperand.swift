import FirnTable

/// An aggregate that the engine computes.
struct SQLMeasure: Hashable {
    enum Function: String {
        case count, sum, total, avg, min, max
        case median, quantile

        /// The aggregate of a name in lower case.
        init?(name: String) {
            switch name {
            case "quantile_cont", "percentile_cont": self = .quantile
            default: self.init(rawValue: name)
            }
        }

        var isQuantile: Bool { self == .median || self == .quantile }
    }
    let function: Function
    /// nil: rows.
    let operand: SQLOperand?
    let isDistinct: Bool
    /// The condition of FILTER: the rows that are aggregated.
    var filter: SQLTest?
    /// The share of a quantile.
    var share = 0.5

    /// The column, if the operand is one.
    var column: Int? {
        guard case .column(let column)? = operand else { return nil }
        return column
    }

    func text(_ columns: [SQLColumn], _ literals: [String]) -> String {
        "\(function.rawValue)(\(isDistinct ? "distinct " : "")\(operand.map { $0.text(columns, literals) } ?? "*")\(function == .quantile ? ", \(share)" : ""))"
            + (filter.map { " filter (\($0.text(columns)))" } ?? "")
    }
}

/// What an aggregate computes for each row: a column, or doubles computed from columns and literals.
indirect enum SQLOperand: Hashable {
    case column(Int)
    /// The index of a literal among those of the statement.
    case literal(Int)
    case pair(String, SQLOperand, SQLOperand)

    /// Returns the operand as the statement writes it, for plans.
    func text(_ columns: [SQLColumn], _ literals: [String], isPart: Bool = false) -> String {
        switch self {
        case .column(let index): columns[index].name
        case .literal(let index): literals[index]
        case .pair(let sign, let left, let right):
            "\(isPart ? "(" : "")\(left.text(columns, literals, isPart: true)) \(sign) \(right.text(columns, literals, isPart: true))\(isPart ? ")" : "")"
        }
    }

    /// Returns the operand in the language of Query; nil if Query cannot compute it.
    func query(_ columns: [SQLColumn], _ literals: [SQLValue]) -> String? {
        switch self {
        case .column(let index):
            let name = columns[index].schema.name
            return name.utf8.contains { $0 == UInt8(ascii: "`") || $0 == UInt8(ascii: "\\") || $0 < 32 } ? nil : "`\(name)`"
        case .literal(let index):
            switch literals[index] {
            case .int(let x): return "(\(x))"
            case .real(let x): return x.isFinite ? "(\(x))" : nil
            default: return nil
            }
        case .pair(let sign, let left, let right):
            guard let left = left.query(columns, literals), let right = right.query(columns, literals) else { return nil }
            return "(\(left) \(sign) \(right))"
        }
    }

    /// Whether a double is part of it.
    func isReal(_ scope: SQLScope, _ literals: [SQLValue]) -> Bool {
        switch self {
        case .column(let index): scope.columns[index].form == .real || scope.columns[index].form == .float
        case .literal(let index): if case .real = literals[index] { true } else { false }
        case .pair(_, let left, let right): left.isReal(scope, literals) || right.isReal(scope, literals)
        }
    }

    /// The columns.
    var columns: [Int] {
        switch self {
        case .column(let index): [index]
        case .literal: []
        case .pair(_, let left, let right): left.columns + right.columns
        }
    }

    /// Whether null can be the result.
    func isOptional(_ scope: SQLScope) -> Bool {
        switch self {
        case .column(let index): scope.isOptional(index)
        case .literal: false
        case .pair(_, let left, let right): left.isOptional(scope) || right.isOptional(scope)
        }
    }

    /// A bound of the magnitude of an operand, and whether it is a double.
    typealias Bound = (magnitude: Double, isReal: Bool)

    /// Returns the bound of an operand that the engine and SQLite compute alike: with doubles that stay finite, and, if `isJoin`, also
    /// with integers that are doubles. Otherwise nil.
    func bound(_ scope: SQLScope, _ literals: [SQLValue], isJoin: Bool = false) -> Bound? {
        switch self {
        case .column(let index):
            guard !scope.columns[index].isLink else { return nil }
            switch scope.columns[index].form {
            case .int: return scope.magnitude(index).map { (Double($0), false) }
            case .real: return scope.realMagnitude(index).map { ($0, true) }
            default: return nil
            }
        case .literal(let index):
            switch literals[index] {
            // Larger integers are not all doubles.
            case .int(let x): return x.magnitude <= 1 << 53 ? (Double(x.magnitude), false) : nil
            case .real(let x): return x.isFinite ? (x.magnitude, true) : nil
            default: return nil
            }
        case .pair(let sign, let left, let right):
            guard let left = left.bound(scope, literals, isJoin: isJoin), let right = right.bound(scope, literals, isJoin: isJoin) else {
                return nil
            }
            let magnitude = sign == "*" ? left.magnitude * right.magnitude : left.magnitude + right.magnitude
            guard left.isReal || right.isReal else { return isJoin && magnitude <= 0x1p53 ? (magnitude, false) : nil }
            return magnitude <= 1e300 ? (magnitude, true) : nil
        }
    }
}

extension SQLGroupReader {
    /// Reads the operand of an aggregate: a column, or a sum, difference or product of columns and numbers.
    mutating func operand(_ range: Range<Int>) throws(NotGrouped) -> SQLOperand {
        var at = range.lowerBound
        let operand = try terms(&at, range.upperBound, depth: 0)
        guard at == range.upperBound else { throw NotGrouped() }
        if case .literal = operand { throw NotGrouped() }
        return operand
    }

    private mutating func terms(_ at: inout Int, _ end: Int, depth: Int) throws(NotGrouped) -> SQLOperand {
        guard depth < 50 else { throw NotGrouped() }
        var left = try factors(&at, end, depth: depth)
        while at < end, tokens[at].isSymbol("+") || tokens[at].isSymbol("-") {
            let sign = tokens[at].text
            at += 1
            left = .pair(sign, left, try factors(&at, end, depth: depth))
        }
        return left
    }

    private mutating func factors(_ at: inout Int, _ end: Int, depth: Int) throws(NotGrouped) -> SQLOperand {
        var left = try factor(&at, end, depth: depth)
        while at < end, tokens[at].isSymbol("*") {
            at += 1
            left = .pair("*", left, try factor(&at, end, depth: depth))
        }
        return left
    }

    private mutating func factor(_ at: inout Int, _ end: Int, depth: Int) throws(NotGrouped) -> SQLOperand {
        guard at < end else { throw NotGrouped() }
        if tokens[at].isSymbol("(") {
            at += 1
            let inner = try terms(&at, end, depth: depth + 1)
            guard at < end, tokens[at].isSymbol(")") else { throw NotGrouped() }
            at += 1
            return inner
        }
        if let (meaning, next) = named(at, before: end) {
            guard case .operand(let operand) = meaning else { throw NotGrouped() }
            at = next
            return operand
        }
        guard tokens[at].kind == .number, literals.count < SQLTestReader.maximumLiterals else { throw NotGrouped() }
        let text = tokens[at].text
        at += 1
        if let known = literals.firstIndex(of: text) { return .literal(known) }
        literals.append(text)
        return .literal(literals.count - 1)
    }
}
