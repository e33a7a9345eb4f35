import FirnBytes

/// Whether texts contain a match of an expression. The sets of steps that can wait at a character are the states of an automaton, which
/// is built while texts are read; so a character that follows as before costs one look-up. Expressions with assertions other than `^` and
/// `$` of the whole text are searched by `ExpressionSearch`.
struct ExpressionTest {
    private struct State {
        /// The steps that read a character, and assertions of the end.
        let steps: [Int]
        /// Whether a match has been found, and whether there is one if the text ends here.
        var isDone = false, isDoneAtEnd = false
        /// The next state for each byte below 128; -1 if it is not known.
        var next = [Int32](repeating: -1, count: 128)
    }
    private let expression: RegularExpression
    private var states: [State] = [], known: [[Int]: Int] = [:]
    /// The number of steps in all states.
    private var size = 0
    private static let maximumSize = 50_000, maximumStates = 500
    private var reached: [Int], round = 0
    /// The state at the start of a text, if it is known.
    private var first: Int?

    /// Returns nil if an assertion depends on the characters around it. An empty text, whose start is its end, is not tested.
    init?(_ expression: RegularExpression) {
        for case .assert(let assertion) in expression.steps where assertion != .start && assertion != .end { return nil }
        self.expression = expression
        reached = [Int](repeating: 0, count: expression.steps.count)
    }

    /// `check` is called now and then.
    mutating func matches(_ text: [UInt8], _ check: () throws(FirnError) -> Void) throws(FirnError) -> Bool {
        var state = first ?? number(of: closure(of: [0], isStart: true)), at = 0, work = 0
        first = state
        while true {
            if states[state].isDone { return true }
            guard at < text.count else { return states[state].isDoneAtEnd }
            // Nothing waits, and nothing can begin: the expression matches at the start only.
            if states[state].steps.isEmpty, expression.isAnchored { return false }
            let byte = text[at]
            if byte < 128, case let next = states[state].next[Int(byte)], next >= 0 {
                state = Int(next)
                at += 1
                work += 1
            } else {
                let (value, length) = ExpressionSearch.character(text, at), from = states[state].steps
                let steps = from.filter {
                    if case .read(let set) = expression.steps[$0] { expression.sets[set].contains(value) } else { false }
                }.map { $0 + 1 }
                work += 64 + 8 * from.count
                let before = states.count, next = number(of: closure(of: steps + [0], isStart: false))
                // The numbers have changed if the states were forgotten.
                if byte < 128, states.count >= before { states[state].next[Int(byte)] = Int32(next) }
                state = next
                at += length
            }
            if work > 1 << 20 {
                work = 0
                try check()
            }
        }
    }

    /// Returns the steps that wait after some steps, in ascending order.
    private mutating func closure(of start: [Int], isStart: Bool) -> [Int] {
        round += 1
        var open = start, waiting: [Int] = []
        while let step = open.popLast() {
            guard reached[step] != round else { continue }
            reached[step] = round
            switch expression.steps[step] {
            case .jump(let next): open.append(next)
            case .split(let first, let second): open += [first, second]
            case .note: open.append(step + 1)
            case .assert(.start): if isStart { open.append(step + 1) }
            case .assert, .read, .done: waiting.append(step)
            }
        }
        return waiting.sorted()
    }

    /// Returns whether a match ends at the end of the text.
    private mutating func endsHere(_ steps: [Int]) -> Bool {
        round += 1
        var open = steps
        while let step = open.popLast() {
            guard reached[step] != round else { continue }
            reached[step] = round
            switch expression.steps[step] {
            case .jump(let next): open.append(next)
            case .split(let first, let second): open += [first, second]
            case .note, .assert(.end): open.append(step + 1)
            case .done: return true
            default: break
            }
        }
        return false
    }

    private mutating func number(of steps: [Int]) -> Int {
        if let number = known[steps] { return number }
        if size > ExpressionTest.maximumSize || states.count >= ExpressionTest.maximumStates {
            states.removeAll()
            known.removeAll()
            first = nil
            size = 0
        }
        var state = State(steps: steps)
        state.isDone = steps.contains { if case .done = expression.steps[$0] { true } else { false } }
        state.isDoneAtEnd = state.isDone || endsHere(steps)
        states.append(state)
        known[steps] = states.count - 1
        size += steps.count
        return states.count - 1
    }
}
