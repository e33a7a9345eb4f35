import FirnBytes
import FirnTable

/// Sums of doubles that are added in the order of the rows, so that the result is that of a loop over the rows.
struct OrderedSums {
    let isCompensated: Bool
    private var sums: [Double] = []
    /// The sum of the errors of the additions, if they are compensated.
    private var errors: [Double] = []

    init(isCompensated: Bool) { self.isCompensated = isCompensated }

    /// The memory in use in bytes.
    var bytes: Int { (sums.count &+ errors.count) &* 8 }

    mutating func resize(_ count: Int) {
        guard sums.count < count else { return }
        sums.append(contentsOf: repeatElement(0, count: count - sums.count))
        if isCompensated { errors.append(contentsOf: repeatElement(0, count: count - errors.count)) }
    }

    /// Adds the chosen rows that have a value.
    mutating func add(_ values: UnsafeBufferPointer<Double>, _ present: Bits?, _ chosen: RowChoice) {
        sums.withUnsafeMutableBufferPointer { sums in
            errors.withUnsafeMutableBufferPointer { errors in
                if isCompensated {
                    OrderedSums.each(present, chosen) { group, row in
                        OrderedSums.add(values[row], &sums[group], &errors[group])
                    }
                } else {
                    OrderedSums.each(present, chosen) { group, row in sums[group] += values[row] }
                }
            }
        }
    }

    @inline(__always)
    private static func each(_ present: Bits?, _ chosen: RowChoice, _ body: (Int, Int) -> Void) {
        func all(_ body: (Int, Int) -> Void) {
            if chosen.groups != nil { return chosen.forEach(body) }
            chosen.forEachRun { first, length in for row in first..<(first &+ length) { body(0, row) } }
        }
        guard let present else { return all(body) }
        present.words.withUnsafeBufferPointer { bits in
            all { group, row in if bits[row >> 6] &>> UInt64(truncatingIfNeeded: row & 63) & 1 == 1 { body(group, row) } }
        }
    }

    /// One step of the algorithm of Kahan and Babuška in the form of Neumaier.
    @inline(__always)
    private static func add(_ value: Double, _ sum: inout Double, _ error: inout Double) {
        let old = sum, new = old + value
        error += old.magnitude > value.magnitude ? (old - new) + value : (value - new) + old
        sum = new
    }

    /// Adds the sums of rows that follow.
    mutating func merge(_ other: OrderedSums, _ groupOf: [Int]) {
        for (group, sum) in other.sums.enumerated() {
            let target = groupOf[group]
            guard isCompensated else {
                sums[target] += sum
                continue
            }
            OrderedSums.add(sum, &sums[target], &errors[target])
            errors[target] += other.errors[group]
        }
    }

    func total(_ group: Int) -> Double { isCompensated && errors[group].isFinite ? sums[group] + errors[group] : sums[group] }
}
