import FirnBytes
import FirnTable

/// A type that a `RealmProperty` can have: optionals of single values, and `AnyRealmValue`.
public protocol RealmPropertyType: _Persistable {}
/// A type that a `RealmProperty` can have as an optional: single values, enums and custom types.
public protocol RealmOptionalType: _OptionalProperty {}

extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}
extension AnyRealmValue: RealmPropertyType {}

/// An optional property, or one of type `AnyRealmValue`, declared without `@Persisted`:
///
///     let age = RealmProperty<Int?>()
///
/// New code declares `@Persisted var age: Int?` instead.
public final class RealmProperty<Value: RealmPropertyType> {
    private var own: Value
    private var bound: RowProperty?
    private var recorder: KeyPathRecorder?

    /// Creates a property without a value.
    public init() { own = Value._initial() }

    /// Creates a property with an initial value.
    public init(_ value: Value) { own = value }

    /// The value: in the realm's data if the object is managed. Setting it traps outside of a write transaction then.
    public var value: Value {
        get {
            if let bound { return Value._read(bound.object, bound.column) }
            recorder?.touch(self)
            return own
        }
        set { if let bound { Value._write(bound.object, bound.column, newValue) } else { own = newValue } }
    }
}

extension RealmProperty: _OlderDeclaration {
    static var olderShape: _Shape { Value._shape }
    func bind(to property: RowProperty) {
        bound = property
        own = Value._initial()
    }
    func record(_ name: String, by recorder: KeyPathRecorder) {
        self.recorder = recorder
        recorder.expect(name, of: self)
    }
    var olderValue: Any? { value._untyped }
    func setOlder(_ value: Any?) -> Bool {
        guard let value = Value._fromUntyped(value) else { return false }
        self.value = value
        return true
    }
    var olderContent: Any? { value }
    func setOlder(content: Any?) {
        guard let content = content as? Value else { trap("the content belongs to another property") }
        value = content
    }
    func appendOlder(to sink: _Sink) { own._append(to: sink) }
}

extension RealmProperty: Equatable where Value: Equatable {
    /// Returns whether both have the same value.
    public static func == (a: RealmProperty, b: RealmProperty) -> Bool { a.value == b.value }
}

extension RealmProperty: Decodable where Value: Decodable {
    /// Decodes the value.
    public convenience init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(Value.self)) }
}

extension RealmProperty: Encodable where Value: Encodable {
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// An optional property declared without `@Persisted`. `RealmProperty` has replaced it in Realm.
@available(*, deprecated, message: "declare @Persisted var name: T?, or let name = RealmProperty<T?>()")
public final class RealmOptional<Value: RealmOptionalType>: _OlderDeclaration {
    private let property: RealmProperty<Value?>

    /// Creates a property with an initial value.
    public init(_ value: Value? = nil) { property = RealmProperty(value) }

    /// The value: in the realm's data if the object is managed. Setting it traps outside of a write transaction then.
    public var value: Value? {
        get { property.value }
        set { property.value = newValue }
    }

    static var olderShape: _Shape { RealmProperty<Value?>.olderShape }
    func bind(to row: RowProperty) { property.bind(to: row) }
    func record(_ name: String, by recorder: KeyPathRecorder) {
        // A key path ends at this object, or reads the value of the property within.
        property.record(name, by: recorder)
        recorder.expect(name, of: self)
    }
    var olderValue: Any? { property.olderValue }
    func setOlder(_ value: Any?) -> Bool { property.setOlder(value) }
    var olderContent: Any? { property.olderContent }
    func setOlder(content: Any?) { property.setOlder(content: content) }
    func appendOlder(to sink: _Sink) { property.appendOlder(to: sink) }
}
