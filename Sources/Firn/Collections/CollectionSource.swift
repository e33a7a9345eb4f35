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
        var column = Column(shape.type)
        for i in 0..<count where !column.append(value(i)) { column.appendNull() }
        return MemoryTable(TypeSchema("self", columns: [ColumnSchema("self", shape.type)]), schema: Schema(), batches: [Batch(count: column.count, columns: [column])])
    }

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

    init(_ elements: [Element]) {
        self.elements = elements
        super.init(Element._elementShape)
    }

    override var count: Int { elements.count }
    override func value(_ index: Int) -> Value { elements[index]._stored(in: nil).value }
}

/// All objects of a type.
final class TableSource: _CollectionSource {
    private let access: TypeAccess
    private let owner: RealmCore

    init(_ access: TypeAccess, _ shape: _Shape) {
        self.access = access
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
    override var count: Int { cell.count }
    override func value(_ index: Int) -> Value { cell.values[index] }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        guard let owner = core.object(cell.rowID, like: cell.access) else { return nil }
        return CellSource(CollectionCell.of(owner, cell.column), shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool { (other as? CellSource)?.cell === cell }
}
