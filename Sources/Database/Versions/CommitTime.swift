import FirnTable

/// A time by which versions were committed: `2026-11-29T12:00`, with seconds and a zone if wanted, or a day, which means its end. Without a
/// zone, it is in UTC.
package struct CommitTime {
    /// In nanoseconds since 1970-01-01 UTC: the last one that belongs to the time.
    let last: Int64

    /// Nil if the text is no such time.
    package init?(_ text: String) {
        var text = text, unit: Int64 = 1_000_000_000
        let digits = text.utf8.count
        if digits == 10 {
            unit *= 86_400
        } else if let clock = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "T") || $0 == UInt8(ascii: " ") }) {
            // Seconds can be left out.
            let minutes = text.utf8.index(clock, offsetBy: 6, limitedBy: text.utf8.endIndex) ?? text.utf8.endIndex
            if minutes == text.utf8.endIndex || text.utf8[minutes] != UInt8(ascii: ":") {
                text = text[..<minutes] + ":00" + text[minutes...]
                unit *= 60
            } else if text.utf8.contains(UInt8(ascii: ".")) {
                unit = 1
            }
        }
        guard let time = Timestamp(text: text) else { return nil }
        let (whole, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, exceeds) = whole.addingReportingOverflow(Int64(time.nanoseconds) + unit - 1)
        last = !overflow && !exceeds ? sum : time.seconds < 0 ? .min : .max
    }
}
