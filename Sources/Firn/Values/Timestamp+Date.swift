import FirnTable
import Foundation

/// A `Date` is a number of seconds since 2001 in a double, a `Timestamp` whole seconds since 1970 and nanoseconds. The fraction is computed
/// from the seconds since 2001, as in Realm, because the seconds since 1970 would lose a bit or two of it.
extension Timestamp {
    /// 2001-01-01 00:00:00 UTC in seconds since 1970.
    private static let referenceDate: Int64 = 978_307_200
    private static let nanosecondsPerSecond: Int32 = 1_000_000_000

    /// Converts a date. Nanoseconds are truncated towards 2001, as in Realm, unless only one nanosecond more gives the same date again: so
    /// a date that was read from a file is written unchanged. Dates outside of the range are clamped; a date that is NaN becomes 1970.
    package init(_ date: Date) {
        let interval = date.timeIntervalSinceReferenceDate
        if interval.isNaN {
            self.init(seconds: 0)
        } else if interval.magnitude >= 0x1p53 {
            // There is no fraction in this range. Seconds since 1970 can fit where seconds since 2001 do not.
            let whole = Int128(min(max(interval, -0x1p64), 0x1p64)) + Int128(Timestamp.referenceDate)
            let seconds = Int64(clamping: whole)
            self.init(seconds: seconds, nanoseconds: whole > Int128(Int64.max) ? Timestamp.nanosecondsPerSecond - 1 : 0)
        } else {
            let seconds = Int64(interval)
            let nanoseconds = Int32((interval - Double(seconds)) * 1e9)
            self.init(reference: seconds, nanoseconds)
            if self.interval != interval {
                let further = Timestamp(reference: seconds, nanoseconds + (interval < 0 ? -1 : 1))
                if further.interval == interval { self = further }
            }
        }
    }

    /// Creates a timestamp from seconds since 2001 and nanoseconds of the same sign.
    private init(reference seconds: Int64, _ nanoseconds: Int32) {
        var (seconds, nanoseconds) = (seconds + Timestamp.referenceDate, nanoseconds)
        if nanoseconds < 0 {
            nanoseconds += Timestamp.nanosecondsPerSecond
            seconds -= 1
        } else if nanoseconds >= Timestamp.nanosecondsPerSecond {
            nanoseconds -= Timestamp.nanosecondsPerSecond
            seconds += 1
        }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// The seconds since 2001.
    fileprivate var interval: Double {
        let (whole, overflow) = seconds.subtractingReportingOverflow(Timestamp.referenceDate)
        if overflow { return Double(seconds) - Double(Timestamp.referenceDate) }
        // Both parts need the same sign to keep the precision: -1 + 0.7 is not exactly -0.3.
        return whole < 0 && nanoseconds > 0
            ? Double(whole + 1) + Double(nanoseconds - Timestamp.nanosecondsPerSecond) / 1e9
            : Double(whole) + Double(nanoseconds) / 1e9
    }
}

extension Date {
    /// Creates the date nearest to the timestamp. A double resolves nanoseconds within half a year of 2001, and 0.2 µs today.
    package init(_ timestamp: Timestamp) { self.init(timeIntervalSinceReferenceDate: timestamp.interval) }
}
