import FirnModel

/// One aggregate of every group.
struct Accumulator {
    private enum State {
        case rows
        case counts([Int])
        case distinct(KeyTable, WordTable, [Int])
        case sums([Sum])
        case wholeSums([WideInt], [Int])
        case realSums([Double], [Int])
        case words([Int64], [Bool])
        case reals([Double], [Bool])
        case values([Value])
    }
    private let measure: GroupPlan.Measure
    private var state: State

    init(_ measure: GroupPlan.Measure) {
        self.measure = measure
        let kind = measure.operand?.kind ?? .int
        switch measure.function {
        case .count:
            state = measure.operand == nil ? .rows : measure.isDistinct ? .distinct(KeyTable(measure.operand!.type), WordTable(), []) : .counts([])
        case .sum, .avg:
            switch kind {
            case .int: state = .wholeSums([], [])
            case .float, .double: state = .realSums([], [])
            default: state = .sums([])
            }
        case .min, .max:
            switch kind {
            case .bool, .int, .link: state = .words([], [])
            case .float, .double: state = .reals([], [])
            default: state = .values([])
            }
        }
    }

    mutating func resize(_ count: Int) {
        func grown<T>(_ array: [T], _ value: T) -> [T] { array.count < count ? array + repeatElement(value, count: count - array.count) : array }
        switch state {
        case .rows: break
        case .counts(let a): if a.count < count { state = .counts(grown(a, 0)) }
        case .distinct(let table, let pairs, let a): if a.count < count { state = .distinct(table, pairs, grown(a, 0)) }
        case .sums(let a): if a.count < count { state = .sums(grown(a, Sum())) }
        case .wholeSums(let a, let n): if a.count < count { state = .wholeSums(grown(a, WideInt()), grown(n, 0)) }
        case .realSums(let a, let n): if a.count < count { state = .realSums(grown(a, 0), grown(n, 0)) }
        case .words(let a, let b): if a.count < count { state = .words(grown(a, 0), grown(b, false)) }
        case .reals(let a, let b): if a.count < count { state = .reals(grown(a, 0), grown(b, false)) }
        case .values(let a): if a.count < count { state = .values(grown(a, .null)) }
        }
    }

    /// Adds `rows` of a column; row j belongs to `groups[j]`.
    mutating func add(_ column: Column, _ rows: [Int32], _ groups: [UInt32]) {
        let taken = state
        state = .rows
        let isMinimum = measure.function == .min
        let present = column.present
        func each(_ body: (Int, Int) -> Void) {
            for j in rows.indices {
                let row = Int(rows[j])
                if let present, !present[row] { continue }
                body(Int(groups[j]), row)
            }
        }
        switch taken {
        case .rows: break
        case .counts(var counts):
            each { group, _ in counts[group] &+= 1 }
            state = .counts(counts)
        case .distinct(var table, var pairs, var counts):
            each { group, row in
                let id = table.number(column, row)
                guard id != 0 else { return }
                let known = pairs.keys.count
                if Int(pairs.number(Int64(group) << 32 | Int64(id))) == known { counts[group] &+= 1 }
            }
            state = .distinct(table, pairs, counts)
        case .sums(var sums):
            each { group, row in sums[group].add(column, row) }
            state = .sums(sums)
        case .wholeSums(var sums, var counts):
            column.words.withUnsafeBufferPointer { words in
                each { group, row in
                    sums[group].add(words[row])
                    counts[group] &+= 1
                }
            }
            state = .wholeSums(sums, counts)
        case .realSums(var sums, var counts):
            column.reals.withUnsafeBufferPointer { reals in
                each { group, row in
                    sums[group] += reals[row]
                    counts[group] &+= 1
                }
            }
            state = .realSums(sums, counts)
        case .words(var best, var known):
            each { group, row in
                let word = column.words[row]
                if !known[group] || (isMinimum ? word < best[group] : word > best[group]) {
                    best[group] = word
                    known[group] = true
                }
            }
            state = .words(best, known)
        case .reals(var best, var known):
            each { group, row in
                let real = column.reals[row]
                if !real.isNaN, !known[group] || (isMinimum ? real < best[group] : real > best[group]) {
                    best[group] = real
                    known[group] = true
                }
            }
            state = .reals(best, known)
        case .values(var best):
            each { group, row in Accumulator.keep(&best[group], column.value(at: row), isMinimum) }
            state = .values(best)
        }
    }

