import FirnModel

/// Distinct elements, in ascending order where a realm manages them, as they were inserted where not.
///
/// Elements are distinct; what a property of them holds need not be: `sum(ofProperty:)` counts every element once.
@dynamicMemberLookup
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    enum Storage {
        case unmanaged(UnmanagedSet<Element>)
        case managed(CollectionCell)
    }
    /// Nil: the set belongs to no realm.
    private let cell: CollectionCell?
    /// The same, to be used without counting a reference: the cell is referred to weakly, which makes counting slow.
    private let lent: Unmanaged<CollectionCell>?
    /// Nil: there is a cell, or no element yet.
    private var unmanaged: UnmanagedSet<Element>?
    private var own: UnmanagedSet<Element> {
        get { unmanaged ?? UnmanagedSet() }
        _modify {
            if unmanaged == nil { unmanaged = UnmanagedSet() }
            yield &unmanaged!
        }
    }
    /// Where it counts, the cell is used without this, which would count a reference to it.
    private(set) var storage: Storage {
        get { cell.map(Storage.managed) ?? .unmanaged(own) }
        set { if case .unmanaged(let set) = newValue { own = set } }
    }
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder?

    /// An empty set of its own.
    public init() { (cell, lent) = (nil, nil) }
    init(_ cell: CollectionCell) { (self.cell, lent) = (cell, Unmanaged.passUnretained(cell)) }

    public convenience init<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        self.init()
        insert(objectsIn: elements)
    }

    public func _makeSource() -> _CollectionSource {
        switch storage {
        case .unmanaged(let set): UnmanagedSource(set.elements, holdsSet: true)
        case .managed(let cell): CellSource(cell, cell.shape(of: Element.self))
        }
    }

    public func _with(_ source: _CollectionSource) -> MutableSet { MutableSet((source as! CellSource).cell) }

    // MARK: Reading

    public var count: Int { lent?._withUnsafeGuaranteedRef { $0.count } ?? own.count }

    /// The element at a position in the set's own order: ascending in managed sets, that of insertion in unmanaged ones.
    public subscript(position: Int) -> Element {
        let count = count
        precondition(position >= 0 && position < count, "Index \(position) is out of bounds (must be less than \(count)).")
        guard let cell, let lent else { return own.elements[position] }
        if let word = lent._withUnsafeGuaranteedRef({ $0.word(at: position) }), let element = Element._fromWord(word) { return element }
        return cell.element(cell.elements[position])
    }

    /// Objects are found by identity: an unmanaged one is in no managed set.
    public func contains(_ object: Element) -> Bool {
        if let lent, let word = object._word, let isThere = lent._withUnsafeGuaranteedRef({ $0.contains(word: word) }) { return isThere }
        guard let cell else { return own.contains(object) }
        return wanted(object, in: cell).map { cell.elements.contains($0) } ?? false
    }

    /// The stored form of an element to look for; nil if it cannot be in the set.
    private func wanted(_ element: Element, in cell: CollectionCell) -> Value? {
        guard let object = element._object else { return element._stored(in: nil).value }
        return cell.core.row(of: object).map { .link($0) }
    }

    /// Every element is in `other` too. An empty set is part of every set.
    public func isSubset(of other: MutableSet<Element>) -> Bool {
        if isSameCollection(as: other) { return true }
        return count <= other.count && allSatisfy(other.contains)
    }

    /// They have an element in common.
    public func intersects(_ other: MutableSet<Element>) -> Bool {
        count <= other.count ? contains(where: other.contains) : other.contains(where: contains)
    }

    // MARK: Changing

    /// Adds an element, unless the set has it already. Objects that belong to no realm are added to that of the set.
    public func insert(_ object: Element) {
        if let lent, let word = object._word, lent._withUnsafeGuaranteedRef({ $0.insertIntoSet(word: word) }) { return }
        guard let cell else { return own.insert(object) }
        let new = stored([object], in: cell)
        cell.change("MutableSet") { _ = $0.insert(new[0]) }
    }

    public func insert<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        // First: they may be those of this very set.
        let objects = Array(objects)
        guard let cell else { return objects.forEach { own.insert($0) } }
        let new = stored(objects, in: cell)
        cell.change("MutableSet") { for value in new { $0.insert(value) } }
    }

    /// Removes an element; nothing happens if the set does not have it.
    public func remove(_ object: Element) {
        guard let cell else { return own.remove(object) }
        cell.core.requireTransaction("modify a MutableSet")
        guard let value = wanted(object, in: cell), cell.elements.contains(value) else { return }
        cell.change("MutableSet") { _ = $0.remove(value) }
    }

    /// Empties the set. Objects that were in it stay in their realm.
    public func removeAll() { replace(with: []) }

    /// Keeps the elements that `other` has too.
    public func formIntersection(_ other: MutableSet<Element>) { keep(other.contains) }

    /// Removes the elements that `other` has.
    public func subtract(_ other: MutableSet<Element>) { keep { !other.contains($0) } }

    /// Adds the elements of `other`.
    public func formUnion(_ other: MutableSet<Element>) {
        if case .managed(let cell) = storage { cell.core.requireTransaction("modify a MutableSet") }
        if !isSameCollection(as: other) { insert(objectsIn: other) }
    }

    /// Takes the elements of `other` in place of its own.
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

    // MARK: What sets do not have (see OrderedRealmCollection)

    @available(*, unavailable, message: "A set has no order to look in: take filter(_:).first, or index into sorted results of it.")
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? { nil }

    @available(*, unavailable, message: "A set has no order to look in: ask contains(_:), or index into sorted results of it.")
    public func index(of object: Element) -> Int? { nil }
}

extension MutableSet {
    /// Equal are sets with the same elements, live, frozen or unmanaged.
    public static func == (a: MutableSet, b: MutableSet) -> Bool { a === b || a.count == b.count && a.isSubset(of: b) }
    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension RealmCore {
    /// The row of an object, if it is this realm's, or the same object at another version: live and frozen sets have elements in common.
    func row(of object: ObjectBase) -> Int64? {
        guard let core = object._core else { return nil }
        return core === self || core.file === file ? object._rowID : nil
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
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> MutableSet {
        object._record(property)
        let set = MutableSet()
        set.recorder = object._recorder
        return set
    }
    public var _untyped: Any? { self }
    public func _append(to sink: _Sink) { sink.append(.set([])) }
    public static var _isCollection: Bool { true }
    public func _replaceContents(with other: MutableSet) {
        assign(other)
    }
}

extension MutableSet: _AnyCollection {
    var _untypedElements: [Any?] { map(\._untypedElement) }
    func _replaceAll(untyped value: Any?) -> Bool {
        guard let new = untypedElements(of: value, as: Element.self) else { return false }
        replace(with: new)
        return true
    }
    func _value(forKeyPath path: String) -> Any? { value(forKeyPath: path) }
}
