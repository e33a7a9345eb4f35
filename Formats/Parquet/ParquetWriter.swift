import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Writes rows of one type as a Parquet file.
///
/// Rows are collected until they make a page of each column. The columns are then encoded in parallel, and only their compressed pages are
/// held until the row group is complete. So memory is needed for the rows of a page and for one row group.
///
/// What becomes of each type is described in `docs/guide/parquet.md`.
package final class ParquetWriter: BatchWriter {
    private let output: Output
    private let options: ParquetWriterOptions
    private let pool: CompressorPool
    private var schema = Schema()
    private var type = TypeSchema("", columns: [])
    private var columns: [ColumnWriter] = []
    private var elements = SchemaElements([], name: "")
    /// The positions of the columns in the rows. Empty before the first page.
    private var positions: [Int] = []
    private var waiting: [Batch] = []
    private var waitingRows = 0
    private var waitingBytes = 0
    private var groupRows = 0
    private var groups: [WrittenGroup] = []
    private var offset = 0
    private var rowsWritten = 0
    private var originals: OriginalTextRows?
    private var lost: [String] = []

    /// The rows of a page, and the number of bytes in memory that they must not exceed by much.
    private static let pageRows = 65_536, pageBytes = 16 << 20
    /// The bytes in memory of the rows of one column from which they are divided into several pages.
    private static let columnBytes = 4 << 20

    /// One column of the rows, with the writers of its leaves.
    private struct ColumnWriter: Sendable {
        var shape: ParquetShape
        var leaves: [ChunkWriter]
        /// The position of the column in the rows.
        var position: Int
        /// The number of bytes of its last rows in memory: long columns are encoded first.
        var weight = 0
    }

    package init(_ output: Output, options: ParquetWriterOptions = ParquetWriterOptions()) {
        self.output = output
        self.options = options
        pool = CompressorPool(options.compression)
    }

    package func begin(_ schema: Schema) throws(FirnError) {
        try schema.checkHasRows(for: "a Parquet file", at: output.name)
        guard schema.roots.count == 1, let type = schema.roots.first else {
            throw FirnError(
                .usage,
                "a Parquet file contains one type, and there are \(schema.roots.count): "
                    + schema.roots.map(\.name).joined(separator: ", "),
                at: .init(file: output.name), advice: "choose one with FILE:Type, or name a folder")
        }
        self.schema = schema
        self.type = type
        if options.keepsFacts, type.hasCompanions { originals = OriginalTextRows(type) }
        try put(ParquetFormat.magic)
    }

    package func write(_ batch: Batch, type name: String) throws(FirnError) {
        guard name == type.name else {
            throw FirnError(
                .schema, "a Parquet file holds rows of one type, here \"\(type.name)\": rows of type \"\(name)\" cannot be written to it",
                at: .init(file: output.name))
        }
        guard batch.count > 0 else { return }
        originals?.add(batch, from: rowsWritten + waitingRows)
        waiting.append(batch)
        waitingRows += batch.count
        waitingBytes += batch.columns.reduce(0) { $0 + $1.footprint }
        if waitingRows >= ParquetWriter.pageRows || waitingBytes >= ParquetWriter.pageBytes { try encode(isLast: false) }
    }

    package func finish() throws(FirnError) {
        try encode(isLast: true)
        try finishGroup()
        if groups.isEmpty, columns.isEmpty { makeColumns([]) }
        for group in groups.indices {
            for chunk in groups[group].chunks.indices {
                guard let index = FooterWriter.columnIndex(groups[group].chunks[chunk].written) else { continue }
                groups[group].chunks[chunk].columnIndex = offset..<offset + index.count
                try put(index)
            }
        }
        for group in groups.indices {
            for chunk in groups[group].chunks.indices {
                let index = FooterWriter.offsetIndex(groups[group].chunks[chunk])
                groups[group].chunks[chunk].offsetIndex = offset..<offset + index.count
                try put(index)
            }
        }
        let footer = FooterWriter.footer(elements, groups, metadata: metadata(), options.compression)
        guard let length = UInt32(exactly: footer.count), length <= Int32.max else {
            throw FirnError(.rejected, "the metadata of the file are longer than Parquet allows", at: .init(file: output.name))
        }
        try put(footer)
        try put(withUnsafeBytes(of: length.littleEndian) { Array($0) })
        try put(ParquetFormat.magic)
        try output.finish()
    }

    package var remarks: [String] {
        var remarks = lost
        for column in type.columns where column.type.kind == .link && !options.folderTypes.contains(column.type.target ?? "") {
            remarks.append("column \"\(column.name)\": links to \"\(column.type.target ?? "")\" are written as row ids")
        }
        for column in columns {
            for leaf in column.leaves where leaf.changed > 0 {
                let path = leaf.leaf.path.joined(separator: ".")
                remarks.append("column \"\(path)\": \(ParquetWriter.change(leaf.leaf.shape, leaf.changed))")
            }
        }
        return remarks + (originals?.remarks ?? [])
    }

    private static func change(_ leaf: LeafShape, _ count: Int) -> String {
        let values = count == 1 ? "1 value" : "\(count) values"
        switch leaf.form {
        case .date: return "the time of day of \(values) is left out, because the column is one of days"
        case .timestamp(let unit): return "\(values) cut to \(unit.timeUnit)s, the unit of the column"
        case .float16: return "\(values) rounded to 16 bits"
        default: return "\(values) rounded to the digits of the column"
        }
    }

    private func put(_ bytes: [UInt8]) throws(FirnError) {
        try output.write(bytes)
        offset += bytes.count
    }

    // MARK: Pages

    private func makeColumns(_ sample: [Column]) {
        let made = ParquetShapes(type, in: schema, sample: sample)
        elements = SchemaElements(made.shapes, name: type.name)
        var leaf = 0
        for (i, shape) in made.shapes.enumerated() {
            let own = elements.leaves[leaf..<leaf + elements.leafCounts[i]]
            leaf += own.count
            columns.append(ColumnWriter(shape: shape, leaves: own.map { ChunkWriter($0) }, position: made.columns[i]))
        }
        positions = made.columns
    }

    /// Encodes the waiting rows.
    private func encode(isLast: Bool) throws(FirnError) {
        guard waitingRows > 0 else { return }
        if columns.isEmpty { makeColumns(waiting[0].columns) }
        guard !columns.isEmpty else {
            throw FirnError(
                .rejected, "a Parquet file needs a column, and the rows of \"\(type.name)\" have none", at: .init(file: output.name),
                advice: "write another format")
        }
        let writers = columns, rows = waitingRows, united = takeWaiting()
        // The longest columns first, so that the threads end at the same time.
        let weights = united.map(\.footprint), order = united.indices.sorted { (weights[$0], $1) > (weights[$1], $0) }
        var start = 0
        while start < rows {
            let end = min(rows, start + options.groupRows - groupRows), range = start..<end
            let share = isLast ? Double(range.count) / Double(groupRows + rows - start) : Double(range.count) / Double(options.groupRows)
            let expected = min(1, max(share, 1.0 / 8))
            try parallel(count: order.count, threads: options.threads) { [pool] (index) throws(FirnError) in
                let writer = writers[order[index]], column = united[order[index]]
                let parts = min(range.count, max(1, column.footprint(of: range) / ParquetWriter.columnBytes))
                try pool.with { (compressor) throws(FirnError) in
                    for part in 0..<parts {
                        let slice = range.lowerBound + range.count * part / parts..<range.lowerBound + range.count * (part + 1) / parts
                        let pages = try LevelBuilder(writer.shape, column, slice).pages
                        for (leaf, page) in zip(writer.leaves, pages) { try leaf.add(page, share: expected / Double(parts), compressor) }
                    }
                }
            }
            groupRows += range.count
            rowsWritten += range.count
            start = end
            let held = columns.reduce(0) { $0 + $1.leaves.reduce(0) { $0 + $1.held } }
            if groupRows >= options.groupRows || held >= options.groupBytes { try finishGroup() }
        }
    }

    /// Returns the columns of the waiting rows, each as one. The batches are released before the columns are encoded.
    private func takeWaiting() -> [Column] {
        let batches = waiting, rows = waitingRows, positions = columns.map(\.position)
        (waiting, waitingRows, waitingBytes) = ([], 0, 0)
        return parallelMap(count: positions.count, threads: options.threads) { index in
            var column = batches[0].columns[positions[index]]
            if batches.count > 1 { column.reserve(rows: rows) }
            for batch in batches.dropFirst() { column.append(contentsOf: batch.columns[positions[index]]) }
            return column
        }
    }

    private func finishGroup() throws(FirnError) {
        guard groupRows > 0 else { return }
        let writers = columns.flatMap(\.leaves)
        let chunks = try parallelMap(count: writers.count, threads: options.threads) { [pool] (index) throws(FirnError) in
            try pool.with { (compressor) throws(FirnError) in try writers[index].take(compressor) }
        }
        var group = WrittenGroup(chunks: [], rowCount: groupRows)
        for (writer, chunk) in zip(writers, chunks) {
            let start = offset
            if let dictionary = chunk.dictionary { try put(dictionary) }
            for page in chunk.pages { try put(page) }
            var kept = chunk
            (kept.pages, kept.dictionary) = ([], chunk.dictionary.map { _ in [] })
            group.chunks.append(
                .init(
                    leaf: writer.leaf, start: start, dictionarySize: chunk.dictionary?.count, size: offset - start, written: kept))
        }
        group.sorting = sorting(chunks)
        groups.append(group)
        groupRows = 0
    }

    /// Returns the first column by which the rows are in order: of the key, or if there is none the first of all.
    private func sorting(_ chunks: [WrittenChunk]) -> (leaf: Int, descends: Bool)? {
        var leaf = 0
        for column in columns {
            defer { leaf += column.leaves.count }
            guard case .leaf = column.shape.content, type.key.isEmpty || type.key.first == column.position else { continue }
            let chunk = chunks[leaf]
            guard chunk.nullCount == 0, chunk.bounds.minimum != nil else { continue }
            if chunk.bounds.isAscending { return (leaf, false) }
            if chunk.bounds.isDescending { return (leaf, true) }
        }
        return nil
    }

    // MARK: Metadata

    private func metadata() -> [(key: String, value: [UInt8])] {
        var entries: [(key: String, value: [UInt8])] = [], encoded: [Value.Entry] = []
        for entry in schema.metadata {
            // Other readers take values as texts.
            if String(validating: entry.value, as: UTF8.self) != nil {
                entries.append((entry.key, entry.value))
            } else if options.keepsFacts {
                encoded.append(.init(entry.key, .data(entry.value)))
            } else {
                lost.append("the metadata \"\(entry.key)\" are left out, because they are not UTF-8")
            }
        }
        guard options.keepsFacts else { return entries }
        if !options.folderTypes.isEmpty { entries.append((FolderTypes.key, FolderTypes.text(options.folderTypes))) }
        if !encoded.isEmpty {
            var text: [UInt8] = []
            ExactJSON.append(.map(encoded), to: &text)
            entries.append((ParquetWriter.binaryMetadata, text))
        }
        if let texts = originals?.encoded { entries.append((OriginalTextRows.key, texts)) }
        entries.append((SchemaFacts.key, Array(SchemaFacts.text(type, in: schema).utf8)))
        return entries
    }

    /// The key of the metadata whose values are not texts.
    static let binaryMetadata = SchemaFacts.prefix + "metadata"
}
