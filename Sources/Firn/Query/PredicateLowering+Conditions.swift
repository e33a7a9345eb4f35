import FirnQuery
import FirnTable
import Foundation

// Comparisons and conditions of `#Predicate`.

extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .condition(try lowering.compared(lhs, .equal, rhs)) }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .condition(try lowering.compared(lhs, .notEqual, rhs)) }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let comparator: QueryComparator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw lowering.unsupported(self)
            }
        return .condition(try lowering.compared(lhs, comparator, rhs))
    }
}

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        .condition(.and(try lowering.condition(lhs).conjuncts + lowering.condition(rhs).conjuncts))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        .condition(.or(try lowering.condition(lhs).disjuncts + lowering.condition(rhs).disjuncts))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .condition(.not(try lowering.condition(wrapped))) }
}

extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let test = try lowering.condition(test)
        return .condition(
            .or([.and([test, try lowering.condition(trueBranch)]), .and([.not(test), try lowering.condition(falseBranch)])]))
    }
}

extension PredicateLowering {
    func compared(_ lhs: any PredicateExpression, _ comparator: QueryComparator, _ rhs: any PredicateExpression) throws -> PredicateSyntax {
        let left = try lower(lhs), right = try lower(rhs)
        switch (left, right) {
        case (.condition(let condition), .value(let value)), (.value(let value), .condition(let condition)):
            guard let value = value as? Bool, comparator == .equal || comparator == .notEqual else { break }
            return value == (comparator == .equal) ? condition : .not(condition)
        case (.optional(let present, let condition), .value(let value)), (.value(let value), .optional(let present, let condition)):
            guard comparator == .equal || comparator == .notEqual else { break }
            var equal = PredicateSyntax.not(present)
            if let value = unwrapped(value) {
                guard let value = value as? Bool else { break }
                equal = .and([present, value ? condition : .not(condition)])
            }
            return comparator == .equal ? equal : .not(equal)
        // `(x ?? 0) > 3` becomes: x > 3 where x is present, otherwise the constant result of 0 > 3.
        case (.either(let expression, let other), .value(let value)):
            return try either(expression, other, comparator, value, left: true, lhs)
        case (.value(let value), .either(let expression, let other)):
            return try either(expression, other, comparator, value, left: false, rhs)
        default: break
        }
        return .comparison(ComparisonSyntax(try side(left, of: lhs), comparator, try side(right, of: rhs)))
    }

    private func either(
        _ expression: ExpressionSyntax, _ other: Any?, _ comparator: QueryComparator, _ value: Any?, left: Bool,
        _ origin: any PredicateExpression
    ) throws -> PredicateSyntax {
        guard let a = try stored(other), let b = try stored(value) else { throw unsupported(origin) }
        let order = left ? Value.order(a, b) : Value.order(b, a)
        let holds =
            switch comparator {
            case .equal: order == 0
            case .notEqual: order != 0
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            default: order >= 0
            }
        let constant = try constant(value), null = ExpressionSyntax.constant(ConstantSyntax(.null))
        let there = PredicateSyntax.comparison(
            left ? ComparisonSyntax(expression, comparator, constant) : ComparisonSyntax(constant, comparator, expression))
        let missing = PredicateSyntax.comparison(ComparisonSyntax(expression, .equal, null))
        return holds ? .or([missing, there]) : .and([.not(missing), there])
    }

    private func stored(_ value: Any?) throws -> Value? { Value(any: value) }
}

// MARK: Contents

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let whole = try lowering.lower(sequence), part = try lowering.lower(element)
        if case .path(let path) = whole, LHS.Output.self == String.self {
            guard case .value(let character) = part else { throw lowering.unsupported(self) }
            return .condition(.comparison(ComparisonSyntax(.path(path), .contains, try lowering.constant("\(unwrapped(character) ?? "")"))))
        }
        return .condition(
            .comparison(ComparisonSyntax(try lowering.side(part, of: element), .isIn, try lowering.side(whole, of: sequence))))
    }
}

extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { try lowering.text(base, .contains, other, self) }
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { try lowering.text(base, .beginsWith, prefix, self) }
}

extension PredicateLowering {
    func text(
        _ whole: any PredicateExpression, _ comparator: QueryComparator, _ part: any PredicateExpression, _ origin: any PredicateExpression
    ) throws -> Lowered {
        guard Swift.type(of: whole).isText, Swift.type(of: part).isText else { throw unsupported(origin, "applies to text only") }
        return .condition(
            .comparison(ComparisonSyntax(try side(try lower(whole), of: whole), comparator, try side(try lower(part), of: part))))
    }
}

