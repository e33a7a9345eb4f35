import FirnBytes
import FirnDisk
import FirnExchange
import FirnModel

/// The rows of a `.firn` file as batches: one segment after the other, the columns of a segment on several threads.
final class StoredReader: BatchReader {
    let schema: Schema
    let remarks: [String] = []
    private let tables: [any Table]
    private let path: String
    private let threads: Int
    private let progress: Progress
    private var table = 0
    private var segment = 0

    init(_ tables: [any Table], schema: Schema, path: String, threads: Int, progress: Progress) {
        self.tables = tables
        self.schema = schema
        self.path = path
        self.threads = threads
        self.progress = progress
    }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while table < tables.count {
            let current = tables[table]
            guard segment < current.segmentCount else {
                table += 1
                segment = 0
                continue
            }
            segment += 1
            do throws(Damage) {
                let batch = try StoredReader.batch(of: try current.segment(segment - 1), columns: Array(current.type.columns.indices), threads: threads)
                guard batch.count > 0 else { continue }
                progress.add(rows: batch.count)
                return (current.type.name, batch)
            } catch {
                throw FirnError.damaged(path, what: error.what, byte: error.offset)
            }
        }
        return nil
    }

    /// The live rows of a segment.
    static func batch(of segment: any Segment, columns: [Int], threads: Int) throws(Damage) -> Batch {
        let live = segment.live.flatMap { $0.allSet ? nil : $0 }
        var rows: [Int] = []
        live?.forEachSet { rows.append($0) }
        let chosen = rows
        let read = try parallelMap(count: columns.count, threads: threads) { (index) throws(Damage) -> Column in
            let whole = try column(of: try segment.column(columns[index]), vectors: segment.vectorCount)
            return live == nil ? whole : whole.gather(chosen)
        }
        return Batch(count: segment.liveCount, columns: read)
    }

    private static func column(of reader: any ColumnReader, vectors: Int) throws(Damage) -> Column {
        var whole = Column(reader.type), part = Column(reader.type)
        for vector in 0..<vectors {
            try reader.read(vector: vector, into: &part)
            if vector == 0 { whole = part } else { whole.append(contentsOf: part) }
        }
        return whole
    }
}
