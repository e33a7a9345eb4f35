/// Finds the name that a user probably meant.
package enum Suggestion {
    /// Returns the candidate closest to `word`, or nil if none is close: at most a third of its letters differ (one, in short words), or
    /// one is a prefix of the other.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let word = word.lowercased(), name = candidate.lowercased(), distance = distance(word, name)
            let isPrefix = begins(name, with: word) || begins(word, with: name)
            guard isPrefix || distance <= max(1, candidate.count / 3) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Prefixes of fewer than three letters match too many names.
    private static func begins(_ long: String, with short: String) -> Bool { short.count { $0 != "-" } >= 3 && long.hasPrefix(short) }

    /// The edit distance: insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
    package static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a), b = Array(b)
        var before: [Int] = [], last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1] + [Int](repeating: 0, count: b.count)
            for j in b.indices {
                row[j + 1] = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { row[j + 1] = min(row[j + 1], before[j - 1] + 1) }
            }
            before = last
            last = row
        }
        return last[b.count]
    }

    /// Joins words as alternatives: `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words.last!
    }
}
