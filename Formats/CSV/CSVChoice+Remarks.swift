import FirnExchange
import FirnTable

extension CSVChoice {
    /// What to report about the column, one sentence each.
    func remarks(_ name: String, _ guess: CSVGuess) -> [String] {
        if let exceptions { return exceptions.remarks(name, guess.cells, isDate: kind == .date) }
        guard kind == .string else { return [] }
        if let advice = guess.advice(name) { return [advice] }
        return obstacle.map { ["column \"\(name)\" is text: " + $0.reason(guess.filled)] } ?? []
    }
}

extension CSVChoice.Exceptions {
    fileprivate func remarks(_ name: String, _ cells: Int, isDate: Bool) -> [String] {
        var remarks: [String] = []
        if nullCount > 0 {
            let verb = nullCount == 1 ? "is" : "are"
            remarks.append(
                "column \"\(name)\": \(CSVChoice.grouped(nullCount)) of \(CSVChoice.grouped(cells)) cells \(verb) kept as text next to null"
                    + nulls.example)
        }
        if unusualCount > 0 {
            let noun = isDate ? "date" : "number"
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

extension CSVSample {
    /// ` (first: row 17 "n/a")`; empty if there is no sample.
    fileprivate var example: String { count == 0 ? "" : " (first: row \(CSVChoice.grouped(row + 1)) \"\(text)\")" }
}

extension CSVChoice.Obstacle {
    fileprivate func reason(_ filled: Int) -> String {
        let share = "\(CSVChoice.grouped(count)) of \(CSVChoice.grouped(filled)) cells"
        switch cause {
        case .identifiers:
            return "\(share) \(count == 1 ? "is" : "are") digits that a number would not keep, such as leading zeros\(sample.example)"
        case .wideNumbers:
            return "its numbers have more digits than a type of numbers holds"
        case .dateOrder:
            return "its dates can be read in two ways\(sample.example); \(CSVChoice.flag(patterns)) chooses one"
        case .dateYears:
            return "its dates have years of two digits\(sample.example); \(CSVChoice.flag(patterns)) reads them"
        case .texts:
            let other = "\(share) \(count == 1 ? "is" : "are") not \(kind)\(sample.example)"
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
            return "; numbers with a comma stay text"
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
