import FirnBytes
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable
import Synchronization

/// Collects the rows of a stream as tables, whose rows can be read in any order. They are held in memory as long as they are small; when
/// they are larger, all of them are written to a temporary file without a name (`Database.temporary`), and read there.
final class CollectedTables {
    private let schema: Schema
    /// The name of the input in messages.
    private let name: String
    private let isSecret: Bool
    private let threads: Int
    private var batches: [String: [Batch]] = [:]
    private var heldBytes = 0
    private var file: Database.Temporary?
    private var writers: [String: BulkWriter] = [:]

    /// - Parameter isSecret: Whether the rows are from an encrypted file. The temporary file is then encrypted too.
    init(_ schema: Schema, of name: String, isSecret: Bool, threads: Int) {
        self.schema = schema
        self.name = name
        self.isSecret = isSecret
        self.threads = threads
    }

    /// The bytes of rows of one input that are held in memory: less if `--memory` is low.
    static var maximumHeldBytes: Int { min(64 << 20, MemoryBudget.process.limit / 8) }

    /// Adds the rows of a reader: those of one type, or all if it is nil.
    func add(_ reader: any BatchReader, only wanted: String? = nil) throws(FirnError) {
        while let (type, batch) = try reader.next() {
            if wanted == nil || type == wanted { try add(batch, type) }
        }
    }

    private func add(_ batch: Batch, _ type: String) throws(FirnError) {
        if file != nil { return try write(batch, type) }
        batches[type, default: []].append(batch)
        heldBytes += batch.columns.reduce(0) { $0 + $1.footprint }
        guard heldBytes > CollectedTables.maximumHeldBytes else { return }
        let held = schema.types.map { ($0.name, batches[$0.name] ?? []) }
        batches = [:]
        file = try opened()
        for (type, rows) in held { for batch in rows { try write(batch, type) } }
    }

    private func opened() throws(FirnError) -> Database.Temporary {
        let file: Database.Temporary
        do throws(FirnError) { file = try Database.temporary(isEncrypted: isSecret, threads: threads) } catch {
            throw FirnError(
                error.code == .noSpace ? .noSpace : .inputOutput, "the rows of \(name) need a temporary file: \(error.message)",
                at: .init(file: Database.temporaryFolder), advice: "set TMPDIR to a folder that can be written")
        }
        try storing(file) { () throws(FirnError) in try file.transaction.extendSchema(schema.types) }
        return file
    }

    private func write(_ batch: Batch, _ type: String) throws(FirnError) {
        guard let file else { trap("open the file before rows are written") }
        try storing(file) { () throws(FirnError) in
            let writer: BulkWriter
            if let known = writers[type] {
                writer = known
            } else {
                writer = try file.transaction.bulkWriter(type)
                writers[type] = writer
            }
            _ = try writer.append(batch)
        }
    }

    /// Runs `body`; errors name the input and the folder of the temporary file.
    private func storing<R>(_ file: Database.Temporary, _ body: () throws(FirnError) -> R) throws(FirnError) -> R {
        do throws(FirnError) { return try body() } catch {
            guard error.code == .noSpace || error.code == .inputOutput else { throw error }
            throw FirnError(
                error.code, "the rows of \(name) do not fit into a temporary file: \(error.message)",
                at: .init(file: Database.temporaryFolder),
                advice: "set TMPDIR to a folder with more space")
        }
    }

    /// Returns the tables of all types that are not embedded, by name. Nothing may be added after that.
    func tables() throws(FirnError) -> [String: any Table] {
        var made: [String: any Table] = [:]
        let others = RelatedTables()
        if let file {
            let snapshot = try storing(file) { () throws(FirnError) in
                writers = [:]
                _ = try file.transaction.commit()
                return try file.database.snapshot()
            }
            for type in schema.roots {
                guard let stored = snapshot.table(named: type.name) else { continue }
                made[type.name] = TemporaryTable(stored, type, in: schema, others)
            }
        } else {
            for type in schema.roots {
                made[type.name] = MemoryTable(type, schema: schema, batches: batches[type.name] ?? []) { others[$0] }
            }
            batches = [:]
        }
        others.set(made)
        return made
    }
}

/// The tables that links of collected rows refer to, by type. Links refer to rows by row id, which is the position of the row in its table.
final class RelatedTables: Sendable {
    private let tables: Mutex<[String: WeakTable]> = Mutex([:])

    private struct WeakTable: Sendable {
        weak var table: (any Table)?
    }

    subscript(_ name: String) -> (any Table)? { tables.withLock { $0[name]?.table } }
    func set(_ all: [String: any Table]) { tables.withLock { $0 = all.mapValues { WeakTable(table: $0) } } }
}

/// A table in a temporary file, with the type and the schema of the input.
final class TemporaryTable: Table {
    let type: TypeSchema
    let schema: Schema
    private let stored: StoredTable
    private let others: RelatedTables

    init(_ stored: StoredTable, _ type: TypeSchema, in schema: Schema, _ others: RelatedTables) {
        self.stored = stored
        self.type = type
        self.schema = schema
        self.others = others
    }

    var rowCount: Int { stored.rowCount }
    var segmentCount: Int { stored.segmentCount }
    var memory: MemoryBudget { stored.memory }
    func segment(_ index: Int) throws(Damage) -> any Segment { try stored.segment(index) }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try stored.segmentIndex(of: rowID) }
    func related(_ typeName: String) throws(Damage) -> (any Table)? {
        if let known = others[typeName] { return known }
        return typeName == type.name ? self : nil
    }
}
