import FirnBytes
import FirnExchange
import FirnTable

/// Reads rows in which links are the positions of the rows that they lead to, for formats without row ids: positions differ from row ids where
/// rows were deleted.
final class RankedLinksReader: BatchReader {
    let schema: Schema
    private let source: StoredReader
    private let ranks: [String: [Int64]]

    /// Returns nil if no rows that links lead to were deleted.
    init?(_ source: StoredReader, _ tables: [any Table], path: String) throws(FirnError) {
        var ranks: [String: [Int64]] = [:]
        do throws(Damage) {
            for table in tables where table.rowCount > 0 {
                guard let last = try table.rowID(atRank: table.rowCount - 1), last >= Int64(table.rowCount) else { continue }
                ranks[table.type.name] = try table.liveRowIDs()
            }
        } catch { throw FirnError(error, in: path) }
        guard source.schema.types.contains(where: { $0.columns.contains { $0.type.target.map { ranks[$0] != nil } ?? false } }) else {
            return nil
        }
        (self.source, self.ranks, schema) = (source, ranks, source.schema)
    }

    private var lost = 0
    var remarks: [String] {
        source.remarks
            + (lost > 0
                ? [
                    lost == 1
                        ? "1 link to a row that does not exist is written as such"
                        : "\(lost) links to rows that do not exist are written as such"
                ] : [])
    }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard var (name, batch) = try source.next() else { return nil }
        for position in batch.columns.indices { rank(&batch.columns[position]) }
        return (name, batch)
    }

    private func rank(_ column: inout Column) {
        if column.type.kind == .embedded || column.type.isCollection { for i in column.children.indices { rank(&column.children[i]) } }
        guard column.type.kind == .link, !column.type.isCollection, let rows = column.type.target.flatMap({ ranks[$0] }) else { return }
        for i in 0..<column.count where column.isPresent(i) {
            var low = 0, high = rows.count
            while low < high {
                let middle = (low + high) / 2
                if rows[middle] < column.words[i] { low = middle + 1 } else { high = middle }
            }
            if low < rows.count, rows[low] == column.words[i] {
                column.words[i] = Int64(low)
            } else {
                lost += 1
                // Where nulls are not possible, there is no row after the last one.
                if column.type.isOptional { column.setNull(i) } else { column.words[i] = Int64(rows.count) }
            }
        }
    }
}
