/// A shortest edit script of two sequences (Myers, "An O(ND) difference algorithm and its variations", 1986), as the pairs that are kept.
struct EditScript {
    private(set) var kept: [(Int, Int)] = []

    /// Returns nil if finding it would take more than about `budget` steps.
    init?(_ old: [Int64], _ new: [Int64], budget: Int) {
        let n = old.count, m = new.count
        // reach[d]: for each diagonal -d, -d + 2, ... d, the furthest old position reached with d edits.
        var reach: [[Int32]] = []
        var steps = 0
        var edits = 0
        search: while true {
            guard edits <= n + m else { return nil }
            var row = [Int32](repeating: 0, count: edits + 1)
            steps += edits + 1
            for k in 0...edits {
                let diagonal = 2 * k - edits
                var x = 0
                if edits > 0 { x = Self.start(reach[edits - 1], k, edits) }
                var y = x - diagonal
                while x < n, y < m, x >= 0, y >= 0, old[x] == new[y] {
                    x += 1
                    y += 1
                    steps += 1
                }
                row[k] = Int32(x)
                if x == n, y == m {
                    reach.append(row)
                    break search
                }
            }
            reach.append(row)
            guard steps < budget else { return nil }
            edits += 1
        }
        trace(reach, n, m)
    }

    /// Returns the start of diagonal number `k` with `edits` edits: a step down from the diagonal above it or to the right from the one
    /// below.
    private static func start(_ previous: [Int32], _ k: Int, _ edits: Int) -> Int {
        if k == 0 { return Int(previous[0]) }
        if k == edits { return Int(previous[k - 1]) + 1 }
        return previous[k - 1] < previous[k] ? Int(previous[k]) : Int(previous[k - 1]) + 1
    }

    private mutating func trace(_ reach: [[Int32]], _ n: Int, _ m: Int) {
        var x = n, y = m, edits = reach.count - 1
        while edits >= 0 {
            let k = (x - y + edits) / 2
            let from = edits == 0 ? 0 : Self.start(reach[edits - 1], k, edits)
            while x > from {
                x -= 1
                y -= 1
                kept.append((x, y))
            }
            guard edits > 0 else { break }
            let wentDown = k == 0 || (k != edits && reach[edits - 1][k - 1] < reach[edits - 1][k])
            if wentDown { y -= 1 } else { x -= 1 }
            edits -= 1
        }
        kept.reverse()
    }
}
