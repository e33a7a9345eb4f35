import FirnExchange
import FirnTable

extension CSVChoice {
    /// What to report about the column, one sentence each.
    func remarks(_ name: String, _ guess: CSVGuess) -> [String] {
        if let exceptions { return exceptions.remarks(name, guess.cells, kind) }
        guard kind == .string else { return [] }
        if let doubt = guess.doubt { return ["column \"\(name)\" is text: " + doubt.reason(name)] }
        if let advice = guess.advice(name) { return [advice] }
        return obstacle.map { ["column \"\(name)\" is text: " + $0.reason(guess.filled)] } ?? []
    }
}

extension CSVChoice.Exceptions {
    fileprivate func remarks(_ name: String, _ cells: Int, _ kind: ScalarKind) -> [String] {
        var remarks: [String] = []
        if nullCount > 0 {
            let what =
                nullCount == 1
                ? "is not \(kind == .int || kind == .objectID ? "an" : "a") \(kind.name): stored as null, together with its text"
                : "are not \(kind.name)s: stored as null, together with their text"
            remarks.append(
                "column \"\(name)\": \(CSVChoice.grouped(nullCount)) of \(CSVChoice.grouped(cells)) cells \(what)" + nulls.example)
        }
        if zoneCount > 0 {
            let what = zoneCount == 1 ? "date has another zone than most; it is" : "dates have another zone than most; they are"
            remarks.append("column \"\(name)\": \(CSVChoice.grouped(zoneCount)) \(what) written back unchanged")
        }
        if unusualCount > 0 {
            let noun = kind == .date ? "date" : "number"
            remarks.append(
                "column \"\(name)\": "
                    + (unusualCount == 1
                        ? "1 \(noun) is spelled unusually\(unusual.example); it is written back unchanged"
                        : "\(CSVChoice.grouped(unusualCount)) \(noun)s are spelled unusually\(unusual.example); they are written back unchanged")
            )
        }
        return remarks
    }
}

extension CSVMarkDoubt {
    fileprivate func reason(_ name: String) -> String {
        func flag(_ mark: String) -> String {
            let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            return isPlain ? "--decimal \(name)=\(mark)" : "--decimal='\(name.replacing("'", with: "'\\''"))=\(mark)'"
        }
        switch self {
        case .ambiguous(let sample):
            return
                "its numbers can be read in two ways\(sample.example); \(flag(",")) reads a comma as the decimal mark, \(flag(".")) a point"
        case .contradicted(let comma, let point):
            return
                "its numbers have different marks before fractions: \(point.example(in: "comma")), \(comma.example(in: "point"))"
        case .pairs(let sample):
            return "commas separate cells, and also the digits of this column\(sample.example); \(flag(",")) reads them as decimal commas"
        case .identifiers(let sample):
            return
                "all its numbers have the same groups of digits, as telephone numbers have\(sample.example); \(flag(".")) or \(flag(",")) reads them as numbers"
        }
    }
}

extension CSVSample {
    /// `a point in row 17 ("1.5")`.
    fileprivate func example(in mark: String) -> String { "a \(mark) in row \(CSVChoice.grouped(row + 1)) (\"\(text)\")" }

    /// ` (first: row 17 "n/a")`; empty if there is no sample.
    fileprivate var example: String { count == 0 ? "" : " (first: row \(CSVChoice.grouped(row + 1)) \"\(text)\")" }
}

extension CSVChoice.Obstacle {
    fileprivate func reason(_ filled: Int) -> String {
        let share = "\(CSVChoice.grouped(count)) of \(CSVChoice.grouped(filled)) cells"
        switch cause {
        case .identifiers:
            return "\(share) \(count == 1 ? "is" : "are") digits that a number would not keep, such as leading zeros\(sample.example)"
        case .codes:
            return
                "\(share) \(count == 1 ? "has" : "have") letters, as identifiers have\(sample.example); --null names texts that stand for null"
        case .numberMark(let isComma):
            let mark = isComma ? "comma" : "point"
            return
                "\(share) \(count == 1 ? "is not a number" : "are not numbers") with a decimal \(mark)\(sample.example)"
        case .wideNumbers:
            return "its numbers have more digits than a type of numbers holds"
        case .dateOrder:
            return "its dates can be read in two ways\(sample.example); \(CSVChoice.flag(patterns)) chooses one"
        case .mixedDates(let fitting):
            let shares = zip(patterns, fitting).map { "\(CSVChoice.grouped($1)) of \(CSVChoice.grouped(count)) can be \($0)" }
            return "its dates have no pattern in common: \(shares.joined(separator: ", "))\(sample.example)"
        case .dateFractions:
            return "the seconds of its dates have different numbers of digits, by no rule\(sample.example)"
        case .dateYears:
            return "its dates have years of two digits\(sample.example); \(CSVChoice.flag(patterns)) reads them"
        case .texts:
            let other = "\(share) \(count == 1 ? "is not a \(kind.dropLast())" : "are not \(kind)")\(sample.example)"
            if let hint = CSVChoice.hint(sample.text) { return other + hint }
            return other + "; --null names texts that stand for null"
        }
    }
}

