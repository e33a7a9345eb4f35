/// Days of the proleptic Gregorian calendar, counted from 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms").
@usableFromInline
package enum CivilDate {
    /// Returns the number of a day; nil if there is no such day.
    @inlinable @inline(__always)
    package static func days(year: Int, month: Int, day: Int) -> Int? {
        guard month >= 1, month <= 12, day >= 1, day <= 28 || day <= length(ofMonth: month, year) else { return nil }
        return days(existing: year, month, day)
    }

    /// Returns the number of a day that exists. Years are counted from March, so that the leap day is the last one.
    @inlinable @inline(__always)
    package static func days(existing year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year &- 1 : year
        let era = (y >= 0 ? y : y &- 399) / 400, yearOfEra = y &- era &* 400
        let dayOfYear = (153 &* (month > 2 ? month &- 3 : month &+ 9) &+ 2) / 5 &+ day &- 1
        return era &* 146_097 &+ yearOfEra &* 365 &+ yearOfEra / 4 &- yearOfEra / 100 &+ dayOfYear &- 719_468
    }

    /// Returns the number of days of a month, 1 … 12.
    @inlinable @inline(__always)
    package static func length(ofMonth month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
    }

    /// Returns the day with a number.
    @inlinable
    package static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days &+ 719_468
        guard shifted >= 0, shifted < 1 << 29 else { return date(ofDistantDay: shifted) }
        // Neri and Schneider, "Euclidean affine functions and their application to calendar algorithms" (2023): years from March, and
        // multiplications in place of most divisions.
        let quarters = 4 &* UInt32(truncatingIfNeeded: shifted) &+ 3, century = quarters / 146_097
        let years = 2_939_745 &* UInt64(quarters % 146_097 | 3)
        let dayOfYear = UInt32(truncatingIfNeeded: years) / 2_939_745 / 4, months = 2_141 &* dayOfYear &+ 197_913
        let isNextYear = dayOfYear >= 306
        let year = Int64(100 &* century) &+ Int64(years &>> 32) &+ (isNextYear ? 1 : 0)
        return (year, Int64(months &>> 16) &- (isNextYear ? 12 : 0), Int64((months & 0xFFFF) / 2_141) &+ 1)
    }

    /// `shifted`: the number of days since 0000-03-01.
    @inlinable
    static func date(ofDistantDay shifted: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let era = (shifted >= 0 ? shifted : shifted &- 146_096) / 146_097, dayOfEra = shifted &- era &* 146_097
        let yearOfEra = (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100), month = (5 &* dayOfYear &+ 2) / 153
        let civilMonth = month < 10 ? month &+ 3 : month &- 9
        return (yearOfEra &+ era &* 400 &+ (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear &- (153 &* month &+ 2) / 5 &+ 1)
    }
}
