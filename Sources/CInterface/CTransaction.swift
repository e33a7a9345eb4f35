import CArrow
import FirnArrow
import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable
import FirnThreads
import FirnTool

/// A transaction that streams of Arrow are written to. After an error, it can only be released.
final class CTransaction: CReader {
    let process = MakingProcess()
    private let database: Database
    private let transaction: DatabaseTransaction
    private var isEnded = false
    private var failure: FirnError?
    /// The types that rows were added to without a comparison of their keys.
    private var unchecked: Set<String> = []
    /// Whether the commit makes a version.
    private var isChanged = false
    private var metadata = PendingMetadata()
    /// What the caller of a long change is shown.
    var progress = CProgress(nil, nil)

    /// Fewer rows are inserted one by one, because a segment of a few rows would be small.
    private static let bulkRows = 4096

    init(_ database: Database, patience: Double) throws(FirnError) {
        self.database = database
        transaction = try database.begin(
            wait: patience < 0 ? .always : patience == 0 ? .no : .seconds(patience), threads: Processors.count)
    }

    deinit {
        guard !isEnded else { return }
        transaction.cancel()
        guard failure?.code == .noSpace else { return }
        // After a failed write, the file keeps its length until it is opened again.
        _ = try? Database.open(path: database.path, writable: true, key: database.key)
    }

    /// Runs a change. An error is remembered: what was changed before it must not be committed.
    func change<R>(_ body: () throws(FirnError) -> R) throws(FirnError) -> R {
        if isEnded { throw FirnError(.usage, "the transaction has ended") }
        if let failure {
            throw FirnError(
                .usage, "the transaction failed before: \(failure.description)", advice: "release it, and begin another one")
        }
        do throws(FirnError) { return try body() } catch {
            failure = error
            throw error
        }
    }

    func commit() throws(FirnError) -> UInt64 {
        try change { () throws(FirnError) in
            try applyMetadata()
            if !isChanged {
                let base = try transaction.baseSnapshot().version
                // A new file is made by its first commit, also without changes.
                if base > 0 {
                    transaction.cancel()
                    isEnded = true
                    return base
                }
            }
            for type in unchecked.sorted() {
                try transaction.bulkWriter(type).finish()
                var options = DifferenceOptions()
                options.newName = "the transaction"
                options.execution.threads = Processors.count
                try KeyUniqueness.check(transaction.currentRows(of: type), options: options)
            }
            let version = try transaction.commit()
            isEnded = true
            return version
        }
    }

    // MARK: Rows

    /// Returns a type of the file.
    private func type(_ name: String) throws(FirnError) -> TypeSchema {
        guard let type = transaction.schema[name] else {
            throw CSnapshot.missingType(name, among: transaction.schema.roots.map(\.name), path: database.path)
        }
        guard !type.isEmbedded else { throw FirnError(.usage, "the rows of type \"\(name)\" belong to other rows") }
        return type
    }

    private func keyed(_ name: String) throws(FirnError) -> TypeSchema {
        let type = try type(name)
        guard !type.key.isEmpty else { throw FirnError(.usage, "type \"\(name)\" has no primary key", at: .init(file: database.path)) }
        return type
    }

    private func reader(_ stream: UnsafeMutablePointer<ArrowArrayStream>, _ name: String) throws(FirnError) -> ArrowReader {
        var options = ArrowOptions(typeName: name)
        options.threads = Processors.count
        return try ArrowReader.imported(stream, named: "the stream", options: options)
    }

    /// Calls `body` with the batches of a stream, as columns of the type. Returns the number of rows.
    private func forEachBatch(
        _ stream: UnsafeMutablePointer<ArrowArrayStream>, of type: TypeSchema, only: [Int]? = nil,
        _ body: (Batch, ColumnFit) throws(FirnError) -> Void
    ) throws(FirnError) -> Int {
        try forEachBatch(try reader(stream, type.name), of: type, only: only, body)
    }

