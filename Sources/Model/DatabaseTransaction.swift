import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore

/// One transaction: changes that become the next version all at once, or not at all. Used from one thread at a time.
///
/// Rows written one by one go to the delta; `bulkWriter` builds sealed segments. Dropped without `commit`, it changes nothing.
package final class DatabaseTransaction {
    /// The delta of a type is sealed into segments when it holds more rows, or more bytes, than this.
    static let deltaRows = 65_536
    static let deltaBytes = 1 << 20

    let database: Database
    let store: StoreTransaction
    /// The version that the transaction began from.
    let base: SnapshotCore
    package private(set) var schema: Schema
    var states: [Catalogue.TypeState]
    /// How what is encoded in this transaction trades size for time.
    package var profile = Profile.standard
    private let threads: Int
    private var schemaIsNew = false
    private var pending: [Int: [Int64: DeltaRecord]] = [:]
    private var bulkWriters: [Int: BulkWriter] = [:]
    private var readable: SnapshotCore?
    /// What is known of keys, by type: `DatabaseTransaction+Keys`.
    var keys: [Int: TransactionKeys] = [:]
    private var ended = false

    init(_ database: Database, _ store: StoreTransaction, threads: Int) throws(FirnError) {
        self.database = database
        self.store = store
        self.threads = threads
        do throws(Damage) {
            base = try SnapshotCore(store.base, catalogueRef: store.base.catalogue)
        } catch {
            store.cancel()
            throw database.failure(error)
        }
        schema = base.schema
        states = base.catalogue.types
        if states.contains(where: { $0.inner != nil }) || (store.base.catalogue != .none && base.catalogue.schemaRef == .none) {
            schemaIsNew = true
            try writeOutInner()
        }
    }

    deinit {
        if !ended { store.cancel() }
        base.close()
        readable?.close()
    }

    // MARK: Schema

    /// Adds types and adds columns to types (given whole, by name). Columns keep their ids; new types and columns receive theirs.
    /// Throws `.schema` if an existing column is missing or of another type.
    package func extendSchema(_ types: [TypeSchema]) throws(FirnError) {
        forgetReadable()
        for wanted in types {
            if let index = schema.types.firstIndex(where: { $0.name == wanted.name }) {
                try extend(index, to: wanted)
            } else {
                var type = wanted
                type.id = (schema.types.map(\.id).max() ?? 0) + 1
                for i in type.columns.indices { type.columns[i].id = UInt32(i + 1) }
                schema.types.append(type)
                states.append(Catalogue.TypeState())
                schemaIsNew = true
            }
        }
        guard schema.types.count <= Int(UInt16.max) else { throw FirnError(.schema, "a file holds at most \(UInt16.max) types, not \(schema.types.count)") }
        do throws(Damage) { try schema.validate() } catch { throw FirnError(.schema, error.what) }
    }

    /// Takes a whole schema, ids and all, into a file that has none.
    func adopt(_ whole: Schema) throws(FirnError) {
        precondition(schema.types.isEmpty, "only a new file can adopt a schema")
        schema = whole
        states = Array(repeating: Catalogue.TypeState(), count: whole.types.count)
        schemaIsNew = true
    }

    private func extend(_ index: Int, to wanted: TypeSchema) throws(FirnError) {
        var type = schema.types[index]
        for column in type.columns {
            guard let same = wanted.columns.first(where: { $0.name == column.name }), same.type == column.type else {
                throw FirnError(.schema, "column '\(column.name)' of type '\(type.name)' is missing or of another type (here \(column.type.name))")
            }
        }
        for column in wanted.columns where type.index(of: column.name) == nil {
            var added = column
            added.id = (type.columns.map(\.id).max() ?? 0) + 1
            type.columns.append(added)
            schemaIsNew = true
        }
        if type != schema.types[index] { schema.types[index] = type }
    }

    func index(of type: String) -> Int {
        guard let index = schema.types.firstIndex(where: { $0.name == type }) else {
            preconditionFailure("type '\(type)' is not in the schema: call extendSchema first")
        }
        return index
    }

    // MARK: Bulk

    /// The writer that appends many rows to a type. Rows of the type that stand in the delta are sealed first, so that ids ascend.
    package func bulkWriter(_ type: String) throws(FirnError) -> BulkWriter {
        let index = index(of: type)
        if let writer = bulkWriters[index] { return writer }
        try writePending(index)
        try sealDelta(index)
        let writer = BulkWriter(self, type: index, profile: profile)
        bulkWriters[index] = writer
        return writer
    }

    func finishBulk() throws(FirnError) {
        for (_, writer) in bulkWriters.sorted(by: { $0.key < $1.key }) { try writer.finish() }
        bulkWriters = [:]
    }

    /// Finishes the writer of one type, so that its rows can be read.
    func finishBulk(of type: Int) throws(FirnError) {
        guard let writer = bulkWriters[type] else { return }
        try writer.finish()
        bulkWriters[type] = nil
    }

    /// Runs reads of the file; what is damaged there is thrown as users see it.
    func reading<R>(_ body: () throws(Damage) -> R) throws(FirnError) -> R {
        do throws(Damage) { return try body() } catch { throw database.failure(error) }
    }

    /// Appends sealed segments to a type's directory.
    func addSegments(_ added: [DirectoryEntry], type: Int, rows: Int, nextRowID: Int64) throws(FirnError) {
        states[type].liveRows += rows
        states[type].nextRowID = nextRowID
        forgetReadable()
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

    // MARK: Rows

    /// Inserts one row: a value for each column of the type, embedded objects as `.object`. Returns its row id.
    @discardableResult
    package func insert(_ type: String, _ values: [Value]) throws(FirnError) -> Int64 {
        try insert(index(of: type), values)
    }

    private func insert(_ type: Int, _ values: [Value]) throws(FirnError) -> Int64 {
        precondition(values.count == schema.types[type].columns.count, "give a value for each column of '\(schema.types[type].name)'")
        try finishBulk(of: type)
        for (column, value) in zip(schema.types[type].columns, values) { try check(value, column) }
        let key = try freeKey(type, of: values)
        var stored: [(column: UInt32, value: Value)] = []
        for (column, value) in zip(schema.types[type].columns, values) { stored.append((column.id, try store(value, column))) }
        let rowID = states[type].nextRowID
        states[type].nextRowID += 1
        states[type].liveRows += 1
        states[type].deltaRows += 1
        pending[type, default: [:]][rowID] = DeltaRecord(.row, stored)
        noteKey(key, type, rowID)
        return rowID
    }

    /// Throws `.schema` unless the value fits its column, embedded objects to their last field. Changes nothing: a value that is refused
    /// must not leave half of its objects behind.
    private func check(_ value: Value, _ column: ColumnSchema) throws(FirnError) {
        let refusal = FirnError(.schema, "column '\(column.name)' takes \(column.type.name), not \(value)")
        guard column.type.kind == .embedded, !value.isNull else {
            if column.type.kind == .embedded ? column.type.isOptional : Column(column.type).fits(value) { return }
            throw refusal
        }
        var element = column
        element.type = column.type.element
        switch (column.type.collection, value) {
        case (.none, .object(let entries)):
            let target = schema.types[index(of: column.type.target!)]
            for (i, entry) in entries.enumerated() { try check(entry.value, target.columns[try place(of: entry, i, in: target)]) }
        case (.list, .list(let values)): for value in values { try check(value, element) }
        case (.map, .map(let entries)): for entry in entries { try check(entry.value, element) }
        default: throw refusal
        }
    }

    /// The field that entry `i` of an object names (or, unnamed, stands for).
    private func place(of entry: Value.Entry, _ i: Int, in target: TypeSchema) throws(FirnError) -> Int {
        let place = entry.key.isEmpty ? (i < target.columns.count ? i : nil) : target.index(of: entry.key)
        guard let place else { throw FirnError(.schema, "type '\(target.name)' has no column '\(entry.key)'") }
        return place
    }

    /// A checked value as a delta record keeps it: embedded objects inserted into their own type.
    private func store(_ value: Value, _ column: ColumnSchema) throws(FirnError) -> Value {
        column.type.kind == .embedded ? try embed(value, column) : value
    }

    private func embed(_ value: Value, _ column: ColumnSchema) throws(FirnError) -> Value {
        let target = index(of: column.type.target!)
        switch value {
        case .object(let entries):
            let fields = schema.types[target].columns
            var values = Array(repeating: Value.null, count: fields.count)
            for (i, entry) in entries.enumerated() {
                values[try place(of: entry, i, in: schema.types[target])] = entry.value
            }
            for (i, field) in fields.enumerated() where values[i].isNull && !field.type.isOptional { values[i] = Column.absentValue(field.type) }
            return .link(try insert(target, values))
        case .list(let elements):
            return .list(try elements.mapTyped { (element) throws(FirnError) in try embed(element, column) })
        case .map(let entries):
            return .map(try entries.mapTyped { (entry) throws(FirnError) in Value.Entry(entry.key, try embed(entry.value, column)) })
        default: return value
        }
    }

    /// Sets one value of a row. Embedded objects that it replaces are deleted.
    package func update(_ type: String, rowID: Int64, column name: String, _ value: Value) throws(FirnError) {
        let type = index(of: type)
        guard let column = schema.types[type].columns.first(where: { $0.name == name }) else {
            throw FirnError(.schema, "type '\(schema.types[type].name)' has no column '\(name)'")
        }
        try check(value, column)
        var record = try existing(type, rowID) ?? DeltaRecord(.update)
        guard record.kind != .deletion else { throw FirnError(.notFound, "row \(rowID) is deleted") }
        if record.kind == .update, record.values.isEmpty { try requireSealed(type, rowID) }
        let key = try freeKey(type, changing: column, to: value, rowID)
        if column.type.kind == .embedded { try deleteEmbedded(in: try storedValue(type, rowID, column), column) }
        let stored = try store(value, column)
        record.update(with: [(column.id, stored)])
        pending[type, default: [:]][rowID] = record
        noteKey(key, type, rowID)
    }

    /// Deletes one row, and the embedded objects that belong to it.
    package func delete(_ type: String, rowID: Int64) throws(FirnError) { try delete(index(of: type), rowID) }

    private func delete(_ type: Int, _ rowID: Int64) throws(FirnError) {
        let record = try existing(type, rowID)
        if record == nil { try requireSealed(type, rowID) }
        if record?.kind == .deletion { throw FirnError(.notFound, "row \(rowID) is deleted") }
        for column in schema.types[type].columns where column.type.kind == .embedded {
            try deleteEmbedded(in: try storedValue(type, rowID, column), column)
        }
        states[type].liveRows -= 1
        if record?.kind == .row { states[type].deltaRows -= 1 }
        pending[type, default: [:]][rowID] = DeltaRecord(.deletion)
    }

    private func deleteEmbedded(in value: Value, _ column: ColumnSchema) throws(FirnError) {
        let target = index(of: column.type.target!)
        switch value {
        case .link(let rowID): try delete(target, rowID)
        case .list(let values): for case .link(let rowID) in values { try delete(target, rowID) }
        case .map(let entries): for entry in entries { if case .link(let rowID) = entry.value { try delete(target, rowID) } }
        default: break
        }
    }

    /// What this transaction or the base's delta says of a row.
    func existing(_ type: Int, _ rowID: Int64) throws(FirnError) -> DeltaRecord? {
        if let record = pending[type]?[rowID] { return record }
        guard states[type].delta != .none else { return nil }
        return try reading { () throws(Damage) in try TreeReader(root: states[type].delta, source: store).get(UInt64(rowID)).map { (bytes) throws(Damage) in try DeltaRecord(bytes) } }
    }

    private func sealed(_ type: Int, _ rowID: Int64) throws(FirnError) -> (segment: StoredSegment, row: Int)? {
        try finishBulk()
        return try written(type, rowID)
    }

    /// Where a row of a sealed segment stands; nil if it is in none.
    func written(_ type: Int, _ rowID: Int64) throws(FirnError) -> (segment: StoredSegment, row: Int)? {
        try reading { () throws(Damage) in
            let core = try current()
            guard let index = try StoredTable(core, type: type, keeper: nil).segmentIndex(of: rowID), index < states[type].segmentCount else { return nil }
            let segment = try core.segment(type: type, index: index)
            return try segment.position(of: rowID).map { (segment, $0) }
        }
    }

    private func requireSealed(_ type: Int, _ rowID: Int64) throws(FirnError) {
        guard let (segment, row) = try sealed(type, rowID), segment.live?[row] ?? true else { throw FirnError(.notFound, "no row \(rowID)") }
    }

    /// The row's value as it stands now, embedded objects as links.
    private func storedValue(_ type: Int, _ rowID: Int64, _ column: ColumnSchema) throws(FirnError) -> Value {
        if let record = try existing(type, rowID) {
            if let value = record.value(of: column.id) { return value }
            if record.kind == .row { return Column.absentValue(column.type) }
        }
        guard let (segment, row) = try sealed(type, rowID),
              let place = schema.types[type].columns.firstIndex(where: { $0.id == column.id }) else { return .null }
        return try reading { () throws(Damage) in try segment.rawColumn(place).value(at: row) }
    }

    /// The transaction's state as far as it is written (sealed segments and delta), readable like a snapshot. Kept until that changes.
    func current() throws(Damage) -> SnapshotCore {
        if let readable { return readable }
        let core = SnapshotCore(store, catalogue: Catalogue(schemaRef: .none, types: states), schema: schema)
        readable = core
        return core
    }

    /// What was written has changed: the next read looks anew. (Closing breaks the circle between a core and its open segments.)
    func forgetReadable() {
        readable?.close()
        readable = nil
    }

    // MARK: End

    /// Moves a type's pending records into its delta tree.
    func writePending(_ type: Int) throws(FirnError) {
        guard let records = pending[type], !records.isEmpty else { return }
        pending[type] = nil
        let sealedEnd = try lastSealedRowID(type)
        let tree = TreeWriter(root: states[type].delta, transaction: store)
        for (rowID, record) in records.sorted(by: { $0.key < $1.key }) {
            let key = UInt64(rowID)
            let old = try reading { () throws(Damage) in try tree.get(key) }
            if let old { states[type].deltaBytes -= min(states[type].deltaBytes, old.count + 16) }
            if rowID > sealedEnd, record.kind == .deletion {
                _ = try tree.delete(key)
                continue
            }
            let bytes = record.encoded
            if rowID <= sealedEnd, old == nil {
                states[type].deltaChanges += 1
                try touch(type, rowID)
            }
            states[type].deltaBytes += bytes.count + 16
            try tree.put(key, bytes)
        }
        states[type].delta = try tree.finish()
        forgetReadable()
    }

    private func touch(_ type: Int, _ rowID: Int64) throws(FirnError) {
        let segment = try reading { () throws(Damage) in try StoredTable(try current(), type: type, keeper: nil).segmentIndex(of: rowID) }
        if let segment, segment < states[type].segmentCount { states[type].touch(segment) }
    }

    private func lastSealedRowID(_ type: Int) throws(FirnError) -> Int64 {
        guard states[type].segmentCount > 0 else { return -1 }
        return try reading { () throws(Damage) in
            try DirectoryEntry(try store.read(states[type].directory), states[type].segmentCount - 1).lastRowID
        }
    }

    /// Makes the changes the newest version, durably; returns its number. Nothing changed: the version stays as it is.
    @discardableResult
    package func commit() throws(FirnError) -> UInt64 {
        precondition(!ended, "this transaction has ended: begin another")
        do throws(FirnError) {
            try finishBulk()
            for type in states.indices { try writePending(type) }
            for type in states.indices { try flush(type) }
            if let alone = try aloneCatalogue() {
                let version = try store.commitAlone(alone)
                ended = true
                return version
            }
            var schemaRef = base.catalogue.schemaRef
            if schemaIsNew {
                if schemaRef != .none { store.free(schemaRef) }
                schemaRef = try write(schema.encoded)
            }
            if store.base.catalogue != .none { store.free(store.base.catalogue) }
            let catalogue = try write(Catalogue(schemaRef: schemaRef, types: states).encoded)
            let settled = try settleKeys()
            let version = try store.commit(catalogue: catalogue, keep: database.keep)
            ended = true
            for index in settled { index.cover(version: version) }
            return version
        } catch {
            cancel()
            throw error
        }
    }

    /// Gives up every change. The file is as it was.
    package func cancel() {
        guard !ended else { return }
        ended = true
        store.cancel()
    }
}
