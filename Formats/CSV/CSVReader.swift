import FirnBytes
import FirnExchange
import FirnTable

/// Reads CSV as rows of one type. Each column gets the narrowest type that round-trips every cell (see `CSVGuess.type`). The input is read
/// twice: first to infer the types from all cells, then to read the values. Several threads work on blocks; only a few blocks are in memory
/// at a time.
package final class CSVReader: BatchReader {
    package let schema: Schema
    package var remarks: [String] {
        otherRemarks
            + respellings.sorted { $0.key < $1.key }.map { $0.value.remark(schema.types[0].columns[$0.key], at: firstLines[$0.key]) }
    }
    /// The notation of the input, as far as one rule describes it; also stored in the `envelope` of the type.
    package let dialect: CSVDialect
    /// Which bytes of the input would differ if the rows were written in its dialect: one sentence each, empty if no difference is known.
    package private(set) var losses: [String]
    package var unreproduced: [String] { losses }
    package let guesses: [String]
    package let textReasons: [(column: String, reason: String)]
    /// The number of rows in the input, from the first reading.
    package private(set) var rowCount: Int?

    private var otherRemarks: [String]
    /// By column.
    private var respellings: [Int: CSVRespelling] = [:]
    private var firstLines: [Int: Int] = [:]
    private let text: any CSVSource
    private let options: CSVOptions
    private let setting: CSVSetting
    private let columnCharge: MemoryCharge
    private let cutter: CSVCutter
    private let queue: BlockQueue<CSVBlock, CSVRows>
    private let empty: [Column]
    private let columnFacts: [ColumnFacts]
    private var cutAll = false
    /// The rows of the next batch, with the bytes of their texts.
    private var pending: (columns: [Column], count: Int, bytes: Int)?
    private var taken = 0
    private var rejected = 0
    private var lastBytes: UInt64 = 0
    private var ended = false
    /// The ends of the blocks whose rows were not returned yet.
    private var blockEnds: [UInt64] = []

    static let batchRows = 65_536
    /// The number of rows of a block, of which a batch is joined: several blocks with their columns are in memory.
    static let blockRows = 8_192
    static let maximumBatchBytes = 8 << 20
    /// The maximum number of cells (rows × columns) of a batch that is combined from several blocks.
    static let maximumBatchCells = 1 << 22
    /// With more columns than this, blocks and batches are smaller: each column of each block in work has arrays of its own.
    static let manyColumns = 128
    static let maximumWideBytes = 2 << 20
    static let maximumWideCells = 1 << 20
    /// The minimum to which the memory limit reduces batches (in cells) and blocks of text (in bytes).
    private static let leastCells = 1 << 16
    private static func batchBytes(_ limit: Int) -> Int { min(maximumBatchBytes, max(leastCells, limit / 512)) }
    /// Rows that take more bytes than this on average come in blocks of at most `longRowBytes`: several blocks with their columns are in
    /// memory, and a batch of many rows is joined from blocks of any size.
    private static let longRow = 256
    private static let longRowBytes = 2 << 20
    private var batchCells: Int
    private var batchBytes: Int
    /// The maximum number of bytes of the next block.
    private var blockBytes = 0

    /// The number of rows rejected so far.
    package var rejectedCount: Int { rejected + ((text as? CSVNormaliser)?.rejected ?? 0) }

    /// Opens the input and reads all of it once.
    /// - Throws: `FirnError` with the location of the first text that cannot be read. Bad rows are errors only without `rejects`.
    package convenience init(_ input: Input, options: CSVOptions = CSVOptions()) throws(FirnError) {
        var options = options
        options.blockSize = min(options.blockSize, CSVReader.batchBytes(input.budget.limit))
        // Companions are not columns of the input: the columns whose texts they hold keep them.
        let keptTexts = options.types.map { types in Set(types.scalarCompanions.keys.map { types.columns[$0].name }) } ?? []
        options.types = options.types?.visible
        if let total = input.totalBytes { options.progress?.setTotal(bytes: 2 * Int(clamping: total)) }

        // First reading: how the text is cut into cells, and what the cells of each column have in common.
        let charge = MemoryCharge(input.budget)
        var opening = try CSVOpening(input, options, charge: charge)
        let opened = try opening.open()
        try CSVReader.checkNames(opened.header, options, opened.source)
        let decision = try CSVDecision(opened, options, keptTexts: keptTexts, input: input)
        try self.init(opened.source, opened.header, decision, rows: opened.found.rows, options: options, charge: charge)
    }

    /// Reads a text in which another reading found `rows` rows, and columns as `decision` has them.
    init(
        _ text: any CSVSource, _ header: CSVHeader, _ decision: CSVDecision, rows: Int, options: CSVOptions, charge: MemoryCharge? = nil
    ) throws(FirnError) {
        // Each byte of text can be a cell, which takes up to 50 bytes while it is read, and several blocks are read at a time.
        let limit = text.input.budget.limit
        batchCells = min(CSVReader.maximumBatchCells, max(CSVReader.leastCells, limit / 128))
        batchBytes = CSVReader.batchBytes(limit)
        self.options = options
        self.text = text
        columnCharge = charge ?? MemoryCharge(text.input.budget)
        rowCount = rows
        schema = decision.schema
        dialect = decision.dialect
        otherRemarks = decision.remarks
        guesses = decision.guesses
        textReasons = decision.textReasons
        losses = decision.losses
        columnFacts = decision.facts
        empty = decision.schema.types[0].columns.map { Column($0, in: decision.schema) }

        // Second reading.
        let setting = decision.setting
        self.setting = setting
        if setting.plans.count > CSVReader.manyColumns {
            batchCells = min(batchCells, CSVReader.maximumWideCells)
            batchBytes = min(batchBytes, CSVReader.maximumWideBytes)
        }
        let normaliser = text as? CSVNormaliser
        normaliser?.rejects = options.rejects
        if options.rejects != nil, options.types != nil { normaliser?.keepRecords() }
        try text.rewind()
        cutter = CSVCutter(text, header.marks)
        try cutter.skip(header.length)
        blockBytes = batchBytes
        queue = BlockQueue(threads: options.threads) { (block: CSVBlock) throws(FirnError) in setting.read(block) }
    }

    package func facts(ofColumn position: Int) -> ColumnFacts? {
        columnFacts.indices.contains(position) ? columnFacts[position] : nil
    }

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while true {
            if let pending, pending.count >= CSVReader.batchRows { return take(CSVReader.batchRows) }
            guard let rows = try nextRows() else { break }
            if rows.count == 0 { continue }
            // Batches of many columns or of long texts have fewer rows: combined blocks would need much memory.
            if let first = pending,
                (first.count + rows.count) * schema.types[0].columns.count > batchCells || first.bytes + rows.bytes > 2 * batchBytes
            {
                pending = (rows.columns, rows.count, rows.bytes)
                return hand(first.columns, first.count)
            }
            guard var joined = pending else {
                pending = (rows.columns, rows.count, rows.bytes)
                continue
            }
            // The columns have one reference while they grow.
            pending = nil
            if joined.count <= rows.count { reserve(&joined.columns, bytesPerRow: joined.bytes / max(joined.count, 1)) }
            for i in rows.columns.indices { joined.columns[i].append(contentsOf: rows.columns[i]) }
            joined.count += rows.count
            joined.bytes += rows.bytes
            pending = joined
        }
        if let pending, pending.count > 0 { return take(pending.count) }
        try close()
        return nil
    }

    /// Makes room for the rows of a batch.
    private func reserve(_ columns: inout [Column], bytesPerRow: Int) {
        let rest = (rowCount ?? .max) - taken, fitting = min(batchCells / max(columns.count, 1), 2 * batchBytes / max(bytesPerRow, 1))
        for i in columns.indices { columns[i].reserve(rows: min(CSVReader.batchRows, rest, fitting)) }
    }

    private func take(_ count: Int) -> (type: String, batch: Batch) {
        let (columns, available, bytes) = pending!
        if available == count {
            pending = nil
            return hand(columns, count)
        }
        pending = (columns.map { $0.slice(count..<available) }, available - count, bytes / available * (available - count))
        return hand(columns.map { $0.slice(0..<count) }, count)
    }

    private func hand(_ columns: [Column], _ count: Int) -> (type: String, batch: Batch) {
        taken += count
        options.progress?.add(rows: count)
        return (schema.types[0].name, Batch(count: count, columns: columns))
    }

    private func nextRows() throws(FirnError) -> CSVRows? {
        while !cutAll, queue.pending <= options.threads {
            guard let block = try cutter.next(size: options.blockSize, limit: CSVReader.blockRows, most: blockBytes) else {
                cutAll = true
                break
            }
            blockEnds.append(block.offset + UInt64(block.count))
            queue.submit(block)
        }
        bumpProgress()
        guard let rows = try queue.next() else { return nil }
        let end = blockEnds.removeFirst()
        defer { (text as? CSVNormaliser)?.forgetRecords(before: end) }
        try text.input.noteCells(rows.count * rows.columns.count)
        if rows.bytes > rows.count * CSVReader.longRow { blockBytes = min(blockBytes, CSVReader.longRowBytes) }
        for bad in rows.bad { try reject(bad) }
        for (i, part) in rows.respelled { respellings[i] = respellings[i].map { $0.merged(part) } ?? part }
        return rows
    }

    private func reject(_ bad: (offset: UInt64, fault: CSVFault, bytes: [UInt8], cell: String)) throws(FirnError) {
        guard let rejects = options.rejects else {
            var cell: (String, String, ColumnTypeName)?
            if case .cell(let position) = bad.fault, let i = setting.plans.firstIndex(where: { $0.cell == position }) {
                cell = (bad.cell, schema.types[0].columns[i].name, ColumnTypeName(kind: setting.plans[i].type.kind))
                if !setting.plans[i].isForced {
                    throw FirnError(.inputOutput, "the input changed while it was read", at: .init(file: text.input.name))
                }
            }
            let fault = bad.fault
            throw badRecord(fault, width: setting.width, cell: cell, at: try cutter.locate(bad.offset))
        }
        rejected += 1
        try rejects.add((text as? CSVNormaliser)?.record(at: bad.offset) ?? bad.bytes)
    }

    private func close() throws(FirnError) {
        guard !ended else { return }
        ended = true
        if let rowCount, options.types == nil, rowCount != taken {
            throw FirnError(
                .inputOutput, "the input changed while it was read: \(rowCount) rows at first, then \(taken)",
                at: .init(file: text.input.name))
        }
        for (i, respelling) in respellings { firstLines[i] = try cutter.locate(respelling.offset).line }
        // The receiver of rejected rows reports their number.
        if options.rejects == nil, rejectedCount > 0 {
            otherRemarks.append(rejectedCount == 1 ? "1 row was rejected" : "\(rejectedCount) rows were rejected")
        }
    }

    private func bumpProgress() {
        guard let progress = options.progress else { return }
        let now = text.input.bytesRead
        progress.add(bytes: Int(now - min(now, lastBytes)))
        lastBytes = now
    }
}
