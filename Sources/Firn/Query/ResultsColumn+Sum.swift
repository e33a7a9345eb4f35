import FirnBytes
import FirnTable

// Sums of columns, several values at a time. Null is ignored; the sum of no elements is 0.

extension ResultsColumn where Value._Plain == Double {
    /// Returns the sum of the values.
    public func sum() -> Double {
        var total = 0.0
        for batch in self { total += batch.values.withUnsafeBufferPointer { sumOfPresent($0, batch.present) } }
        return total
    }
}

extension ResultsColumn where Value._Plain == Int {
    /// Returns the sum of the values. Traps if the sum does not fit an `Int`.
    public func sum() -> Int {
        var total = 0
        for batch in self {
            var sum = 0, overflows = false
            if let present = batch.present {
                for (i, value) in batch.values.enumerated() where present[i] { (sum, overflows) = adding(sum, value, overflows) }
            } else {
                for value in batch.values { (sum, overflows) = adding(sum, value, overflows) }
            }
            (total, overflows) = adding(total, sum, overflows)
            trap(unless: !overflows, "the sum does not fit an Int: sum the values as doubles")
        }
        return total
    }

    @inline(__always)
    private func adding(_ a: Int, _ b: Int, _ overflows: Bool) -> (Int, Bool) {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return (sum, overflows || overflow)
    }
}

/// Returns the sum in sixteen partial sums, which do not wait for each other. With missing values it adds one at a time.
private func sumOfPresent(_ values: UnsafeBufferPointer<Double>, _ present: ColumnPresence?) -> Double {
    var sums = SIMD16<Double>(), i = 0
    if let present {
        var sum = 0.0
        for (i, value) in values.enumerated() where present[i] { sum += value }
        return sum
    }
    while i + 16 <= values.count {
        sums += UnsafeRawPointer(values.baseAddress! + i).loadUnaligned(as: SIMD16<Double>.self)
        i += 16
    }
    var sum = sums.sum()
    while i < values.count {
        sum += values[i]
        i += 1
    }
    return sum
}
