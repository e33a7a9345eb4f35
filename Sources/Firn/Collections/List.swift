import FirnDatabase
import FirnTable

/// An ordered collection that may contain duplicates: a property of an object, or unmanaged.
///
///     @Persisted var dogs: List<Dog>
@dynamicMemberLookup
public final class List<Element: RealmCollectionValue>: OrderedRealmCollection {
    enum Storage {
        case unmanaged([Element])
        case managed(CollectionCell)
    }
    /// The elements of a managed list; nil if the list is unmanaged.
    private let cell: CollectionCell?
    /// The same cell, used without reference counting: cells are referenced weakly, which makes counting slow.
    private let lent: Unmanaged<CollectionCell>?
    private var own: [Element] = []
    /// Code on hot paths uses `lent` instead, because this counts a reference to the cell.
    var storage: Storage {
        get { cell.map(Storage.managed) ?? .unmanaged(own) }
        set { if case .unmanaged(let elements) = newValue { own = elements } }
    }
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder?

    /// Creates an empty unmanaged list.
    public init() { (cell, lent) = (nil, nil) }

    init(_ cell: CollectionCell) { (self.cell, lent) = (cell, Unmanaged.passUnretained(cell)) }

    /// Creates an unmanaged list of the elements.
    public convenience init<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        self.init()
        append(objectsIn: elements)
    }

    public func _makeSource() -> _CollectionSource {
        switch storage {
        case .unmanaged(let elements): UnmanagedSource(elements)
        case .managed(let cell): CellSource(cell, cell.shape(of: Element.self))
        }
    }

    public func _with(_ source: _CollectionSource) -> List { List((source as! CellSource).cell) }

    // MARK: Reading

    /// The number of elements.
    public var count: Int { lent?._withUnsafeGuaranteedRef { $0.count } ?? own.count }

    /// The element at a position. Traps if the position is out of bounds, and if a managed list is changed outside of a write transaction.
    public subscript(position: Int) -> Element {
        get {
            check(position, count)
            if let word = lent?._withUnsafeGuaranteedRef({ $0.word(at: position) }), let element = Element._fromWord(word) {
                return element
            }
            guard let cell else { return own[position] }
            return cell.element(cell.elements[position])
        }
        set { replace(index: position, object: newValue) }
    }

    private func check(_ position: Int, _ count: Int) {
        precondition(position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
    }

    // MARK: Changing

    /// Appends an element. An unmanaged object is added to the list's realm.
    public func append(_ object: Element) {
        if let lent, let word = object._word, lent._withUnsafeGuaranteedRef({ $0.appendToList(word: word) }) { return }
        insert(object, at: count)
    }

    /// Appends the elements of a sequence.
    public func append<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        switch storage {
        case .unmanaged(var elements):
            // Copied first, because `objects` may be this list.
            let objects = Array(objects)
            storage = .unmanaged([])
            elements.append(contentsOf: objects)
            storage = .unmanaged(elements)
        case .managed(let cell):
            let new = stored(Array(objects), in: cell)
            cell.change("List") { _ = $0.replaceSubrange($0.count..<$0.count, with: new) }
        }
    }

    /// Inserts an element at an index. Traps if the index is out of bounds.
    public func insert(_ object: Element, at index: Int) {
        replaceSubrange(index..<index, with: CollectionOfOne(object))
    }

    /// Removes the element at an index. Traps if the index is out of bounds. An embedded object is deleted.
    public func remove(at index: Int) {
        check(index, count)
        replaceSubrange(index..<(index + 1), with: EmptyCollection())
    }

    /// Removes the first element. Traps if the list is empty.
    public func removeFirst() {
        precondition(count > 0, "Cannot remove an element from an empty List.")
        remove(at: 0)
    }

    /// Removes the last element. Traps if the list is empty.
    public func removeLast() {
        precondition(count > 0, "Cannot remove an element from an empty List.")
        remove(at: count - 1)
    }

    /// Removes the first elements. Traps if there are fewer than `number`.
    public func removeFirst(_ number: Int = 1) {
        precondition(number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
        replaceSubrange(0..<number, with: EmptyCollection())
    }

    /// Removes the last elements. Traps if there are fewer than `number`.
    public func removeLast(_ number: Int = 1) {
        precondition(number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
        replaceSubrange((count - number)..<count, with: EmptyCollection())
    }

    /// Removes all elements. Linked objects stay in their realm; embedded objects are deleted.
    public func removeAll() { replaceSubrange(0..<count, with: EmptyCollection()) }

    /// Removes the elements in a range of positions. Traps if the range is out of bounds.
    public func removeSubrange(_ bounds: some RangeExpression<Int>) { replaceSubrange(bounds, with: EmptyCollection()) }

    /// Replaces the element at an index. Traps if the index is out of bounds.
    public func replace(index: Int, object: Element) {
        check(index, count)
        replaceSubrange(index..<(index + 1), with: CollectionOfOne(object))
    }

    /// Replaces the elements in a range of positions. Traps if the range is out of bounds.
    public func replaceSubrange<C: Collection>(_ bounds: some RangeExpression<Int>, with elements: C) where C.Element == Element {
        let count = count
        let range = bounds.relative(to: 0..<count)
        precondition(
            range.lowerBound >= 0 && range.upperBound <= count,
            "Index \(range.lowerBound < 0 ? range.lowerBound : range.upperBound) is out of bounds (must be less than \(count + 1)).")
        switch storage {
        case .unmanaged(var mine):
            let elements = Array(elements)
            storage = .unmanaged([])
            mine.replaceSubrange(range, with: elements)
            storage = .unmanaged(mine)
        case .managed(let cell):
            let new = stored(Array(elements), in: cell)
            release(cell.change("List") { $0.replaceSubrange(range, with: new) }, in: cell)
        }
    }

    /// Moves the element at `from` to `to`, its position after the move. Traps if an index is out of bounds.
    public func move(from: Int, to: Int) {
        check(from, count)
        check(to, count)
        switch storage {
        case .unmanaged(var mine):
            storage = .unmanaged([])
            mine.insert(mine.remove(at: from), at: to)
            storage = .unmanaged(mine)
        case .managed(let cell): cell.change("List") { $0.move(from: from, to: to) }
        }
    }

    /// Exchanges two elements. Traps if an index is out of bounds.
    public func swapAt(_ first: Int, _ second: Int) {
        check(first, count)
        check(second, count)
        switch storage {
        case .unmanaged(var mine):
            storage = .unmanaged([])
            mine.swapAt(first, second)
            storage = .unmanaged(mine)
        case .managed(let cell): cell.change("List") { $0.swapAt(first, second) }
        }
    }
}

// MARK: As a property

extension List: _Persistable {
    public static var _shape: _Shape { .collection(.list, of: Element.self) }
    public static func _initial() -> List { List() }
    public static func _read(_ object: ObjectBase, _ column: Int) -> List { List(CollectionCell.of(object, column)) }
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: List) { _read(object, column)._replaceContents(with: value) }
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<List>(at: offset) }
    public static func _fromUntyped(_ value: Any?) -> List? {
        if let list = value as? List { return list }
        let list = List()
        return list._replaceAll(untyped: value) ? list : nil
    }
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> List {
        object._record(property)
        let list = List()
        list.recorder = object._recorder
        return list
    }
    public var _untyped: Any? { self }
    public func _append(to sink: _Sink) { sink.append(.list([])) }
    public static var _isCollection: Bool { true }
    public func _replaceContents(with other: List) {
        if isSameCollection(as: other) { return }
        replaceSubrange(0..<count, with: Array(other))
    }
}
