import FirnExchange
import FirnTable

/// The type of a column, and which of its cells are kept as original texts because export would write another text for their values.
struct CSVChoice {
    var kind = ScalarKind.string
    var notation = Notation.plain
    /// The cells that the type does not round-trip, so that the column gets a companion; nil if there are none.
    var exceptions: Exceptions?
    /// Why the column is text although most of its cells are not; nil for other columns.
    var obstacle: Obstacle?

    struct Exceptions {
        /// Cells that are null and keep their text.
        var nulls = CSVSample()
        var nullCount = 0
        /// Cells with a value that is spelled unusually.
        var unusual = CSVSample()
        var unusualCount = 0
        /// The number of other dates, which differ from the notation of the column in their zone alone.
        var zoneCount = 0
    }

    struct Obstacle {
        enum Cause {
            case texts, identifiers, codes, wideNumbers, dateOrder, mixedDates(fitting: [Int]), dateYears, dateFractions, numberMark(
                isComma: Bool)
        }
        var cause: Cause
        /// What most cells are.
        var kind: String
        var count: Int
        var sample: CSVSample
        /// For dates: the patterns to choose from, day first and month first; `mixedDates` has the number of dates that fit each of them.
        var patterns: [String] = []
    }

    /// The maximum number of cells with other texts in a column of another type: one in a thousand, and no more than this many.
    static let maximumTexts = 1 << 16
    /// The minimum number of values that a column must have if some of its cells contain other texts.
    static let leastValues = 1000

    /// Whether a column of `filled` cells that are not null can have `texts` cells with other texts.
    static func areSparse(_ texts: Int, of filled: Int, values: Int) -> Bool {
        texts == 0 || texts <= maximumTexts && texts <= filled / 1000 && values >= leastValues
    }

    /// Whether the first part of a column makes all of it text, however the rest is, and is itself mostly text. `most` is the maximum
    /// number of cells of the column.
    static func isText(_ guess: CSVGuess, most: Int) -> Bool {
        guard let odd = guess.odd else { return false }
        // Numbers with separators may be numbers when all of them are known.
        let texts = odd.texts.count - odd.formatted.count
        return texts > min(maximumTexts, most / 1000) && texts * 2 >= guess.filled
    }
}

extension CSVGuess {
    /// The type that round-trips every cell, apart from original texts. `dates` are the notations that were requested.
    func choice(dates wanted: [Notation] = []) -> CSVChoice {
        guard filled > 0, !isText else { return CSVChoice() }
        let odd = odd ?? CSVOddCells(), dateCount = odd.dateCount
        let numberTotal = numberCount + odd.numbers.count + odd.longDecimals.count
        if numberTotal >= dateCount, numberTotal >= otherCount, numberTotal > 0 { return numberChoice(odd, numberTotal, dateCount) }
        if dateCount > 0, dateCount >= otherCount { return dateChoice(odd, numberTotal + otherCount, wanted) }
        if otherCount > 0 { return otherChoice(odd, numberTotal + dateCount) }
        return CSVChoice()
    }

    /// The exceptions of a column: the cells that are null for another reason than a text for null are `outside`.
    private func exceptions(
        _ odd: CSVOddCells, outside: Int, unusual: CSVSample = CSVSample(), unusualCount: Int = 0, zoneCount: Int = 0
    ) -> CSVChoice.Exceptions? {
        let nulls = odd.nulls.count + odd.texts.count + outside
        guard nulls + unusualCount + zoneCount > 0 else { return nil }
        return CSVChoice.Exceptions(
            nulls: CSVSample.first(odd.nulls, odd.texts), nullCount: nulls, unusual: unusual, unusualCount: unusualCount,
            zoneCount: zoneCount)
    }

    // MARK: Numbers

