/// Finds the name that a user probably meant.
package enum Suggestion {
    /// Longer names and further candidates are ignored, because both can come from untrusted bytes.
    private static let maximumLength = 64, maximumCandidates = 20_000

    /// Returns the candidate closest to `word`, without regard to case, or nil if none is close: at most a third of its letters and at most
    /// three differ (one, in short words), or one is a prefix of the other; a name that begins with `word` is the closest.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let wanted = letters(word)
        var best: (name: String, distance: Int)?
        for candidate in candidates.prefix(maximumCandidates) {
            let name = letters(candidate), limit = max(1, min(3, name.count / 3))
            let isPrefix = begins(name, with: wanted) || begins(wanted, with: name)
            guard isPrefix || abs(name.count - wanted.count) <= limit else { continue }
            // What is an abbreviation of a name is rather that than another name.
            let distance = begins(name, with: wanted) ? 0 : distance(wanted, name)
            guard isPrefix || distance <= limit else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Returns `did you mean "NAME"?` with the candidate closest to `word`, which is the name of a column in a flag; nil if none is close. A name
    /// with spaces around it is written in back-quotes there.
    package static func question(for word: String, among candidates: [String]) -> String? {
        nearest(to: word, among: candidates).map { name in
            name.first == " " || name.last == " "
                ? "did you mean '`\(name)`'? Names with spaces around them are in back-quotes" : "did you mean \"\(name)\"?"
        }
    }

    private static func letters(_ text: String) -> [Unicode.Scalar] { Array(text.lowercased().unicodeScalars.prefix(maximumLength)) }

    /// Prefixes of fewer than three letters match too many names.
    private static func begins(_ long: [Unicode.Scalar], with short: [Unicode.Scalar]) -> Bool {
        short.count { $0 != "-" } >= 3 && long.starts(with: short)
    }

    /// Returns the edit distance: insertions, deletions, replacements and swaps of neighbours that turn one text into the other (Damerau
    /// 1964).
    package static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var before = [Int](repeating: 0, count: b.count + 1), last = Array(0...b.count), next = last
        for i in a.indices {
            next[0] = i + 1
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                next[j + 1] = cost
            }
            (before, last, next) = (last, next, before)
        }
        return last[b.count]
    }
}
