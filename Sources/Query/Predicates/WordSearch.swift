import FirnTable

/// A search by `TEXT`: words that must occur, words that must not occur, and prefixes of words.
package struct WordSearch: Sendable, Hashable {
    package struct Term: Sendable, Hashable {
        /// The word, folded in the same way as by `WordCutter`.
        package var word: [UInt8]
        /// `word*`: matches any word that begins with this.
        package var isPrefix: Bool
    }
    package private(set) var wanted: [Term] = []
    package private(set) var unwanted: [Term] = []

    /// Parses terms that are separated by white space: `word`, `word*`, `-word`. Fails with an explanation if a term is not exactly one
    /// word.
    package static func parsed(_ text: String) -> Result<WordSearch, QueryFault> {
        var search = WordSearch(), cutter = WordCutter()
        for part in text.split(whereSeparator: \.isWhitespace) {
            var body = part
            let isUnwanted = body.first == "-", isPrefix = body.last == "*"
            if isUnwanted { body.removeFirst() }
            if isPrefix, !body.isEmpty { body.removeLast() }
            var words: [[UInt8]] = [], bytes = Array(body.utf8)
            bytes.withUnsafeMutableBytes { buffer in
                cutter.forEachWord(of: UnsafeRawBufferPointer(buffer)) { word in
                    words.append(Array(word))
                    return true
                }
            }
            guard words.count == 1, words[0] == Folding(case: true, marks: true).folded(Array(body.utf8)) else {
                return .failure(
                    QueryFault(words: words.isEmpty ? "\"\(part)\" does not contain a word" : "\"\(part)\" is more than one word"))
            }
            let term = Term(word: words[0], isPrefix: isPrefix)
            if isUnwanted { search.unwanted.append(term) } else { search.wanted.append(term) }
        }
        guard !search.wanted.isEmpty || !search.unwanted.isEmpty else {
            return .failure(QueryFault(words: "there is no word to search for"))
        }
        return .success(search)
    }

    /// Returns whether a text contains all wanted words and no unwanted one.
    func matches(_ text: UnsafeRawBufferPointer, _ cutter: inout WordCutter) -> Bool {
        guard wanted.count <= 64 else { return matchesMany(text, &cutter) }
        var missing: UInt64 = wanted.count == 64 ? .max : 1 &<< UInt64(wanted.count) &- 1
        var isRefused = false
        cutter.forEachWord(of: text) { word in
            for term in unwanted where WordSearch.fits(word, term) { isRefused = true }
            for (i, term) in wanted.enumerated() where missing >> UInt64(i) & 1 == 1 && WordSearch.fits(word, term) {
                missing &= ~(1 &<< UInt64(i))
            }
            return !isRefused && (missing != 0 || !unwanted.isEmpty)
        }
        return !isRefused && missing == 0
    }

    private func matchesMany(_ text: UnsafeRawBufferPointer, _ cutter: inout WordCutter) -> Bool {
        var met = [Bool](repeating: false, count: wanted.count), isRefused = false
        cutter.forEachWord(of: text) { word in
            for term in unwanted where WordSearch.fits(word, term) { isRefused = true }
            for (i, term) in wanted.enumerated() where WordSearch.fits(word, term) { met[i] = true }
            return !isRefused
        }
        return !isRefused && !met.contains(false)
    }

    private static func fits(_ word: UnsafeRawBufferPointer, _ term: Term) -> Bool {
        guard term.isPrefix ? word.count >= term.word.count : word.count == term.word.count else { return false }
        for i in term.word.indices where word[i] != term.word[i] { return false }
        return true
    }
}