    private func numberChoice(_ odd: CSVOddCells, _ total: Int, _ dateCount: Int) -> CSVChoice {
        var choice = CSVChoice()
        func text(_ cause: CSVChoice.Obstacle.Cause, _ count: Int, _ sample: CSVSample) -> CSVChoice {
            if total * 2 > filled { choice.obstacle = .init(cause: cause, kind: "numbers", count: count, sample: sample) }
            return choice
        }
        if odd.identifiers.count > 0 { return text(.identifiers, odd.identifiers.count, odd.identifiers) }
        if let marks, marks.contradicting.count > 0 {
            return text(.numberMark(isComma: marks.hasComma), marks.contradicting.count, marks.contradicting)
        }
        let outside = dateCount + otherCount + odd.signed.count
        guard CSVChoice.areSparse(odd.texts.count + outside, of: filled, values: total) else {
            let samples = odd.dates.map(\.sample).reduce(CSVSample.first(odd.texts, odd.signed), CSVSample.first)
            return text(.texts, odd.texts.count + outside, samples)
        }
        guard let (kind, notation, misses) = numberType(odd, total) else {
            return text(.wideNumbers, odd.numbers.count + odd.longDecimals.count, CSVSample.first(odd.numbers, odd.longDecimals))
        }
        // Among integers they are identifiers, which must not be null. Among measured values they are remarks.
        if kind == .int, odd.codes.count > 0 { return text(.codes, odd.codes.count, odd.codes) }
        choice.kind = kind
        let hasLong = kind != .decimal, regrouped = marks?.choice
        let hasUnusual = odd.numbers.count + odd.signed.count + (hasLong ? odd.longDecimals.count : 0) > 0
        choice.notation = marks?.notation(notation, kind, hasUnusual: hasUnusual) ?? notation
        choice.exceptions = exceptions(
            odd, outside: dateCount + otherCount,
            unusual: CSVSample.first(
                CSVSample.first(odd.numbers, odd.signed),
                CSVSample.first(hasLong ? odd.longDecimals : CSVSample(), regrouped?.others ?? CSVSample())),
            unusualCount: odd.numbers.count + odd.signed.count + (hasLong ? odd.longDecimals.count : 0) + misses
                + (regrouped?.count ?? 0))
        return choice
    }

    /// The type of a column of numbers, and how many ordinary numbers it does not round-trip; nil for text.
    private func numberType(_ odd: CSVOddCells, _ total: Int) -> (ScalarKind, Notation, misses: Int)? {
        guard numberCount > 0 || odd.longDecimals.count > 0 else { return odd.hasFraction ? (.double, .plain, 0) : (.int, .plain, 0) }
        if odd.hasUnderflow, numbers.contains(.decimal), !odd.exceedsDecimal, onlyExponentCount == 0 { return (.decimal, .plain, 0) }
        // Many numbers with more digits than doubles hold are decimals; a few are exceptions.
        let isLong = odd.longDecimals.count > total / 100, hasExponents = onlyExponentCount > 0
        if isLong || numberCount == 0 {
            let isDecimal = numbers.contains(.decimal) && !odd.exceedsDecimal && !odd.hasExponents && !hasExponents
            return isDecimal ? (.decimal, .plain, 0) : hasWideNumber ? nil : doubleType
        }
        let areWhole = (odd.numbers.count == 0 || !odd.hasFraction) && !hasExponents
        if numbers.contains(.int), areWhole, odd.longDecimals.count == 0 { return (.int, .plain, 0) }
        let digits = UInt8(clamping: max(maximumDigits, 0)), even = fewestDigits == maximumDigits
        if sharedShapes.contains(.plain) { return (.double, .plain, 0) }
        if sharedShapes.contains(.pointZero) { return (.double, .pointZero, 0) }
        if sharedShapes.contains(.exponent) { return (.double, .twoDigitExponent(pointZero: false), 0) }
        if sharedShapes.contains(.exponentPointZero) { return (.double, .twoDigitExponent(pointZero: true), 0) }
        if hasExponents, !numbers.isDisjoint(with: .doubles) { return doubleType }
        if numbers.contains(.fixed), even, maximumDigits <= 22 { return (.double, .fixed(digits), onlyExponentCount) }
        let (_, _, misses) = doubleType
        if !hasWideNumber, misses <= numberCount / 100 { return doubleType }
        if numbers.contains(.decimal), !odd.exceedsDecimal { return (.decimal, .plain, onlyExponentCount) }
        return hasWideNumber ? nil : doubleType
    }

    /// The notation of doubles with the fewest exceptions.
    private var doubleType: (ScalarKind, Notation, misses: Int) {
        let counts: [(Notation, Int)] = [
            (.plain, plainCount), (.pointZero, pointZeroCount), (.twoDigitExponent(pointZero: false), exponentCount),
            (.twoDigitExponent(pointZero: true), exponentPointZeroCount),
        ]
        // The first of those with the same number.
        let (notation, count) = counts.reduce(counts[0]) { $1.1 > $0.1 ? $1 : $0 }
        return (.double, notation, numberCount - count)
    }

    // MARK: Dates, bools and UUIDs

