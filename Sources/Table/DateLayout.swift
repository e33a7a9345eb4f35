/// How dates that are not in a form of ISO 8601 were written: `9/29/2016`, `29.09.2016 10:11`, `2016/09/29`. Stored as a `Notation`.
package struct DateLayout: Hashable, Sendable {
    package enum Order: UInt8, Sendable, CaseIterable { case monthDayYear = 0, dayMonthYear = 1, yearMonthDay = 2 }
    package enum Separator: UInt8, Sendable, CaseIterable {
        case slash = 0, point = 1, hyphen = 2

        package var byte: UInt8 { [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-")][Int(rawValue)] }

        package init?(byte: UInt8) {
            guard let found = Separator.allCases.first(where: { $0.byte == byte }) else { return nil }
            self = found
        }
    }
    /// The time of day after the date.
    package struct Time: Hashable, Sendable {
        /// Nil for hours and minutes only; otherwise the number of fractional digits of the second, 0 … 9.
        package var digits: UInt8?
        /// Whether hours have two digits.
        package var isPadded = true
        /// Whether hours count to 12, with `AM` or `PM` at the end.
        package var hasHalves = false
        /// Whether that is `am` or `pm`.
        package var isLower = false
        /// Whether `T` separates date and time, not a space.
        package var followsT = false

        package init(digits: UInt8? = nil) { self.digits = digits }
    }

    package var order: Order
    package var separator: Separator
    /// Whether days and months have two digits.
    package var isPadded: Bool
    /// Whether years have two digits: 69 … 99 are 1969 … 1999, 00 … 68 are 2000 … 2068.
    package var hasShortYear = false
    package var time: Time?

    package init(_ order: Order, _ separator: Separator, isPadded: Bool, time: Time? = nil) {
        self.order = order
        self.separator = separator
        self.isPadded = isPadded
        self.time = time
    }

    /// The codes of layouts begin here: see `docs/format/model.md`, "Schema".
    private static let firstCode: UInt8 = 32

    package var notation: Notation {
        var code = order.rawValue | separator.rawValue << 2
        if isPadded { code |= 16 }
        if hasShortYear { code |= 32 }
        guard let time else { return Notation(code: DateLayout.firstCode + code) }
        var parameter = time.digits.map { 2 + $0 } ?? 1
        if !time.isPadded { parameter |= 16 }
        if time.hasHalves { parameter |= 32 }
        if time.isLower { parameter |= 64 }
        if time.followsT { parameter |= 128 }
        return Notation(code: DateLayout.firstCode + code, parameter: parameter)
    }

    /// Returns nil for notations that are not layouts of dates.
    package init?(_ notation: Notation) {
        guard notation.code >= DateLayout.firstCode, notation.code < DateLayout.firstCode + 64 else { return nil }
        let code = notation.code - DateLayout.firstCode
        guard let order = Order(rawValue: code & 3), let separator = Separator(rawValue: code >> 2 & 3) else { return nil }
        self.init(order, separator, isPadded: code & 16 != 0)
        hasShortYear = code & 32 != 0
        guard notation.parameter > 0 else { return }
        let form = notation.parameter & 15
        guard form >= 1, form <= 11 else { return nil }
        var time = Time(digits: form == 1 ? nil : form - 2)
        time.isPadded = notation.parameter & 16 == 0
        time.hasHalves = notation.parameter & 32 != 0
        time.isLower = notation.parameter & 64 != 0
        time.followsT = notation.parameter & 128 != 0
        self.time = time
    }
}

extension Notation {
    /// Dates as `2016-09`: the first days of months.
    package static let yearMonth = Notation(code: 10)
}

extension Notation {
    /// Returns the notation of dates that a pattern such as `dd.MM.yyyy HH:mm` describes, or nil if it describes none: `d`, `dd` days, `M`,
    /// `MM` months, `yy`, `yyyy` years, `H`, `HH` hours (`h`, `hh` up to 12), `mm` minutes, `ss` seconds, `S` a digit of their fraction,
    /// `a` `AM` or `PM`, `aa` `am` or `pm`.
    package init?(datePattern pattern: String) {
        if pattern == "yyyy-MM" {
            self = .yearMonth
            return
        }
        let end = pattern.firstIndex { $0 == " " || $0 == "T" } ?? pattern.endIndex
        guard var layout = DateLayout(datePart: String(pattern[..<end])) else { return nil }
        if end < pattern.endIndex {
            guard var time = DateLayout.Time(pattern: pattern[pattern.index(after: end)...]) else { return nil }
            time.followsT = pattern[end] == "T"
            layout.time = time
        }
        self = layout.standard ?? layout.notation
    }

    /// The pattern of the dates; nil for other notations.
    package var datePattern: String? {
        if self == .yearMonth { return "yyyy-MM" }
        guard let layout = DateLayout(self) else { return nil }
        let day = layout.isPadded ? "dd" : "d", month = layout.isPadded ? "MM" : "M", year = layout.hasShortYear ? "yy" : "yyyy"
        let mark = String(UnicodeScalar(layout.separator.byte))
        let date =
            switch layout.order {
            case .monthDayYear: [month, day, year]
            case .dayMonthYear: [day, month, year]
            case .yearMonthDay: [year, month, day]
            }
        guard let time = layout.time else { return date.joined(separator: mark) }
        let hour = time.hasHalves ? "h" : "H"
        var text = date.joined(separator: mark) + (time.followsT ? "T" : " ") + (time.isPadded ? hour + hour : hour) + ":mm"
        if let digits = time.digits { text += ":ss" + (digits > 0 ? "." + String(repeating: "S", count: Int(digits)) : "") }
        return text + (time.hasHalves ? time.isLower ? " aa" : " a" : "")
    }

    /// The notation in which dates are shown and written to JSON: a form of ISO 8601. Other notations are returned unchanged.
    package var standardDate: Notation {
        if self == .yearMonth { return .dateOnly }
        guard let layout = DateLayout(self) else { return self }
        return layout.time.map { .dateTimeSpace($0.digits ?? 0) } ?? .dateOnly
    }
}

extension DateLayout {
    /// The notation of ISO 8601 that is the same.
    fileprivate var standard: Notation? {
        guard order == .yearMonthDay, separator == .hyphen, isPadded, !hasShortYear else { return nil }
        guard let time else { return .dateOnly }
        guard let digits = time.digits, time.isPadded, !time.hasHalves else { return nil }
        return time.followsT ? .dateTimeT(digits) : .dateTimeSpace(digits)
    }

    fileprivate init?(datePart text: String) {
        guard let mark = text.first(where: { "/.-".contains($0) }), let byte = mark.asciiValue, let separator = Separator(byte: byte) else {
            return nil
        }
        let parts = text.split(separator: mark, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        let order: Order
        let day: String, month: String, year: String
        switch parts.map({ $0.first }) {
        case ["d", "M", "y"]: (order, day, month, year) = (.dayMonthYear, parts[0], parts[1], parts[2])
        case ["M", "d", "y"]: (order, day, month, year) = (.monthDayYear, parts[1], parts[0], parts[2])
        case ["y", "M", "d"]: (order, day, month, year) = (.yearMonthDay, parts[2], parts[1], parts[0])
        default: return nil
        }
        guard (day, month) == ("d", "M") || (day, month) == ("dd", "MM"), year == "yyyy" || (year == "yy" && order != .yearMonthDay) else {
            return nil
        }
        self.init(order, separator, isPadded: day == "dd")
        hasShortYear = year == "yy"
    }
}

extension DateLayout.Time {
    fileprivate init?(pattern: Substring) {
        var text = pattern
        func take(_ prefix: String) -> Bool {
            guard text.hasPrefix(prefix) else { return false }
            text = text.dropFirst(prefix.count)
            return true
        }
        self.init()
        if take("HH") {
        } else if take("H") {
            isPadded = false
        } else if take("hh") {
            hasHalves = true
        } else if take("h") {
            (hasHalves, isPadded) = (true, false)
        } else {
            return nil
        }
        guard take(":mm") else { return nil }
        if take(":ss") {
            digits = 0
            if take(".") {
                let fraction = text.prefix { $0 == "S" }
                guard (1...9).contains(fraction.count) else { return nil }
                digits = UInt8(fraction.count)
                text = text.dropFirst(fraction.count)
            }
        }
        if hasHalves {
            if take(" aa") { isLower = true } else if !take(" a") { return nil }
        }
        guard text.isEmpty else { return nil }
    }
}
