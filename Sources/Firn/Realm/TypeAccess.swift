import FirnBytes
import FirnModel

/// The objects of one type in one open realm: where their rows are, what was decoded of them last, and how new ones are made.
final class TypeAccess {
    unowned(unsafe) let core: RealmCore
    /// The same, to be used without counting a reference: the realm is referred to weakly, which makes counting slow.
    private let owner: Unmanaged<RealmCore>
    let name: String
    /// Nil: the type is known from the file alone (dynamic objects).
    let schema: ClassSchema?
    let state: UnsafeMutablePointer<AccessState>
    /// The type as the file has it at the realm's version.
    private(set) var type: TypeSchema
    private let typeIndex: Int
    var typeNumber: Int { typeIndex }
    /// The file has no such type: there are no objects.
    var isAbsent: Bool { typeIndex < 0 }
    /// By property of the class: its column; -1 for derived properties.
    private(set) var columns: [Int] = []
    /// The state is this one's to release.
    private var hasState = true
    @exclusivity(unchecked) private var windows: WindowSet
    /// Of frozen realms, which many threads read at a time.
    private let frozen: FrozenWindows?
    /// Tells the properties of a new managed object their columns.
    private var attach: (ObjectBase) -> Void = { _ in }
    /// Appends the values of an unmanaged object to the columns.
    private var append: (ObjectBase, UnsafeMutablePointer<Column>) -> Void = { _, _ in }
    private let hasKey: Bool
    /// Some property leads to other objects, or is a collection.
    let hasLeading: Bool
    /// The rows: of the version the realm is at, or of the transaction under way.
    @exclusivity(unchecked) private var rows: any RowTable
    /// `rows`, where they are those of a transaction.
    @exclusivity(unchecked) private var workingRows: Unmanaged<WorkingTable>?
    /// The same, while the transaction is under way: nothing is written between the parts of a group.
    @exclusivity(unchecked) private var writableRows: Unmanaged<WorkingTable>?
    /// Collections of objects of this type that are in use, by row and column.
    var cells: [CellKey: WeakCell] = [:]

    init(_ core: RealmCore, _ schema: ClassSchema?, typeIndex: Int) {
        self.core = core
        owner = Unmanaged.passUnretained(core)
        self.schema = schema
        self.typeIndex = typeIndex
        hasLeading = schema?.properties.contains { $0.leadsOn && !$0.shape.isLinking } ?? false
        rows = typeIndex < 0 ? NoRows(schema!) : core.table(typeIndex)
        workingRows = (rows as? WorkingTable).map(Unmanaged.passUnretained)
        writableRows = core.isInTransaction ? workingRows : nil
        type = rows.type
        name = type.name
        hasKey = !type.key.isEmpty
        windows = WindowSet(columns: type.columns)
        frozen = core.isFrozen ? FrozenWindows(type.columns) : nil
        state = .allocate(capacity: 1)
        state.initialize(to: AccessState(thread: core.confinement.thread, windows: windows.pointers, access: Unmanaged.passUnretained(self)))
        columns = schema?.properties.map { property in property.shape.isLinking ? -1 : type.index(of: property.name) ?? -1 } ?? []
        if let schema { (attach, append) = (TypeAccess.attaching(schema, columns), TypeAccess.appending(schema, columns, type)) }
    }

    deinit { if hasState { state.deallocate() } }

    /// Objects may point at it longer than the access is needed: the caller releases it. What they find from then on is another, retired as this one is.
    func leaveState(to other: TypeAccess) -> UnsafeMutablePointer<AccessState> {
        hasState = false
        state.pointee.thread = 0
        state.pointee.access = .passUnretained(other)
        return state
    }

    func attachProperties(of object: ObjectBase) { attach(object) }
    func appendValues(of object: ObjectBase, to columns: UnsafeMutablePointer<Column>) { append(object, columns) }

    // MARK: Versions

    /// The realm moved to another version, or began or ended a transaction.
    func moved() {
        rows = core.table(typeIndex)
        workingRows = (rows as? WorkingTable).map(Unmanaged.passUnretained)
        writableRows = core.isInTransaction ? workingRows : nil
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

    /// Traps where the realm does not belong.
    func check() { owner._withUnsafeGuaranteedRef { $0.check() } }

    /// A transaction is under way.
    var isWritten: Bool { workingRows != nil }

    /// The rows of the transaction under way; the caller has asked `requireTransaction`.
    var working: WorkingTable {
        guard let workingRows else { preconditionFailure(RealmMessage.outsideTransaction("modify \(name) objects")) }
        return workingRows.takeUnretainedValue()
    }

    /// Lets `body` set a value of a column, in the transaction under way.
    @inline(__always)
    func write(_ column: Int, _ body: (WorkingTable) throws(FirnError) -> Void) {
        guard let writableRows else { refuseChange() }
        if hasKey, isKey(column) {
            preconditionFailure("Primary key can't be changed after an object is inserted: delete the object and add another.")
        }
        writableRows._withUnsafeGuaranteedRef { rows in
            do throws(FirnError) { try body(rows) } catch { core.writing { () throws(FirnError) in throw error } }
        }
        changed(column)
    }

    private func refuseChange() -> Never {
        core.requireTransaction("modify \(name) objects")
        preconditionFailure(RealmMessage.outsideTransaction("modify \(name) objects"))
    }

    func changed(_ column: Int) {
        windows.forget(column)
        owner._withUnsafeGuaranteedRef { core in
            core.noteChange()
            if core.hasSiblings { for sibling in core.siblings(of: self) { sibling.changedElsewhere(column) } }
        }
    }

    /// As the realm's `reading`.
    @inline(__always)
    func reading<R>(_ missing: @autoclosure () -> R, _ body: () throws(Damage) -> R) -> R {
        do throws(Damage) { return try body() } catch { return core.reading(missing()) { () throws(Damage) in throw error } }
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
        // The version, and what was decoded of it, is nobody's for the sake of objects that cannot be read.
        rows = NoRows(rows)
        workingRows = nil
        writableRows = nil
        windows = WindowSet(columns: type.columns)
        state.pointee.windows = windows.pointers
        forgetPlaces()
    }

    func place(of rowID: Int64) -> (segment: Int, position: Int)? {
        core.reading(nil) { () throws(Damage) in try rows.place(of: rowID) }
    }

    /// Whether there is such an object. Where the file is damaged and it cannot be found, nobody knows that it is not: it reads as zeros.
    func holds(_ rowID: Int64) -> Bool { !isRetired && (place(of: rowID) != nil || core.damage != nil) }

    func isKey(_ column: Int) -> Bool { type.key.contains(column) }

    // MARK: Reading

    /// What reading an object gives whose place cannot be found; why is noted already.
    private static let lost = Damage("an object cannot be found")

    func word(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Int64? {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.word(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Int64?? in
                rows.isEdited(segment, vector: position >> 10, column: column) ? .some(try rows.word(segment, position, column)) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.words![position & 1023] : nil
        }
        return try rows.word(segment, position, column)
    }

    func real(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Double? {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.real(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Double?? in
                rows.isEdited(segment, vector: position >> 10, column: column) ? .some(try rows.real(segment, position, column)) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.reals![position & 1023] : nil
        }
        return try rows.real(segment, position, column)
    }

    func value(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Value {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.value(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Value? in
                rows.isEdited(segment, vector: position >> 10, column: column) ? try rows.storedValue(segment, position, column) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) { return windows.value(position & 1023, column) }
        return try rows.segment(segment).storedColumn(column).value(at: position)
    }
}

