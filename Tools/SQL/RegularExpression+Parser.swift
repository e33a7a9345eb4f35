import FirnBytes

/// A set of characters.
struct CharacterRanges {
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false
    /// Whether letters of both cases match.
    var ignoresCase = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        func isIn(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
        if isIn(scalar.value) { return !isNegated }
        guard ignoresCase else { return isNegated }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars, upper = scalar.properties.uppercaseMapping.unicodeScalars
        let isOther = [lower, upper].contains { mapped in mapped.count == 1 && mapped.first.map { isIn($0.value) } ?? false }
        return isOther != isNegated
    }

    static let digits = CharacterRanges(ranges: [48...57])
    static let words = CharacterRanges(ranges: [48...57, 65...90, 95...95, 97...122])
    static let spaces = CharacterRanges(ranges: [9...10, 12...13, 32...32])

    /// The classes of POSIX, such as `[:alpha:]`.
    static let named: [String: [ClosedRange<UInt32>]] = [
        "alnum": [48...57, 65...90, 97...122], "alpha": [65...90, 97...122], "blank": [9...9, 32...32], "cntrl": [0...31, 127...127],
        "digit": [48...57], "graph": [33...126], "lower": [97...122], "print": [32...126], "punct": [33...47, 58...64, 91...96, 123...126],
        "space": [9...13, 32...32], "upper": [65...90], "word": [48...57, 65...90, 95...95, 97...122],
        "xdigit": [48...57, 65...70, 97...102],
    ]

    /// The ranges, inverted if the set is negated.
    var positive: [ClosedRange<UInt32>] {
        guard isNegated else { return ranges }
        var out: [ClosedRange<UInt32>] = [], next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { out.append(next...(range.lowerBound - 1)) }
            next = max(next, range.upperBound + 1)
        }
        return out + (next <= 0x10FFFF ? [next...0x10FFFF] : [])
    }
}

/// A part of a regular expression.
indirect enum ExpressionNode {
    case set(CharacterRanges)
    case assertion(RegularExpression.Assertion)
    case group(ExpressionNode, number: Int)
    case sequence([ExpressionNode])
    case choice([ExpressionNode])
    case repetition(ExpressionNode, least: Int, most: Int?, isLazy: Bool)
}

/// What is wrong with a regular expression.
struct ExpressionFault: Error {
    let message: String
}

/// Reads regular expressions in the syntax of RE2, without look-around and back-references.
struct ExpressionParser {
    private let text: [Unicode.Scalar]
    private var at = 0, depth = 0
    private(set) var groups = 0
    private var ignoresCase: Bool, dotMatchesNewline: Bool, isMultiline = false
    private static let maximumDepth = 200, maximumCount = 1000

    init(_ text: String, ignoresCase: Bool, dotMatchesNewline: Bool) {
        self.text = Array(text.unicodeScalars)
        self.ignoresCase = ignoresCase
        self.dotMatchesNewline = dotMatchesNewline
    }

    mutating func read() throws(ExpressionFault) -> ExpressionNode {
        let node = try readChoice()
        guard at == text.count else { throw fault("a parenthesis that was not opened") }
        return node
    }

    private func fault(_ what: String) -> ExpressionFault { ExpressionFault(message: "\(what), at character \(at + 1)") }

    private var next: Unicode.Scalar? { at < text.count ? text[at] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        at += 1
        return true
    }

