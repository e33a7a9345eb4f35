import FirnTable

/// An element of a collection whose type is known only from the file: a value, or an object without a class. `RLM` builds its collections
/// on it.
package struct DynamicElement: RealmCollectionValue {
    enum Held: Hashable {
        case value(Value)
        /// An element of a collection of values of any type.
        case any(AnyRealmValue)
        case object(ObjectBase)
    }
    let held: Held

    package typealias PersistedType = DynamicElement

    init(_ held: Held) { self.held = held }

    package init(object: DynamicObject) { held = .object(object) }

    /// Decodes a stored element.
    init(_ value: Value, _ type: ColumnType, _ core: RealmCore?) {
        if type.kind == .any {
            held = .any(AnyRealmValue(value, in: core) ?? .none)
        } else if case .link(let rowID) = value {
            // Null if the object has been deleted.
            held = type.target.flatMap { core?.dynamicAccess($0)?.object(rowID) }.map { .object($0) } ?? .value(.null)
        } else {
            held = .value(value)
        }
    }

    /// Converts an untyped value to an element of a type. Returns nil if it does not fit.
    package init?(_ given: Any?, as type: DynamicType) {
        guard let given = unwrapped(given) else {
            guard type.isOptional || type.column.kind == .any else { return nil }
            held = type.column.kind == .any ? .any(.none) : .value(.null)
            return
        }
        switch type.column.kind {
        case .link, .embedded:
            guard let object = given as? ObjectBase, object._typeName == type.column.target else { return nil }
            held = .object(object)
        case .any:
            guard let any = AnyRealmValue(untyped: given) else { return nil }
            held = .any(any)
        default:
            guard let value = Value(any: given)?.fitted(to: type.column.kind) else { return nil }
            held = .value(value)
        }
    }

    /// The element as plain Swift: `Int`, `String`, … or a `DynamicObject`; nil for null.
    package var content: Any? {
        switch held {
        case .value(let value): swiftValue(of: value)
        case .any(let any): any.content
        case .object(let object): object.withoutClass
        }
    }

    // MARK: As an element

    package static var _elementShape: _Shape { _Shape(ColumnType(.any, optional: true)) }
    package static func _zero() -> DynamicElement { DynamicElement(.value(.null)) }
    package static func _element(_ stored: _Stored) -> DynamicElement? { DynamicElement(.value(stored.value)) }
    package static func _elementFromUntyped(_ value: Any?) -> DynamicElement? {
        AnyRealmValue(untyped: value).map { DynamicElement(.any($0)) }
    }
    package var _firnObject: ObjectBase? { if case .object(let object) = held { object } else { nil } }

    package func _stored(in core: _RealmReference?) -> _Stored {
        switch held {
        case .value(let value): _Stored(value)
        case .any(let any): any._stored(in: core)
        case .object(let object): object._stored(in: core)
        }
    }

    /// The element in the form in which a `DynamicObject` returns its values.
    package var _firnUntyped: Any? {
        switch held {
        case .value(let value): swiftValue(of: value)
        case .any(let any): any
        case .object(let object): object
        }
    }
}

extension AnyRealmValue {
    /// The value as plain Swift; objects are returned without their class.
    package var content: Any? {
        switch self {
        case .object(let object): object.withoutClass
        case .list(let list): Array(list).map(\.content)
        case .dictionary(let map): Dictionary(map.asKeyValueSequence().map { ($0.key, $0.value.content) }) { $1 }
        default: swiftValue(of: Value(self))
        }
    }
}

/// The type of one element, or of a single value, according to the file.
package struct DynamicType: Hashable, Sendable {
    let column: ColumnType

    init(_ column: ColumnType) { self.column = column }

    /// The type that every value fits.
    package static let anything = DynamicType(ColumnType(.any))

    package var kind: PropertyType { PropertyType(column.kind) }
    package var isOptional: Bool { column.isOptional }
    package var className: String? { column.target }
    /// The name for messages: `int`, `string`, `Dog`.
    package var name: String { column.target ?? column.kind.name }
}

extension _CollectionSource {
    package var elementType: DynamicType { DynamicType(shape.type) }
    /// Whether this is a whole set, not a query on one.
    package var isSet: Bool { holdsSet }

    /// Decodes an element. An element without a class gets its type from this source.
    func element<Element: _Element>(_ value: Value) -> Element {
        if Element.self == DynamicElement.self { return DynamicElement(value, shape.type, core) as! Element }
        return Firn.element(value, core)
    }

    /// Returns the object of a row; nil if there is none.
    func object<Element: _Element>(ofRow rowID: Int64) -> Element? {
        if Element.self == DynamicElement.self { return (DynamicElement(.link(rowID), shape.type, core) as! Element) }
        return Element._element(_Stored(.link(rowID), core))
    }

    /// Returns unmanaged elements with the type that they were declared with.
    package func declared(_ type: DynamicType) -> _CollectionSource {
        guard let unmanaged = self as? UnmanagedSource<DynamicElement> else { return self }
        return UnmanagedSource(unmanaged.elements, .dynamic(type.column), holdsSet: unmanaged.holdsSet)
    }
}

extension CollectionCell {
    func element<Element: _Element>(_ value: Value) -> Element {
        if access.schema == nil { return untyped(value) }
        return Firn.element(value, core)
    }

    /// Returns an element of a collection of an object without a class.
    private func untyped<Element: _Element>(_ value: Value) -> Element {
        let element = DynamicElement(value, type.element, core)
        if let same = element as? Element { return same }
        let object = element._firnObject as? DynamicObject
        if Element.self == DynamicObject.self { return (object ?? DynamicObject()) as! Element }
        if Element.self == DynamicObject?.self { return object as! Element }
        return Firn.element(value, core)
    }

    /// Returns the shape with which the elements are decoded.
    func shape<Element: _Element>(of element: Element.Type) -> _Shape {
        access.schema == nil ? .dynamic(type.element) : element._elementShape
    }
}

extension _Shape {
    /// Returns the shape of elements without a class.
    static func dynamic(_ type: ColumnType) -> _Shape { _Shape(type, target: type.target == nil ? nil : DynamicObject.self) }
}

extension List where Element == DynamicElement {
    /// Returns the managed list of a source. Traps if the source is not a list property.
    package static func of(_ source: _CollectionSource) -> List { List(source.propertyCell) }
}

extension MutableSet where Element == DynamicElement {
    /// Returns the managed set of a source. Traps if the source is not a set property.
    package static func of(_ source: _CollectionSource) -> MutableSet { MutableSet(source.propertyCell) }
}

extension Realm {
    /// Returns whether both realms have the same file, at any version.
    package func hasSameFile(as other: Realm) -> Bool { core.file === other.core.file }
}

extension Results where Element == DynamicElement {
    package init(untyped source: _CollectionSource) { self.init(source) }

    /// Returns the elements for which a block returns true. The block runs again after changes.
    package func chosen(_ isIncluded: @escaping (DynamicElement) -> Bool) -> Results {
        Results(BlockSource<DynamicElement>(managedSource("objects(with:)"), isIncluded))
    }

    /// Returns an iterator over objects; nil if the elements are values or unmanaged.
    package func makeObjectIterator() -> RLMIterator<DynamicObject>? {
        source.core == nil || source.shape.target == nil ? nil : RLMIterator<DynamicObject>(source)
    }
}
