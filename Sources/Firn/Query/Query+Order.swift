import FirnModel
import FirnQuery

// Order and ranges.

extension Query where T: _QueryOrdered {
    public static func < (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    public static func <= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    public static func > (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    public static func >= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }

    // Two properties: of the same type, or of types that compare (all numbers do, and optionals with what they wrap).
    public static func < <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.less, rhs.expression) }
    public static func <= <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.lessOrEqual, rhs.expression) }
    public static func > <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.greater, rhs.expression) }
    public static func >= <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.greaterOrEqual, rhs.expression) }
    @_disfavoredOverload
    public static func == <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.equal, rhs.expression) }
    @_disfavoredOverload
    public static func != <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand { lhs.compared(.notEqual, rhs.expression) }

    fileprivate func between<V: _Element>(_ low: V, _ high: V) -> Query<Bool> { compared(.between, .list(nil, [context.constant(low), context.constant(high)], .init())) }

    fileprivate func within<V: _Element>(_ low: V, upTo high: V) -> Query<Bool> {
        compared(.greaterOrEqual, context.constant(low)) && compared(.less, context.constant(high))
    }
}

extension Query where T: _QueryNumeric {
    // Numbers of another type: `$0.age > 4.5`.
    @_disfavoredOverload
    public static func < <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func <= <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func > <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func >= <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }
}

extension Query where T: _QueryOrdered & Comparable {
    /// Between the bounds, both included.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
    /// From the lower bound on and below the upper one.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range.lowerBound, upTo: range.upperBound) }
}

extension Query where T: _QueryOptional & _QueryOrdered, T.Wrapped: _QueryOrdered & Comparable {
    /// Between the bounds, both included; null is not.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range.lowerBound, upTo: range.upperBound) }
}
