import FirnModel

/// What lists, sets and maps are to those who do not know their elements.
protocol _AnyCollection: AnyObject {
    var _untypedElements: [Any?] { get }
    /// False if `value` is no collection of fitting elements; then nothing is changed.
    func _replaceAll(untyped value: Any?) -> Bool
    func _value(forKeyPath path: String) -> Any?
    /// As `description`; within an object's.
    func _text(within isWithin: Bool) -> String
}

extension _Shape {
    /// A collection property.
    static func collection<Element: _Element>(_ kind: CollectionKind, of element: Element.Type) -> _Shape {
        var shape = Element._elementShape
        shape.type.elementIsOptional = shape.type.isOptional
        shape.type.isOptional = false
        shape.type.collection = kind
        // A map keeps a key whose object was deleted.
        if kind == .map, shape.type.kind == .link { shape.type.elementIsOptional = true }
        return shape
    }
}

/// Elements from an untyped sequence; nil if one does not fit.
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

/// The element that a stored value is; what another program wrote and does not fit reads as zero.
func element<Element: _Element>(_ value: Value, _ core: RealmCore?) -> Element {
    Element._element(_Stored(value, core)) ?? Element._zero()
}

/// The stored form of elements that go into a managed collection; objects are added to its realm.
func stored<Element: _Element>(_ elements: [Element], in cell: CollectionCell) -> [Value] {
    cell.core.requireTransaction("modify a \(cell.type.collection)")
    let realm = _RealmReference(core: cell.core)
    guard cell.type.kind == .link || cell.type.kind == .embedded else { return elements.map { $0._stored(in: realm).value } }
    return elements.map { element in
        // A frozen object stands for the live one.
        if let object = element._object, let core = object._core, core === cell.core || core.isFrozen && core.file === cell.core.file, cell.type.kind == .link {
            guard cell.core.sameAccess(object._access!)?.holds(object._rowID) ?? false else {
                preconditionFailure("Adding a deleted or invalidated object to a Realm is not permitted")
            }
            return .link(object._rowID)
        }
        return element._stored(in: realm).value
    }
}

/// Embedded objects that left a collection are deleted.
func release(_ old: [Value], in cell: CollectionCell) {
    guard cell.type.kind == .embedded, let target = cell.type.target, let access = cell.core.access(named: target) else { return }
    var rowIDs: [Int64] = []
    for value in old { value.forEachLink { rowIDs.append($0) } }
    cell.core.delete(rowIDs, access)
}

extension List: _AnyCollection {
    var _untypedElements: [Any?] { map(\._untypedElement) }

    func _replaceAll(untyped value: Any?) -> Bool {
        guard let new = untypedElements(of: value, as: Element.self) else { return false }
        replaceSubrange(0..<count, with: new)
        return true
    }

    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}
