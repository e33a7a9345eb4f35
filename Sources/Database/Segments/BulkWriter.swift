import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads
import Synchronization

/// Appends many rows of one type to a transaction. It builds sealed segments directly and encodes their columns on several threads.
/// It does not compare keys: the caller checks a load as a whole.
///
/// Segments are encoded in groups that share dictionaries. A group ends at 64 segments, or earlier if it holds too much memory.
package final class BulkWriter {
    /// The number of rows of a full segment: `segmentSize`, or fewer of a type with more than 128 columns, whose rows would otherwise need
    /// much memory while they wait for the last one. Twice as many columns have a quarter of the rows, until a segment has half as many
    /// cells as one of 128 columns; after that, they have half of the rows.
    static func segmentRows(columns: Int) -> Int {
        guard columns > manyColumns else { return segmentSize }
        let rows = segmentSize * manyColumns / columns
        return max(vectorSize, max(rows / 2, rows * manyColumns / columns) / vectorSize * vectorSize)
    }
    private static let manyColumns = 128
    /// A segment has fewer rows if encoding them would take more memory than this: texts and lists may have any length.
    static let segmentBytes = 80 << 20
    /// The same for a type with many columns: fewer rows would cost more bytes in the file than they save in memory.
    private static let wideSegmentBytes = 144 << 20
    private var segmentBytes: Int {
        schema.columns.count > BulkWriter.manyColumns
            ? max(transaction.segmentBytes, BulkWriter.wideSegmentBytes) : transaction.segmentBytes
    }

    /// About how much memory the values take while they are collected and encoded, which copies a column up to three times.
    private static func memory(of columns: [Column]) -> Int {
        let sizes = columns.map(\.bytesInMemory)
        return sizes.reduce(0, +) + 3 * (sizes.max() ?? 0)
    }

    /// The maximum number of segments that share dictionaries.
    private static let groupSize = 64
    /// A group ends early if its encoders hold more bytes than this.
    private static let groupBytes = 96 << 20
    /// The same for a type with many columns, whose next segment needs much memory too.
    private static let wideGroupBytes = 48 << 20
    /// A group ends early if its finished chunks have more bytes than this. Chunks are held until the group ends, so that each segment is
    /// written as a whole, with its header last: in a truncated file, the segments before the cut are complete.
    private static let heldBytes = 32 << 20

    /// The memory that encoding a segment needs for each column, in addition to the values.
    private static let columnBytes = 1024

    private unowned let transaction: DatabaseTransaction
    private let type: Int
    private var schema: TypeSchema
    private var segmentRows: Int
    private let profile: Profile
    private var buffer: [BufferedColumn]
    /// The number of rows in `buffer`. A type may have no columns.
    private var buffered = 0
    /// About how much memory the values in `buffer` take while they are encoded.
    private var bufferedBytes = 0.0
    /// The row ids of `buffer`, as a few ranges of consecutive ids.
    private var bufferedIDs: [Range<Int64>] = []
    private var encoders: [ColumnEncoder] = []
    private var group: [SegmentDraft] = []
    /// The bytes of the group's finished chunks.
    private var held = 0
    private(set) var entries: [DirectoryEntry] = []
    /// The number of rows appended so far.
    package private(set) var rowCount = 0
    private var vacant = VacantColumns()
    /// Whether segments share nothing with others, so that each of them can be packed: those of types with many columns, as long as their
    /// chunks are not larger than wide headers would be.
    private var packsSegments: Bool
    private var relations = RelationMemory()
    /// False for rows that only move between segments: the indexes contain them already.
    var entersIndexes = true

    /// The row ids of a segment.
    private enum RowIDs {
        case consecutive(first: Int64, count: Int)
        case listed([Int64])

        init(_ runs: [Range<Int64>]) {
            self = runs.count == 1 ? .consecutive(first: runs[0].lowerBound, count: runs[0].count) : .listed(runs.flatMap { Array($0) })
        }

        subscript(_ position: Int) -> Int64 {
            switch self {
            case .consecutive(let first, _): first + Int64(position)
            case .listed(let ids): ids[position]
            }
        }

        var first: Int64 {
            switch self {
            case .consecutive(let first, _): first
            case .listed(let ids): ids[0]
            }
        }
        var last: Int64 {
            switch self {
            case .consecutive(let first, let count): first + Int64(count) - 1
            case .listed(let ids): ids[ids.count - 1]
            }
        }
    }

    /// A segment whose chunks are being encoded.
    private struct SegmentDraft {
        var rowCount: Int
        var rowIDs: RowIDs
        var chunks: [ColumnDraft]

        enum ColumnDraft {
            case waiting
            case held(Chunk, ColumnEncoder.Summary)
            case written(ExtentRef, ColumnEncoder.Summary)
        }
    }

    init(_ transaction: DatabaseTransaction, type: Int, profile: Profile) {
        self.transaction = transaction
        self.type = type
        self.profile = profile
        schema = transaction.schema.types[type]
        segmentRows = BulkWriter.segmentRows(columns: schema.columns.count)
        packsSegments = schema.columns.count > BulkWriter.manyColumns
        buffer = schema.columns.map { [segmentRows] in BufferedColumn($0.type.stored, rows: segmentRows) }
    }

    /// Whether the writer holds rows that cannot be read before `finish`.
    var isPending: Bool { buffered > 0 || !group.isEmpty || !entries.isEmpty }
    private let waiting = Atomic<Bool>(false)
    /// The same, for threads that read while another one may call `finish`.
    var isWaiting: Bool { waiting.load(ordering: .acquiring) }

    /// Appends the rows of a batch and returns the row id of the first. Embedded objects are inserted as rows of their own types.
    @discardableResult
    package func append(_ batch: Batch) throws(FirnError) -> Int64 {
        trap(
            unless: batch.columns.count == transaction.schema.types[type].columns.count,
            "a batch must have one column for each column of its type")
        // Rows that were appended one by one have lower row ids.
        if let table = transaction.openTable(type) { try table.handOver() }
        let columns = try batch.columns.enumerated().mapTyped { (pair) throws(FirnError) in try stored(pair.element, pair.offset) }
        let first = transaction.giveRowIDs(type, count: batch.count)
        rowCount += batch.count
        if batch.count > 0 { try add(columns, runs: [first..<first + Int64(batch.count)]) }
        return first
    }

    /// Appends rows in stored form (embedded objects as row ids) under their own row ids, as compaction does.
    func append(stored columns: [Column], rowIDs: [Int64]) throws(FirnError) {
        guard let last = rowIDs.last else { return }
        transaction.skipRowIDs(type, to: last + 1)
        transaction.states[type].liveRows += rowIDs.count
        try add(columns, rowIDs: rowIDs)
    }

    /// Adds rows in stored form that the live rows of the type already include.
    func add(_ columns: [Column], rowIDs: [Int64]) throws(FirnError) {
        guard let first = rowIDs.first, let last = rowIDs.last else { return }
        rowCount += rowIDs.count
        try add(columns, runs: last - first == Int64(rowIDs.count - 1) ? [first..<last + 1] : BulkWriter.runs(rowIDs[...]))
    }

    /// Makes the next row id of the type at least `rowID`.
    func skip(to rowID: Int64) { transaction.skipRowIDs(type, to: rowID) }

    private static func runs(_ rowIDs: ArraySlice<Int64>) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        for id in rowIDs {
            if let last = runs.last, last.upperBound == id {
                runs[runs.count - 1] = last.lowerBound..<id + 1
            } else {
                runs.append(id..<id + 1)
            }
        }
        return runs
    }

    private func add(_ columns: [Column], runs: [Range<Int64>]) throws(FirnError) {
        if !isPending, schema != transaction.schema.types[type] {
            schema = transaction.schema.types[type]
            segmentRows = BulkWriter.segmentRows(columns: schema.columns.count)
            packsSegments = schema.columns.count > BulkWriter.manyColumns
            buffer = schema.columns.map { [segmentRows] in BufferedColumn($0.type.stored, rows: segmentRows) }
        }
        let rows = runs.reduce(0) { $0 + $1.count }
        waiting.store(true, ordering: .releasing)
        let bytes = BulkWriter.memory(of: columns)
        if buffered == 0, rows == segmentRows, bytes <= segmentBytes {
            return try seal(Slots(columns.map(BufferedColumn.init)), rows: rows, rowIDs: RowIDs(runs))
        }
        let bytesPerRow = Double(bytes) / Double(max(rows, 1))
        var start = 0, runs = runs[...]
        while start < rows {
            if buffered > 0, room(bytesPerRow: bytesPerRow) == 0 { try sealBuffer() }
            let end = min(rows, start + max(1, room(bytesPerRow: bytesPerRow)))
            for i in buffer.indices { buffer[i].append(columns[i], range: start..<end) }
            var count = end - start
            while count > 0 {
                let run = runs.removeFirst(), part = run.prefix(count)
                if let last = bufferedIDs.last, last.upperBound == part.lowerBound {
                    bufferedIDs[bufferedIDs.count - 1] = last.lowerBound..<part.upperBound
                } else {
                    bufferedIDs.append(part)
                }
                if part.count < run.count { runs.insert(part.upperBound..<run.upperBound, at: runs.startIndex) }
                count -= part.count
            }
            buffered += end - start
            bufferedBytes += Double(end - start) * bytesPerRow
            start = end
            if buffered == segmentRows { try sealBuffer() }
        }
    }

    /// How many rows of a size the segment can still take. A segment of large rows ends at the end of a vector if it can.
    private func room(bytesPerRow: Double) -> Int {
        let free = max(0, Double(segmentBytes) - bufferedBytes), rest = segmentRows - buffered
        guard free < bytesPerRow * Double(rest) else { return rest }
        let total = buffered + Int(free / bytesPerRow)
        return (total < vectorSize ? total : total / vectorSize * vectorSize) - buffered
    }

    /// Returns a column in stored form: appends its embedded objects to their own type and replaces them by their row ids.
    private func stored(_ column: Column, _ index: Int) throws(FirnError) -> Column {
        guard transaction.schema.types[type].columns[index].type.kind == .embedded else { return column }
        var out = Column(column.type.stored)
        out.count = column.count
        out.present = column.present
        if column.type.isCollection {
            out.offsets = column.offsets
            out.children = column.children
            out.children[out.children.count - 1] = try rowIDs(of: column.children.last!, target: column.type.target!)
        } else {
            out.words = try rowIDs(of: column, target: column.type.target!).words
        }
        return out
    }

    private func rowIDs(of objects: Column, target: String) throws(FirnError) -> Column {
        let present = objects.present
        var links = Column(objects.type.stored)
        links.count = objects.count
        links.present = present
        guard (present?.ones ?? objects.count) > 0 else {
            // Columns without any object share one array of zeros: a type may have many of them.
            var zeros = Column(ColumnType(.int))
            vacant.fill(&zeros, rows: objects.count)
            links.words = zeros.words
            return links
        }
        let writer = try transaction.bulkWriter(target)
        var fields = objects.children
        if let present, !present.allSet {
            var rows: [Int] = []
            present.forEachSet { rows.append($0) }
            fields = fields.map { $0.gather(rows) }
        }
        let count = present?.ones ?? objects.count
        var first = try writer.append(Batch(count: count, columns: fields))
        links.words = (0..<objects.count).map { row in
            guard present?[row] ?? true else { return 0 }
            first += 1
            return first - 1
        }
        return links
    }

    private func sealBuffer(isLast: Bool = false) throws(FirnError) {
        let full = Slots(buffer), rows = buffered, ids = RowIDs(bufferedIDs)
        for i in buffer.indices { buffer[i] = BufferedColumn(buffer[i].type, rows: segmentRows) }
        buffered = 0
        bufferedBytes = 0
        bufferedIDs = []
        try seal(full, rows: rows, rowIDs: ids, isLast: isLast)
    }

    /// Encodes a segment. A column leaves `columns` when it is encoded, so that its memory is free for what the encoders of the next ones
    /// hold.
    private func seal(_ columns: Slots<BufferedColumn>, rows count: Int, rowIDs: RowIDs, isLast: Bool = false) throws(FirnError) {
        let profile = isLast && isOnlySegment(rows: count) ? Profile.modelled : profile
        if encoders.isEmpty {
            let minimum = TextGroupEncoder.minimumRows, isWide = columns.count > BulkWriter.manyColumns
            let trialRows = isWide ? min(2 * minimum, max(minimum, 2 * segmentRows)) : minimum
            encoders = schema.columns.indices.map {
                ColumnEncoder(
                    schema.columns[$0].type.stored, profile: profile, isLookedUp: schema.isLookedUp($0), isQuick: isWide,
                    trialRows: trialRows)
            }
        }
        group.append(SegmentDraft(rowCount: count, rowIDs: rowIDs, chunks: Array(repeating: .waiting, count: columns.count)))
        // With many columns and few rows, encoders and chunks take more memory than the values.
        let memory = transaction.database.memory, needed = columns.count * BulkWriter.columnBytes
        if !memory.note(needed) {
            throw FirnError.beyondMemory("writing \(columns.count) columns of type \"\(schema.name)\"", needed, memory)
        }
        let encoders = Unshared(self.encoders)
        // A sparse column gets an entry for every row only while it is encoded.
        let plan = RelationPlan(
            (0..<columns.count).map { schema.isLookedUp($0) ? nil : columns[$0].flatMap { $0.isSparse ? nil : $0.column } },
            canBeCoded: encoders.value.map(\.canBeCoded), profile: profile, threads: transaction.threads, memory: &relations)
        let presence = transaction.presence(
            (0..<columns.count).map { plan.hasOwnPresence($0) ? columns[$0]?.presenceToShare : nil }, profile: profile)
        let isIndexed = entersIndexes && !transaction.states[type].indexes.isEmpty
        // Texts take longer than numbers.
        let costs = (0..<columns.count).map { columns[$0]?.textBytes ?? 0 }
        let ready = transaction.inParallel(costs: costs) { column in
            guard let values = columns[column]?.column else { trap("a segment has every column") }
            if !isIndexed { columns[column] = nil }
            encoders.value[column].add(
                values, presence: presence[column], role: plan.roles[column], prepared: plan.prepared[column])
            if columns.count > BulkWriter.manyColumns { encoders.value[column].releaseContexts() }
            return encoders.value[column].takeReady()
        }
        for (column, chunks) in ready.enumerated() { take(chunks, column) }
        if isIndexed {
            try transaction.enter(count: columns.count, type) { column in
                guard let values = columns[column]?.column else { trap("a column with an index is kept") }
                return values
            } rowID: {
                rowIDs[$0]
            }
        }
        if packsSegments || group.count == BulkWriter.groupSize || held > BulkWriter.heldBytes
            || encoders.value.reduce(0, { $0 + $1.bufferedBytes })
                > (columns.count > BulkWriter.manyColumns ? BulkWriter.wideGroupBytes : BulkWriter.groupBytes)
        {
            try endGroup()
        }
    }

    /// Whether the next segment is the only one of its type, so that all of its columns can be decoded as a whole.
    private func isOnlySegment(rows: Int) -> Bool {
        profile == .small && rows < segmentRows && group.isEmpty && entries.isEmpty && buffer.count <= BulkWriter.manyColumns
            && transaction.states[type].directory.isNone
    }

    private func take(_ chunks: [ColumnEncoder.Ready], _ column: Int) {
        for ready in chunks {
            transaction.store.require(ready.summary.features)
            group[ready.segment].chunks[column] = .held(ready.chunk, ready.summary)
            held += ready.chunk.streams.reduce(0) { $0 + $1.bytes.count }
        }
    }

    private func writeChunks(_ segment: Int) throws(FirnError) {
        for column in group[segment].chunks.indices {
            guard case .held(let chunk, let summary) = group[segment].chunks[column] else { continue }
            group[segment].chunks[column] = .written(try transaction.write(chunk.encoded), summary)
        }
    }

    /// Writes what the segments of the group share, then the segments one after another.
    private func endGroup() throws(FirnError) {
        guard !group.isEmpty else { return }
        try transaction.writeSchemaEarly()
        let encoders = Unshared(self.encoders)
        let ends = transaction.inParallel(costs: self.encoders.map(\.bufferedBytes)) { column in encoders.value[column].finish() }
        self.encoders = []
        var shared: [SegmentHeader.Shared] = []
        for (column, end) in ends.enumerated() {
            take(end.ready, column)
            for (stream, blobs) in [(StreamKind.text, end.text), (.keys, end.keys)] {
                for blob in blobs {
                    shared.append(.init(column: column, stream: stream, kind: blob.kind, ref: try transaction.write(blob.bytes)))
                }
            }
        }
        let packed = shared.isEmpty && group.count == 1 ? packedChunks(group[0]) : nil
        packsSegments = packsSegments && packed != nil
        for segment in group.indices {
            if packed == nil { try writeChunks(segment) }
            try writeHeader(group[segment], shared: shared, packed: packed)
        }
        group = []
        held = 0
    }

    private func packedChunks(_ draft: SegmentDraft) -> [[UInt8]]? {
        var chunks: [[UInt8]] = []
        var total = 0
        for column in draft.chunks {
            guard case .held(let chunk, _) = column else { return nil }
            chunks.append(chunk.encoded)
            total += chunks.last!.count
        }
        return total <= SegmentHeader.packedLimit(columns: chunks.count) ? chunks : nil
    }

    private func writeHeader(_ draft: SegmentDraft, shared: [SegmentHeader.Shared], packed: [[UInt8]]?) throws(FirnError) {
        var list: [SegmentHeader.Entry] = []
        for (column, chunk) in draft.chunks.enumerated() {
            let id = schema.columns[column].id
            switch chunk {
            case .waiting: trap("every chunk is ready when its group ends")
            case .held(_, let summary):
                let size = packed?[column].count ?? 0
                let zone = SegmentHeader.packedZone(summary, of: size, isLookedUp: schema.isLookedUp(column))
                list.append(.init(columnID: id, zone: zone, logicalHash: summary.logicalHash))
            case .written(let ref, let summary):
                list.append(.init(columnID: id, zone: summary.zone, chunk: ref, logicalHash: summary.logicalHash))
            }
        }
        let first = draft.rowIDs.first
        var header = SegmentHeader(rowCount: draft.rowCount, firstRowID: first, entries: list)
        if case .listed(let ids) = draft.rowIDs {
            header.rowIDs = ids.map { $0 - first }.withUnsafeBufferPointer { IntegersEncoder.encodeBasic($0, profile: profile) }
        }
        header.shared = shared
        header.packedChunks = packed
        entries.append(
            DirectoryEntry(
                firstRowID: first, lastRowID: draft.rowIDs.last, rowCount: draft.rowCount, deletedCount: 0,
                header: try transaction.write(header, ofType: schema.id)))
    }

    /// Seals the remaining rows and adds the new segments to the transaction. Later rows begin a new group. `commit` calls it too.
    package func finish() throws(FirnError) {
        defer { waiting.store(isPending, ordering: .releasing) }
        guard isPending else { return }
        if buffered > 0 { try sealBuffer(isLast: true) }
        try endGroup()
        let finished = entries
        entries = []
        try transaction.addSegments(finished, type: type)
    }
}

extension Sequence {
    /// Maps the elements like `map`, with typed errors.
    func mapTyped<T, E: Error>(_ body: (Element) throws(E) -> T) throws(E) -> [T] {
        var out: [T] = []
        for element in self { out.append(try body(element)) }
        return out
    }
}
