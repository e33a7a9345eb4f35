import FirnBytes
import FirnModel

/// Matching rows with the keys that descriptors look at, and the descriptors run over them.
struct Collector {
    /// Segment in the high half, row within it in the low half.
    var positions: [UInt64] = []
    var keys: [Column]
    /// The rows left, in order: positions in the arrays above.
    var order: [Int32] = []
    /// After pruning: what tells rows apart that come too late.
    private(set) var cut: SortCut?
    /// For the positions and what sorting makes of them; of collectors that were appended too, with their keys.
    private var charges: [MemoryCharge] = []

    init(_ plan: Plan) { keys = plan.keys.map { Column($0.type) } }

    static func position(_ segment: Int, _ row: Int) -> UInt64 { UInt64(segment) << 32 | UInt64(row) }

    mutating func append(_ segment: Int, _ vector: Int, _ first: Int, _ count: Int, _ rows: [Int32], _ plan: Plan, _ scan: SegmentScan) throws(FirnError) {
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

    /// Charges what was collected so far, and what ordering it takes.
    mutating func hold(_ plan: Plan, _ scanner: Scanner) throws(FirnError) {
        guard positions.count < Int(Int32.max) else { throw FirnError(.unsupported, "SORT and DISTINCT take at most 2,147,483,646 rows", advice: "filter them first") }
        do throws(Damage) {
            for i in keys.indices { try keys[i].hold(scanner.memory(plan.name(ofKey: i))) }
            if charges.isEmpty { charges = [MemoryCharge(scanner.table.memory)] }
            // A position, two orders, and two words and their room for sorting.
            try charges[0].grow(to: positions.count * (keys.isEmpty ? 12 : 48), for: keys.isEmpty ? "the result" : scanner.memory(plan.name(ofKey: 0)).name)
        } catch { throw scanner.source.error(error) }
    }

    mutating func append(contentsOf other: Collector) {
        charges += other.charges + other.keys.compactMap(\.text.charge)
        positions += other.positions
        for i in keys.indices { keys[i].append(contentsOf: other.keys[i]) }
    }

    /// Runs the descriptors, left to right.
    mutating func run(_ descriptors: [Plan.Descriptor]) {
        order = (0..<positions.count).map { Int32($0) }
        for descriptor in descriptors { apply(descriptor) }
    }

    private mutating func apply(_ descriptor: Plan.Descriptor) {
        switch descriptor {
        case .limit(let count): order.removeLast(max(0, order.count - count))
        case .offset(let count): order.removeFirst(min(count, order.count))
        case .sort(let list): for (key, ascending) in list.reversed() { Ordering.sort(&order, by: keys[key], ascending: ascending) }
        case .distinct(let list, let required):
            var tables = list.map { KeyTable(keys[$0].type) }
            var pairs = list.map { _ in WordTable() }
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

    /// Keeps what a leading SORT with a limit may still need. For sorted plans that stop at `count` rows.
    mutating func prune(_ descriptor: Plan.Descriptor, to count: Int, _ plan: Plan? = nil) {
        order = (0..<positions.count).map { Int32($0) }
        apply(descriptor)
        if let plan, count > 0, order.count >= count, case .sort(let list) = descriptor, let first = list.first, case .value(let path) = plan.keys[first.key] {
            cut = SortCut(path, last: keys[first.key].value(at: Int(order[count - 1])), ascending: first.ascending)
        }
        let kept = order.prefix(count).map { Int($0) }.sorted()
        positions = kept.map { positions[$0] }
        for i in keys.indices { keys[i] = keys[i].gather(kept) }
    }

    /// The rows left, in order, as positions.
    var result: [UInt64] { order.map { positions[Int($0)] } }
}
