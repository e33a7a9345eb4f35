import FirnKit
import FirnOracle
import FirnQuery
import FirnTable
import Foundation

@testable import Firn

/// A typed condition, and the tree that it should be translated to, made independently.
struct TypedPiece<T: ObjectBase> {
    var typed: (Query<T>) -> Query<Bool>
    var tree: PredicateSyntax

    static func && (a: TypedPiece, b: TypedPiece) -> TypedPiece {
        TypedPiece(typed: { a.typed($0) && b.typed($0) }, tree: .and([a.tree, b.tree]))
    }
    static func || (a: TypedPiece, b: TypedPiece) -> TypedPiece {
        TypedPiece(typed: { a.typed($0) || b.typed($0) }, tree: .or([a.tree, b.tree]))
    }
    static prefix func ! (a: TypedPiece) -> TypedPiece { TypedPiece(typed: { !a.typed($0) }, tree: .not(a.tree)) }
}

/// A property or a computed value: as a typed expression and as a tree.
struct TypedSide<T: ObjectBase, V> {
    var typed: (Query<T>) -> Query<V>
    var tree: ExpressionSyntax

    init(_ path: String, _ typed: @escaping (Query<T>) -> Query<V>) {
        self.typed = typed
        guard case .comparison(let comparison)? = try? Parser.query("\(path) == 0").predicate else { fatalError("\(path) is no path") }
        tree = comparison.left
    }
    init(tree: ExpressionSyntax, _ typed: @escaping (Query<T>) -> Query<V>) {
        self.typed = typed
        self.tree = tree
    }
}

/// Makes random conditions.
struct PieceMaker<T: ObjectBase> {
    typealias Piece = TypedPiece<T>
    typealias Side = TypedSide
    var random: Random
    /// One maker for each kind of condition.
    private(set) var makers: [(inout Random) -> Piece] = []

    init(seed: UInt64) { random = Random(seed: seed) }

    mutating func piece(depth: Int = 0) -> Piece {
        switch random.below(depth > 2 ? 6 : 10) {
        case 6: return piece(depth: depth + 1) && piece(depth: depth + 1)
        case 7: return piece(depth: depth + 1) || piece(depth: depth + 1)
        case 8: return !piece(depth: depth + 1)
        case 9:
            // `(a && b) == false`.
            let inner = piece(depth: depth + 1), value = random.bool()
            return Piece(typed: { inner.typed($0) == value }, tree: value ? inner.tree : .not(inner.tree))
        default: return makers[random.below(makers.count)](&random)
        }
    }

    private static func constant(_ value: Value) -> ExpressionSyntax { .constant(ConstantSyntax(value)) }
    private static func constant<V: _Element>(_ value: V) -> ExpressionSyntax { constant(value._stored(in: nil).value) }
    private static func list<V: _Element>(_ values: [V]) -> ExpressionSyntax { .list(nil, values.map { constant($0) }, .init()) }
    private static func piece(
        _ left: ExpressionSyntax, _ comparator: FirnQuery.Comparator, _ right: ExpressionSyntax, options: StringOptions = [],
        _ typed: @escaping (Query<T>) -> Query<Bool>
    ) -> Piece {
        Piece(
            typed: typed,
            tree: .comparison(
                ComparisonSyntax(
                    left, comparator, ignoresCase: options.contains(.caseInsensitive),
                    ignoresMarks: options.contains(.diacriticInsensitive), right)))
    }

    mutating func add(_ make: @escaping (inout Random) -> Piece) { makers.append(make) }

    // MARK: Families

    mutating func equality<V: _Element>(_ side: Side<T, V>, _ value: @escaping (inout Random) -> V) {
        add { random in
            let x = value(&random)
            switch random.below(3) {
            case 0: return PieceMaker.piece(side.tree, .equal, PieceMaker.constant(x)) { side.typed($0) == x }
            case 1: return PieceMaker.piece(side.tree, .notEqual, PieceMaker.constant(x)) { side.typed($0) != x }
            default:
                let values = (0..<random.below(4)).map { _ in value(&random) }
                return PieceMaker.piece(side.tree, .isIn, PieceMaker.list(values)) { side.typed($0).in(values) }
            }
        }
    }

    mutating func null<V>(_ side: Side<T, V>) {
        add { random in
            let isNil = random.bool()
            return PieceMaker.piece(side.tree, isNil ? .equal : .notEqual, PieceMaker.constant(.null)) {
                isNil ? side.typed($0) == nil : side.typed($0) != nil
            }
        }
    }

