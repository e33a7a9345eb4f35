import FirnQuery
import FirnTable

// Combines a query on the results of another query into one query.
extension QuerySyntax {
    /// Whether the query has a limit, an offset or a distinct clause. The filter of a later query must then run on the results, not on the
    /// same elements.
    var isLimited: Bool {
        descriptors.contains { descriptor in
            switch descriptor {
            case .limit, .offset, .distinct: true
            case .sort: false
            }
        }
    }

    /// Returns whether `next` can be combined with this query: both filters apply, then this query's order, then that of `next`.
    func takes(_ next: QuerySyntax) -> Bool { !isLimited || next.predicate == .constant(true) }

    /// Returns one query for this and then `next`. The arguments of `next` are renumbered by `shift`, the number of this query's arguments.
    func followed(by next: QuerySyntax, shift: Int) -> QuerySyntax {
        let next = QuerySyntax(next.predicate.shifted(by: shift), descriptors: next.descriptors.map { $0.shifted(by: shift) })
        return QuerySyntax(.conjunction(predicate, next.predicate), descriptors: descriptors + next.descriptors)
    }
}

extension PredicateSyntax {
    fileprivate static func conjunction(_ a: PredicateSyntax, _ b: PredicateSyntax) -> PredicateSyntax {
        switch (a, b) {
        case (.constant(true), _): b
        case (_, .constant(true)): a
        case (.and(let first), .and(let second)): .and(first + second)
        case (.and(let first), _): .and(first + [b])
        case (_, .and(let second)): .and([a] + second)
        default: .and([a, b])
        }
    }

    func shifted(by shift: Int) -> PredicateSyntax {
        guard shift > 0 else { return self }
        switch self {
        case .constant: return self
        case .not(let inner): return .not(inner.shifted(by: shift))
        case .and(let parts): return .and(parts.map { $0.shifted(by: shift) })
        case .or(let parts): return .or(parts.map { $0.shifted(by: shift) })
        case .comparison(var comparison):
            comparison.left = comparison.left.shifted(by: shift)
            comparison.right = comparison.right.shifted(by: shift)
            return .comparison(comparison)
        }
    }
}

extension ExpressionSyntax {
    fileprivate func shifted(by shift: Int) -> ExpressionSyntax {
        switch self {
        case .constant: self
        case .argument(let number, let position): .argument(number + shift, position)
        case .path(let path): .path(path.shifted(by: shift))
        case .list(let quantifier, let parts, let position): .list(quantifier, parts.map { $0.shifted(by: shift) }, position)
        case .arithmetic(let sign, let left, let right): .arithmetic(sign, left.shifted(by: shift), right.shifted(by: shift))
        case .subquery(let subquery):
            .subquery(
                SubquerySyntax(
                    subquery.collection.shifted(by: shift), subquery.variable, subquery.predicate.shifted(by: shift), at: subquery.position)
            )
        case .object(.key(let type, let key), let position): .object(.key(type: type, key.shifted(by: shift)), position)
        case .object(.row, _): self
        case .geo(let shape, let position):
            .geo(
                GeoSyntax(
                    shape.kind, shape.rings.map { $0.map { $0.map { $0.shifted(by: shift) } } }, radius: shape.radius?.shifted(by: shift)),
                position)
        }
    }
}

extension PathSyntax {
    fileprivate func shifted(by shift: Int) -> PathSyntax {
        var path = self
        path.steps = steps.map { step in
            switch step {
            case .argument(let number): .argument(number + shift)
            case .path(let number, let position): .path(number + shift, position)
            default: step
            }
        }
        return path
    }

    /// Returns whether the path is a single name of one of these columns.
    fileprivate func leads(to columns: Set<String>) -> Bool {
        guard steps.count == 1, case .name(let name, _) = steps[0] else { return false }
        return columns.contains(name)
    }
}

extension DescriptorSyntax {
    fileprivate func shifted(by shift: Int) -> DescriptorSyntax {
        guard shift > 0 else { return self }
        return switch self {
        case .sort(let keys): .sort(keys.map { SortKeySyntax($0.path.shifted(by: shift), ascending: $0.ascending) })
        case .distinct(let paths): .distinct(paths.map { $0.shifted(by: shift) })
        default: self
        }
    }
}

extension PredicateSyntax {
    /// Returns whether the predicate depends only on the row's own columns, which are `columns`.
    func looksOnly(at columns: Set<String>) -> Bool {
        switch self {
        case .constant: true
        case .not(let inner): inner.looksOnly(at: columns)
        case .and(let parts), .or(let parts): parts.allSatisfy { $0.looksOnly(at: columns) }
        case .comparison(let comparison):
            comparison.comparator != .geoWithin && comparison.left.looksOnly(at: columns) && comparison.right.looksOnly(at: columns)
        }
    }
}

extension ExpressionSyntax {
    fileprivate func looksOnly(at columns: Set<String>) -> Bool {
        switch self {
        case .constant, .argument: true
        case .path(let path): path.leads(to: columns)
        case .list(_, let parts, _): parts.allSatisfy { $0.looksOnly(at: columns) }
        case .arithmetic(_, let left, let right): left.looksOnly(at: columns) && right.looksOnly(at: columns)
        // Linked rows and embedded objects can change while the row itself does not.
        case .subquery, .object, .geo: false
        }
    }
}
