import FirnExchange
import FirnTable

/// A date in SQL: a text such as `2016-09-29` or `2016-09-29 10:30:00.5`, in UTC.
struct SQLDate {
    static let second = 1_000_000_000, day = 86_400 * second
    private static let years = 0...9999

    /// Days since 1970-01-01.
    var days: Int
    /// The time of the day, in nanoseconds.
    var time = 0
    /// Whether the text has no time of day.
    var isDay: Bool

    init(days: Int, time: Int = 0, isDay: Bool) {
        self.days = days
        self.time = time
        self.isDay = isDay
    }

    /// Reads a date with or without a time of day and a zone, or a time of day alone, which is that of 2000-01-01 as in SQLite. Returns
    /// nil for other texts.
    init?(_ text: [UInt8]) {
        var text = text
        let colon = UInt8(ascii: ":")
        if text.count >= 5, text.count <= 18, text[2] == colon { text = Array("2000-01-01 ".utf8) + text }
        if text.count == 16, text[13] == colon { text += Array(":00".utf8) }
        guard let read = text.withUnsafeBytes({ DateText.parse($0) }) else { return nil }
        days = Int(read.seconds.floored(86_400))
        time = (Int(read.seconds) - days * 86_400) * SQLDate.second + Int(read.nanoseconds)
        isDay = read.time == nil
    }

    /// Returns nil if there is no such day, or if its year is not 0 to 9999.
    init?(year: Int, month: Int, day: Int) {
        guard SQLDate.years.contains(year), let days = CivilDate.days(year: year, month: month, day: day) else { return nil }
        self.init(days: days, isDay: true)
    }

    /// The text, or NULL if the year is not 0 to 9999.
    var value: SQLValue {
        guard SQLDate.years.contains(civil.year) else { return .null }
        return .text(SQLText.date(Int64(days * 86_400 + time / SQLDate.second), Int64(time % SQLDate.second), isDay: isDay))
    }

    var civil: (year: Int, month: Int, day: Int) {
        let date = CivilDate.date(ofDay: Int64(days))
        return (Int(date.year), Int(date.month), Int(date.day))
    }

    /// Monday is 1, Sunday is 7.
    var isoWeekday: Int { days + 3 - (days + 3).floored(7) * 7 + 1 }
    /// The Thursday of the week, whose year is that of the week.
    private var thursday: SQLDate { SQLDate(days: days - isoWeekday + 4, isDay: true) }
    var dayOfYear: Int { days - CivilDate.days(existing: civil.year, 1, 1) + 1 }
    /// The nanoseconds since 1970 in the unit of a number of nanoseconds, rounded down. Dates of the years 0 to 9999 do not overflow.
    private func units(of nanoseconds: Int) -> Int {
        if nanoseconds % SQLDate.day == 0 { return days.floored(nanoseconds / SQLDate.day) }
        return days * (SQLDate.day / nanoseconds) + time / nanoseconds
    }

    /// Returns a part as a number.
    func part(_ part: SQLDatePart) -> SQLValue {
        let year = civil.year
        switch part {
        case .millennium: return .int(Int64((year - 1).floored(1000) + 1))
        case .century: return .int(Int64((year - 1).floored(100) + 1))
        case .decade: return .int(Int64(year / 10))
        case .year: return .int(Int64(year))
        case .isoyear: return .int(Int64(thursday.civil.year))
        case .quarter: return .int(Int64((civil.month + 2) / 3))
        case .month: return .int(Int64(civil.month))
        case .week: return .int(Int64((thursday.dayOfYear + 6) / 7))
        case .day: return .int(Int64(civil.day))
        case .hour: return .int(Int64(time / (3600 * SQLDate.second)))
        case .minute: return .int(Int64(time / (60 * SQLDate.second) % 60))
        case .second: return .int(Int64(time / SQLDate.second % 60))
        case .millisecond: return .int(Int64(time / 1_000_000 % 60_000))
        case .microsecond: return .int(Int64(time / 1000 % 60_000_000))
        case .dow: return .int(Int64(isoWeekday % 7))
        case .isodow: return .int(Int64(isoWeekday))
        case .doy: return .int(Int64(dayOfYear))
        case .epoch: return .real(Double(days) * 86_400 + Double(time) / Double(SQLDate.second))
        }
    }

