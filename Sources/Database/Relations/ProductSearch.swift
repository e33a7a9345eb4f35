import FirnBytes
import FirnCodecs
import FirnTable

/// Looks for columns that are about a multiple of the product or quotient of two others (totals, shares, rates per head), in a sample of a
/// segment: between two rows, the logarithm of a product changes as the logarithms of its factors do. What it finds must be verified.
struct ProductSearch: Sendable {
    private typealias Steps = SIMD16<Float>

    /// What a column is multiplied by and divided by, by positions in the samples.
    private struct Factors {
        var terms: [(source: Int, power: Int64)]
        /// How far its steps are from those of the target.
        var distance: Float
        /// What is added to the product: relative changes are quotients less 1, or less 100 %.
        var offset: Double
    }

    /// The logarithms of a column in some rows.
    private struct Logarithms {
        var steps: Steps
        /// How far rounding may change a step.
        var tolerance: Steps

        static let none = Logarithms(steps: .zero, tolerance: .zero)
    }

    private let samples: [NumberSample]
    /// The same in a few rows.
    private let few: [NumberSample]
    /// The rows of `few` that are compared, for each window.
    private let windows: [[Int]]
    private let logarithms: [[Logarithms]]

    private static let rows = 17
    /// So many steps of 16 must agree, and so many of these must be steps that say something.
    private static let least = 10, saying = 5
    private static let far: Float = 0.05
    /// At most so many pairs of factors are measured for a column.
    private static let maximumFactors = 4
    /// An exception, or a row without a factor, costs so many bits.
    private static let exception = 80.0

    init(_ samples: [NumberSample], few: [NumberSample]) {
        (self.samples, self.few) = (samples, few)
        windows = ProductSearch.windows(few)
        logarithms = windows.map { window in few.map { ProductSearch.logarithms($0, rows: window) } }
    }

    /// Returns rows that are far from each other, and those in which most columns have a number.
    private static func windows(_ few: [NumberSample]) -> [[Int]] {
        let count = few.first?.values.count ?? 0
        guard few.count > 2, count >= rows * 2 else { return [] }
        func spread(_ all: [Int]) -> [Int] { (0..<rows).map { all[$0 * (all.count - 1) / (rows - 1)] } }
        let far = spread(Array(0..<count))
        let known = (0..<count).map { row in few.count { $0.values[row].isFinite && $0.values[row] != 0 } }
        guard let most = known.max(), far.contains(where: { known[$0] < most }) else { return [far] }
        let full = (0..<count).sorted { (known[$1], $0) < (known[$0], $1) }.prefix(max(rows * 2, count / 4)).sorted()
        return [far, spread(full)]
    }

    private static func logarithms(_ sample: NumberSample, rows: [Int], adding offset: Double = 0) -> Logarithms {
        var found = Logarithms.none
        // Half a unit of the last printed digit.
        let unit = sample.column.form == nil ? 0.5 : sample.column.form?.digits.map { 0.5 / powers[min($0, powers.count - 1)] } ?? 0
        var before: (Float, Float)?
        for (k, row) in rows.enumerated() {
            let value = (sample.values[row] + offset).magnitude
            let this = (value > 0 ? Float(logarithm(value)) : .nan, Float(min(unit / value * 1.5, 0.02)) + 2e-5)
            if let before {
                found.steps[k - 1] = this.0 - before.0
                found.tolerance[k - 1] = this.1 + before.1
            }
            before = this
        }
        return found
    }

