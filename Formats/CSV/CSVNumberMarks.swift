import FirnExchange
import FirnTable

/// How the numbers of a column that is read with a decimal mark separate groups of three digits, and which cells contradict the mark.
struct CSVNumberMarks: Sendable {
    let hasComma: Bool
    /// By separator, the numbers with it.
    private var groups = [CSVSample](repeating: CSVSample(), count: NumberLayout.Group.allCases.count)
    /// The numbers without groups that are long enough for one.
    private var ungrouped = CSVSample()
    /// Numbers with the other mark before their fraction, or with this one between groups. They are texts too.
    private(set) var contradicting = CSVSample()
    /// The first number with a comma or point.
    private(set) var marked = CSVSample()
    private(set) var hasFraction = false
    /// Whether a number in an unusual spelling has groups.
    private var hasUnusualGroups = false
    private var fewestSeparators = Int.max, maximumSeparators = 0

    init(hasComma: Bool) { self.hasComma = hasComma }

    mutating func note(_ fields: NumberFields, _ cell: CSVCellText) {
        if fields.group != .none { groups[Int(fields.group.rawValue)].note(cell) } else if fields.wholeDigits > 3 { ungrouped.note(cell) }
        if fields.hasFraction || fields.group == .comma || fields.group == .point { marked.note(cell) }
        hasFraction = hasFraction || fields.hasFraction
        fewestSeparators = min(fewestSeparators, fields.separators)
        maximumSeparators = max(maximumSeparators, fields.separators)
    }

    /// Adds a number with spaces around it, a plus sign or an exponent.
    mutating func note(unusual cell: CSVCellText) {
        var text = OriginalText.trimmed(cell.bytes)
        if text.first == UInt8(ascii: "+") { text = UnsafeRawBufferPointer(rebasing: text.dropFirst()) }
        if NumberText.parse(text, hasComma: hasComma, { fields, _ in fields.separators > 0 }) ?? false { hasUnusualGroups = true }
        if text.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ".") }) { marked.note(cell) }
    }

    mutating func note(contradicting cell: CSVCellText) { contradicting.note(cell) }

    mutating func merge(_ later: CSVNumberMarks, after rows: Int) {
        for i in groups.indices { groups[i].merge(later.groups[i], after: rows) }
        ungrouped.merge(later.ungrouped, after: rows)
        contradicting.merge(later.contradicting, after: rows)
        marked.merge(later.marked, after: rows)
        hasFraction = hasFraction || later.hasFraction
        hasUnusualGroups = hasUnusualGroups || later.hasUnusualGroups
        fewestSeparators = min(fewestSeparators, later.fewestSeparators)
        maximumSeparators = max(maximumSeparators, later.maximumSeparators)
    }

    /// The most frequent separator, and the numbers that have another one or none.
    var choice: (group: NumberLayout.Group, others: CSVSample, count: Int) {
        let group = NumberLayout.Group.allCases.max { groups[Int($0.rawValue)].count < groups[Int($1.rawValue)].count } ?? .none
        let isGrouped = groups[Int(group.rawValue)].count > ungrouped.count
        var others = CSVSample(), count = 0
        for other in NumberLayout.Group.allCases where !isGrouped || other != group {
            others = CSVSample.first(others, groups[Int(other.rawValue)])
            count += groups[Int(other.rawValue)].count
        }
        guard isGrouped else { return (.none, others, count) }
        return (group, CSVSample.first(others, ungrouped), count + ungrouped.count)
    }

    /// The notation of the numbers, with digits in a notation. `hasUnusual`: whether a number is an exception, whose text is read with the
    /// mark and with groups.
    func notation(_ digits: Notation, _ kind: ScalarKind, hasUnusual: Bool) -> Notation {
        let (group, _, regrouped) = choice
        // Ordinary whole numbers without groups have no mark.
        let isPlain = group == .none && (!hasComma || kind == .int)
        guard isPlain, regrouped == 0, !hasUnusualGroups, !hasComma || !hasUnusual else {
            return NumberLayout(hasComma: hasComma, group: group, digits: digits).notation
        }
        return digits
    }

    /// The first number with a separator.
    var sample: CSVSample {
        let group = choice.group
        return group == .none ? marked : groups[Int(group.rawValue)]
    }

    /// Whether any number is written in groups.
    var hasGroups: Bool { maximumSeparators > 0 }

    /// Whether every number has the same groups of digits, two separators or more, as telephone numbers and addresses of networks have.
    var areIdentifiers: Bool {
        guard !hasFraction, fewestSeparators == maximumSeparators, fewestSeparators >= 2 else { return false }
        return [.space, .point, .comma].contains(choice.group)
    }
}

