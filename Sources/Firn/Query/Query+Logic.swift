import FirnDatabase
import FirnQuery
import FirnTable

// Logical operators, and equality.

extension Query where T == Bool {
    /// Matches where both conditions do.
    public static func && (lhs: Query, rhs: Query) -> Query {
        Query(.predicate(.and(lhs.condition.conjuncts + rhs.condition.conjuncts)), lhs.context)
    }

    /// Matches where at least one of the conditions does.
    public static func || (lhs: Query, rhs: Query) -> Query {
        Query(.predicate(.or(lhs.condition.disjuncts + rhs.condition.disjuncts)), lhs.context)
    }

    /// Matches where the condition does not.
    public static prefix func ! (query: Query) -> Query { Query(.predicate(.not(query.condition)), query.context) }

    /// The query as a condition. A boolean property matches where it is true.
    var condition: PredicateSyntax {
        if case .predicate(let predicate) = node { return predicate }
        return .comparison(ComparisonSyntax(expression, .equal, .constant(ConstantSyntax(.bool(true)))))
    }

    var isCondition: Bool { if case .predicate = node { true } else { false } }

    /// Compares a condition or a boolean property with a constant.
    public static func == (lhs: Query, rhs: Bool) -> Query {
        guard lhs.isCondition else { return lhs.compared(.equal, lhs.context.constant(rhs)) }
        return rhs ? lhs : !lhs
    }

    /// Compares a condition or a boolean property with a constant.
    public static func != (lhs: Query, rhs: Bool) -> Query {
        guard lhs.isCondition else { return lhs.compared(.notEqual, lhs.context.constant(rhs)) }
        return rhs ? !lhs : lhs
    }
}

extension PredicateSyntax {
    /// The parts of a conjunction: `a && b && c` is one list, as in parsed text.
    var conjuncts: [PredicateSyntax] { if case .and(let parts) = self { parts } else { [self] } }
    var disjuncts: [PredicateSyntax] { if case .or(let parts) = self { parts } else { [self] } }
}

extension Query where T: _Element {
    /// Matches where both sides are equal. A value of a custom type that is stored as an embedded object is equal if all properties of the
    /// stored objects are.
    public static func == (lhs: Query, rhs: T) -> Query<Bool> {
        lhs.comparedByProperties(rhs) ?? lhs.compared(.equal, lhs.context.constant(rhs))
    }
    /// Matches where both sides differ, also where the property is null and `rhs` is not.
    public static func != (lhs: Query, rhs: T) -> Query<Bool> {
        lhs.comparedByProperties(rhs).map { !$0 } ?? lhs.compared(.notEqual, lhs.context.constant(rhs))
    }

    /// Matches where both properties of an object are equal.
    public static func == (lhs: Query, rhs: Query) -> Query<Bool> { lhs.compared(.equal, rhs.expression) }
    /// Matches where both properties of an object differ.
    public static func != (lhs: Query, rhs: Query) -> Query<Bool> { lhs.compared(.notEqual, rhs.expression) }

    /// Matches where the value is one of `values`.
    public func `in`(_ values: some Sequence<T>) -> Query<Bool> { compared(.isIn, context.list(values)) }

    /// Matches where the value is an element of a collection property of the same object.
    public func `in`<C: RealmCollection>(_ collection: Query<C>) -> Query<Bool> where C.Element == T {
        compared(.isIn, collection.expression)
    }
}

extension Query where T: _QueryOptional, T: _Element, T.Wrapped: _Element {
    /// Matches where the value is one of `values`; null never matches.
    @_disfavoredOverload
    public func `in`(_ values: some Sequence<T.Wrapped>) -> Query<Bool> { compared(.isIn, context.list(values)) }
}

extension Query {
    /// Matches where the value is null.
    @_disfavoredOverload
    public static func == (lhs: Query, rhs: _OptionalNilComparisonType) -> Query<Bool> {
        lhs.compared(.equal, .constant(ConstantSyntax(.null)))
    }
    /// Matches where the value is not null.
    @_disfavoredOverload
    public static func != (lhs: Query, rhs: _OptionalNilComparisonType) -> Query<Bool> {
        lhs.compared(.notEqual, .constant(ConstantSyntax(.null)))
    }
}

// MARK: Stored forms of enums and custom types

extension Query where T: RawRepresentable, T.RawValue: _Element {
    /// The raw value of an enum, for comparisons of order and text functions.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node, context) }
}

extension Query where T: _QueryOptional, T.Wrapped: RawRepresentable, T.Wrapped.RawValue: _Element {
    /// The raw value of an optional enum; null where there is no value.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node, context) }
}

extension Query where T: _HasPersistedType {
    /// The stored form of a custom type.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node, context) }
}
