import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

@Suite struct PatternTests {
    /// Whether a text matches a pattern, character by character.
    private func matches(_ text: Substring.UnicodeScalarView, _ pattern: Substring.UnicodeScalarView) -> Bool {
        guard let wanted = pattern.first else { return text.isEmpty }
        if wanted == "*" {
            return matches(text, pattern.dropFirst()) || !text.isEmpty && matches(text.dropFirst(), pattern)
        }
        guard let found = text.first, wanted == "?" || wanted == found else { return false }
        return matches(text.dropFirst(), pattern.dropFirst())
    }

    @Test func `LIKE finds what a comparison character by character finds`() {
        let seed = Seed.one(1)
        var random = Random(seed)
        for round in 0..<Tier.cases(150, of: 400) {
            let letters = round % 4 == 0 ? ["a", "b", "é"] : ["a", "ab", "ba", "special requests "]
            func word(_ most: Int) -> String {
                (0..<Int.random(in: 0...most, using: &random)).map { _ in letters.randomElement(using: &random)! }.joined()
            }
            let wildcards = round % 3 == 0 ? ["*", "?", ""] : ["*", "*", "**", ""]
            let pattern = (0..<Int.random(in: 1...4, using: &random)).map { _ in word(2) + wildcards.randomElement(using: &random)! }
                .joined()
            let texts = (0..<70).map { _ in word(9) }
            let test = TextTest(.like(Array(pattern.utf8)), folding: Folding())
            var together = Text(), found = [UInt64](repeating: 0, count: 2), scratch: [UInt8] = []
            for text in texts { together.append(text) }
            found.withUnsafeMutableBufferPointer { test.apply(together, count: texts.count, candidates: nil, out: $0.baseAddress!) }
            for (row, text) in texts.enumerated() {
                let expected = matches(Substring(text).unicodeScalars, Substring(pattern).unicodeScalars)
                let alone = Array(text.utf8).withUnsafeBytes { test.matches($0, &scratch) }
                #expect(alone == expected, "seed \(seed) round \(round): \(text.debugDescription) LIKE \(pattern.debugDescription)")
                #expect(found[row / 64] >> UInt64(row % 64) & 1 == (expected ? 1 : 0), "seed \(seed) round \(round) row \(row)")
            }
        }
    }
}