    private static func keep(_ best: inout Value, _ value: Value, _ isMinimum: Bool) {
        if value.isNull || value.isUnordered { return }
        if !best.isNull, Value.order(value, best) * (isMinimum ? 1 : -1) >= 0 { return }
        best = value
    }

    /// Adds another run's groups; its group g is this one's `groupOf[g]`.
    mutating func merge(_ other: Accumulator, _ groupOf: [Int]) {
        let isMinimum = measure.function == .min
        switch (state, other.state) {
        case (.counts(var a), .counts(let b)):
            for (g, n) in b.enumerated() { a[groupOf[g]] += n }
            state = .counts(a)
        case (.distinct(var table, var pairs, var counts), .distinct(let otherTable, let otherPairs, _)):
            let ids = (0..<otherTable.count).map { table.number(otherTable.values, $0) }
            for pair in otherPairs.keys {
                let group = groupOf[Int(pair >> 32)], known = pairs.keys.count
                if Int(pairs.number(Int64(group) << 32 | Int64(ids[Int(pair & 0xFFFF_FFFF)]))) == known { counts[group] += 1 }
            }
            state = .distinct(table, pairs, counts)
        case (.sums(var a), .sums(let b)):
            for (g, sum) in b.enumerated() { a[groupOf[g]].add(sum) }
            state = .sums(a)
        case (.wholeSums(var a, var n), .wholeSums(let b, let m)):
            for g in b.indices {
                a[groupOf[g]].add(b[g])
                n[groupOf[g]] += m[g]
            }
            state = .wholeSums(a, n)
        case (.realSums(var a, var n), .realSums(let b, let m)):
            for g in b.indices {
                a[groupOf[g]] += b[g]
                n[groupOf[g]] += m[g]
            }
            state = .realSums(a, n)
        case (.words(var a, var known), .words(let b, let more)):
            for g in b.indices where more[g] {
                let to = groupOf[g]
                if !known[to] || (isMinimum ? b[g] < a[to] : b[g] > a[to]) { a[to] = b[g] }
                known[to] = true
            }
            state = .words(a, known)
        case (.reals(var a, var known), .reals(let b, let more)):
            for g in b.indices where more[g] {
                let to = groupOf[g]
                if !known[to] || (isMinimum ? b[g] < a[to] : b[g] > a[to]) { a[to] = b[g] }
                known[to] = true
            }
            state = .reals(a, known)
        case (.values(var a), .values(let b)):
            for g in b.indices { Accumulator.keep(&a[groupOf[g]], b[g], isMinimum) }
            state = .values(a)
        default: break
        }
    }

    func value(_ group: Int, _ rows: Int) -> Value {
        let isSum = measure.function == .sum
        switch state {
        case .rows: return .int(Int64(rows))
        case .counts(let counts), .distinct(_, _, let counts): return .int(Int64(group < counts.count ? counts[group] : 0))
        case .sums(let sums): return isSum ? sums[group].total(measure.operand?.kind ?? .any) : sums[group].average
        case .wholeSums(let sums, let counts):
            if isSum { return sums[group].int.map(Value.int) ?? .double(sums[group].double) }
            return counts[group] == 0 ? .null : .double(sums[group].double / Double(counts[group]))
        case .realSums(let sums, let counts): return isSum ? .double(sums[group]) : counts[group] == 0 ? .null : .double(sums[group] / Double(counts[group]))
        case .words(let best, let known):
            guard known[group] else { return .null }
            return measure.type.kind == .bool ? .bool(best[group] != 0) : measure.type.kind == .link ? .link(best[group]) : .int(best[group])
        case .reals(let best, let known): return !known[group] ? .null : measure.type.kind == .float ? .float(Float(best[group])) : .double(best[group])
        case .values(let best): return best[group]
        }
    }
}
