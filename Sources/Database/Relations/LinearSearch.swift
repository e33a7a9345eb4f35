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
    let rows: Int
    /// The position in `samples` of each column.
    private let positions: [Int: Int]
    /// The rows that are compared first, spread over the sample.
    private let places: [Int]
    private let all: [Int]
    /// Of each column, its numbers in the places less their mean, divided by their deviation; empty if all are the same.
    private let shapes: [[Double]]
    /// Of each column, its numbers in some places, divided by its unit.
    private let steps: [[Int64]]
    /// The sums of more than two columns.
    private let longSums: [Int: [[SumSearch.Term]]]

    /// Pairs are first compared in so many rows.
    private static let few = 256
    /// The bits of a row that is an exception.
    private static let exception = 80.0

    init(_ samples: [NumberSample], rows: Int) {
        (self.samples, self.rows) = (samples, rows)
        positions = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($0.element.column.index, $0.offset) })
        let count = samples.first?.numbers.count ?? 0, hop = max(1, count / LinearSearch.few)
        places = Array(stride(from: 0, to: count, by: hop))
        all = Array(0..<count)
        let places = places, far = max(1, places.count / LinearSearch.farPlaces)
        shapes = samples.map { LinearSearch.shape(of: $0, places) }
        steps = samples.map { sample in
            stride(from: 0, to: places.count, by: far).prefix(LinearSearch.farPlaces).map {
                sample.numbers[places[$0]] / sample.column.unit
            }
        }
        longSums = LinearSearch.longSums(samples, places)
    }

    private static func longSums(_ samples: [NumberSample], _ places: [Int]) -> [Int: [[SumSearch.Term]]] {
        let digits = min(samples.lazy.compactMap(\.column.digits).max() ?? 0, LinearSearch.powers.count - 1)
        return SumSearch(
            samples.map { sample in
                guard let own = sample.column.digits, own <= digits else { return nil }
                return places.map { sample.numbers[$0] / sample.column.unit &* LinearSearch.powers[digits - own] }
            }
        ).sums
    }

    /// So many places show whether one column is the sum of others.
    private static let farPlaces = 16

    private static func shape(of sample: NumberSample, _ places: [Int]) -> [Double] {
        let known = places.filter { !sample.isMissing[$0] }
        guard known.count >= 16 else { return [] }
        let mean = known.reduce(0) { $0 + Double(sample.numbers[$1]) } / Double(known.count)
        let shape = places.map { sample.isMissing[$0] ? 0 : Double(sample.numbers[$0]) - mean }
        let size = shape.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return size > 0 && size.isFinite ? shape.map { $0 / size } : []
    }

    /// Whether a column may be about a multiple of another one: they correlate, or their difference is often the same.
    private func mayAgree(_ target: Int, _ source: Int) -> Bool {
        let a = shapes[target], b = shapes[source]
        guard a.count == b.count, !a.isEmpty else { return false }
        var correlation = 0.0
        for i in a.indices { correlation += a[i] * b[i] }
        if correlation.magnitude > 0.5 { return true }
        let t = samples[target], s = samples[source]
        var same = 0, last = Int64.min
        for place in places {
            let difference = t.numbers[place] &- s.numbers[place]
            if difference == last { same += 1 }
            last = difference
        }
        return same * 4 > places.count
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
        guard own.digits != nil else { return found }
        func consider(_ guess: Guess) {
            guard bits(guess, target, places) < limit * 1.1 else { return }
            let bits = bits(guess, target, all)
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
    private func bits(_ guess: Guess, _ target: Int, _ rows: [Int]) -> Double {
        guard case .linear(let terms, let shift, let constant) = guess.rule else { return .infinity }
        let own = samples[target]
        var differences = [Int64](repeating: constant, count: rows.count)
        for term in terms {
            guard let position = positions[term.column] else { return .infinity }
            let source = samples[position].numbers
            for (i, row) in rows.enumerated() { differences[i] &+= term.factor &* source[row] }
        }
        var count = 0
        for (i, row) in rows.enumerated() where !own.isMissing[row] {
            differences[count] = own.numbers[row] &* guess.scale &- (differences[i] &>> Int64(shift))
            count += 1
        }
        differences.removeLast(differences.count - count)
        let share = Double(count) / Double(max(rows.count, 1)), exceptions = Double(own.exceptions) / Double(max(all.count, 1))
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
            let differing = places.count { own.doubles[$0] != other.doubles[$0] }
            guard differing * 3 < places.count else { return nil }
            let share = Double(all.count { own.doubles[$0] != other.doubles[$0] }) / Double(max(all.count, 1))
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
        guard samples.count > 2, places.count >= 16, samples[target].column.digits != nil else { return [] }
        var found: [Guess] = []
        let others = samples.indices.filter { $0 != target && samples[$0].column.digits != nil }
        for (i, a) in others.enumerated() {
            for b in others[(i + 1)...] {
                guard let scaled = scales(target, [a, b]) else { continue }
                for (x, y) in [(Int64(1), Int64(1)), (1, -1), (-1, 1), (-1, -1)] {
                    guard agree(target, (a, x * scaled.factors[0]), (b, y * scaled.factors[1]), digits: scaled.digits),
                        let guess = whole(target, [(a, x), (b, y)])
                    else { continue }
                    found.append(guess)
                }
                if found.count >= 8 { return found }
            }
        }
        return found
    }

    /// Whether the steps between some places are those of the sum of two columns, in most of them.
    private func agree(_ target: Int, _ a: (source: Int, factor: Int64), _ b: (source: Int, factor: Int64), digits: Int) -> Bool {
        let t = steps[target], u = steps[a.source], v = steps[b.source]
        let scale = LinearSearch.powers[digits - (samples[target].column.digits ?? 0)]
        guard t.count == LinearSearch.farPlaces else { return false }
        var same = 0, moved = 0, before = t[0] &* scale &- a.factor &* u[0] &- b.factor &* v[0]
        for k in 1..<t.count {
            let here = t[k] &* scale &- a.factor &* u[k] &- b.factor &* v[k]
            if here == before { same += 1 }
            if u[k] != u[k - 1], v[k] != v[k - 1] { moved += 1 }
            before = here
            // Most pairs end here.
            if k == 5, same == 0 { return false }
        }
        return same >= 4 && moved >= 4
    }

    // MARK: Slopes

    /// Returns predictions by the line that fits best, also with its slope rounded.
    private func slopes(_ target: Int, _ source: Int) -> [Guess] {
        let t = samples[target], s = samples[source]
        guard s.column.digits != nil, let rough = fit(t, s, places), rough.correlation > 0.5 else { return [] }
        // The line through all rows of the sample is more exact.
        let line = fit(t, s, all) ?? rough
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

    private func fit(_ target: NumberSample, _ source: NumberSample, _ rows: [Int]) -> LineFit? {
        LineFit(
            rows.lazy.filter { !target.isMissing[$0] && !source.isMissing[$0] }
                .map { (Double(source.numbers[$0]), Double(target.numbers[$0])) })
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

/// The line that fits points best.
struct LineFit {
    var slope: Double
    var offset: Double
    /// The magnitude of the coefficient of correlation.
    var correlation: Double

    init?(_ pairs: some Sequence<(Double, Double)>) {
        let points = pairs.map { (x: $0.0, y: $0.1) }
        guard points.count >= 16 else { return nil }
        let n = Double(points.count)
        let x = points.reduce(0) { $0 + $1.x } / n, y = points.reduce(0) { $0 + $1.y } / n
        var xx = 0.0, xy = 0.0, yy = 0.0
        for point in points {
            xx += (point.x - x) * (point.x - x)
            xy += (point.x - x) * (point.y - y)
            yy += (point.y - y) * (point.y - y)
        }
        guard xx > 0, yy > 0, xx.isFinite, yy.isFinite else { return nil }
        slope = xy / xx
        offset = y - slope * x
        correlation = xy.magnitude / (xx.squareRoot() * yy.squareRoot())
    }

    /// Rounds to some significant digits.
    static func rounded(_ x: Double, digits: Int) -> Double {
        guard x != 0, x.isFinite else { return x }
        var scale = 1.0
        while x.magnitude * scale < 1, scale < 1e15 { scale *= 10 }
        while x.magnitude * scale >= 10, scale > 1e-15 { scale /= 10 }
        let power = scale * (digits == 2 ? 10 : 1000)
        return (x * power).rounded() / power
    }
}
