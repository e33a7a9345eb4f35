import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Reads a Parquet file as rows of one type.
///
/// The file is mapped. A batch advances all columns by the same number of rows, each column page by page; so memory is needed for a page
/// of each column and for a few batches. Columns are decoded in parallel, and the next batch while one is used.
///
/// What becomes of each type is described in `docs/guide/parquet.md`. Errors have the column, the row group, and the offset of the page.
package final class ParquetReader: SkippingReader {
    package var schema: Schema { content.schema }
    private let content: ParquetContent
    private let work: Work
    private let queue: BlockQueue<[RowPart], Batch>?
    private let batchRows: Int
    private let progress: Progress?
    private let bytesPerRow: Double
    private var group = 0
    private var row = 0
    /// The parts that are still to be read, last ones first, if segments were chosen.
    private var kept: [RowPart]?
    private let threads: Int

    /// What the threads share: only one of them uses it at a time.
    private final class Work: @unchecked Sendable {
        private let content: ParquetContent
        private let readers: [PlanReader]
        private let threads: Int
        /// The positions of the columns, those with the most bytes first: no thread should work on such a column alone at the end.
        private let order: [Int]

        init(_ content: ParquetContent, threads: Int) {
            self.content = content
            self.threads = threads
            readers = content.plans.map { PlanReader($0, content) }
            let bytes = content.plans.map(content.storedBytes)
            order = bytes.indices.sorted { bytes[$0] > bytes[$1] }
        }

        func batch(_ parts: [RowPart]) throws(FirnError) -> Batch {
            let read = try parallelMap(count: readers.count, threads: threads) { [self] (index) throws(FirnError) in
                try readers[order[index]].read(parts)
            }
            let columns = zip(order, read).sorted { $0.0 < $1.0 }.map(\.1)
            if content.file.isBroken { throw FirnError.truncated(content.file.name) }
            return Batch(count: parts.reduce(0) { $0 + $1.rows.count }, columns: columns)
        }

        var remarks: [String] { readers.flatMap(\.remarks) }
        var pages: PageCounts { readers.reduce(PageCounts()) { $0 + $1.pages } }
    }

    package init(_ input: Input, options: ParquetOptions, progress: Progress? = nil) throws(FirnError) {
        content = try ParquetContent(try FileBytes(input, staysOffDisk: options.staysOffDisk), options)
        batchRows = content.batchRows(options)
        threads = options.threads
        let work = Work(content, threads: options.threads)
        self.work = work
        queue = options.threads > 1 ? BlockQueue(threads: 1) { (parts) throws(FirnError) in try work.batch(parts) } : nil
        self.progress = progress
        let bytes = content.plannedBytes
        progress?.setTotal(bytes: bytes)
        bytesPerRow = Double(bytes) / Double(max(1, content.footer.rowCount))
    }

    package var remarks: [String] { content.remarks + work.remarks }
    package var guesses: [String] { content.remarks }
    package var folderTypes: [String] { content.folderTypes }

    /// The pages that were read so far. Call it when no batch is being read.
    var pages: PageCounts { work.pages }

    /// The number of rows in the file.
    package var rowCount: Int { content.footer.rowCount }

    /// The bytes of the file that may have been read since its mapping was released.
    private var unreleased = 0.0
    private static let releasedBytes = Double(32 << 20)

    /// The number of batches that are decoded before they are asked for.
    private static let maximumAhead = 2

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        let batch: Batch
        if let queue {
            while queue.pending < ParquetReader.maximumAhead, let parts = nextParts() { queue.submit(parts) }
            guard let next = try queue.next() else { return nil }
            batch = next
        } else {
            guard let parts = nextParts() else { return nil }
            batch = try work.batch(parts)
        }
        progress?.add(rows: batch.count)
        progress?.add(bytes: Int(Double(batch.count) * bytesPerRow))
        unreleased += Double(batch.count) * bytesPerRow
        if unreleased >= ParquetReader.releasedBytes {
            content.file.release()
            unreleased = 0
        }
        return (content.type.name, batch)
    }

    package func keep(segments: [Int]) {
        let all = ParquetTable.parts(content, rows: min(batchRows, segmentSize))
        let chosen = segments.compactMap { try? all.part(ofSegment: $0) }.map { RowPart(group: $0.group, rows: $0.rows) }
        progress?.add(bytes: Int(Double(rowCount - chosen.reduce(0) { $0 + $1.rows.count }) * bytesPerRow))
        kept = chosen.reversed()
    }

    /// The same as `nextParts`, of the chosen segments. Small ones are read together.
    private func nextKept() -> [RowPart]? {
        var parts: [RowPart] = [], rest = batchRows
        while let part = kept?.last, parts.isEmpty || part.rows.count <= rest {
            kept?.removeLast()
            parts.append(part)
            rest -= part.rows.count
        }
        return parts.isEmpty ? nil : parts
    }

    /// Returns the parts of row groups for the next batch; nil at the end.
    private func nextParts() -> [RowPart]? {
        if kept != nil { return nextKept() }
        var parts: [RowPart] = [], rest = batchRows
        let groups = content.footer.groups
        while rest > 0, group < groups.count {
            let left = groups[group].rowCount - row
            if left == 0 {
                (group, row) = (group + 1, 0)
                continue
            }
            // Batches do not end with row groups, because those of the rows of a segment are written without a copy.
            let count = min(left, rest)
            parts.append(RowPart(group: group, rows: row..<row + count))
            row += count
            rest -= count
        }
        return parts.isEmpty ? nil : parts
    }

    /// The rows as a table, whose columns are decoded when they are needed.
    package var table: any Table { ParquetTable(content, rows: batchRows, threads: threads, progress) }
    package var valueBytes: Int { content.valueBytes }
}
