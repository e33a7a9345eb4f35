import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

// Arithmetic on values of one object. Division of ints gives an int; an operation with null gives null.

extension Query where T: _QueryNumeric {
    /// Returns the sum of both sides.
    public static func + (lhs: Query, rhs: T) -> Query { lhs.combined(.add, lhs.context.constant(rhs)) }
    /// Returns the difference of both sides.
    public static func - (lhs: Query, rhs: T) -> Query { lhs.combined(.subtract, lhs.context.constant(rhs)) }
    /// Returns the product of both sides.
    public static func * (lhs: Query, rhs: T) -> Query { lhs.combined(.multiply, lhs.context.constant(rhs)) }
    /// Returns the quotient of both sides.
    public static func / (lhs: Query, rhs: T) -> Query { lhs.combined(.divide, lhs.context.constant(rhs)) }

    /// Returns the sum of both sides.
    public static func + (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .add) }
    /// Returns the difference of both sides.
    public static func - (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .subtract) }
    /// Returns the product of both sides.
    public static func * (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .multiply) }
    /// Returns the quotient of both sides.
    public static func / (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .divide) }

    /// Returns the sum of both sides.
    public static func + (lhs: Query, rhs: Query) -> Query { lhs.combined(.add, rhs.expression) }
    /// Returns the difference of both sides.
    public static func - (lhs: Query, rhs: Query) -> Query { lhs.combined(.subtract, rhs.expression) }
    /// Returns the product of both sides.
    public static func * (lhs: Query, rhs: Query) -> Query { lhs.combined(.multiply, rhs.expression) }
    /// Returns the quotient of both sides.
    public static func / (lhs: Query, rhs: Query) -> Query { lhs.combined(.divide, rhs.expression) }

    // With numbers of different types, the result has the wider type and is compared as a double.
    /// Returns the sum of both sides.
    @_disfavoredOverload
    public static func + <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.add, rhs.expression) }
    /// Returns the difference of both sides.
    @_disfavoredOverload
    public static func - <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.subtract, rhs.expression) }
    /// Returns the product of both sides.
    @_disfavoredOverload
    public static func * <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.multiply, rhs.expression) }
    /// Returns the quotient of both sides.
    @_disfavoredOverload
    public static func / <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.divide, rhs.expression) }
    /// Returns the sum of both sides.
    @_disfavoredOverload
    public static func + (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.add, lhs.context.constant(rhs)) }
    /// Returns the difference of both sides.
    @_disfavoredOverload
    public static func - (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.subtract, lhs.context.constant(rhs)) }
    /// Returns the product of both sides.
    @_disfavoredOverload
    public static func * (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.multiply, lhs.context.constant(rhs)) }
    /// Returns the quotient of both sides.
    @_disfavoredOverload
    public static func / (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.divide, lhs.context.constant(rhs)) }

    private func combined<V>(_ op: ArithmeticOperator, _ other: ExpressionSyntax) -> Query<V> {
        Query<V>(.expression(.arithmetic(op, expression, other)), context)
    }

    private func combined(_ other: T, _ op: ArithmeticOperator) -> Query {
        Query(.expression(.arithmetic(op, context.constant(other), expression)), context)
    }

    // MARK: Aggregates over a collection on the path

    /// The minimum of the values of a path through a collection; null if there is none. Traps if the path does not lead through a
    /// collection.
    public var min: Query { aggregated(.minimum) }
    /// The maximum of the values of a path through a collection; null if there is none. Traps if the path does not lead through a
    /// collection.
    public var max: Query { aggregated(.maximum) }
    /// The sum of the values of a path through a collection; 0 if there are none. Traps if the path does not lead through a collection.
    public var sum: Query { aggregated(.sum) }
    /// The average of the values of a path through a collection; null if there are none. Traps if the path does not lead through a
    /// collection.
    public var avg: Query<Double?> { aggregated(.average) }
}

extension Query where T: _QueryOrdered, T._Comparand == _DateComparand {
    /// The earliest date of a path through a collection; null if there is none.
    public var min: Query { aggregated(.minimum) }
    /// The latest date of a path through a collection; null if there is none.
    public var max: Query { aggregated(.maximum) }
}

extension Query {
    /// Inserts the function after the last collection of the path: `dogs.@min.age`.
    func aggregated<V>(_ function: PathStep) -> Query<V> {
        guard case .path(var path, let entered?) = node else {
            trap(
                "\(PathSyntax([function]).description.dropFirst()) needs a path through a collection, such as $0.dogs.age: \"\(self)\" does not lead through one"
            )
        }
        path.steps.insert(function, at: entered)
        return Query<V>(.path(path, entered: nil), context)
    }
}
