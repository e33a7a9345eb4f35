import FirnBytes
import FirnTable

/// The number of distinct values of every group.
struct DistinctValues {
    private(set) var counts: [Int] = []
    private var table: ValueNumbering
    private var pairs = DistinctPairs()
    /// For the current segment, the number of each entry of its dictionary; `.max` if it has not been needed yet.
    private var numbers: [UInt32] = []
    private var segment = -1
    /// The memory in use in bytes.
    var bytes: Int { counts.count &* 8 &+ table.bytes &+ pairs.bytes &+ numbers.count &* 4 }

    init(_ type: ColumnType) { table = ValueNumbering(type) }

    mutating func resize(_ count: Int) {
        if counts.count < count { counts.append(contentsOf: repeatElement(0, count: count - counts.count)) }
    }

    /// Adds the chosen rows of a column.
    mutating func add(_ column: Column, _ chosen: RowChoice) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chosen.hits) { ids in
            table.numbers(column, UnsafeBufferPointer(start: chosen.rows, count: chosen.hits), into: ids.baseAddress!)
            pairs.meet(UnsafeBufferPointer(ids), below: table.count, chosen.groups, &counts)
        }
    }

    /// Adds the chosen rows of a dictionary-coded column: each dictionary entry is looked up only once for each segment.
    mutating func add(codes: Column, of dictionary: Text, _ segment: Int, _ chosen: RowChoice) {
        if self.segment != segment {
            self.segment = segment
            numbers = Array(repeating: .max, count: dictionary.count)
        }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chosen.hits) { ids in
            for j in 0..<chosen.hits {
                let row = Int(chosen.rows[j])
                guard codes.isPresent(row) else {
                    ids[j] = 0
                    continue
                }
                let code = Int(codes.words[row])
                if numbers[code] == .max { numbers[code] = dictionary.withBytes(code) { table.number(text: $0) } }
                ids[j] = numbers[code]
            }
            pairs.meet(UnsafeBufferPointer(ids), below: table.count, chosen.groups, &counts)
        }
    }

    /// Adds another run's values; its group g is this one's `groupOf[g]`.
    mutating func merge(_ other: DistinctValues, _ groupOf: [Int]) {
        let numbers = table.numbers(of: other.table)
        pairs.meet(other.pairs, groupOf, numbers, below: table.count, &counts)
    }
}
