import FirnBytes
import FirnTable

/// Distinct elements. Managed sets are in ascending order, unmanaged ones in the order of insertion.
///
/// The elements are distinct, but the values of their properties need not be: `sum(ofProperty:)` counts each element once.
@dynamicMemberLookup
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    enum Storage {
        case unmanaged(UnmanagedSet<Element>)
        case managed(CollectionCell)
    }
    @exclusivity(unchecked) private var reference = CellReference()
    /// The elements of a managed set; nil if the set is unmanaged.
    private var cell: CollectionCell? { reference.cell }
    private var lent: Unmanaged<CollectionCell>? { reference.lent }
    /// The elements of an unmanaged set; nil if the set is managed, or has had no element yet.
    private var unmanaged: UnmanagedSet<Element>?
    private var own: UnmanagedSet<Element> {
        get { unmanaged ?? UnmanagedSet() }
        _modify {
            var set = unmanaged.take() ?? UnmanagedSet()
            defer { unmanaged = set }
            yield &set
        }
    }
    /// Code on hot paths uses `lent` instead, because this counts a reference to the cell.
    private(set) var storage: Storage {
        get { cell.map(Storage.managed) ?? .unmanaged(own) }
        set { if case .unmanaged(let set) = newValue { own = set } }
    }
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder?

    /// Creates an empty unmanaged set.
    public init() {}
    init(_ cell: CollectionCell) { reference = CellReference(cell) }

    /// Creates an unmanaged set of the elements.
    public convenience init<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        self.init()
        insert(objectsIn: elements)
    }

    /// Returns the origin of the set's elements: its property, or a copy of an unmanaged set. Used by the members of collections; not for
    /// direct use.
    public func _makeSource() -> _CollectionSource {
        switch storage {
        case .unmanaged(let set): UnmanagedSource(set.elements, holdsSet: true)
        case .managed(let cell): CellSource(cell, cell.shape(of: Element.self))
        }
    }

    /// Returns the set of a source. Traps if the source is not a set property. Used by the members of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> MutableSet { MutableSet(source.propertyCell) }

    // MARK: Reading

    /// The number of elements.
    public var count: Int { lent?._withUnsafeGuaranteedRef { $0.count } ?? own.count }

    /// The element at a position: in ascending order in managed sets, in the order of insertion in unmanaged ones. Traps if the position is
    /// out of bounds.
    public subscript(position: Int) -> Element {
        let count = count
        trap(unless: position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
        guard let cell, let lent else { return own.elements[position] }
        if let word = lent._withUnsafeGuaranteedRef({ $0.word(at: position) }), let element = Element._fromWord(word) { return element }
        return cell.element(cell.value(at: position))
    }

    /// Returns whether the set contains an element. Objects are compared by identity: a managed set contains no unmanaged object.
    public func contains(_ object: Element) -> Bool {
        if let lent, let word = object._word, let isThere = lent._withUnsafeGuaranteedRef({ $0.contains(word: word) }) { return isThere }
        guard let cell else { return own.contains(object) }
        return wanted(object, in: cell).map(cell.contains) ?? false
    }

    /// Returns the stored form of an element to search for; nil if the set cannot contain it.
    private func wanted(_ element: Element, in cell: CollectionCell) -> Value? {
        guard let object = element._firnObject else { return element._stored(in: nil).value }
        return cell.core.row(of: object).map { .link($0) }
    }

    /// Returns whether `other` contains every element of this set. The empty set is a subset of every set.
    public func isSubset(of other: MutableSet<Element>) -> Bool {
        if isSameCollection(as: other) { return true }
        return count <= other.count && allSatisfy(other.contains)
    }

    /// Returns whether both sets have an element in common.
    public func intersects(_ other: MutableSet<Element>) -> Bool {
        count <= other.count ? contains(where: other.contains) : other.contains(where: contains)
    }

    // MARK: Changing

    /// Inserts an element if the set does not contain it yet. An unmanaged object is added to the set's realm.
    public func insert(_ object: Element) {
        if let lent, let word = object._word, lent._withUnsafeGuaranteedRef({ $0.insertIntoSet(word: word) }) { return }
        guard let cell else { return own.insert(object) }
        let new = stored([object], in: cell)
        cell.change("MutableSet") { _ = $0.insert(new[0]) }
    }

    /// Inserts the elements of a sequence that the set does not contain yet.
    public func insert<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        // Copied first, because `objects` may be this set.
        let objects = Array(objects)
        guard let cell else { return objects.forEach { own.insert($0) } }
        let new = stored(objects, in: cell)
        cell.change("MutableSet") { for value in new { $0.insert(value) } }
    }

    /// Removes an element. Does nothing if the set does not contain it.
    public func remove(_ object: Element) {
        guard let cell else { return own.remove(object) }
        cell.core.requireTransaction("modify a MutableSet")
        guard let value = wanted(object, in: cell), cell.elements.contains(value) else { return }
        cell.change("MutableSet") { _ = $0.remove(value) }
    }

    /// Removes all elements. Linked objects stay in their realm.
    public func removeAll() { replace(with: []) }

    /// Removes the elements that `other` does not contain.
    public func formIntersection(_ other: MutableSet<Element>) { keep(other.contains) }

    /// Removes the elements that `other` contains.
    public func subtract(_ other: MutableSet<Element>) { keep { !other.contains($0) } }

    /// Inserts the elements of `other`.
    public func formUnion(_ other: MutableSet<Element>) {
        if case .managed(let cell) = storage { cell.core.requireTransaction("modify a MutableSet") }
        if !isSameCollection(as: other) { insert(objectsIn: other) }
    }

    /// Replaces the elements with those of `other`.
    public func assign(_ other: MutableSet<Element>) {
        if case .managed(let cell) = storage { cell.core.requireTransaction("modify a MutableSet") }
        if !isSameCollection(as: other) { replace(with: Array(other)) }
    }

    private func keep(_ isKept: (Element) -> Bool) {
        switch storage {
        case .unmanaged(let set): storage = .unmanaged(UnmanagedSet(set.elements.filter(isKept)))
        case .managed(let cell):
            cell.core.requireTransaction("modify a MutableSet")
            let all = cell.elements.all
            let kept = all.filter { isKept(cell.element($0)) }
            if kept.count < all.count { cell.change("MutableSet") { $0.replaceAll(with: kept) } }
        }
    }

    private func replace(with elements: [Element]) {
        switch storage {
        case .unmanaged: storage = .unmanaged(UnmanagedSet(elements))
        case .managed(let cell):
            let new = Value.distinct(stored(elements, in: cell))
            cell.change("MutableSet") { $0.replaceAll(with: new) }
        }
    }

    // MARK: Unavailable operations (see OrderedRealmCollection)

    /// Unavailable: a set has no positions. Use `filter(_:).first`, or the index in sorted results of the set.
    @available(*, unavailable, message: "A set has no positions: use filter(_:).first, or the index in sorted results of the set.")
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? { nil }

    /// Unavailable: a set has no positions. Use `contains(_:)`, or the index in sorted results of the set.
    @available(*, unavailable, message: "A set has no positions: use contains(_:), or the index in sorted results of the set.")
    public func index(of object: Element) -> Int? { nil }
}

