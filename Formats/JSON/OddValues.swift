import FirnExchange
import FirnTable

/// The values of a field that a column of numbers does not write back as the same text: numbers that are spelled unusually, and strings.
final class OddValues {
    /// How many values are of a kind, and the first of them.
    struct Sample {
        private(set) var count = 0
        private(set) var first = (block: Int.max, item: Int.max)
        private(set) var text = ""

        fileprivate mutating func note(_ bytes: UnsafeRawBufferPointer, _ position: (block: Int, item: Int), isString: Bool = true) {
            count += 1
            guard position < first else { return }
            first = position
            let shown = String(decoding: bytes.prefix(40), as: UTF8.self) + (bytes.count > 40 ? "…" : "")
            text = isString ? "\"\(shown)\"" : shown
        }

        fileprivate mutating func merge(_ other: Sample) {
            count += other.count
            if other.first < first { (first, text) = (other.first, other.text) }
        }

        /// Returns both as one sample.
        static func + (_ a: Sample, _ b: Sample) -> Sample {
            var sum = a
            sum.merge(b)
            return sum
        }

        /// ` (first: "n/a")`; empty if there is no text.
        var example: String { text.isEmpty ? "" : " (first: \(text))" }
    }

    /// Doubles with another text than the shortest one.
    private(set) var spellings = Sample()
    /// The number of these that have a two-digit exponent where `Notation.twoDigitExponent` writes one, and of numbers with their shortest
    /// text for which it writes an exponent.
    private(set) var twoDigitExponents = 0, shortTexts = 0
    /// The number of other doubles that are whole and do not end in ".0": `-0`, `1e21`.
    private(set) var bareWholes = 0
    /// The number of doubles that are whole numbers of 64 bits without a point: `1e3`, `-0`.
    private(set) var wholes = 0
    /// Numbers with more digits than a double has, that are not whole and not beyond the range of doubles.
    private(set) var longFractions = Sample()
    /// Strings that usually stand for a missing value.
    private(set) var nulls = Sample()
    /// Strings that are numbers, and whether one of them is not a whole number of 64 bits.
    private(set) var numbers = Sample()
    private(set) var hasFraction = false
    /// Strings of digits that a number would not keep.
    private(set) var identifiers = Sample()
    /// Other strings. If there are more than a column of numbers can have, they are not all counted.
    private(set) var others = Sample()
    /// Those among them that have letters and digits, as identifiers have.
    private(set) var codes = Sample()

    func note(_ value: Double, _ text: UnsafeRawBufferPointer, _ position: (block: Int, item: Int)) {
        let hasExponent = OddValues.isWritten(value, .twoDigitExponent(pointZero: false), as: text)
        if !OddValues.isWritten(value, .plain, as: text) {
            spellings.note(text, position, isString: false)
            if hasExponent { twoDigitExponents += 1 }
        } else if !OddValues.isWritten(value, .pointZero, as: text) {
            bareWholes += 1
        }
        if !hasExponent, value.magnitude < 1e-4 || value.magnitude >= 1e16, OddValues.isWritten(value, .plain, as: text) { shortTexts += 1 }
        if !text.contains(UInt8(ascii: ".")), let whole = OriginalText.int(text), Double(whole) == value { wholes += 1 }
    }

    func note(longNumber text: UnsafeRawBufferPointer, _ position: (block: Int, item: Int)) {
        guard text.contains(where: { $0 == UInt8(ascii: ".") || $0 | 32 == UInt8(ascii: "e") }), let value = OriginalText.double(text),
            value.isFinite, value.magnitude >= .leastNormalMagnitude
        else { return }
        longFractions.note(text, position, isString: false)
    }

    func note(string text: UnsafeRawBufferPointer, _ position: (block: Int, item: Int)) {
        // A column with more is of type any, whatever the other values are.
        if others.count > OddValues.maximumOthers || identifiers.count > 0 { return }
        if OriginalText.isNull(text) { return nulls.note(text, position) }
        switch OriginalText.form(text) {
        case .number:
            guard OriginalText.double(text) != nil else { return others.note(text, position) }
            numbers.note(text, position)
            if OriginalText.int(text) == nil { hasFraction = true }
        case .identifier: identifiers.note(text, position)
        case .signedWhole, .none:
            others.note(text, position)
            if OriginalText.isCode(text) { codes.note(text, position) }
        }
    }

    func merge(_ other: OddValues) {
        spellings.merge(other.spellings)
        twoDigitExponents += other.twoDigitExponents
        shortTexts += other.shortTexts
        wholes += other.wholes
        bareWholes += other.bareWholes
        longFractions.merge(other.longFractions)
        nulls.merge(other.nulls)
        numbers.merge(other.numbers)
        hasFraction = hasFraction || other.hasFraction
        identifiers.merge(other.identifiers)
        others.merge(other.others)
        codes.merge(other.codes)
    }

    /// Whether a text is what export writes for a value.
    static func isWritten(_ value: Double, _ notation: Notation, as text: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.room) { out in
            guard let base = out.baseAddress else { return false }
            let count = NumberText.write(value, notation, to: base)
            return UnsafeBufferPointer(start: base, count: count).elementsEqual(text)
        }
    }

    /// The maximum number of other values in a column of numbers: one in a thousand, and no more than this many.
    static let maximumOthers = 1 << 16
    /// The minimum number of numbers in a column that has other values.
    static let leastNumbers = 1000
}

