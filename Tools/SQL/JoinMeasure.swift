import FirnBytes
import FirnTable

/// The values of an expression in the rows of a chunk: whole numbers or doubles.
struct JoinVector {
    var words: [Int64] = []
    var reals: [Double] = []
    /// Empty: every row has a value.
    var valid: [Bool] = []
    var isReal = false

    /// The doubles of whole numbers, as SQLite converts them.
    private var asReals: [Double] { isReal ? reals : words.map { Double($0) } }
}

extension JoinVector {
    /// Removes the values of other rows.
    mutating func keep(_ rows: [Bool]?) {
        guard let rows else { return }
        valid = valid.isEmpty ? rows : zip(valid, rows).map { $0 && $1 }
    }

    /// Computes a sum, difference or product. Whole numbers do not overflow.
    init(_ sign: String, _ left: JoinVector, _ right: JoinVector, count: Int) {
        isReal = left.isReal || right.isReal
        if left.valid.isEmpty || right.valid.isEmpty {
            valid = left.valid + right.valid
        } else {
            valid = (0..<count).map { left.valid[$0] && right.valid[$0] }
        }
        if isReal {
            let a = left.asReals, b = right.asReals
            reals = [Double](repeating: 0, count: count)
            switch sign {
            case "*": for i in 0..<count { reals[i] = a[i] * b[i] }
            case "+": for i in 0..<count { reals[i] = a[i] + b[i] }
            default: for i in 0..<count { reals[i] = a[i] - b[i] }
            }
        } else {
            let a = left.words, b = right.words
            words = [Int64](repeating: 0, count: count)
            switch sign {
            case "*": for i in 0..<count { words[i] = a[i] &* b[i] }
            case "+": for i in 0..<count { words[i] = a[i] &+ b[i] }
            default: for i in 0..<count { words[i] = a[i] &- b[i] }
            }
        }
    }
}

/// An aggregate of the groups of a run.
final class JoinMeasure {
    let measure: SQLMeasure
    /// The number of the condition of FILTER.
    let choice: Int?
    /// The column whose values are numbered: texts and dates, and the values of `count(DISTINCT …)`.
    let numbered: Int?
    /// Whether only the rows with a value are counted.
    let isPresenceOnly: Bool
    private let isReal: Bool
    /// Whether null can be the value, or FILTER can exclude a row.
    private let isOptional: Bool
    /// Whether SQLite compensates the errors of sums.
    private let isCompensated: Bool
    /// The number of values of each group, if it can differ from the number of rows.
    private var counts: [Int] = []
    private var words: [Int64] = []
    private var reals: [Double] = []
    private var errors: [Double] = []
    /// The number of the smallest or largest value.
    private var best: [UInt32] = []
    private var distinct = JoinNumbers()

    init(_ measure: SQLMeasure, _ join: SQLJoin) {
        self.measure = measure
        choice = join.choice(of: measure)
        isReal = measure.operand?.isReal(join.scope, join.literals) ?? false
        isOptional = measure.filter != nil || measure.operand?.isOptional(join.scope) ?? false
        isCompensated = SQLGrouping.isCompensated
        let form = measure.column.map { join.scope.columns[$0].form }
        isPresenceOnly = measure.function == .count && !measure.isDistinct
        let isExtreme = measure.function == .min || measure.function == .max
        numbered = measure.isDistinct || isExtreme && !(form?.isNumeric ?? true) ? measure.column : nil
    }

    /// The memory in use in bytes.
    var bytes: Int { (counts.count + words.count + reals.count + errors.count) * 8 + best.count * 4 + distinct.bytes }

    func grow(to groups: Int) {
        guard counts.count < groups else { return }
        let more = max(groups, counts.count * 2) - counts.count
        counts += repeatElement(0, count: more)
        guard measure.function != .count else { return }
        if numbered != nil {
            best += repeatElement(JoinNumbers.none, count: more)
        } else if isReal {
            reals += repeatElement(0, count: more)
            if isCompensated { errors += repeatElement(0, count: more) }
        } else {
            words += repeatElement(0, count: more)
        }
    }

    // MARK: Rows

    /// Counts the rows with a value.
    func count(_ vector: JoinVector, _ groups: [UInt32]?, _ count: Int) {
        for i in 0..<count where vector.valid.isEmpty || vector.valid[i] { counts[groups.map { Int($0[i]) } ?? 0] &+= 1 }
    }

