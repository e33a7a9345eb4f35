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
        let days = Int64(CivilDate.days(existing: year, month, day))
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

    /// Writes a date in the given notation, as `DateWriter` does, and returns the number of bytes.
    package static func write(seconds: Int64, nanoseconds: Int64, notation: Notation, to out: UnsafeMutablePointer<UInt8>) -> Int {
        DateWriter(notation).write(seconds: seconds, nanoseconds: nanoseconds, to: out)
    }

    static func writeDay(_ days: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let (year, month, day) = CivilDate.date(ofDay: days)
        if year >= 0, year <= 9999 {
            let number = UInt32(truncatingIfNeeded: year &* 10_000 &+ month &* 100 &+ day)
            let text = NumberText.eightDigits(number) | NumberText.asciiZeros
            NumberText.store(text & 0xFFFF_FFFF | (text &>> 32 & 0xFFFF) &<< 40 | 0x2D00_002D_0000_0000, to: out)
            out[8] = UInt8(truncatingIfNeeded: text &>> 48)
            out[9] = UInt8(truncatingIfNeeded: text &>> 56)
            return 10
        }
        out[0] = year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
        let count = max(5, NumberText.digitCount(year.magnitude)), at = 1 &+ count
        NumberText.writePadded(year.magnitude, digits: count, to: out + 1)
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
        guard month &- 1 < 12, month >= 1, day >= 1, day <= 28 || day <= CivilDate.length(ofMonth: month, year) else { return nil }
        return (year, month, day)
    }
}
