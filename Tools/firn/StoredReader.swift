import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// Reads the rows of a `.firn` file as batches: one segment after the other, the columns of a segment on several threads. Segments with
/// very many columns are read in smaller batches, in which columns without any value share their memory. Columns that nothing needs are not
/// read, so that damage in them does not matter; they have no values.
///
/// With fewer rows in a batch than a segment has, the memory of a batch is used again for the next one, if the caller holds it no longer:
/// memory that is new to the process costs more time than most columns take to decode.
final class StoredReader: BatchReader {
    let schema: Schema
    let remarks: [String] = []
    private let tables: [any Table]
    private let path: String
    private let threads: Int
    private let progress: Progress
    /// The positions of the columns that are read, of the only type; nil for all.
    private let needed: Set<Int>?
    private var table = 0
    private var segment = 0
    /// The current segment that is read in several batches, and the next vector to read.
    private var current: (segment: any Segment, columns: [any ColumnReader], vector: Int)?
    /// The positions of the columns of `current`.
    private var chosen: [Int] = []
    /// The number of vectors of a batch of `current`.
    private var step = 1
    private let batchRows: Int
    /// The columns of the last batch.
    private var spare: [Column] = []
    /// The maximum number of slots (rows × columns) of a segment that is read as one batch.
    private static let maximumSlots = 1 << 24

    /// `batchRows`: the number of rows of a batch.
    init(
        _ tables: [any Table], schema: Schema, path: String, threads: Int, progress: Progress, needed: Set<Int>? = nil,
        batchRows: Int = segmentSize
    ) {
        self.batchRows = max(vectorSize, batchRows / vectorSize * vectorSize)
        self.needed = tables.count == 1 ? needed : nil
        self.tables = tables
        self.schema = schema
        self.path = path
        self.threads = threads
        self.progress = progress
    }

    /// Whether the rows have links.
    var hasLinks: Bool { schema.types.contains { $0.columns.contains { $0.type.kind == .link } } }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while table < tables.count {
            try progress.check()
            let source = tables[table]
            if current != nil {
                guard let batch = try nextOfCurrent() else { continue }
                return (source.type.name, batch)
            }
            guard segment < source.segmentCount else {
                table += 1
                segment = 0
                continue
            }
            segment += 1
            do throws(Damage) {
                let next = try source.segment(segment - 1), columns = source.type.columns.indices.filter { needed?.contains($0) ?? true }
                let isWide = next.vectorCount * vectorSize * columns.count > StoredReader.maximumSlots
                if next.vectorCount > 1, isWide || batchRows < segmentSize {
                    step = isWide ? 1 : batchRows / vectorSize
                    chosen = columns
                    current = (
                        next,
                        try parallelMap(count: columns.count, threads: threads) { (index) throws(Damage) in try next.column(columns[index])
                        }, 0
                    )
                    continue
                }
                let batch = completed(try StoredReader.batch(of: next, columns: columns, of: source, threads: threads), columns, source)
                guard batch.count > 0 else { continue }
                progress.add(rows: batch.count)
                return (source.type.name, batch)
            } catch {
                throw FirnError(error, in: path)
            }
        }
        return nil
    }

    /// Returns the live rows of the next vectors of the current segment, or nil if they have none.
    private func nextOfCurrent() throws(FirnError) -> Batch? {
        guard let (segment, readers, vector) = current else { return nil }
        let vectors = vector..<min(vector + step, segment.vectorCount)
        current = vectors.upperBound < segment.vectorCount ? (segment, readers, vectors.upperBound) : nil
        let start = vector * vectorSize, end = min(vectors.upperBound * vectorSize, segment.rowCount)
        let rows = segment.live.map { live in (start..<end).filter { live[$0] }.map { $0 - start } }
        let count = rows?.count ?? end - start, isWhole = count == end - start
        guard count > 0 else { return nil }
        var none = VacantColumns(), empty = Column(ColumnType(.int))
        none.fill(&empty, rows: count)
        let vacant = none, table = tables[table], chosen = chosen
        let old = Slots<Column>(spare)
        spare = []
        do throws(Damage) {
            let columns = try parallelMap(count: readers.count, threads: threads) { (index) throws(Damage) -> Column in
                let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[chosen[index]].name)
                let whole = try StoredReader.column(of: readers[index], vectors: vectors, into: old.take(index), memory)
                if let present = whole.present, present.noneSet {
                    var column = whole.emptyCopy, shared = vacant
                    shared.fill(&column, rows: count)
                    return column
                }
                return isWhole ? whole : whole.gather(rows ?? [])
            }
            if batchRows < segmentSize, isWhole { spare = columns }
            progress.add(rows: count)
            return completed(Batch(count: count, columns: columns), chosen, table)
        } catch {
            throw FirnError(error, in: path)
        }
    }

    /// Returns a batch of some columns with columns without values in place of the others.
    private func completed(_ batch: Batch, _ columns: [Int], _ table: any Table) -> Batch {
        guard needed != nil else { return batch }
        var read = batch.columns[...], none = VacantColumns(), whole = Batch(table.type, in: schema)
        for position in whole.columns.indices {
            if needed?.contains(position) == true, let column = read.popFirst() {
                whole.columns[position] = column
            } else {
                none.fill(&whole.columns[position], rows: batch.count)
                StoredReader.fillIn(&whole.columns[position])
            }
        }
        whole.count = batch.count
        return whole
    }

    /// Gives a column without values zeros and empty texts if it is not optional: conditions on other columns check the values that they pass
    /// on.
    private static func fillIn(_ column: inout Column) {
        guard column.type.kind != .link, column.type.kind != .any || column.type.isCollection else { return }
        if !column.type.isOptional { column.present = nil }
        if column.type.kind == .embedded, !column.type.isCollection { for i in column.children.indices { fillIn(&column.children[i]) } }
    }

    /// Returns the live rows of a segment.
    static func batch(of segment: any Segment, columns: [Int], of table: any Table, threads: Int) throws(Damage) -> Batch {
        let live = segment.live.flatMap { $0.allSet ? nil : $0 }
        var rows: [Int] = []
        live?.forEachSet { rows.append($0) }
        let chosen = rows
        let read = try parallelMap(count: columns.count, threads: threads) { (index) throws(Damage) -> Column in
            let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[columns[index]].name)
            let whole = try column(of: try segment.column(columns[index]), vectors: 0..<segment.vectorCount, into: nil, memory)
            if live == nil { return whole }
            var rest = whole.emptyCopy
            try rest.hold(memory, adding: whole.footprint)
            rest.appendGathered(whole, rows: chosen)
            return rest
        }
        return Batch(count: segment.liveCount, columns: read)
    }

    /// Returns the rows of some vectors of a column, in the memory of another one if there is one.
    private static func column(of reader: any ColumnReader, vectors: Range<Int>, into old: Column?, _ memory: MemoryScope) throws(Damage)
        -> Column
    {
        var whole = old.flatMap { $0.type == reader.type ? $0 : nil } ?? Column(reader.type)
        if vectors.count == 1 {
            try reader.read(vector: vectors.lowerBound, into: &whole)
            return whole
        }
        whole.removeAll()
        var part = Column(reader.type)
        for vector in vectors {
            try reader.read(vector: vector, into: &part)
            try whole.hold(memory, adding: part.footprint)
            whole.append(contentsOf: part)
        }
        return whole
    }
}
