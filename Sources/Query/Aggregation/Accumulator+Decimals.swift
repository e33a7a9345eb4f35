import FirnBytes
import FirnTable

/// Exact sums of decimals that are stored as doubles: the values are added as numbers of units of their last digit.
extension Accumulator {
    /// Doubles below this number can be rounded to integers by one addition.
    private static let maximumUnits = 0x1p51, rounding = 0x1.8p52

    /// Adds the chosen rows of decimals. Values that are too large for exact sums are added as doubles.
    mutating func addDecimals(_ values: UnsafeBufferPointer<Double>, _ present: Bits?, _ chosen: RowChoice) {
        let power = scalePower
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { units in
            var areExact = true
            for i in values.indices {
                let scaled = values[i] * power
                areExact = areExact && scaled.magnitude < Accumulator.maximumUnits
                units[i] = Int64(bitPattern: (scaled + Accumulator.rounding).bitPattern &- Accumulator.rounding.bitPattern)
            }
            if !areExact { addOthers(values, present, chosen, power: power, clearing: units) }
            wholes.add(UnsafeBufferPointer(units), present, chosen)
        }
    }

    /// Adds values that have no number of units as doubles, and clears their units. Rows without a value can contain any double.
    private mutating func addOthers(
        _ values: UnsafeBufferPointer<Double>, _ present: Bits?, _ chosen: RowChoice, power: Double,
        clearing units: UnsafeMutableBufferPointer<Int64>
    ) {
        for i in values.indices where !((values[i] * power).magnitude < Accumulator.maximumUnits) { units[i] = 0 }
        func add(_ group: Int, _ row: Int) {
            guard present?[row] ?? true, !((values[row] * power).magnitude < Accumulator.maximumUnits) else { return }
            reals[group] += values[row]
        }
        if chosen.groups == nil {
            chosen.forEachRun { first, length in for row in first..<(first &+ length) { add(0, row) } }
        } else {
            chosen.forEach(add)
        }
    }

    /// Returns the double that is nearest to the sum of a group.
    func decimalSum(_ group: Int) -> Double {
        let total = wholes.total(group)
        // Both numbers are exact below 2^53, so the quotient is the nearest double. Larger sums are rounded by way of their text.
        let sum =
            total.magnitude < 1 << 53 ? Double(total) / scalePower : Double("\(total)e-\(scale ?? 0)") ?? Double(total) / scalePower
        return sum + reals[group]
    }

    private var scalePower: Double { powersOfTen[scale ?? 0] }
}

/// The powers of ten that are doubles, as far as scales need them.
let powersOfTen: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]