    /// Returns the beginning of the part that contains the date.
    func truncated(to part: SQLDatePart) -> SQLDate {
        let (year, month, _) = civil
        func day(_ year: Int, _ month: Int = 1) -> SQLDate { SQLDate(days: CivilDate.days(existing: year, month, 1), isDay: isDay) }
        switch part {
        case .millennium: return day(year / 1000 * 1000)
        case .century: return day(year / 100 * 100)
        case .decade: return day(year / 10 * 10)
        case .year: return day(year)
        case .quarter: return day(year, (month - 1) / 3 * 3 + 1)
        case .month: return day(year, month)
        case .week, .dow, .isodow: return SQLDate(days: days - isoWeekday + 1, isDay: isDay)
        case .isoyear:
            let january = SQLDate(days: CivilDate.days(existing: thursday.civil.year, 1, 4), isDay: isDay)
            return SQLDate(days: january.days - january.isoWeekday + 1, isDay: isDay)
        case .day, .doy, .epoch: return SQLDate(days: days, isDay: isDay)
        default:
            let unit = part.nanoseconds ?? 1
            return SQLDate(days: days, time: time / unit * unit, isDay: isDay)
        }
    }

    /// Returns the date after a number of months, or the last day of that month.
    private func adding(months: Int) -> SQLDate {
        let (year, month, day) = civil, sum = year * 12 + month - 1 + months
        let target = (year: sum.floored(12), month: sum - sum.floored(12) * 12 + 1)
        let last = CivilDate.length(ofMonth: target.month, target.year)
        return SQLDate(days: CivilDate.days(existing: target.year, target.month, min(day, last)), time: time, isDay: isDay)
    }

    /// Returns the date after a number of lengths of time; nil if it is far from the years 0 to 9999.
    func adding(_ number: Int, _ part: SQLDatePart) -> SQLDate? {
        if let months = part.months ?? (part == .isoyear ? 12 : nil) {
            guard number.magnitude < 1_000_000 else { return nil }
            return adding(months: number * months)
        }
        guard let unit = part.nanoseconds else { return nil }
        if unit % SQLDate.day == 0 {
            guard number.magnitude < 10_000_000 else { return nil }
            return SQLDate(days: days + number * (unit / SQLDate.day), time: time, isDay: isDay)
        }
        let inDay = SQLDate.day / unit, whole = number.floored(inDay)
        guard whole.magnitude < 10_000_000 else { return nil }
        let sum = time + (number - whole * inDay) * unit
        return SQLDate(days: days + whole + sum / SQLDate.day, time: sum % SQLDate.day, isDay: false)
    }

    /// Returns the number of boundaries of a part between two dates.
    func boundaries(to other: SQLDate, _ part: SQLDatePart) -> Int {
        func month(_ date: SQLDate) -> Int { date.civil.year * 12 + date.civil.month - 1 }
        if let months = part.months { return month(other).floored(months) - month(self).floored(months) }
        switch part {
        case .isoyear: return other.thursday.civil.year - thursday.civil.year
        case .week: return (other.truncated(to: .week).days - truncated(to: .week).days) / 7
        default: return other.units(of: part.nanoseconds ?? SQLDate.day) - units(of: part.nanoseconds ?? SQLDate.day)
        }
    }

    /// Returns the number of whole parts from a date to another one; negative if the other is earlier.
    func whole(to other: SQLDate, _ part: SQLDatePart) -> Int {
        if other < self { return -other.whole(to: self, part) }
        if let months = part.months ?? (part == .isoyear ? 12 : nil) {
            let month = { (date: SQLDate) in date.civil.year * 12 + date.civil.month }
            var number = (month(other) - month(self)) / months
            while number > 0, other < adding(months: number * months) { number -= 1 }
            return number
        }
        let unit = part.nanoseconds ?? SQLDate.day
        let days = other.days - days - (other.time < time ? 1 : 0), rest = other.time - time + (other.time < time ? SQLDate.day : 0)
        if unit % SQLDate.day == 0 { return days / (unit / SQLDate.day) }
        return days * (SQLDate.day / unit) + rest / unit
    }

    static func < (a: SQLDate, b: SQLDate) -> Bool { (a.days, a.time) < (b.days, b.time) }
}

extension FixedWidthInteger {
    /// Returns the quotient rounded down.
    func floored(_ divisor: Self) -> Self {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
