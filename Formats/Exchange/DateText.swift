import FirnTable

/// Formats dates as text in the notations of `Notation`, and parses them. Years 0000 to 9999 have four digits. Other years are
/// written with a sign and at least five digits (the expanded form of ISO 8601), which `parse` does not accept.
@usableFromInline
package enum DateText {
    /// The maximum length of a date that `write` writes, in bytes.
    package static let room = 56

    /// A parsed date, and how it was written.
    package struct Reading {
        package var seconds: Int64
        package var nanoseconds: Int64
        /// Nil for a day.
        package var time: TimeForm?

        /// The notation of this date alone.
        package var notation: Notation {
            guard let time else { return .dateOnly }
            return time.layout(.fixed(time.digits)).notation ?? time.layout(.needed).notation ?? .plain
        }
    }

    /// How the time of day of a date was written.
    package struct TimeForm: Equatable, Sendable {
        package var followsT: Bool
        package var zone = DateTimeLayout.Zone.none
        /// The offset from UTC in quarters of an hour.
        package var quarters = 0
        /// The number of fractional digits of the second.
        package var digits: UInt8 = 0

        package func layout(_ fraction: DateTimeLayout.Fraction) -> DateTimeLayout {
            DateTimeLayout(followsT: followsT, zone: zone, fraction: fraction, quarters: quarters)
        }
    }

    /// Parses a day (`2016-09-29`), or a day with a time of day that follows `T` or a space: hours, minutes, seconds, up to nine fractional
    /// digits, and a zone if there is one (see `DateTimeLayout.Zone`). Returns nil for anything else, such as a day that does not exist.
    package static func parse(_ bytes: UnsafeRawBufferPointer) -> Reading? {
        let count = bytes.count
        guard count >= 10, let (year, month, day) = day(bytes) else { return nil }
        let days = Int64(daysSinceEpoch(year, month, day))
        if count == 10 { return Reading(seconds: days &* 86_400, nanoseconds: 0) }
        guard count >= 19, bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":") else { return nil }
        guard bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ") else { return nil }
        /// Returns two digits as a number; negative if one of them is not a digit.
        func number(_ at: Int) -> Int {
            let tens = bytes[at] &- 48, ones = bytes[at &+ 1] &- 48
            return tens > 9 || ones > 9 ? -1000 : Int(tens) &* 10 &+ Int(ones)
        }
        let hour = number(11), minute = number(14), second = number(17)
        guard hour >= 0, hour < 24, minute >= 0, minute < 60, second >= 0, second < 60 else { return nil }
        var time = TimeForm(followsT: bytes[10] == UInt8(ascii: "T")), end = 19, nanoseconds: Int64 = 0
        if count > 19, bytes[19] == UInt8(ascii: ".") {
            end = 20
            while end < count, bytes[end] &- 48 <= 9, end < 30 {
                nanoseconds = nanoseconds &* 10 &+ Int64(bytes[end] &- 48)
                end &+= 1
            }
            guard end > 20, end < 30 else { return nil }
            time.digits = UInt8(end &- 20)
            nanoseconds &*= Int64(bitPattern: wholePowersOfTen[29 &- end])
        }
        if end < count {
            guard let (zone, quarters) = zone(bytes, from: end) else { return nil }
            (time.zone, time.quarters) = (zone, quarters)
        }
        let clock = Int64(hour &* 3600 &+ minute &* 60 &+ second &- time.quarters &* 900)
        return Reading(seconds: days &* 86_400 &+ clock, nanoseconds: nanoseconds, time: time)
    }

    /// Writes a date in the given notation, and returns the number of bytes. A second has more fractional digits than the notation if it needs
    /// them. If the notation is not one of dates, or would lose a time of day or a day, the date is written as `…T…Z`.
    package static func write(seconds: Int64, nanoseconds: Int64, notation: Notation, to out: UnsafeMutablePointer<UInt8>) -> Int {
        if notation == .dateOnly, nanoseconds == 0, seconds % 86_400 == 0 { return writeDay(seconds / 86_400, to: out) }
        if let count = write(seconds: seconds, nanoseconds: nanoseconds, layout: notation, to: out) { return count }
        let plain = DateTimeLayout(followsT: true, zone: .zulu, fraction: .needed)
        var layout = DateTimeLayout(notation) ?? plain
        // At an offset, a date near the first or the last year can have a year that is not read back.
        let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        if layout.quarters != 0, years.contains(seconds), !years.contains(seconds &+ Int64(layout.quarters) &* 900) { layout = plain }
        switch layout.zone {
        case .none: return write(seconds: seconds, nanoseconds: nanoseconds, layout, zone: EmptyCollection(), to: out)
        case .zulu: return write(seconds: seconds, nanoseconds: nanoseconds, layout, zone: CollectionOfOne(UInt8(ascii: "Z")), to: out)
        default: return write(seconds: seconds, nanoseconds: nanoseconds, layout, zone: layout.zoneText.utf8, to: out)
        }
    }

    static func writeDay(_ days: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let (year, month, day) = civil(days)
        var at = 0
        if year >= 0, year <= 9999 {
            NumberText.writePadded(UInt64(year), digits: 4, to: out)
            at = 4
        } else {
            out[0] = year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
            let count = max(5, NumberText.digitCount(year.magnitude))
            NumberText.writePadded(year.magnitude, digits: count, to: out + 1)
            at = 1 &+ count
        }
        out[at] = UInt8(ascii: "-")
        NumberText.writePadded(UInt64(month), digits: 2, to: out + at + 1)
        out[at &+ 3] = UInt8(ascii: "-")
        NumberText.writePadded(UInt64(day), digits: 2, to: out + at + 4)
        return at &+ 6
    }

    /// Returns the day that the first ten bytes name as `YYYY-MM-DD`; nil if they do not, or if there is no such day.
    @inline(__always)
    package static func day(_ text: UnsafeRawBufferPointer) -> (year: Int, month: Int, day: Int)? {
        // Digits become 0 to 9 and the hyphens 0. Then all bytes are checked together: a byte that is too large sets its top bit.
        let head = UInt64(littleEndian: text.loadUnaligned(as: UInt64.self)) ^ 0x2D30_302D_3030_3030
        let tail = UInt64(UInt16(littleEndian: text.loadUnaligned(fromByteOffset: 8, as: UInt16.self)) ^ 0x3030)
        let large = (head &+ 0x7F76_767F_7676_7676) | head | (tail &+ 0x7676) | tail
        guard large & 0x8080_8080_8080_8080 == 0 else { return nil }
        func digit(_ at: UInt64) -> Int { Int(truncatingIfNeeded: head &>> (8 &* at) & 15) }
        let year = digit(0) &* 1000 &+ digit(1) &* 100 &+ digit(2) &* 10 &+ digit(3), month = digit(5) &* 10 &+ digit(6)
        let day = Int(truncatingIfNeeded: (tail & 15) &* 10 &+ tail &>> 8)
        guard month &- 1 < 12, month >= 1, day >= 1, day <= 28 || day <= length(ofMonth: month, year) else { return nil }
        return (year, month, day)
    }

    static func length(ofMonth month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
    }

    /// The number of days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that the leap day is the
    /// last one.
    @inline(__always)
    static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year &- 1 : year
        let era = (y >= 0 ? y : y &- 399) / 400
        let yearOfEra = y &- era &* 400
        let dayOfYear = (153 &* (month > 2 ? month &- 3 : month &+ 9) &+ 2) / 5 &+ day &- 1
        return era &* 146_097 &+ yearOfEra &* 365 &+ yearOfEra / 4 &- yearOfEra / 100 &+ dayOfYear &- 719_468
    }

    package static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let z = days &+ 719_468
        let era = (z >= 0 ? z : z &- 146_096) / 146_097
        let dayOfEra = z &- era &* 146_097
        let yearOfEra = (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
        let shifted = (5 &* dayOfYear &+ 2) / 153
        let month = shifted < 10 ? shifted &+ 3 : shifted &- 9
        return (yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0), month, dayOfYear &- (153 &* shifted &+ 2) / 5 &+ 1)
    }
}
