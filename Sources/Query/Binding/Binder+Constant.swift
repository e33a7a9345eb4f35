import FirnBytes
import FirnTable

extension Binder {
    /// Converts the constant to a value that is comparable with the kind; returns nil if that is impossible. Text is parsed as a number,
    /// date or identifier. A literal keeps all its digits for decimals and is rounded for floats.
    func coerced(_ constant: ConstantSyntax, to kind: ScalarKind) -> ConstantSyntax? {
        let value = constant.value
        var out = constant
        switch (kind, value) {
        case (.any, .double(let x)):
            // A literal with more digits than a double has is a decimal among values of any kind.
            guard let digits = constant.digits, let decimal = Decimal(digits), let rounded = Decimal("\(x)"), decimal.compare(rounded) != 0
            else { return constant }
            out.value = .decimal(decimal)
            return out
        case (_, .null), (.any, _): return constant
        case (.bool, .bool), (.string, .string), (.data, .data), (.date, .date), (.objectID, .objectID), (.uuid, .uuid), (.link, .link):
            return constant
        case (.bool, .int(let x)) where acceptsNumbersAsBooleans && (x == 0 || x == 1):
            out.value = .bool(x == 1)
            return out
        case (.int, .string(let text)), (.float, .string(let text)), (.double, .string(let text)):
            if let whole = Int64(text) {
                out.value = .int(whole)
            } else if let real = Double(text) {
                out.value = .double(real)
            } else {
                return nil
            }
            return kind == .float ? coerced(out, to: kind) : out
        case (.decimal, .string(let text)):
            guard let decimal = Decimal(text) else { return nil }
            out.value = .decimal(decimal)
            return out
        case (.date, .string(let text)):
            guard let date = Binder.date(text) else { return nil }
            out.value = .date(date)
            return out
        case (.uuid, .string(let text)):
            guard let id = Identifier(uuidText: text.lowercased()) else { return nil }
            out.value = .uuid(id)
            return out
        case (.objectID, .string(let text)):
            guard let id = Identifier(objectIDText: text.lowercased()) else { return nil }
            out.value = .objectID(id)
            return out
        case (.float, .double(let x)):
            // A number beyond the range of floats is kept as it is, not converted to infinity.
            if Float(x).isFinite { out.value = .float(Float(x)) }
            return out
        case (.decimal, .double(let x)):
            out.value = .decimal(constant.digits.flatMap { Decimal($0) } ?? Decimal(x))
            return out
        case (.int, .int), (.int, .float), (.int, .double), (.int, .decimal), (.float, .int), (.float, .float), (.float, .decimal),
            (.double, .int), (.double, .float), (.double, .double), (.double, .decimal), (.decimal, .int), (.decimal, .float),
            (.decimal, .decimal):
            return constant
        default: return nil
        }
    }

    /// Parses a date as written in queries, or ISO 8601; without a zone, in UTC.
    private static func date(_ text: String) -> Timestamp? {
        if let date = Timestamp(text: text) { return date }
        var lexer = Lexer(String(text.map { $0 == " " ? "@" : $0 }))
        guard let tokens = try? lexer.tokens(), tokens.count == 2, case .date(let date) = tokens[0].kind else { return nil }
        return date
    }

    /// Returns the source text of a date, and other constants in the syntax of the language.
    func asWritten(_ constant: ConstantSyntax) -> String { constant.written.text ?? "\(constant)" }

    func asWritten(_ expression: ExpressionSyntax) -> String {
        if case .constant(let constant) = expression { asWritten(constant) } else { "\(expression)" }
    }

