/// Parts of texts between separators. `split` and `firstIndex(of:)` compare characters: a separator before a combining mark is one
/// character with it, and is not found. These functions compare bytes.
extension StringProtocol {
    /// Returns the parts between the occurrences of an ASCII byte, including empty ones. If there are more than `most`, the last part that is
    /// returned is the remaining text.
    package func fields(at separator: UInt8, most: Int = .max) -> [String] {
        utf8.split(separator: separator, maxSplits: most - 1, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the parts before and after the first occurrence of an ASCII byte; nil if there is none.
    package func halves(at separator: UInt8) -> (before: String, after: String)? {
        let parts = fields(at: separator, most: 2)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
}