    private func forEachBatch(
        _ reader: ArrowReader, from first: Batch? = nil, of type: TypeSchema, only: [Int]? = nil,
        _ body: (Batch, ColumnFit) throws(FirnError) -> Void
    ) throws(FirnError) -> Int {
        let given = reader.schema
        guard let rows = given.roots.first else { throw FirnError(.schema, "the stream has no rows") }
        let fit = try ColumnFit(rows, given, to: type, in: transaction.schema, source: CTransaction.source, only: only)
        if let missing = only?.first(where: { !fit.has($0) }) {
            throw FirnError(
                .schema, "the stream has no column \"\(type.columns[missing].name)\", which is in the key of \"\(type.name)\"",
                at: .init(file: database.path))
        }
        var count = 0
        var next = first
        while true {
            if next == nil { next = try reader.next()?.batch }
            guard let batch = next else { break }
            next = nil
            try body(try fit.fit(batch, after: count), fit)
            count += batch.count
            try progress.report(count, -1)
            try CInterrupt.check()
        }
        // A remark would not be read.
        if let loss = reader.losses.first { throw FirnError(.rejected, "values would be lost: \(loss)", at: .init(file: "the stream")) }
        return count
    }

    private static let interval = 4096
    /// How messages name the rows that are written.
    private static let source = "the stream"

    /// Lets the caller interrupt a loop over rows.
    private func pause(_ row: Int) throws(FirnError) { if row % CTransaction.interval == 0 { try CInterrupt.check() } }

    /// Appends the rows of a stream. A type that does not exist is made, with the columns of the stream and the key.
    func append(_ stream: UnsafeMutablePointer<ArrowArrayStream>, to name: String, key: [String]?) throws(FirnError) -> Int {
        let reader = try reader(stream, name)
        try applyMetadata()
        var first: Batch?
        if transaction.schema[name] == nil {
            first = try reader.next()?.batch
            try create(name, reader.schema, key: key, first)
        }
        let type = try type(name)
        if let key, key != type.key.map({ type.columns[$0].name }) {
            throw FirnError(.schema, "type \"\(name)\" has another key", at: .init(file: database.path))
        }
        return try forEachBatch(reader, from: first, of: type) { (batch, _) throws(FirnError) in
            isChanged = isChanged || batch.count > 0
            guard batch.count < CTransaction.bulkRows else {
                _ = try transaction.bulkWriter(name).append(batch)
                if !type.key.isEmpty { unchecked.insert(name) }
                return
            }
            for row in 0..<batch.count { _ = try transaction.insert(name, batch.columns.map { $0.value(at: row) }) }
        }
    }

    /// Deletes all rows, then appends those of a stream.
    func replace(_ stream: UnsafeMutablePointer<ArrowArrayStream>, in name: String, key: [String]?) throws(FirnError) -> Int {
        if transaction.schema[name] != nil {
            _ = try type(name)
            let rows = transaction.currentRows(of: name)
            var found: [Int64] = []
            do throws(Damage) {
                for index in 0..<rows.segmentCount {
                    let segment = try rows.segment(index), live = segment.live
                    for row in 0..<segment.rowCount where live?[row] ?? true { found.append(try segment.rowID(at: row)) }
                }
            } catch { throw FirnError(error, in: database.path) }
            _ = try delete(found, from: name)
        }
        return try append(stream, to: name, key: key)
    }

    /// Sets metadata of the file, a type or a column; nil removes it. Many entries are set together, because a change of the schema takes time
    /// for all of them; a large value is checked immediately.
    func setMetadata(of owner: String?, _ key: String, _ value: [UInt8]?) throws(FirnError) {
        _ = try MetadataOwner(owner, in: transaction.schema, of: database.path)
        metadata.set(of: owner, key, value)
        if metadata.isLarge { try applyMetadata() }
    }

