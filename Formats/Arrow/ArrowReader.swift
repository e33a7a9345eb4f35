import CArrow
import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Reads an Arrow file or stream as rows of one type.
///
/// A file is mapped, and so is a stream in a file; a stream from a pipe is read message by message. A part of a batch of rows becomes a
/// batch of Firn: its columns are decoded in parallel, and the next part while one is used. What is not compressed is converted directly
/// from the mapping; so memory is needed for a few parts, for the compressed buffers of one batch, and for dictionaries.
///
/// What becomes of each type is described in `docs/guide/arrow.md`. Errors have the column, the batch, and the offset of the buffer.
package class ArrowReader: BatchReader {
    package var schema: Schema { source.layout.schema }
    fileprivate let source: any ArrowSource
    fileprivate let options: ArrowOptions
    private let work: Work
    private let queue: BlockQueue<Part, Batch>?
    private let progress: Progress?
    private var batch: (batch: ArrowBatch, next: Int, size: Int)?

    /// Some rows of a batch.
    private struct Part: Sendable {
        var batch: ArrowBatch
        var rows: Range<Int>
    }

    /// What the threads share: only one of them uses it at a time.
    private final class Work: @unchecked Sendable {
        private let layout: ArrowLayout
        private let file: FileBytes?
        private let threads: Int
        private var changes: [ArrowChanges]

        init(_ layout: ArrowLayout, _ file: FileBytes?, threads: Int) {
            self.layout = layout
            self.file = file
            self.threads = threads
            changes = .init(repeating: ArrowChanges(), count: layout.plans.count)
        }

        func decode(_ part: Part) throws(FirnError) -> Batch {
            let layout = layout
            let columns: [(column: Column, changes: ArrowChanges)]
            if threads > 1 {
                columns = try parallelMap(count: layout.plans.count, threads: threads) { (index) throws(FirnError) in
                    try layout.column(index, part.batch, part.rows)
                }
            } else {
                columns = try layout.plans.indices.map { (index) throws(FirnError) in try layout.column(index, part.batch, part.rows) }
            }
            if let file, file.isBroken { throw FirnError.truncated(file.name) }
            for (i, column) in columns.enumerated() { changes[i] = changes[i] + column.changes }
            return Batch(count: part.rows.count, columns: columns.map(\.column))
        }

        func release() { file?.release() }

        var remarks: [String] { zip(layout.plans, changes).flatMap { $1.remarks($0.name) } }
    }

    /// Opens an input. What is in a file can also be read as a table.
    package static func open(_ input: Input, options: ArrowOptions, progress: Progress? = nil) throws(FirnError) -> ArrowReader {
        let first = try input.peek(8)
        guard FileBytes.isPlainFile(input) || first.starts(with: ArrowFormat.magic) else {
            return ArrowReader(try ArrowStream(input, options), options, progress)
        }
        return try mapped(try FileBytes(input, staysOffDisk: options.staysOffDisk), options: options, progress: progress)
    }

    /// Opens an input as a file that can be read in any order, whatever it is.
    package static func spooled(_ input: Input, options: ArrowOptions) throws(FirnError) -> ArrowFileReader {
        try mapped(try FileBytes(input, staysOffDisk: options.staysOffDisk), options: options)
    }

    /// Opens the bytes of a file.
    static func mapped(_ bytes: FileBytes, options: ArrowOptions, progress: Progress? = nil) throws(FirnError) -> ArrowFileReader {
        let content = try ArrowContent(bytes, options)
        progress?.setTotal(bytes: content.bytes)
        return ArrowFileReader(content, options, progress)
    }

    private static let fewRows = 4096

    /// Reads a stream of another library of this process, which is released at the end. `name` is its name in errors. The stream is read on
    /// the thread that calls `next`; its memory is released on any thread.
    package static func imported(_ stream: UnsafeMutablePointer<ArrowArrayStream>, named name: String, options: ArrowOptions)
        throws(FirnError) -> ArrowReader
    {
        let source = try ArrowImport(stream, named: name, options)
        // Threads would take longer to start than a few rows take.
        var options = options
        if source.firstRows < ArrowReader.fewRows { options.threads = 1 }
        return ArrowReader(source, options, nil)
    }

    fileprivate init(_ source: any ArrowSource, _ options: ArrowOptions, _ progress: Progress?) {
        self.source = source
        self.options = options
        self.progress = progress
        let work = Work(source.layout, (source as? ArrowFileSource)?.content.file, threads: options.threads)
        self.work = work
        queue = options.threads > 1 ? BlockQueue(threads: 1) { (part) throws(FirnError) in try work.decode(part) } : nil
    }

    package var remarks: [String] { source.remarks + work.remarks }
    package var guesses: [String] { source.layout.remarks }
    /// The remarks about values that were lost so far.
    package var losses: [String] { source.layout.losses + work.remarks }
    package var folderTypes: [String] { source.layout.folderTypes }

    /// About the number of bytes that were read since the mapping of the file was released.
    private var unreleased = 0
    private static let releasedBytes = 32 << 20

    /// The number of batches that are decoded before they are asked for.
    private static let maximumAhead = 2

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        let batch: Batch
        if let queue {
            while queue.pending < ArrowReader.maximumAhead, let part = try nextPart() { queue.submit(part) }
            guard let next = try queue.next() else { return nil }
            batch = next
        } else {
            guard let part = try nextPart() else { return nil }
            batch = try work.decode(part)
        }
        progress?.add(rows: batch.count)
        unreleased += batch.columns.reduce(0) { $0 + $1.footprint }
        if unreleased >= ArrowReader.releasedBytes {
            work.release()
            unreleased = 0
        }
        return (source.layout.type.name, batch)
    }

    /// Returns the rows for the next batch; nil at the end.
    private func nextPart() throws(FirnError) -> Part? {
        while true {
            if let (batch, next, size) = batch, next < batch.rowCount {
                // The last parts of a batch are of the same size.
                let left = batch.rowCount - next, count = left > size && left < 2 * size ? (left + 1) / 2 : min(left, size)
                self.batch?.next += count
                progress?.add(bytes: batch.plainBytes / max(batch.rowCount, 1) * count)
                return Part(batch: batch, rows: next..<next + count)
            }
            batch = nil
            guard let next = try source.next() else { return nil }
            batch = (next, 0, source.layout.partRows(next, options))
        }
    }
}

/// Reads a file, or a stream in a file, whose rows can also be read in any order.
package final class ArrowFileReader: ArrowReader, TableReader {
    private let content: ArrowContent

    fileprivate init(_ content: ArrowContent, _ options: ArrowOptions, _ progress: Progress?) {
        self.content = content
        super.init(ArrowFileSource(content), options, progress)
    }

    /// The rows as a table, whose columns are read where they are needed.
    package var table: any Table { ArrowTable(content, options) }
    package var valueBytes: Int { max(content.bytes, content.rowCount * content.layout.plans.count * 8) }
}

/// Delivers batches in their order.
protocol ArrowSource: AnyObject {
    var layout: ArrowLayout { get }
    var remarks: [String] { get }
    func next() throws(FirnError) -> ArrowBatch?
}

/// The batches of a file.
final class ArrowFileSource: ArrowSource {
    let content: ArrowContent
    private var position = 0

    init(_ content: ArrowContent) { self.content = content }

    var layout: ArrowLayout { content.layout }
    var remarks: [String] { content.remarks }

    func next() throws(FirnError) -> ArrowBatch? {
        guard position < content.batchCount else { return nil }
        position += 1
        return try content.batch(position - 1)
    }
}
