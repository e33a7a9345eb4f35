import FirnQuery
import FirnTable
import Foundation

/// Evaluates a syntax tree row by row, by the rules of docs/guide/query.md: the rows that it selects, and their order. It shares nothing
/// with the engine except the tree and `Value`.
package struct Oracle {
    package let schema: Schema
    /// By type and row id. Nil for deleted rows.
    package let rows: [String: [[Value]?]]
    package var arguments: [Value] = []
    /// The names of inverse links.
    package var inverses: [QueryRequest.Inverse] = []

    package init(schema: Schema, rows: [String: [[Value]?]], arguments: [Value] = [], inverses: [QueryRequest.Inverse] = []) {
        self.schema = schema
        self.rows = rows
        self.arguments = arguments
        self.inverses = inverses
    }

    /// The oracle cannot evaluate the query: it is invalid, or of a kind that the oracle does not support.
    package struct Unknown: Error {
        var why: String
        init(_ why: String) { self.why = why }
    }
    /// A sum overflows. The engine must refuse it too.
    package struct Overflow: Error {}

    /// The subject of a predicate: a row, an embedded object, or an element that is a plain value.
    package enum Subject {
        case row(String, Int)
        case object(String, Value)
        case value(Value, ColumnType)
    }

    /// The values of a path.
    package struct PathResult {
        var values: [Value]
        var type: ColumnType
        var isMany = false
        /// Whether the path takes part in no comparison, such as `list[0]` of an empty list.
        var isAbsent = false
        var quantifier: Quantifier?
        /// Whether this is the subject of the predicate itself.
        var isSubject = false
    }

    package enum Side {
        case constant(ConstantSyntax)
        case path(PathResult)
    }

    package func row(_ type: String?, _ link: Value) -> [Value]? {
        guard case .link(let id) = link, let type, let all = rows[type], id >= 0, id < all.count else { return nil }
        return all[Int(id)]
    }

    // MARK: Predicates

    package func holds(_ predicate: PredicateSyntax, _ subject: Subject) throws -> Bool {
        // All parts are evaluated, so that an unsupported part is found for any data.
        switch predicate {
        case .constant(let value): return value
        case .not(let inner): return try !holds(inner, subject)
        case .and(let parts): return try parts.map { try holds($0, subject) }.allSatisfy { $0 }
        case .or(let parts): return try parts.map { try holds($0, subject) }.contains(true)
        case .comparison(let comparison): return try holds(comparison, subject)
        }
    }

    func holds(_ syntax: ComparisonSyntax, _ subject: Subject) throws -> Bool {
        if case .path(var path) = syntax.left, path.steps.last == .type {
            path.steps.removeLast()
            let result = entered(try follow(path, subject))
            let names = try constants(syntax.right)?.map(\.value) ?? [constant(try side(syntax.right, subject)).value]
            return judge(result, result.quantifier) { value in names.contains { isNamed($0, value) } != (syntax.comparator == .notEqual) }
        }
        if syntax.comparator == .text || syntax.comparator == .geoWithin {
            guard case .path(let path) = syntax.left else { throw Unknown("no property") }
            let result = entered(try follow(path, subject))
            if syntax.comparator == .geoWithin {
                let shape = try shape(syntax.right)
                return judge(result, result.quantifier) { shape.contains($0) }
            }
            guard case .string(let words) = try constant(side(syntax.right, subject)).value, result.type.kind == .string else {
                throw Unknown("words")
            }
            return judge(result, result.quantifier) { if case .string(let text) = $0 { Oracle.text(text, has: words) } else { false } }
        }
        if let list = try constants(syntax.right) { return try holds(syntax, list, subject) }
        if let list = try constants(syntax.left) {
            if syntax.comparator == .isIn || syntax.comparator.isTextual {
                let results = try list.map { constant in
                    var one = syntax
                    one.left = .constant(constant)
                    return try holds(one, subject)
                }
                guard case .list(let quantifier?, _, _) = syntax.left else { return results.contains(true) }
                return quantifier == .any ? results.contains(true) : quantifier == .all ? !results.contains(false) : !results.contains(true)
            }
            var turned = syntax
            (turned.left, turned.comparator, turned.right) = (syntax.right, syntax.comparator.flipped, syntax.left)
            return try holds(turned, list, subject)
        }
        let left = try side(syntax.left, subject), right = try side(syntax.right, subject)
        switch (left, right) {
        case (.path(let a), .path(let b)):
            if syntax.comparator == .isIn { return try member(a, nil, b, syntax) }
            if a.type.isCollection, b.type.isCollection, !a.isMany, !b.isMany, a.quantifier == nil, b.quantifier == nil {
                if a.isAbsent || b.isAbsent { return false }
                let equal = same(a.values[0], b.values[0], syntax)
                return equal == (syntax.comparator == .equal)
            }
            return try pair(entered(a), entered(b), syntax.comparator, syntax, swap: false)
        case (.path(let result), .constant(let constant)): return try test(result, syntax.comparator, constant, syntax)
        case (.constant(let constant), .path(let result)):
            if syntax.comparator == .isIn { return try member(nil, constant, result, syntax) }
            if syntax.comparator.isTextual {
                let result = entered(result)
                // Null is not contained in any text.
                return judge(result, result.quantifier) {
                    (syntax.comparator == .like || !constant.value.isNull) && text(syntax.comparator, constant.value, $0, syntax)
                }
            }
            return try test(result, syntax.comparator.flipped, constant, syntax)
        default: throw Unknown("two constants")
        }
    }

    func test(_ result: PathResult, _ comparator: FirnQuery.Comparator, _ constant: ConstantSyntax, _ syntax: ComparisonSyntax) throws
        -> Bool
    {
        if result.type.isCollection, !result.isMany, constant.value.isNull, comparator.isEquality, result.quantifier == nil,
            result.type.isOptional
        {
            return !result.isAbsent && result.values[0].isNull == (comparator == .equal)
        }
        let result = entered(result)
        let wanted = try coerced(constant, result.type.kind)
        return judge(result, result.quantifier) {
            compare(comparator, alive($0, result), wanted, syntax, areMixed: result.type.kind == .any)
        }
    }

    func member(_ a: PathResult?, _ constant: ConstantSyntax?, _ list: PathResult, _ syntax: ComparisonSyntax) throws -> Bool {
        var list = entered(list)
        if !list.isMany {
            guard list.type.kind == .any else { throw Unknown("IN without a list") }
            list = entered(list, any: true)
        }
        if let constant {
            let wanted = try coerced(constant, list.type.kind)
            return judge(list, list.quantifier) { compare(.equal, alive($0, list), wanted, syntax) }
        }
        return try pair(entered(a!), list, .equal, syntax, swap: false)
    }

    func pair(_ a: PathResult, _ b: PathResult, _ comparator: FirnQuery.Comparator, _ syntax: ComparisonSyntax, swap: Bool) throws -> Bool {
        guard !(a.isMany && b.isMany) else { throw Unknown("two lists") }
        if a.isAbsent || b.isAbsent { return false }
        let quantifier = a.quantifier ?? b.quantifier
        func compared(_ x: Value, _ y: Value) -> Bool {
            compare(comparator, alive(x, a), alive(y, b), syntax, areMixed: a.type.kind == .any || b.type.kind == .any)
        }
        if a.isMany { return judge(a, quantifier) { compared($0, b.values[0]) } }
        if b.isMany { return judge(b, quantifier) { compared(a.values[0], $0) } }
        return compared(a.values[0], b.values[0])
    }

    /// Evaluates a comparison with a list of constants.
    func holds(_ syntax: ComparisonSyntax, _ list: [ConstantSyntax], _ subject: Subject) throws -> Bool {
        guard case .path(let result) = try side(syntax.left, subject) else { throw Unknown("two constants") }
        var listQuantifier: Quantifier?
        for side in [syntax.left, syntax.right] { if case .list(let quantifier, _, _) = side { listQuantifier = quantifier } }
        if syntax.comparator == .between {
            let result = entered(result)
            guard list.count == 2 else { throw Unknown("BETWEEN") }
            let low = try coerced(list[0], result.type.kind), high = try coerced(list[1], result.type.kind)
            let areMixed = result.type.kind == .any
            return judge(result, result.quantifier) { compare(.greaterOrEqual, $0, low, syntax, areMixed: areMixed) }
                && judge(result, result.quantifier) { compare(.lessOrEqual, $0, high, syntax, areMixed: areMixed) }
        }
        if result.type.isCollection, !result.isMany, result.quantifier == nil, listQuantifier == nil {
            let isEach = syntax.comparator.isOrder || syntax.comparator.isTextual
            if result.type.collection == .map, !isEach { throw Unknown("a map and a list") }
            if syntax.comparator == .isIn { return false }
            if syntax.comparator.isEquality {
                if result.isAbsent { return false }
                guard list.isEmpty || list.contains(where: { (try? coerced($0, result.type.kind)) != nil }) else {
                    throw Unknown("no comparable constant")
                }
                let wanted = list.map { (try? coerced($0, result.type.kind)) ?? $0.value }
                return same(result.values[0], .list(wanted), syntax) == (syntax.comparator == .equal)
            }
        }
        let elements = entered(result)
        var values: [Value] = []
        for constant in list {
            do { values.append(try coerced(constant, elements.type.kind)) } catch {
                // A constant that cannot be compared equals no element. With another operator it is an error.
                guard
                    listQuantifier == nil && !syntax.comparator.isOrder && !syntax.comparator.isTextual
                        || listQuantifier == .any && syntax.comparator != .notEqual
                else { throw error }
            }
        }
        guard list.isEmpty || !values.isEmpty else { throw Unknown("no comparable constant") }
        let comparator = syntax.comparator == .isIn ? .equal : syntax.comparator
        switch listQuantifier {
        case nil where comparator.isOrder || comparator.isTextual:
            return judge(elements, elements.quantifier) { element in
                values.contains { compare(comparator, alive(element, elements), $0, syntax, areMixed: elements.type.kind == .any) }
            }
        case nil:
            return judge(elements, elements.quantifier) { element in
                values.contains { compare(.equal, alive(element, elements), $0, syntax) } != (comparator == .notEqual)
            }
        case .any where comparator == .equal:
            return judge(elements, elements.quantifier) { element in
                values.contains { compare(.equal, alive(element, elements), $0, syntax) }
            }
        case .any?:
            return values.contains { value in
                judge(elements, elements.quantifier) {
                    compare(comparator, alive($0, elements), value, syntax, areMixed: elements.type.kind == .any)
                }
            }
        case .all?:
            return values.allSatisfy { value in
                judge(elements, elements.quantifier) {
                    compare(comparator, alive($0, elements), value, syntax, areMixed: elements.type.kind == .any)
                }
            }
        case .some(.none):
            return !values.contains { value in
                judge(elements, elements.quantifier) {
                    compare(comparator, alive($0, elements), value, syntax, areMixed: elements.type.kind == .any)
                }
            }
        }
    }

    func judge(_ result: PathResult, _ quantifier: Quantifier?, _ test: (Value) -> Bool) -> Bool {
        if result.isAbsent { return false }
        guard result.isMany else { return test(result.values[0]) }
        let passed = result.values.filter(test).count
        return switch quantifier ?? .any {
        case .any: passed > 0
        case .all: passed == result.values.count
        case .none: passed == 0
        }
    }

    // MARK: Sides

    func constants(_ expression: ExpressionSyntax) throws -> [ConstantSyntax]? {
        switch expression {
        case .list(_, let parts, _):
            return try parts.map { part in
                switch part {
                case .constant(let constant): return constant
                case .argument(let index, _): return ConstantSyntax(arguments[index])
                case .object(let object, _): return ConstantSyntax(try link(object))
                default: throw Unknown("in a list")
                }
            }
        case .argument(let index, _):
            switch arguments[index] {
            case .list(let values), .set(let values): return values.map { ConstantSyntax($0) }
            default: return nil
            }
        default: return nil
        }
    }

    func constant(_ side: Side) throws -> ConstantSyntax {
        guard case .constant(let constant) = side else { throw Unknown("no constant") }
        return constant
    }

    func side(_ expression: ExpressionSyntax, _ subject: Subject) throws -> Side {
        switch expression {
        case .constant(let constant): return .constant(constant)
        case .argument(let index, _): return .constant(ConstantSyntax(arguments[index]))
        case .path(let path): return .path(try follow(path, subject))
        case .subquery(let syntax):
            let result = entered(try follow(syntax.collection, subject))
            guard let target = result.type.target else { throw Unknown("subquery over values") }
            var count = 0
            for value in result.values {
                if result.type.kind == .embedded {
                    if !value.isNull, try holds(syntax.predicate, .object(target, value)) { count += 1 }
                } else if case .link(let id) = value, row(target, value) != nil, try holds(syntax.predicate, .row(target, Int(id))) {
                    count += 1
                }
            }
            return .path(PathResult(values: [.int(Int64(count))], type: ColumnType(.int), isAbsent: result.isAbsent))
        case .arithmetic(let op, let left, let right): return try arithmetic(op, side(left, subject), side(right, subject))
        case .object(let object, _): return .constant(ConstantSyntax(try link(object)))
        default: throw Unknown("\(expression)")
        }
    }

    func arithmetic(_ op: ArithmeticOperator, _ left: Side, _ right: Side) throws -> Side {
        func values(_ side: Side) -> PathResult {
            switch side {
            case .constant(let constant): PathResult(values: [constant.value], type: ColumnType(constant.value.scalarKind ?? .any))
            case .path(let result): entered(result)
            }
        }
        func exact(_ side: Side, _ kind: ScalarKind) throws -> PathResult {
            var out = values(side)
            if case .constant(let constant) = side, kind == .decimal { out.values = [try coerced(constant, .decimal)] }
            return out
        }
        if case .constant = left, case .constant = right { throw Unknown("two constants") }
        func kind(_ side: Side) -> ScalarKind? {
            if case .constant(let constant) = side { constant.value.scalarKind } else { values(side).type.kind }
        }
        let kinds = [kind(left), kind(right)].compactMap { $0 }
        let common: ScalarKind = [.any, .decimal, .double, .float].first { kinds.contains($0) } ?? .int
        let a = try exact(left, common), b = try exact(right, common)
        guard !(a.isMany && b.isMany) else { throw Unknown("two lists") }
        var out = a.isMany ? a : b
        out.quantifier = nil
        out.isAbsent = a.isAbsent || b.isAbsent
        out.type = ColumnType(common, optional: true)
        out.isMany = a.isMany || b.isMany
        if out.isAbsent { return .path(PathResult(values: [.null], type: out.type, isMany: out.isMany, isAbsent: true)) }
        out.values =
            try a.isMany
            ? a.values.map { try calculated(op, $0, b.values[0], common) } : b.values.map { try calculated(op, a.values[0], $0, common) }
        return .path(out)
    }

    func calculated(_ op: ArithmeticOperator, _ a: Value, _ b: Value, _ kind: ScalarKind) throws -> Value {
        guard let x = OracleNumber(a), let y = OracleNumber(b) else { return .null }
        if case .int(let p) = a, case .int(let q) = b, kind == .int || kind == .any {
            switch op {
            case .add: return .int(p &+ q)
            case .subtract: return .int(p &- q)
            case .multiply: return .int(p &* q)
            case .divide: return .int(q == 0 ? (p < 0 ? .min : .max) : p == .min && q == -1 ? .min : p / q)
            }
        }
        var isDecimal = kind == .decimal
        if kind == .any { for value in [a, b] { if case .decimal = value { isDecimal = true } } }
        if isDecimal { throw Unknown("arithmetic of decimals") }
        let real =
            switch op {
            case .add: x.double + y.double
            case .subtract: x.double - y.double
            case .multiply: x.double * y.double
            case .divide: x.double / y.double
            }
        var isFloat = kind == .float
        if kind == .any { isFloat = !([a, b].contains { if case .double = $0 { true } else { false } }) }
        return isFloat ? .float(Float(real)) : .double(real)
    }
}
