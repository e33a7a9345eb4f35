import FirnBytes
import FirnTable
import FirnThreads

/// The number of distinct values of every group.
struct DistinctValues {
    private(set) var counts: [Int] = []
    private var table: ValueNumbering
    private var pairs = DistinctPairs()
    /// For the current segment, the number of each entry of its dictionary; `.max` if it has not been needed yet.
    private var numbers: [UInt32] = []
    private var segment = -1
    /// Values that are looked up together, and their groups, because their table does not fit the processor's cache.
    private var pending: Column
    private var pendingGroups: [UInt32] = []
    private let scratch = Scratch()
    /// The memory in use in bytes.
    var bytes: Int {
        counts.count &* 8 &+ table.bytes &+ pairs.bytes &+ (numbers.count &+ pendingGroups.count) &* 4 &+ pending.footprint &+ scratch.count
    }

    init(_ type: ColumnType) {
        table = ValueNumbering(type)
        pending = Column(type)
    }

    mutating func resize(_ count: Int) {
        if counts.count < count { counts.append(contentsOf: repeatElement(0, count: count - counts.count)) }
    }

    /// Adds the chosen rows of a column.
    mutating func add(_ column: Column, _ chosen: RowChoice) {
        if table.count >= PartNumbers.minimumKeys, !table.isPlain { return hold(column, chosen) }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chosen.hits) { ids in
            table.numbers(column, UnsafeBufferPointer(start: chosen.rows, count: chosen.hits), into: ids.baseAddress!)
            pairs.meet(UnsafeBufferPointer(ids), below: table.count, chosen.groups, &counts)
        }
    }

    private mutating func hold(_ column: Column, _ chosen: RowChoice) {
        let rows = UnsafeBufferPointer(start: chosen.rows, count: chosen.hits)
        if chosen.hits == column.count {
            pending.append(contentsOf: column)
        } else {
            pending.appendGathered(column, rows: rows.map { Int($0) })
        }
        if pending.count == chosen.hits { GroupRound.reserve(&pending) }
        if let groups = chosen.groups { pendingGroups.append(contentsOf: UnsafeBufferPointer(start: groups, count: chosen.hits)) }
        if pending.count >= GroupRound.maximumRows || pending.text.bytes.count >= GroupRound.maximumBytes { settle() }
    }

    /// Looks up the values that wait.
    mutating func settle() {
        let count = pending.count
        guard count > 0 else { return }
        scratch.begin(arrays: 2, bytes: count * 8)
        let rows = scratch.array(count, of: Int32.self), ids = scratch.array(count, of: UInt32.self)
        for j in 0..<count { rows[j] = Int32(truncatingIfNeeded: j) }
        table.numbers(pending, UnsafeBufferPointer(start: rows, count: count), into: ids)
        pendingGroups.withUnsafeBufferPointer { groups in
            pairs.meet(
                UnsafeBufferPointer(start: ids, count: count), below: table.count, groups.isEmpty ? nil : groups.baseAddress, &counts)
        }
        pending.removeAll()
        pendingGroups.removeAll(keepingCapacity: true)
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

    /// Adds another run's values, none of which waits; its group g is this one's `groupOf[g]`.
    mutating func merge(_ other: DistinctValues, _ groupOf: [Int], threads: Int) {
        settle()
        let numbers = table.numbers(of: other.table, threads: threads)
        pairs.meet(other.pairs, groupOf, numbers, below: table.count, &counts)
    }
}
