import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

// Full-text search, areas on the globe, counts of elements that match several conditions, values of any type.

extension Query where T: _QueryText {
    /// Matches where all words occur: `word`, `word*` for a prefix, `-word` for one that must not occur.
    public func fullTextSearch(_ words: String) -> Query<Bool> { compared(.text, .constant(ConstantSyntax(.string(words)))) }
}

extension Query where T: _QueryOptional, T.Wrapped: EmbeddedObject {
    /// Matches where the embedded object is a GeoJSON point within the shape.
    public func geoWithin(_ box: GeoBox) -> Query<Bool> { within(box) }
    /// Matches where the embedded object is a GeoJSON point within the circle.
    public func geoWithin(_ circle: GeoCircle) -> Query<Bool> { within(circle) }
    /// Matches where the embedded object is a GeoJSON point within the polygon.
    public func geoWithin(_ polygon: GeoPolygon) -> Query<Bool> { within(polygon) }
}

extension Query where T: RealmCollection, T.Element: EmbeddedObject {
    /// Matches where any of the embedded objects is a GeoJSON point within the shape.
    public func geoWithin(_ box: GeoBox) -> Query<Bool> { within(box) }
    /// Matches where any of the embedded objects is a GeoJSON point within the circle.
    public func geoWithin(_ circle: GeoCircle) -> Query<Bool> { within(circle) }
    /// Matches where any of the embedded objects is a GeoJSON point within the polygon.
    public func geoWithin(_ polygon: GeoPolygon) -> Query<Bool> { within(polygon) }
}

extension Query {
    private func within(_ shape: some GeoShaped) -> Query<Bool> { compared(.geoWithin, .geo(GeoSyntax(shape.shape), .init())) }
}

// MARK: Values of any type

/// The family of values of any type, which can be compared with each other in queries. It has no values. Used by `Query`; not for direct
/// use.
public enum _AnyComparand {}

extension AnyRealmValue: _QueryText { public typealias _Comparand = _AnyComparand }

extension Query where T == AnyRealmValue {
    /// The value of a key in a dictionary; null if the value is not a dictionary.
    public subscript(key: String) -> Query<AnyRealmValue> { Query(node.following([.key(key)]), context) }
    /// The element at a position of a list; null if the value is not a list or is shorter.
    public subscript(position: Int) -> Query<AnyRealmValue> { Query(node.following([.index(position)]), context) }
    /// Any of the values of a list or dictionary.
    public var any: Query<AnyRealmValue> { Query(node.following([.every]), context) }
    /// The number of elements, or of bytes of text or data.
    public var count: Query<AnyRealmValue> { Query(node.following([.count]), context) }
    /// Matches where the value has the type. `.any` matches all values except null, `.object` matches dictionaries.
    public func isOf(type: PropertyType) -> Query<Bool> {
        let name: String
        switch type {
        case .any: return compared(.notEqual, .constant(ConstantSyntax(.null)))
        case .data: name = "binary"
        case .decimal128: name = "decimal"
        case .objectId: name = "objectid"
        case .UUID: name = "uuid"
        case .linkingObjects: name = "link"
        default: name = "\(type)"
        }
        return Query<AnyRealmValue>(node.following([.type]), context).compared(.equal, .constant(ConstantSyntax(.string(name))))
    }
}

// MARK: Several conditions on one element

extension Query where T == Bool {
    /// The number of elements of a collection that match the condition. All parts of the condition must lead through that collection:
    /// `($0.toys.price > 5 && $0.toys.brand == "Kong").count > 1`. Traps if they do not.
    public var count: Query<Int> {
        let condition = condition, paths = condition.paths
        let collection = context.entered.filter { prefix in
            paths.allSatisfy { $0.quantifier == nil && $0.steps.count > prefix.count && $0.steps.starts(with: prefix) }
        }
        guard let prefix = collection.max(by: { $0.count < $1.count }), !paths.isEmpty else {
            trap(
                "count needs a condition whose parts all go through one collection of objects, such as ($0.toys.price > 5).count: \"\(condition)\" does not"
            )
        }
        return Query<Int>(.expression(condition.subquery(PathSyntax(prefix))), context)
    }
}

extension PredicateSyntax {
    /// Returns the number of elements of a collection that match this condition, whose paths begin with the collection's path.
    func subquery(_ collection: PathSyntax) -> ExpressionSyntax {
        let variable = "$x\(depthOfSubqueries > 0 ? "\(depthOfSubqueries)" : "")"
        return .subquery(SubquerySyntax(collection, variable, replacing(collection.steps, by: [.variable(variable)])))
    }

    /// All paths. Of a subquery, only the path of its collection.
    var paths: [PathSyntax] {
        switch self {
        case .constant: []
        case .not(let inner): inner.paths
        case .and(let parts), .or(let parts): parts.flatMap(\.paths)
        case .comparison(let comparison): comparison.left.paths + comparison.right.paths
        }
    }

    private var depthOfSubqueries: Int {
        switch self {
        case .constant: 0
        case .not(let inner): inner.depthOfSubqueries
        case .and(let parts), .or(let parts): parts.map(\.depthOfSubqueries).max() ?? 0
        case .comparison(let comparison): max(comparison.left.depthOfSubqueries, comparison.right.depthOfSubqueries)
        }
    }

    fileprivate func replacing(_ prefix: [PathStep], by steps: [PathStep]) -> PredicateSyntax {
        switch self {
        case .constant: return self
        case .not(let inner): return .not(inner.replacing(prefix, by: steps))
        case .and(let parts): return .and(parts.map { $0.replacing(prefix, by: steps) })
        case .or(let parts): return .or(parts.map { $0.replacing(prefix, by: steps) })
        case .comparison(var comparison):
            comparison.left = comparison.left.replacing(prefix, by: steps)
            comparison.right = comparison.right.replacing(prefix, by: steps)
            return .comparison(comparison)
        }
    }
}

extension ExpressionSyntax {
    fileprivate var paths: [PathSyntax] {
        switch self {
        case .constant, .argument, .list, .object, .geo: []
        case .path(let path): [path]
        case .arithmetic(_, let left, let right): left.paths + right.paths
        case .subquery(let subquery): [subquery.collection]
        }
    }

    fileprivate var depthOfSubqueries: Int {
        switch self {
        case .arithmetic(_, let left, let right): Swift.max(left.depthOfSubqueries, right.depthOfSubqueries)
        case .subquery(let subquery): Swift.max(1, Int(subquery.variable.dropFirst(2)).map { $0 + 1 } ?? 1)
        default: 0
        }
    }

    fileprivate func replacing(_ prefix: [PathStep], by steps: [PathStep]) -> ExpressionSyntax {
        func replaced(_ path: PathSyntax) -> PathSyntax {
            guard path.steps.starts(with: prefix) else { return path }
            var path = path
            path.steps = steps + path.steps.dropFirst(prefix.count)
            return path
        }
        switch self {
        case .path(let path): return .path(replaced(path))
        case .arithmetic(let op, let left, let right):
            return .arithmetic(op, left.replacing(prefix, by: steps), right.replacing(prefix, by: steps))
        case .subquery(var subquery):
            subquery.collection = replaced(subquery.collection)
            return .subquery(subquery)
        default: return self
        }
    }
}
