import FirnTable

/// Returns the point in time of a day (`2016-09-29`), or of a day with a time of day as in ISO 8601 after `T` or a space, with up to nine
/// fractional digits of the second and a zone (see `DateTimeLayout.Zone`); nil for any other text. Without a zone, the time is in UTC.
func dateOfText(_ text: String) -> Timestamp? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
        guard range.upperBound <= bytes.count else { return nil }
        return bytes[range].reduce(0) { sum, byte in sum.flatMap { byte &- 48 <= 9 ? $0 * 10 + Int(byte - 48) : nil } }
    }
    func isByte(_ at: Int, _ allowed: String) -> Bool { at < bytes.count && allowed.utf8.contains(bytes[at]) }
    guard let year = number(0..<4), isByte(4, "-"), let month = number(5..<7), isByte(7, "-"), let day = number(8..<10),
        let days = daysSinceEpoch(year, month, day)
    else { return nil }
    var date = Timestamp(seconds: days * 86_400, nanoseconds: 0)
    if bytes.count == 10 { return date }
    guard isByte(10, "T "), let hour = number(11..<13), isByte(13, ":"), let minute = number(14..<16), isByte(16, ":"),
        let second = number(17..<19), hour < 24, minute < 60, second < 60
    else { return nil }
    date.seconds += Int64(hour * 3600 + minute * 60 + second)
    var end = 19
    if isByte(19, ".") {
        let digits = bytes[20...].prefix { $0 &- 48 <= 9 }
        guard (1...9).contains(digits.count), let fraction = number(20..<(20 + digits.count)) else { return nil }
        date.nanoseconds = (digits.count..<9).reduce(Int32(fraction)) { value, _ in value * 10 }
        end = 20 + digits.count
    }
    if end == bytes.count { return date }
    guard let zone = DateTimeLayout.zone(bytes[end...]) else { return nil }
    date.seconds -= Int64(zone.quarters) * 900
    return date
}

/// The number of days since 1970-01-01 in the proleptic Gregorian calendar; nil if there is no such day.
private func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int64? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), day >= 1, day <= lengths[month - 1] else { return nil }
    let before = year - 1, leapDays = before >= 0 ? before / 4 - before / 100 + before / 400 : -1
    return Int64(year * 365 + leapDays + lengths[..<(month - 1)].reduce(0, +) + day - 1) - 719_162 - 365
}
