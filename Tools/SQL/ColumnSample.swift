import CSQLite
import FirnBytes
import FirnTable

/// A sample of a table, of a few vectors spread over it, from which the number of rows with equal values is estimated.
final class ColumnSample {
    private static let vectors = 8
    /// The hashes of the sampled values by column, computed once.
    private var hashes: [Int: [UInt64]] = [:]
    private var shares: [[Int]: Double] = [:]
    /// The sampled vectors.
    private let taken: [(segment: Int, vector: Int)]
    /// The index of each sampled vector's first row in the hashes.
    private var starts: [Int] = [0]
    private let reader: SQLReader
    private let vectorCount: Int

    init(_ table: any Table, _ columns: [SQLColumn], _ numbers: VectorNumbers) throws(Damage) {
        reader = SQLReader(table, columns)
        vectorCount = numbers.count
        let count = min(ColumnSample.vectors, numbers.count)
        taken = (0..<count).map { numbers[$0 * numbers.count / count] }
        for (segment, vector) in taken { starts.append(starts.last! + (try table.segment(segment)).rows(ofVector: vector).count) }
    }

    private var count: Int { starts.last! }

    private func hashes(_ column: Int) throws(Damage) -> [UInt64] {
        if let known = hashes[column] { return known }
        var all = [UInt64](repeating: 0, count: count)
        let buffer = ColumnBuffer(), out = UnsafeMutablePointer<UInt64>.allocate(capacity: vectorSize)
        defer { out.deallocate() }
        for (i, sampled) in taken.enumerated() {
            try reader.move(to: sampled.segment)
            let filled = try reader.fill(buffer, column: column, vector: sampled.vector), rows = starts[i + 1] - starts[i]
            EqualityKey.hash(filled, reader.columns[column].form, count: rows, into: out)
            for row in 0..<rows { all[starts[i] + row] = out[row] }
        }
        hashes[column] = all
        return all
    }

    /// Estimates the probability that two rows have equal values in all of these columns. Rows of one vector are often similar, so pairs
    /// within a vector and pairs across vectors are counted separately and weighted by their frequency in the table.
    func share(_ columns: [Int]) throws(Damage) -> Double {
        if let known = shares[columns] { return known }
        var combined: [UInt64] = [], isPresent = [Bool](repeating: true, count: count)
        for (k, column) in columns.enumerated() {
            let next = try hashes(column)
            for i in next.indices where next[i] == nullHash { isPresent[i] = false }
            if k == 0 { combined = next } else { for i in next.indices { combined[i] = EqualityKey.combine(combined[i], next[i]) } }
        }
        var keys: [(hash: UInt64, block: Int)] = []
        for block in taken.indices { for i in starts[block]..<starts[block + 1] where isPresent[i] { keys.append((combined[i], block)) } }
        keys.sort { ($0.hash, $0.block) < ($1.hash, $1.block) }
        var within = 0.0, all = 0.0, at = 0
        while at < keys.count {
            var end = at, inBlock = 0.0
            while end < keys.count, keys[end].hash == keys[at].hash {
                inBlock = end > at && keys[end].block == keys[end - 1].block ? inBlock + 1 : 1
                within += 2 * (inBlock - 1)
                end += 1
            }
            all += Double(end - at) * Double(end - at - 1)
            at = end
        }
        var pairsWithin = 0.0
        for block in taken.indices {
            pairsWithin += Double(starts[block + 1] - starts[block]) * Double(starts[block + 1] - starts[block] - 1)
        }
        let pairsAcross = Double(count) * Double(count - 1) - pairsWithin,
            weight = taken.count == vectorCount ? nil : 1 / Double(max(vectorCount, 1))
        let share: Double =
            if let weight, pairsAcross > 0 {
                (all - within) / pairsAcross * (1 - weight) + within / max(1, pairsWithin) * weight
            } else {
                all / max(1, pairsAcross + pairsWithin)
            }
        shares[columns] = share
        return share
    }

    /// Estimates the fraction of rows that equal a value. Returns nil if equal rows have no common hash.
    func part(_ column: Int, equalTo value: OpaquePointer) throws(Damage) -> Double? {
        guard count > 0, case .hash(let hash, _) = EqualityKey.probe(value, reader.columns[column].form) else { return nil }
        let matching = try hashes(column).reduce(0) { $0 + ($1 == hash ? 1 : 0) }
        return max(0.5, Double(matching)) / Double(count)
    }
}
