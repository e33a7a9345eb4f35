import FirnBytes
import FirnChange
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// Writes batches to a new `.firn` file next to the target, in one transaction. The target is unchanged until `finish` replaces it.
final class FirnWriter: BatchWriter {
    private let replacement: Replacement
    private let options: WritingOptions
    private let check: LosslessCheck?
    /// The names of the inputs, for messages.
    private let source: String
    private var database: Database?
    private var transaction: DatabaseTransaction?
    private var writers: [String: BulkWriter] = [:]
    private(set) var remarks: [String] = []
    /// The size of the file in bytes, after `finish`.
    private(set) var size = 0

    init(path: String, _ options: WritingOptions, source: String, check: LosslessCheck? = nil) throws(FirnError) {
        guard path != "-" else {
            throw FirnError(.usage, "a .firn file cannot be written to a pipe", advice: "name a file, or choose another format with --to")
        }
        replacement = try Replacement(of: path, overwrite: options.overwrites, sources: options.sources)
        self.options = options
        self.check = check
        self.source = source
    }

    func begin(_ schema: Schema) throws(FirnError) {
        let database = try Database.create(path: replacement.temporaryPath, overwrite: true, atFirstCommit: true, key: options.key)
        let transaction = try database.begin(threads: options.threads)
        setEffort(transaction)
        try transaction.extendSchema(schema.types)
        if !schema.otherAttributes.isEmpty { try transaction.setAttributes(like: schema) }
        // Indexes are filled while rows are written.
        for type in schema.types {
            for column in type.columns {
                for kind in IndexKind.allCases where column.indexes.contains(kind) {
                    try transaction.addIndex(type.name, column.name, kind)
                }
            }
        }
        self.database = database
        self.transaction = transaction
    }

    /// Writes a version of another file unchanged, with row ids and indexes. Used instead of `begin`, `write` and `finish`.
    func copy(_ snapshot: DatabaseSnapshot, _ progress: Progress) throws(FirnError) {
        let path = replacement.temporaryPath,
            count = { (rows: Int) throws(FirnError) in
                progress.add(rows: rows)
                try progress.check()
            }
        progress.setTotal(rows: snapshot.tables.reduce(0) { $0 + $1.rowCount })
        let encryption: CopyEncryption = options.key.map { .key($0) } ?? .plain
        switch options.effort {
        case .fast:
            try snapshot.compact(
                to: path, overwrite: true, encryption: encryption, profile: .fast, threads: options.threads, progress: count)
        case .standard:
            try snapshot.compact(
                to: path, overwrite: true, encryption: encryption, profile: .standard, threads: options.threads, progress: count)
        case .small:
            try snapshot.compact(
                to: path, overwrite: true, encryption: encryption, profile: .small, threads: options.threads, progress: count)
        }
        size = Int(clamping: try Paths.size(path))
        try replacement.finish()
    }

    private func setEffort(_ transaction: DatabaseTransaction) {
        transaction.profile =
            switch options.effort {
            case .fast: .fast
            case .standard: .standard
            case .small: .small
            }
    }

    func write(_ batch: Batch, type: String) throws(FirnError) {
        guard let transaction else { trap("call begin before write") }
        let writer: BulkWriter
        if let known = writers[type] {
            writer = known
        } else {
            writer = try transaction.bulkWriter(type)
            writers[type] = writer
        }
        _ = try writer.append(batch)
    }

    func finish() throws(FirnError) {
        guard let database, let transaction else { trap("call begin before finish") }
        _ = try transaction.commit()
        let snapshot = try database.snapshot()
        try checkKeys(snapshot)
        try check?.run(snapshot, beside: replacement.temporaryPath)
        size = Int(clamping: try Paths.size(replacement.temporaryPath))
        self.transaction = nil
        self.database = nil
        try replacement.finish()
    }

    /// Throws `.duplicateKey`, with both rows, if two rows have the same key. Called before the target is replaced.
    private func checkKeys(_ snapshot: DatabaseSnapshot) throws(FirnError) {
        for type in snapshot.schema.roots where !type.key.isEmpty {
            guard let table = snapshot.table(named: type.name) else { continue }
            var options = DifferenceOptions()
            options.newName = source
            options.execution.threads = self.options.threads
            do throws(FirnError) {
                try KeyUniqueness.check(table, options: options)
            } catch {
                var advised = error
                if advised.code == .duplicateKey {
                    advised.advice = "use --key to choose columns that are unique together, or omit the key"
                }
                throw advised
            }
        }
    }
}
