import FirnTable

/// For each part of an AND, the number of rows that were tested and that passed.
package struct ConjunctTally: Sendable, Equatable {
    package private(set) var seen: [Int]
    package private(set) var passed: [Int]

    init(_ count: Int) {
        seen = Array(repeating: 0, count: count)
        passed = seen
    }

    mutating func note(_ part: Int, seen: Int, passed: Int) {
        self.seen[part] &+= seen
        self.passed[part] &+= passed
    }

    static func + (a: ConjunctTally, b: ConjunctTally) -> ConjunctTally {
        var sum = a
        guard a.seen.count == b.seen.count else { return a }
        for part in sum.seen.indices { sum.note(part, seen: b.seen[part], passed: b.passed[part]) }
        return sum
    }

    /// Returns the order in which to test the parts of an AND: by the cost of excluding one row. A part that has not tested any row is
    /// assumed to exclude half of them.
    func order(_ costs: [Int]) -> [Int] {
        func price(_ part: Int) -> Double {
            let refused = seen[part] > 0 ? 1 - Double(passed[part]) / Double(seen[part]) : 0.5
            return Double(costs[part]) / max(refused, 0.001)
        }
        return costs.indices.sorted { (price($0), costs[$0], $0) < (price($1), costs[$1], $1) }
    }
}

/// The order in which one scan tests the parts of an AND: by cost at first, then by measured selectivity.
final class Conjuncts {
    private(set) var order: [Int]
    var tally: ConjunctTally
    private var vectors = 0
    /// The number of the AND in the plan.
    let number: Int?
    /// The counts that `takeTally` has returned already.
    private var taken: ConjunctTally
    /// The order is reconsidered after this number of vectors.
    private static let pace = 16

    init(_ count: Int, number: Int?) {
        order = Array(0..<count)
        tally = ConjunctTally(count)
        taken = tally
        self.number = number
    }

    func takeTally() -> ConjunctTally {
        defer { tally = ConjunctTally(order.count) }
        taken = taken + tally
        return tally
    }

    /// Called before each vector; reconsiders the order when due.
    func settle(_ parts: [PredicateNode]) {
        vectors &+= 1
        guard vectors % Conjuncts.pace == 0 else { return }
        order = (taken + tally).order(parts.map(\.cost))
    }
}

extension SegmentScan {
    func conjuncts(of node: AndNode) -> Conjuncts {
        if let known = conjuncts[ObjectIdentifier(node)] { return known }
        let new = Conjuncts(node.parts.count, number: node.number)
        conjuncts[ObjectIdentifier(node)] = new
        return new
    }

    /// Returns what was read and counted since the last call, and resets it.
    func takeStatistics() -> QueryStatistics {
        var out = statistics
        statistics = QueryStatistics()
        for conjuncts in conjuncts.values { if let number = conjuncts.number { out.conjuncts[number] = conjuncts.takeTally() } }
        return out
    }
}

extension PredicateNode {
    /// The ANDs within the predicate, outermost first.
    var conjunctions: [AndNode] {
        switch self {
        case let node as AndNode: [node] + node.parts.flatMap(\.conjunctions)
        case let node as OrNode: node.parts.flatMap(\.conjunctions)
        case let node as NotNode: node.inner.conjunctions
        default: []
        }
    }
}

extension AndNode {
    /// Returns the final order of the parts and their counts, for `explain`.
    func account(_ tally: ConjunctTally, _ indent: String) -> String {
        let lines = tally.order(parts.map(\.cost)).map { part in
            let first = parts[part].outline("").split(separator: "\n").first ?? ""
            return "\(indent)\(first): \(tally.passed[part]) of \(tally.seen[part]) rows passed\n"
        }
        return "tests, in the order of rows excluded per cost:\n" + lines.joined()
    }
}