    /// Binds a comparison with one constant as a test of every value of the kind.
    func elementTest(_ kind: ScalarKind, _ comparator: Comparator, _ constant: ConstantSyntax, _ syntax: ComparisonSyntax)
        throws(QueryError) -> ElementTest
    {
        if comparator == .text { return try wordTest(constant, syntax) }
        if constant.value.isNull { return nullTest(kind, comparator) }
        guard kind != .embedded, let coerced = coerced(constant, to: kind) else { throw mismatch(kind, constant, syntax) }
        let value = coerced.value
        let isNot = comparator == .notEqual
        // Null is less than every text, but not among mixed values: there, only values of comparable kinds are ordered.
        let matchesNull =
            isNot
            || value.bytes != nil && (kind == .string || kind == .data)
                && (comparator == .less || comparator == .lessOrEqual)
        func made(_ form: ElementTest.Form) -> ElementTest { ElementTest(form: form, matchesNull: matchesNull) }
        switch kind {
        case .string, .data:
            guard let bytes = value.bytes else { return made(isNot ? .always : .never) }
            return made(.text(TextTest(Binder.textForm(comparator, bytes), folding: syntax.folding), inverted: isNot))
        case .bool, .link, .int:
            if value.number?.isInfinite ?? false { throw error("Infinity not supported for int", at: constant.position.offset) }
            guard let (low, high) = Binder.words(comparator, value) else { return made(.value(comparator, value, folding: Folding())) }
            return made(.words(low, high, inverted: isNot))
        case .float, .double:
            guard let (low, high) = Binder.reals(comparator, value) else { return made(.value(comparator, value, folding: Folding())) }
            return made(.reals(low, high, inverted: isNot))
        case .date, .uuid, .objectID:
            guard let (low, high) = Binder.pairs(comparator, value) else { return made(isNot ? .always : .never) }
            return made(.pairs(low, high, inverted: isNot))
        default: return made(.value(comparator, value, folding: syntax.folding))
        }
    }

    /// The error for a constant that is not comparable with the values of the other side.
    func mismatch(_ kind: ScalarKind, _ constant: ConstantSyntax, _ syntax: ComparisonSyntax) -> QueryError {
        // The constant can be on either side.
        let path = "\(syntax.left)" == "\(constant)" ? syntax.right : syntax.left,
            other = constant.value.scalarKind?.queryName ?? "collection"
        return error(
            "cannot compare \"\(path)\" (\(kind.queryName)) with \(asWritten(constant)) (\(other))", at: syntax.position.offset,
            expected: kind == .embedded ? "nil, or a property of the object" : "a value of type \(kind.queryName)")
    }

    private func wordTest(_ constant: ConstantSyntax, _ syntax: ComparisonSyntax) throws(QueryError) -> ElementTest {
        guard case .string(let text) = constant.value else {
            throw error("TEXT searches for words", at: constant.position.offset, expected: "text, such as 'snow -rain ic*'")
        }
        switch WordSearch.parsed(text) {
        case .success(let search):
            return ElementTest(form: .text(TextTest(.words(search), folding: Folding()), inverted: false), matchesNull: false)
        case .failure(let fault):
            throw error(
                fault.words, at: constant.position.offset,
                expected: "words of letters and digits, each optionally with - before it or * after it")
        }
    }

    /// Binds comparisons with NULL: for text, null is less than all values; for other kinds, only `==`, `>=` and `<=` are true for two
    /// nulls.
    private func nullTest(_ kind: ScalarKind, _ comparator: Comparator) -> ElementTest {
        if kind == .any, !comparator.isTextual || comparator == .like {
            return ElementTest(
                form: .value(comparator, .null, folding: Folding()),
                matchesNull: comparator == .equal || comparator == .lessOrEqual || comparator == .greaterOrEqual || comparator == .like)
        }
        let isText = kind == .string || kind == .data
        return switch comparator {
        case .equal, .lessOrEqual, .like: ElementTest(form: .never, matchesNull: true)
        case .notEqual: ElementTest(form: .always, matchesNull: false)
        case .less: ElementTest(form: .never, matchesNull: false)
        case .greater: ElementTest(form: isText ? .always : .never, matchesNull: false)
        case .greaterOrEqual: ElementTest(form: isText ? .always : .never, matchesNull: true)
        default: ElementTest(form: .always, matchesNull: true)
        }
    }

