import FirnBytes
import FirnTable

extension Binder {
    mutating func comparison(_ syntax: ComparisonSyntax) throws(QueryError) -> PredicateNode {
        if let node = try typeTest(syntax) { return node }
        if syntax.comparator == .geoWithin { return try within(syntax) }
        if let values = try list(syntax.right) { return try listComparison(syntax, values) }
        if let values = try list(syntax.left) {
            guard syntax.comparator.isEquality, try list(syntax.right) == nil else {
                throw error("\"\(syntax.comparator.rawValue)\" does not accept a list on its left", at: syntax.left.position)
            }
            return try listComparison(
                ComparisonSyntax(
                    syntax.right, syntax.comparator, ignoresCase: syntax.ignoresCase, ignoresMarks: syntax.ignoresMarks, syntax.left,
                    at: syntax.position), values)
        }
        let left = try operand(syntax.left), right = try operand(syntax.right)
        switch (left, right) {
        case (.constant(let a), .constant(let b)):
            // A property whose name looks like a row literal must be quoted.
            let named = [a, b].lazy.compactMap { if case .link(let row) = $0.value { "O\(row)" } else { nil } }.first {
                type.index(of: $0) != nil
            }
            throw error(
                "Cannot compare two constants (\"\(asWritten(syntax.left))\" and \"\(asWritten(syntax.right))\")",
                at: syntax.position.offset,
                suggestion: (named ?? quotedColumn(a, b)).map { "\(PathSyntax.inBackQuotes($0)) (in back-quotes, for the property)" })
        case (_, .constant(let constant)):
            // No row equals an object without a row, and nothing is in it.
            if syntax.comparator == .isIn, case .link(-1) = constant.value { return ConstantNode(false) }
            guard syntax.comparator != .isIn else { throw error("the right-hand side of IN must be a list", at: syntax.right.position) }
            return try test(left, syntax.comparator, constant, syntax)
        case (.constant(let constant), _):
            if syntax.comparator == .isIn { return try member(left, right, syntax) }
            if syntax.comparator.isTextual { return try textInColumn(constant, right, syntax) }
            guard syntax.comparator != .text else {
                throw error("TEXT needs a property on its left and words on its right", at: syntax.left.position)
            }
            return try test(right, syntax.comparator.flipped, constant, syntax)
        default:
            if syntax.comparator == .isIn { return try member(left, right, syntax) }
            if let node = try wholeCollections(left, right, syntax) { return node }
            return try pair(left, syntax.comparator, right, syntax)
        }
    }

    private func mismatch(_ a: ScalarKind?, _ b: ScalarKind?, _ syntax: ComparisonSyntax) -> QueryError {
        error(
            "cannot compare: \(syntax.left) is \(a?.queryName ?? "null"), \(syntax.right) is \(b?.queryName ?? "null")",
            at: syntax.position.offset)
    }

    private func comparable(_ a: ScalarKind, _ b: ScalarKind) -> Bool {
        if a == .embedded || b == .embedded { return false }
        return a == .any || b == .any || a == b || a.isNumber && b.isNumber
    }

    private func checkOperator(_ syntax: ComparisonSyntax, _ kind: ScalarKind) throws(QueryError) {
        let isText = kind == .string || kind == .data || kind == .any
        guard !syntax.comparator.isTextual || isText else {
            throw error("\"\(syntax.comparator.rawValue)\" needs text, not type \"\(kind.queryName)\"", at: syntax.position.offset)
        }
        guard syntax.comparator != .text || kind == .string else {
            throw error("TEXT needs text, not type \"\(kind.queryName)\"", at: syntax.position.offset)
        }
        guard !syntax.folding.isNeeded || isText else {
            throw error("\(syntax.folding) needs text, not type \"\(kind.queryName)\"", at: syntax.position.offset)
        }
        guard kind != .link || !syntax.comparator.isOrder else { throw error("links have no order", at: syntax.position.offset) }
    }

    private func entered(_ operand: Operand, _ position: Int) throws(QueryError) -> Operand {
        if case .path(let path) = operand { .path(try entered(path, at: position)) } else { operand }
    }

    private func quantifier(_ operand: Operand) -> Quantifier? {
        if case .path(let path) = operand { path.quantifier } else { nil }
    }

    // MARK: Operand against constant

    private mutating func test(_ operand: Operand, _ comparator: Comparator, _ constant: ConstantSyntax, _ syntax: ComparisonSyntax)
        throws(QueryError) -> PredicateNode
    {
        if case .path(let path) = operand, path.type.isCollection, !path.isMany, constant.value.isNull, comparator.isEquality,
            path.quantifier == nil
        {
            if let node = try nullCollection(path, comparator, syntax) { return node }
        }
        var operand = try entered(operand, syntax.left.position)
        guard let kind = operand.kind else { throw mismatch(nil, constant.value.scalarKind, syntax) }
        if !constant.value.isNull || kind != .embedded { try checkOperator(syntax, kind) }
        if kind == .link, constant.value.isNull { operand = resolved(operand) }
        let constant = try checked(constant, against: operand)
        let test = try elementTest(kind, comparator, constant, syntax)
        return node(operand, test, quantifier(operand), syntax)
    }

