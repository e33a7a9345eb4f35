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
    /// Whether all rows belong to group 0, because there are no keys: the values are counted without pairs.
    private var isSingle = false
    /// Whether a set of bits cannot hold the values.
    private var isBarred = false
    /// How values are words, once a set of bits holds them or has held them.
    private var units: DistinctUnits?
    /// The values of the only group, once they are many. `table` is empty then.
    private var bits: DistinctBits?
    /// The memory in use in bytes.
    var bytes: Int {
        (bits?.bytes ?? 0) &+ counts.count &* 8 &+ table.bytes &+ pairs.bytes &+ (numbers.count &+ pendingGroups.count) &* 4
            &+ pending.footprint &+ scratch.count
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
        isSingle = chosen.groups == nil
        if isSingle, addBits(column, chosen) { return }
        if table.count >= PartNumbers.minimumKeys, !table.isPlain { return hold(column, chosen) }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chosen.hits) { ids in
            table.numbers(column, UnsafeBufferPointer(start: chosen.rows, count: chosen.hits), into: ids.baseAddress!)
            if !isSingle { pairs.meet(UnsafeBufferPointer(ids), below: table.count, chosen.groups, &counts) }
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
        if pending.count >= GroupRound.maximumRows || pending.text.bytes.count >= GroupRound.maximumBytes { lookUp() }
    }

    /// Looks up the values that wait, and completes the counts.
    mutating func settle() {
        lookUp()
        if isSingle { counts[0] = bits?.count ?? table.count - 1 }
    }

    private mutating func lookUp() {
        let count = pending.count
        guard count > 0 else { return }
        scratch.begin(arrays: 1, bytes: count * 4)
        let ids = scratch.array(count, of: UInt32.self)
        table.numbers(ofAll: pending, into: ids)
        if !isSingle {
            pendingGroups.withUnsafeBufferPointer { groups in
                pairs.meet(UnsafeBufferPointer(start: ids, count: count), below: table.count, groups.baseAddress, &counts)
            }
        }
        pending.removeAll()
        pendingGroups.removeAll(keepingCapacity: true)
    }

    /// Adds the chosen rows of a dictionary-coded column: each dictionary entry is looked up only once for each segment.
    mutating func add(codes: Column, of dictionary: Text, _ segment: Int, _ chosen: RowChoice) {
        isSingle = chosen.groups == nil
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
            if !isSingle { pairs.meet(UnsafeBufferPointer(ids), below: table.count, chosen.groups, &counts) }
        }
    }

    /// Adds another run's values, none of which waits; its group g is this one's `groupOf[g]`.
    mutating func merge(_ other: DistinctValues, _ groupOf: [Int], threads: Int) {
        lookUp()
        isSingle = isSingle || other.isSingle
        guard isSingle else {
            let numbers = table.numbers(of: other.table, threads: threads)
            return pairs.meet(other.pairs, groupOf, numbers, below: table.count, &counts)
        }
        if bits != nil || other.bits != nil && makeBits(), addBits(other) { return settle() }
        leaveBits()
        lookUpBits(of: other)
        _ = table.numbers(of: other.table, threads: threads)
        settle()
    }

    // MARK: Bits

    /// Adds rows of the only group as bits, if they are many. Returns false, and adds nothing, if they must be looked up.
    private mutating func addBits(_ column: Column, _ chosen: RowChoice) -> Bool {
        if bits == nil {
            guard !isBarred, table.count >= PartNumbers.minimumKeys, !table.isPlain, makeBits() else { return false }
        }
        if let words = units?.words(of: column, chosen), bits?.insert(words) == true { return true }
        // Decimals with more digits are in the table afterwards, from which bits of finer units can be made.
        leaveBits()
        return false
    }

    /// Replaces the table with bits. Returns false, and changes no value, if its values have none.
    private mutating func makeBits() -> Bool {
        // Values that wait are values of the table.
        lookUp()
        var made = DistinctBits()
        let column = table.values
        guard let units = DistinctUnits(column, after: units), let words = units.words(of: column, from: 1), made.insert(words) else {
            isBarred = true
            return false
        }
        (bits, self.units) = (made, units)
        table = ValueNumbering(table.type)
        return true
    }

    /// Adds another run's values to the bits. Returns false, and leaves some of them out, if they have none.
    private mutating func addBits(_ other: DistinctValues) -> Bool {
        if let theirs = other.bits, other.units != units || bits?.formUnion(theirs) != true { return false }
        guard let words = units?.words(of: other.table.values, from: 1) else { return false }
        return bits?.insert(words) == true
    }

    /// Enters the values of the bits into the table.
    private mutating func leaveBits() {
        lookUpBits(of: self)
        if bits != nil { isBarred = units == .words }
        bits = nil
    }

    private mutating func lookUpBits(of other: DistinctValues) {
        guard let bits = other.bits, let column = other.units?.column(bits.words, table.type) else { return }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: column.count) { ids in
            if let start = ids.baseAddress { table.numbers(ofAll: column, into: start) }
        }
    }
}
