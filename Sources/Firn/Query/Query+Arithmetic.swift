import FirnModel
import FirnQuery

// Arithmetic within an object. Ints divide to ints; null with anything is null.

extension Query where T: _QueryNumeric {
    public static func + (lhs: Query, rhs: T) -> Query { lhs.combined(.add, lhs.context.constant(rhs)) }
    public static func - (lhs: Query, rhs: T) -> Query { lhs.combined(.subtract, lhs.context.constant(rhs)) }
    public static func * (lhs: Query, rhs: T) -> Query { lhs.combined(.multiply, lhs.context.constant(rhs)) }
    public static func / (lhs: Query, rhs: T) -> Query { lhs.combined(.divide, lhs.context.constant(rhs)) }

    public static func + (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .add) }
    public static func - (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .subtract) }
    public static func * (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .multiply) }
    public static func / (lhs: T, rhs: Query) -> Query { rhs.combined(lhs, .divide) }

    public static func + (lhs: Query, rhs: Query) -> Query { lhs.combined(.add, rhs.expression) }
    public static func - (lhs: Query, rhs: Query) -> Query { lhs.combined(.subtract, rhs.expression) }
    public static func * (lhs: Query, rhs: Query) -> Query { lhs.combined(.multiply, rhs.expression) }
    public static func / (lhs: Query, rhs: Query) -> Query { lhs.combined(.divide, rhs.expression) }

    // Numbers of different types: the result is of the wider one, and compared as a double.
    @_disfavoredOverload
    public static func + <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.add, rhs.expression) }
    @_disfavoredOverload
    public static func - <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.subtract, rhs.expression) }
    @_disfavoredOverload
    public static func * <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.multiply, rhs.expression) }
    @_disfavoredOverload
    public static func / <U: _QueryNumeric>(lhs: Query, rhs: Query<U>) -> Query<Double?> { lhs.combined(.divide, rhs.expression) }
    @_disfavoredOverload
    public static func + (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.add, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func - (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.subtract, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func * (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.multiply, lhs.context.constant(rhs)) }
    @_disfavoredOverload
    public static func / (lhs: Query, rhs: Double) -> Query<Double?> { lhs.combined(.divide, lhs.context.constant(rhs)) }

    private func combined<V>(_ op: ArithmeticOperator, _ other: ExpressionSyntax) -> Query<V> {
        Query<V>(.expression(.arithmetic(op, expression, other)), context)
    }

    private func combined(_ other: T, _ op: ArithmeticOperator) -> Query {
        Query(.expression(.arithmetic(op, context.constant(other), expression)), context)
    }

    // MARK: Over the collection on the way

    /// The least of the values that a path through a collection gives; null if there is none.
    public var min: Query { aggregated(.minimum) }
    /// The greatest, likewise.
    public var max: Query { aggregated(.maximum) }
    /// 0 if there are none.
    public var sum: Query { aggregated(.sum) }
    /// Null if there are none.
    public var avg: Query<Double?> { aggregated(.average) }
}

extension Query where T: _QueryOrdered, T._Comparand == _DateComparand {
    public var min: Query { aggregated(.minimum) }
    public var max: Query { aggregated(.maximum) }
}

extension Query {
    /// `dogs.@min.age`: the function stands behind the last collection.
    func aggregated<V>(_ function: PathStep) -> Query<V> {
        guard case .path(var path, let entered?) = node else {
            preconditionFailure("\(PathSyntax([function]).description.dropFirst()) needs a path through a collection, such as $0.dogs.age: '\(self)' goes through none")
        }
        path.steps.insert(function, at: entered)
        return Query<V>(.path(path, entered: nil), context)
    }
}