    private mutating func node(_ operand: Operand, _ test: ElementTest, _ quantifier: Quantifier?, _ syntax: ComparisonSyntax) -> TestNode {
        var number: Int?
        if case .text = test.form {
            number = textTests
            textTests += 1
        }
        return TestNode(operand, test, quantifier: quantifier, number: number, text: syntax.description)
    }

    /// Binds `list == NULL`, which tests whether there is a list at all, if the collection is optional. Returns nil for other collections.
    private func nullCollection(_ path: BoundPath, _ comparator: Comparator, _ syntax: ComparisonSyntax) throws(QueryError)
        -> PredicateNode?
    {
        if path.type.isOptional {
            let isNull = comparator == .equal
            return TestNode(
                .path(path), ElementTest(form: isNull ? .never : .always, matchesNull: isNull), quantifier: nil, number: nil,
                text: syntax.description)
        }
        guard path.type.kind != .link, path.type.kind != .embedded else {
            throw error("Cannot compare linklist (\"\(path.text)\") with NULL", at: syntax.position.offset)
        }
        return nil
    }

    /// Binds `'x' CONTAINS name`.
    private mutating func textInColumn(_ constant: ConstantSyntax, _ right: Operand, _ syntax: ComparisonSyntax) throws(QueryError)
        -> PredicateNode
    {
        let right = try entered(right, syntax.right.position)
        guard let kind = right.kind else { throw mismatch(nil, nil, syntax) }
        try checkOperator(syntax, kind)
        if constant.value.isNull {
            return node(right, ElementTest(form: .never, matchesNull: syntax.comparator == .like), quantifier(right), syntax)
        }
        guard let other = constant.value.scalarKind, kind == .any && (other == .string || other == .data) || other == kind else {
            throw mismatch(constant.value.scalarKind, kind, syntax)
        }
        return PairNode(
            .constant(constant), syntax.comparator, right, folding: syntax.folding, quantifier: quantifier(right), text: syntax.description)
    }

    // MARK: Operand against operand

    /// Binds `ints == others`: compares two collections of plain values element by element, in order.
    private func wholeCollections(_ left: Operand, _ right: Operand, _ syntax: ComparisonSyntax) throws(QueryError) -> PredicateNode? {
        guard case .path(let a) = left, case .path(let b) = right, a.isPrimitiveCollection, b.isPrimitiveCollection, a.quantifier == nil,
            b.quantifier == nil,
            a.type.kind != .embedded, b.type.kind != .embedded
        else { return nil }
        guard (a.type.collection == .map) == (b.type.collection == .map), comparable(a.type.kind, b.type.kind) else {
            throw mismatch(a.type.kind, b.type.kind, syntax)
        }
        guard syntax.comparator.isEquality else {
            throw error(
                "\"\(syntax.comparator.rawValue)\" cannot compare two collections", at: syntax.position.offset,
                expected: "== or !=, or ANY, ALL or NONE before one side")
        }
        guard !syntax.folding.isNeeded else {
            throw error("\(syntax.folding) cannot be used with two collections", at: syntax.position.offset)
        }
        return PairNode(left, syntax.comparator, right, folding: Folding(), quantifier: nil, text: syntax.description)
    }

    private mutating func pair(_ left: Operand, _ comparator: Comparator, _ right: Operand, _ syntax: ComparisonSyntax) throws(QueryError)
        -> PredicateNode
    {
        guard comparator != .text else {
            throw error("TEXT needs a constant on its right: the words to search for", at: syntax.right.position)
        }
        let left = try entered(left, syntax.left.position), right = try entered(right, syntax.right.position)
        guard !(left.isMany && right.isMany) else {
            throw error("A comparison between two primitive lists is not supported", at: syntax.position.offset)
        }
        guard let a = left.kind, let b = right.kind, comparable(a, b) else { throw mismatch(left.kind, right.kind, syntax) }
        try checkOperator(syntax, a)
        try checkOperator(syntax, b)
        if a == .link, b == .link {
            guard left.type.target == right.type.target else {
                throw error(
                    "cannot compare: \(syntax.left) links to \(left.type.target ?? "?"), \(syntax.right) to \(right.type.target ?? "?")",
                    at: syntax.position.offset)
            }
        }
        return PairNode(
            a == .link ? resolved(left) : left, comparator, b == .link ? resolved(right) : right, folding: syntax.folding,
            quantifier: quantifier(left) ?? quantifier(right), text: syntax.description)
    }

