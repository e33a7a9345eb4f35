import CSQLite
import FirnQuery
import FirnTable

/// A constraint of SQLite as a predicate of Query.
enum SQLCondition {
    /// The constraint has no predicate: SQLite tests every row.
    case unknown
    case never
    /// The predicate holds for every row that SQLite accepts. It is exact for numbers, dates and null. For text it can hold for more rows;
    /// SQLite tests these.
    case rows(PredicateSyntax)
}

/// Builds conditions on one column. SQLite compares integers and floats by value, text by its bytes, and kinds in the order null, number,
/// text, blob. A comparison with null holds for no row, and NaN is treated as null.
struct SQLConditions {
    let path: PathSyntax
    let form: SQLForm
    let isOptional: Bool
    /// Whether the column is a link whose rows are named by id. Links to deleted rows are null in SQLite, but not in Query.
    let isNamed: Bool
    /// Whether all dates are within the years 0 to 9999, where the order of the texts is that of the times.
    let datesAreOrdered: Bool

    // MARK: Parts of predicates

    func compare(_ comparator: Comparator, _ value: Value) -> PredicateSyntax {
        .comparison(ComparisonSyntax(.path(path), comparator, .constant(ConstantSyntax(value))))
    }

    /// The predicate for rows that have a value.
    var present: PredicateSyntax {
        switch form {
        // No comparison holds for null and NaN.
        case .real: compare(.greaterOrEqual, .double(-.infinity))
        case .float: compare(.greaterOrEqual, .float(-.infinity))
        default: isOptional ? compare(.notEqual, .null) : .constant(true)
        }
    }

    var absent: PredicateSyntax {
        switch form {
        case .real, .float: .not(present)
        default: isOptional ? compare(.equal, .null) : .constant(false)
        }
    }

    // MARK: Comparisons

    /// Returns the condition for a comparison. `isConstant`: the right-hand side is a literal of the statement.
    func condition(_ comparison: Int, _ value: OpaquePointer, isConstant: Bool) -> SQLCondition {
        switch comparison {
        case FIRN_SQL_IS_NULL: return .rows(absent)
        case FIRN_SQL_IS_NOT_NULL: return .rows(present)
        case FIRN_SQL_LIKE, FIRN_SQL_GLOB: return pattern(comparison, SQLValue(value))
        default: break
        }
        return condition(comparison, form.isNumeric ? SQLValue(numeric: value) : SQLValue(value), isConstant: isConstant)
    }

    /// Returns the condition for a comparison with a value, to which the column's affinity has been applied.
    func condition(_ comparison: Int, _ value: SQLValue, isConstant: Bool) -> SQLCondition {
        if case .null = value { return comparison == FIRN_SQL_IS ? .rows(absent) : .never }
        let comparator: Comparator =
            switch comparison {
            case FIRN_SQL_GT: .greater
            case FIRN_SQL_GE: .greaterOrEqual
            case FIRN_SQL_LT: .less
            case FIRN_SQL_LE: .lessOrEqual
            case FIRN_SQL_NE: .notEqual
            default: .equal
            }
        return condition(comparator, value, isConstant: isConstant)
    }

    /// Returns the condition for `x IN (…)`.
    func anyOf(_ list: OpaquePointer) -> SQLCondition {
        var parts: [PredicateSyntax] = [], constants: [ExpressionSyntax] = [], isKnown = true
        forEachValue(of: list) { value in
            switch condition(FIRN_SQL_EQ, value, isConstant: false) {
            case .unknown: isKnown = false
            case .never: break
            case .rows(let part):
                if case .comparison(let one) = part, one.comparator == .equal, case .constant = one.right {
                    constants.append(one.right)
                } else {
                    parts.append(part)
                }
            }
        }
        guard isKnown else { return .unknown }
        if !constants.isEmpty {
            parts.append(
                constants.count == 1
                    ? .comparison(ComparisonSyntax(.path(path), .equal, constants[0]))
                    : .comparison(ComparisonSyntax(.path(path), .isIn, .list(nil, constants, .init()))))
        }
        return parts.isEmpty ? .never : .rows(parts.count == 1 ? parts[0] : .or(parts))
    }

    private func condition(_ comparator: Comparator, _ value: SQLValue, isConstant: Bool) -> SQLCondition {
        switch (form, value) {
        case (.int, .int) where isNamed, (.int, .real) where isNamed:
            return SQLNumbers.whole(value).map { .rows(compare(.equal, .link($0))) } ?? .never
        case (.int, .int), (.int, .real): return SQLNumbers.ints(self, comparator, value)
        case (.bool, .int), (.bool, .real): return SQLNumbers.bools(self, comparator, value)
        case (.real, .int(let x)): return reals(comparator, .int(x))
        case (.real, .real(let x)): return reals(comparator, .double(x))
        case (.float, .int), (.float, .real): return SQLNumbers.floats(self, comparator, value)
        case (.int, _), (.bool, _), (.real, _), (.float, _):
            // In SQLite every number is less than text and blobs.
            return comparator == .less || comparator == .lessOrEqual || comparator == .notEqual ? .rows(present) : .never
        case (.text, .text(let bytes)): return texts(comparator, bytes, isConstant: isConstant)
        case (.blob, .blob(let bytes)): return .rows(ordered(comparator, .data(bytes)))
        case (.date(let isDay), .text(let bytes)): return dates(comparator, bytes, isDay: isDay)
        case (.uuid(let isUpper), .text(let bytes)) where comparator == .equal:
            return .init(SQLTimes.uuid(bytes, isUpper: isUpper).map { compare(.equal, .uuid($0)) })
        case (.objectID, .text(let bytes)) where comparator == .equal:
            return .init(SQLTimes.objectID(bytes).map { compare(.equal, .objectID($0)) })
        default: return .unknown
        }
    }

