import FirnBytes
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
    @exclusivity(unchecked) private var reference = CellReference()
    /// The elements of a managed list; nil if the list is unmanaged.
    private var cell: CollectionCell? { reference.cell }
    private var lent: Unmanaged<CollectionCell>? { reference.lent }
    private var own: [Element] = []
    /// Code on hot paths uses `lent` instead, because this counts a reference to the cell.
    var storage: Storage {
        get { cell.map(Storage.managed) ?? .unmanaged(own) }
        set { if case .unmanaged(let elements) = newValue { own = elements } }
    }
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder?

    /// Creates an empty unmanaged list.
    public init() {}

    init(_ cell: CollectionCell) { reference = CellReference(cell) }

    /// Creates an unmanaged list of the elements.
    public convenience init<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        self.init()
        append(objectsIn: elements)
    }

    /// Returns the origin of the list's elements: its property, or a copy of an unmanaged list. Used by the members of collections; not for
    /// direct use.
    public func _makeSource() -> _CollectionSource {
        switch storage {
        case .unmanaged(let elements): UnmanagedSource(elements)
        case .managed(let cell): CellSource(cell, cell.shape(of: Element.self))
        }
    }

    /// Returns the list of a source. Traps if the source is not a list property. Used by the members of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> List { List(source.propertyCell) }

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
            return cell.element(cell.value(at: position))
        }
        set { replace(index: position, object: newValue) }
    }

    private func check(_ position: Int, _ count: Int) {
        trap(unless: position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
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
        trap(unless: count > 0, "Cannot remove an element from an empty List.")
        remove(at: 0)
    }

    /// Removes the last element. Traps if the list is empty.
    public func removeLast() {
        trap(unless: count > 0, "Cannot remove an element from an empty List.")
        remove(at: count - 1)
    }

    /// Removes the first elements. Traps if there are fewer than `number`.
    public func removeFirst(_ number: Int = 1) {
        trap(unless: number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
        replaceSubrange(0..<number, with: EmptyCollection())
    }

    /// Removes the last elements. Traps if there are fewer than `number`.
    public func removeLast(_ number: Int = 1) {
        trap(unless: number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
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
        trap(
            unless: range.lowerBound >= 0 && range.upperBound <= count,
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
    /// The type of the column: a list of the element type. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape { .collection(.list, of: Element.self) }
    /// Returns an empty unmanaged list. Used by `@Persisted`; not for direct use.
    public static func _initial() -> List { List() }
    /// Returns the live list in a column of a managed object. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> List { List(CollectionCell.of(object, column)) }
    /// Replaces the contents of the list in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not
    /// for direct use.
    ///
    /// - Complexity: O(*n*) for the elements of both lists.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: List) { _read(object, column)._replaceContents(with: value) }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<List>(at: offset) }
    /// Returns a list itself, or an unmanaged list of the elements of an untyped sequence. Returns an empty list for nil, and nil if an
    /// element does not fit. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* elements.
    public static func _fromUntyped(_ value: Any?) -> List? {
        if let list = value as? List { return list }
        let list = List()
        return list._replaceAll(untyped: value) ? list : nil
    }
    /// Records that the property was read, and returns an empty list that also records which property of its elements is read. Used while
    /// key paths are recorded; not for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> List {
        object._firnRecord(property)
        let list = List()
        list.recorder = object._recorder
        return list
    }
    /// The list itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Appends an empty list to a column. The elements are set after their owner has a row. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { sink.append(.list([])) }
    /// True: setting the property replaces the contents of its list. Used by `@Persisted`; not for direct use.
    public static var _isCollection: Bool { true }
    /// Replaces the elements with those of `other`. Does nothing if both are the same list. Removed embedded objects are deleted. Traps if
    /// the list is managed and its realm is not in a write transaction. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n*) for the elements of both lists.
    public func _replaceContents(with other: List) {
        if isSameCollection(as: other) { return }
        replaceSubrange(0..<count, with: Array(other))
    }
}

extension List: _OlderCollection {
    func bind(to property: RowProperty) {
        reference = CellReference(property)
        own = []
    }
    func record(_ name: String, by recorder: KeyPathRecorder) {
        self.recorder = recorder
        recorder.expect(name, of: self)
    }
    func unmanagedCopy() -> List { List(objectsIn: self) }
}
