import FirnQuery
import FirnTable
import Foundation

// Values, properties and arithmetic of `#Predicate`.

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .value(value) }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .value(nil) }
}

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        guard let path = lowering.variables[key] else { throw lowering.unsupported(self) }
        return .path(path)
    }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        // A property of a captured value.
        if case .value(let value) = try lowering.lower(root) {
            guard let owner = value as? Root.Output else { throw lowering.unsupported(self) }
            return .value(owner[keyPath: keyPath])
        }
        if case .filtered(let count) = try lowering.lower(root) {
            if Output.self == Int.self { return .computed(count) }
            guard Output.self == Bool.self else { throw lowering.unsupported(self) }
            return .condition(.comparison(ComparisonSyntax(count, .equal, .constant(ConstantSyntax(.int(0))))))
        }
        var path = try lowering.path(root)
        if Root.Output.self is ObjectBase.Type {
            path.steps += KeyPathRecorder.path(keyPath, root: Root.Output.self).split(separator: ".").map { .name(String($0)) }
            return .path(path)
        }
        if Root.Output.self == String.self, Output.self == Bool.self {
            return .condition(.comparison(ComparisonSyntax(.path(path), .equal, .constant(ConstantSyntax(.string(""))))))
        }
        guard Root.Output.self is any RealmCollection.Type || Root.Output.self is any _QueryMap.Type else {
            throw lowering.unsupported(self)
        }
        // Key paths into collections have no names, but the types of their values identify them.
        path.steps.append(.count)
        if Output.self == Int.self { return .path(path) }
        guard Output.self == Bool.self else { throw lowering.unsupported(self) }
        return .condition(.comparison(ComparisonSyntax(.path(path), .equal, .constant(ConstantSyntax(.int(0))))))
    }
}

extension PredicateExpressions.ForcedUnwrap: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { try lowering.lower(inner) }
}

extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let path = try lowering.path(wrapped)
        lowering.variables[variable.key] = path
        let inner = try lowering.lower(transform)
        guard case .condition(let condition) = inner else { return inner }
        return .optional(present: .comparison(ComparisonSyntax(.path(path), .notEqual, .constant(ConstantSyntax(.null)))), condition)
    }
}

extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        guard case .value(let other) = try lowering.lower(rhs) else { throw lowering.unsupported(self) }
        switch try lowering.lower(lhs) {
        case .value(let value): return .value(unwrapped(value) ?? other)
        case .optional(let present, let condition):
            guard let other = other as? Bool else { throw lowering.unsupported(self) }
            return .condition(other ? .or([.not(present), condition]) : .and([present, condition]))
        case .path(let path): return .either(.path(path), other)
        case .computed(let expression): return .either(expression, other)
        default: throw lowering.unsupported(self)
        }
    }
}

extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let op: ArithmeticOperator =
            switch self.op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw lowering.unsupported(self)
            }
        return try lowering.combined(op, lhs, rhs)
    }
}

extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { try lowering.combined(.divide, lhs, rhs) }
}

extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { try lowering.combined(.divide, lhs, rhs) }
}

extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        let operand = try lowering.lower(wrapped)
        // The macro represents `-1` as the negation of 1, but `x ?? -1` requires a constant.
        if case .value(let value) = operand, let number = unwrapped(value) as? any SignedNumeric, let negative = number.negative {
            return .value(negative)
        }
        return .computed(.arithmetic(.subtract, .constant(ConstantSyntax(.int(0))), try lowering.side(operand, of: wrapped)))
    }
}

extension SignedNumeric {
    /// The negated number; nil for the minimum integer.
    fileprivate var negative: Self? { (self as? any FixedWidthInteger)?.isLeast == true ? nil : -self }
}

extension FixedWidthInteger {
    fileprivate var isLeast: Bool { self == .min }
}

extension PredicateLowering {
    func combined(_ op: ArithmeticOperator, _ lhs: any PredicateExpression, _ rhs: any PredicateExpression) throws -> Lowered {
        .computed(.arithmetic(op, try side(try lower(lhs), of: lhs), try side(try lower(rhs), of: rhs)))
    }
}

extension PredicateExpressions.SequenceMinimum: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .path(try lowering.path(elements).following(.minimum)) }
}

extension PredicateExpressions.SequenceMaximum: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered { .path(try lowering.path(elements).following(.maximum)) }
}

extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered {
        guard case .value(let index) = try lowering.lower(index), let index = index as? Int, index >= 0 else {
            throw lowering.unsupported(self)
        }
        return .path(try lowering.path(wrapped).following(.index(index)))
    }
}

extension PathSyntax {
    func following(_ step: PathStep) -> PathSyntax {
        var path = self
        path.steps.append(step)
        return path
    }
}
