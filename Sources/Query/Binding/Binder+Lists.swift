import FirnBytes
import FirnTable

/// Comparisons with a list of constants.
extension Binder {
    /// Binds `{1, 2} == list`, `{0} < x`, `{2} IN list` and `{'a', 'b'} CONTAINS name`. Without a quantifier before the list, IN and text
    /// comparisons hold if they hold for one of its constants.
    mutating func listOnLeft(_ syntax: ComparisonSyntax, _ values: [ConstantSyntax]) throws(QueryError) -> PredicateNode {
        let comparator = syntax.comparator
        if comparator.isEquality || comparator.isOrder {
            return try listComparison(
                ComparisonSyntax(
                    syntax.right, comparator.flipped, ignoresCase: syntax.ignoresCase, ignoresMarks: syntax.ignoresMarks, syntax.left,
                    at: syntax.position), values)
        }
        guard comparator == .isIn || comparator.isTextual else {
            throw error("\"\(comparator.rawValue)\" does not accept a list on its left", at: syntax.left.position)
        }
        // Checked even if the list is empty.
        _ = try operand(syntax.right)
        var parts: [PredicateNode] = [], one = syntax
        for value in values {
            one.left = .constant(value)
            parts.append(try comparison(one))
        }
        var quantifier: Quantifier?
        if case .list(let found, _, _) = syntax.left { quantifier = found }
        return Binder.combined(parts, quantifier)
    }

    /// Returns whether one part, all parts or no part holds.
    private static func combined(_ parts: [PredicateNode], _ quantifier: Quantifier?) -> PredicateNode {
        switch quantifier {
        case .all: parts.isEmpty ? ConstantNode(true) : AndNode(parts)
        case .some(.none): parts.isEmpty ? ConstantNode(true) : NotNode(OrNode(parts))
        default: parts.isEmpty ? ConstantNode(false) : OrNode(parts)
        }
    }

    /// Binds `x > {1, 2}` and `name CONTAINS {'a', 'b'}`: a value passes if the comparison holds for one of the constants.
    private mutating func anyOf(_ operand: Operand, _ kind: ScalarKind, _ values: [ConstantSyntax], _ syntax: ComparisonSyntax)
        throws(QueryError) -> PredicateNode
    {
        var tests: [ElementTest] = []
        for value in values { tests.append(try elementTest(kind, syntax.comparator, value, syntax)) }
        if let quantifier = quantifier(operand), quantifier != .any {
            return node(operand, ElementTest(form: .anyOf(tests), matchesNull: tests.contains(where: \.matchesNull)), quantifier, syntax)
        }
        var parts: [PredicateNode] = []
        for (test, value) in zip(tests, values) {
            parts.append(node(operand, test, quantifier(operand), ComparisonSyntax(syntax.left, syntax.comparator, .constant(value))))
        }
        return Binder.combined(parts, .any)
    }

    mutating func listComparison(_ syntax: ComparisonSyntax, _ values: [ConstantSyntax]) throws(QueryError) -> PredicateNode {
        let operand = try operand(syntax.left)
        guard !operand.isConstant else {
            throw error(
                "Cannot compare two constants (\"\(asWritten(syntax.left))\" and \"\(asWritten(syntax.right))\")",
                at: syntax.position.offset)
        }
        let comparator = syntax.comparator
        var listQuantifier: Quantifier?
        if case .list(let quantifier, _, _) = syntax.right { listQuantifier = quantifier }
        if comparator == .between { return try between(operand, values, syntax) }
        if case .path(let path) = operand, path.quantifier == nil, listQuantifier == nil, path.isPrimitiveCollection {
            guard path.type.collection != .map || comparator.isOrder || comparator.isTextual else {
                throw error(
                    "a map cannot be compared with a list", at: syntax.position.offset,
                    expected: "its @values or its @keys, or ANY, ALL or NONE before it")
            }
            if syntax.comparator.isEquality { return try wholeCollection(path, values, syntax) }
            if syntax.comparator == .isIn { return ConstantNode(false) }
        }
        var elements = try entered(operand, syntax.left.position), values = values
        guard let kind = elements.kind else { throw mismatch(nil, nil, syntax) }
        try checkOperator(syntax, kind)
        if kind == .link || kind == .any {
            if kind == .link, values.contains(where: { $0.value.isNull }) { elements = resolved(elements) }
            for i in values.indices { values[i] = try checked(values[i], against: elements) }
        }
        values = values.map { stored($0, in: elements, comparator) }
        if listQuantifier == nil, comparator.isOrder || comparator.isTextual { return try anyOf(elements, kind, values, syntax) }
        if listQuantifier == nil || listQuantifier == .any && !comparator.isOrder && !comparator.isTextual {
            guard comparator.isEquality || comparator == .isIn else {
                throw error("\"\(comparator.rawValue)\" with a list needs ANY, ALL or NONE before it", at: syntax.right.position)
            }
            let test = try memberTest(kind, values, inverted: syntax.comparator == .notEqual && listQuantifier == nil, syntax)
            if syntax.comparator != .notEqual || listQuantifier == nil { return node(elements, test, quantifier(elements), syntax) }
        }
        var parts: [PredicateNode] = []
        let each = comparator == .isIn ? Comparator.equal : comparator
        for value in values {
            parts.append(
                node(
                    elements, try elementTest(kind, each, value, syntax), quantifier(elements),
                    ComparisonSyntax(syntax.left, each, .constant(value))))
        }
        return Binder.combined(parts, listQuantifier)
    }

