import FirnDatabase
import FirnQuery
import FirnTable

// Comparisons and ranges.

extension Query where T: _QueryOrdered {
    /// Matches where the value is less than `rhs`.
    public static func < (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    /// Matches where the value is at most `rhs`.
    public static func <= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    /// Matches where the value is greater than `rhs`.
    public static func > (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    /// Matches where the value is at least `rhs`.
    public static func >= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }

    // Comparisons of two properties of comparable types: all numbers are comparable with each other, and optionals with what they wrap.
    /// Matches where `lhs` is less than `rhs`.
    public static func < <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.less, rhs.expression)
    }
    /// Matches where `lhs` is at most `rhs`.
    public static func <= <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.lessOrEqual, rhs.expression)
    }
    /// Matches where `lhs` is greater than `rhs`.
    public static func > <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.greater, rhs.expression)
    }
    /// Matches where `lhs` is at least `rhs`.
    public static func >= <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.greaterOrEqual, rhs.expression)
    }
    /// Matches where both properties are equal.
    @_disfavoredOverload
    public static func == <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.equal, rhs.expression)
    }
    /// Matches where both properties differ.
    @_disfavoredOverload
    public static func != <U: _QueryOrdered>(lhs: Query, rhs: Query<U>) -> Query<Bool> where U._Comparand == T._Comparand {
        lhs.compared(.notEqual, rhs.expression)
    }

    fileprivate func between<V: _Element>(_ low: V, _ high: V) -> Query<Bool> {
        compared(.between, .list(nil, [context.constant(low), context.constant(high)], .init()))
    }

    fileprivate func within<V: _Element>(_ low: V, upTo high: V) -> Query<Bool> {
        compared(.greaterOrEqual, context.constant(low)) && compared(.less, context.constant(high))
    }
}

extension Query where T: _QueryNumeric {
    // Comparisons with a number of another type: `$0.age > 4.5`.
    /// Matches where the value is less than `rhs`.
    @_disfavoredOverload
    public static func < <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    /// Matches where the value is at most `rhs`.
    @_disfavoredOverload
    public static func <= <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    /// Matches where the value is greater than `rhs`.
    @_disfavoredOverload
    public static func > <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    /// Matches where the value is at least `rhs`.
    @_disfavoredOverload
    public static func >= <U: _QueryNumeric>(lhs: Query, rhs: U) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }
}

extension Query where T: _QueryOrdered & Comparable {
    /// Matches where the value is within the bounds, both included.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
    /// Matches where the value is within the bounds, the upper bound excluded.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range.lowerBound, upTo: range.upperBound) }
}

extension Query where T: _QueryOptional & _QueryOrdered, T.Wrapped: _QueryOrdered & Comparable {
    /// Matches where the value is within the bounds, both included; null never matches.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
    /// Matches where the value is within the bounds, the upper bound excluded; null never matches.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range.lowerBound, upTo: range.upperBound) }
}
