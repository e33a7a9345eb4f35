import FirnTable

/// The pieces of consecutive rows that threads format as text.
package enum RowPieces {
    /// About how many bytes of values a thread formats at a time, and how many rows at most.
    private static let bytes = 1 << 20
    private static let rows = 8192
    private static let least = 1024

    /// Returns groups of pieces, in order: one piece for each thread in a group. All pieces have about the same number of rows, so that all
    /// threads are at work, unless the pieces would be very short. `names`: how many bytes of names are written with all rows of the batch.
    package static func groups(_ batch: Batch, _ rows: Range<Int>, threads: Int, names: Int = 0) -> [[Range<Int>]] {
        guard !rows.isEmpty else { return [] }
        let rowBytes = max(1, batch.columns.reduce(names) { $0 &+ $1.footprint } / max(1, batch.count)), threads = max(1, threads)
        let most = max(1, min(RowPieces.rows, RowPieces.bytes / rowBytes))
        let count = (rows.count + most * threads - 1) / (most * threads)
        let step = max((rows.count + count * threads - 1) / (count * threads), min(most, least))
        var groups: [[Range<Int>]] = [], start = rows.lowerBound
        while start < rows.upperBound {
            var pieces: [Range<Int>] = []
            while pieces.count < threads, start < rows.upperBound {
                let end = min(start + step, rows.upperBound)
                pieces.append(start..<end)
                start = end
            }
            groups.append(pieces)
        }
        return groups
    }
}