    /// Returns the logarithm to base 2 with an error below 10⁻⁹, the same on every machine. `x` is greater than 0.
    private static func logarithm(_ x: Double) -> Double {
        var exponent = Double(x.exponent), significand = x.significand
        if significand > 1.414_213_562_373_095 { (exponent, significand) = (exponent + 1, significand / 2) }
        // ln m = 2 · (z + z³/3 + z⁵/5 + …)
        let z = (significand - 1) / (significand + 1), square = z * z
        let series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square / 11))))
        return exponent + 2 * z * series * 1.442_695_040_888_963_4
    }

    private static let powers: [Double] = (0...18).map { exponent in (0..<exponent).reduce(1.0) { power, _ in power * 10 } }

    // MARK: Factors

    /// Returns the pairs of columns whose product or quotient may predict the column at `target`, the nearest first.
    private func factors(_ target: Int) -> [Factors] {
        var found: [Factors] = []
        for (window, all) in logarithms.enumerated() {
            let own = all[target]
            nearest(own, among: all, target, offset: 0, &found)
            // Relative changes have both signs, and are small.
            let some = few[target].values.filter { $0.isFinite }
            guard some.contains(where: { $0 < 0 }), some.contains(where: { $0 > 0 }) else { continue }
            for offset in [1.0, 100] where some.allSatisfy({ $0 + offset >= 0 }) {
                let shifted = ProductSearch.logarithms(few[target], rows: windows[window], adding: offset)
                nearest(shifted, among: all, target, offset: -offset, &found)
            }
        }
        return found
    }

    /// Adds the pairs with about these steps to those that were found, if they are among the nearest.
    private func nearest(_ own: Logarithms, among all: [Logarithms], _ target: Int, offset: Double, _ found: inout [Factors]) {
        let saying = ProductSearch.magnitude(own.steps) .> own.tolerance * 2
        guard ProductSearch.count(saying) >= ProductSearch.saying else { return }
        func consider(_ steps: Steps, _ tolerance: Steps, _ terms: @autoclosure () -> [(source: Int, power: Int64)]) {
            let distance = ProductSearch.magnitude(own.steps - steps)
            let agree = distance .<= own.tolerance + tolerance
            guard ProductSearch.count(agree) >= ProductSearch.least, ProductSearch.count(agree .& saying) >= ProductSearch.saying else {
                return
            }
            // Steps that do not agree are all as far away.
            let limited = distance.replacing(with: ProductSearch.far, where: .!(distance .< ProductSearch.far))
            add(Factors(terms: terms(), distance: limited.sum(), offset: offset), to: &found)
        }
        for a in all.indices where a != target {
            let first = all[a]
            consider(-first.steps, first.tolerance, [(a, -1)])
            for b in a..<all.count where b != target {
                let second = all[b], tolerance = first.tolerance + second.tolerance
                consider(first.steps + second.steps, tolerance, [(a, 1), (b, 1)])
                guard a != b else { continue }
                let quotient = first.steps - second.steps
                consider(quotient, tolerance, [(a, 1), (b, -1)])
                consider(-quotient, tolerance, [(b, 1), (a, -1)])
            }
        }
    }

    private func add(_ factors: Factors, to found: inout [Factors]) {
        let isKnown = found.contains { known in
            known.offset == factors.offset && known.terms.elementsEqual(factors.terms) { $0.source == $1.source && $0.power == $1.power }
        }
        guard !isKnown else { return }
        let place = found.firstIndex { factors.distance < $0.distance } ?? found.count
        guard place < ProductSearch.maximumFactors else { return }
        found.insert(factors, at: place)
        if found.count > ProductSearch.maximumFactors { found.removeLast() }
    }

    @inline(__always)
    private static func magnitude(_ x: Steps) -> Steps { x.replacing(with: -x, where: x .< 0) }

    @inline(__always)
    private static func count(_ mask: SIMDMask<SIMD16<Int32>>) -> Int {
        -Int(SIMD16<Int32>.zero.replacing(with: -1, where: mask).wrappedSum())
    }

    // MARK: Candidates

    /// Returns the best prediction of the column at `target` as a product or quotient; nil if none needs less than `limit` bits a row.
    func candidate(for target: Int, limit: Double, rows: Int) -> LinearSearch.Candidate? {
        var best: (bits: Double, prediction: Prediction)?
        for factors in factors(target) {
            guard let scale = scale(factors, target) else { continue }
            for form in forms(target) {
                for scale in ProductSearch.scales(around: scale) {
                    guard let prediction = prediction(factors, target, scale: scale, form: form) else { continue }
                    let bits = self.bits(prediction, factors, of: few[target], in: few)
                    // An exact factor comes first and stays unless another one is better.
                    guard bits < limit, bits < (best?.bits ?? .infinity) - 0.05 else { continue }
                    best = (bits, prediction)
                }
            }
        }
        guard let best, let factors = self.factors(of: best.prediction) else { return nil }
        let bits = self.bits(best.prediction, factors, of: samples[target], in: samples)
        guard bits < limit else { return nil }
        return LinearSearch.Candidate(
            target: samples[target].column.index, prediction: best.prediction, bytes: bits * Double(rows) / 8)
    }

    private func factors(of prediction: Prediction) -> Factors? {
        guard case .product(let terms, _, let offset) = prediction.rule else { return nil }
        var found = Factors(terms: [], distance: 0, offset: offset)
        for term in terms {
            guard let source = samples.firstIndex(where: { $0.column.index == term.column }) else { return nil }
            found.terms.append((source, term.factor))
        }
        return found
    }

    /// The forms in which the doubles of a column may be near a product: as they are stored, with as many digits as all of them have, and
    /// their bits.
    private func forms(_ target: Int) -> [NumberForm?] {
        let own = few[target]
        guard let form = own.column.form else { return [nil] }
        var forms = [form]
        let known = own.values.filter { !$0.isNaN }
        for digits in 0...15 where forms.count == 1 {
            let decimal = NumberForm.decimal(digits, single: own.column.isSingle)
            let exceptions = known.count { decimal.integer($0) == nil }
            if exceptions * 50 <= known.count { forms.append(decimal) }
        }
        let isSingle = own.column.isSingle || known.allSatisfy { Double(Float($0)) == $0 }
        forms.append(.ordered(single: isSingle))
        return forms.enumerated().filter { forms.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }

    private func prediction(_ factors: Factors, _ target: Int, scale: Double, form: NumberForm?) -> Prediction? {
        guard scale.isNormal else { return nil }
        let terms = factors.terms.map { source, power in
            let column = samples[source].column
            return Prediction.Term(column: column.index, factor: power, form: column.form == nil ? nil : .ordered(single: false))
        }
        return Prediction(rule: .product(terms, scale: scale, offset: factors.offset), form: form)
    }

    // MARK: Scales

    /// Returns the products of the factors in the rows of a sample; not finite if a factor is missing or divides by 0.
    private static func products(_ factors: Factors, _ samples: [NumberSample]) -> [Double] {
        var products = [Double](repeating: 1, count: samples[0].values.count)
        for (source, power) in factors.terms {
            let values = samples[source].values
            for i in products.indices { if power > 0 { products[i] *= values[i] } else { products[i] /= values[i] } }
        }
        return products
    }

    /// Returns the factor that fits most rows: the mean of those near their median, in which large numbers weigh most because rounding
    /// changes them least.
    private func scale(_ factors: Factors, _ target: Int) -> Double? {
        let products = ProductSearch.products(factors, few), values = few[target].values
        var ratios: [(ratio: Double, row: Int)] = []
        for i in products.indices {
            let ratio = (values[i] - factors.offset) / products[i]
            if ratio.isNormal { ratios.append((ratio, i)) }
        }
        guard ratios.count >= ProductSearch.rows else { return nil }
        ratios.sort { $0.ratio < $1.ratio }
        let median = ratios[ratios.count / 2].ratio
        var above = 0.0, below = 0.0
        for (ratio, row) in ratios where (ratio / median - 1).magnitude < 1e-3 {
            let product = products[row] / products[ratios[ratios.count / 2].row]
            above += (values[row] - factors.offset) / median * product
            below += products[row] * product
        }
        let scale = above / below * median
        return scale.isNormal ? scale : median
    }

    /// Returns factors near `scale`, from the roundest to the most exact one.
    private static func scales(around scale: Double) -> [Double] {
        var scales: [Double] = []
        for digits in 1...7 {
            for rounded in [rounded(scale, digits: digits), 1 / rounded(1 / scale, digits: digits)] {
                guard rounded.isNormal, (rounded / scale - 1).magnitude < 1e-3, !scales.contains(rounded) else { continue }
                scales.append(rounded)
            }
        }
        return scales.contains(scale) ? scales : scales + [scale]
    }

    /// Rounds to some significant digits.
    private static func rounded(_ x: Double, digits: Int) -> Double {
        let exponent = Int(decimalExponent(x)) - digits + 1
        guard exponent.magnitude <= 18 else { return x }
        let power = powers[Int(exponent.magnitude)]
        return exponent > 0 ? (x / power).rounded() * power : (x * power).rounded() / power
    }

    private static func decimalExponent(_ x: Double) -> Double { (logarithm(x.magnitude) * 0.301_029_995_663_981_2).rounded(.down) }

    // MARK: Costs

    /// Returns the bits that the difference of a row takes.
    private func bits(_ prediction: Prediction, _ factors: Factors, of own: NumberSample, in samples: [NumberSample]) -> Double {
        guard case .product(_, let scale, let offset) = prediction.rule else { return .infinity }
        let products = ProductSearch.products(factors, samples), form = prediction.form
        var differences: [Int64] = [], exceptions = 0
        differences.reserveCapacity(products.count)
        for (i, value) in own.values.enumerated() where !value.isNaN {
            let number: Int64
            if let form {
                guard let integer = form.integer(value) else {
                    exceptions += 1
                    continue
                }
                number = integer
            } else {
                number = own.numbers[i]
            }
            let result = products[i] * scale + offset
            differences.append(number &- (form.map { $0.nearest(result) } ?? NumberForm.rounded(result)))
        }
        let all = Double(max(own.values.count, 1))
        return CodeLength.bits(differences) * Double(differences.count) / all + Double(exceptions) / all * ProductSearch.exception + 0.1
    }
}