    private mutating func between(_ operand: Operand, _ values: [ConstantSyntax], _ syntax: ComparisonSyntax) throws(QueryError)
        -> PredicateNode
    {
        guard values.count == 2 else { throw error("Operator \"BETWEEN\" requires a list with 2 elements", at: syntax.right.position) }
        let elements = try entered(operand, syntax.left.position)
        guard !elements.isMany || quantifier(elements) == .all else {
            throw error("Only \"ALL\" is supported for operator \"BETWEEN\" on lists", at: syntax.position.offset)
        }
        guard let kind = elements.kind else { throw mismatch(nil, nil, syntax) }
        let values = values.map { stored($0, in: elements, .lessOrEqual) }
        let low = try elementTest(kind, .greaterOrEqual, values[0], syntax), high = try elementTest(kind, .lessOrEqual, values[1], syntax)
        return AndNode([
            node(elements, low, quantifier(elements), ComparisonSyntax(syntax.left, .greaterOrEqual, .constant(values[0]))),
            node(elements, high, quantifier(elements), ComparisonSyntax(syntax.left, .lessOrEqual, .constant(values[1]))),
        ])
    }

    /// Binds `list == {1, 2}`: the same elements in the same order (for a set, in ascending order).
    private mutating func wholeCollection(_ path: BoundPath, _ values: [ConstantSyntax], _ syntax: ComparisonSyntax) throws(QueryError)
        -> PredicateNode
    {
        try checkComparable(path.type.kind, values, syntax)
        let wanted = Value.list(
            values.map { constant in
                // A constant that is not comparable with the elements equals none of them.
                coerced(constant, to: path.type.kind)?.value ?? constant.value
            })
        let test = ElementTest(
            form: .value(syntax.comparator, wanted, folding: syntax.folding), matchesNull: syntax.comparator == .notEqual)
        return TestNode(.path(path), test, quantifier: nil, number: nil, text: syntax.description)
    }

    /// Throws if none of the constants is comparable with the values of the other side. If some are, the others equal no value.
    private func checkComparable(_ kind: ScalarKind, _ values: [ConstantSyntax], _ syntax: ComparisonSyntax) throws(QueryError) {
        guard let first = values.first(where: { !$0.value.isNull }),
            kind == .embedded || !values.contains(where: { $0.value.isNull || coerced($0, to: kind) != nil })
        else { return }
        throw mismatch(kind, first, syntax)
    }

    private func memberTest(_ kind: ScalarKind, _ values: [ConstantSyntax], inverted: Bool, _ syntax: ComparisonSyntax) throws(QueryError)
        -> ElementTest
    {
        try checkComparable(kind, values, syntax)
        let hasNull = values.contains { $0.value.isNull }
        var wanted: [Value] = []
        for value in values where !value.value.isNull {
            if let coerced = coerced(value, to: kind) { wanted.append(coerced.value) }
        }
        let matchesNull = hasNull != inverted
        switch kind {
        case .bool, .int, .link:
            var words: [Int64] = []
            for value in wanted { if let word = Binder.word(value) { words.append(word) } }
            return ElementTest(form: .wordSet(Array(Set(words)).sorted(), inverted: inverted), matchesNull: matchesNull)
        case .string, .data:
            let texts = wanted.compactMap(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
            return ElementTest(form: .text(TextTest(.oneOf(texts), folding: syntax.folding), inverted: inverted), matchesNull: matchesNull)
        case .any:
            // A null in a column of mixed values is a value like others.
            return ElementTest(
                form: .valueSet(wanted + (hasNull ? [.null] : []), inverted: inverted, folding: syntax.folding), matchesNull: matchesNull)
        default: return ElementTest(form: .valueSet(wanted, inverted: inverted, folding: Folding()), matchesNull: matchesNull)
        }
    }

    /// Returns the word that equals the value in a column of bools, ints or links, or nil if there is none.
    private static func word(_ value: Value) -> Int64? {
        switch value {
        case .bool(let x): x ? 1 : 0
        case .int(let x), .link(let x): x
        case .float(let x): Int64(exactly: x)
        case .double(let x): Int64(exactly: x)
        case .decimal(let x):
            Int64(exactly: x.double.rounded()).flatMap { guess in
                (max(guess, .min + 1) - 1...min(guess, .max - 1) + 1).first { Value.order(.int($0), value) == 0 }
            }
        default: nil
        }
    }
}
