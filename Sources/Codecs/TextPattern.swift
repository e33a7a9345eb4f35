import Synchronization

/// What is asked of strings by their bytes, in a form that can be asked of them as they are stored: pieces that occur one after the other, the first
/// one perhaps at the beginning, the last one perhaps at the end. Equality is one piece at both.
package final class TextPattern: Sendable {
    let pieces: [[UInt8]]
    let isAtStart: Bool
    let isAtEnd: Bool
    /// The answer holds for text whose upper and lower case, or marks, are left out of account: such text is told for ASCII alone.
    let isFolded: Bool
    /// Letters are compared as small ones.
    let ignoresCase: Bool
    /// For the tables met last.
    private let automata = Mutex<[(table: TrainedText, automaton: TokenAutomaton)]>([])

    /// Patterns of more bytes are left to those who look at strings.
    static let longest = 96
    private static let remembered = 16

    /// Nil: not a pattern that can be asked so. Of folded patterns the pieces are folded.
    package init?(pieces: [[UInt8]], isAtStart: Bool, isAtEnd: Bool, ignoresCase: Bool = false, isFolded: Bool = false) {
        let isWhole = pieces.count == 1 && isAtStart && isAtEnd
        guard !pieces.isEmpty, isWhole || !pieces.contains([]), pieces.reduce(0, { $0 + $1.count }) <= Self.longest else { return nil }
        if isFolded, pieces.contains(where: { $0.contains { $0 >= 0x80 || ignoresCase && $0 &- 65 < 26 } }) { return nil }
        self.pieces = pieces
        self.isAtStart = isAtStart
        self.isAtEnd = isAtEnd
        self.ignoresCase = ignoresCase
        self.isFolded = isFolded
    }

    /// How to run it over codes of a table.
    func automaton(_ table: TrainedText, _ tokens: TokenTable) -> TokenAutomaton {
        automata.withLock { known in
            if let place = known.firstIndex(where: { $0.table === table }) { return known[place].automaton }
            let made = TokenAutomaton(ByteAutomaton(self), tokens)
            if known.count == Self.remembered { known.removeFirst() }
            known.append((table, made))
            return made
        }
    }
}

/// A pattern as states that bytes lead from one to the other: state s knows the first s bytes of all pieces, end to end.
struct ByteAutomaton {
    /// By state and byte.
    private(set) var next: [UInt8]
    /// Where each piece begins.
    private(set) var bases: [Int]
    /// All pieces are there; with a piece at the end only if no byte comes after.
    let accepting: Int
    /// Nothing leads out of it, to the right answer.
    let refusing: Int
    /// Nothing leads out of it: what the answer is cannot be told here.
    let unsure: Int
    var stateCount: Int { unsure + 1 }
    /// No byte changes the state.
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
            // What is folded away, or becomes an ASCII letter, is beyond one byte.
            if pattern.isFolded { for byte in 128..<256 { next[state << 8 | byte] = UInt8(unsure) } }
        }
    }

    /// The states within a piece. `isFixed`: it stands here or nowhere. `goesOn`: found is not enough, it may stand further on.
    private mutating func fill(_ piece: [UInt8], _ base: Int, isFixed: Bool, goesOn: Bool) {
        let away = isFixed ? refusing : base
        // Where the piece stands if its first byte is left out: what to fall back to.
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
