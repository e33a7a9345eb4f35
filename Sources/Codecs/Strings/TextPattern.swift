import Synchronization

/// A pattern of bytes that strings are tested for, in a form that can be tested on symbol-table codes: pieces that occur one after the
/// other, the first one optionally at the beginning, the last one optionally at the end. Equality is one piece at both.
package final class TextPattern: Sendable {
    let pieces: [[UInt8]]
    let isAtStart: Bool
    let isAtEnd: Bool
    /// Whether matching ignores case or diacritical marks by Unicode folding. Such patterns decide ASCII text only; other text is left
    /// undecided.
    let isFolded: Bool
    /// Whether ASCII letters are compared as lower-case letters.
    let ignoresCase: Bool
    /// The automata of the tables that were searched last.
    private let automata = Mutex<[(table: TrainedText, automaton: SymbolAutomaton)]>([])

    /// The maximum total length of the pieces in bytes. Longer patterns must be tested on decoded strings.
    static let maximumLength = 96
    private static let remembered = 16

    /// Returns nil if the pattern cannot be tested in this form. The pieces of a folded pattern must already be folded.
    package init?(pieces: [[UInt8]], isAtStart: Bool, isAtEnd: Bool, ignoresCase: Bool = false, isFolded: Bool = false) {
        let isWhole = pieces.count == 1 && isAtStart && isAtEnd
        guard !pieces.isEmpty, isWhole || !pieces.contains([]), pieces.reduce(0, { $0 + $1.count }) <= Self.maximumLength else {
            return nil
        }
        if isFolded, pieces.contains(where: { $0.contains { $0 >= 0x80 || ignoresCase && $0 &- 65 < 26 } }) { return nil }
        self.pieces = pieces
        self.isAtStart = isAtStart
        self.isAtEnd = isAtEnd
        self.ignoresCase = ignoresCase
        self.isFolded = isFolded
    }

    /// Returns the automaton for codes of a table, and keeps the 16 built last.
    func automaton(_ table: TrainedText, _ symbols: SymbolTable) -> SymbolAutomaton {
        automata.withLock { known in
            if let index = known.firstIndex(where: { $0.table === table }) { return known[index].automaton }
            let made = SymbolAutomaton(ByteAutomaton(self), symbols)
            if known.count == Self.remembered { known.removeFirst() }
            known.append((table, made))
            return made
        }
    }
}

/// A pattern as a finite automaton over bytes. In state s, the first s bytes of all pieces, end to end, have been matched.
struct ByteAutomaton {
    /// The transitions, by state and byte.
    private(set) var next: [UInt8]
    /// The state in which each piece begins.
    private(set) var bases: [Int]
    /// All pieces were found. If the last piece must be at the end, further bytes leave this state.
    let accepting: Int
    /// A final state: the string cannot match any more.
    let refusing: Int
    /// A final state: the automaton cannot decide the string.
    let unsure: Int
    var stateCount: Int { unsure + 1 }
    /// Whether no byte leaves the state.
    private(set) var isFinal: [Bool]

    init(_ pattern: TextPattern) {
        let total = pattern.pieces.reduce(0) { $0 + $1.count }
        accepting = total
        refusing = total + 1
        unsure = total + 2
        next = [UInt8](repeating: 0, count: (total + 3) * 256)
        bases = []
        isFinal = [Bool](repeating: false, count: total + 3)
        for state in total...(total + 2) {
            if state == total, pattern.isAtEnd { continue }
            isFinal[state] = true
            for byte in 0..<256 { next[state << 8 | byte] = UInt8(state) }
        }
        var base = 0
        for (i, piece) in pattern.pieces.enumerated() {
            bases.append(base)
            let isLast = i == pattern.pieces.count - 1
            fill(piece, base, isFixed: i == 0 && pattern.isAtStart, goesOn: isLast && pattern.isAtEnd)
            base += piece.count
        }
        for state in 0...total where !isFinal[state] {
            if pattern.ignoresCase { for byte in 65..<91 { next[state << 8 | byte] = next[state << 8 | byte | 32] } }
            // One byte is not enough to tell whether a character is folded away or becomes an ASCII letter.
            if pattern.isFolded { for byte in 128..<256 { next[state << 8 | byte] = UInt8(unsure) } }
        }
    }

    /// Fills the states of one piece. `isFixed`: the piece must be exactly here. `goesOn`: after a match, the search for a later match
    /// continues.
    private mutating func fill(_ piece: [UInt8], _ base: Int, isFixed: Bool, goesOn: Bool) {
        let away = isFixed ? refusing : base
        // The state after the piece's bytes so far without their first one, as in Knuth–Morris–Pratt.
        var fallback = base
        for k in 0..<(piece.count + (goesOn ? 1 : 0)) {
            let state = base + k
            for byte in 0..<256 { next[state << 8 | byte] = isFixed || k == 0 ? UInt8(away) : next[fallback << 8 | byte] }
            guard k < piece.count else { return }
            let byte = Int(piece[k])
            let further = k == 0 ? base : Int(next[fallback << 8 | byte])
            next[state << 8 | byte] = UInt8(state + 1)
            if k > 0 { fallback = isFixed ? base : further }
        }
    }
}
