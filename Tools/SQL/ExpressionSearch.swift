import FirnBytes

/// A search of an expression in texts. Its memory is used again for the next text.
struct ExpressionSearch {
    /// The steps that wait for the next character, in the order of preference, each with its notes.
    private struct Waiting {
        var steps: [Int] = []
        var notes: [Int] = []
    }
    private let expression: RegularExpression
    private let noteCount: Int
    /// The steps that wait at this character, and at the next one.
    private var now = Waiting(), later = Waiting()
    /// For each step the last round in which it was reached. A character has one round.
    private var reached: [Int]
    private var round = 0
    /// The steps to follow. A negative entry restores the note `-step - 1` to a value.
    private var open: [(step: Int, value: Int)] = []
    private var notes: [Int]
    private let isTest: Bool

    /// - Parameter isTest: Whether only the existence of a match is sought.
    init(_ expression: RegularExpression, isTest: Bool) {
        self.expression = expression
        self.isTest = isTest
        noteCount = isTest ? 0 : 2 * (expression.groups + 1)
        reached = [Int](repeating: 0, count: expression.steps.count)
        notes = [Int](repeating: -1, count: noteCount)
    }

    /// Returns the notes of the first match from an offset on: start and end of the match, and of each group, -1 for a group that has no
    /// part in the match. Returns an empty array if only the existence is sought, and nil if there is no match. `check` is called now and
    /// then.
    mutating func match(_ text: [UInt8], from start: Int = 0, _ check: () throws(FirnError) -> Void) throws(FirnError) -> [Int]? {
        var at = start, best: [Int]?, work = 0
        now.steps.removeAll(keepingCapacity: true)
        now.notes.removeAll(keepingCapacity: true)
        round += 1
        while true {
            if now.steps.isEmpty {
                if best != nil || expression.isAnchored && at > 0 { return best }
                if let firstBytes = expression.firstBytes {
                    while at < text.count, !firstBytes[Int(text[at])] { at += 1 }
                    if at == text.count { return nil }
                    round += 1
                }
            }
            // A match that begins here has the lowest preference.
            if best == nil {
                for i in 0..<noteCount { notes[i] = -1 }
                swap(&now, &later)
                follow(0, text, at)
                swap(&now, &later)
            }
            work += now.steps.count + 1
            if work > 1 << 20 {
                work = 0
                try check()
            }
            let length = advance(text, at, &best)
            if isTest, best != nil { return [] }
            guard length > 0 else { return best }
            at += length
        }
    }

    /// Reads a character, and notes a match that ends before it. Returns the character's length; 0 at the end of the text.
    private mutating func advance(_ text: [UInt8], _ at: Int, _ best: inout [Int]?) -> Int {
        let (value, length) = at < text.count ? ExpressionSearch.character(text, at) : (0, 0)
        round += 1
        later.steps.removeAll(keepingCapacity: true)
        later.notes.removeAll(keepingCapacity: true)
        scan: for (index, step) in now.steps.enumerated() {
            switch expression.steps[step] {
            case .read(let set) where length > 0 && expression.sets[set].contains(value):
                for i in 0..<noteCount { notes[i] = now.notes[index * noteCount + i] }
                follow(step + 1, text, at + length)
            case .done:
                // What waits after it has a lower preference.
                best = Array(now.notes[(index * noteCount)..<((index + 1) * noteCount)])
                break scan
            default: break
            }
        }
        swap(&now, &later)
        return length
    }

    /// Follows the steps that read no character, and adds those that do to `later`.
    private mutating func follow(_ start: Int, _ text: [UInt8], _ at: Int) {
        open.append((start, 0))
        while let (step, value) = open.popLast() {
            guard step >= 0 else {
                notes[-step - 1] = value
                continue
            }
            guard reached[step] != round else { continue }
            reached[step] = round
            switch expression.steps[step] {
            case .jump(let next): open.append((next, 0))
            case .split(let first, let second):
                open.append((second, 0))
                open.append((first, 0))
            case .assert(let assertion): if holds(assertion, text, at) { open.append((step + 1, 0)) }
            case .note(let index):
                if index < noteCount {
                    open.append((-index - 1, notes[index]))
                    notes[index] = at
                }
                open.append((step + 1, 0))
            case .read, .done:
                later.steps.append(step)
                if noteCount > 0 { later.notes += notes }
            }
        }
    }

    private func holds(_ assertion: RegularExpression.Assertion, _ text: [UInt8], _ at: Int) -> Bool {
        switch assertion {
        case .start: return at == 0
        case .end: return at == text.count
        case .lineStart: return at == 0 || text[at - 1] == 10
        case .lineEnd: return at == text.count || text[at] == 10
        case .boundary, .noBoundary:
            let before = at > 0 && ExpressionSearch.isWord(text[at - 1]), after = at < text.count && ExpressionSearch.isWord(text[at])
            return (before != after) == (assertion == .boundary)
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (97...122).contains(byte | 32) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// Returns the character at an offset, and its length; bytes that are not UTF-8 are characters of one byte.
    @inline(__always)
    static func character(_ text: [UInt8], _ at: Int) -> (value: UInt32, length: Int) {
        let first = text[at]
        guard first >= 0x80 else { return (UInt32(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, at + length <= text.count else { return (0xFFFD, 1) }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for i in 1..<length {
            guard text[at + i] & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            value = value << 6 | UInt32(text[at + i] & 0x3F)
        }
        return (value, length)
    }
}
