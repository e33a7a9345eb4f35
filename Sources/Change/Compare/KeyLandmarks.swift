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

/// Finds the old rows with the keys of a segment of the new table: a few by landmarks, many by the table of hashes.
struct KeySearch {
    private let index: KeyIndex
    private var table: KeyHashTable?
    private let landmarks: KeyLandmarks?
    private let readers: [any ColumnReader]
    private var columns: [Column]
    private var vector = -1
    /// How many more rows are searched for by landmarks.
    private var remaining: Int

    /// `takesAll`: no old row is left out.
    init(_ index: KeyIndex, _ segment: any Segment, _ key: [ColumnPairing], takesAll: Bool) throws(Damage) {
        self.index = index
        // The columns of both tables must have the same order.
        landmarks = takesAll && key.allSatisfy(\.isLaidOutAlike) ? index.landmarks : nil
        remaining = landmarks == nil ? 0 : segment.rowCount / 16
        readers = landmarks == nil ? [] : try key.map { (pairing) throws(Damage) in try segment.column(pairing.new.index) }
        columns = key.map { Column($0.new.column, in: $0.new.schema) }
    }

    /// Returns the number of the first old row with the hash of the key of a row; `KeyHashTable.none` if there is none.
    mutating func find(_ row: Int, hash: UInt64) throws(Damage) -> UInt32 {
        if let landmarks, remaining > 0 {
            remaining -= 1
            return try find(row, hash: hash, landmarks)
        }
        let table = table ?? index.table()
        self.table = table
        return table.first(hash)
    }

    private mutating func find(_ row: Int, hash: UInt64, _ landmarks: KeyLandmarks) throws(Damage) -> UInt32 {
        if vector != row / vectorSize {
            vector = row / vectorSize
            for i in readers.indices { try readers[i].read(vector: vector, into: &columns[i]) }
        }
        let place = row - vector * vectorSize
        guard columns.allSatisfy({ place < $0.count && $0.isPresent(place) }) else { return KeyHashTable.none }
        return index.first(hash, in: landmarks.rows(with: columns, place))
    }
}
