import FirnBytes
import FirnTable
import FirnThreads

/// One aggregate of every group. `form` determines which arrays are used; each array has one entry for each group.
struct Accumulator {
    enum Form {
        case rows, counts, distinct, sums, wholeSums, realSums, orderedSums, decimalSums, words, reals, texts, values, first, samples
    }
    let measure: GroupPlan.Measure
    /// That of the measure, which is found once.
    let scale: Int?
    let form: Form
    private(set) var counts: [Int] = []
    /// For sums: the number of rows without a value.
    private(set) var absent: [Int] = []
    private(set) var known: [Bool] = []
    private(set) var sums: [Sum] = []
    var wholes = WholeSums()
    var reals: [Double] = []
    private(set) var ordered: OrderedSums
    private(set) var words: [Int64] = []
    private(set) var texts: TextExtremes
    private(set) var values: [Value] = []
    private let samples = Samples()
    private(set) var quantiles: [Double?] = []
    /// Only for its form: it has so many arrays that copies of an accumulator would take long.
    private(set) var distinct: DistinctValues?
    /// The size of the texts in `values`.
    private var textBytes = 0

    /// The memory in use in bytes.
    var bytes: Int {
        let numbers = counts.count &+ absent.count &+ reals.count &+ words.count &+ quantiles.count &* 2
        let wide = sums.count &* MemoryLayout<Sum>.stride &+ values.count &* MemoryLayout<Value>.stride
        return numbers &* 8 &+ known.count &+ wide &+ textBytes &+ samples.bytes &+ ordered.bytes
            &+ (distinct?.bytes ?? 0) &+ wholes.bytes &+ texts.bytes
    }