    /// Returns the predicate for a comparison of rows with a value. In Query, null is unequal to every value and less than every text.
    func ordered(_ comparator: Comparator, _ value: Value) -> PredicateSyntax {
        let test = compare(comparator, value)
        switch comparator {
        case .notEqual, .less, .lessOrEqual: return isOptional || form == .real || form == .float ? .and([present, test]) : test
        default: return test
        }
    }

    private func reals(_ comparator: Comparator, _ value: Value) -> SQLCondition { .rows(ordered(comparator, value)) }

    private func texts(_ comparator: Comparator, _ bytes: [UInt8], isConstant: Bool) -> SQLCondition {
        guard let text = String(validating: bytes, as: UTF8.self) else { return .unknown }
        // A text of a decimal that no number represents exactly is compared as a number.
        if !isConstant, bytes.withUnsafeBytes({ EqualityKey.isLongNumber($0) }) { return .unknown }
        // In a comparison with an expression of numeric affinity, a text that is a number is compared as a number, which is less than any
        // other text. Such a text begins with a byte that is not greater than "9".
        if !isConstant, comparator == .less || comparator == .lessOrEqual, bytes.first ?? 0 <= UInt8(ascii: "9") { return .unknown }
        return .rows(ordered(comparator, .string(text)))
    }

    private func dates(_ comparator: Comparator, _ bytes: [UInt8], isDay: Bool) -> SQLCondition {
        guard datesAreOrdered else { return .unknown }
        guard let first = SQLTimes.first(notBelow: bytes, isDay: isDay) else {
            // The text is greater than every time.
            return comparator == .less || comparator == .lessOrEqual || comparator == .notEqual ? .rows(present) : .never
        }
        let time = Value.date(first), isSame = SQLText.date(first.seconds, Int64(first.nanoseconds), isDay: isDay) == bytes
        switch comparator {
        case .equal: return isSame ? .rows(compare(.equal, time)) : .never
        case .notEqual: return .rows(isSame ? ordered(.notEqual, time) : present)
        case .greaterOrEqual: return .rows(compare(.greaterOrEqual, time))
        case .greater: return .rows(compare(isSame ? .greater : .greaterOrEqual, time))
        case .less: return .rows(ordered(.less, time))
        default: return .rows(ordered(isSame ? .lessOrEqual : .less, time))
        }
    }

    // MARK: Patterns

    /// Returns a condition that is necessary for a match of a pattern. It can hold for more rows, which SQLite then tests.
    private func pattern(_ comparison: Int, _ value: SQLValue) -> SQLCondition {
        if case .null = value { return .never }
        guard form == .text, case .text(let pattern) = value, !pattern.contains(0) else { return .unknown }
        let isGlob = comparison == FIRN_SQL_GLOB
        guard let run = SQLPattern.longestRun(pattern, isGlob: isGlob), let text = String(validating: run.bytes, as: UTF8.self) else {
            return .unknown
        }
        let test = ComparisonSyntax(
            .path(path), run.isFirst ? .beginsWith : .contains, ignoresCase: !isGlob, .constant(ConstantSyntax(.string(text))))
        return .rows(.comparison(test))
    }
}

extension SQLCondition {
    /// A test that is exact; nil if no row can match.
    fileprivate init(_ test: PredicateSyntax?) { self = test.map { .rows($0) } ?? .never }
}

/// The literal parts of LIKE and GLOB patterns.
enum SQLPattern {
    /// Returns the longest run of characters without a wildcard, or nil if there is none. `isFirst`: the pattern begins with it.
    static func longestRun(_ pattern: [UInt8], isGlob: Bool) -> (bytes: [UInt8], isFirst: Bool)? {
        var best: ArraySlice<UInt8> = [], start = 0, at = 0
        func end() { if at - start > best.count { best = pattern[start..<at] } }
        while at < pattern.count {
            let byte = pattern[at]
            if isGlob, byte == UInt8(ascii: "[") {
                // Classes of characters are not parsed: only the runs before them are used.
                end()
                start = pattern.count
                break
            }
            if byte == UInt8(ascii: isGlob ? "*" : "%") || byte == UInt8(ascii: isGlob ? "?" : "_") {
                end()
                start = at + 1
            }
            at += 1
        }
        if start < pattern.count { end() }
        return best.isEmpty ? nil : (Array(best), best.startIndex == 0)
    }
}