    /// Adds numbered values.
    func add(_ numbers: [UInt32], _ values: JoinValues, _ groups: [UInt32]?) {
        for (i, number) in numbers.enumerated() where number != JoinNumbers.none {
            let group = groups.map { Int($0[i]) } ?? 0
            if measure.isDistinct {
                let known = distinct.count
                if Int(distinct.add(Int64(group) << 32 | Int64(number))) == known { counts[group] &+= 1 }
            } else {
                counts[group] &+= 1
                let old = best[group]
                guard old != number else { continue }
                if old == JoinNumbers.none || (measure.function == .min ? values.isLess(number, old) : values.isLess(old, number)) {
                    best[group] = number
                }
            }
        }
    }

    /// Adds numbers.
    func add(_ vector: JoinVector, _ groups: [UInt32]?, _ count: Int) {
        let valid = vector.valid
        @inline(__always)
        func each(_ body: (Int, Int) -> Void) {
            if let groups {
                if valid.isEmpty {
                    for i in 0..<count { body(Int(groups[i]), i) }
                } else {
                    for i in 0..<count where valid[i] { body(Int(groups[i]), i) }
                }
            } else if valid.isEmpty {
                for i in 0..<count { body(0, i) }
            } else {
                for i in 0..<count where valid[i] { body(0, i) }
            }
        }
        switch measure.function {
        case .min, .max: addExtremes(vector, each)
        default:
            if isOptional { each { group, _ in counts[group] &+= 1 } }
            if !isReal {
                var sums = words
                words = []
                each { group, i in sums[group] &+= vector.words[i] }
                words = sums
            } else if !isCompensated {
                var sums = reals
                reals = []
                each { group, i in sums[group] += vector.reals[i] }
                reals = sums
            } else {
                each { group, i in addCompensated(vector.reals[i], group) }
            }
        }
    }

    /// One step of the algorithm of Kahan and Babuška in the form of Neumaier, which SQLite uses.
    private func addCompensated(_ value: Double, _ group: Int) {
        let old = reals[group], new = old + value
        errors[group] += old.magnitude > value.magnitude ? (old - new) + value : (value - new) + old
        reals[group] = new
    }

    private func addExtremes(_ vector: JoinVector, _ each: ((Int, Int) -> Void) -> Void) {
        let isMinimum = measure.function == .min
        each { group, i in
            let isFirst = counts[group] == 0
            counts[group] &+= 1
            if isReal {
                let value = vector.reals[i]
                if isFirst || (isMinimum ? value < reals[group] : value > reals[group]) { reals[group] = value }
            } else {
                let value = vector.words[i]
                if isFirst || (isMinimum ? value < words[group] : value > words[group]) { words[group] = value }
            }
        }
    }

    // MARK: The result

    /// Returns the results of some groups. `hits` are the numbers of rows of all groups, `source` is the type of the measured column.
    func result(_ groups: [Int], _ hits: [Int], _ source: ColumnType?, values: JoinValues?) -> Column {
        func count(_ group: Int) -> Int {
            switch measure.function {
            case .min, .max: counts[group]
            default: isOptional || measure.isDistinct ? counts[group] : hits[group]
            }
        }
        var out: Column
        switch measure.function {
        case .count:
            out = Column(ColumnType(.int))
            for group in groups { _ = out.append(.int(Int64(count(group)))) }
            return out
        case .total, .avg:
            out = Column(ColumnType(.double, optional: true))
            for group in groups {
                let n = count(group), total = isReal ? sum(group) : Double(words[group])
                _ = out.append(measure.function == .total ? .double(total) : n == 0 ? .null : .double(total / Double(n)))
            }
            return out
        // A join computes no quantiles: see `SQLJoin.isExact`.
        case .sum, .median, .quantile: out = Column(ColumnType(isReal ? .double : .int, optional: true))
        case .min, .max: out = Column(source ?? ColumnType(isReal ? .double : .int, optional: true))
        }
        for group in groups {
            if count(group) == 0 {
                out.appendNull()
            } else if let values {
                values.append(best[group], to: &out)
            } else if isReal {
                out.append(real: measure.function == .sum ? sum(group) : reals[group])
            } else {
                out.append(word: words[group])
            }
        }
        return out
    }

    private func sum(_ group: Int) -> Double { isCompensated ? reals[group] + errors[group] : reals[group] }
}

extension Column {
    fileprivate mutating func append(word: Int64) {
        words.append(word)
        present?.append(true)
        count += 1
    }

    fileprivate mutating func append(real: Double) {
        reals.append(real)
        present?.append(true)
        count += 1
    }
}
