import FirnModel
import FirnQuery

// Conditions joined, and equality.

extension Query where T == Bool {
    /// Both conditions hold.
    public static func && (lhs: Query, rhs: Query) -> Query {
        Query(.predicate(.and(lhs.condition.conjuncts + rhs.condition.conjuncts)), lhs.context)
    }

    /// One of the conditions holds, or both.
    public static func || (lhs: Query, rhs: Query) -> Query {
        Query(.predicate(.or(lhs.condition.disjuncts + rhs.condition.disjuncts)), lhs.context)
    }

    /// The condition does not hold.
    public static prefix func ! (query: Query) -> Query { Query(.predicate(.not(query.condition)), query.context) }

    /// A boolean property by itself holds where it is true.
    var condition: PredicateSyntax {
        if case .predicate(let predicate) = node { return predicate }
        return .comparison(ComparisonSyntax(expression, .equal, .constant(ConstantSyntax(.bool(true)))))
    }

    var isCondition: Bool { if case .predicate = node { true } else { false } }

    /// A condition compared with true or false; a property as any other.
    public static func == (lhs: Query, rhs: Bool) -> Query {
        guard lhs.isCondition else { return lhs.compared(.equal, lhs.context.constant(rhs)) }
        return rhs ? lhs : !lhs
    }

    public static func != (lhs: Query, rhs: Bool) -> Query {
        guard lhs.isCondition else { return lhs.compared(.notEqual, lhs.context.constant(rhs)) }
        return rhs ? !lhs : lhs
    }
}

extension PredicateSyntax {
    /// `a && b && c` is one list, as its text is parsed.
    var conjuncts: [PredicateSyntax] { if case .and(let parts) = self { parts } else { [self] } }
    var disjuncts: [PredicateSyntax] { if case .or(let parts) = self { parts } else { [self] } }
}

extension Query where T: _Element {
    public static func == (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.equal, lhs.context.constant(rhs)) }
    /// Also where the property is null and `rhs` is not.
    public static func != (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.notEqual, lhs.context.constant(rhs)) }

    /// Both properties of an object are equal.
    public static func == (lhs: Query, rhs: Query) -> Query<Bool> { lhs.compared(.equal, rhs.expression) }
    public static func != (lhs: Query, rhs: Query) -> Query<Bool> { lhs.compared(.notEqual, rhs.expression) }

    /// One of some values.
    public func `in`(_ values: some Sequence<T>) -> Query<Bool> { compared(.isIn, context.list(values)) }

    /// An element of a collection property of the same object.
    public func `in`<C: RealmCollection>(_ collection: Query<C>) -> Query<Bool> where C.Element == T { compared(.isIn, collection.expression) }
}

extension Query where T: _QueryOptional, T: _Element, T.Wrapped: _Element {
    /// One of some values; null is none of them.
    @_disfavoredOverload
    public func `in`(_ values: some Sequence<T.Wrapped>) -> Query<Bool> { compared(.isIn, context.list(values)) }
}

extension Query {
    /// There is no value.
    @_disfavoredOverload
    public static func == (lhs: Query, rhs: _OptionalNilComparisonType) -> Query<Bool> { lhs.compared(.equal, .constant(ConstantSyntax(.null))) }
    /// There is a value.
    @_disfavoredOverload
    public static func != (lhs: Query, rhs: _OptionalNilComparisonType) -> Query<Bool> { lhs.compared(.notEqual, .constant(ConstantSyntax(.null))) }
}

// MARK: What enums and custom types are stored as

extension Query where T: RawRepresentable, T.RawValue: _Element {
    /// The raw value of an enum, for order, text and the like.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node, context) }
}

extension Query where T: _QueryOptional, T.Wrapped: RawRepresentable, T.Wrapped.RawValue: _Element {
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node, context) }
}

extension Query where T: _HasPersistedType {
    /// What a value of a custom type is stored as.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node, context) }
}
