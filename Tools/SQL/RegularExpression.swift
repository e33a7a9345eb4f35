import FirnBytes

/// A compiled regular expression. A search takes time proportional to the length of the text times that of the expression, for any text:
/// all ways to match are followed together (Thompson 1968; Pike's virtual machine). Of several matches the leftmost is found, and of
/// those the one that the expression prefers, as in Perl and RE2.
struct RegularExpression: Sendable {
    enum Assertion { case start, end, lineStart, lineEnd, boundary, noBoundary }

    enum Step: Sendable {
        /// Reads a character of a set, and continues with the next step.
        case read(Int)
        case assert(Assertion)
        /// Continues with two steps; the first one is preferred.
        case split(Int, Int)
        case jump(Int)
        /// Notes the offset.
        case note(Int)
        case done
    }

    /// A set with its members below 128 as bits.
    struct CharacterSet: Sendable {
        private let ranges: CharacterRanges
        private var low: UInt64 = 0, high: UInt64 = 0

        init(_ ranges: CharacterRanges) {
            self.ranges = ranges
            for value in 0..<128 as Range<UInt8> where ranges.contains(Unicode.Scalar(value)) {
                if value < 64 { low |= 1 << UInt64(value) } else { high |= 1 << UInt64(value - 64) }
            }
        }

        @inline(__always)
        func contains(_ value: UInt32) -> Bool {
            if value < 64 { return low >> UInt64(value) & 1 == 1 }
            if value < 128 { return high >> UInt64(value - 64) & 1 == 1 }
            return Unicode.Scalar(value).map(ranges.contains) ?? false
        }
    }

    /// The maximum number of steps: what a repetition of repetitions would need.
    private static let maximumSteps = 10_000

    /// The number of parts that were compiled. A repetition of nothing has no steps.
    private var parts = 0
    private(set) var steps: [Step] = []
    private(set) var sets: [CharacterSet] = []
    /// The number of groups, without the whole match.
    let groups: Int
    /// Which bytes a match can begin with; nil: any, or none.
    private(set) var firstBytes: [Bool]?
    /// Whether a match can only begin at the start of the text.
    private(set) var isAnchored = false

    /// - Parameter wholeText: Whether the expression must match the text from its start to its end.
    init(_ pattern: String, ignoresCase: Bool = false, dotMatchesNewline: Bool = false, wholeText: Bool = false) throws(ExpressionFault) {
        var parser = ExpressionParser(pattern, ignoresCase: ignoresCase, dotMatchesNewline: dotMatchesNewline)
        let node = try parser.read()
        groups = parser.groups
        if wholeText { try append(.assert(.start)) }
        try append(.note(0))
        try compile(node)
        try append(.note(1))
        if wholeText { try append(.assert(.end)) }
        try append(.done)
        firstBytes = beginnings()
        isAnchored = beginsAtStart
    }

    private mutating func append(_ step: Step) throws(ExpressionFault) {
        guard steps.count < RegularExpression.maximumSteps else { throw ExpressionFault(message: "the expression is too large") }
        steps.append(step)
    }

    private mutating func compile(_ node: ExpressionNode) throws(ExpressionFault) {
        parts += 1
        guard parts <= 10 * RegularExpression.maximumSteps else { throw ExpressionFault(message: "the expression is too large") }
        switch node {
        case .set(let ranges):
            try append(.read(sets.count))
            sets.append(CharacterSet(ranges))
        case .assertion(let assertion): try append(.assert(assertion))
        case .group(let inner, let number):
            try append(.note(2 * number))
            try compile(inner)
            try append(.note(2 * number + 1))
        case .sequence(let parts): for part in parts { try compile(part) }
        case .choice(let parts):
            var ends: [Int] = []
            for (index, part) in parts.enumerated() {
                guard index < parts.count - 1 else {
                    try compile(part)
                    continue
                }
                let split = steps.count
                try append(.done)
                try compile(part)
                ends.append(steps.count)
                try append(.done)
                steps[split] = .split(split + 1, steps.count)
            }
            for end in ends { steps[end] = .jump(steps.count) }
        case .repetition(let inner, let least, let most, let isLazy):
            func split(_ start: Int, _ end: Int) -> Step { isLazy ? .split(end, start + 1) : .split(start + 1, end) }
            guard let most else {
                try compileLoop(inner, least: least, split)
                return
            }
            for _ in 0..<least { try compile(inner) }
            var splits: [Int] = []
            for _ in least..<max(least, most) {
                splits.append(steps.count)
                try append(.done)
                try compile(inner)
            }
            for start in splits { steps[start] = split(start, steps.count) }
        }
    }

    /// Compiles a repetition without a maximum. The choice to go on is after each round, as in RE2, so that a round without
    /// characters leads out of the repetition.
    private mutating func compileLoop(_ inner: ExpressionNode, least: Int, _ split: (Int, Int) -> Step) throws(ExpressionFault) {
        for _ in 0..<max(0, least - 1) { try compile(inner) }
        let entry = steps.count
        if least == 0 { try append(.done) }
        let start = steps.count
        try compile(inner)
        let choice = steps.count
        try append(.done)
        steps[choice] = split(start - 1, choice + 1)
        if least == 0 { steps[entry] = split(entry, choice + 1) }
    }

    private var beginsAtStart: Bool {
        var seen: Set<Int> = [], open = [0]
        while let at = open.popLast() {
            guard seen.insert(at).inserted else { continue }
            switch steps[at] {
            case .assert(.start): continue
            case .split(let a, let b): open += [a, b]
            case .jump(let next): open.append(next)
            case .note: open.append(at + 1)
            case .read, .assert, .done: return false
            }
        }
        return true
    }

    /// Returns the bytes with which a match can begin; nil if it can be empty, or depends on what is around it.
    private func beginnings() -> [Bool]? {
        var bytes = [Bool](repeating: false, count: 256), seen: Set<Int> = [], open = [0]
        while let at = open.popLast() {
            guard seen.insert(at).inserted else { continue }
            switch steps[at] {
            case .read(let set):
                for value in 0..<128 where sets[set].contains(UInt32(value)) { bytes[value] = true }
                // Characters of several bytes are not looked up.
                for value in 128..<256 { bytes[value] = true }
            case .split(let a, let b): open += [a, b]
            case .jump(let next): open.append(next)
            case .note: open.append(at + 1)
            case .assert, .done: return nil
            }
        }
        return bytes
    }
}
