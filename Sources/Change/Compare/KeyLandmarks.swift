import FirnBytes
import FirnTable

/// The first key of each vector of a table whose keys ascend: the key of a row leads to the only vector that can have it.
struct KeyLandmarks: Sendable {
    /// A column for each column of the key, with one row for each vector.
    private var keys: [Column] = []
    /// The number of the first row of each vector, and the number of all rows.
    private var rows = [0]

    /// Adds a segment of `rowCount` rows. `first` are the first keys of its vectors.
    mutating func append(_ first: [Column], rowCount: Int) {
        if keys.isEmpty { keys = first } else { for i in keys.indices { keys[i].append(contentsOf: first[i]) } }
        let start = rows.removeLast()
        rows += stride(from: start, to: start + rowCount, by: vectorSize)
        rows.append(start + rowCount)
    }

    /// Returns the rows of the table that can have the key in a row of `columns`, which are those of the key, with values that are not null.
    func rows(with columns: [Column], _ row: Int) -> Range<Int> {
        var low = 0, high = rows.count - 1
        while low < high {
            let middle = (low + high) / 2
            if KeyOrder.compare(keys, middle, columns, row) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0..<0 : rows[low - 1]..<rows[low]
    }
}

/// Finds the old rows with the keys of a segment of the new table by landmarks.
struct KeyProbe {
    private let landmarks: KeyLandmarks
    private let readers: [any ColumnReader]
    private var columns: [Column]
    private var vector = -1
    /// How many more rows are searched for. A table of hashes costs less for many rows.
    private(set) var remaining: Int

    /// Returns nil if the columns of the two tables are not compared in the same order.
    init?(_ landmarks: KeyLandmarks, _ segment: any Segment, _ key: [ColumnPairing]) throws(Damage) {
        guard key.allSatisfy(\.isLaidOutAlike) else { return nil }
        self.landmarks = landmarks
        readers = try key.map { (pairing) throws(Damage) in try segment.column(pairing.new.index) }
        columns = key.map { Column($0.new.column, in: $0.new.schema) }
        remaining = segment.rowCount / 16
    }

    /// Returns the number of the old row with the hash of the key of a row; nil if there is none.
    mutating func find(_ row: Int, hash: UInt64, in hashes: UnsafePointer<UInt64>) throws(Damage) -> Int? {
        remaining -= 1
        if vector != row / vectorSize {
            vector = row / vectorSize
            for i in readers.indices { try readers[i].read(vector: vector, into: &columns[i]) }
        }
        let place = row - vector * vectorSize
        guard columns.allSatisfy({ place < $0.count && $0.isPresent(place) }) else { return nil }
        let range = landmarks.rows(with: columns, place)
        return range.first { hashes[$0] == hash }
    }
}
