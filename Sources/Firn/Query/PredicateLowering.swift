import FirnBytes
import FirnQuery
import FirnTable
import Foundation

/// Translates Foundation's `#Predicate` into the syntax tree that predicates as text and `where` use. Where Swift would trap (`!` of nil),
/// the result is null.
final class PredicateLowering {
    private let source: _CollectionSource
    /// The nesting depth of conditions on single elements.
    var depth = 0
    private(set) var arguments: [Value] = []
    var variables: [PredicateExpressions.VariableID: PathSyntax] = [:]

    init(_ source: _CollectionSource) { self.source = source }

    func lower(_ expression: any PredicateExpression) throws -> Lowered {
        guard let known = expression as? any LowerableExpression else { throw unsupported(expression) }
        return try known.lowered(self)
    }

    /// Returns an expression as a condition.
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

    /// Returns an expression as a side of a comparison or an operand.
    func side(_ lowered: Lowered, of expression: any PredicateExpression) throws -> ExpressionSyntax {
        switch lowered {
        case .path(let path):
            guard !path.steps.isEmpty else { throw unsupported(expression, "cannot be compared, because it is the object itself") }
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

    func constant(_ value: Any?) throws -> ExpressionSyntax { constant(try source.arguments([value])[0]) }

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
        return Realm.Error(.invalidInput, "#Predicate: \"\(name)\" \(why): use Swift's own filter for this condition")
    }
}

/// The translation of a part of a `#Predicate`.
enum Lowered {
    case condition(PredicateSyntax)
    case path(PathSyntax)
    case computed(ExpressionSyntax)
    /// A value that is known before any row is read.
    case value(Any?)
    case range(any PredicateExpression, any PredicateExpression, isClosed: Bool)
    /// A condition at the end of `?.`; nil where `present` is false.
    case optional(present: PredicateSyntax, PredicateSyntax)
    /// `x ?? value`.
    case either(ExpressionSyntax, Any?)
    /// The number of elements of a collection that match a condition.
    case filtered(ExpressionSyntax)
}

protocol LowerableExpression {
    func lowered(_ lowering: PredicateLowering) throws -> Lowered
}

extension RealmCollection {
    /// Returns the elements that match Foundation's `#Predicate`: `dogs.filter(#Predicate { $0.age > 3 && $0.owner?.name == "Ada" })`. The
    /// results are live. The query engine evaluates it by the rules of Firn's query language: text is compared by bytes, and null as in
    /// queries. Traps on expressions that queries do not support (remainders, regular expressions, casts); `filtered` throws.
    public func filter(_ predicate: Predicate<Element>) -> Results<Element> where Element: RealmFetchable {
        do { return try filtered(predicate) } catch { trap("\(error)") }
    }

    /// Returns the same as `filter`.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if queries do not support a part of the predicate.
    public func filtered(_ predicate: Predicate<Element>) throws -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("filter")
        let (syntax, arguments) = try source.lowered(predicate)
        return Results(source.appending(syntax, arguments))
    }

    /// Returns the index of the first element that matches a `#Predicate`; nil if there is none. Traps where `filter` does.
    public func index(matching predicate: Predicate<Element>) -> Int? where Self: OrderedRealmCollection {
        self.requireOrder()
        let source = managedSource("index(matching:)")
        do {
            let (syntax, arguments) = try source.lowered(predicate)
            return source.firstIndex(syntax, arguments)
        } catch { trap("\(error)") }
    }
}

extension MutableSet {
    /// Unavailable: a set has no positions. Use `contains(where:)` or `filter(_:)`.
    @available(*, unavailable, message: "sets have no positions: use contains(where:) or filter(_:)")
    public func index(matching predicate: Predicate<Element>) -> Int? { trap("unavailable") }
}

extension _CollectionSource {
    func lowered<Element>(_ predicate: Predicate<Element>) throws -> (QuerySyntax, [Value]) {
        let lowering = PredicateLowering(self)
        lowering.variables[predicate.variable.key] = PathSyntax(shape.target == nil ? [.name("self")] : [])
        let syntax = QuerySyntax(try lowering.condition(predicate.expression))
        do { try check(QueryRequest(parsed: syntax, arguments: lowering.arguments, names: names)) } catch {
            throw Realm.Error(.invalidInput, "\(error) in \(syntax)")
        }
        return (syntax, lowering.arguments)
    }
}
