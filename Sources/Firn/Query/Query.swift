import FirnBytes
import FirnQuery
import FirnTable

/// A property of the searched elements, or a condition on them: the parameter and the result of the closure of `where`.
///
///     dogs.where { $0.age > 3 && $0.toys.contains("Kong") }
///
/// Properties are accessed by name, also through links, embedded objects and collections. A path through a collection matches if it matches
/// for any element, unless `all` or `none` precedes. Comparisons follow the rules of Firn's query language (`docs/guide/query.md`), also
/// for null: `!=` matches null, `<` does not. Nothing is evaluated until the results are accessed.
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

extension Query where T: _QueryBoxed {
    /// The value of a property that is declared as `RealmProperty` or `RealmOptional`.
    public var value: Query<T._BoxedValue> { Query<T._BoxedValue>(node, context) }
}

/// Foundation has a `Comparator` too.
typealias QueryComparator = Comparator

/// What a `Query` represents.
enum QueryNode {
    case predicate(PredicateSyntax)
    /// `entered` is the number of steps up to and including the last collection on the path.
    case path(PathSyntax, entered: Int?)
    case expression(ExpressionSyntax)
}

/// The state that the parts of one query share: the values that its tree refers to by number.
final class QueryContext {
    /// The realm of the query; nil if the tree is built without a realm.
    let core: RealmCore?
    private(set) var arguments: [Value] = []
    /// The paths of the collections of objects that paths have led through.
    var entered: Set<[PathStep]> = []

    /// Returns the row that represents an object in the query.
    private let rowID: (ObjectBase) throws -> Int64

    convenience init(_ core: RealmCore?) { self.init(core) { try $0.linked(for: core) } }

    init(_ core: RealmCore?, rowID: @escaping (ObjectBase) throws -> Int64) {
        self.core = core
        self.rowID = rowID
    }

    /// Returns a value as a part of the tree. An object becomes an argument, because it has no representation as text.
    func constant<V: _Element>(_ value: V) -> ExpressionSyntax {
        if let object = unwrapped(value) as? ObjectBase {
            do { return argument(.link(try rowID(object))) } catch { trap("\(error)") }
        }
        return constant(value._stored(in: nil).value)
    }

    func constant(_ value: Value) -> ExpressionSyntax {
        switch value {
        // These have no representation as text.
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
    /// Whether this is a collection, which a list of constants cannot contain.
    var isNested: Bool {
        switch self {
        case .list, .set, .map, .object: true
        default: false
        }
    }
}

extension ConstantSyntax {
    /// Creates the constant that the value's text parses to: NaN and infinities are always doubles there.
    init(literal value: Value) {
        switch value {
        case .double(let x): self = x.isFinite ? ConstantSyntax(value, digits: "\(x)") : ConstantSyntax(.double(x.isNaN ? .nan : x))
        case .float(let x) where !x.isFinite: self = ConstantSyntax(.double(x.isNaN ? .nan : Double(x)))
        default: self = ConstantSyntax(value)
        }
    }
}

extension ObjectBase {
    /// Returns the row that represents the object in a query over a realm. For an unmanaged object that is no row: comparisons with it are
    /// refused, and it is in no list.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if the object belongs to another file.
    func linked(for core: RealmCore?) throws -> Int64 {
        guard let own = _core else { return QuerySyntax.unmanagedRow }
        if let core, core.file !== own.file { throw Realm.Error(.invalidInput, "Object must be from the Realm being queried") }
        return _rowID
    }
}

extension Query {
    /// Creates the path to the elements themselves.
    init(rootOf shape: _Shape, _ context: QueryContext) {
        self.init(.path(PathSyntax(shape.target == nil ? [.name("self")] : []), entered: nil), context)
    }

    /// Returns the path to the elements of a collection.
    func entering() -> Query {
        guard case .path(let path, _) = node else { trap("only properties have elements") }
        context.entered.insert(path.steps)
        return Query(.path(path, entered: path.steps.count), context)
    }

    func quantified<V>(_ quantifier: Quantifier) -> Query<V> {
        guard case .path(var path, _) = node else { trap("only properties have elements") }
        path.quantifier = quantifier
        return Query<V>(.path(path, entered: path.steps.count), context)
    }

    /// The query as a side of a comparison.
    var expression: ExpressionSyntax {
        switch node {
        case .expression(let expression): return expression
        case .path(let path, _):
            trap(unless: !path.steps.isEmpty, "the searched objects themselves cannot be compared: compare one of their properties")
            return .path(path)
        case .predicate: trap("a condition cannot be compared or combined as a value: join conditions with && and ||")
        }
    }

    func compared(_ comparator: Comparator, _ other: ExpressionSyntax, options: StringOptions = []) -> Query<Bool> {
        Query<Bool>(
            .predicate(
                .comparison(
                    ComparisonSyntax(
                        expression, comparator, ignoresCase: options.contains(.caseInsensitive),
                        ignoresMarks: options.contains(.diacriticInsensitive), other))), context)
    }
}

extension Query: CustomStringConvertible {
    /// The query as text in Firn's query language, which parses to the same query. Objects are shown as the arguments `$0`, `$1` and so on.
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
        guard case .path(var path, let entered) = self else { trap("only properties have properties") }
        path.steps += steps
        return .path(path, entered: entered)
    }
}

extension KeyPathRecorder {
    /// Returns the property names that reading `keyPath` accesses.
    static func steps<Root>(_ keyPath: PartialKeyPath<Root>) -> [PathStep] { path(keyPath).split(separator: ".").map { .name(String($0)) } }
}
