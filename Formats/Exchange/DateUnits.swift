import FirnTable

/// What the dates of a column need of the unit in which a format stores them as whole numbers of 64 bits.
package struct DateUnits {
    /// Whether a date has a time of day.
    package private(set) var haveTimes = false
    private var needsNanoseconds = false, needsMicroseconds = false, needsMilliseconds = false
    /// The seconds of the first and of the last date.
    private var first: Int64 = 0, last: Int64 = 0
    private let column: Column

    /// `column`: a column of dates.
    package init(_ column: Column) {
        self.column = column
        for (row, (seconds, nanoseconds)) in zip(column.words, column.extra).enumerated() where column.isPresent(row) {
            if nanoseconds != 0 {
                haveTimes = true
                needsMilliseconds = true
                if nanoseconds % 1_000_000 != 0 { needsMicroseconds = true }
                if nanoseconds % 1000 != 0 { needsNanoseconds = true }
            } else if seconds % 86_400 != 0 {
                haveTimes = true
            }
            first = min(first, seconds)
            last = max(last, seconds)
        }
    }

    /// Returns the unit for the dates of the column: microseconds, unless some have more digits, or the notation shows more, and nanoseconds
    /// can express all of them; a longer unit if some are outside of the range of microseconds, and it can express all of them.
    package func unit(_ notation: Notation) -> TimeUnit {
        if needsNanoseconds || notation.fixedDigits ?? 0 > 6, fit(.nanosecond) { return .nanosecond }
        if fit(.microsecond) || needsMicroseconds { return .microsecond }
        if fit(.millisecond) || needsMilliseconds { return .millisecond }
        return .second
    }

    /// Whether all dates are in the range of a unit.
    private func fit(_ unit: TimeUnit) -> Bool {
        let most = Int64.max / unit.perSecond
        if first >= -most, last < most { return true }
        guard first >= -most - 1, last <= most else { return false }
        // Only a part of the first and of the last second is in the range.
        let perUnit = 1_000_000_000 / unit.perSecond
        return (0..<min(column.count, column.words.count, column.extra.count)).allSatisfy { row in
            !column.isPresent(row)
                || Int64(exactly: Int128(column.words[row]) * Int128(unit.perSecond) + Int128(column.extra[row] / perUnit)) != nil
        }
    }
}
