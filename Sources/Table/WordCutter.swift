import FirnBytes

/// Cuts text into the words that full-text search compares: runs of letters and digits, without case and without marks on letters.
///
/// The text is folded (`Folding` of case and marks), then cut at every scalar that is neither a letter, a digit nor a mark, and at bytes
/// that are not UTF-8. Indexes of words store the result, so it never changes.
package struct WordCutter {
    private static let folding = Folding(case: true, marks: true)
    private var folded: [UInt8] = []

    package init() {}

    /// Calls `body` with each word, folded, in order and with repetitions, until `body` returns false.
    package mutating func forEachWord(of text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) {
        folded.removeAll(keepingCapacity: true)
        WordCutter.folding.append(text, to: &folded)
        folded.withUnsafeBytes { bytes in
            var start = 0, at = 0
            while at < bytes.count {
                let length = WordCutter.lengthOfPart(bytes, at)
                if length > 0 {
                    at &+= length
                    continue
                }
                if at > start, !body(UnsafeRawBufferPointer(rebasing: bytes[start..<at])) { return }
                at &+= 1
                start = at
            }
            if at > start { _ = body(UnsafeRawBufferPointer(rebasing: bytes[start..<at])) }
        }
    }

    /// Returns the distinct words, ascending by bytes.
    package mutating func words(of text: String) -> [[UInt8]] {
        var found: Set<[UInt8]> = []
        var text = text
        text.withUTF8 { bytes in
            forEachWord(of: UnsafeRawBufferPointer(bytes)) { word in
                found.insert(Array(word))
                return true
            }
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns the length in bytes of the letter, digit or mark at `at`, or 0 if there is none.
    private static func lengthOfPart(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> Int {
        let byte = bytes[at]
        if byte < 0x80 { return byte | 32 >= 97 && byte | 32 <= 122 || byte >= 48 && byte <= 57 ? 1 : 0 }
        let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        guard byte >= 0xC2, byte < 0xF5, at + length <= bytes.count, let scalar = Folding.decode(bytes, at, length) else { return 0 }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber,
            .nonspacingMark, .spacingMark, .enclosingMark:
            return length
        default: return 0
        }
    }
}