    mutating func order<V: _QueryOrdered>(_ side: Side<T, V>, _ value: @escaping (inout Random) -> V) {
        equality(side, value)
        add { random in
            let x = value(&random), constant = PieceMaker.constant(x)
            switch random.below(4) {
            case 0: return PieceMaker.piece(side.tree, .less, constant) { side.typed($0) < x }
            case 1: return PieceMaker.piece(side.tree, .lessOrEqual, constant) { side.typed($0) <= x }
            case 2: return PieceMaker.piece(side.tree, .greater, constant) { side.typed($0) > x }
            default: return PieceMaker.piece(side.tree, .greaterOrEqual, constant) { side.typed($0) >= x }
            }
        }
    }

    mutating func range<V: _QueryOrdered & Comparable>(_ side: Side<T, V>, _ value: @escaping (inout Random) -> V) {
        add { random in
            let a = value(&random), b = value(&random), (low, high) = a < b ? (a, b) : (b, a)
            guard low <= high else { return PieceMaker.piece(side.tree, .equal, PieceMaker.constant(a)) { side.typed($0) == a } }
            if random.bool() {
                return PieceMaker.piece(side.tree, .between, PieceMaker.list([low, high])) { side.typed($0).contains(low...high) }
            }
            return Piece(
                typed: { side.typed($0).contains(low..<high) },
                tree: .and([
                    .comparison(ComparisonSyntax(side.tree, .greaterOrEqual, PieceMaker.constant(low))),
                    .comparison(ComparisonSyntax(side.tree, .less, PieceMaker.constant(high))),
                ]))
        }
    }

    mutating func pair<V: _QueryOrdered, U: _QueryOrdered>(_ a: Side<T, V>, _ b: Side<T, U>) where V._Comparand == U._Comparand {
        add { random in
            switch random.below(6) {
            case 0: PieceMaker.piece(a.tree, .less, b.tree) { a.typed($0) < b.typed($0) }
            case 1: PieceMaker.piece(a.tree, .lessOrEqual, b.tree) { a.typed($0) <= b.typed($0) }
            case 2: PieceMaker.piece(a.tree, .greater, b.tree) { a.typed($0) > b.typed($0) }
            case 3: PieceMaker.piece(a.tree, .greaterOrEqual, b.tree) { a.typed($0) >= b.typed($0) }
            case 4: PieceMaker.piece(a.tree, .equal, b.tree) { a.typed($0) == b.typed($0) }
            default: PieceMaker.piece(a.tree, .notEqual, b.tree) { a.typed($0) != b.typed($0) }
            }
        }
    }

    mutating func arithmetic<V: _QueryNumeric>(_ side: Side<T, V>, _ value: @escaping (inout Random) -> V) {
        add { random in
            let x = value(&random), y = value(&random), constant = PieceMaker.constant(x), wanted = PieceMaker.constant(y)
            func computed(_ op: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax) -> ExpressionSyntax {
                .arithmetic(op, left, right)
            }
            switch random.below(8) {
            case 0: return PieceMaker.piece(computed(.add, side.tree, constant), .greater, wanted) { side.typed($0) + x > y }
            case 1: return PieceMaker.piece(computed(.subtract, side.tree, constant), .lessOrEqual, wanted) { side.typed($0) - x <= y }
            case 2: return PieceMaker.piece(computed(.multiply, side.tree, constant), .less, wanted) { side.typed($0) * x < y }
            case 3: return PieceMaker.piece(computed(.divide, side.tree, constant), .greaterOrEqual, wanted) { side.typed($0) / x >= y }
            case 4: return PieceMaker.piece(computed(.subtract, constant, side.tree), .equal, wanted) { x - side.typed($0) == y }
            case 5: return PieceMaker.piece(computed(.divide, constant, side.tree), .notEqual, wanted) { x / side.typed($0) != y }
            case 6:
                return PieceMaker.piece(computed(.multiply, side.tree, side.tree), .greater, wanted) { side.typed($0) * side.typed($0) > y }
            default:
                return PieceMaker.piece(computed(.add, constant, computed(.multiply, side.tree, wanted)), .less, wanted) {
                    x + (side.typed($0) * y) < y
                }
            }
        }
    }