/// The column for a field that contains mainly numbers.
struct NumberChoice {
    enum Result {
        /// A column of numbers. If `keepsTexts`, original texts are kept.
        case number(ScalarKind, Notation, keepsTexts: Bool, hasNulls: Bool)
        /// The values are of several kinds.
        case several
    }

    private(set) var result = Result.several
    private(set) var remarks: [String] = []

    /// Returns nil if the field contains no numbers, or objects or arrays.
    init?(_ shape: Shape, _ column: String) {
        let count = shape.ints + shape.doubles + shape.numberTexts
        guard count > 0, shape.arrays == 0, shape.objects == 0 else { return nil }
        let odd = shape.odd ?? OddValues(), strings = shape.strings + shape.bools, filled = count + strings
        let outside = odd.others.count + shape.bools
        let isSparse =
            outside == 0 || (outside <= OddValues.maximumOthers && outside <= filled / 1000 && count >= OddValues.leastNumbers)
        guard odd.identifiers.count == 0, shape.strings <= count, isSparse else {
            if strings * 2 < filled { remarks = ["column \"\(column)\" is of type any: " + NumberChoice.reason(odd, shape, filled)] }
            return
        }
        let (kind, notation) = NumberChoice.type(shape, odd, count)
        if kind == .int, odd.codes.count > 0 {
            remarks = [
                "column \"\(column)\" is of type any: it contains strings with letters and digits, as identifiers have\(odd.codes.example)"
            ]
            return
        }
        let unusual = NumberChoice.unusual(shape, odd, kind: kind, notation), long = kind == .double ? odd.longFractions.count : 0
        result = .number(kind, notation, keepsTexts: unusual + long + strings > 0, hasNulls: odd.nulls.count + outside > 0)
        remarks = NumberChoice.remarks(odd, nulls: odd.nulls.count + outside, long: long, unusual: unusual, filled).map {
            "column \"\(column)\": " + $0
        }
        if kind == .decimal, shape.doubles + shape.numberTexts > 0 {
            remarks.append("column \"\(column)\": some numbers need more digits than a double has; the column holds decimals")
        }
    }

    private static func reason(_ odd: OddValues, _ shape: Shape, _ filled: Int) -> String {
        if odd.identifiers.count > 0 {
            return "it contains strings of digits that a number would not keep, such as leading zeros\(odd.identifiers.example)"
        }
        let strings = shape.strings + shape.bools
        return "\(strings) of \(filled) values \(strings == 1 ? "is not a number" : "are not numbers")"
            + (odd.others + odd.nulls + odd.numbers).example
    }

    private static func remarks(_ odd: OddValues, nulls: Int, long: Int, unusual: Int, _ filled: Int) -> [String] {
        var remarks: [String] = []
        if nulls > 0 {
            remarks.append(
                "\(nulls) of \(filled) values \(nulls == 1 ? "is" : "are") kept as text next to null\((odd.nulls + odd.others).example)")
        }
        let strings = odd.numbers.count
        if strings > 0 {
            remarks.append(
                strings == 1
                    ? "1 string is read as a number\(odd.numbers.example); it is written back as a string"
                    : "\(strings) strings are read as numbers\(odd.numbers.example); they are written back as strings")
        }
        if long > 0 {
            remarks.append(
                (long == 1 ? "1 number has" : "\(long) numbers have")
                    + " more digits than a double\(odd.longFractions.example); queries use the nearest double, and all digits are written back"
            )
        }
        if unusual > 0 {
            remarks.append(
                unusual == 1
                    ? "1 number is spelled unusually\(odd.spellings.example); it is written back unchanged"
                    : "\(unusual) numbers are spelled unusually\(odd.spellings.example); they are written back unchanged")
        }
        return remarks
    }

    private static func type(_ shape: Shape, _ odd: OddValues, _ count: Int) -> (ScalarKind, Notation) {
        if shape.numberTexts == 0, !odd.hasFraction, shape.doubles == 0 || (shape.ints > 0 && odd.wholes == shape.doubles) {
            return (.int, .plain)
        }
        let isLong = shape.numberTexts > odd.longFractions.count || odd.longFractions.count > count / 100
        if isLong || shape.hasWideInts { return (.decimal, .plain) }
        if shape.ints == 0, shape.numberTexts == 0, shape.fraction > 1 { return (.double, .fixed(UInt8(shape.fraction))) }
        let hasExponents = odd.twoDigitExponents > odd.shortTexts && !shape.hasLongInts
        // Whole doubles without ".0" are among the unusual spellings.
        let unusual = odd.spellings.count - (hasExponents ? odd.twoDigitExponents : 0)
        let isPointZero = shape.ints == 0 && shape.pointZeros > unusual + odd.bareWholes
        return (.double, hasExponents ? .twoDigitExponent(pointZero: isPointZero) : isPointZero ? .pointZero : .plain)
    }

    /// Returns how many numbers that the column holds exactly have another text than it writes.
    private static func unusual(_ shape: Shape, _ odd: OddValues, kind: ScalarKind, _ notation: Notation) -> Int {
        switch kind {
        case .int: shape.doubles
        case .double where notation.code == Notation.fixed(0).code: 0
        case .double:
            odd.spellings.count - (notation.hasTwoDigitExponent ? odd.twoDigitExponents - odd.shortTexts : 0)
                + (notation.writesPointZero ? odd.bareWholes : shape.pointZeros)
        default: 0
        }
    }
}
