import FirnTable

/// Looks for columns that are sums or differences of three or four others, in a sample of a segment: between some rows, a sum changes as
/// its columns do. What it finds must be verified.
struct SumSearch {
    /// A column with a factor of 1 or −1.
    struct Term: Hashable {
        /// The position in the samples.
        var source: Int
        var sign: Int64
    }

    /// The sums that were found for each column, by its position in the samples.
    private(set) var sums: [Int: [[Term]]] = [:]

    /// The rows are compared in so many windows, so that an exception in one of them hides nothing.
    private static let windows = 4
    /// So many places make a window.
    private static let places = 9
    /// Sums of four columns are looked for among at most so many columns, which bounds the time.
    private static let maximumTriples = 28
    private static let maximumSums = 8

    /// Columns with signs. All relations between columns are found as two combinations with the same steps.
    private struct Combination {
        var terms: [Term]
        /// The sign of its first step that is not 0: combinations with opposite steps have one key.
        var sign: Int64
    }

    /// `numbers` are the numbers of each column in some rows, with a common scale.
    init(_ numbers: [[Int64]?]) {
        let rows = numbers.lazy.compactMap { $0?.count }.first ?? 0
        guard numbers.count >= 4, rows >= SumSearch.windows * SumSearch.places else { return }
        for window in 0..<SumSearch.windows { search(numbers, window, rows) }
    }

    /// Looks for relations that hold in all rows of a window.
    private mutating func search(_ numbers: [[Int64]?], _ window: Int, _ rows: Int) {
        let hop = rows / SumSearch.places, first = window * hop / SumSearch.windows
        var steps: [(source: Int, steps: [Int64])] = []
        for (source, numbers) in numbers.enumerated() {
            guard let numbers else { continue }
            let values = (0..<SumSearch.places).map { numbers[first + $0 * hop] }
            let moves = zip(values.dropFirst(), values).map { $0 &- $1 }
            if SumSearch.says(moves) { steps.append((source, moves)) }
        }
        var pairs: [[Int64]: [Combination]] = [:]
        for i in steps.indices {
            for j in steps.indices[(i + 1)...] {
                for sign in [Int64(1), -1] {
                    let sum = zip(steps[i].steps, steps[j].steps).map { $0 &+ sign &* $1 }
                    let terms = [Term(source: steps[i].source, sign: 1), Term(source: steps[j].source, sign: sign)]
                    guard let (key, combination) = SumSearch.combination(terms, sum) else { continue }
                    for other in pairs[key] ?? [] { relate(combination, other) }
                    if pairs[key, default: []].count < SumSearch.maximumSums { pairs[key, default: []].append(combination) }
                }
            }
        }
        guard steps.count <= SumSearch.maximumTriples else { return }
        for i in steps.indices {
            for j in steps.indices[(i + 1)...] {
                for k in steps.indices[(j + 1)...] {
                    for (x, y) in [(Int64(1), Int64(1)), (1, -1), (-1, 1), (-1, -1)] {
                        let sum = (0..<steps[i].steps.count).map {
                            steps[i].steps[$0] &+ x &* steps[j].steps[$0] &+ y &* steps[k].steps[$0]
                        }
                        let terms = zip([i, j, k], [1, x, y]).map { Term(source: steps[$0].source, sign: $1) }
                        guard let (key, combination) = SumSearch.combination(terms, sum), let others = pairs[key] else { continue }
                        for other in others { relate(combination, other) }
                    }
                }
            }
        }
    }

    /// Whether steps say enough about a column: small numbers have the same sums by chance.
    private static func says(_ steps: [Int64]) -> Bool {
        steps.count { $0 != 0 } * 2 >= steps.count && steps.reduce(0) { $0 + 64 - $1.magnitude.leadingZeroBitCount } >= 16
    }

    private static func combination(_ terms: [Term], _ steps: [Int64]) -> (key: [Int64], Combination)? {
        guard says(steps), let first = steps.first(where: { $0 != 0 }) else { return nil }
        let sign: Int64 = first < 0 ? -1 : 1
        return (steps.map { $0 &* sign }, Combination(terms: terms, sign: sign))
    }

    /// Adds, for each column of two combinations with the same steps, the sum of the others.
    private mutating func relate(_ a: Combination, _ b: Combination) {
        guard Set(a.terms.map(\.source)).isDisjoint(with: b.terms.map(\.source)) else { return }
        let all =
            a.terms.map { Term(source: $0.source, sign: $0.sign * a.sign) }
            + b.terms.map { Term(source: $0.source, sign: -$0.sign * b.sign) }
        for target in all {
            let others = all.filter { $0 != target }.map { Term(source: $0.source, sign: -$0.sign * target.sign) }
                .sorted { $0.source < $1.source }
            var known = sums[target.source] ?? []
            guard known.count < SumSearch.maximumSums, !known.contains(others) else { continue }
            known.append(others)
            sums[target.source] = known
        }
    }
}
