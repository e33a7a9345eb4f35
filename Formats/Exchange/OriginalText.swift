import FirnBytes
import FirnTable

/// Reads texts that stand in a column of numbers, bools or dates without being what export would write for a value: `NA`, `.5`, `1e3`.
///
/// Readers use it to find the value of a text, and writers to decide whether an original text still reads as the value of its row.
package enum OriginalText {
    // MARK: Texts for null

    /// The texts that usually stand for a missing value. They are recognised only in columns that otherwise contain numbers, bools or dates.
    private static let nullTexts: [StaticString] = [
        "NA", "N/A", "#N/A", "n/a", "na", "N/a", "N.A.", "n.a.", "#NA", "<NA>", "NULL", "null", "Null", "#NULL!", "(null)", "\\N", "None",
        "none", "NONE", "NaN", "nan", "NAN", "-nan", "-NaN", "-", "--", "---", ".", "..", "...", "?", "??", "*", "#DIV/0!", "#VALUE!",
        "#REF!",
        "#NUM!", "#NAME?",
    ]
    private static let nullWords: [UInt64] = nullTexts.map { text in
        (0..<text.utf8CodeUnitCount).reduce(0) { $0 | UInt64(text.utf8Start[$1]) << UInt64($1 * 8) }
    }
    /// Whether a text for null begins with a byte.
    private static let nullStarts: [Bool] = {
        var starts = [Bool](repeating: false, count: 256)
        for word in nullWords { starts[Int(word & 0xFF)] = true }
        return starts
    }()

    /// Whether the text usually stands for a missing value: `NA`, `n/a`, `null`, `-`, an empty text, spaces.
    package static func isNull(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first else { return true }
        if first == UInt8(ascii: " ") { return text.allSatisfy { $0 == UInt8(ascii: " ") } }
        guard text.count <= 8, nullStarts[Int(first)] else { return false }
        var word: UInt64 = 0
        for (i, byte) in text.enumerated() { word |= UInt64(byte) << UInt64(i * 8) }
        return nullWords.contains(word)
    }

    // MARK: Numbers

    /// What a text is among numbers.
    package enum NumberForm {
        /// A number in an unusual spelling.
        case number
        /// A whole number with a plus sign, which can be a telephone number.
        case signedWhole
        /// Digits that a number would not keep: leading zeros, digits in groups, more digits than any type holds.
        case identifier
        case none
    }

    /// Returns what a text is that is not a number as export writes it.
    package static func form(_ text: UnsafeRawBufferPointer) -> NumberForm {
        let body = trimmed(text)
        if infinity(body) != nil { return .number }
        var at = 0
        let isSigned = body.first == UInt8(ascii: "-") || body.first == UInt8(ascii: "+")
        if isSigned { at = 1 }
        let start = at
        while at < body.count, body[at] &- 48 <= 9 { at += 1 }
        let whole = at - start
        if at < body.count, body[at] == UInt8(ascii: "_"), whole > 0 { return isGrouped(body, from: start) ? .identifier : .none }
        if whole > 1, body[start] == UInt8(ascii: "0") {
            return at == body.count || NumberText.parseDouble(body) != nil ? .identifier : .none
        }
        if at == body.count, whole > 0 {
            if whole > 15 { return .identifier }
            return body.first == UInt8(ascii: "+") ? .signedWhole : .number
        }
        guard whole > 0 || (at < body.count && body[at] == UInt8(ascii: ".")), NumberText.parseDouble(body)?.isFinite ?? false else {
            return .none
        }
        return .number
    }

    /// Returns the value of `inf`, `Inf` or `Infinity` with or without a sign; nil for other texts.
    package static func infinity(_ text: UnsafeRawBufferPointer) -> Double? {
        let isBelow = text.first == UInt8(ascii: "-"), start = isBelow || text.first == UInt8(ascii: "+") ? 1 : 0
        guard text.count == start + 3 || text.count == start + 8, text[start] | 32 == UInt8(ascii: "i") else { return nil }
        let isInfinity = text[start...].elementsEqual("inf".utf8) || text[start...].elementsEqual("Inf".utf8)
        guard isInfinity || text[start...].elementsEqual("Infinity".utf8) else { return nil }
        return isBelow ? -.infinity : .infinity
    }

    /// Whether a text has letters and digits and no space, as identifiers such as `A12` or `INV-7` have.
    package static func isCode(_ text: UnsafeRawBufferPointer) -> Bool {
        var hasDigit = false, hasLetter = false
        for byte in text {
            if byte == UInt8(ascii: " ") { return false }
            hasDigit = hasDigit || byte &- 48 <= 9
            hasLetter = hasLetter || (byte | 32) &- UInt8(ascii: "a") < 26
        }
        return hasDigit && hasLetter
    }

    private static func isGrouped(_ body: UnsafeRawBufferPointer, from start: Int) -> Bool {
        body[start...].allSatisfy { $0 &- 48 <= 9 || $0 == UInt8(ascii: "_") } && body[body.count - 1] != UInt8(ascii: "_")
    }

    /// Returns a text without the spaces around it.
    package static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0, end = text.count
        while start < end, text[start] == UInt8(ascii: " ") { start += 1 }
        while end > start, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }

    /// Returns the number that the text denotes in a column with this notation, the nearest double; nil if it stands for null. Whole numbers
    /// of any length are numbers: a column with identifiers is no column of doubles.
    package static func double(_ text: UnsafeRawBufferPointer, _ notation: Notation = .plain) -> Double? {
        let body = trimmed(text)
        return isWhole(body) ? NumberText.parseDouble(body) : number(text, notation) { infinity($0) ?? NumberText.parseDouble($0) }
    }

    /// Returns the whole number that the text denotes: 1000 for `1e3`; nil for other texts.
    package static func int(_ text: UnsafeRawBufferPointer, _ notation: Notation = .plain) -> Int64? {
        number(text, notation) { NumberText.parseInt64($0) ?? NumberText.wholeNumber($0) }
    }

    /// Returns the decimal that the text denotes; nil if it stands for null.
    package static func decimal(_ text: UnsafeRawBufferPointer, _ notation: Notation = .plain) -> Decimal? {
        number(text, notation) { Decimal(String(decoding: $0, as: UTF8.self)) }
    }

    private static func number<T>(_ text: UnsafeRawBufferPointer, _ notation: Notation, _ read: (UnsafeRawBufferPointer) -> T?) -> T? {
        guard let layout = NumberLayout(notation) else { return unusual(text, read) }
        return withPlain(text, hasComma: layout.hasComma) { plain in
            // Whole numbers of any length are numbers, without groups too.
            if plain.count > 15, isWhole(plain) { return read(plain) }
            return unusual(plain, read)
        } ?? nil
    }

    private static func unusual<T>(_ text: UnsafeRawBufferPointer, _ read: (UnsafeRawBufferPointer) -> T?) -> T? {
        switch form(text) {
        case .number, .signedWhole: read(trimmed(text))
        case .identifier, .none: nil
        }
    }

    /// Whether a text is a whole number without leading zeros.
    private static func isWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        return digits.first.map { $0 != UInt8(ascii: "0") } ?? false && digits.allSatisfy { $0 &- 48 <= 9 }
    }

    /// Calls `body` with the text, which may have a decimal comma or groups, as a text with a point and without groups and spaces around it.
    /// Returns nil if its marks do not fit.
    package static func withPlain<R>(
        _ text: UnsafeRawBufferPointer, hasComma: Bool, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R? {
        let text = trimmed(text)
        if let result = NumberText.parse(text, hasComma: hasComma, { _, plain in body(plain) }) { return result }
        guard hasComma else { return body(text) }
        guard text.count <= NumberText.maximumLayoutLength, !text.contains(UInt8(ascii: ".")) else { return nil }
        let plain = text.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        return plain.count { $0 == UInt8(ascii: ".") } > 1 ? nil : plain.withBytes(body)
    }

    // MARK: Values

    /// Whether an original text reads as the value of a row, so that it can be written in its place.
    package static func isCurrent(_ text: UnsafeRawBufferPointer, _ column: Column, row: Int, notation: Notation) -> Bool {
        let isPresent = column.isPresent(row)
        switch column.type.kind {
        case .int: return isPresent ? int(text, notation) == column.words[row] : int(text, notation) == nil
        case .double, .float:
            // Older files have nulls for whole numbers of more than 15 digits.
            guard isPresent else { return number(text, notation) { NumberText.parseDouble($0) } == nil }
            return double(text, notation) == column.reals[row]
        case .decimal:
            guard isPresent else { return decimal(text, notation) == nil }
            guard case .decimal(let value) = column.value(at: row), let read = decimal(text, notation) else { return false }
            return Column.pair(read) == (column.words[row], column.extra[row]) || read.compare(value) == 0
        case .date:
            let read = DateText.parse(text, like: notation)
            guard isPresent else { return read == nil && !isZone(text, in: notation) }
            guard let read else { return isZone(text, in: notation) }
            return read.seconds == column.words[row] && read.nanoseconds == column.extra[row]
        default: return !isPresent
        }
    }

    /// Whether an original text of a date is its zone alone: the rest is written as its notation writes it.
    package static func isZone(_ text: UnsafeRawBufferPointer, in notation: Notation) -> Bool {
        guard let layout = DateTimeLayout(notation), layout.zone != .none else { return false }
        return DateText.zone(text, from: 0) != nil
    }
}
