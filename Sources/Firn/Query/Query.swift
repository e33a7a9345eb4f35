import FirnModel
import FirnQuery

/// A property of the elements that are searched, or a condition on them: what the closure of `where` is given and gives back.
///
///     dogs.where { $0.age > 3 && $0.toys.contains("Kong") }
///
/// Properties are reached by name, through links, embedded objects and collections as well. A path through a collection holds if it holds for
/// any element, unless `all` or `none` stands before. Comparisons follow the rules of Firn's query language (`docs/guide/query.md`), null included:
/// `!=` holds for null, `<` does not; nothing is evaluated until the results are looked at.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode
    let context: QueryContext

    init(_ node: QueryNode, _ context: QueryContext) {
        self.node = node
        self.context = context
    }

    // MARK: Properties by name

    /// A property of the objects.
    public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> where T: ObjectBase {
        Query<V>(node.following(KeyPathRecorder.steps(member)), context)
    }

    /// A property of a linked or embedded object; null where there is none.
    public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> where T: _QueryOptional, T.Wrapped: ObjectBase {
        Query<V>(node.following(KeyPathRecorder.steps(member)), context)
    }

    /// A property of the elements.
    public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> where T: RealmCollection, T.Element: ObjectBase {
        Query<V>(entering().node.following(KeyPathRecorder.steps(member)), context)
    }
}

/// Foundation has a `Comparator` of its own.
typealias QueryComparator = Comparator

/// What a `Query` stands for.
enum QueryNode {
    case predicate(PredicateSyntax)
    /// `entered`: how many steps lead up to and into the last collection on the way.
    case path(PathSyntax, entered: Int?)
    case expression(ExpressionSyntax)
}

/// What the parts of one query share: the values that its tree refers to by number.
final class QueryContext {
    /// Nil: the tree is made without a realm.
    let core: RealmCore?
    private(set) var arguments: [Value] = []
    /// The collections of objects that paths went through, as their steps.
    var entered: Set<[PathStep]> = []

    init(_ core: RealmCore?) { self.core = core }

    /// A value as a part of the tree; an object is an argument, as no text stands for it.
    func constant<V: _Element>(_ value: V) -> ExpressionSyntax {
        if let object = unwrapped(value) as? ObjectBase {
            do { return argument(.link(try object.linked(for: core))) } catch { preconditionFailure("\(error)") }
        }
        return constant(value._stored(in: nil).value)
    }

    func constant(_ value: Value) -> ExpressionSyntax {
        switch value {
        // No text stands for these.
        case .link, .map, .object: argument(value)
        case .list(let values) where values.contains(where: \.isNested): argument(value)
        case .list(let values), .set(let values): .list(nil, values.map(constant), .init())
        default: .constant(ConstantSyntax(literal: value))
        }
    }

    private func argument(_ value: Value) -> ExpressionSyntax {
        arguments.append(value)
        return .argument(arguments.count - 1, .init())
    }

    func list<V: _Element>(_ values: some Sequence<V>) -> ExpressionSyntax { .list(nil, values.map { constant($0) }, .init()) }
}

extension Value {
    /// A collection, which no list of constants holds.
    var isNested: Bool {
        switch self {
        case .list, .set, .map, .object: true
        default: false
        }
    }
}

extension ConstantSyntax {
    /// As text says it: what is no number has no kind of its own there.
    init(literal value: Value) {
        switch value {
        case .double(let x): self = x.isFinite ? ConstantSyntax(value, digits: "\(x)") : ConstantSyntax(.double(x.isNaN ? .nan : x))
        case .float(let x) where !x.isFinite: self = ConstantSyntax(.double(x.isNaN ? .nan : Double(x)))
        default: self = ConstantSyntax(value)
        }
    }
}

extension ObjectBase {
    /// The row that stands for the object in a query over a realm.
    func linked(for core: RealmCore?) throws -> Int64 {
        guard let own = _core else { throw Realm.Error(.invalidInput, "an unmanaged object is in no realm and cannot be searched for: add it first") }
        guard core == nil || core!.file === own.file else { throw Realm.Error(.invalidInput, "Object must be from the Realm being queried") }
        return _rowID
    }
}

extension Query {
    /// The elements themselves.
    init(rootOf shape: _Shape, _ context: QueryContext) {
        self.init(.path(PathSyntax(shape.target == nil ? [.name("self")] : []), entered: nil), context)
    }

    /// The elements of the collection that the path leads to.
    func entering() -> Query {
        guard case .path(let path, _) = node else { preconditionFailure("only properties have elements") }
        context.entered.insert(path.steps)
        return Query(.path(path, entered: path.steps.count), context)
    }

    func quantified<V>(_ quantifier: Quantifier) -> Query<V> {
        guard case .path(var path, _) = node else { preconditionFailure("only properties have elements") }
        path.quantifier = quantifier
        return Query<V>(.path(path, entered: path.steps.count), context)
    }

    /// As a side of a comparison.
    var expression: ExpressionSyntax {
        switch node {
        case .expression(let expression): return expression
        case .path(let path, _):
            precondition(!path.steps.isEmpty, "the objects that are searched cannot be compared themselves: compare one of their properties")
            return .path(path)
        case .predicate: preconditionFailure("a condition is no value to compare or combine: join conditions by && and ||")
        }
    }

    func compared(_ comparator: Comparator, _ other: ExpressionSyntax, options: StringOptions = []) -> Query<Bool> {
        Query<Bool>(.predicate(.comparison(ComparisonSyntax(
            expression, comparator, ignoresCase: options.contains(.caseInsensitive), ignoresMarks: options.contains(.diacriticInsensitive), other))), context)
    }
}

extension Query: CustomStringConvertible {
    /// The query as text, in Firn's query language: what it parses to is the same query. Objects stand there as `$0`, `$1` and so on.
    public var description: String {
        switch node {
        case .predicate(let predicate): predicate.description
        case .path(let path, _): path.description
        case .expression(let expression): expression.description
        }
    }
}

extension QueryNode {
    func following(_ steps: [PathStep]) -> QueryNode {
        guard case .path(var path, let entered) = self else { preconditionFailure("only properties have properties") }
        path.steps += steps
        return .path(path, entered: entered)
    }
}

extension KeyPathRecorder {
    /// The names that reading `keyPath` goes through.
    static func steps<Root>(_ keyPath: PartialKeyPath<Root>) -> [PathStep] { path(keyPath).split(separator: ".").map { .name(String($0)) } }
}