extension PredicateExpression {
    fileprivate static var isText: Bool { Output.self is any StringProtocol.Type }
}

extension PredicateExpressions.ClosedRange: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .range(lower, upper, isClosed: true) }
}

extension PredicateExpressions.Range: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .range(lower, upper, isClosed: false) }
}

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let low: ExpressionSyntax, high: ExpressionSyntax, isClosed: Bool
        switch try lowering.lower(range) {
        case .range(let lower, let upper, let closed):
            low = try lowering.side(try lowering.lower(lower), of: lower)
            high = try lowering.side(try lowering.lower(upper), of: upper)
            isClosed = closed
        case .value(let value):
            guard let bounds = value as? any BoundedRange else { throw lowering.unsupported(self) }
            low = try lowering.constant(bounds.bounds.0)
            high = try lowering.constant(bounds.bounds.1)
            isClosed = bounds.isClosed
        default: throw lowering.unsupported(self)
        }
        let value = try lowering.side(try lowering.lower(element), of: element)
        if isClosed, case .constant = low, case .constant = high {
            return .condition(.comparison(ComparisonSyntax(value, .between, .list(nil, [low, high], .init()))))
        }
        return .condition(
            .and([
                .comparison(ComparisonSyntax(value, .greaterOrEqual, low)),
                .comparison(ComparisonSyntax(value, isClosed ? .lessOrEqual : .less, high)),
            ]))
    }
}

private protocol BoundedRange {
    var bounds: (Any, Any) { get }
    var isClosed: Bool { get }
}

extension ClosedRange: BoundedRange {
    fileprivate var bounds: (Any, Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { true }
}

extension Range: BoundedRange {
    fileprivate var bounds: (Any, Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { false }
}

// MARK: Elements that match a condition

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        var path = try lowering.path(sequence)
        // For the elements of every element there is no path that says "all of them have one"; a count expresses it instead.
        let isWithinAll = path.quantifier == .all
        path.quantifier = nil
        lowering.variables[variable.key] = path
        let condition = try lowering.condition(test)
        // "ANY matches a or b" equals "ANY matches a, or ANY matches b". With "and", the parts could match different elements, so a count
        // is used.
        if !isWithinAll, condition.disjuncts.allSatisfy({ $0.isComparison(with: path) }) { return .condition(condition) }
        return .condition(
            .comparison(
                ComparisonSyntax(
                    try lowering.count(of: path, variable.key, self) { try lowering.condition(test) }, .greater,
                    .constant(ConstantSyntax(.int(0))))))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        var path = try lowering.path(sequence)
        path.quantifier = .all
        lowering.variables[variable.key] = path
        let condition = try lowering.condition(test)
        if condition.conjuncts.allSatisfy({ $0.isComparison(with: path) }) { return .condition(condition) }
        path.quantifier = nil
        let others = try lowering.count(of: path, variable.key, self) { .not(try lowering.condition(test)) }
        return .condition(.comparison(ComparisonSyntax(others, .equal, .constant(ConstantSyntax(.int(0))))))
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        .filtered(try lowering.count(of: try lowering.path(sequence), variable.key, self) { try lowering.condition(filter) })
    }
}

extension PredicateLowering {
    /// Returns the number of elements of a collection of objects that match a condition on the variable.
    func count(
        of path: PathSyntax, _ key: PredicateExpressions.VariableID, _ origin: any PredicateExpression,
        _ condition: () throws -> PredicateSyntax
    ) throws -> ExpressionSyntax {
        let variable = "$x\(depth > 0 ? "\(depth)" : "")"
        depth += 1
        defer { depth -= 1 }
        variables[key] = PathSyntax([.variable(variable)])
        let condition = try condition()
        guard condition.paths.allSatisfy({ $0.steps.first == .variable(variable) }) else {
            throw unsupported(origin, "with several conditions on one element can use only that element")
        }
        return .subquery(SubquerySyntax(path, variable, condition))
    }
}

extension PredicateSyntax {
    /// Whether this is one comparison with one operand on the path. A comparison of two paths would combine values of different elements.
    fileprivate func isComparison(with path: PathSyntax) -> Bool {
        guard case .comparison(let comparison) = self else { return false }
        func isOn(_ side: ExpressionSyntax) -> Bool {
            if case .path(let other) = side { other.quantifier == path.quantifier && other.steps.starts(with: path.steps) } else { false }
        }
        let left = isOn(comparison.left), right = isOn(comparison.right)
        return left != right && !(right && comparison.comparator == .isIn && path.quantifier == .all)
    }
}
