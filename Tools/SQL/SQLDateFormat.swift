import FirnBytes
import FirnTable

/// Reads dates by a format of `strptime`: `%Y`, `%m`, `%d` and others.
struct SQLDateFormat {
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]
    static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    private let text: [UInt8]
    private var at = 0
    private var year = 1900, month = 1, day = 1, dayOfYear: Int?
    private var hour = 0, minute = 0, second = 0, fraction = 0, isAfternoon: Bool?, offset = 0
    private var hasTime = false

    private init(_ text: [UInt8]) { self.text = text }

    /// Returns the date; nil if the text does not have the format. Throws if the format is unknown.
    static func read(_ text: [UInt8], _ format: [UInt8], _ call: SQLCall) throws(FirnError) -> SQLDate? {
        var reader = SQLDateFormat(text), at = 0
        while at < format.count {
            guard format[at] == UInt8(ascii: "%") else {
                guard reader.readLiteral(format[at]) else { return nil }
                at += 1
                continue
            }
            guard at + 1 < format.count, let isRead = reader.read(format[at + 1]) else {
                throw call.error(
                    "has no format %\(String(decoding: format[(at + 1)...].prefix(1), as: UTF8.self))",
                    advice: "the formats are %Y %y %m %d %e %j %b %B %a %A %H %I %M %S %f %p %z %%")
            }
            guard isRead else { return nil }
            at += 2
        }
        return reader.at == text.count ? reader.date : nil
    }

    private var date: SQLDate? {
        var hour = hour
        if let isAfternoon {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        guard hour < 24, minute < 60, second < 60, var date = SQLDate(year: year, month: month, day: day) else { return nil }
        if let dayOfYear {
            guard let first = SQLDate(year: year, month: 1, day: 1), dayOfYear >= 1 else { return nil }
            date.days = first.days + dayOfYear - 1
            guard date.civil.year == year else { return nil }
        }
        let time = (hour * 3600 + minute * 60 + second) * SQLDate.second + fraction - offset * 60 * SQLDate.second
        date.days += time.floored(SQLDate.day)
        date.time = time - time.floored(SQLDate.day) * SQLDate.day
        date.isDay = !hasTime
        return date
    }

    private mutating func readLiteral(_ byte: UInt8) -> Bool {
        guard at < text.count, text[at] == byte else { return false }
        at += 1
        return true
    }

    /// Reads a number of at most so many digits.
    private mutating func number(_ digits: Int, or least: Int = 1) -> Int? {
        var value = 0, count = 0
        while count < digits, at < text.count, (48...57).contains(text[at]) {
            value = value * 10 + Int(text[at] - 48)
            at += 1
            count += 1
        }
        return count >= least ? value : nil
    }

    /// Reads a name, or its first three letters, and returns its index.
    private mutating func name(_ names: [String]) -> Int? {
        let rest = NameTable.folded(String(decoding: text[at...].prefix(12), as: UTF8.self))
        for isWhole in [true, false] {
            for (index, name) in names.enumerated() {
                let name = NameTable.folded(isWhole ? name : String(name.prefix(3)))
                guard rest.hasPrefix(name) else { continue }
                at += name.utf8.count
                return index
            }
        }
        return nil
    }

    private mutating func set(_ part: WritableKeyPath<SQLDateFormat, Int>, _ value: Int?) -> Bool {
        guard let value else { return false }
        self[keyPath: part] = value
        return true
    }

    /// Reads what a letter of the format stands for. Returns nil if the letter is unknown.
    private mutating func read(_ letter: UInt8) -> Bool? {
        if "HIMSfp".utf8.contains(letter) { hasTime = true }
        switch letter {
        case UInt8(ascii: "Y"): return set(\.year, number(4, or: 4))
        case UInt8(ascii: "y"): return set(\.year, number(2, or: 2).map { $0 < 69 ? 2000 + $0 : 1900 + $0 })
        case UInt8(ascii: "m"): return set(\.month, number(2))
        case UInt8(ascii: "d"), UInt8(ascii: "e"):
            if letter == UInt8(ascii: "e") { _ = readLiteral(UInt8(ascii: " ")) }
            return set(\.day, number(2))
        case UInt8(ascii: "j"):
            dayOfYear = number(3)
            return dayOfYear != nil
        case UInt8(ascii: "b"), UInt8(ascii: "B"): return set(\.month, name(SQLDateFormat.months).map { $0 + 1 })
        case UInt8(ascii: "a"), UInt8(ascii: "A"): return name(SQLDateFormat.days) != nil
        case UInt8(ascii: "H"), UInt8(ascii: "I"): return set(\.hour, number(2))
        case UInt8(ascii: "M"): return set(\.minute, number(2))
        case UInt8(ascii: "S"): return set(\.second, number(2))
        case UInt8(ascii: "f"): return readFraction()
        case UInt8(ascii: "p"):
            isAfternoon = name(["AM", "PM"]).map { $0 == 1 }
            return isAfternoon != nil
        case UInt8(ascii: "z"): return readOffset()
        case UInt8(ascii: "%"): return readLiteral(letter)
        default: return nil
        }
    }

    private mutating func readFraction() -> Bool {
        let start = at
        guard let digits = number(9) else { return false }
        fraction = (at - start..<9).reduce(digits) { value, _ in value * 10 }
        return true
    }

    /// Reads `Z`, `+02:00`, `+0200` or `+02`, in minutes.
    private mutating func readOffset() -> Bool {
        if readLiteral(UInt8(ascii: "Z")) { return true }
        let isNegative = readLiteral(UInt8(ascii: "-"))
        guard isNegative || readLiteral(UInt8(ascii: "+")), let hours = number(2, or: 2) else { return false }
        let hasColon = readLiteral(UInt8(ascii: ":")), minutes = number(2, or: 2)
        guard minutes != nil || !hasColon else { return false }
        offset = (isNegative ? -1 : 1) * (hours * 60 + (minutes ?? 0))
        return true
    }
}