    private func dateChoice(_ odd: CSVOddCells, _ outside: Int, _ wanted: [Notation]) -> CSVChoice {
        var choice = CSVChoice()
        guard let main = odd.dates.max(by: { ($0.sample.count, $1.sample.row) < ($1.sample.count, $0.sample.row) }) else { return choice }
        let count = main.sample.count
        let others = odd.dateCount - count
        let all = outside + odd.texts.count + odd.numbers.count + odd.signed.count + odd.longDecimals.count
        let isText =
            odd.hasZoneAlone || !CSVChoice.areSparse(outside + others + odd.texts.count + odd.signed.count, of: filled, values: count)
        switch main.notation(wanted: wanted) {
        case .success((let notation, let unusual)):
            guard !isText else {
                if odd.dateCount * 2 > filled {
                    let samples = odd.dates.filter { $0.form != main.form }.map(\.sample)
                    choice.obstacle = .init(
                        cause: .texts, kind: "dates", count: all + others, sample: samples.reduce(odd.texts, CSVSample.first))
                }
                return choice
            }
            choice.kind = .date
            choice.notation = notation
            let sample = odd.dates.filter { $0.form != main.form }.map(\.sample).reduce(CSVSample(), CSVSample.first)
            let unread = odd.dates.filter { $0.form != main.form && !$0.isRead(in: notation) }.reduce(0) { $0 + $1.sample.count }
            choice.exceptions = exceptions(
                odd, outside: all - odd.texts.count + unread, unusual: unusual > 0 ? CSVSample() : sample,
                unusualCount: unusual + others - unread, zoneCount: main.otherZones)
        case .failure(let doubt):
            guard doubt.doubt != .season, odd.dateCount * 2 > filled else { return choice }
            let cause: CSVChoice.Obstacle.Cause =
                switch doubt.doubt {
                case .order: .dateOrder
                case .mixed: .mixedDates(fitting: [main.dayFirst, main.monthFirst])
                case .fractions: .dateFractions
                case .shortYear, .season: .dateYears
                }
            choice.obstacle = .init(cause: cause, kind: "dates", count: count, sample: main.sample, patterns: main.patterns)
        }
        return choice
    }

    private func otherChoice(_ odd: CSVOddCells, _ outside: Int) -> CSVChoice {
        var choice = CSVChoice()
        let all = outside + odd.texts.count + odd.signed.count
        let kinds: [(CSVShape, ScalarKind, Notation)] = [
            (.bool, .bool, .plain), (.boolCapitalised, .bool, .capitalised), (.boolUpper, .bool, .upperCase), (.uuid, .uuid, .plain),
            (.uuidUpper, .uuid, .uuidUpper),
        ]
        guard let (_, kind, notation) = kinds.first(where: { others.contains($0.0) }), odd.nulls.count <= otherCount else { return choice }
        guard CSVChoice.areSparse(all, of: filled, values: otherCount) else {
            if otherCount * 2 > filled { choice.obstacle = .init(cause: .texts, kind: "\(kind.name)s", count: all, sample: odd.texts) }
            return choice
        }
        choice.kind = kind
        choice.notation = notation
        choice.exceptions = exceptions(odd, outside: all - odd.texts.count)
        return choice
    }

    /// The type of the column if the few short texts in it represent null; nil if that is text too, or if fewer cells contain anything else.
    var choiceWithoutWords: ScalarKind? {
        guard let odd, !odd.words.isEmpty, odd.identifiers.count == 0 else { return nil }
        let texts = odd.texts.count
        guard filled - texts >= texts else { return nil }
        var guess = self
        guess.nulls += texts
        guess.odd = odd.withoutTexts
        let kind = guess.choice().kind
        return kind == .string ? nil : kind
    }
}

extension CSVDateCount {
    /// Whether all of these dates are read as dates in a column with this notation, which they are not written in.
    func isRead(in notation: Notation) -> Bool {
        switch form {
        case .day, .time: true
        case .month: notation == .yearMonth
        case .layout(_, let isYearFirst, let hasShortYear, _): isYearFirst && !hasShortYear && DateLayout(notation) != nil
        }
    }

    /// The patterns that `--dates` can choose between.
    var patterns: [String] {
        guard case .layout(let separator, let isYearFirst, let hasShortYear, let time) = form, !isYearFirst else { return [] }
        let orders: [DateLayout.Order] = separator == .point ? [.dayMonthYear] : [.dayMonthYear, .monthDayYear]
        return orders.compactMap { order in
            var layout = DateLayout(order, separator, isPadded: padded >= unpadded, time: time)
            layout.hasShortYear = hasShortYear
            layout.time?.isPadded = hourPadded >= hourUnpadded
            return layout.notation.datePattern
        }
    }
}
