import FirnBytes
import FirnModel
import FirnQuery

/// Where the elements of a collection come from: what `Results`, lists, sets and inverse links share. One for each kind of origin.
public class _CollectionSource {
    /// Nil: unmanaged.
    var core: RealmCore? { nil }
    /// The type of one element.
    let shape: _Shape
    var isInvalidated: Bool { false }
    var count: Int { fatalError("overridden") }

    init(_ shape: _Shape) { self.shape = shape }

    /// An element in the stored form.
    func value(_ index: Int) -> Value { fatalError("overridden") }

    /// An element as it is read.
    func element<Element: _Element>(at index: Int) -> Element { element(value(index)) }

    /// A set as it stands, not what was chosen of it.
    var holdsSet: Bool { false }

    /// Of elements that are objects: their rows, in order.
    func rowIDs() -> [Int64] {
        var found: [Int64] = []
        found.reserveCapacity(count)
        for i in 0..<count { value(i).forEachLink { found.append($0) } }
        return found
    }

    /// What a query runs over: the elements as a table. Primitive elements are its column "self".
    func table() -> any Table {
        if let access = elementAccess { return SelectedRows(rowIDs(), of: access.table) }
        return _CollectionSource.table(of: (0..<count).map(value), shape.type)
    }

    /// As `table`, for those who look at its columns alone.
    func emptyTable() -> any Table {
        if let access = elementAccess { return access.table }
        return _CollectionSource.table(of: [], shape.type)
    }

    /// What a figure over all elements is taken over: a table, and those of its rows that a query chooses.
    func figured() -> (table: any Table, query: QuerySyntax, arguments: [Value]) { (table(), QuerySyntax(.constant(true)), []) }

    /// Primitive values as a table of one column, "self".
    static func table(of values: [Value], _ type: ColumnType) -> any Table {
        var column = Column(type)
        for value in values where !column.append(value) { column.appendNull() }
        return MemoryTable(TypeSchema("self", columns: [ColumnSchema("self", type)]), schema: Schema(), batches: [Batch(count: column.count, columns: [column])])
    }

    /// A query over the elements. Whatever a query needs to know besides goes in here.
    func request(_ query: QuerySyntax, _ arguments: [Value], aggregates: [Aggregate] = []) -> QueryRequest {
        QueryRequest(parsed: query, arguments: arguments, aggregates: aggregates, inverses: inverses)
    }

    /// The elements that a query chooses of these.
    func appending(_ query: QuerySyntax, _ arguments: [Value]) -> _CollectionSource { QuerySource(self, query, arguments: arguments) }

    /// Where a row first stands, of elements that are objects.
    func index(ofRow rowID: Int64) -> Int? { rowIDs().firstIndex(of: rowID) }

    /// Grows when elements may be others, at this realm.
    var stamp: UInt64 { core?.changeStamp ?? 0 }

    /// The same collection at another version; nil if it is not there.
    func moved(to core: RealmCore) -> _CollectionSource? { fatalError("overridden") }

    /// The same collection, whatever its contents.
    func isSame(as other: _CollectionSource) -> Bool { self === other }

    /// How the elements are read, where they are objects.
    var elementAccess: TypeAccess? {
        guard let target = shape.target, let core else { return nil }
        return target == DynamicObject.self ? core.dynamicAccess(shape.type.target ?? "") : core.access(target)
    }

    /// Goes through the elements; what iteration uses.
    func next(_ cursor: inout _Cursor) -> Bool {
        guard cursor.index < cursor.end else { return false }
        cursor.index += 1
        return true
    }
}

/// Where an iteration stands.
public struct _Cursor {
    var index = 0
    var end = 0
    var segment = 0
    var position = 0
    /// Rows that were chosen when the iteration began.
    var rows: [Int64] = []
}

/// Elements of a collection that belongs to no realm.
final class UnmanagedSource<Element: RealmCollectionValue>: _CollectionSource {
    let elements: [Element]

    private let isDistinct: Bool

    init(_ elements: [Element], _ shape: _Shape = Element._elementShape, holdsSet: Bool = false) {
        self.elements = elements
        isDistinct = holdsSet
        super.init(shape)
    }

    override var holdsSet: Bool { isDistinct }
    override func element<E: _Element>(at index: Int) -> E { elements[index] as! E }

    override var count: Int { elements.count }
    override func value(_ index: Int) -> Value { elements[index]._stored(in: nil).value }
}

/// All objects of a type.
final class TableSource: _CollectionSource {
    /// Of a class that the file had no type for it is asked for again: it may have one by now.
    private var access: TypeAccess {
        guard known.isAbsent, !owner.isFrozen, !known.isRetired, let objectClass = known.schema?.objectClass else { return known }
        known = owner.access(objectClass)
        return known
    }
    private var known: TypeAccess
    private let owner: RealmCore

    init(_ access: TypeAccess, _ shape: _Shape) {
        known = access
        owner = access.core
        super.init(shape)
    }

    override var core: RealmCore? { owner }
    override var isInvalidated: Bool { access.isRetired }

    private func check() {
        owner.confinement.check()
        precondition(!access.isRetired, "Access to invalidated Results objects")
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
            guard let place = try access.table.place(of: rowID) else { return nil }
            var rank = 0
            for segment in 0..<place.segment { rank += try access.table.segment(segment).liveCount }
            guard let live = try access.table.segment(place.segment).live else { return rank + place.position }
            for row in 0..<place.position where live[row] { rank += 1 }
            return rank
        }
    }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        guard let there = core.sameAccess(access) else { return nil }
        return TableSource(there, shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool { (other as? TableSource)?.access === access }
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
    override var holdsSet: Bool { cell.type.collection == .set }
    override var count: Int { cell.count }
    override func value(_ index: Int) -> Value { cell.elements[index] }
    override func rowIDs() -> [Int64] { cell.elements.rowIDs }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        guard let owner = core.object(cell.rowID, like: cell.access) else { return nil }
        return CellSource(CollectionCell.of(owner, cell.column), shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool { (other as? CellSource)?.cell === cell }
}