    mutating func text<V: _QueryText>(_ side: Side<T, V>, folds: Bool = true, _ value: @escaping (inout Random) -> V) {
        add { random in
            let x = value(&random), constant = PieceMaker.constant(x),
                options: StringOptions =
                    folds
                    ? [[], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]][random.below(5)] : []
            switch random.below(6) {
            case 0:
                return PieceMaker.piece(side.tree, .contains, constant, options: options) { side.typed($0).contains(x, options: options) }
            case 1:
                return PieceMaker.piece(side.tree, .beginsWith, constant, options: options) {
                    side.typed($0).starts(with: x, options: options)
                }
            case 2:
                return PieceMaker.piece(side.tree, .endsWith, constant, options: options) { side.typed($0).ends(with: x, options: options) }
            case 3: return PieceMaker.piece(side.tree, .like, constant, options: options) { side.typed($0).like(x, options: options) }
            case 4: return PieceMaker.piece(side.tree, .equal, constant, options: options) { side.typed($0).equals(x, options: options) }
            default:
                return PieceMaker.piece(side.tree, .notEqual, constant, options: options) { side.typed($0).notEquals(x, options: options) }
            }
        }
    }

    /// Adds conditions on a collection of values as a whole.
    mutating func collection<C: RealmCollection>(_ side: Side<T, C>, _ value: @escaping (inout Random) -> C.Element)
    where C.Element: _QueryOrdered {
        guard case .path(let path) = side.tree else { fatalError() }
        add { random in
            let x = value(&random), values = (0..<random.below(3)).map { _ in value(&random) }
            switch random.below(6) {
            case 0: return PieceMaker.piece(PieceMaker.constant(x), .isIn, side.tree) { side.typed($0).contains(x) }
            case 1:
                return PieceMaker.piece(.path(PathSyntax(quantifier: .any, path.steps)), .isIn, PieceMaker.list(values)) {
                    side.typed($0).containsAny(in: values)
                }
            case 2: return PieceMaker.piece(side.tree, .equal, PieceMaker.list(values)) { side.typed($0) == values }
            case 3: return PieceMaker.piece(side.tree, .notEqual, PieceMaker.list(values)) { side.typed($0) != values }
            default:
                let count = random.below(4)
                return PieceMaker.piece(.path(PathSyntax(path.steps + [.count])), .greater, PieceMaker.constant(.int(Int64(count)))) {
                    side.typed($0).count > count
                }
            }
        }
        order(Side(tree: .path(PathSyntax(quantifier: .any, path.steps))) { side.typed($0).any }, value)
        order(Side(tree: .path(PathSyntax(quantifier: .all, path.steps))) { side.typed($0).all }, value)
        order(Side(tree: .path(PathSyntax(quantifier: Quantifier.none, path.steps))) { side.typed($0).none }, value)
    }

    mutating func positions<C: RealmCollection>(_ side: Side<T, C>, _ value: @escaping (inout Random) -> C.Element)
    where C.Element: _QueryOrdered {
        guard case .path(let path) = side.tree else { fatalError() }
        order(Side(tree: .path(PathSyntax(path.steps + [.first]))) { side.typed($0).first }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.last]))) { side.typed($0).last }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.index(1)]))) { side.typed($0)[1] }, value)
    }

    mutating func figures<C: RealmCollection>(_ side: Side<T, C>, _ value: @escaping (inout Random) -> C.Element)
    where C.Element: _QueryNumeric & Comparable {
        guard case .path(let path) = side.tree else { fatalError() }
        order(Side(tree: .path(PathSyntax(path.steps + [.minimum]))) { side.typed($0).min }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.maximum]))) { side.typed($0).max }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.sum]))) { side.typed($0).sum }, value)
        add { random in
            let x = Double(random.below(8)) / 2 - 1
            return PieceMaker.piece(.path(PathSyntax(path.steps + [.average])), .greater, PieceMaker.constant(.double(x))) {
                side.typed($0).avg > x
            }
        }
    }

    mutating func map<V>(_ side: Side<T, Map<String, V>>, _ value: @escaping (inout Random) -> V) where V: _QueryOrdered {
        guard case .path(let path) = side.tree else { fatalError() }
        order(Side(tree: .path(PathSyntax(path.steps + [.key("k")]))) { side.typed($0)["k"] }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.values]))) { side.typed($0).values }, value)
        order(Side(tree: .path(PathSyntax(path.steps + [.keys]))) { side.typed($0).keys }) { ["k", "a b", "z", "x"][$0.below(4)] }
        add { random in
            let x = value(&random), values = (0..<random.below(3)).map { _ in value(&random) }, count = random.below(3)
            switch random.below(3) {
            case 0: return PieceMaker.piece(PieceMaker.constant(x), .isIn, side.tree) { side.typed($0).contains(x) }
            case 1:
                return PieceMaker.piece(.path(PathSyntax(quantifier: .any, path.steps)), .isIn, PieceMaker.list(values)) {
                    side.typed($0).containsAny(in: values)
                }
            default:
                return PieceMaker.piece(.path(PathSyntax(path.steps + [.count])), .equal, PieceMaker.constant(.int(Int64(count)))) {
                    side.typed($0).count == count
                }
            }
        }
    }

    /// Adds a condition whose tree is parsed from text.
    mutating func say(_ text: String, _ typed: @escaping (Query<T>) -> Query<Bool>) {
        guard let tree = try? Parser.query(text).predicate else { fatalError("\(text) does not parse") }
        add { _ in Piece(typed: typed, tree: tree) }
    }
}
