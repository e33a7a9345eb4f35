import FirnBytes
import FirnQuery
import FirnTable

/// The origin of the elements of a collection, which `Results`, lists, sets and inverse links share. Each kind of origin has a subclass.
public class _CollectionSource {
    /// The realm of the collection; nil if it is unmanaged.
    var core: RealmCore? { nil }
    /// The type of one element.
    let shape: _Shape
    /// True if the elements cannot be read any more: then the collection counts as empty.
    var isInvalidated: Bool { false }
    /// True if the realm was invalidated.
    var isReleased: Bool { isInvalidated }
    /// What the collection reports as its `isInvalidated`. Results are invalid only if their realm was invalidated.
    var reportsInvalid: Bool { isInvalidated }
    var count: Int { trap("overridden") }

    init(_ shape: _Shape) { self.shape = shape }

    /// Called before all elements are read.
    func prepareForAll() {}

    /// Returns the element at an index in its stored form.
    func value(_ index: Int) -> Value { trap("overridden") }

    /// Returns the element at an index as its Swift type.
    func element<Element: _Element>(at index: Int) -> Element { element(value(index)) }

    /// Whether this is a whole set property, not a query on one.
    var holdsSet: Bool { false }

    /// The row ids of the elements, in order. Elements that are not links contribute none.
    func rowIDs() -> [Int64] {
        var found: [Int64] = []
        found.reserveCapacity(count)
        for i in 0..<count { value(i).forEachLink { found.append($0) } }
        return found
    }

    /// Returns the elements as a table for queries. Primitive elements are its column "self".
    func table() -> any Table {
        if let access = elementAccess { return SelectedRows(rowIDs(), of: access.table) }
        prepareForAll()
        return _CollectionSource.table(of: (0..<count).map(value), shape.type)
    }

    /// Returns a table with the same columns as `table()`. Its rows must not be used.
    func emptyTable() -> any Table {
        if let access = elementAccess { return access.table }
        return _CollectionSource.table(of: [], shape.type)
    }

    /// Returns what aggregates are computed from: a table, and the query that selects its rows.
    func figured() -> (table: any Table, query: QuerySyntax, arguments: [Value]) { (table(), QuerySyntax(.constant(true)), []) }

    /// Returns primitive values as a table of one column, "self".
    static func table(of values: [Value], _ type: ColumnType) -> any Table {
        var column = Column(type)
        for value in values where !column.append(value) { column.appendNull() }
        return MemoryTable(
            TypeSchema("self", columns: [ColumnSchema("self", type)]), schema: Schema(),
            batches: [Batch(count: column.count, columns: [column])])
    }

    /// Returns the request for a query over the elements. All options that queries need are set here.
    func request(_ query: QuerySyntax, _ arguments: [Value], aggregates: [Aggregate] = []) -> QueryRequest {
        QueryRequest(parsed: query, arguments: arguments, aggregates: aggregates, names: names, acceptsNumbersAsBooleans: true)
    }

    /// Returns the elements that a query selects from these.
    func appending(_ query: QuerySyntax, _ arguments: [Value]) -> _CollectionSource { QuerySource(self, query, arguments: arguments) }

    /// Returns the index of the first element that is the given row; nil if there is none.
    func index(ofRow rowID: Int64) -> Int? { rowIDs().firstIndex(of: rowID) }

    /// Increases, in this realm, whenever the elements may have changed.
    var stamp: UInt64 { core?.changeStamp ?? 0 }

    /// Returns the same collection at another version; nil if it does not exist there or is unmanaged.
    func moved(to core: RealmCore) -> _CollectionSource? { nil }

    /// Returns whether both are the same collection, whatever it contains.
    func isSame(as other: _CollectionSource) -> Bool { self === other }
    /// Returns whether collections with these sources are equal. Unlike the collections of objects, results are equal only to themselves.
    func isEqual(to other: _CollectionSource) -> Bool { isSame(as: other) }

    /// The access to the elements' type; nil if the elements are not objects or the collection is unmanaged.
    var elementAccess: TypeAccess? {
        guard let target = shape.target, let core else { return nil }
        return target == DynamicObject.self ? core.dynamicAccess(shape.type.target ?? "") : core.access(target)
    }

    /// The tables of the elements of an unmanaged collection of objects; nil for other collections.
    var unmanagedTables: UnmanagedTables? { nil }

    /// Advances an iteration; false at the end.
    func next(_ cursor: inout _Cursor) -> Bool {
        guard cursor.index < cursor.end else { return false }
        cursor.index += 1
        return true
    }
}

/// The position of an iteration.
public struct _Cursor {
    var index = 0
    var end = 0
    var segment = 0
    var position = 0
    /// The rows that were selected when the iteration began.
    var rows: [Int64] = []
}

