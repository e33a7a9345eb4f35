import FirnTable

extension TextTest {
    /// The test in a form that columns can evaluate on the stored form; nil if it is not a sequence of byte strings.
    var pattern: TextPattern? {
        switch form {
        case .equal(let bytes): pattern([bytes], isAtStart: true, isAtEnd: true)
        case .prefix(let bytes): pattern([bytes], isAtStart: true, isAtEnd: false)
        case .suffix(let bytes): pattern([bytes], isAtStart: false, isAtEnd: true)
        case .contains(let bytes): pattern([bytes], isAtStart: false, isAtEnd: false)
        case .like(let bytes): pattern(like: bytes)
        case .range, .oneOf, .words: nil
        }
    }

    private func pattern(like wanted: [UInt8]) -> TextPattern? {
        let star = UInt8(ascii: "*")
        let pieces = wanted.split(separator: star).map { Array($0) }
        // `?` matches a character, which can be several bytes, so it is not supported. A piece must begin at the start of a character.
        guard !wanted.contains(UInt8(ascii: "?")), !wanted.contains(UInt8(ascii: "\\")), !pieces.contains(where: { $0[0] & 0xC0 == 0x80 })
        else { return nil }
        return pattern(pieces, isAtStart: wanted.first != star, isAtEnd: wanted.last != star)
    }

    private func pattern(_ pieces: [[UInt8]], isAtStart: Bool, isAtEnd: Bool) -> TextPattern? {
        TextPattern(pieces: pieces, isAtStart: isAtStart, isAtEnd: isAtEnd, ignoresCase: folding.case, isFolded: folding.isNeeded)
    }
}
