import FirnDatabase
import FirnQuery
import FirnTable

// Lists, sets and inverse links.

extension Query where T: RealmCollection {
    /// The number of elements.
    public var count: Query<Int> { Query<Int>(node.following([.count]), context) }

    /// Any element, which is also the default for a path through a collection.
    public var any: Query<T.Element> { quantified(.any) }
    /// Every element; also true for an empty collection.
    public var all: Query<T.Element> { quantified(.all) }
    /// No element.
    public var none: Query<T.Element> { quantified(.none) }

    /// The element at a position of a list; null where the list is shorter.
    public subscript(position: Int) -> Query<T.Element> { Query<T.Element>(node.following([.index(position)]), context) }
    /// The first element of a list; null where the list is empty.
    public var first: Query<T.Element> { Query<T.Element>(node.following([.first]), context) }
    /// The last element of a list; null where the list is empty.
    public var last: Query<T.Element> { Query<T.Element>(node.following([.last]), context) }

    /// Matches where the value is an element.
    public func contains(_ element: T.Element) -> Query<Bool> { membership(context.constant(element)) }
    /// Matches where the value of another property is an element.
    public func contains(_ element: Query<T.Element>) -> Query<Bool> { membership(element.expression) }

    /// Matches where at least one of the values is an element.
    public func containsAny(in values: some Sequence<T.Element>) -> Query<Bool> {
        let any: Query<T.Element> = quantified(.any)
        return any.compared(.isIn, context.list(values))
    }

    /// Matches where the elements are equal, in the same order (a set's in ascending order).
    public static func == (lhs: Query, rhs: [T.Element]) -> Query<Bool> { lhs.compared(.equal, lhs.context.list(rhs)) }
    /// Matches where the elements differ.
    public static func != (lhs: Query, rhs: [T.Element]) -> Query<Bool> { lhs.compared(.notEqual, lhs.context.list(rhs)) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric {
    /// The minimum of the elements; null if there is none.
    public var min: Query<T.Element> { entering().aggregated(.minimum) }
    /// The maximum of the elements; null if there is none.
    public var max: Query<T.Element> { entering().aggregated(.maximum) }
    /// The sum of the elements; 0 if there are none.
    public var sum: Query<T.Element> { entering().aggregated(.sum) }
    /// The average of the elements; null if there are none.
    public var avg: Query<Double?> { entering().aggregated(.average) }
}

extension Query where T: RealmCollection, T.Element: _QueryOrdered, T.Element._Comparand == _DateComparand {
    /// The earliest of the dates; null if there is none.
    public var min: Query<T.Element> { entering().aggregated(.minimum) }
    /// The latest of the dates; null if there is none.
    public var max: Query<T.Element> { entering().aggregated(.maximum) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric & Comparable {
    /// Matches where there are elements and all are within the bounds.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> { min >= range.lowerBound && max <= range.upperBound }
    /// Matches where there are elements and all are within the bounds, the upper bound excluded.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { min >= range.lowerBound && max < range.upperBound }
}

extension Query {
    fileprivate func membership(_ element: ExpressionSyntax) -> Query<Bool> {
        Query<Bool>(.predicate(.comparison(ComparisonSyntax(element, .isIn, expression))), context)
    }
}

// MARK: Maps

extension Query where T: _QueryMap {
    /// The number of entries.
    public var count: Query<Int> { Query<Int>(node.following([.count]), context) }
    /// Any key: `$0.scores.keys == "a"` matches where the map has this key.
    public var keys: Query<String> { step(.keys) }
    /// Any value.
    public var values: Query<T._MapValue> { step(.values) }
    /// The value of a key; null where the map does not have the key.
    public subscript(key: String) -> Query<T._MapValue> { Query<T._MapValue>(node.following([.key(key)]), context) }

    /// Matches where a key has the value.
    public func contains(_ value: T._MapValue) -> Query<Bool> { membership(context.constant(value)) }
    /// Matches where a key has one of the values.
    public func containsAny(in values: some Sequence<T._MapValue>) -> Query<Bool> {
        let any: Query<T._MapValue> = quantified(.any)
        return any.compared(.isIn, context.list(values))
    }

    private func step<V>(_ step: PathStep) -> Query<V> {
        let stepped = Query<V>(node.following([step]), context)
        return stepped.entering()
    }
}

extension Query where T: _QueryMap, T._MapValue: _QueryNumeric {
    /// The minimum of the values; null if there is none.
    public var min: Query<T._MapValue> { entering().aggregated(.minimum) }
    /// The maximum of the values; null if there is none.
    public var max: Query<T._MapValue> { entering().aggregated(.maximum) }
    /// The sum of the values; 0 if there are none.
    public var sum: Query<T._MapValue> { entering().aggregated(.sum) }
    /// The average of the values; null if there are none.
    public var avg: Query<Double?> { entering().aggregated(.average) }
}

// MARK: Inverse links

extension Query where T: ObjectBase {
    /// The objects that link to this one through a property: `$0.linking(\Dog.owner)`.
    public func linking<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> { backwards(property) }

    /// The number of links to the object, from all properties.
    public var linkCount: Query<Int> { Query<Int>(node.following([.links, .count]), context) }
}

extension Query where T: _QueryOptional, T.Wrapped: ObjectBase {
    /// The objects that link to the linked object through a property.
    public func linking<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> { backwards(property) }
}

extension Query {
    fileprivate func backwards<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> {
        Query<LinkingObjects<Source>>(node.following([.links, .name(Source.className())] + KeyPathRecorder.steps(property)), context)
    }
}
