import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// Reads the rows of a `.firn` file as batches: one segment after the other, the columns of a segment on several threads. Segments with
/// very many columns are read in smaller batches, in which columns without any value share their memory. Columns that nothing needs are not
/// read, so that damage in them does not matter; they have no values.
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
    /// The current segment with many columns, and the next vector to read.
    private var wide: (segment: any Segment, columns: [any ColumnReader], vector: Int)?
    /// The positions of the columns of `wide`.
    private var chosen: [Int] = []
    /// The maximum number of slots (rows × columns) of a segment that is read as one batch.
    private static let maximumSlots = 1 << 24

    init(_ tables: [any Table], schema: Schema, path: String, threads: Int, progress: Progress, needed: Set<Int>? = nil) {
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
            let current = tables[table]
            if wide != nil {
                guard let batch = try nextOfWide() else { continue }
                return (current.type.name, batch)
            }
            guard segment < current.segmentCount else {
                table += 1
                segment = 0
                continue
            }
            segment += 1
            do throws(Damage) {
                let next = try current.segment(segment - 1), columns = current.type.columns.indices.filter { needed?.contains($0) ?? true }
                if next.vectorCount * vectorSize * columns.count > StoredReader.maximumSlots, next.vectorCount > 1 {
                    chosen = columns
                    wide = (
                        next,
                        try parallelMap(count: columns.count, threads: threads) { (index) throws(Damage) in try next.column(columns[index])
                        }, 0
                    )
                    continue
                }
                let batch = completed(try StoredReader.batch(of: next, columns: columns, of: current, threads: threads), columns, current)
                guard batch.count > 0 else { continue }
                progress.add(rows: batch.count)
                return (current.type.name, batch)
            } catch {
                throw FirnError(error, in: path)
            }
        }
        return nil
    }

    /// Returns the live rows of the next vector of a segment with many columns, or nil if the vector has none.
    private func nextOfWide() throws(FirnError) -> Batch? {
        guard let (segment, readers, vector) = wide else { return nil }
        wide = vector + 1 < segment.vectorCount ? (segment, readers, vector + 1) : nil
        let start = vector * vectorSize, end = min(start + vectorSize, segment.rowCount)
        let rows = (start..<end).filter { segment.live?[$0] ?? true }.map { $0 - start }, isWhole = rows.count == end - start
        guard !rows.isEmpty else { return nil }
        var none = VacantColumns(), empty = Column(ColumnType(.int))
        none.fill(&empty, rows: rows.count)
        let vacant = none
        do throws(Damage) {
            let columns = try parallelMap(count: readers.count, threads: threads) { (index) throws(Damage) -> Column in
                var part = Column(readers[index].type)
                try readers[index].read(vector: vector, into: &part)
                if let present = part.present, present.noneSet {
                    var column = part.emptyCopy, shared = vacant
                    shared.fill(&column, rows: rows.count)
                    return column
                }
                return isWhole ? part : part.gather(rows)
            }
            progress.add(rows: rows.count)
            return completed(Batch(count: rows.count, columns: columns), chosen, tables[table])
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
            let whole = try column(of: try segment.column(columns[index]), vectors: segment.vectorCount, memory)
            if live == nil { return whole }
            var rest = whole.emptyCopy
            try rest.hold(memory, adding: whole.footprint)
            rest.appendGathered(whole, rows: chosen)
            return rest
        }
        return Batch(count: segment.liveCount, columns: read)
    }

    private static func column(of reader: any ColumnReader, vectors: Int, _ memory: MemoryScope) throws(Damage) -> Column {
        var whole = Column(reader.type), part = Column(reader.type)
        for vector in 0..<vectors {
            try reader.read(vector: vector, into: &part)
            if vector == 0 {
                whole = part
            } else {
                try whole.hold(memory, adding: part.footprint)
                whole.append(contentsOf: part)
            }
        }
        return whole
    }
}