    private static func textBytes(_ value: Value) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        default: 0
        }
    }

    init(_ measure: GroupPlan.Measure) {
        self.measure = measure
        scale = measure.scale
        if measure.function == .count, measure.isDistinct, let operand = measure.operand { distinct = DistinctValues(operand.type) }
        texts = TextExtremes(isMinimum: measure.function == .min)
        ordered = OrderedSums(isCompensated: measure.summation == .compensated)
        let kind = measure.operand?.kind ?? .int
        switch measure.function {
        case .count: form = measure.operand == nil ? .rows : measure.isDistinct ? .distinct : .counts
        case .sum, .avg:
            switch kind {
            case .int: form = .wholeSums
            case .float, .double: form = measure.summation != .anyOrder ? .orderedSums : scale != nil ? .decimalSums : .realSums
            default: form = .sums
            }
        case .min, .max:
            switch kind {
            case .bool, .int, .link: form = .words
            case .float, .double: form = .reals
            case .string, .data: form = .texts
            default: form = .values
            }
        case .first: form = .first
        case .median, .quantile: form = .samples
        }
    }

    /// Whether the accumulator needs the list of chosen rows even if there is only one group.
    var needsRows: Bool {
        switch form {
        case .rows, .wholeSums, .realSums, .orderedSums, .decimalSums: false
        default: true
        }
    }

    mutating func resize(_ count: Int) {
        func grow<T>(_ array: inout [T], _ value: T) {
            if array.count < count { array.append(contentsOf: repeatElement(value, count: count - array.count)) }
        }
        switch form {
        case .rows: break
        case .samples: samples.resize(count)
        case .counts: grow(&counts, 0)
        case .distinct: distinct?.resize(count)
        case .sums: grow(&sums, Sum())
        case .wholeSums:
            wholes.resize(count)
            grow(&absent, 0)
        case .realSums:
            grow(&reals, 0)
            grow(&absent, 0)
        case .orderedSums:
            ordered.resize(count)
            grow(&absent, 0)
        case .decimalSums:
            wholes.resize(count)
            grow(&reals, 0)
            grow(&absent, 0)
        case .words:
            grow(&words, 0)
            grow(&known, false)
        case .reals:
            grow(&reals, 0)
            grow(&known, false)
        case .texts: texts.resize(count)
        case .values: grow(&values, .null)
        case .first:
            grow(&values, .null)
            grow(&known, false)
        }
    }

    // MARK: Adding

    /// Calls `body` with the group and the row of every chosen row that has a value.
    @inline(__always)
    private static func each(_ column: Column, _ chosen: RowChoice, _ body: (Int, Int) -> Void) {
        guard let present = column.present else { return chosen.forEach(body) }
        present.words.withUnsafeBufferPointer { bits in
            chosen.forEach { group, row in if bits[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 { body(group, row) } }
        }
    }

    /// Adds a whole vector by its sum and returns true, if this form can. Requires one group and a value in every row.
    mutating func add(_ sum: VectorSum) -> Bool {
        switch (form, sum) {
        case (.wholeSums, .whole(let sum)): wholes.add(sum, to: 0)
        case (.realSums, .real(let sum)): reals[0] += sum
        default: return false
        }
        return true
    }

    /// Adds the chosen rows of a column.
    mutating func add(_ column: Column, _ chosen: RowChoice) {
        let isMinimum = measure.function == .min
        switch form {
        case .rows: break
        case .counts: Accumulator.each(column, chosen) { group, _ in counts[group] &+= 1 }
        case .distinct: distinct?.add(column, chosen)
        case .sums: Accumulator.each(column, chosen) { group, row in sums[group].add(column, row) }
        case .wholeSums:
            note(absentOf: column, chosen)
            column.words.withUnsafeBufferPointer { wholes.add($0, column.present, chosen) }
        case .realSums:
            note(absentOf: column, chosen)
            addReals(column, chosen)
        case .orderedSums:
            note(absentOf: column, chosen)
            column.reals.withUnsafeBufferPointer { ordered.add($0, column.present, chosen) }
        case .decimalSums:
            note(absentOf: column, chosen)
            column.reals.withUnsafeBufferPointer { addDecimals($0, column.present, chosen) }
        case .words: Accumulator.each(column, chosen) { group, row in keep(word: column.words[row], group, isMinimum) }
        case .reals:
            column.reals.withUnsafeBufferPointer { reals in
                Accumulator.each(column, chosen) { group, row in keep(real: reals[row], group, isMinimum) }
            }
        case .texts: texts.add(column, chosen)
        case .values: Accumulator.each(column, chosen) { group, row in keep(column.value(at: row), group, isMinimum) }
        case .first: Accumulator.each(column, chosen) { group, row in if !known[group] { keep(first: column.value(at: row), group) } }
        case .samples: Accumulator.each(column, chosen) { group, row in samples.add(column, row, to: group) }
        }
    }

    /// Whether dictionary codes can be added instead of values.
    var takesCodes: Bool {
        if case .texts = form { return true }
        guard case .distinct = form else { return false }
        return measure.operand?.kind == .string || measure.operand?.kind == .data
    }

    /// Adds the chosen rows of a column of dictionary codes. Requires `takesCodes`.
    mutating func add(codes: Column, of dictionary: Text, _ segment: Int, _ chosen: RowChoice) {
        if case .texts = form { return texts.add(codes: codes, of: dictionary, segment, chosen) }
        distinct?.add(codes: codes, of: dictionary, segment, chosen)
    }

    /// The kind of plain numbers that `add` accepts for a vector without nulls.
    enum Numbers { case none, words, reals }
    var numbers: Numbers {
        switch form {
        case .wholeSums: .words
        case .realSums, .orderedSums, .decimalSums: .reals
        case .words: measure.operand?.kind == .int ? .words : .none
        case .reals, .samples: .reals
        default: .none
        }
    }

    /// Adds the chosen rows of `chosen.count` numbers; every row has a value.
    mutating func add(_ values: UnsafePointer<Int64>, _ chosen: RowChoice) {
        guard case .words = form else { return wholes.add(UnsafeBufferPointer(start: values, count: chosen.count), nil, chosen) }
        let isMinimum = measure.function == .min
        chosen.forEach { group, row in keep(word: values[row], group, isMinimum) }
    }

    mutating func add(_ values: UnsafePointer<Double>, _ chosen: RowChoice) {
        let isMinimum = measure.function == .min
        switch form {
        case .reals: chosen.forEach { group, row in keep(real: values[row], group, isMinimum) }
        case .samples: samples.add(values, chosen)
        case .orderedSums: ordered.add(UnsafeBufferPointer(start: values, count: chosen.count), nil, chosen)
        case .decimalSums: addDecimals(UnsafeBufferPointer(start: values, count: chosen.count), nil, chosen)
        default: addReals(values, chosen)
        }
    }

    private mutating func note(absentOf column: Column, _ chosen: RowChoice) {
        guard let present = column.present else { return }
        if chosen.groups == nil {
            for w in present.words.indices { absent[0] &+= (chosen.mask[w] & ~present.words[w]).nonzeroBitCount }
        } else {
            chosen.forEach { group, row in if !present[row] { absent[group] &+= 1 } }
        }
    }

    private mutating func addReals(_ column: Column, _ chosen: RowChoice) {
        guard let present = column.present else { return column.reals.withUnsafeBufferPointer { addReals($0.baseAddress!, chosen) } }
        column.reals.withUnsafeBufferPointer { values in
            present.words.withUnsafeBufferPointer { bits in
                if chosen.groups == nil {
                    var sum = reals[0]
                    chosen.forEachRun { first, length in
                        for row in first..<(first &+ length) where bits[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 {
                            sum += values[row]
                        }
                    }
                    reals[0] = sum
                    return
                }
                reals.withUnsafeMutableBufferPointer { sums in
                    chosen.forEach { group, row in
                        if bits[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 { sums[group] += values[row] }
                    }
                }
            }
        }
    }

    /// Adds doubles; every row has a value.
    private mutating func addReals(_ values: UnsafePointer<Double>, _ chosen: RowChoice) {
        if chosen.groups != nil {
            reals.withUnsafeMutableBufferPointer { sums in
                if let parts = chosen.parts {
                    parts.add(values, to: sums.baseAddress!)
                } else if Lanes.pay(sums.count, chosen) {
                    Lanes.with(sums, Double.zero, +) { lanes in chosen.forEach { group, row in lanes[group &* 4 &+ row & 3] += values[row] }
                    }
                } else {
                    chosen.forEach { group, row in sums[group] += values[row] }
                }
            }
            return
        }
        var sum = reals[0]
        chosen.forEachRun { first, length in Accumulator.add(values + first, length, to: &sum) }
        reals[0] = sum
    }

    /// Adds in eight lanes if there are many values, because otherwise each addition waits for the previous one.
    @inline(__always)
    private static func add(_ values: UnsafePointer<Double>, _ count: Int, to sum: inout Double) {
        var i = 0
        if count >= 64 {
            let base = UnsafeRawPointer(values)
            var a = SIMD8<Double>(repeating: 0), b = a
            while i &+ 16 <= count {
                a += base.loadUnaligned(fromByteOffset: i &* 8, as: SIMD8<Double>.self)
                b += base.loadUnaligned(fromByteOffset: i &* 8 &+ 64, as: SIMD8<Double>.self)
                i &+= 16
            }
            sum += (a + b).sum()
        }
        while i < count {
            sum += values[i]
            i &+= 1
        }
    }

    @inline(__always)
    private mutating func keep(word: Int64, _ group: Int, _ isMinimum: Bool) {
        if known[group], isMinimum ? word >= words[group] : word <= words[group] { return }
        words[group] = word
        known[group] = true
    }

    @inline(__always)
    private mutating func keep(real: Double, _ group: Int, _ isMinimum: Bool) {
        if real.isNaN || known[group] && (isMinimum ? real >= reals[group] : real <= reals[group]) { return }
        reals[group] = real
        known[group] = true
    }

    private mutating func keep(_ value: Value, _ group: Int, _ isMinimum: Bool) {
        if value.isNull || value.isNotNumber { return }
        if !values[group].isNull, Value.order(value, values[group]) * (isMinimum ? 1 : -1) >= 0 { return }
        textBytes &+= Accumulator.textBytes(value) &- Accumulator.textBytes(values[group])
        values[group] = value
    }

    private mutating func keep(first value: Value, _ group: Int) {
        if value.isNull { return }
        textBytes &+= Accumulator.textBytes(value) &- Accumulator.textBytes(values[group])
        values[group] = value
        known[group] = true
    }

    // MARK: Merging and the result

    /// Adds the groups of another accumulator, whose group g is this one's `groupOf[g]`.
    mutating func merge(_ other: Accumulator, _ groupOf: [Int], threads: Int) {
        let isMinimum = measure.function == .min
        switch form {
        case .rows: break
        case .counts: for (g, n) in other.counts.enumerated() { counts[groupOf[g]] += n }
        case .distinct: if let values = other.distinct { distinct?.merge(values, groupOf, threads: threads) }
        case .sums: for (g, sum) in other.sums.enumerated() { sums[groupOf[g]].add(sum) }
        case .wholeSums:
            for g in other.absent.indices {
                wholes.add(other.wholes.total(g), to: groupOf[g])
                absent[groupOf[g]] += other.absent[g]
            }
        case .realSums:
            for g in other.reals.indices {
                reals[groupOf[g]] += other.reals[g]
                absent[groupOf[g]] += other.absent[g]
            }
        case .orderedSums:
            for g in other.absent.indices { absent[groupOf[g]] += other.absent[g] }
            ordered.merge(other.ordered, groupOf)
        case .decimalSums:
            for g in other.reals.indices {
                wholes.add(other.wholes.total(g), to: groupOf[g])
                reals[groupOf[g]] += other.reals[g]
                absent[groupOf[g]] += other.absent[g]
            }
        case .words: for g in other.words.indices where other.known[g] { keep(word: other.words[g], groupOf[g], isMinimum) }
        case .reals: for g in other.reals.indices where other.known[g] { keep(real: other.reals[g], groupOf[g], isMinimum) }
        case .texts: texts.merge(other.texts, groupOf)
        case .values: for g in other.values.indices { keep(other.values[g], groupOf[g], isMinimum) }
        case .first: for g in other.values.indices where other.known[g] && !known[groupOf[g]] { keep(first: other.values[g], groupOf[g]) }
        case .samples: samples.take(other.samples, groupOf)
        }
    }

    /// Completes a range of rows, before it is merged.
    mutating func settle() { distinct?.settle() }

    /// Completes the groups before their values are read. Expensive work is divided among threads.
    mutating func finish(_ groups: Int, threads: Int) {
        resize(groups)
        settle()
        guard case .samples = form, groups > 0 else { return }
        samples.close()
        let samples = samples, share = measure.quantile, runs = min(threads, groups)
        quantiles = Array(unsafeUninitializedCapacity: groups) { out, filled in
            out.initialize(repeating: nil)
            nonisolated(unsafe) let results = out.baseAddress!
            parallel(count: runs, threads: threads) { run in
                for group in (groups * run / runs)..<(groups * (run + 1) / runs) { results[group] = samples.quantile(share, of: group) }
            }
            filled = groups
        }
    }
}
