import FirnBytes
import FirnTable

/// The matching rows with their sort and distinct keys, and the execution of the descriptors on them.
struct Collector {
    /// The segment in the high half, the row within it in the low half.
    var positions: [UInt64] = []
    var keys: [Column]
    /// The remaining rows, in order: positions in the arrays above.
    var order: [Int32] = []
    /// Set by pruning: excludes rows that are after the limit in sort order.
    private(set) var cut: SortCut?
    /// The charges for the positions and for sorting them, including those of appended collectors and of their keys.
    private var charges: [MemoryCharge] = []

    init(_ plan: QueryPlan) { keys = plan.keys.map { Column($0.type) } }

    static func position(_ segment: Int, _ row: Int) -> UInt64 { UInt64(segment) << 32 | UInt64(row) }

    mutating func append(_ segment: Int, _ vector: Int, _ first: Int, _ count: Int, _ rows: [Int32], _ plan: QueryPlan, _ scan: SegmentScan)
        throws(FirnError)
    {
        for row in rows { positions.append(Collector.position(segment, first + Int(row))) }
        for (i, key) in plan.keys.enumerated() {
            switch key {
            case .value(let path): try Operand.path(path).append(rows, of: vector, first: first, count: count, scan, to: &keys[i])
            case .absence(let path):
                let values = try Operand.path(path).evaluate(scan, vector, count)
                for row in rows { keys[i].words.append(values.column.isPresent(Int(row)) ? 0 : 1) }
                keys[i].count += rows.count
            }
        }
    }

    /// Charges the rows collected so far and the memory for ordering them.
    mutating func hold(_ plan: QueryPlan, _ scanner: Scanner) throws(FirnError) {
        guard positions.count < Int(Int32.max) else {
            throw FirnError(.unsupported, "SORT and DISTINCT take at most 2,147,483,646 rows", advice: "filter them first")
        }
        do throws(Damage) {
            for i in keys.indices { try keys[i].hold(scanner.memory(plan.name(ofKey: i))) }
            if charges.isEmpty { charges = [MemoryCharge(scanner.table.memory)] }
            // A position, two orders, and two words and their buffers for sorting.
            try charges[0].grow(
                to: positions.count * (keys.isEmpty ? 12 : 48), for: keys.isEmpty ? "the result" : scanner.memory(plan.name(ofKey: 0)).name)
        } catch { throw scanner.source.error(error) }
    }

    mutating func append(contentsOf other: Collector) {
        charges += other.charges + other.keys.compactMap(\.text.charge)
        positions += other.positions
        for i in keys.indices { keys[i].append(contentsOf: other.keys[i]) }
    }

    /// Runs the descriptors from left to right.
    mutating func run(_ descriptors: [QueryPlan.Descriptor]) {
        order = (0..<positions.count).map { Int32($0) }
        for descriptor in descriptors { apply(descriptor) }
    }

    private mutating func apply(_ descriptor: QueryPlan.Descriptor) {
        switch descriptor {
        case .limit(let count): order.removeLast(max(0, order.count - count))
        case .offset(let count): order.removeFirst(min(count, order.count))
        case .sort(let list): for (key, ascending) in list.reversed() { Ordering.sort(&order, by: keys[key], ascending: ascending) }
        case .distinct(let list, let required):
            var tables = list.map { ValueNumbering(keys[$0].type) }
            var pairs = list.map { _ in IntegerTable() }
            order = order.filter { row in
                for key in required where keys[key].words[Int(row)] != 0 { return false }
                var id: UInt32 = 0, isNew = false
                for (i, key) in list.enumerated() {
                    let known = pairs[i].keys.count
                    id = pairs[i].number(Int64(id) << 32 | Int64(tables[i].number(keys[key], Int(row))))
                    isNew = Int(id) == known
                }
                return isNew
            }
        }
    }

    /// Keeps only the rows that a leading SORT with a limit can still need. Used for plans that stop at `count` sorted rows.
    mutating func prune(_ descriptor: QueryPlan.Descriptor, to count: Int, _ plan: QueryPlan? = nil) {
        order = (0..<positions.count).map { Int32($0) }
        apply(descriptor)
        if let plan, count > 0, order.count >= count, case .sort(let list) = descriptor, let first = list.first,
            case .value(let path) = plan.keys[first.key]
        {
            cut = SortCut(path, last: keys[first.key].value(at: Int(order[count - 1])), ascending: first.ascending)
        }
        let kept = order.prefix(count).map { Int($0) }.sorted()
        positions = kept.map { positions[$0] }
        for i in keys.indices { keys[i] = keys[i].gather(kept) }
    }

    /// The positions of the remaining rows, in order.
    var result: [UInt64] { order.map { positions[Int($0)] } }
}
