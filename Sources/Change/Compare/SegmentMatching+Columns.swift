import FirnBytes
import FirnTable
import FirnThreads

/// Compares tables that are best read column by column (`Table.readsByColumn`): each thread takes a column, and reads it from one segment to the
/// next.
extension SegmentMatching {
    /// The number of segments that are compared together. Their pairs of rows are held: 8 bytes for each row.
    private static let run = 16

    func matchByColumn() throws(FirnError) -> [SegmentDifference] {
        var out: [SegmentDifference] = []
        for first in stride(from: 0, to: new.segmentCount, by: SegmentMatching.run) {
            var found: [Matched] = []
            for number in first..<min(first + SegmentMatching.run, new.segmentCount) { found.append(try findPartners(number)) }
            try compareKeys(&found)
            if options.kinds.contains(.changed) {
                for column in try differences(compared, of: found) {
                    for i in found.indices { found[i].add(column[i]) }
                }
            }
            out += found.map(\.out)
        }
        return out
    }

    private func compareKeys(_ found: inout [Matched]) throws(FirnError) {
        let unequal = try differences(key, of: found)
        for i in found.indices {
            var mistaken = Bits(count: found[i].out.partners.count)
            for column in unequal { mistaken.formUnion(column[i]) }
            if !mistaken.noneSet { try correct(mistaken, &found[i]) }
            found[i].noteAdded()
        }
    }

    /// Returns, for each column, the rows of each segment that differ in it.
    private func differences(_ columns: [ColumnPairing], of found: [Matched]) throws(FirnError) -> [[Bits]] {
        let segments = found.map { ($0.number, $0.comparison) }
        // Texts take the most time: they are first, so that no thread is left alone with them.
        let order = columns.indices.sorted { (columns[$0].mode.isSlow ? 0 : 1, $0) < (columns[$1].mode.isSlow ? 0 : 1, $1) }
        let results = try parallelMap(count: columns.count, threads: options.execution.threads) { (i) throws(FirnError) -> [Bits] in
            var partners = PartnerColumn(columns[order[i]], of: old, options.oldName), bits: [Bits] = []
            // Segments are opened for one column, so that no other decoded columns are held.
            for (number, comparison) in segments {
                try options.execution.progress(0)
                var comparison = comparison
                bits.append(try comparison.differences(try open(number), &partners))
            }
            return bits
        }
        var out = [[Bits]](repeating: [], count: columns.count)
        for (i, column) in order.enumerated() { out[column] = results[i] }
        return out
    }
}
