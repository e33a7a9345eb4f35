import FirnModel

/// One aggregate of every group. Which arrays are used follows from `form`; each holds an entry a group.
struct Accumulator {
    private enum Form {
        case rows, counts, distinct, sums, wholeSums, realSums, words, reals, values
    }
    private let measure: GroupPlan.Measure
    private let form: Form
    private var counts: [Int] = []
    private var known: [Bool] = []
    private var sums: [Sum] = []
    private var wholes: [WideInt] = []
    private var reals: [Double] = []
    private var words: [Int64] = []
    private var values: [Value] = []
    private var table: KeyTable
    /// (group, value) pairs met.
    private var pairs = WordTable()

    init(_ measure: GroupPlan.Measure) {
        self.measure = measure
        table = KeyTable(measure.operand?.type ?? ColumnType(.int))
        let kind = measure.operand?.kind ?? .int
        switch measure.function {
        case .count: form = measure.operand == nil ? .rows : measure.isDistinct ? .distinct : .counts
        case .sum, .avg: form = kind == .int ? .wholeSums : kind == .float || kind == .double ? .realSums : .sums
        case .min, .max: form = kind == .bool || kind == .int || kind == .link ? .words : kind == .float || kind == .double ? .reals : .values
        }
    }

    mutating func resize(_ count: Int) {
        func grow<T>(_ array: inout [T], _ value: T) {
            if array.count < count { array.append(contentsOf: repeatElement(value, count: count - array.count)) }
        }
        switch form {
        case .rows: break
        case .counts, .distinct: grow(&counts, 0)
        case .sums: grow(&sums, Sum())
        case .wholeSums:
            grow(&wholes, WideInt())
            grow(&counts, 0)
        case .realSums:
            grow(&reals, 0)
            grow(&counts, 0)
        case .words:
            grow(&words, 0)
            grow(&known, false)
        case .reals:
            grow(&reals, 0)
            grow(&known, false)
        case .values: grow(&values, .null)
        }
    }

    /// Calls `body` with the group and the row of every row that has a value.
    @inline(__always)
    private static func each(_ column: Column, _ rows: [Int32], _ groups: [UInt32], _ body: (Int, Int) -> Void) {
        let present = column.present
        for j in rows.indices {
            let row = Int(rows[j])
            if let present, !present[row] { continue }
            body(Int(groups[j]), row)
        }
    }

    /// Adds `rows` of a column; row j belongs to `groups[j]`.
    mutating func add(_ column: Column, _ rows: [Int32], _ groups: [UInt32]) {
        let isMinimum = measure.function == .min
        switch form {
        case .rows: break
        case .counts: Accumulator.each(column, rows, groups) { group, _ in counts[group] &+= 1 }
        case .distinct:
            Accumulator.each(column, rows, groups) { group, row in
                let id = table.number(column, row)
                guard id != 0 else { return }
                let met = pairs.keys.count
                if Int(pairs.number(Int64(group) << 32 | Int64(id))) == met { counts[group] &+= 1 }
            }
        case .sums: Accumulator.each(column, rows, groups) { group, row in sums[group].add(column, row) }
        case .wholeSums:
            Accumulator.each(column, rows, groups) { group, row in
                wholes[group].add(column.words[row])
                counts[group] &+= 1
            }
        case .realSums:
            Accumulator.each(column, rows, groups) { group, row in
                reals[group] += column.reals[row]
                counts[group] &+= 1
            }
        case .words: Accumulator.each(column, rows, groups) { group, row in keep(word: column.words[row], group, isMinimum) }
        case .reals: Accumulator.each(column, rows, groups) { group, row in keep(real: column.reals[row], group, isMinimum) }
        case .values: Accumulator.each(column, rows, groups) { group, row in keep(column.value(at: row), group, isMinimum) }
        }
    }

    private mutating func keep(word: Int64, _ group: Int, _ isMinimum: Bool) {
        if known[group], isMinimum ? word >= words[group] : word <= words[group] { return }
        words[group] = word
        known[group] = true
    }

    private mutating func keep(real: Double, _ group: Int, _ isMinimum: Bool) {
        if real.isNaN || known[group] && (isMinimum ? real >= reals[group] : real <= reals[group]) { return }
        reals[group] = real
        known[group] = true
    }

    private mutating func keep(_ value: Value, _ group: Int, _ isMinimum: Bool) {
        if value.isNull || value.isNotNumber { return }
        if !values[group].isNull, Value.order(value, values[group]) * (isMinimum ? 1 : -1) >= 0 { return }
        values[group] = value
    }

    /// Adds another run's groups; its group g is this one's `groupOf[g]`.
    mutating func merge(_ other: Accumulator, _ groupOf: [Int]) {
        let isMinimum = measure.function == .min
        switch form {
        case .rows: break
        case .counts: for (g, n) in other.counts.enumerated() { counts[groupOf[g]] += n }
        case .distinct:
            let met = other.table.values, ids = (0..<met.count).map { table.number(met, $0) }
            for pair in other.pairs.keys {
                let group = groupOf[Int(pair >> 32)], met = pairs.keys.count
                if Int(pairs.number(Int64(group) << 32 | Int64(ids[Int(pair & 0xFFFF_FFFF)]))) == met { counts[group] += 1 }
            }
        case .sums: for (g, sum) in other.sums.enumerated() { sums[groupOf[g]].add(sum) }
        case .wholeSums:
            for g in other.wholes.indices {
                wholes[groupOf[g]].add(other.wholes[g])
                counts[groupOf[g]] += other.counts[g]
            }
        case .realSums:
            for g in other.reals.indices {
                reals[groupOf[g]] += other.reals[g]
                counts[groupOf[g]] += other.counts[g]
            }
        case .words: for g in other.words.indices where other.known[g] { keep(word: other.words[g], groupOf[g], isMinimum) }
        case .reals: for g in other.reals.indices where other.known[g] { keep(real: other.reals[g], groupOf[g], isMinimum) }
        case .values: for g in other.values.indices { keep(other.values[g], groupOf[g], isMinimum) }
        }
    }

    func value(_ group: Int, _ rows: Int) -> Value {
        let isSum = measure.function == .sum
        switch form {
        case .rows: return .int(Int64(rows))
        case .counts, .distinct: return .int(Int64(counts[group]))
        case .sums: return isSum ? sums[group].total(measure.operand?.kind ?? .any) : sums[group].average
        case .wholeSums:
            if isSum { return wholes[group].int.map(Value.int) ?? .double(wholes[group].double) }
            return counts[group] == 0 ? .null : .double(wholes[group].double / Double(counts[group]))
        case .realSums: return isSum ? .double(reals[group]) : counts[group] == 0 ? .null : .double(reals[group] / Double(counts[group]))
        case .words:
            guard known[group] else { return .null }
            return measure.type.kind == .bool ? .bool(words[group] != 0) : measure.type.kind == .link ? .link(words[group]) : .int(words[group])
        case .reals: return !known[group] ? .null : measure.type.kind == .float ? .float(Float(reals[group])) : .double(reals[group])
        case .values: return values[group]
        }
    }
}
