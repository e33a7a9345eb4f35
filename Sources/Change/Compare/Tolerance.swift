import FirnTable

/// The difference up to which two numbers are equal: an amount, a percentage of the number with the larger magnitude, or both, of which one
/// suffices. Percentages do not apply to the elements of sets, which have no order.
package struct Tolerance: Sendable, Hashable {
    package var amount: Double
    package var percent: Double

    package init(amount: Double = 0, percent: Double = 0) {
        self.amount = amount
        self.percent = percent
    }

    /// Whether only equal numbers are equal.
    package var isNone: Bool { amount == 0 && percent == 0 }

    package func permits(_ a: Double, _ b: Double) -> Bool {
        let distance = (a - b).magnitude
        return distance <= amount || permits(distance, of: max(a.magnitude, b.magnitude))
    }

    package func permits(_ a: Int64, _ b: Int64) -> Bool {
        let distance = Double(UInt64(bitPattern: a > b ? a &- b : b &- a))
        return distance <= amount || permits(distance, of: Double(max(a.magnitude, b.magnitude)))
    }

    private func permits(_ distance: Double, of largest: Double) -> Bool {
        guard percent > 0, distance.isFinite else { return false }
        // Products of the largest numbers would be infinite.
        let scale = largest > 1e300 ? 1e-20 : 1
        return distance * scale * 100 <= largest * scale * percent
    }

    /// Returns whether two values are equivalent: `Value.areEquivalent`, with this tolerance for numbers. Amounts of integers and decimals are
    /// exact.
    func equates(_ a: Value, _ b: Value) -> Bool {
        Value.areEquivalent(a, percent > 0 ? approached(b, to: a) : b, tolerance: amount)
    }

    /// Returns a value in which the numbers that the percentage permits are those of another value at the same places.
    private func approached(_ value: Value, to other: Value) -> Value {
        switch (value, other) {
        case (.list(let x), .list(let y)) where x.count == y.count: return .list(zip(x, y).map { approached($0, to: $1) })
        case (.map(let x), .map(let y)): return .map(approached(x, to: y))
        case (.map(let x), .object(let y)): return .map(approached(x, to: y))
        case (.object(let x), .object(let y)), (.object(let x), .map(let y)): return .object(approached(x, to: y))
        default:
            guard let x = value.number, let y = other.number else { return value }
            let share = Tolerance(percent: percent)
            if case .int(let a) = value, case .int(let b) = other { return share.permits(a, b) ? other : value }
            return share.permits(x, y) ? other : value
        }
    }

    private func approached(_ entries: [Value.Entry], to others: [Value.Entry]) -> [Value.Entry] {
        let known = Dictionary(others.map { ($0.key, $0.value) }) { first, _ in first }
        return entries.map { entry in Value.Entry(entry.key, known[entry.key].map { approached(entry.value, to: $0) } ?? entry.value) }
    }
}

extension Tolerance: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    package init(integerLiteral value: Int) { self.init(amount: Double(value)) }
    package init(floatLiteral value: Double) { self.init(amount: value) }
}
