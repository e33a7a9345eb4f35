import FirnBytes

/// What is wrong with a query: the words, and where in its text.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The text is not of the language.
        case syntax
        /// Well formed, but it does not fit the table: names, types, arguments.
        case binding
        /// Part of the language, but not of this version.
        case unsupported
    }

    package var kind: Kind
    /// What is wrong, in one clause.
    package var message: String
    /// The query, or the path or aggregate of the request, that is meant.
    package var text: String
    /// Bytes before the fault in `text`.
    package var position: Int
    /// What may stand there; empty if nothing can be said.
    package var expected: String
    /// A known name that is close to the one used.
    package var suggestion: String?
    /// What helps where no name is close: the names there are.
    package var hint: String?

    package init(_ kind: Kind, _ message: String, in text: String = "", at position: Int = 0, expected: String = "", suggestion: String? = nil, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.text = text
        self.position = position
        self.expected = expected
        self.suggestion = suggestion
        self.hint = hint
    }

    /// The same fault, in the text it was found in.
    func placed(in text: String) -> QueryError {
        var copy = self
        if copy.text.isEmpty { copy.text = text }
        return copy
    }

    package var description: String {
        var out = message
        if !expected.isEmpty { out += ": expected \(expected)" }
        if !text.isEmpty { out += " (at character \(column) of \(excerpt))" }
        if let suggestion { out += "; did you mean \(suggestion)?" } else if let hint { out += "; \(hint)" }
        return out
    }

    /// Characters up to and including the fault: 1 is the first.
    package var column: Int { String(decoding: text.utf8.prefix(position), as: UTF8.self).count + 1 }

    /// As the tools report it: `usage`, or `unsupported` for what a later version may know.
    package var asFirnError: FirnError {
        var plain = self
        plain.suggestion = nil
        plain.hint = nil
        return FirnError(kind == .unsupported ? .unsupported : .usage, plain.description, advice: suggestion.map { "did you mean \($0)?" } ?? hint)
    }

    /// The text, or the part of a long one around the fault.
    private var excerpt: String {
        guard text.utf8.count > 120 else { return "\"\(text)\"" }
        let start = max(0, position - 50), end = min(text.utf8.count, position + 50)
        let middle = String(decoding: text.utf8.dropFirst(start).prefix(end - start), as: UTF8.self)
        return "\"\(start > 0 ? "…" : "")\(middle)\(end < text.utf8.count ? "…" : "")\""
    }
}

/// The closest of `names` to `name` by edits (insert, delete, replace, swap neighbours; Damerau 1964), if it is close enough to be meant.
func closest(to name: String, in names: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars.prefix(64))
    var best: (name: String, distance: Int)?
    for candidate in names.prefix(20_000) {
        let scalars = Array(candidate.lowercased().unicodeScalars.prefix(64))
        if abs(scalars.count - wanted.count) > 3 { continue }
        let distance = edits(wanted, scalars)
        if distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(1, min(3, wanted.count / 3)) else { return nil }
    return best.name
}

private func edits(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var before = [Int](repeating: 0, count: b.count + 1), last = Array(0...b.count), next = last
    for i in 0..<a.count {
        next[0] = i + 1
        for j in 0..<b.count {
            var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, next[j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
            next[j + 1] = cost
        }
        (before, last, next) = (last, next, before)
    }
    return last[b.count]
}

/// What is wrong with a part of a query that has no place in its text.
package struct QueryFault: Error {
    package var words: String
}
