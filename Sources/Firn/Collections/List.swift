import FirnModel

/// An ordered collection, duplicates allowed: a property of an object, or by itself.
///
///     @Persisted var dogs: List<Dog>
@dynamicMemberLookup
public final class List<Element: RealmCollectionValue>: OrderedRealmCollection {
    enum Storage {
        case unmanaged([Element])
        case managed(CollectionCell)
    }
    /// Nil: the list belongs to no realm.
    private let cell: CollectionCell?
    /// The same, to be used without counting a reference: the cell is referred to weakly, which makes counting slow.
    private let lent: Unmanaged<CollectionCell>?
    private var own: [Element] = []
    /// Where it counts, the cell is used without this, which would count a reference to it.
    var storage: Storage {
        get { cell.map(Storage.managed) ?? .unmanaged(own) }
        set { if case .unmanaged(let elements) = newValue { own = elements } }
    }
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder?

    /// An empty list of its own.
    public init() { (cell, lent) = (nil, nil) }

    init(_ cell: CollectionCell) { (self.cell, lent) = (cell, Unmanaged.passUnretained(cell)) }

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

    public var count: Int { lent?._withUnsafeGuaranteedRef { $0.count } ?? own.count }

    public subscript(position: Int) -> Element {
        get {
            check(position, count)
            if let word = lent?._withUnsafeGuaranteedRef({ $0.word(at: position) }), let element = Element._fromWord(word) { return element }
            guard let cell else { return own[position] }
            return cell.element(cell.elements[position])
        }
        set { replace(index: position, object: newValue) }
    }

    private func check(_ position: Int, _ count: Int) {
        precondition(position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
    }

    // MARK: Changing

    public func append(_ object: Element) {
        if let lent, let word = object._word, lent._withUnsafeGuaranteedRef({ $0.appendToList(word: word) }) { return }
        insert(object, at: count)
    }

    public func append<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        switch storage {
        case .unmanaged(var elements):
            // First: they may be those of this very list.
            let objects = Array(objects)
            storage = .unmanaged([])
            elements.append(contentsOf: objects)
            storage = .unmanaged(elements)
        case .managed(let cell):
            let new = stored(Array(objects), in: cell)
            cell.change("List") { _ = $0.replaceSubrange($0.count..<$0.count, with: new) }
        }
    }

    public func insert(_ object: Element, at index: Int) {
        replaceSubrange(index..<index, with: CollectionOfOne(object))
    }

    public func remove(at index: Int) {
        check(index, count)
        replaceSubrange(index..<(index + 1), with: EmptyCollection())
    }

    public func removeFirst() {
        precondition(count > 0, "Cannot remove an element from an empty List.")
        remove(at: 0)
    }

    public func removeLast() {
        precondition(count > 0, "Cannot remove an element from an empty List.")
        remove(at: count - 1)
    }

    public func removeFirst(_ number: Int = 1) {
        precondition(number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
        replaceSubrange(0..<number, with: EmptyCollection())
    }

    public func removeLast(_ number: Int = 1) {
        precondition(number >= 0 && number <= count, "Cannot remove \(number) elements from a List of \(count).")
        replaceSubrange((count - number)..<count, with: EmptyCollection())
    }

    public func removeAll() { replaceSubrange(0..<count, with: EmptyCollection()) }

    public func removeSubrange(_ bounds: some RangeExpression<Int>) { replaceSubrange(bounds, with: EmptyCollection()) }

    public func replace(index: Int, object: Element) {
        check(index, count)
        replaceSubrange(index..<(index + 1), with: CollectionOfOne(object))
    }

    public func replaceSubrange<C: Collection>(_ bounds: some RangeExpression<Int>, with elements: C) where C.Element == Element {
        let count = count
        let range = bounds.relative(to: 0..<count)
        precondition(range.lowerBound >= 0 && range.upperBound <= count,
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
