import FirnBytes
import FirnTable

/// A type that properties can have without `@Persisted`, as in Realm before it had property wrappers: `let dogs = List<Dog>()`.
///
/// The property keeps its instance. The instance stores its content itself until its object is managed; then it refers to the row.
protocol _OlderDeclaration {
    static var olderShape: _Shape { get }
    /// Makes an instance of an unmanaged object that of a row. Its own content is discarded.
    func bind(to property: RowProperty)
    /// Records reads of the instance as reads of the property `name`.
    func record(_ name: String, by recorder: KeyPathRecorder)
    /// The content as an untyped value.
    var olderValue: Any? { get }
    /// Returns false if the value does not fit.
    func setOlder(_ value: Any?) -> Bool
    /// The content of an unmanaged instance, which does not change when the instance becomes managed.
    var olderContent: Any? { get }
    /// Sets a managed instance to the content of an unmanaged one.
    func setOlder(content: Any?)
    func appendOlder(to sink: _Sink)
    /// The property that an inverse is the inverse of.
    var olderOrigin: String? { get }
}

extension _OlderDeclaration {
    var olderOrigin: String? { nil }
}

/// A property of a row, for an instance that can outlive the object that it was read from.
final class RowProperty {
    /// An object of the row that only the property uses.
    let object: ObjectBase
    let column: Int

    init(_ owner: ObjectBase, _ column: Int) {
        object = ObjectBase()
        object._core = owner._core
        object._state = owner._state
        object._rowID = owner._rowID
        self.column = column
        // No generation: the first read finds the row.
        object._generation = (owner._state?.pointee.generation ?? 0) &- 1
    }

    var isFrozen: Bool { object.isFrozen }
    /// The elements of the row's collection, whether or not the row still exists.
    var cell: CollectionCell { CollectionCell.of(rowOf: object, column) }
}

/// Reads and writes a property that is declared without `@Persisted`.
final class OlderProperty<Held: _OlderDeclaration>: _PropertyAccess {
    init(at offset: Int) {
        super.init(
            offset: offset, shape: Held.olderShape,
            attach: { object, column in
                let held = OlderProperty.held(object, offset)
                if column < unmanagedColumn {
                    let property = ClassSchema.of(type(of: object)).properties[Int(recordedColumn - column)]
                    if let recorder = object._recorder { held.record(property.name, by: recorder) }
                } else {
                    held.bind(to: RowProperty(object, Int(column)))
                }
            },
            append: { object, sink in OlderProperty.held(object, offset).appendOlder(to: sink) })
    }

    private static func held(_ object: ObjectBase, _ offset: Int) -> Held {
        (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Held.self).pointee
    }

    private func held(_ object: ObjectBase) -> Held { OlderProperty.held(object, offset) }

    override func options(in object: ObjectBase) -> PersistedOptions { [] }
    override func origin(in object: ObjectBase) -> String? { held(object).olderOrigin }
    override func get(_ object: ObjectBase) -> Any? { held(object).olderValue }
    override func set(_ object: ObjectBase, _ value: Any?) -> Bool { held(object).setOlder(value) }
    override func unmanagedContent(_ object: ObjectBase) -> Any? { held(object).olderContent }
    override func setManaged(_ object: ObjectBase, _ content: Any?) { held(object).setOlder(content: content) }
}

extension _OlderDeclaration {
    static func olderProperty(at offset: Int) -> _PropertyAccess { OlderProperty<Self>(at: offset) }
}

// MARK: The fields of a class

/// A stored property of a class, in memory.
struct ClassField {
    /// The name in code; of a lazy property, of its storage.
    let name: String
    let offset: Int
    let type: Any.Type
    /// Whether it is declared with `var`.
    let isVariable: Bool

    /// Returns the stored properties of a class in the order of declaration, those of superclasses first.
    static func all(of objectClass: AnyClass) -> [ClassField] {
        (0..<fieldCount(objectClass)).map { index in
            var details = FieldDetails()
            let type = fieldType(objectClass, index, &details)
            defer { details.free?(details.name) }
            return ClassField(
                name: details.name.map { String(cString: $0) } ?? "", offset: fieldOffset(objectClass, index), type: type,
                isVariable: details.isVariable)
        }
    }

    /// The name of the property in code.
    var declaredName: String {
        let lazy = "$__lazy_storage_$_"
        return name.hasPrefix(lazy) ? String(name.dropFirst(lazy.count)) : name.first == "_" ? String(name.dropFirst()) : name
    }
}

// The entry points of Swift's runtime that `Mirror` uses. `Mirror` itself does not report offsets, nor whether a field is variable.
private struct FieldDetails {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVariable = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func fieldType(_ type: Any.Type, _ index: Int, _ details: UnsafeMutablePointer<FieldDetails>) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(_ type: Any.Type, _ index: Int) -> Int

/// Optionals of any type.
protocol _AnyOptionalType {
    static var wrappedType: Any.Type { get }
}

extension Optional: _AnyOptionalType {
    static var wrappedType: Any.Type { Wrapped.self }
}

extension ClassField {
    /// The older declaration that this field is.
    ///
    /// - Throws: the fault if the field looks like an older declaration and cannot be stored.
    func olderDeclaration(in className: String) throws(ClassSchema.Fault) -> (any _OlderDeclaration.Type)? {
        if let declared = type as? any _OlderDeclaration.Type {
            guard isVariable else { return declared }
            throw ClassSchema.Fault(
                text:
                    "\"\(className).\(declaredName)\" is a variable \(type), which cannot be stored: declare it with let, or with @Persisted var \(declaredName): \(type), or name it in ignoredProperties()"
            )
        }
        guard let optional = type as? any _AnyOptionalType.Type, optional.wrappedType is any _OlderDeclaration.Type else { return nil }
        let advice = name == declaredName ? "declare it with let, without an optional" : "declare it with let, not lazy"
        throw ClassSchema.Fault(
            text:
                "\"\(className).\(declaredName)\" is an optional or lazy \(optional.wrappedType), which cannot be stored: \(advice), or name it in ignoredProperties()"
        )
    }
}

// MARK: Collections

/// Lists, sets and maps as older declarations.
protocol _OlderCollection: _OlderDeclaration, _AnyCollection, _Persistable {
    /// Returns an unmanaged collection with the same elements.
    func unmanagedCopy() -> Self
}

extension _OlderCollection {
    static var olderShape: _Shape { _shape }
    var olderValue: Any? { self }
    func setOlder(_ value: Any?) -> Bool { _replaceAll(untyped: value) }
    var olderContent: Any? { unmanagedCopy() }
    func setOlder(content: Any?) {
        guard let content = content as? Self else { trap("the content belongs to another property") }
        var collection = self
        collection._replaceContents(with: content)
    }
    func appendOlder(to sink: _Sink) { _append(to: sink) }
}
