import FirnModel
import Foundation

/// A `Date` counts seconds from 2001 in a double; a `Timestamp` whole seconds from 1970 and nanoseconds. The fraction is taken from the
/// count since 2001, as Realm does: the count since 1970 would cost it a bit or two.
extension Timestamp {
    /// 2001-01-01 00:00:00 UTC in seconds since 1970.
    private static let referenceDate: Int64 = 978_307_200
    private static let nanosecondsPerSecond: Int32 = 1_000_000_000

    /// Nanoseconds are cut off toward 2001 as Realm does (so that both store the same), except where only one more gives the same date back:
    /// a date that was read from a file is written as it was. Dates beyond the range become its ends; no number becomes 1970.
    package init(_ date: Date) {
        let interval = date.timeIntervalSinceReferenceDate
        if interval.isNaN {
            self.init(seconds: 0)
        } else if interval.magnitude >= 0x1p53 {
            // No fraction left; 1970 may be in range where 2001 is not.
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

    /// Seconds since 2001 and nanoseconds of the same sign.
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

    /// Seconds since 2001.
    fileprivate var interval: Double {
        let (whole, overflow) = seconds.subtractingReportingOverflow(Timestamp.referenceDate)
        if overflow { return Double(seconds) - Double(Timestamp.referenceDate) }
        // Both parts of the same sign: -1 + 0.7 would not be -0.3.
        return whole < 0 && nanoseconds > 0 ? Double(whole + 1) + Double(nanoseconds - Timestamp.nanosecondsPerSecond) / 1e9
            : Double(whole) + Double(nanoseconds) / 1e9
    }
}

extension Date {
    /// The date nearest to the point in time that a double can say: to the nanosecond within half a year of 2001, to 0.2 µs today.
    package init(_ timestamp: Timestamp) { self.init(timeIntervalSinceReferenceDate: timestamp.interval) }
}