/// The elements of an unmanaged collection.
final class UnmanagedSource<Element: RealmCollectionValue>: _CollectionSource {
    let elements: [Element]

    private let isDistinct: Bool

    init(_ elements: [Element], _ shape: _Shape = Element._elementShape, holdsSet: Bool = false) {
        self.elements = elements
        isDistinct = holdsSet
        super.init(shape)
    }

    override var holdsSet: Bool { isDistinct }
    override var unmanagedTables: UnmanagedTables? {
        Element._isObject && shape.target != nil ? UnmanagedTables(elements.compactMap(\._firnObject), of: shape.target!) : nil
    }
    override func element<E: _Element>(at index: Int) -> E { elements[index] as! E }

    override var count: Int { elements.count }
    override func value(_ index: Int) -> Value { elements[index]._stored(in: nil).value }
}

/// All objects of a type.
final class TableSource: _CollectionSource {
    /// The access to the type. If the file had no type for the class, this looks again, because the type may have been added since; also if
    /// the transaction that added the type was cancelled.
    private var access: TypeAccess {
        guard !owner.isFrozen, known.isRetired ? isCancelled : known.isAbsent, let objectClass = known.schema?.objectClass else {
            return known
        }
        known = owner.access(objectClass)
        return known
    }
    private var known: TypeAccess
    private let invalidations: Int
    private var isCancelled: Bool { owner.invalidationCount == invalidations && owner.schema[known.name] == nil }
    private let owner: RealmCore

    init(_ access: TypeAccess, _ shape: _Shape) {
        known = access
        owner = access.core
        invalidations = access.core.invalidationCount
        super.init(shape)
    }

    override var core: RealmCore? { owner }
    override var isInvalidated: Bool { access.isRetired }

    private func check() {
        owner.check()
        trap(unless: !access.isRetired, "Access to invalidated Results objects")
    }

    override var count: Int {
        check()
        return access.table.rowCount
    }

    override func table() -> any Table { access.table }

    override func value(_ index: Int) -> Value { .link(rowID(at: index)) }

    override func rowIDs() -> [Int64] {
        check()
        return owner.reading([]) { () throws(Damage) in try access.table.liveRowIDs() }
    }

    func rowID(at index: Int) -> Int64 {
        check()
        return owner.reading(-1) { () throws(Damage) in try access.table.rowID(atRank: index) ?? -1 }
    }

    override func index(ofRow rowID: Int64) -> Int? {
        check()
        return owner.reading(nil) { () throws(Damage) in
            guard let row = try access.table.location(of: rowID) else { return nil }
            var rank = 0
            for segment in 0..<row.segment { rank += try access.table.segment(segment).liveCount }
            guard let live = try access.table.segment(row.segment).live else { return rank + row.position }
            for other in 0..<row.position where live[other] { rank += 1 }
            return rank
        }
    }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        if let there = core.sameAccess(access) { return TableSource(there, shape) }
        // A version without the type has no objects of it.
        guard core.isFrozen, let objectClass = access.schema?.objectClass else { return nil }
        return TableSource(core.access(objectClass), shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool { (other as? TableSource)?.access === access }
    override func isEqual(to other: _CollectionSource) -> Bool { self === other }
}

extension _CollectionSource {
    /// The realm of a managed collection. Traps if the collection is unmanaged.
    final var managedCore: RealmCore {
        guard let core else { trap("this collection is not managed by a realm") }
        return core
    }

    /// The access to the objects of a managed collection. Traps if the elements are not managed objects.
    final var managedElements: TypeAccess {
        guard let elementAccess else { trap("the elements of this collection are not managed objects") }
        return elementAccess
    }

    /// The cell of a collection that is a property. Traps if it is not one.
    final var propertyCell: CollectionCell {
        guard let source = self as? CellSource else { trap("this collection is not a property of a managed object") }
        return source.cell
    }
}

/// A list or set property.
final class CellSource: _CollectionSource {
    let cell: CollectionCell

    init(_ cell: CollectionCell, _ shape: _Shape) {
        self.cell = cell
        super.init(shape)
    }

    override var core: RealmCore? { cell.core }
    override var isInvalidated: Bool { !cell.isValid }
    override var isReleased: Bool { cell.access.isRetired }
    override var holdsSet: Bool { cell.type.collection == .set }
    override var count: Int { cell.count }
    override func value(_ index: Int) -> Value { cell.value(at: index) }
    override func prepareForAll() { cell.loadAll() }
    override func rowIDs() -> [Int64] { cell.elements.rowIDs }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        guard let owner = core.object(cell.rowID, like: cell.access) else { return nil }
        return CellSource(CollectionCell.of(owner, cell.column), shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool { (other as? CellSource)?.cell === cell }
}
