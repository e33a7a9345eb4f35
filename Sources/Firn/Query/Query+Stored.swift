import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

// Enums and custom types, by the value that is stored.

extension Query where T: RealmCollection, T.Element: RawRepresentable, T.Element.RawValue: RealmCollectionValue {
    /// The raw values of the enums of a collection: `$0.moods.rawValue.contains("happy")`.
    public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> { Query<AnyRealmCollection<T.Element.RawValue>>(node, context) }
}

extension Query
where
    T: RealmCollection, T.Element: _QueryOptional & RealmCollectionValue, T.Element.Wrapped: RawRepresentable,
    T.Element.Wrapped.RawValue: RealmCollectionValue
{
    /// The raw values of the optional enums of a collection.
    public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> {
        Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>>(node, context)
    }
}

extension Query where T: _QueryMap, T._MapValue: RawRepresentable, T._MapValue.RawValue: RealmCollectionValue {
    /// The raw values of the enums of a map.
    public var rawValue: Query<Map<String, T._MapValue.RawValue>> { Query<Map<String, T._MapValue.RawValue>>(node, context) }
}

extension Query
where
    T: _QueryMap, T._MapValue: _QueryOptional, T._MapValue.Wrapped: RawRepresentable,
    T._MapValue.Wrapped.RawValue: RealmCollectionValue
{
    /// The raw values of the optional enums of a map.
    public var rawValue: Query<Map<String, T._MapValue.Wrapped.RawValue?>> {
        Query<Map<String, T._MapValue.Wrapped.RawValue?>>(node, context)
    }
}

extension Query where T: RealmCollection, T.Element: _CustomPersistable, T.Element.PersistedType: RealmCollectionValue {
    /// The stored forms of the elements.
    public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
        Query<AnyRealmCollection<T.Element.PersistedType>>(node, context)
    }
}

extension Query where T: _QueryByStoredValue, T.PersistedType: _QueryOrdered {
    // Enums are ordered by their raw values, custom types by their stored forms.
    /// Matches where the stored value is less than that of `rhs`.
    public static func < (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    /// Matches where the stored value is at most that of `rhs`.
    public static func <= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    /// Matches where the stored value is greater than that of `rhs`.
    public static func > (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    /// Matches where the stored value is at least that of `rhs`.
    public static func >= (lhs: Query, rhs: T) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }
}

extension Query where T: _QueryOptional, T.Wrapped: _QueryByStoredValue, T.Wrapped.PersistedType: _QueryOrdered {
    // Null never matches.
    /// Matches where the stored value is less than that of `rhs`.
    public static func < (lhs: Query, rhs: T.Wrapped) -> Query<Bool> { lhs.compared(.less, lhs.context.constant(rhs)) }
    /// Matches where the stored value is at most that of `rhs`.
    public static func <= (lhs: Query, rhs: T.Wrapped) -> Query<Bool> { lhs.compared(.lessOrEqual, lhs.context.constant(rhs)) }
    /// Matches where the stored value is greater than that of `rhs`.
    public static func > (lhs: Query, rhs: T.Wrapped) -> Query<Bool> { lhs.compared(.greater, lhs.context.constant(rhs)) }
    /// Matches where the stored value is at least that of `rhs`.
    public static func >= (lhs: Query, rhs: T.Wrapped) -> Query<Bool> { lhs.compared(.greaterOrEqual, lhs.context.constant(rhs)) }
}

extension Query where T: _QueryByStoredValue & Comparable, T.PersistedType: _QueryOrdered {
    /// Matches where the stored value is within those of the bounds, both included.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { self >= range.lowerBound && self <= range.upperBound }
    /// Matches where the stored value is within those of the bounds, the upper bound excluded.
    public func contains(_ range: Range<T>) -> Query<Bool> { self >= range.lowerBound && self < range.upperBound }
}

extension Query where T: _Element {
    /// Matches where the value is one of those that the path leads to: `$0.scores.values.contains(5)`. Traps if the path leads through no
    /// collection.
    @_disfavoredOverload
    public func contains(_ element: T) -> Query<Bool> {
        guard case .path(_, entered: .some) = node else {
            trap("contains(_:) with a single value searches a collection: \"\(self)\" is not one, compare it with ==")
        }
        return Query<Bool>(.predicate(.comparison(ComparisonSyntax(context.constant(element), .isIn, expression))), context)
    }
}

// MARK: Custom types that are stored as embedded objects

extension Query {
    /// Returns the condition that all properties of an embedded object are equal to those of the stored form of a value; nil for values that
    /// are not stored as embedded objects.
    func comparedByProperties(_ value: Any) -> Query<Bool>? {
        guard let custom = unwrapped(value) as? any _CustomPersistable, let object = custom.storedObject else { return nil }
        return Query<Bool>(.predicate(.and(equalities(node, object))), context)
    }

    private func equalities(_ node: QueryNode, _ object: ObjectBase) -> [PredicateSyntax] {
        [Query<Bool>(node, context).compared(.notEqual, context.constant(.null)).condition]
            + ClassSchema.of(type(of: object)).stored.flatMap { property in
                let member = node.following([.name(property.name)]), content = property.access.get(object)
                if property.shape.type.kind == .embedded, let inner = content as? ObjectBase { return equalities(member, inner) }
                return [Query<Bool>(member, context).compared(.equal, constant(content, of: property)).condition]
            }
    }

    private func constant(_ content: Any?, of property: ClassSchema.Property) -> ExpressionSyntax {
        switch content {
        case nil: return context.constant(.null)
        case let element as any _Element: return context.constant(element)
        case let list as any _AnyCollection where property.shape.type.collection == .list && !property.shape.mayHoldObjects:
            return context.constant(
                .list(list._untypedElements.map { (unwrapped($0) as? any _Element)?._stored(in: nil).value ?? .null }))
        default: trap("\"\(property.codeName)\" of an embedded object cannot be compared: compare the other properties one by one")
        }
    }
}

extension _CustomPersistable {
    /// The object that the value is stored as; nil for other stored forms.
    fileprivate var storedObject: ObjectBase? { persistableValue as? ObjectBase }
}
