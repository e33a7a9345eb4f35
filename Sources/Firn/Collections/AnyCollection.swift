import FirnBytes
import FirnTable

/// A list, set or map without the Swift type of its elements.
protocol _AnyCollection: AnyObject {
    var _untypedElements: [Any?] { get }
    /// Replaces the contents. Returns false, and changes nothing, if `value` is not a collection of fitting elements.
    func _replaceAll(untyped value: Any?) -> Bool
    func _value(forKeyPath path: String) -> Any?
    /// Returns the description; `isWithin` is true within the description of an object.
    func _text(within isWithin: Bool) -> String
}

extension _Shape {
    /// Returns the shape of a collection property.
    static func collection<Element: _Element>(_ kind: CollectionKind, of element: Element.Type) -> _Shape {
        var shape = Element._elementShape
        shape.type.elementIsOptional = shape.type.isOptional
        shape.type.isOptional = false
        shape.type.collection = kind
        // An entry whose object was deleted keeps its key, with null as its value.
        if kind == .map, shape.type.kind == .link { shape.type.elementIsOptional = true }
        return shape
    }
}

/// Returns the elements of an untyped sequence; nil if one of them does not fit.
func untypedElements<Element: _Element>(of value: Any?, as type: Element.Type) -> [Element]? {
    let untyped: [Any?]
    switch unwrapped(value) {
    case nil: return []
    case let same as [Element]: return same
    case let collection as any _AnyCollection: untyped = collection._untypedElements
    case let sequence as any Sequence: untyped = sequence.map { $0 }
    default: return nil
    }
    var found: [Element] = []
    for one in untyped {
        guard let element = Element._elementFromUntyped(one) else { return nil }
        found.append(element)
    }
    return found
}

/// Returns the element for a stored value; zero if the value does not fit `Element`, which is possible if another program wrote it.
func element<Element: _Element>(_ value: Value, _ core: RealmCore?) -> Element {
    Element._element(_Stored(value, core)) ?? Element._zero()
}

/// Returns the stored form of elements for a managed collection. Unmanaged objects are added to its realm.
func stored<Element: _Element>(_ elements: [Element], in cell: CollectionCell) -> [Value] {
    cell.core.requireTransaction("modify a \(cell.type.collection)")
    let realm = _RealmReference(core: cell.core)
    guard cell.type.kind == .link || cell.type.kind == .embedded else { return elements.map { $0._stored(in: realm).value } }
    return elements.map { element in
        if cell.access.schema == nil, let object = element._firnObject, object._typeName != cell.type.target {
            trap(
                "Object of type \"\(object._typeName)\" does not match the collection's type \"\(cell.type.target ?? "?")\".")
        }
        // A frozen object of the same file is replaced by the live one.
        if let object = element._firnObject, let core = object._core, core === cell.core || core.isFrozen && core.file === cell.core.file,
            cell.type.kind == .link
        {
            guard cell.core.sameAccess(object._managedAccess)?.holds(object._rowID) ?? false else {
                trap("Adding a deleted or invalidated object to a Realm is not permitted")
            }
            return .link(object._rowID)
        }
        return element._stored(in: realm).value
    }
}

/// Deletes the embedded objects that were removed from a collection.
func release(_ old: [Value], in cell: CollectionCell) {
    guard cell.type.kind == .embedded, let target = cell.type.target, let access = cell.core.access(named: target) else { return }
    var rowIDs: [Int64] = []
    for value in old { value.forEachLink { rowIDs.append($0) } }
    cell.core.delete(rowIDs, access)
}

extension List: _AnyCollection {
    var _untypedElements: [Any?] { map(\._firnUntyped) }

    func _replaceAll(untyped value: Any?) -> Bool {
        guard let new = untypedElements(of: value, as: Element.self) else { return false }
        replaceSubrange(0..<count, with: new)
        return true
    }

    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}
