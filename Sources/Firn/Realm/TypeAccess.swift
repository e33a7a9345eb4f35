import FirnBytes
import FirnModel

/// The objects of one type in one open realm: where their rows are, what was decoded of them last, and how new ones are made.
final class TypeAccess {
    unowned(unsafe) let core: RealmCore
    let name: String
    /// Nil: the type is known from the file alone (dynamic objects).
    let schema: ClassSchema?
    let state: UnsafeMutablePointer<AccessState>
    /// The type as the file has it at the realm's version.
    private(set) var type: TypeSchema
    private let typeIndex: Int
    var typeNumber: Int { typeIndex }
    /// By property of the class: its column; -1 for derived properties.
    private(set) var columns: [Int] = []
    private var windows: WindowSet
    /// Of frozen realms, which many threads read at a time.
    private let frozen: FrozenWindows?
    /// How the properties of a new managed object are told their columns.
    let attachments: [(ObjectBase, Int16) -> Void]
    /// Some property leads to other objects, or is a collection.
    let hasLeading: Bool
    /// See `plainProperties`.
    var knownPlain: [_PropertyAccess?]?
    /// The rows: of the version the realm is at, or of the transaction under way.
    private var rows: any RowTable
    /// The rows of the transaction under way.
    private var workingRows: WorkingTable?
    /// Collections of objects of this type that are in use, by row and column.
    var cells: [CellKey: WeakCell] = [:]

    init(_ core: RealmCore, _ schema: ClassSchema?, typeIndex: Int) {
        self.core = core
        self.schema = schema
        self.typeIndex = typeIndex
        attachments = schema?.properties.map(\.access.attach) ?? []
        hasLeading = schema?.properties.contains { $0.leadsOn && !$0.shape.isLinking } ?? false
        rows = core.table(typeIndex)
        workingRows = rows as? WorkingTable
        type = rows.type
        name = type.name
        windows = WindowSet(columns: type.columns)
        frozen = core.isFrozen ? FrozenWindows(type.columns) : nil
        state = .allocate(capacity: 1)
        state.initialize(to: AccessState(thread: core.confinement.thread, windows: windows.pointers, access: self))
        columns = schema?.properties.map { property in property.shape.isLinking ? -1 : type.index(of: property.name) ?? -1 } ?? []
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Versions

    /// The realm moved to another version, or began or ended a transaction.
    func moved() {
        rows = core.table(typeIndex)
        workingRows = rows as? WorkingTable
        forgetPlaces()
        for cell in cells.values { cell.cell?.forget() }
        cells = cells.filter { $0.value.cell != nil }
    }

    /// Rows may stand elsewhere, and vectors may hold other values.
    func forgetPlaces() {
        state.pointee.generation &+= 1
        windows.forget()
    }

    var table: any RowTable { rows }

    /// The rows of the transaction under way; the caller has asked `requireTransaction`.
    var working: WorkingTable {
        guard let workingRows else { preconditionFailure(RealmMessage.outsideTransaction("modify \(name) objects")) }
        return workingRows
    }

    func changed(_ column: Int) {
        core.noteChange()
        windows.forget(column)
        for sibling in core.siblings(of: self) { sibling.changedElsewhere(column) }
    }

    private func changedElsewhere(_ column: Int) {
        windows.forget(column)
        for (key, cell) in cells where key.column == column { cell.cell?.forget() }
    }

    /// After `invalidate`: none of the objects can be used again.
    private(set) var isRetired = false
    func retire() {
        isRetired = true
        for cell in cells.values { cell.cell?.forget() }
        forgetPlaces()
    }

    func place(of rowID: Int64) -> (segment: Int, position: Int)? {
        core.reading(nil) { () throws(Damage) in try rows.place(of: rowID) }
    }

    func isKey(_ column: Int) -> Bool { type.key.contains(column) }

    // MARK: Reading

    func word(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Int64? {
        let segment = Int(segment), position = Int(position)
        if let frozen { return try frozen.word(segment, position, column, rows) }
        if let workingRows, workingRows.isEdited(segment, vector: position >> 10, column: column) {
            return try workingRows.word(segment, position, column)
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.words![position & 1023] : nil
        }
        return try rows.word(segment, position, column)
    }

    func real(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Double? {
        let segment = Int(segment), position = Int(position)
        if let frozen { return try frozen.real(segment, position, column, rows) }
        if let workingRows, workingRows.isEdited(segment, vector: position >> 10, column: column) {
            return try workingRows.real(segment, position, column)
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.reals![position & 1023] : nil
        }
        return try rows.real(segment, position, column)
    }

    func value(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Value {
        let segment = Int(segment), position = Int(position)
        if let frozen { return try frozen.value(segment, position, column, rows) }
        if let workingRows, workingRows.isEdited(segment, vector: position >> 10, column: column) {
            return try rows.segment(segment).storedColumn(column).value(at: position)
        }
        if try windows.load(segment, position >> 10, column, from: rows) { return windows.value(position & 1023, column) }
        return try rows.segment(segment).storedColumn(column).value(at: position)
    }
}