extension CSVChoice {
    fileprivate static func flag(_ patterns: [String]) -> String {
        patterns.map { $0.contains(" ") ? "--dates \"\($0)\"" : "--dates \($0)" }.joined(separator: " or ")
    }

    /// Returns what helps with a text that a number can be found in.
    fileprivate static func hint(_ text: String) -> String? {
        let bytes = Array(text.utf8), digits = bytes.count { $0 &- 48 <= 9 }
        guard digits > 0 else { return nil }
        if bytes.contains(UInt8(ascii: ",")), bytes.allSatisfy({ $0 &- 48 <= 9 || "-,.' ".utf8.contains($0) }) {
            return "; --decimal , or --decimal . reads numbers with separators"
        }
        if text.hasSuffix("%") { return "; percentages stay text" }
        if let sign = text.unicodeScalars.first(where: { $0.properties.generalCategory == .currencySymbol }) {
            return "; amounts with a currency (\(sign)) stay text"
        }
        return nil
    }

    /// Returns a number with commas between groups of three digits.
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (i, digit) in String(number).enumerated() {
            if i > 0, (String(number).count - i) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}

extension CSVGuess {
    /// Returns advice on the option that gives a text column a narrower type such as a number or a date; nil if there is none.
    func advice(_ name: String) -> String? {
        guard let kind = choiceWithoutWords, let words = odd?.words else { return nil }
        let texts = words.map(\.word.text), rows = words.reduce(0) { $0 + $1.cells }
        // A comma separates the words of the option.
        if texts.contains(where: { $0.contains(",") }) { return nil }
        let option = texts.joined(separator: ",")
        // Quoted for a shell if necessary.
        let isPlain =
            option.utf8.allSatisfy { $0 >= 0x80 || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,".utf8.contains($0) }
            && !option.hasPrefix("-")
        let flag = isPlain ? "--null \(option)" : "--null='\(option.replacing("'", with: "'\\''"))'"
        return
            "column \"\(name)\" is text because of \(texts.map { "\"\($0)\"" }.joined(separator: " and ")) in \(rows == 1 ? "1 row" : "\(rows) rows"); \(flag) makes it \(kind.name)"
    }
}

extension CSVNumberMarks {
    /// What to report about columns whose marks were guessed: one line for each notation.
    static func remarks(_ guesses: [CSVGuess], _ names: [String]) -> [String] {
        var groups: [(layout: NumberLayout, hasFraction: Bool, columns: [String], sample: CSVSample)] = []
        for (guess, name) in zip(guesses, names) where guess.hasGuessedMarks {
            guard let marks = guess.marks, var layout = NumberLayout(guess.choice().notation), !layout.isTrivial else { continue }
            layout.digits = .plain
            if let known = groups.firstIndex(where: { $0.layout == layout && $0.hasFraction == marks.hasFraction }) {
                groups[known].columns.append(name)
            } else {
                groups.append((layout, marks.hasFraction, [name], marks.sample))
            }
        }
        return groups.map { layout, hasFraction, columns, sample in
            let shown = columns.prefix(3).map { "\"\($0)\"" }.joined(separator: ", "), more = columns.count - 3
            let list = (columns.count == 1 ? "column " : "columns ") + shown + (more > 0 ? " and \(CSVChoice.grouped(more)) more" : "")
            let groups = "\"\(layout.group.text)\" between groups of digits"
            let what =
                layout.hasComma && hasFraction ? "a decimal comma" + (layout.group == .none ? "" : " and \(groups)") : groups
            return "\(list): numbers have \(what)\(sample.example); use --decimal to set another decimal mark"
        } + (groups.contains(where: \.layout.hasComma) ? pointRemarks(guesses, names) : [])
    }

    /// Columns whose points may separate groups of digits, in a text in which other columns have decimal commas.
    private static func pointRemarks(_ guesses: [CSVGuess], _ names: [String]) -> [String] {
        zip(guesses, names).compactMap { guess, name in
            guard guess.mayHavePointGroups else { return nil }
            return
                "column \"\(name)\": its points were read as decimal points, although other columns have decimal commas; use --decimal , if they separate groups of digits"
        }
    }
}
