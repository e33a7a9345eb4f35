extension Timestamp {
    /// Reads a day (`2016-09-29`), or a day with a time of day as in ISO 8601 after `T` or a space, with up to nine fractional digits of the
    /// second and a zone (see `DateTimeLayout.Zone`). Without a zone, the time is in UTC. Fails for any other text.
    package init?(text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            return bytes[range].reduce(0) { sum, byte in sum.flatMap { byte &- 48 <= 9 ? $0 * 10 + Int(byte - 48) : nil } }
        }
        func isByte(_ at: Int, _ allowed: String) -> Bool { at < bytes.count && allowed.utf8.contains(bytes[at]) }
        guard let year = number(0..<4), isByte(4, "-"), let month = number(5..<7), isByte(7, "-"), let day = number(8..<10),
            let days = CivilDate.days(year: year, month: month, day: day)
        else { return nil }
        self.init(seconds: Int64(days) * 86_400)
        if bytes.count == 10 { return }
        guard isByte(10, "T "), let hour = number(11..<13), isByte(13, ":"), let minute = number(14..<16), isByte(16, ":"),
            let second = number(17..<19), hour < 24, minute < 60, second < 60
        else { return nil }
        seconds += Int64(hour * 3600 + minute * 60 + second)
        var end = 19
        if isByte(19, ".") {
            let digits = bytes[20...].prefix { $0 &- 48 <= 9 }
            guard (1...9).contains(digits.count), let fraction = number(20..<(20 + digits.count)) else { return nil }
            nanoseconds = (digits.count..<9).reduce(Int32(fraction)) { value, _ in value * 10 }
            end = 20 + digits.count
        }
        if end == bytes.count { return }
        guard let zone = DateTimeLayout.zone(bytes[end...]) else { return nil }
        seconds -= Int64(zone.quarters) * 900
    }
}
