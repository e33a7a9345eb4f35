import FirnBytes
import FirnStore
import FirnTable
import Synchronization

/// All rows of one type as a transaction sees them: the version that it began from, with its own changes. Rows are read and written in
/// place.
///
/// One thread at a time may write, and no thread may read meanwhile. Between writes, several threads may read what `Table` and its segments
/// give, after one of them has called `segmentCount`; single rows (`location`, `word`, `real`) are read by one thread at a time. A segment
/// or reader that was taken before a write may still show the previous state: request it again if `stamp` has grown. The table must not be
/// used after the transaction has been released.
package final class WorkingTable: RowTable, @unchecked Sendable {
    /// Like an `unowned` reference, which would be counted with every row.
    private let origin: Unmanaged<DatabaseTransaction>
    let mark: TransactionMark
    var transaction: DatabaseTransaction {
        trap(unless: !mark.isGone, "the transaction of these rows has been released: read them from the newest version")
        return origin.takeUnretainedValue()
    }
    let index: Int
    package private(set) var type: TypeSchema
    var isKeyed: Bool { !type.key.isEmpty }
    package var memory: MemoryBudget { core.source.memory }
    /// Segments without changes are read from here.
    @exclusivity(unchecked) private(set) var core: SnapshotCore { didSet { sealedCount = core.catalogue.types[index].segmentCount } }
    @exclusivity(unchecked) private(set) var sealedCount: Int
    /// The transaction's count of written structures that `core` reflects.
    private let seen: Atomic<Int>
    /// The rows of the sealed segments that this transaction has changed, by segment. Empty if there are none.
    @exclusivity(unchecked) private(set) var edited: [WorkingRows?] = []
    /// The rows after the sealed segments and after those that the bulk writer holds.
    @exclusivity(unchecked) private(set) var tail: WorkingRows
    /// The first and last row ids of the sealed segments; nil until a row is searched for.
    private var bounds: [(first: Int64, last: Int64)]?
    /// The last sealed segment in which a row was searched for.
    @exclusivity(unchecked) private var last: (index: Int, rows: any StoredRows)?
    /// The last segment that was changed, if its row ids are consecutive: rows are mostly changed more than once, and near each other.
    @exclusivity(unchecked) private var lastChanged: (index: Int, rows: WorkingRows, first: Int64)?
    private let segments: Mutex<[Int: TableSegment]> = Mutex([:])
    /// The type's bulk writer, if there is one.
    @exclusivity(unchecked) var writer: BulkWriter?
    /// Whether changes were written before the commit. What the version before has open may then no longer be the same.
    private(set) var hasBegunAnew = false
    /// The error that kept rows from being written where no error could be thrown.
    private var failure: Damage?

    /// Whether the table may hold changes that are not written.
    @exclusivity(unchecked) private var isEditing = false
    /// Grows with the first write to each vector, by column.
    @exclusivity(unchecked) private var columnStamps: [UInt64]
    /// Grows when rows are added, deleted or moved.
    @exclusivity(unchecked) private var rowStamp: UInt64 = 0
    @exclusivity(unchecked) package private(set) var changeCount: UInt64 = 0

    init(_ transaction: DatabaseTransaction, type index: Int) {
        origin = Unmanaged.passUnretained(transaction)
        mark = transaction.mark
        self.index = index
        type = transaction.schema.types[index]
        core = transaction.current()
        sealedCount = core.catalogue.types[index].segmentCount
        seen = Atomic(transaction.structures)
        writer = transaction.bulkWriters[index]
        columnStamps = Array(repeating: 0, count: type.columns.count)
        tail = WorkingTable.tail(of: transaction, index, core)
    }

    /// Returns the rows of the delta store as far as they are written: those of a version if they are in memory, otherwise rows that are
    /// read when one is requested.
    private static func tail(of transaction: DatabaseTransaction, _ index: Int, _ core: SnapshotCore) -> WorkingRows {
        let state = transaction.states[index]
        let types = transaction.schema.types[index].columns.map(\.type.stored)
        let open = state.deltaRows > 0 ? core.openTail(type: index) : nil
        if let working = open as? WorkingRows, working.firstGrown + Int64(working.rowCount - working.baseCount) == state.nextRowID {
            return WorkingRows(successorOf: working, owner: transaction.number)
        }
        return WorkingRows(
            owner: transaction.number, types: types, base: open is WorkingRows ? nil : open, baseCount: state.deltaRows,
            firstGrown: state.nextRowID, counts: transaction.database.counts)
    }

    /// Returns the next row id, for a row that exists from now on. The transaction must be open.
    @inline(__always)
    func giveRowID() -> Int64 { origin._withUnsafeGuaranteedRef { $0.giveRowID(index) } }

    // MARK: The table

    package var schema: Schema { transaction.schema }
    package var rowCount: Int { transaction.states[index].liveRows }

    package var segmentCount: Int {
        if !transaction.bulkWriters.isEmpty { settleReached() }
        settleBulk()
        return sealedCount + (tail.rowCount > 0 ? 1 : 0)
    }

    package func related(_ typeName: String) throws(Damage) -> (any Table)? {
        transaction.schema[typeName] == nil ? nil : transaction.table(typeName)
    }

    package func segment(_ position: Int) throws(Damage) -> any Segment {
        settleBulk()
        if let failure { throw failure }
        // Before the segments are locked: a thread that keeps up with the transaction locks both in the other order.
        if position >= sealedCount { try needTail() }
        return try segments.withLock { (segments) throws(Damage) -> TableSegment in
            if let segment = segments[position] { return segment }
            let segment = TableSegment(try rows(position), type: type, home: transaction.home)
            if segments.count >= SnapshotCore.maximumSegments { segments.removeAll() }
            segments[position] = segment
            return segment
        }
    }

    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        settleBulk()
        if let failure { throw failure }
        guard rowID >= 0, rowID < transaction.states[index].nextRowID else { return nil }
        var low = 0, high = sealedCount
        while low < high {
            let middle = (low + high) / 2
            if try core.directoryEntry(type: index, index: middle).lastRowID < rowID { low = middle + 1 } else { high = middle }
        }
        if low < sealedCount { return try core.directoryEntry(type: index, index: low).firstRowID <= rowID ? low : nil }
        return tail.rowCount > 0 ? low : nil
    }

    /// Returns the rows of a segment, changed or not.
    func rows(_ segment: Int) throws(Damage) -> any StoredRows {
        if segment >= sealedCount {
            trap(unless: segment == sealedCount, "segment outside the table: ask segmentCount first")
            try needTail()
            return tail
        }
        if !edited.isEmpty, let rows = edited[segment] { return rows }
        return try core.rows(type: index, index: segment)
    }

    /// Returns a number that grows when readers of the column that were taken before must be requested again.
    package func stamp(_ column: Int) -> UInt64 { columnStamps[column] &+ rowStamp }

    /// Returns whether rows of the vector may not be read as they are stored, because the transaction may have changed them.
    package func isEdited(_ segment: Int, vector: Int, column: Int) -> Bool {
        if segment >= sealedCount { return true }
        let rows = edited.isEmpty ? nil : edited[segment]
        return rows?.isHeld(vector: vector, column) ?? false
    }

    func isEdited(_ segment: Int) -> Bool { segment < edited.count && edited[segment] != nil }

    // MARK: Keeping up with what the transaction writes

    /// Writes the rows that the bulk writer still holds, so that they can be read, and takes over what the transaction has written.
    func settleBulk() {
        guard seen.load(ordering: .acquiring) != mark.structures || writer?.isWaiting ?? false else { return }
        transaction.sharing.withLock {
            if let writer { finish { () throws(FirnError) in try writer.finish() } }
            if seen.load(ordering: .relaxed) != mark.structures { keepUp() }
        }
    }

    /// Writes the rows of this type and of all types that it leads to.
    private func settleReached() {
        transaction.sharing.withLock { finish { () throws(FirnError) in try transaction.finishBulk(reachedFrom: index) } }
    }

    private func finish(_ body: () throws(FirnError) -> Void) {
        // Once only: other threads may be reading the error.
        guard failure == nil else { return }
        do throws(FirnError) { try body() } catch {
            failure = Damage("rows cannot be written: \(error.message)", isUnread: error.code != .damaged)
        }
    }

    /// The caller holds the lock of the transaction, or no other thread reads.
    private func keepUp() {
        let now = transaction.structures
        core = transaction.current()
        bounds = nil
        last = nil
        lastChanged = nil
        segments.withLock { $0 = [:] }
        if !edited.isEmpty { while edited.count < sealedCount { edited.append(nil) } }
        rowStamp &+= 1
        // Last: other threads may read from now on.
        seen.store(now, ordering: .releasing)
    }

    /// The companions of columns of dates, by the position of the column.
    var dateCompanions: [Int: Int] {
        if let known = knownDateCompanions { return known }
        let found = type.scalarCompanions.filter { type.columns[$0.key].type.kind == .date }
        knownDateCompanions = found
        return found
    }
    @exclusivity(unchecked) private var knownDateCompanions: [Int: Int]?

    /// Called when all changes have been written: they are read from the written form from now on.
    func begin() {
        hasBegunAnew = true
        isEditing = false
        transaction.editedTables.remove(index)
        type = transaction.schema.types[index]
        knownDateCompanions = nil
        columnStamps = type.columns.indices.map { $0 < columnStamps.count ? columnStamps[$0] : 0 }
        edited = []
        keepUp()
        tail = WorkingTable.tail(of: transaction, index, core)
    }

    /// Called when the state of the transaction has changed, but nothing of this type.
    func follow() { if seen.load(ordering: .acquiring) != mark.structures { keepUp() } }

    /// Called before rows are added, changed or deleted.
    @inline(__always)
    func noteEdits() {
        if isEditing { return }
        isEditing = true
        transaction.editedTables.insert(index)
    }

    /// Called when the tail has been written as sealed rows.
    func emptyTail() {
        tail = WorkingRows(
            owner: transaction.number, types: tail.types, base: nil, baseCount: 0, firstGrown: transaction.states[index].nextRowID,
            counts: tail.counts)
        segments.withLock { $0 = [:] }
        rowStamp &+= 1
    }

    /// Called when the rows of the tail have been written to the delta store. If the older ones of them were never read, all of them are
    /// read from there.
    func noteTailWritten() {
        if tail.needsBase { tail = WorkingTable.tail(of: transaction, index, transaction.current()) }
    }

    /// Reads the rows of the delta store, unless they have been read.
    func needTail() throws(Damage) {
        guard tail.needsBase else { return }
        try transaction.sharing.withLock { () throws(Damage) in
            if tail.needsBase { tail.take(base: try transaction.current().delta(type: index)) }
        }
    }

    // MARK: Rows

    /// Returns the segment and position of a live row, or nil if there is none with this id.
    package func location(of rowID: Int64) throws(Damage) -> RowLocation? {
        guard let found = try locate(rowID), found.rows.isLive(found.position) else { return nil }
        return RowLocation(segment: found.segment, position: found.position)
    }

    /// Returns where a row is stored, deleted or not.
    @inline(__always)
    private func locate(_ rowID: Int64) throws(Damage) -> (rows: any StoredRows, segment: Int, position: Int)? {
        if rowID >= tail.firstGrown, tail.rowCount > tail.baseCount {
            guard let position = try tail.position(of: rowID) else { return nil }
            return (tail, sealedCount, position)
        }
        return try search(rowID)
    }

    private func search(_ rowID: Int64) throws(Damage) -> (rows: any StoredRows, segment: Int, position: Int)? {
        settleBulk()
        if let failure { throw failure }
        if bounds == nil {
            bounds = try (0..<sealedCount).mapTyped { (i) throws(Damage) in
                let entry = try core.directoryEntry(type: index, index: i)
                return (entry.firstRowID, entry.lastRowID)
            }
        }
        if let last, bounds![last.index].first <= rowID, rowID <= bounds![last.index].last {
            return try last.rows.position(of: rowID).map { (last.rows, last.index, $0) }
        }
        var low = 0, high = bounds!.count
        while low < high {
            let middle = (low + high) / 2
            if bounds![middle].last < rowID { low = middle + 1 } else { high = middle }
        }
        if low == bounds!.count {
            try needTail()
            return try tail.position(of: rowID).map { (tail, low, $0) }
        }
        guard bounds![low].first <= rowID else { return nil }
        let rows = try rows(low)
        last = (low, rows)
        return try rows.position(of: rowID).map { (rows, low, $0) }
    }

    package func word(at location: RowLocation, _ column: Int) throws(Damage) -> Int64? {
        let segment = location.segment, position = location.position
        if segment >= sealedCount {
            if position < tail.baseCount { try needTail() }
            return try tail.word(at: position, column)
        }
        if let lastChanged, lastChanged.index == segment { return try lastChanged.rows.word(at: position, column) }
        if let last, last.index == segment { return try last.rows.word(at: position, column) }
        let rows = try rows(segment)
        last = (segment, rows)
        return try rows.word(at: position, column)
    }

    package func real(at location: RowLocation, _ column: Int) throws(Damage) -> Double? {
        let segment = location.segment, position = location.position
        if segment >= sealedCount {
            if position < tail.baseCount { try needTail() }
            return try tail.real(at: position, column)
        }
        if let lastChanged, lastChanged.index == segment { return try lastChanged.rows.real(at: position, column) }
        if let last, last.index == segment { return try last.rows.real(at: position, column) }
        let rows = try rows(segment)
        last = (segment, rows)
        return try rows.real(at: position, column)
    }

    /// Returns the live row with this id, ready to be changed.
    /// - Throws: `.notFound` if it does not exist or is deleted.
    func writable(_ rowID: Int64) throws(FirnError) -> (rows: WorkingRows, position: Int) {
        mark.checkOpen()
        noteEdits()
        if lastChanged != nil {
            let position = Int(truncatingIfNeeded: rowID &- lastChanged!.first), rows = lastChanged!.rows
            if position >= 0, position < rows.baseCount, rows.isLive(position) { return (rows, position) }
        }
        let found = try transaction.reading { () throws(Damage) in try locate(rowID) }
        guard let found else { throw FirnError(.notFound, "no row \(rowID)") }
        guard found.rows.isLive(found.position) else { throw FirnError(.notFound, "row \(rowID) is deleted") }
        if found.segment == sealedCount { return (tail, found.position) }
        let rows: WorkingRows
        if let own = found.rows as? WorkingRows, own.owner == transaction.number {
            rows = own
        } else {
            rows = edit(found.segment, found.rows)
        }
        lastChanged = (rows.base as? StoredSegment).flatMap { $0.rowIDs == nil ? (found.segment, rows, $0.header.firstRowID) : nil }
        return (rows, found.position)
    }

    private func edit(_ segment: Int, _ rows: any StoredRows) -> WorkingRows {
        let number = transaction.number
        let working =
            (rows as? WorkingRows).map { WorkingRows(successorOf: $0, owner: number) }
            ?? WorkingRows(
                owner: number, types: type.columns.map(\.type.stored), base: rows, baseCount: rows.rowCount, firstGrown: .max,
                counts: transaction.database.counts)
        if edited.isEmpty { edited = Array(repeating: nil, count: sealedCount) }
        edited[segment] = working
        last = (segment, working)
        segments.withLock { $0[segment] = nil }
        return working
    }

    func noteChange(_ column: Int, isFirst: Bool) {
        changeCount &+= 1
        if isFirst { columnStamps[column] &+= 1 }
    }

    func noteRows() {
        changeCount &+= 1
        rowStamp &+= 1
    }
}
