/// Finds a number of which many doubles are multiples or fractions: values that were computed from integers by one operation.
enum FloatBase {
    /// Returns a form that represents at least half of the values, or nil.
    static func find(_ values: [Double]) -> FloatForm? {
        guard let unit = unit(of: values) else { return nil }
        let plain = candidates(unit)
        for form in plain + plain.map(rounded) {
            var hits = 0
            for value in values where FloatForm.integer(value, form) != nil { hits += 1 }
            if hits * 2 > values.count { return form }
        }
        return nil
    }

    /// Returns forms to which many of the values may be near.
    static func candidates(for values: [Double]) -> [FloatForm] { unit(of: values).map(candidates) ?? [] }

    /// Returns the form for values that a program has printed with 15 digits, as R does.
    private static func rounded(_ form: FloatForm) -> FloatForm {
        switch form {
        case .multiple(let base): .roundedMultiple(base, 15)
        case .quotient(let base): .roundedQuotient(base, 15)
        default: form
        }
    }

    /// Returns the greatest number of which all differences are nearly multiples, or nil. It is refined with larger and larger differences.
    private static func unit(of values: [Double]) -> Double? {
        let sorted = values.filter(\.isFinite).sorted()
        guard sorted.count >= 16, let least = sorted.first, let most = sorted.last, most > least else { return nil }
        // Smaller differences are due to rounding.
        let noise = max(least.magnitude, most.magnitude) * 1e-12
        var steps: [Double] = []
        for i in 1..<sorted.count where sorted[i] - sorted[i - 1] > noise { steps.append(sorted[i] - sorted[i - 1]) }
        steps.sort()
        guard steps.count >= 8 else { return nil }
        var unit = steps[0]
        for step in steps.prefix(256) {
            // Euclid's algorithm for numbers with an error.
            var (a, b) = (step, unit)
            for _ in 0..<40 where b > noise * 8 { (a, b) = (b, (a - (a / b).rounded() * b).magnitude) }
            unit = a
        }
        guard unit > noise * 64 else { return nil }
        // Multiples that are farther from zero determine the unit more exactly.
        var reach = 1.0
        for value in sorted.map(\.magnitude).sorted() where value > unit * reach {
            let k = (value / unit).rounded()
            guard k > 0, (value / unit - k).magnitude < 0.2 else { continue }
            unit = value / k
            reach = k * 2
        }
        return unit
    }

    private static func candidates(_ unit: Double) -> [FloatForm] {
        var forms: [FloatForm] = []
        for scale in [1.0, 10, 100, 1000, 10_000] {
            let quotient = (scale / unit).rounded() / scale, multiple = (unit * scale).rounded() / scale
            if quotient > 0, (quotient * unit - 1).magnitude < 1e-7 { forms.append(.quotient(quotient)) }
            if multiple > 0, (multiple / unit - 1).magnitude < 1e-7 { forms.append(.multiple(multiple)) }
        }
        forms.append(.multiple(unit))
        forms.append(.quotient(1 / unit))
        return forms.filter {
            if case .multiple(let base) = $0 { base.isNormal } else if case .quotient(let base) = $0 { base.isNormal } else { true }
        }
    }
}