    /// Binds `x IN list`: ANY element equals x.
    private mutating func member(_ left: Operand, _ right: Operand, _ syntax: ComparisonSyntax) throws(QueryError) -> PredicateNode {
        let right = try entered(right, syntax.right.position)
        guard right.isMany || right.kind == .any else { throw error("the right-hand side of IN must be a list", at: syntax.right.position) }
        var list = right
        if case .path(var path) = right, !path.isMany {
            path.steps.append(.anyEnter)
            path.isMany = true
            list = .path(path)
        }
        if case .constant(let constant) = left {
            guard let kind = list.kind else { throw mismatch(nil, nil, syntax) }
            try checkOperator(syntax, kind)
            if kind == .link, constant.value.isNull { list = resolved(list) }
            return node(list, try elementTest(kind, .equal, checked(constant, against: list), syntax), quantifier(list), syntax)
        }
        return try pair(left, .equal, list, syntax)
    }

    /// Returns the first constant that is the name of a column: SQL writes names in double quotes, which are text in this language.
    private func quotedColumn(_ constants: ConstantSyntax...) -> String? {
        constants.lazy.compactMap { if case .string(let name) = $0.value { name } else { nil } }.first { type.index(of: $0) != nil }
    }

    // MARK: Lists of constants

    private mutating func listComparison(_ syntax: ComparisonSyntax, _ values: [ConstantSyntax]) throws(QueryError) -> PredicateNode {
        let operand = try operand(syntax.left)
        guard !operand.isConstant else {
            throw error(
                "Cannot compare two constants (\"\(asWritten(syntax.left))\" and \"\(asWritten(syntax.right))\")",
                at: syntax.position.offset)
        }
        var listQuantifier: Quantifier?
        if case .list(let quantifier, _, _) = syntax.right { listQuantifier = quantifier }
        if syntax.comparator == .between { return try between(operand, values, syntax) }
        if case .path(let path) = operand, path.quantifier == nil, listQuantifier == nil, path.isPrimitiveCollection {
            guard path.type.collection != .map else {
                throw error(
                    "a map cannot be compared with a list", at: syntax.position.offset,
                    expected: "its @values or its @keys, or ANY, ALL or NONE before it")
            }
            if syntax.comparator.isEquality { return wholeCollection(path, values, syntax) }
            if syntax.comparator == .isIn { return ConstantNode(false) }
        }
        var elements = try entered(operand, syntax.left.position), values = values
        guard let kind = elements.kind else { throw mismatch(nil, nil, syntax) }
        try checkOperator(syntax, kind)
        if kind == .link {
            if values.contains(where: { $0.value.isNull }) { elements = resolved(elements) }
            for i in values.indices { values[i] = try checked(values[i], against: elements) }
        }
        if listQuantifier == nil || listQuantifier == .any && !syntax.comparator.isOrder && !syntax.comparator.isTextual {
            guard syntax.comparator.isEquality || syntax.comparator == .isIn else {
                throw error("\"\(syntax.comparator.rawValue)\" with a list needs ANY, ALL or NONE before it", at: syntax.right.position)
            }
            let test = try memberTest(kind, values, inverted: syntax.comparator == .notEqual && listQuantifier == nil, syntax)
            if syntax.comparator != .notEqual || listQuantifier == nil { return node(elements, test, quantifier(elements), syntax) }
        }
        var parts: [PredicateNode] = []
        let comparator = syntax.comparator == .isIn ? .equal : syntax.comparator
        for value in values {
            parts.append(
                node(
                    elements, try elementTest(kind, comparator, value, syntax), quantifier(elements),
                    ComparisonSyntax(syntax.left, comparator, .constant(value))))
        }
        switch listQuantifier {
        case .all: return parts.isEmpty ? ConstantNode(true) : AndNode(parts)
        case .some(.none): return parts.isEmpty ? ConstantNode(true) : NotNode(OrNode(parts))
        default: return parts.isEmpty ? ConstantNode(false) : OrNode(parts)
        }
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
        let low = try elementTest(kind, .greaterOrEqual, values[0], syntax), high = try elementTest(kind, .lessOrEqual, values[1], syntax)
        return AndNode([
            node(elements, low, quantifier(elements), ComparisonSyntax(syntax.left, .greaterOrEqual, .constant(values[0]))),
            node(elements, high, quantifier(elements), ComparisonSyntax(syntax.left, .lessOrEqual, .constant(values[1]))),
        ])
    }

    /// Binds `list == {1, 2}`: the same elements in the same order (for a set, in ascending order).
    private mutating func wholeCollection(_ path: BoundPath, _ values: [ConstantSyntax], _ syntax: ComparisonSyntax) -> PredicateNode {
        let wanted = Value.list(
            values.map { constant in
                // A constant that is not comparable with the elements equals none of them.
                coerced(constant, to: path.type.kind)?.value ?? constant.value
            })
        let test = ElementTest(
            form: .value(syntax.comparator, wanted, folding: syntax.folding), matchesNull: syntax.comparator == .notEqual)
        return TestNode(.path(path), test, quantifier: nil, number: nil, text: syntax.description)
    }

    private func memberTest(_ kind: ScalarKind, _ values: [ConstantSyntax], inverted: Bool, _ syntax: ComparisonSyntax) throws(QueryError)
        -> ElementTest
    {
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
