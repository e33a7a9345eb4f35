import FirnModel
import FirnQuery
import Foundation

/// Turns Foundation's `#Predicate` into the tree that text and `where` make. What Swift traps on (`!` of nil) is null there.
final class PredicateLowering {
    private let source: _CollectionSource
    /// How many conditions on single elements there are around.
    var depth = 0
    private(set) var arguments: [Value] = []
    var variables: [PredicateExpressions.VariableID: PathSyntax] = [:]

    init(_ source: _CollectionSource) { self.source = source }

    func lower(_ expression: any PredicateExpression) throws -> Lowered {
        guard let known = expression as? any LowerableExpression else { throw unsupported(expression) }
        return try known.lowered(self)
    }

    /// As a condition.
    func condition(_ expression: any PredicateExpression) throws -> PredicateSyntax {
        switch try lower(expression) {
        case .condition(let condition): return condition
        case .value(let value):
            guard let constant = value as? Bool else { throw unsupported(expression) }
            return .constant(constant)
        case .path(let path): return .comparison(ComparisonSyntax(.path(path), .equal, .constant(ConstantSyntax(.bool(true)))))
        default: throw unsupported(expression)
        }
    }

    /// As a side of a comparison or an operand.
    func side(_ lowered: Lowered, of expression: any PredicateExpression) throws -> ExpressionSyntax {
        switch lowered {
        case .path(let path):
            guard !path.steps.isEmpty else { throw unsupported(expression, "the objects themselves are not compared") }
            return .path(path)
        case .computed(let expression): return expression
        case .value(let value): return try constant(value)
        default: throw unsupported(expression)
        }
    }

    func path(_ expression: any PredicateExpression) throws -> PathSyntax {
        guard case .path(let path) = try lower(expression) else { throw unsupported(expression) }
        return path
    }

    func constant(_ value: Any?) throws -> ExpressionSyntax { constant(try source.argument(value, number: 0)) }

    private func constant(_ value: Value) -> ExpressionSyntax {
        switch value {
        case .list(let values) where !values.contains(where: \.isNested): return .list(nil, values.map(constant), .init())
        case .set(let values): return .list(nil, values.map(constant), .init())
        case .link, .map, .object, .list:
            arguments.append(value)
            return .argument(arguments.count - 1, .init())
        default: return .constant(ConstantSyntax(literal: value))
        }
    }

    func unsupported(_ expression: any PredicateExpression, _ why: String = "has no counterpart in queries") -> Realm.Error {
        let name = String(describing: type(of: expression)).prefix { $0 != "<" }
        return Realm.Error(.invalidInput, "#Predicate: '\(name)' \(why): choose further with Swift's own filter")
    }
}

/// What a part of a `#Predicate` becomes.
enum Lowered {
    case condition(PredicateSyntax)
    case path(PathSyntax)
    case computed(ExpressionSyntax)
    /// Known before anything is read.
    case value(Any?)
    case range(any PredicateExpression, any PredicateExpression, isClosed: Bool)
    /// A condition at the end of `?.`: nil where `present` does not hold.
    case optional(present: PredicateSyntax, PredicateSyntax)
    /// `x ?? value`.
    case either(ExpressionSyntax, Any?)
    /// The elements of a collection that a condition holds for: how many there are.
    case filtered(ExpressionSyntax)
}

protocol LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered
}

extension RealmCollection {
    /// Those elements that Foundation's `#Predicate` holds for: `dogs.filter(#Predicate { $0.age > 3 && $0.owner?.name == "Ada" })`. It runs in
    /// the engine, by the rules of its language: text is compared by bytes, null is as there. The results are live. Traps on what has no counterpart
    /// (remainders, regular expressions, casts); `filtered` throws.
    public func filter(_ predicate: Predicate<Element>) -> Results<Element> where Element: RealmFetchable {
        do { return try filtered(predicate) } catch { preconditionFailure("\(error)") }
    }

    /// As `filter`; throws `Realm.Error` of code `.invalidInput` where a part of the predicate has no counterpart.
    public func filtered(_ predicate: Predicate<Element>) throws -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("filter")
        let (syntax, arguments) = try source.lowered(predicate)
        return Results(source.appending(syntax, arguments))
    }

    /// Where the first element stands that a `#Predicate` holds for; nil if there is none. Traps as `filter` does.
    public func index(matching predicate: Predicate<Element>) -> Int? where Self: OrderedRealmCollection {
        self.requireOrder()
        let source = managedSource("index(matching:)")
        do {
            let (syntax, arguments) = try source.lowered(predicate)
            return source.firstIndex(syntax, arguments)
        } catch { preconditionFailure("\(error)") }
    }
}

extension MutableSet {
    @available(*, unavailable, message: "sets have no positions: use contains(where:) or filter(_:)")
    public func index(matching predicate: Predicate<Element>) -> Int? { fatalError("unavailable") }
}

extension _CollectionSource {
    func lowered<Element>(_ predicate: Predicate<Element>) throws -> (QuerySyntax, [Value]) {
        let lowering = PredicateLowering(self)
        lowering.variables[predicate.variable.key] = PathSyntax(shape.target == nil ? [.name("self")] : [])
        let syntax = QuerySyntax(try lowering.condition(predicate.expression))
        do throws(QueryError) { try check(QueryRequest(parsed: syntax, arguments: lowering.arguments, inverses: inverses)) } catch {
            throw Realm.Error(.invalidInput, "\(error) in \(syntax)")
        }
        return (syntax, lowering.arguments)
    }
}