extension MutableSet {
    /// Returns whether both sets have the same elements. Live, frozen and unmanaged sets compare alike.
    public static func == (a: MutableSet, b: MutableSet) -> Bool { a === b || a.count == b.count && a.isSubset(of: b) }
    /// Hashes the number of elements. Sets of equal size have the same hash, and the hash of a set changes with its size.
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension RealmCore {
    /// Returns the row of an object of this realm or of the same file at another version, so that live and frozen sets can be compared;
    /// otherwise nil.
    func row(of object: ObjectBase) -> Int64? {
        guard let core = object._core else { return nil }
        return core === self || core.file === file ? object._rowID : nil
    }
}

extension MutableSet: _Persistable {
    /// The type of the column: a set of the element type. Traps if the elements are embedded objects. Used by `@Persisted`; not for direct
    /// use.
    public static var _shape: _Shape {
        trap(unless: !(Element.self is EmbeddedObject.Type), "MutableSet cannot hold embedded objects: use List<\(Element.self)>")
        return .collection(.set, of: Element.self)
    }
    /// Returns an empty unmanaged set. Used by `@Persisted`; not for direct use.
    public static func _initial() -> MutableSet { MutableSet() }
    /// Returns the live set in a column of a managed object. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> MutableSet { MutableSet(CollectionCell.of(object, column)) }
    /// Replaces the contents of the set in a column of a managed object. Traps outside of a write transaction. Used by `@Persisted`; not
    /// for direct use.
    ///
    /// - Complexity: O(*n* log *n*) for the *n* elements of `value`.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: MutableSet) {
        _read(object, column)._replaceContents(with: value)
    }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<MutableSet>(at: offset) }
    /// Returns a set itself, or an unmanaged set of the distinct elements of an untyped sequence. Returns an empty set for nil, and nil if
    /// an element does not fit. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* elements.
    public static func _fromUntyped(_ value: Any?) -> MutableSet? {
        if let set = value as? MutableSet { return set }
        let set = MutableSet()
        return set._replaceAll(untyped: value) ? set : nil
    }
    /// Records that the property was read, and returns an empty set that also records which property of its elements is read. Used while
    /// key paths are recorded; not for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> MutableSet {
        object._firnRecord(property)
        let set = MutableSet()
        set.recorder = object._recorder
        return set
    }
    /// The set itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Appends an empty set to a column. The elements are set after their owner has a row. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) { sink.append(.set([])) }
    /// True: setting the property replaces the contents of its set. Used by `@Persisted`; not for direct use.
    public static var _isCollection: Bool { true }
    /// Replaces the elements with those of `other`, as `assign(_:)` does. Traps if the set is managed and its realm is not in a write
    /// transaction. Used by `@Persisted`; not for direct use.
    ///
    /// - Complexity: O(*n* log *n*) for the *n* elements of `other`.
    public func _replaceContents(with other: MutableSet) {
        assign(other)
    }
}

extension MutableSet: _AnyCollection {
    var _untypedElements: [Any?] { map(\._firnUntyped) }
    func _replaceAll(untyped value: Any?) -> Bool {
        guard let new = untypedElements(of: value, as: Element.self) else { return false }
        replace(with: new)
        return true
    }
    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}

extension MutableSet: _OlderCollection {
    func bind(to property: RowProperty) {
        reference = CellReference(property)
        unmanaged = nil
    }
    func record(_ name: String, by recorder: KeyPathRecorder) {
        self.recorder = recorder
        recorder.expect(name, of: self)
    }
    func unmanagedCopy() -> MutableSet { MutableSet(objectsIn: self) }
}
