import FirnBytes
import FirnTable

extension Binder {
    mutating func comparison(_ written: ComparisonSyntax) throws(QueryError) -> PredicateNode {
        let syntax = withTruthWord(written)
        if let node = try typeTest(syntax) { return node }
        if syntax.comparator == .geoWithin { return try within(syntax) }
        if syntax.comparator == .isIn, try isShape(syntax.right) {
            throw error("a shape is allowed only on the right of GEOWITHIN", at: syntax.position.offset, expected: "GEOWITHIN")
        }
        if let values = try list(syntax.right) { return try listComparison(syntax, values) }
        if let values = try list(syntax.left) { return try listOnLeft(syntax, values) }
        let left = try operand(syntax.left), right = try operand(syntax.right)
        switch (left, right) {
        case (.constant(let a), .constant(let b)):
            // A property whose name looks like a row literal must be quoted.
            let named = [a, b].lazy.compactMap { if case .link(let row) = $0.value { "O\(row)" } else { nil } }.first {
                column($0) != nil
            }
            throw error(
                "Cannot compare two constants (\"\(asWritten(syntax.left))\" and \"\(asWritten(syntax.right))\")",
                at: syntax.position.offset,
                suggestion: (named ?? quotedColumn(a, b)).map { "\(PathSyntax.inBackQuotes($0)) (in back-quotes, for the property)" })
        case (_, .constant(let constant)):
            if syntax.comparator == .isIn, case .link(QuerySyntax.unmanagedRow) = constant.value { return ConstantNode(false) }
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

    /// Returns the comparison with a boolean in place of `YES` or `NO` on its right, as `NSPredicate` writes booleans. A column or inverse with
    /// that name has precedence.
    private func withTruthWord(_ syntax: ComparisonSyntax) -> ComparisonSyntax {
        guard syntax.comparator.isEquality, case .path(let path) = syntax.right, path.quantifier == nil, path.steps.count == 1,
            case .name(let name, _) = path.steps[0], let value = ["YES": true, "yes": true, "NO": false, "no": false][name],
            column(name) == nil, inverse(name, of: type.name) == nil
        else { return syntax }
        var syntax = syntax
        syntax.right = .constant(ConstantSyntax(.bool(value), at: path.position))
        return syntax
    }

    func mismatch(_ a: ScalarKind?, _ b: ScalarKind?, _ syntax: ComparisonSyntax) -> QueryError {
        error(
            "cannot compare: \(syntax.left) is \(a?.queryName ?? "null"), \(syntax.right) is \(b?.queryName ?? "null")",
            at: syntax.position.offset)
    }

    private func comparable(_ a: ScalarKind, _ b: ScalarKind) -> Bool {
        if a == .embedded || b == .embedded { return false }
        return a == .any || b == .any || a == b || a.isNumber && b.isNumber
    }

    func checkOperator(_ syntax: ComparisonSyntax, _ kind: ScalarKind) throws(QueryError) {
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

    func entered(_ operand: Operand, _ position: Int) throws(QueryError) -> Operand {
        if case .path(let path) = operand { .path(try entered(path, at: position)) } else { operand }
    }

    func quantifier(_ operand: Operand) -> Quantifier? {
        if case .path(let path) = operand { path.quantifier } else { nil }
    }

    // MARK: Operand against constant

    private mutating func test(_ operand: Operand, _ comparator: Comparator, _ constant: ConstantSyntax, _ syntax: ComparisonSyntax)
        throws(QueryError) -> PredicateNode
    {
        if case .link(QuerySyntax.unmanagedRow) = constant.value {
            throw error("an unmanaged object cannot be searched for", at: constant.position.offset, expected: "an object of the realm")
        }
        if case .path(let path) = operand, path.type.isCollection, !path.isMany, constant.value.isNull, comparator.isEquality,
            path.quantifier == nil
        {
            if let node = try nullCollection(path, comparator, syntax) { return node }
        }
        var operand = try entered(operand, syntax.left.position)
        guard let kind = operand.kind else { throw mismatch(nil, constant.value.scalarKind, syntax) }
        if !constant.value.isNull || kind != .embedded { try checkOperator(syntax, kind) }
        if kind == .link, constant.value.isNull { operand = resolved(operand) }
        let constant = stored(try checked(constant, against: operand), in: operand, comparator)
        let test = try elementTest(kind, comparator, constant, syntax)
        return node(operand, test, quantifier(operand), syntax)
    }

    mutating func node(_ operand: Operand, _ test: ElementTest, _ quantifier: Quantifier?, _ syntax: ComparisonSyntax) -> TestNode {
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
            quantifier: quantifier(left) ?? quantifier(right),
            decimals: (b == .decimal && left.storesDecimals, a == .decimal && right.storesDecimals), text: syntax.description)
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
            let constant = stored(try checked(constant, against: list), in: list, .equal)
            return node(list, try elementTest(kind, .equal, constant, syntax), quantifier(list), syntax)
        }
        return try pair(left, .equal, list, syntax)
    }

    /// Returns the first constant that is the name of a column: SQL writes names in double quotes, which are text in this language.
    private func quotedColumn(_ constants: ConstantSyntax...) -> String? {
        constants.lazy.compactMap { if case .string(let name) = $0.value { name } else { nil } }.first { column($0) != nil }
    }
}
