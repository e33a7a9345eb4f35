import FirnModel

/// Distinct elements, in ascending order where a realm manages them, as they were inserted where not.
///
/// Elements are distinct; what a property of them holds need not be: `sum(ofProperty:)` counts every element once.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    enum Storage {
        case unmanaged([Element])
        case managed(CollectionCell)
    }
    private var storage: Storage

    public init() { storage = .unmanaged([]) }
    init(_ cell: CollectionCell) { storage = .managed(cell) }

    public convenience init<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        self.init()
        insert(objectsIn: elements)
    }

    public func _makeSource() -> _CollectionSource {
        switch storage {
        case .unmanaged(let elements): UnmanagedSource(elements)
        case .managed(let cell): CellSource(cell, Element._elementShape)
        }
    }

    public func _with(_ source: _CollectionSource) -> MutableSet { MutableSet((source as! CellSource).cell) }

    // MARK: Reading

    public var count: Int {
        switch storage {
        case .unmanaged(let elements): elements.count
        case .managed(let cell): cell.count
        }
    }

    public subscript(position: Int) -> Element {
        let count = count
        precondition(position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
        switch storage {
        case .unmanaged(let elements): return elements[position]
        case .managed(let cell): return element(cell.values[position], cell.core)
        }
    }

    public func contains(_ object: Element) -> Bool {
        switch storage {
        case .unmanaged(let elements): return elements.contains(object)
        case .managed(let cell):
            guard let value = wanted(object, in: cell) else { return false }
            return cell.values.place(of: value).isThere
        }
    }

    /// The stored form of an element to look for; nil if it cannot be in the set.
    private func wanted(_ element: Element, in cell: CollectionCell) -> Value? {
        if let object = element as? ObjectBase { return object._core === cell.core ? .link(object._rowID) : nil }
        return element._stored(in: nil).value
    }

    public func isSubset(of other: MutableSet<Element>) -> Bool { allSatisfy(other.contains) }
    public func intersects(_ other: MutableSet<Element>) -> Bool { contains(where: other.contains) }

    // MARK: Changing

    public func insert(_ object: Element) {
        switch storage {
        case .unmanaged(let elements): if !elements.contains(object) { storage = .unmanaged(elements + [object]) }
        case .managed(let cell): add(stored([object], in: cell), to: cell)
        }
    }

    public func insert<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        switch storage {
        case .unmanaged: for object in objects { insert(object) }
        case .managed(let cell): add(stored(Array(objects), in: cell), to: cell)
        }
    }

    private func add(_ new: [Value], to cell: CollectionCell) {
        cell.change("MutableSet") { values, _ in
            if new.count > 64 { return values = Value.distinct(values + new) }
            for value in new {
                let (place, isThere) = values.place(of: value)
                if !isThere { values.insert(value, at: place) }
            }
        }
    }

    public func remove(_ object: Element) {
        switch storage {
        case .unmanaged(let elements): storage = .unmanaged(elements.filter { $0 != object })
        case .managed(let cell):
            cell.core.requireTransaction("modify a MutableSet")
            guard let value = wanted(object, in: cell) else { return }
            cell.change("MutableSet") { values, _ in
                let (place, isThere) = values.place(of: value)
                if isThere { values.remove(at: place) }
            }
        }
    }

    public func removeAll() {
        switch storage {
        case .unmanaged: storage = .unmanaged([])
        case .managed(let cell): cell.change("MutableSet") { values, _ in values = [] }
        }
    }

    /// Keeps the elements that `other` has too.
    public func formIntersection(_ other: MutableSet<Element>) {
        let kept = Array(self).filter(other.contains)
        if kept.count < count { replace(with: kept) }
    }

    /// Removes the elements that `other` has.
    public func subtract(_ other: MutableSet<Element>) {
        let kept = Array(self).filter { !other.contains($0) }
        if kept.count < count { replace(with: kept) }
    }

    /// Adds the elements of `other`.
    public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: Array(other)) }

    private func replace(with elements: [Element]) {
        switch storage {
        case .unmanaged: storage = .unmanaged(elements)
        case .managed(let cell):
            let new = Value.distinct(stored(elements, in: cell))
            cell.change("MutableSet") { values, _ in values = new }
        }
    }
}

extension MutableSet {
    /// Equal are sets with the same elements.
    public static func == (a: MutableSet, b: MutableSet) -> Bool { a === b || a.count == b.count && a.isSubset(of: b) }
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension [Value] {
    /// Where a value stands in an ascending array, or would.
    func place(of value: Value) -> (place: Int, isThere: Bool) {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if Value.order(self[middle], value) < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, low < count && Value.order(self[low], value) == 0)
    }
}

extension MutableSet: _Persistable {
    public static var _shape: _Shape {
        precondition(!(Element.self is EmbeddedObject.Type), "MutableSet cannot hold embedded objects: use List<\(Element.self)>")
        return .collection(.set, of: Element.self)
    }
    public static func _initial() -> MutableSet { MutableSet() }
    public static func _read(_ object: ObjectBase, _ column: Int) -> MutableSet { MutableSet(CollectionCell.of(object, column)) }
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: MutableSet) { _read(object, column)._replaceContents(with: value) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<MutableSet>(at: offset) }
    public static func _fromUntyped(_ value: Any?) -> MutableSet? {
        if let set = value as? MutableSet { return set }
        let set = MutableSet()
        return set._replaceAll(untyped: value) ? set : nil
    }
    public var _untyped: Any? { self }
    public func _append(to sink: _Sink) { sink.append(.set([])) }
    public static var _isCollection: Bool { true }
    public func _replaceContents(with other: MutableSet) {
        if isSameCollection(as: other) { return }
        replace(with: Array(other))
    }
}

extension MutableSet: _AnyCollection {
    var _untypedElements: [Any?] { map(\._untypedElement) }
    func _replaceAll(untyped value: Any?) -> Bool {
        guard let new = untypedElements(of: value, as: Element.self) else { return false }
        removeAll()
        insert(objectsIn: new)
        return true
    }
    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}
