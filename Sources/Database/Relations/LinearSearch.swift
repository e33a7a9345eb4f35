import FirnBytes
import FirnCodecs
import FirnTable

/// Looks for columns that are about a sum of multiples of other columns, in a sample of a segment. What it finds must be verified.
struct LinearSearch {
    /// A way to predict a column.
    struct Candidate: Sendable {
        var target: Int
        var prediction: Prediction
        /// The estimated bytes of the differences in the segment.
        var bytes: Double
    }

    /// The numbers of each column in the rows of the sample.
    let samples: [NumberSample]
    /// The same in the rows that are compared first, spread over the sample.
    private let few: [NumberSample]
    let rows: Int
    /// The position in `samples` of each column.
    private let positions: [Int: Int]
    /// What lines are fitted to: all rows of the sample, and few of them.
    private let points: [LinePoints]
    private let fewPoints: [LinePoints]
    /// The steps between the first rows.
    private let fewSteps: [[Int64]]
    /// The steps between rows that are far from each other.
    private let steps: [FarSteps]
    /// The sums of more than two columns.
    private let longSums: [Int: [[SumSearch.Term]]]
    private let products: ProductSearch

    /// Pairs are first compared in so many rows.
    private static let fewRows = 256
    /// The bits of a row that is an exception.
    private static let exception = 80.0