    private func applyMetadata() throws(FirnError) {
        guard !metadata.isEmpty else { return }
        var schema = transaction.schema
        for (owner, changes) in metadata.take() {
            try MetadataOwner(owner, in: schema, of: database.path).set(changes, in: &schema)
        }
        if schema != transaction.schema {
            try transaction.setAttributes(like: schema)
            isChanged = true
        }
    }

    /// - Parameter first: The first rows of the stream.
    private func create(_ name: String, _ schema: Schema, key: [String]?, _ first: Batch?) throws(FirnError) {
        var types = schema.types
        guard let root = types.firstIndex(where: { !$0.isEmbedded }) else { throw FirnError(.schema, "the stream has no rows") }
        for type in types where type.name != name && transaction.schema[type.name] != nil {
            guard transaction.schema[type.name]?.columns.map(\.name) == type.columns.map(\.name) else {
                throw FirnError(
                    .schema, "the objects of the stream would have the type \"\(type.name)\", which has other columns in the file",
                    at: .init(file: database.path))
            }
        }
        // Sums of DuckDB are integers of 128 bits, nearly always with values of 64 bits. If a later one is greater, that is an error.
        for i in types[root].columns.indices where types[root].columns[i].isLongInteger {
            guard first?.columns[i].hasShortIntegers ?? true else { continue }
            types[root].columns[i].logical = nil
            types[root].columns[i].notation = .plain
            types[root].columns[i].type.kind = .int
        }
        if let key {
            if let twice = key.indices.first(where: { key[..<$0].contains(key[$0]) }) {
                throw FirnError(.usage, "the key has the column \"\(key[twice])\" twice")
            }
            types[root].key = []
            for column in key {
                guard let position = types[root].index(of: column) else {
                    throw FirnError(.usage, "the stream has no column \"\(column)\" for the key")
                }
                types[root].key.append(position)
            }
        }
        try transaction.extendSchema(types)
        isChanged = true
    }

    /// Inserts the rows of a stream, or changes those whose key exists already: the columns that the stream has.
    func upsert(_ stream: UnsafeMutablePointer<ArrowArrayStream>, to name: String) throws(FirnError) -> Int {
        let type = try keyed(name), changes = changes(of: type)
        return try forEachBatch(stream, of: type, only: type.key) { (batch, fit) throws(FirnError) in
            isChanged = isChanged || batch.count > 0
            try changes.upsert(batch, fit, source: CTransaction.source)
        }
    }

    /// Deletes the rows with the keys of a stream. Keys without a row are passed over.
    func delete(keys stream: UnsafeMutablePointer<ArrowArrayStream>, from name: String) throws(FirnError) -> Int {
        let type = try keyed(name)
        var found: [Int64] = []
        _ = try forEachBatch(stream, of: type, only: type.key) { (batch, _) throws(FirnError) in
            for row in 0..<batch.count {
                try pause(row)
                if let known = try transaction.find(name, key: type.key.map { batch.columns[$0].value(at: row) }) { found.append(known) }
            }
        }
        return try delete(Array(Set(found)).sorted(), from: name)
    }

    /// Deletes the rows that match a predicate.
    func delete(where text: String, from name: String) throws(FirnError) -> Int {
        let changes = changes(of: try type(name))
        try changes.delete(matching: QueryRequest(filter: text), threads: Processors.count)
        isChanged = isChanged || changes.removed > 0
        return changes.removed
    }

    private func delete(_ rows: [Int64], from name: String) throws(FirnError) -> Int {
        guard !rows.isEmpty else { return 0 }
        isChanged = true
        try changes(of: try type(name)).delete(rows)
        return rows.count
    }

    private func changes(of type: TypeSchema) -> RowChanges {
        RowChanges(of: type, in: transaction, path: database.path) { (row) throws(FirnError) in
            if row % CTransaction.interval == 0 { try CInterrupt.check() }
        }
    }
}
