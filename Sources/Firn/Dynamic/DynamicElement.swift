import FirnModel

/// An element of a collection whose type is known from the file alone: a value, or an object without class. What `RLM` makes its collections of.
package struct DynamicElement: RealmCollectionValue {
    enum Held: Hashable {
        case value(Value)
        /// Where values of any type stand.
        case any(AnyRealmValue)
        case object(ObjectBase)
    }
    let held: Held

    package typealias PersistedType = DynamicElement

    init(_ held: Held) { self.held = held }

    package init(object: DynamicObject) { held = .object(object) }

    /// A stored element.
    init(_ value: Value, _ type: ColumnType, _ core: RealmCore?) {
        if type.kind == .any {
            held = .any(AnyRealmValue(value, in: core) ?? .none)
        } else if case .link(let rowID) = value {
            // Null where it was deleted meanwhile.
            held = type.target.flatMap { core?.dynamicAccess($0)?.object(rowID) }.map { .object($0) } ?? .value(.null)
        } else {
            held = .value(value)
        }
    }

    /// What is given for an element of a type: nil where it does not fit.
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

    /// As plain Swift: `Int`, `String`, … or a `DynamicObject`; nil for null.
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
    package static func _elementFromUntyped(_ value: Any?) -> DynamicElement? { AnyRealmValue(untyped: value).map { DynamicElement(.any($0)) } }
    package var _object: ObjectBase? { if case .object(let object) = held { object } else { nil } }

    package func _stored(in core: _RealmReference?) -> _Stored {
        switch held {
        case .value(let value): _Stored(value)
        case .any(let any): any._stored(in: core)
        case .object(let object): object._stored(in: core)
        }
    }

    /// As a `DynamicObject` gives what it holds.
    package var _untypedElement: Any? {
        switch held {
        case .value(let value): swiftValue(of: value)
        case .any(let any): any
        case .object(let object): object
        }
    }
}

extension AnyRealmValue {
    /// As plain Swift, objects without class.
    package var content: Any? {
        switch self {
        case .object(let object): object.withoutClass
        case .list(let list): Array(list).map(\.content)
        case .dictionary(let map): Dictionary(map.asKeyValueSequence().map { ($0.key, $0.value.content) }) { $1 }
        default: swiftValue(of: Value(self))
        }
    }
}

/// The type of one element, or of a single value, as the file says it.
package struct DynamicType: Hashable, Sendable {
    let column: ColumnType

    init(_ column: ColumnType) { self.column = column }

    /// What every value fits.
    package static let anything = DynamicType(ColumnType(.any))

    package var kind: PropertyType { PropertyType(column.kind) }
    package var isOptional: Bool { column.isOptional }
    package var className: String? { column.target }
    /// As messages say it: `int`, `string`, `Dog`.
    package var name: String { column.target ?? column.kind.name }
}

extension _CollectionSource {
    package var elementType: DynamicType { DynamicType(shape.type) }
    /// A set as it stands.
    package var isSet: Bool { holdsSet }

    /// An element that is read: one without class knows its type from here.
    func element<Element: _Element>(_ value: Value) -> Element {
        if Element.self == DynamicElement.self { return DynamicElement(value, shape.type, core) as! Element }
        return Firn.element(value, core)
    }

    /// The object of a row; nil if there is none.
    func object<Element: _Element>(ofRow rowID: Int64) -> Element? {
        if Element.self == DynamicElement.self { return (DynamicElement(.link(rowID), shape.type, core) as! Element) }
        return Element._element(_Stored(.link(rowID), core))
    }

    /// Of elements that belong to no realm: with the type that they were declared with.
    package func declared(_ type: DynamicType) -> _CollectionSource {
        guard let unmanaged = self as? UnmanagedSource<DynamicElement> else { return self }
        return UnmanagedSource(unmanaged.elements, .dynamic(type.column), holdsSet: unmanaged.holdsSet)
    }
}

extension CollectionCell {
    func element<Element: _Element>(_ value: Value) -> Element {
        if Element.self == DynamicElement.self { return DynamicElement(value, type.element, core) as! Element }
        return Firn.element(value, core)
    }

    /// How the elements are read.
    func shape<Element: _Element>(of element: Element.Type) -> _Shape {
        element == DynamicElement.self ? .dynamic(type.element) : element._elementShape
    }
}

extension _Shape {
    /// Of elements without class.
    static func dynamic(_ type: ColumnType) -> _Shape { _Shape(type, target: type.target == nil ? nil : DynamicObject.self) }
}

extension List where Element == DynamicElement {
    /// The managed list that a source is of.
    package static func of(_ source: _CollectionSource) -> List { List((source as! CellSource).cell) }
}

extension MutableSet where Element == DynamicElement {
    /// The managed set that a source is of.
    package static func of(_ source: _CollectionSource) -> MutableSet { MutableSet((source as! CellSource).cell) }
}

extension Realm {
    /// Both are of one file, at whatever version.
    package func hasSameFile(as other: Realm) -> Bool { core.file === other.core.file }
}

extension Results where Element == DynamicElement {
    package init(untyped source: _CollectionSource) { self.init(source) }

    /// Those that a block chooses, which is asked again after changes.
    package func chosen(_ isIncluded: @escaping (DynamicElement) -> Bool) -> Results { Results(BlockSource<DynamicElement>(managedSource("objects(with:)"), isIncluded)) }

    /// Goes through objects; nil where the elements are values.
    package func makeObjectIterator() -> RLMIterator<DynamicObject>? {
        source.core == nil || source.shape.target == nil ? nil : RLMIterator<DynamicObject>(source)
    }
}