    private static func textForm(_ comparator: Comparator, _ bytes: [UInt8]) -> TextTest.Form {
        switch comparator {
        case .less: .range(low: nil, lowIncluded: false, high: bytes, highIncluded: false)
        case .lessOrEqual: .range(low: nil, lowIncluded: false, high: bytes, highIncluded: true)
        case .greater: .range(low: bytes, lowIncluded: false, high: nil, highIncluded: false)
        case .greaterOrEqual: .range(low: bytes, lowIncluded: true, high: nil, highIncluded: false)
        case .beginsWith: .prefix(bytes)
        case .endsWith: .suffix(bytes)
        case .contains: .contains(bytes)
        case .like: .like(bytes)
        default: .equal(bytes)
        }
    }

    /// Returns the words that satisfy a comparison, as low ... high (for `!=`: those that satisfy `==`); (1, 0) if there are none. Nil for
    /// decimals.
    private static func words(_ comparator: Comparator, _ value: Value) -> (Int64, Int64)? {
        let floor: Int64, isExact: Bool
        switch value {
        case .bool(let x): (floor, isExact) = (x ? 1 : 0, true)
        case .int(let x), .link(let x): (floor, isExact) = (x, true)
        case .float, .double:
            let real = value.number ?? .nan
            if real.isNaN { return (1, 0) }
            if real >= 0x1p63 { return comparator == .less || comparator == .lessOrEqual ? (.min, .max) : (1, 0) }
            if real < -0x1p63 { return comparator == .greater || comparator == .greaterOrEqual ? (.min, .max) : (1, 0) }
            floor = Int64(real.rounded(.down))
            isExact = real.rounded(.down) == real
        default: return nil
        }
        switch comparator {
        case .less: return isExact ? (floor == .min ? (1, 0) : (.min, floor - 1)) : (.min, floor)
        case .lessOrEqual: return (.min, floor)
        case .greater: return floor == .max ? (1, 0) : (floor + 1, .max)
        case .greaterOrEqual: return isExact ? (floor, .max) : floor == .max ? (1, 0) : (floor + 1, .max)
        default: return isExact ? (floor, floor) : (1, 0)
        }
    }

    /// Returns the doubles that satisfy a comparison, in the same form; (inf, -inf) if there are none.
    private static func reals(_ comparator: Comparator, _ value: Value) -> (Double, Double)? {
        if value.isDecimal { return nil }
        guard let near = value.number else { return nil }
        if near.isNaN { return (.infinity, -.infinity) }
        // An int can be between two doubles; `near` is the one that it rounds to.
        let order = Value.order(.double(near), value)
        let upTo = order < 0 || order == 0 && comparator == .lessOrEqual ? near : near.nextDown
        let from = order > 0 || order == 0 && comparator == .greaterOrEqual ? near : near.nextUp
        switch comparator {
        case .less: return near == -.infinity ? (.infinity, -.infinity) : (-.infinity, upTo)
        case .lessOrEqual: return (-.infinity, upTo)
        case .greater: return near == .infinity ? (.infinity, -.infinity) : (from, .infinity)
        case .greaterOrEqual: return (from, .infinity)
        default: return order == 0 ? (near, near) : (.infinity, -.infinity)
        }
    }

    private static func pairs(_ comparator: Comparator, _ value: Value) -> (WordPair, WordPair)? {
        let pair: WordPair
        switch value {
        case .date(let x): pair = WordPair(word: x.seconds, extra: Int64(x.nanoseconds))
        case .uuid(let x): pair = WordPair(Column.pair(uuid: x))
        case .objectID(let x): pair = WordPair(Column.pair(objectID: x))
        default: return nil
        }
        switch comparator {
        case .less: return pair.previous.map { (.least, $0) }
        case .lessOrEqual: return (.least, pair)
        case .greater: return pair.next.map { ($0, .greatest) }
        case .greaterOrEqual: return (pair, .greatest)
        default: return (pair, pair)
        }
    }
}

extension WordPair {
    init(_ pair: (Int64, Int64)) { self.init(word: pair.0, extra: pair.1) }
}
