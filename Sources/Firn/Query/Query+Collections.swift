import FirnModel
import FirnQuery

// Lists, sets and inverse links.

extension Query where T: RealmCollection {
    /// How many elements there are.
    public var count: Query<Int> { Query<Int>(node.following([.count]), context) }

    /// Any element: what a path through a collection means anyway.
    public var any: Query<T.Element> { quantified(.any) }
    /// Every element, also where there are none.
    public var all: Query<T.Element> { quantified(.all) }
    /// No element.
    public var none: Query<T.Element> { quantified(.none) }

    /// The element at a position of a list; null where the list is shorter.
    public subscript(position: Int) -> Query<T.Element> { Query<T.Element>(node.following([.index(position)]), context) }
    public var first: Query<T.Element> { Query<T.Element>(node.following([.first]), context) }
    public var last: Query<T.Element> { Query<T.Element>(node.following([.last]), context) }

    /// The value is one of the elements.
    public func contains(_ element: T.Element) -> Query<Bool> { membership(context.constant(element)) }
    /// The value of another property is one of the elements.
    public func contains(_ element: Query<T.Element>) -> Query<Bool> { membership(element.expression) }

    /// At least one of the values is an element.
    public func containsAny(in values: some Sequence<T.Element>) -> Query<Bool> {
        let any: Query<T.Element> = quantified(.any)
        return any.compared(.isIn, context.list(values))
    }

    /// The same elements in the same order (a set's in ascending order).
    public static func == (lhs: Query, rhs: [T.Element]) -> Query<Bool> { lhs.compared(.equal, lhs.context.list(rhs)) }
    public static func != (lhs: Query, rhs: [T.Element]) -> Query<Bool> { lhs.compared(.notEqual, lhs.context.list(rhs)) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric {
    /// The least element; null if there is none.
    public var min: Query<T.Element> { entering().aggregated(.minimum) }
    public var max: Query<T.Element> { entering().aggregated(.maximum) }
    /// 0 if there are none.
    public var sum: Query<T.Element> { entering().aggregated(.sum) }
    public var avg: Query<Double?> { entering().aggregated(.average) }
}

extension Query where T: RealmCollection, T.Element: _QueryOrdered, T.Element._Comparand == _DateComparand {
    public var min: Query<T.Element> { entering().aggregated(.minimum) }
    public var max: Query<T.Element> { entering().aggregated(.maximum) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric & Comparable {
    /// There are elements, and all lie within the bounds.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> { min >= range.lowerBound && max <= range.upperBound }
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { min >= range.lowerBound && max < range.upperBound }
}

extension Query {
    fileprivate func membership(_ element: ExpressionSyntax) -> Query<Bool> {
        Query<Bool>(.predicate(.comparison(ComparisonSyntax(element, .isIn, expression))), context)
    }
}

// MARK: Maps

extension Query where T: _QueryMap {
    public var count: Query<Int> { Query<Int>(node.following([.count]), context) }
    /// Any key: `$0.scores.keys == "a"` holds where that key is there.
    public var keys: Query<String> { step(.keys) }
    /// Any value.
    public var values: Query<T._MapValue> { step(.values) }
    /// The value of a key; null where it is not there.
    public subscript(key: String) -> Query<T._MapValue> { Query<T._MapValue>(node.following([.key(key)]), context) }

    /// The value is that of one of the keys.
    public func contains(_ value: T._MapValue) -> Query<Bool> { membership(context.constant(value)) }
    /// At least one of the values is that of a key.
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
    public var min: Query<T._MapValue> { entering().aggregated(.minimum) }
    public var max: Query<T._MapValue> { entering().aggregated(.maximum) }
    public var sum: Query<T._MapValue> { entering().aggregated(.sum) }
    public var avg: Query<Double?> { entering().aggregated(.average) }
}

// MARK: Links, the other way round

extension Query where T: ObjectBase {
    /// The objects that have a link to this one in a property of theirs: `$0.linking(\Dog.owner)`.
    public func linking<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> { backwards(property) }

    /// How many links lead to the object, from whatever property.
    public var linkCount: Query<Int> { Query<Int>(node.following([.links, .count]), context) }
}

extension Query where T: _QueryOptional, T.Wrapped: ObjectBase {
    /// The objects that have a link to the linked one.
    public func linking<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> { backwards(property) }
}

extension Query {
    fileprivate func backwards<Source: ObjectBase, V>(_ property: KeyPath<Source, V>) -> Query<LinkingObjects<Source>> {
        Query<LinkingObjects<Source>>(node.following([.links, .name(Source.className())] + KeyPathRecorder.steps(property)), context)
    }
}
