import FirnTable

extension TextTest {
    /// Returns what text bounds determine about the test; `.unknown` if case or marks are folded.
    func verdict(_ bounds: TextBounds, inverted: Bool) -> Verdict {
        guard !folding.isNeeded else { return .unknown }
        switch form {
        case .equal(let bytes):
            return Verdict(
                inside: !bounds.isCut && bounds.low == bytes && bounds.high == bytes, outside: !bounds.mayHold(bytes), inverted: inverted)
        case .oneOf(let values): return Verdict(inside: false, outside: !values.contains { bounds.mayHold($0) }, inverted: inverted)
        case .prefix(let bytes):
            return Verdict(inside: bounds.allBegin(with: bytes), outside: !bounds.mayHold(prefix: bytes), inverted: inverted)
        case .range(let low, let lowIncluded, let high, let highIncluded):
            let isAbove =
                low.map { lowIncluded ? !bounds.low.lexicographicallyPrecedes($0) : $0.lexicographicallyPrecedes(bounds.low) } ?? true
            let isBelow = high.map { highIncluded ? bounds.isAtMost($0) : bounds.isBelow($0) } ?? true
            let isTooLow = low.map { lowIncluded ? bounds.isBelow($0) : bounds.isAtMost($0) } ?? false
            let isTooHigh =
                high.map { highIncluded ? $0.lexicographicallyPrecedes(bounds.low) : !bounds.low.lexicographicallyPrecedes($0) } ?? false
            return Verdict(inside: isAbove && isBelow, outside: isTooLow || isTooHigh, inverted: inverted)
        case .suffix, .contains, .like, .words: return .unknown
        }
    }
}
