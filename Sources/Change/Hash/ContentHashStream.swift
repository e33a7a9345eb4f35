import FirnBytes
import FirnTable
import FirnThreads

/// Computes the content hash of a type whose rows arrive in batches, on several threads. Only a few batches are held.
package final class ContentHashStream {
    private let type: TypeSchema
    private let schema: Schema
    private let key: [Int]
    private let options: ContentHash.Options
    private var sums: ContentHash.Sums
    private var rows = 0
    private let queue: WorkQueue<Job, ContentHash.Part.Found, Damage>

    private struct Job: Sendable {
        var batch: Batch
        /// The number of rows before the batch.
        var start: Int
    }

    /// - Throws: `.usage` for a key with columns that do not exist.
    package init(_ type: TypeSchema, _ schema: Schema, options: ContentHash.Options) throws(FirnError) {
        self.type = type
        self.schema = schema
        self.options = options
        let visible = type.hasCompanions || schema.hasCompanions ? type.visible : type, eachColumn = options.eachColumn
        let key = try ContentHash.key(of: visible, options)
        self.key = key
        sums = ContentHash.Sums(columns: visible.columns.count)
        queue = WorkQueue(threads: options.threads) { (job) throws(Damage) in
            let table = VisibleTable.of(MemoryTable(type, schema: schema, batches: [job.batch]))
            return try ContentHash.Part(
                table: table, key: key, eachColumn: eachColumn, starts: [job.start], hasher: CellHasher(linkedRows: nil)
            ).found(0)
        }
    }

    /// Whether the rows of a type can be hashed in batches: not if they have links, which are hashed by what identifies the rows that they lead
    /// to.
    package static func canHash(_ type: TypeSchema, _ schema: Schema) -> Bool { !type.columns.contains { schema.mayHoldLinks($0.type) } }

    /// Adds the next rows.
    package func add(_ batch: Batch) throws(FirnError) {
        guard batch.count > 0 else { return }
        while queue.pending > options.threads { try take() }
        queue.submit(Job(batch: batch, start: rows))
        rows += batch.count
    }

    /// Returns the hash of all rows. Nothing may be added after that.
    package func finish() throws(FirnError) -> ContentHash {
        while queue.pending > 0 { try take() }
        let visible = type.hasCompanions || schema.hasCompanions ? type.visible : type
        return ContentHash(sums, of: visible, key: key, options)
    }

    private func take() throws(FirnError) {
        do throws(Damage) { if let found = try queue.next() { sums.add(found) } } catch { throw FirnError(error, in: options.name) }
    }
}