    init(_ samples: [NumberSample], rows: Int) {
        (self.samples, self.rows) = (samples, rows)
        positions = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($0.element.column.index, $0.offset) })
        let count = samples.first?.numbers.count ?? 0, hop = max(1, count / LinearSearch.fewRows)
        let few = hop == 1 ? samples : samples.map { $0.rows(each: hop) }
        self.few = few
        points = samples.map(LinePoints.init)
        fewPoints = hop == 1 ? points : few.map(LinePoints.init)
        fewSteps = few.map { sample in zip(sample.numbers, sample.numbers.dropFirst()).map { $1 &- $0 } }
        steps = few.map(FarSteps.init)
        longSums = LinearSearch.longSums(few)
        products = ProductSearch(samples, few: few)
    }

    private static func longSums(_ samples: [NumberSample]) -> [Int: [[SumSearch.Term]]] {
        let digits = min(samples.lazy.compactMap(\.column.digits).max() ?? 0, LinearSearch.powers.count - 1)
        return SumSearch(
            samples.map { sample in
                guard let own = sample.column.digits, own <= digits else { return nil }
                return sample.numbers.map { $0 / sample.column.unit &* LinearSearch.powers[digits - own] }
            }
        ).sums
    }

    /// Whether a column may be about a multiple of another one: they correlate, or their difference is often the same.
    private func mayAgree(_ target: Int, _ source: Int) -> Bool {
        guard fewPoints[target].varies, fewPoints[source].varies else { return false }
        if fewPoints[target].correlation(fewPoints[source]) > 0.5 { return true }
        let t = fewSteps[target], s = fewSteps[source]
        var same = 0
        for i in 0..<min(t.count, s.count) where t[i] == s[i] { same &+= 1 }
        return same * 4 > t.count + 1
    }

    /// A rule with the form of the numbers that it predicts, and what the numbers of the sample are multiplied by for that.
    private struct Guess {
        var rule: Prediction.Rule
        var form: NumberForm?
        var scale: Int64 = 1
    }

    /// Returns the best candidates for the column at `target`, best first.
    func candidates(for target: Int) -> [Candidate] {
        let own = samples[target].column, plain = Double(own.bytes) * 8 / Double(rows), limit = plain * 0.85
        guard plain > 0.5 else { return [] }
        var found = copies(target, limit: limit)
        if let product = products.candidate(for: target, limit: limit, rows: rows) { found.append(product) }
        guard own.digits != nil else { return found.sorted { $0.bytes < $1.bytes } }
        func consider(_ guess: Guess) {
            guard bits(guess, target, few) < limit * 1.1 else { return }
            let bits = bits(guess, target, samples)
            guard bits < limit else { return }
            found.append(
                Candidate(target: own.index, prediction: Prediction(rule: guess.rule, form: guess.form), bytes: bits * Double(rows) / 8))
        }
        for source in samples.indices where source != target && mayAgree(target, source) {
            for sign in [Int64(1), -1] { if let guess = whole(target, [(source, sign)]) { consider(guess) } }
            for guess in slopes(target, source) { consider(guess) }
        }
        for guess in sums(target) { consider(guess) }
        for terms in longSums[target] ?? [] {
            if let guess = whole(target, terms.map { ($0.source, $0.sign) }) { consider(guess) }
        }
        found.sort { $0.bytes < $1.bytes }
        return Array(found.prefix(3))
    }

    // MARK: Costs

    /// Returns the bits that the difference of a row takes.
    private func bits(_ guess: Guess, _ target: Int, _ samples: [NumberSample]) -> Double {
        guard case .linear(let terms, let shift, let constant) = guess.rule else { return .infinity }
        let own = samples[target], rows = own.numbers.count
        var differences = [Int64](repeating: constant, count: rows)
        for term in terms {
            guard let position = positions[term.column] else { return .infinity }
            let source = samples[position].numbers
            for i in 0..<min(rows, source.count) { differences[i] &+= term.factor &* source[i] }
        }
        var count = 0
        for i in 0..<rows where !own.isMissing[i] {
            differences[count] = own.numbers[i] &* guess.scale &- (differences[i] &>> Int64(shift))
            count &+= 1
        }
        differences.removeLast(rows - count)
        let all = self.samples[target]
        let share = Double(count) / Double(max(rows, 1)), exceptions = Double(all.exceptions) / Double(max(all.numbers.count, 1))
        return CodeLength.bits(differences) * share + exceptions * LinearSearch.exception + 0.1
    }

    // MARK: Copies

    /// Returns columns of doubles of which most are equal bit for bit.
    private func copies(_ target: Int, limit: Double) -> [Candidate] {
        let own = samples[target]
        guard own.column.form != nil, own.column.bytes * 8 > rows * 2 else { return [] }
        return samples.indices.compactMap { source in
            let other = samples[source]
            guard source != target, other.column.isSingle == own.column.isSingle, other.doubles.count == own.doubles.count else {
                return nil
            }
            guard few[target].differing(few[source]) * 3 < few[target].numbers.count else { return nil }
            let share = Double(own.differing(other)) / Double(max(own.numbers.count, 1))
            // A different double costs all of its bits.
            let bits = share * (66 - logarithm(max(share, 1e-3))) + 0.02
            guard bits < limit else { return nil }
            let ordered = NumberForm.ordered(single: own.column.isSingle)
            let term = Prediction.Term(column: other.column.index, factor: 1, form: ordered)
            let prediction = Prediction(rule: .linear([term], shift: 0, constant: 0), form: ordered)
            return Candidate(target: own.column.index, prediction: prediction, bytes: bits * Double(rows) / 8)
        }
    }

    // MARK: Whole multiples

    private static let powers: [Int64] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]

    /// Returns the number of digits that the target needs for a sum of these columns, and the factors of their numbers. Nil if their numbers
    /// have no common scale.
    private func scales(_ target: Int, _ sources: [Int]) -> (digits: Int, factors: [Int64])? {
        let form = samples[target].column.form
        guard let own = samples[target].column.digits else { return nil }
        var digits = own
        for source in sources {
            guard let more = samples[source].column.digits else { return nil }
            digits = max(digits, more)
        }
        guard digits == own || form?.digits != nil, digits < LinearSearch.powers.count else { return nil }
        return (digits, sources.map { LinearSearch.powers[digits - samples[$0].column.digits!] })
    }

    /// Returns the prediction by a sum of columns with a factor of 1 or −1 each.
    private func whole(_ target: Int, _ terms: [(source: Int, sign: Int64)]) -> Guess? {
        let own = samples[target].column
        guard let scaled = scales(target, terms.map(\.source)), let digits = own.digits else { return nil }
        let isRounded = terms.contains { own.unit % samples[$0.source].column.unit != 0 }
        var most: UInt64 = 1
        for term in terms { most = max(most, samples[term.source].most) }
        let shift = isRounded ? min(40, 58 - Double(most).exponent) : 0
        guard shift >= 0 else { return nil }
        let made = terms.indices.map { k -> Prediction.Term in
            let source = samples[terms[k].source].column
            let ratio = Double(own.unit) / Double(source.unit) * Double(sign: .plus, exponent: shift, significand: 1)
            let factor = Int64(min(ratio, 1e15).rounded()) &* scaled.factors[k] &* terms[k].sign
            return Prediction.Term(column: source.index, factor: factor, form: source.form)
        }
        let form = own.form.map { scaled.digits == digits ? $0 : NumberForm.decimal(scaled.digits, single: $0.isSingle) }
        let half = shift == 0 ? 0 : Int64(1) << Int64(shift - 1)
        return Guess(
            rule: .linear(made, shift: shift, constant: half), form: form, scale: LinearSearch.powers[scaled.digits - digits])
    }

    /// Returns sums and differences of two columns that have the same steps between some rows as the target.
    private func sums(_ target: Int) -> [Guess] {
        let form = samples[target].column.form
        guard samples.count > 2, steps[target].isWhole, let own = samples[target].column.digits, own < LinearSearch.powers.count else {
            return []
        }
        var found: [Guess] = []
        let others = samples.indices.filter { $0 != target && samples[$0].column.digits != nil }
        let most = form?.digits == nil ? own : LinearSearch.powers.count - 1
        for (i, a) in others.enumerated() {
            guard let digitsA = samples[a].column.digits, digitsA <= most else { continue }
            for b in others[(i + 1)...] {
                guard steps[a].moves(with: steps[b]), let digitsB = samples[b].column.digits, digitsB <= most else { continue }
                let digits = max(own, digitsA, digitsB)
                let signs = steps[target].sums(
                    steps[a], steps[b],
                    scales: (
                        LinearSearch.powers[digits - own], LinearSearch.powers[digits - digitsA], LinearSearch.powers[digits - digitsB]
                    ))
                for (x, y) in signs { if let guess = whole(target, [(a, x), (b, y)]) { found.append(guess) } }
                if found.count >= 8 { return found }
            }
        }
        return found
    }

    // MARK: Slopes

    /// Returns predictions by the line that fits best, also with its slope rounded.
    private func slopes(_ target: Int, _ source: Int) -> [Guess] {
        let t = samples[target], s = samples[source]
        guard s.column.digits != nil, let rough = fewPoints[target].line(from: fewPoints[source]), rough.correlation > 0.5 else {
            return []
        }
        // The line through all rows of the sample is more exact.
        let line = points[target].line(from: points[source]) ?? rough
        var slopes = [line.slope]
        for digits in [2, 4] {
            let rounded = LineFit.rounded(line.slope, digits: digits)
            if !slopes.contains(rounded), rounded != 0 { slopes.append(rounded) }
        }
        return slopes.compactMap { slope in
            let term = Prediction.Term(column: s.column.index, factor: 0, form: s.column.form)
            return LinearSearch.rule(term, slope: slope, offset: slope == line.slope ? line.offset : 0, most: s.most)
                .map { Guess(rule: $0, form: t.column.form) }
        }
    }

    /// Returns the rule of a line, as exact as 64 bits allow; nil if its numbers are too large.
    static func rule(_ term: Prediction.Term, slope: Double, offset: Double, most: UInt64) -> Prediction.Rule? {
        let bits = Double(most).exponent + 1, steep = max(0, slope.magnitude.exponent + 1)
        let shift = min(40, 60 - Int(bits) - Int(steep))
        guard shift >= 0, slope.isFinite, slope != 0, offset.magnitude < Double(sign: .plus, exponent: 60 - shift, significand: 1) else {
            return nil
        }
        let unit = Double(sign: .plus, exponent: shift, significand: 1)
        var term = term
        term.factor = Int64((slope * unit).rounded())
        // Half a unit more, so that the shift rounds to the nearest integer.
        let constant = Int64((offset * unit).rounded()) + (shift == 0 ? 0 : Int64(1) << Int64(shift - 1))
        return term.factor == 0 ? nil : .linear([term], shift: shift, constant: constant)
    }
}
