import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

/// Reads, writes and creates the objects of one type in one open realm.
final class TypeAccess {
    unowned(unsafe) let core: RealmCore
    /// As `core`, used without counting references: the realm has weak references, which make counting slow.
    private let owner: Unmanaged<RealmCore>
    let name: String
    /// The schema of the class; nil if the type is known only from the file (dynamic objects).
    let schema: ClassSchema?
    let state: UnsafeMutablePointer<AccessState>
    /// The type in the file at the realm's version.
    private(set) var type: TypeSchema
    private let typeIndex: Int
    var typeNumber: Int { typeIndex }
    /// True if the file has no such type, so that there are no objects.
    var isAbsent: Bool { typeIndex < 0 }
    /// The column of each property of the class; -1 for derived properties.
    private(set) var columns: [Int] = []
    /// True if this access must deallocate the state.
    private var hasState = true
    @exclusivity(unchecked) private var windows: WindowSet
    /// The decoded vectors of a frozen realm, which many threads read concurrently; nil for live realms.
    private let frozen: FrozenWindows?
    /// Sets the columns of the properties of a new managed object.
    private var attach: (ObjectBase) -> Void = { _ in }
    /// Appends the values of an unmanaged object to the columns.
    private var append: (ObjectBase, UnsafeMutablePointer<Column>) -> Void = { _, _ in }
    private let hasKey: Bool
    /// True if a property refers to other objects or is a collection.
    let hasLeading: Bool
    /// The rows of the realm's version, or of the transaction under way.
    @exclusivity(unchecked) private var rows: any RowTable
    /// `rows`, if they are those of a transaction.
    @exclusivity(unchecked) private var workingRows: Unmanaged<WorkingTable>?
    /// As `workingRows`, but nil between the parts of a group, when nothing may be written.
    @exclusivity(unchecked) private var writableRows: Unmanaged<WorkingTable>?
    /// The collections of objects of this type that are in use, by row and column.
    var cells: [CellKey: WeakCell] = [:]

    init(_ core: RealmCore, _ schema: ClassSchema?, typeIndex: Int) {
        self.core = core
        owner = Unmanaged.passUnretained(core)
        self.schema = schema
        self.typeIndex = typeIndex
        hasLeading = schema?.properties.contains { $0.leadsOn && !$0.shape.isLinking } ?? false
        core.finishPendingCommit()
        rows = typeIndex < 0 ? NoRows(schema!) : core.table(typeIndex)
        workingRows = (rows as? WorkingTable).map(Unmanaged.passUnretained)
        writableRows = core.isInTransaction ? workingRows : nil
        type = rows.type
        name = type.name
        hasKey = !type.key.isEmpty
        windows = WindowSet(columns: type.columns)
        frozen = core.isFrozen ? FrozenWindows(type.columns) : nil
        state = .allocate(capacity: 1)
        state.initialize(
            to: AccessState(thread: core.executor.thread, windows: windows.pointers, access: Unmanaged.passUnretained(self)))
        columns = schema?.properties.map { property in property.shape.isLinking ? -1 : type.index(of: property.name) ?? -1 } ?? []
        if let schema { (attach, append) = (TypeAccess.attaching(schema, columns), TypeAccess.appending(schema, columns, type)) }
    }

    deinit { if hasState { state.deallocate() } }

    /// Makes the state refer to another retired access and returns it. The caller must deallocate it when no object points at it any more.
    func leaveState(to other: TypeAccess) -> UnsafeMutablePointer<AccessState> {
        hasState = false
        state.pointee.thread = 0
        state.pointee.access = .passUnretained(other)
        return state
    }

    func attachProperties(of object: ObjectBase) { attach(object) }
    func appendValues(of object: ObjectBase, to columns: UnsafeMutablePointer<Column>) { append(object, columns) }

    // MARK: Versions

    /// Called when the realm has moved to another version, or has begun or ended a transaction.
    func moved() {
        rows = core.table(typeIndex)
        workingRows = (rows as? WorkingTable).map(Unmanaged.passUnretained)
        writableRows = core.isInTransaction ? workingRows : nil
        forgetPositions()
        for cell in cells.values { cell.cell?.forget() }
        cells = cells.filter { $0.value.cell != nil }
    }

    /// Discards positions and decoded vectors, which may have changed.
    func forgetPositions() {
        state.pointee.generation &+= 1
        windows.forget()
    }

    var table: any RowTable { rows }

    /// Traps unless the realm may be used on this thread.
    func check() { owner._withUnsafeGuaranteedRef { $0.check() } }

    /// True while a transaction is under way.
    var isWritten: Bool { workingRows != nil }

    /// The rows of the transaction under way. The caller has called `requireTransaction`.
    var working: WorkingTable {
        guard let workingRows else { trap(RealmMessage.outsideTransaction("modify \(name) objects")) }
        return workingRows.takeUnretainedValue()
    }