    private mutating func readChoice() throws(ExpressionFault) -> ExpressionNode {
        depth += 1
        defer { depth -= 1 }
        guard depth < ExpressionParser.maximumDepth else { throw fault("too many nested parentheses") }
        var parts = [try readSequence()]
        while take("|") { parts.append(try readSequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func readSequence() throws(ExpressionFault) -> ExpressionNode {
        var parts: [ExpressionNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            guard let atom = try readAtom() else { continue }
            parts.append(try readRepetitions(atom))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func readRepetitions(_ atom: ExpressionNode) throws(ExpressionFault) -> ExpressionNode {
        var node = atom, isRepeated = false
        while let scalar = next {
            let least: Int, most: Int?
            switch scalar {
            case "*": (least, most) = (0, nil)
            case "+": (least, most) = (1, nil)
            case "?": (least, most) = (0, 1)
            case "{":
                guard let counts = try readCounts() else { return node }
                (least, most) = counts
                at -= 1
            default: return node
            }
            guard !isRepeated else { throw fault("a repetition of a repetition") }
            isRepeated = true
            at += 1
            if next == "+" { throw fault("possessive repetitions are not available") }
            node = .repetition(node, least: least, most: most, isLazy: take("?"))
        }
        return node
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`; returns nil for a brace that is a character.
    private mutating func readCounts() throws(ExpressionFault) -> (Int, Int?)? {
        guard let close = text[at...].firstIndex(of: "}") else { return nil }
        var inner = ""
        inner.unicodeScalars.append(contentsOf: text[(at + 1)..<close])
        let parts = inner.split(separator: ",", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, !first.isEmpty, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        let least = Int(first) ?? .max, most = parts.count == 1 ? least : parts[1].isEmpty ? nil : Int(parts[1]) ?? .max
        guard max(least, most ?? 0) <= ExpressionParser.maximumCount else {
            throw fault("a repetition of more than \(ExpressionParser.maximumCount) times")
        }
        guard least <= most ?? least else { throw fault("a repetition of at least \(least) and at most \(most ?? 0) times") }
        at = close + 1
        return (least, most)
    }

    /// Reads a character, a set, a group or an assertion; nil for options alone, such as `(?i)`.
    private mutating func readAtom() throws(ExpressionFault) -> ExpressionNode? {
        let scalar = text[at]
        at += 1
        switch scalar {
        case ".": return .set(CharacterRanges(ranges: dotMatchesNewline ? [] : [10...10], isNegated: true))
        case "^": return .assertion(isMultiline ? .lineStart : .start)
        case "$": return .assertion(isMultiline ? .lineEnd : .end)
        case "[": return .set(try readSet())
        case "(": return try readGroup()
        case "*", "+", "?":
            at -= 1
            throw fault("nothing to repeat")
        case "{":
            at -= 1
            if try readCounts() != nil { throw fault("nothing to repeat") }
            at += 1
            return character(scalar)
        case "\\": return try readEscape()
        default: return character(scalar)
        }
    }

    private func character(_ scalar: Unicode.Scalar) -> ExpressionNode {
        .set(CharacterRanges(ranges: [scalar.value...scalar.value], ignoresCase: ignoresCase))
    }

    private mutating func readGroup() throws(ExpressionFault) -> ExpressionNode? {
        let options = (ignoresCase, dotMatchesNewline, isMultiline)
        var number: Int?
        if take("?") {
            if next == "=" || next == "!" || next == "<" && at + 1 < text.count && (text[at + 1] == "=" || text[at + 1] == "!") {
                throw fault("look-around is not available")
            }
            if next == "P" || next == "<" {
                guard let close = text[at...].firstIndex(of: ">") else { throw fault("a name of a group without >") }
                at = close + 1
                groups += 1
                number = groups
            } else if try readOptions() {
                return nil
            }
        } else {
            groups += 1
            number = groups
        }
        let inner = try readChoice()
        guard take(")") else { throw fault("a parenthesis that is not closed") }
        (ignoresCase, dotMatchesNewline, isMultiline) = options
        return number.map { .group(inner, number: $0) } ?? inner
    }

    /// Reads `i-s:` or `i)`; returns whether the parenthesis ends after the options.
    private mutating func readOptions() throws(ExpressionFault) -> Bool {
        var isOn = true
        while let scalar = next {
            at += 1
            switch scalar {
            case "i": ignoresCase = isOn
            case "s": dotMatchesNewline = isOn
            case "m": isMultiline = isOn
            case "-": isOn = false
            case ":": return false
            case ")": return true
            default:
                at -= 1
                throw fault("an unknown option of a group")
            }
        }
        throw fault("a parenthesis that is not closed")
    }

    // MARK: Characters

    private static let classes: [Unicode.Scalar: (set: CharacterRanges, isNegated: Bool)] = [
        "d": (.digits, false), "D": (.digits, true), "w": (.words, false), "W": (.words, true), "s": (.spaces, false), "S": (.spaces, true),
    ]
    private static let controls: [Unicode.Scalar: UInt32] = ["n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "0": 0]

    private mutating func readEscape() throws(ExpressionFault) -> ExpressionNode {
        guard let scalar = next else { throw fault("a backslash at the end") }
        if let (set, isNegated) = ExpressionParser.classes[scalar] {
            at += 1
            return .set(CharacterRanges(ranges: set.ranges, isNegated: isNegated))
        }
        let assertions: [Unicode.Scalar: RegularExpression.Assertion] = ["b": .boundary, "B": .noBoundary, "A": .start, "z": .end]
        if let assertion = assertions[scalar] {
            at += 1
            return .assertion(assertion)
        }
        let value = try readEscapedCharacter()
        return .set(CharacterRanges(ranges: [value...value], ignoresCase: ignoresCase))
    }

    /// Reads what follows a backslash as a character.
    private mutating func readEscapedCharacter() throws(ExpressionFault) -> UInt32 {
        guard let scalar = next else { throw fault("a backslash at the end") }
        if ("1"..."9").contains(scalar) { throw fault("references to groups are not available") }
        at += 1
        if let control = ExpressionParser.controls[scalar] { return control }
        if scalar == "x" || scalar == "u" {
            let isBraced = take("{"), limit = isBraced ? 6 : scalar == "x" ? 2 : 4
            var value: UInt32 = 0, count = 0
            while count < limit, let digit = next.flatMap({ UInt32(String($0), radix: 16) }) {
                value = value << 4 | digit
                count += 1
                at += 1
            }
            guard count > 0, isBraced ? take("}") : count == limit, Unicode.Scalar(value) != nil else {
                throw fault("an unknown character")
            }
            return value
        }
        guard !scalar.properties.isAlphabetic else {
            at -= 1
            throw fault("\\\(scalar) is not available")
        }
        return scalar.value
    }

    private mutating func readSet() throws(ExpressionFault) -> CharacterRanges {
        var set = CharacterRanges(ignoresCase: ignoresCase), isFirst = true
        set.isNegated = take("^")
        while let scalar = next, scalar != "]" || isFirst {
            isFirst = false
            if scalar == "[", at + 1 < text.count, text[at + 1] == ":" {
                set.ranges += try readNamedClass()
                continue
            }
            if scalar == "\\", at + 1 < text.count, let (known, isNegated) = ExpressionParser.classes[text[at + 1]] {
                at += 2
                set.ranges += CharacterRanges(ranges: known.ranges, isNegated: isNegated).positive
                continue
            }
            let low = try readMember()
            guard next == "-", at + 1 < text.count, text[at + 1] != "]" else {
                set.ranges.append(low...low)
                continue
            }
            at += 1
            let high = try readMember()
            guard low <= high else { throw fault("a range of characters in descending order") }
            set.ranges.append(low...high)
        }
        guard take("]") else { throw fault("a set of characters without ]") }
        return set
    }

    private mutating func readMember() throws(ExpressionFault) -> UInt32 {
        guard let scalar = next else { throw fault("a set of characters without ]") }
        at += 1
        return scalar == "\\" ? (take("b") ? 8 : try readEscapedCharacter()) : scalar.value
    }

    private mutating func readNamedClass() throws(ExpressionFault) -> [ClosedRange<UInt32>] {
        guard let close = text[at...].firstIndex(of: "]"), close > at + 2, text[close - 1] == ":" else {
            throw fault("a class of characters without :]")
        }
        var name = ""
        name.unicodeScalars.append(contentsOf: text[(at + 2)..<(close - 1)])
        let isNegated = name.hasPrefix("^")
        guard let ranges = CharacterRanges.named[isNegated ? String(name.dropFirst()) : name] else {
            throw fault("an unknown class of characters")
        }
        at = close + 1
        return CharacterRanges(ranges: ranges, isNegated: isNegated).positive
    }
}
