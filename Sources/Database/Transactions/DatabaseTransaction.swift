import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads
import Synchronization

/// One transaction: changes that become the next version together, or are cancelled together. Used from one thread at a time, except that
/// several threads of a query may read its tables.
///
/// Rows that are written one by one are stored in the delta store; `bulkWriter` builds sealed segments. A transaction that is released
/// without `commit` changes nothing.
package final class DatabaseTransaction {
    let database: Database
    let store: StoreTransaction
    /// Distinguishes the objects in memory that this transaction may change from those of other transactions.
    let number: UInt64
    private let baseOwner: CoreOwner
    /// The version that the transaction began from.
    var base: SnapshotCore { baseOwner.core }
    package internal(set) var schema: Schema
    @exclusivity(unchecked) var states: [Catalogue.TypeState]
    /// How the encoders of this transaction trade size for time.
    package var profile = Profile.standard
    /// About how much memory encoding a segment may take before it gets fewer rows.
    var segmentBytes = BulkWriter.segmentBytes
    let threads: Int
    /// Which versions stay readable; nil: as the database object or the file specifies.
    var retention: Retention?
    /// In a compaction that keeps several versions, the segments that later versions may use again.
    var spares: SpareSegments?
    /// The time of the commit; nil: the current time.
    var time: Int64?
    /// Whether a small new file may be an inline file.
    var mayBeInline = true
    var schemaIsNew = false
    /// The schema that was written before the rows (see `SegmentProof`).
    var earlySchema: (schema: Schema, ref: ExtentRef)?
    var tables: [Int: WorkingTable] = [:]
    /// The types whose tables may hold changes that are not written.
    var editedTables: Set<Int> = []
    /// The number of calls of `renewTables` that left the other tables as they were.
    private var renewals = 0
    var bulkWriters: [Int: BulkWriter] = [:]
    private var readable: SnapshotCore?
    /// See `DatabaseTransaction+Parts`.
    var kept: KeptPart?
    /// The entries to be added to indexes, by type and in the order of its indexes (see `DatabaseTransaction+Indexes`).
    var entering: [Int: [IndexEntries]] = [:]
    /// Types with rows that were taken over from another version, so that key indexes do not cover the new version.
    var unsettled: Set<Int> = []
    /// Types with rows that were taken over from another version, so that rows that are open in memory are not valid any more.
    var retaken: Set<Int> = []
    /// Keys, by type (see `DatabaseTransaction+Keys`).
    var keys: [Int: TransactionKeys] = [:]
    /// Counts the writes after which readers of the transaction must read from other extents than before.
    var structures: Int { mark.structures }
    let mark = TransactionMark()
    private(set) var ended: Bool {
        get { mark.hasEnded }
        set { mark.hasEnded = newValue }
    }
    private(set) var home: TransactionHome!
    /// Held while a read creates state that other reads share: tables, the rows of the delta store, segments of rows that wait in a bulk
    /// writer.
    let sharing = Lock()

    private static let numbers = Atomic<UInt64>(0)

    init(_ database: Database, _ store: StoreTransaction, threads: Int) throws(FirnError) {
        self.database = database
        self.store = store
        self.threads = threads
        number = DatabaseTransaction.numbers.add(1, ordering: .relaxed).newValue
        do throws(Damage) {
            baseOwner = try database.core(of: store.base)
        } catch {
            store.cancel()
            throw database.failure(error)
        }
        schema = baseOwner.core.schema
        states = baseOwner.core.catalogue.types
        home = TransactionHome(self)
        if let damage = states.lazy.compactMap(\.indexDamage).first {
            store.cancel()
            throw database.failure(damage)
        }
        if states.contains(where: { $0.inner != nil }) || (store.base.catalogue != .none && base.catalogue.schemaRef == .none) {
            schemaIsNew = true
            try writeOutInner()
        }
    }

    deinit {
        if !ended { store.cancel() }
        readable?.close()
        mark.isGone = true
    }

    func checkOpen() { mark.checkOpen() }

    // MARK: Schema

    /// Adds types, and columns to existing types, which are given with all their columns and are identified by name. Existing columns keep
    /// their ids; new types and columns get theirs. Throws `.schema` if an existing column is missing or has another type.
    package func extendSchema(_ types: [TypeSchema]) throws(FirnError) {
        checkOpen()
        // The changes so far have the old columns.
        let written = try writeEdits()
        try finishBulk()
        var changed: [Int] = []
        for wanted in types {
            if let index = schema.types.firstIndex(where: { $0.name == wanted.name }) {
                if try extend(index, to: wanted) { changed.append(index) }
            } else {
                changed.append(schema.types.count)
                var type = wanted
                type.id = (schema.types.map(\.id).max() ?? 0) + 1
                for i in type.columns.indices { type.columns[i].id = UInt32(i + 1) }
                schema.types.append(type)
                states.append(Catalogue.TypeState())
                schemaIsNew = true
            }
        }
        // Before anything else is written: the changes in the tables are written already, and must not be written again.
        forgetReadable()
        for type in written.union(changed) { tables[type]?.begin() }
        try markIndexes(wanted: types)
        guard schema.types.count <= Int(UInt16.max) else {
            throw FirnError(.schema, "a file holds at most \(UInt16.max) types, not \(schema.types.count)")
        }
        do throws(Damage) { try schema.validate(changed: changed) } catch { throw FirnError(.schema, error.what) }
        forgetReadable()
        // Marks of indexes may have changed, too.
        let marked = types.lazy.map { self.index(of: $0.name) }.filter {
            self.tables[$0].map { $0.type != self.schema.types[$0.index] } ?? false
        }
        renewTables(written.union(changed).union(marked))
    }

    /// Makes tables that are in use read what is written now. The changes of those in `written` have been written.
    ///
    /// A transaction that adds thousands of types one by one does this each time. Other tables get the new state when they are next read, or
    /// here after some calls, so that they do not hold many old states.
    func renewTables(_ written: Set<Int>) {
        for type in written { tables[type]?.begin() }
        renewals += 1
        guard renewals > 16 else { return }
        renewals = 0
        for table in tables.values { table.follow() }
    }

    /// Gives a file without a schema a whole schema, including its ids.
    func adopt(_ whole: Schema) throws(FirnError) {
        trap(unless: schema.types.isEmpty, "only a new file can adopt a schema")
        schema = whole
        states = whole.types.map { type in
            var state = Catalogue.TypeState()
            state.indexes = IndexState.marked(type)
            return state
        }
        schemaIsNew = true
    }

    /// Returns whether the type has changed.
    private func extend(_ index: Int, to wanted: TypeSchema) throws(FirnError) -> Bool {
        var type = schema.types[index]
        for (i, column) in type.columns.enumerated() {
            if type.isCompanion(i), wanted.index(of: column.name) == nil { continue }
            guard let same = wanted.index(of: column.name) else {
                throw FirnError(
                    .schema, "column \"\(column.name)\" of type \"\(type.name)\" is in the file, but not in the given schema",
                    at: .init(file: database.path), advice: "add the column to the schema, or migrate the file")
            }
            let given = wanted.columns[same].type
            guard given == column.type else {
                throw FirnError(
                    .schema,
                    "column \"\(column.name)\" of type \"\(type.name)\" is \(column.type.name) in the file and \(given.name) in the given schema"
                )
            }
        }
        let last = type.columns.map(\.id).max() ?? 0
        var added = wanted.columns.filter { type.index(of: $0.name) == nil }
        for i in added.indices { added[i].id = last + UInt32(i) + 1 }
        if !added.isEmpty { schemaIsNew = true }
        type.columns += added
        guard type != schema.types[index] else { return false }
        schema.types[index] = type
        return true
    }

    func index(of type: String) -> Int {
        guard let index = schema.types.firstIndex(where: { $0.name == type }) else {
            trap("type \"\(type)\" is not in the schema: call extendSchema first")
        }
        return index
    }

    // MARK: Rows and bulk

    /// Returns the rows of a type, which are read and written in place. The type must be in the schema.
    package func table(_ type: String) -> WorkingTable { table(index(of: type)) }

    func table(_ type: Int) -> WorkingTable {
        sharing.withLock {
            if let table = tables[type] { return table }
            let table = WorkingTable(self, type: type)
            tables[type] = table
            return table
        }
    }

    /// Assigns the next row id of a type to a row, which counts as live from now on.
    @inline(__always)
    func giveRowID(_ type: Int) -> Int64 {
        let rowID = states[type].nextRowID
        states[type].nextRowID = rowID + 1
        states[type].liveRows += 1
        return rowID
    }

    func giveRowIDs(_ type: Int, count: Int) -> Int64 {
        let first = states[type].nextRowID
        states[type].nextRowID += Int64(count)
        states[type].liveRows += count
        return first
    }

    func skipRowIDs(_ type: Int, to rowID: Int64) { states[type].nextRowID = max(states[type].nextRowID, rowID) }

    /// The rows of a type if the transaction has used them; otherwise nil.
    func openTable(_ type: Int) -> WorkingTable? { tables[type] }

    /// Returns the writer that appends many rows to a type. Rows of the type in the delta store are sealed first, so that row ids ascend.
    package func bulkWriter(_ type: String) throws(FirnError) -> BulkWriter {
        checkOpen()
        let index = index(of: type)
        if bulkWriters[index] == nil, states[index].deltaRows > 0 || tables[index] != nil { try sealTail(index) }
        return writer(index)
    }

    func writer(_ type: Int) -> BulkWriter {
        if let writer = bulkWriters[type] { return writer }
        let writer = BulkWriter(self, type: type, profile: profile)
        bulkWriters[type] = writer
        tables[type]?.writer = writer
        return writer
    }

    func finishBulk() throws(FirnError) {
        for (_, writer) in bulkWriters.sorted(by: { $0.key < $1.key }) { try writer.finish() }
    }

    /// Finishes the writer of one type, so that its rows can be read.
    func finishBulk(of type: Int) throws(FirnError) { try bulkWriters[type]?.finish() }

    /// Finishes the writers of a type and of all types that its columns lead to, so that a query which follows them writes nothing while its
    /// threads read. The caller holds `sharing`.
    func finishBulk(reachedFrom type: Int) throws(FirnError) {
        guard bulkWriters.values.contains(where: \.isPending) else { return }
        var reached: Set<Int> = [type], waiting = [type]
        while let next = waiting.popLast() {
            try bulkWriters[next]?.finish()
            for column in schema.types[next].columns {
                guard let name = column.type.target, let target = schema.types.firstIndex(where: { $0.name == name }) else { continue }
                if reached.insert(target).inserted { waiting.append(target) }
            }
        }
    }

    /// Runs reads of the file, and converts damage to an error for users.
    func reading<R>(_ body: () throws(Damage) -> R) throws(FirnError) -> R {
        do throws(Damage) { return try body() } catch { throw database.failure(error) }
    }

    /// Appends sealed segments to a type's directory.
    func addSegments(_ added: [DirectoryEntry], type: Int) throws(FirnError) {
        guard !added.isEmpty else { return }
        try directoryChange(type) { (entries) throws(FirnError) in entries += added }
    }

    func write(_ bytes: [UInt8]) throws(FirnError) -> ExtentRef { try store.write(bytes) }

    func inParallel<R: Sendable>(_ count: Int, _ body: (Int) -> R) -> [R] {
        withoutActuallyEscaping(body) { body in
            let body = Unshared(body)
            return parallelMap(count: count, threads: threads) { (index: Int) throws(Never) -> R in body.value(index) }
        }
    }

    /// The same, beginning with what costs most, so that no thread works alone at the end. `costs` are compared only with each other.
    func inParallel<R: Sendable>(costs: [Int], _ body: (Int) -> R) -> [R] {
        let order = costs.indices.sorted { costs[$0] > costs[$1] }, done = inParallel(costs.count) { body(order[$0]) }
        return zip(order, done).sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns the written state of the transaction (sealed segments and delta store), readable like a snapshot. It is reused until that
    /// changes. Threads that only read must hold `sharing`.
    func current() -> SnapshotCore {
        if structures == 0 { return base }
        if let readable { return readable }
        let core = SnapshotCore(
            store, catalogue: Catalogue(schemaRef: .none, types: statesToRead), schema: schema, taking: base.openRows(version: 0),
            counts: database.counts)
        readable = core
        return core
    }

    /// Makes the next read see what was written last. Closing breaks the reference cycle between a core and its open segments.
    func forgetReadable() {
        readable?.close()
        readable = nil
        mark.noteStructure()
    }

    // MARK: End

    /// Pins the version that the transaction began from. It can be a pending version, which other processes do not see yet.
    package func baseSnapshot() throws(FirnError) -> DatabaseSnapshot {
        checkOpen()
        return DatabaseSnapshot(
            try store.store.snapshot(like: store.base), baseOwner, path: database.path, key: database.key, keys: database.keys)
    }

    /// Makes the changes the newest version, also if there are none, and returns its number. `durability` determines whether the version is
    /// durable when the function returns. If it throws, the transaction is cancelled.
    @discardableResult
    package func commit(durability: Durability = .full) throws(FirnError) -> UInt64 {
        checkOpen()
        store.clearMark()
        if let lasting = database.lasting, lasting != store.retention { store.retain(lasting) }
        do throws(FirnError) {
            if isHistoryOnly {
                let version = try store.commit(
                    catalogue: store.base.catalogue, retention: retention ?? database.keep, time: time, durability: durability)
                ended = true
                return version
            }
            try writeEdits()
            try finishBulk()
            for type in states.indices { try flush(type) }
            try writeIndexes()
            if let full = states.firstIndex(where: { $0.nextRowID >= Catalogue.maximumRowIDs }) {
                throw FirnError(.unsupported, "no row ids are left for type \"\(schema.types[full].name)\"", at: .init(file: database.path))
            }
            guard states.allSatisfy(\.canBeWritten) else {
                throw database.failure(Damage("the counts of the catalogue do not match the rows"))
            }
            if schemaIsNew, schema.types.contains(where: { $0.columns.contains(where: \.hasAttributes) }) {
                store.require(.columnAttributes)
            }
            if schemaIsNew, !schema.otherAttributes.isEmpty || schema.types.contains(where: { !$0.otherAttributes.isEmpty }) {
                store.require(.fileAttributes)
            }
            if let inline = try inlineCatalogue() {
                let version = try store.commitInline(inline)
                ended = true
                return version
            }
            var schemaRef = base.catalogue.schemaRef
            if schemaIsNew {
                if schemaRef != .none { store.free(schemaRef) }
                try writeSchemaEarly(always: true)
                schemaRef = earlySchema!.ref
            }
            if store.base.catalogue != .none { store.free(store.base.catalogue) }
            let catalogue = Catalogue(schemaRef: schemaRef, types: states)
            let written = try write(catalogue.encoded), settled = try settleKeys()
            let version = try store.commit(catalogue: written, retention: retention ?? database.keep, time: time, durability: durability)
            ended = true
            for index in settled { index.cover(version: version) }
            database.keep(openRows(version: version, catalogue))
            return version
        } catch {
            cancel()
            throw error
        }
    }

    /// Drops every change and leaves the file unchanged. Has no effect if the transaction has ended.
    package func cancel() {
        guard !ended else { return }
        ended = true
        store.cancel()
    }
}

/// The other tables of a transaction, for its segments.
final class TransactionHome: TableHome, @unchecked Sendable {
    private unowned let transaction: DatabaseTransaction

    init(_ transaction: DatabaseTransaction) { self.transaction = transaction }

    var schema: Schema { transaction.schema }
    var isFixed: Bool { false }
    var counts: ReadCounts { transaction.database.counts }
    func embeddedTable(of column: ColumnSchema) throws(Damage) -> any Table {
        guard let index = schema.types.firstIndex(where: { $0.name == column.type.target }) else {
            throw Damage("type \"\(column.type.target ?? "")\" is missing")
        }
        return transaction.table(index)
    }
}