    /// Calls `body` to set a value of a column in the transaction under way.
    @inline(__always)
    func write(_ column: Int, _ body: (WorkingTable) throws(FirnError) -> Void) {
        guard let writableRows else { refuseChange() }
        if hasKey, isKey(column) {
            trap("Primary key can't be changed after an object is inserted: delete the object and add another.")
        }
        writableRows._withUnsafeGuaranteedRef { rows in
            do throws(FirnError) { try body(rows) } catch { core.noteWriteError(error) }
        }
        changed(column)
    }

    private func refuseChange() -> Never {
        core.requireTransaction("modify \(name) objects")
        trap(RealmMessage.outsideTransaction("modify \(name) objects"))
    }

    func changed(_ column: Int) {
        windows.forget(column)
        owner._withUnsafeGuaranteedRef { core in
            core.noteChange()
            if core.bindings.hasSiblings { for sibling in core.bindings.siblings(of: self) { sibling.changedElsewhere(column) } }
        }
    }

    /// As the realm's `reading`.
    @inline(__always)
    func reading<R>(_ missing: @autoclosure () -> R, _ body: () throws(Damage) -> R) -> R {
        do { return try body() } catch {
            core.note(error)
            return missing()
        }
    }

    private func changedElsewhere(_ column: Int) {
        windows.forget(column)
        for (key, cell) in cells where key.column == column { cell.cell?.forget() }
    }

    /// True after `invalidate`: none of the objects can be used again.
    private(set) var isRetired = false
    func retire() {
        isRetired = true
        for cell in cells.values { cell.cell?.forget() }
        // Objects that cannot be read must not keep the version and its decoded vectors in memory.
        rows = NoRows(rows)
        workingRows = nil
        writableRows = nil
        windows = WindowSet(columns: type.columns)
        state.pointee.windows = windows.pointers
        forgetPositions()
    }

    func position(of rowID: Int64) -> (segment: Int, position: Int)? {
        core.reading(nil) { () throws(Damage) in try rows.location(of: rowID) }.map { ($0.segment, $0.position) }
    }

    /// Returns whether there is such an object. If damage keeps it from being found, this returns true, and the object reads as zeros.
    func holds(_ rowID: Int64) -> Bool { !isRetired && (position(of: rowID) != nil || core.damage != nil) }

    /// Returns the column of a property by its name in the file, or by its name in code if the program has a class for the type.
    func column(_ name: String) -> Int? {
        type.index(of: name) ?? (schema ?? core.knownSchema(self.name)).flatMap { type.index(of: $0.schemaName(of: name)) }
    }

    /// The names in code that paths from the objects can use.
    var names: PropertyNames { (schema ?? core.knownSchema(name))?.names ?? PropertyNames() }

    /// The names that a path of one step can have to mean a column of the objects.
    var columnNames: Set<String> { Set(type.columns.map(\.name)).union(names.columns[name, default: [:]].keys) }

    func isKey(_ column: Int) -> Bool { type.key.contains(column) }

    // MARK: Reading

    /// Thrown by reads of an object whose row cannot be found. The cause was already recorded.
    private static let lost = Damage("an object cannot be found")

    func word(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Int64? {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.word(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Int64?? in
                rows.isEdited(segment, vector: position >> 10, column: column)
                    ? .some(try rows.word(at: RowLocation(segment: segment, position: position), column)) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.words![position & 1023] : nil
        }
        return try rows.word(at: RowLocation(segment: segment, position: position), column)
    }

    func real(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Double? {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.real(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Double?? in
                rows.isEdited(segment, vector: position >> 10, column: column)
                    ? .some(try rows.real(at: RowLocation(segment: segment, position: position), column)) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) {
            let window = windows.pointers + column
            return window.pointee.isPresent(position & 1023) ? window.pointee.reals![position & 1023] : nil
        }
        return try rows.real(at: RowLocation(segment: segment, position: position), column)
    }

    func value(_ segment: Int32, _ position: Int32, _ column: Int) throws(Damage) -> Value {
        let segment = Int(segment), position = Int(position)
        guard segment >= 0 else { throw TypeAccess.lost }
        if let frozen { return try frozen.value(segment, position, column, rows) }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Value? in
                rows.isEdited(segment, vector: position >> 10, column: column)
                    ? try rows.storedValue(at: RowLocation(segment: segment, position: position), column) : nil
            }
            if let held { return held }
        }
        if try windows.load(segment, position >> 10, column, from: rows) { return windows.value(position & 1023, column) }
        return try rows.segment(segment).storedColumn(column).value(at: position)
    }

    /// Returns the collection of a row as the only row of a column.
    func collection(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Column {
        guard segment >= 0 else { throw TypeAccess.lost }
        if let workingRows {
            let held = try workingRows.lend { (rows) throws(Damage) -> Column? in
                rows.isEdited(segment, vector: position >> 10, column: column)
                    ? try rows.storedRow(at: RowLocation(segment: segment, position: position), column) : nil
            }
            if let held { return held }
        }
        return try rows.segment(segment).storedColumn(column).row(at: position)
    }

    /// Returns a reader of single elements of a large collection; nil if it must be decoded whole, as always in a transaction, which may
    /// reuse the space that it has written itself.
    func storedElements(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> StoredElements? {
        guard segment >= 0, workingRows == nil else { return nil }
        return try rows.segment(segment).storedElements(column, at: position)
    }
}