/// Why numbers with separators are not read as numbers.
enum CSVMarkDoubt: Sendable {
    /// Both marks fit all cells, and the values differ.
    case ambiguous(CSVSample)
    /// No mark fits all cells: these contradict the comma and the point.
    case contradicted(CSVSample, CSVSample)
    /// A comma separates the cells too, so that a cell may contain two numbers.
    case pairs(CSVSample)
    /// Digits in groups of one size.
    case identifiers(CSVSample)
}

extension CSVGuess {
    /// Whether numbers with a decimal comma or with groups of digits keep the column from being numeric.
    var mayHaveMarks: Bool {
        guard marks == nil, let odd, odd.formatted.count > 0, odd.identifiers.count == 0 else { return false }
        return (odd.formatted.count + numberCount + odd.numbers.count + odd.longDecimals.count) * 2 > filled - odd.nulls.count
    }

    /// Chooses between the guesses of a column that was read with a comma and with a point before fractions. Keeps the guess without either
    /// if none of them fits all cells, or both do and `hasComma`, the mark of the other columns, is not known.
    mutating func choose(comma: CSVGuess, point: CSVGuess, delimiter: [UInt8], as hasComma: Bool?) {
        guard !hasGuessedMarks, let sample = odd?.formatted, let commaMarks = comma.marks, let pointMarks = point.marks else { return }
        func fits(_ guess: CSVGuess, _ marks: CSVNumberMarks) -> Bool {
            marks.contradicting.count == 0 && guess.choice().kind.isNumber
        }
        let isComma = fits(comma, commaMarks), isPoint = fits(point, pointMarks)
        if !isComma, !isPoint {
            if commaMarks.contradicting.count > 0, pointMarks.contradicting.count > 0 {
                doubt = .contradicted(commaMarks.contradicting, pointMarks.contradicting)
            }
            return
        }
        // Without a comma and a point in the numbers, both readings are the same.
        let isAmbiguous = isComma && isPoint && commaMarks.marked.count > 0
        if isAmbiguous, hasComma == nil {
            doubt = .ambiguous(sample)
            return
        }
        let takesComma = isAmbiguous ? hasComma == true : !isPoint
        let chosen = takesComma ? comma : point, marks = takesComma ? commaMarks : pointMarks
        if takesComma, !marks.hasGroups, delimiter.contains(UInt8(ascii: ",")) {
            doubt = .pairs(sample)
        } else if marks.areIdentifiers {
            doubt = .identifiers(sample)
        } else {
            self = chosen
            hasGuessedMarks = true
        }
    }
}

extension CSVGuesses {
    /// The decimal mark that the cells of some columns show and those of no other column contradict; nil if there is none.
    var hasComma: Bool? {
        let shown = Set(columns.compactMap(\.shownComma))
        return shown.count == 1 ? shown.first : nil
    }
}

extension CSVGuess {
    /// The decimal mark that the cells show, whatever other columns contain: nil if they fit both, or have no fractions.
    fileprivate var shownComma: Bool? {
        if let marks, hasGuessedMarks {
            if marks.hasFraction { return marks.hasComma }
            return switch marks.choice.group {
            case .point: true
            case .comma: false
            default: nil
            }
        }
        guard marks == nil, [.double, .decimal].contains(choice().kind), fewestDigits <= maximumDigits, !mayHavePointGroups else {
            return nil
        }
        return false
    }

    /// Whether the points of the numbers may separate groups of digits.
    var mayHavePointGroups: Bool {
        marks == nil && [0, 3].contains(fewestDigits) && maximumDigits == 3 && [.double, .decimal].contains(choice().kind)
    }

    /// Takes the guess of the column as it was read with a decimal comma, if points then separate groups of digits in all cells.
    mutating func takeGroups(_ comma: CSVGuess) {
        guard let marks = comma.marks, marks.contradicting.count == 0, comma.choice().kind == .int, marks.choice.group == .point,
            !marks.areIdentifiers
        else { return }
        self = comma
        hasGuessedMarks = true
    }
}

extension CSVPlan {
    /// The same column, read with a comma or a point before fractions.
    func reading(hasComma: Bool) -> CSVPlan {
        var plan = self
        plan.hasComma = hasComma
        return plan
    }
}
