import FirnBytes
import FirnModel

struct CellKey: Hashable {
    var rowID: Int64
    var column: Int
}

struct WeakCell {
    weak var cell: CollectionCell?
}

/// The elements of one collection property of one managed object, decoded once for all who use it. Changes stay here until someone reads the
/// table or the transaction is committed.
final class CollectionCell {
    let access: TypeAccess
    let core: RealmCore
    let rowID: Int64
    let column: Int
    let type: ColumnType
    /// In the stored form; of a map the values, beside `keys`.
    private var elements: [Value]?
    private(set) var keys: [String] = []
    private var isChanged = false
    /// Grows when the elements may be others.
    private(set) var stamp: UInt64 = 0

    private init(_ access: TypeAccess, rowID: Int64, column: Int) {
        self.access = access
        core = access.core
        self.rowID = rowID
        self.column = column
        type = access.type.columns[column].type
    }

    static func of(_ object: ObjectBase, _ column: Int) -> CollectionCell {
        let access = object._settled()
        let key = CellKey(rowID: object._rowID, column: column)
        if let cell = access.cells[key]?.cell { return cell }
        let cell = CollectionCell(access, rowID: object._rowID, column: column)
        access.cells[key] = WeakCell(cell: cell)
        return cell
    }

    /// The object that the collection belongs to is there.
    var isValid: Bool { !access.isRetired && access.place(of: rowID) != nil }

    func forget() {
        elements = nil
        isChanged = false
        stamp &+= 1
    }

    // MARK: Reading

    var values: [Value] {
        core.confinement.check()
        if let elements { return elements }
        load()
        return elements!
    }

    var count: Int { values.count }

    private func load() {
        precondition(!access.isRetired, "Access to invalidated \(type.collection) object: the realm was invalidated.")
        var stored = Value.null
        if let place = access.place(of: rowID) {
            stored = core.reading(.null) { () throws(Damage) in try access.value(Int32(place.segment), Int32(place.position), column) }
        }
        switch stored {
        case .list(let values), .set(let values): elements = values
        case .map(let entries):
            keys = entries.map(\.key)
            elements = entries.map(\.value)
        default:
            keys = []
            elements = []
        }
    }

    // MARK: Changing

    /// Lets `body` change the elements (of a map: and its keys).
    func change<R>(_ action: @autoclosure () -> String, _ body: (inout [Value], inout [String]) -> R) -> R {
        core.confinement.check()
        core.requireTransaction("modify a \(action())")
        precondition(isValid, "the object that this collection belongs to has been deleted or invalidated")
        if elements == nil { load() }
        var working = elements!
        elements = nil
        let result = body(&working, &keys)
        elements = working
        if !isChanged {
            isChanged = true
            core.changedCells[ObjectIdentifier(self)] = self
        }
        stamp &+= 1
        core.noteChange()
        return result
    }

    /// Writes what was changed into the table.
    func flush() throws(FirnError) {
        guard isChanged, let elements, access.place(of: rowID) != nil else { return }
        isChanged = false
        let value: Value = switch type.collection {
        case .set: .set(elements)
        case .map: .map(zip(keys, elements).map { Value.Entry($0, $1) })
        default: .list(elements)
        }
        try access.working.set(rowID, column, value)
        access.changed(column)
    }
}
