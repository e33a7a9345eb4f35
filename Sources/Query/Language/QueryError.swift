import FirnBytes

/// An error in a query: the explanation, and the position in the text.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The text is not in the query language.
        case syntax
        /// The text is well formed, but does not fit the table: names, types, arguments.
        case binding
        /// The text is in the language, but this version does not support it.
        case unsupported
    }

    package var kind: Kind
    /// What is wrong, in one clause.
    package var message: String
    /// The text with the error: the query, or a path or aggregate of the request.
    package var text: String
    /// The position of the error in `text`, in bytes.
    package var position: Int
    /// What is allowed at the position; empty if unknown.
    package var expected: String
    /// A known name that is close to the one used.
    package var suggestion: String?
    /// Advice if no name is close, such as the known names.
    package var hint: String?

    package init(
        _ kind: Kind, _ message: String, in text: String = "", at position: Int = 0, expected: String = "", suggestion: String? = nil,
        hint: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.text = text
        self.position = position
        self.expected = expected
        self.suggestion = suggestion
        self.hint = hint
    }

    /// Returns the same error with the text it was found in.
    func located(in text: String) -> QueryError {
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

    /// The position of the error in characters; 1 is the first.
    package var column: Int { String(decoding: text.utf8.prefix(position), as: UTF8.self).count + 1 }

    /// The error as tools report it: `usage`, or `unsupported` for what a later version may support.
    package var asFirnError: FirnError {
        var plain = self
        plain.suggestion = nil
        plain.hint = nil
        return FirnError(
            kind == .unsupported ? .unsupported : .usage, plain.description, advice: suggestion.map { "did you mean \($0)?" } ?? hint)
    }

    /// The text, or the part of a long text around the error.
    private var excerpt: String {
        guard text.utf8.count > 120 else { return "\"\(text)\"" }
        let start = max(0, position - 50), end = min(text.utf8.count, position + 50)
        let middle = String(decoding: text.utf8.dropFirst(start).prefix(end - start), as: UTF8.self)
        return "\"\(start > 0 ? "…" : "")\(middle)\(end < text.utf8.count ? "…" : "")\""
    }
}

/// An error in a part of a query that has no position in the text.
package struct QueryFault: Error {
    package var words: String
}
