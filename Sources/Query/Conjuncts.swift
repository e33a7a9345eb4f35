import FirnModel

/// How many rows the parts of an AND were asked about, and how many passed.
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

    /// The parts of an AND, the first to ask first: by what it costs to be rid of a row. A part that nobody was asked about stays at its cost.
    func order(_ costs: [Int]) -> [Int] {
        func price(_ part: Int) -> Double {
            let refused = seen[part] > 0 ? 1 - Double(passed[part]) / Double(seen[part]) : 0.5
            return Double(costs[part]) / max(refused, 0.001)
        }
        return costs.indices.sorted { (price($0), costs[$0], $0) < (price($1), costs[$1], $1) }
    }
}

/// In which order one scan asks the parts of an AND: cheap ones first, until it is known how many rows each of them refuses.
final class Conjuncts {
    private(set) var order: [Int]
    var tally: ConjunctTally
    private var vectors = 0
    /// The AND's.
    let number: Int?
    /// What is no longer in `tally`, for it was taken.
    private var taken: ConjunctTally
    /// The order is thought over after so many vectors.
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

    /// Before a vector.
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

    /// What was read and counted so far; forgets it.
    func takeStatistics() -> QueryStatistics {
        var out = statistics
        statistics = QueryStatistics()
        for conjuncts in conjuncts.values { if let number = conjuncts.number { out.conjuncts[number] = conjuncts.takeTally() } }
        return out
    }
}

extension PredicateNode {
    /// The ANDs within, from the outside in.
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
    /// In which order its parts were asked at last, and what came of it.
    func account(_ tally: ConjunctTally, _ indent: String) -> String {
        let lines = tally.order(parts.map(\.cost)).map { part in
            let first = parts[part].outline("").split(separator: "\n").first ?? ""
            return "\(indent)\(first): \(tally.passed[part]) of \(tally.seen[part]) rows passed\n"
        }
        return "tests in the order of what they refused for their cost:\n" + lines.joined()
    }
}
