import FirnTable

/// Writes dates in one notation of `Notation`. What the notation says is found out once, not for each date.
package struct DateWriter {
    private enum Form {
        case day, month
        case layout(DateLayout)
        case time(DateTimeLayout, zone: ZoneText)
    }

    private let form: Form

    /// If the notation is not one of dates, they are written as `…T…Z`.
    package init(_ notation: Notation) {
        if notation == .dateOnly {
            form = .day
        } else if notation == .yearMonth {
            form = .month
        } else if let layout = DateLayout(notation) {
            form = .layout(layout)
        } else {
            let layout = DateTimeLayout(notation) ?? DateWriter.plain
            form = .time(layout, zone: ZoneText(layout.zoneText))
        }
    }

    private static let plain = DateTimeLayout(followsT: true, zone: .zulu, fraction: .needed)
    private static let plainZone = ZoneText("Z")

    /// The text of a zone, at most eight bytes.
    private struct ZoneText {
        private var bytes: UInt64 = 0
        private var count = 0

        init(_ text: String) {
            for byte in text.utf8.prefix(8) {
                bytes |= UInt64(byte) << UInt64(8 * count)
                count += 1
            }
        }

        @inline(__always)
        func write(to out: UnsafeMutablePointer<UInt8>) -> Int {
            var rest = bytes
            for at in 0..<count {
                out[at] = UInt8(truncatingIfNeeded: rest)
                rest &>>= 8
            }
            return count
        }
    }

    /// Writes a date to memory for `DateText.room` bytes, and returns the number of bytes. A second has more fractional digits than the notation
    /// if it needs them. If the notation would lose a time of day or a day, the date is written as `…T…Z`.
    package func write(seconds: Int64, nanoseconds: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int {
        switch form {
        case .day:
            if nanoseconds == 0, seconds % 86_400 == 0 { return DateText.writeDay(seconds / 86_400, to: out) }
        case .month:
            if let count = DateText.write(monthOf: seconds, nanoseconds: nanoseconds, to: out) { return count }
        case .layout(let layout):
            if let count = DateText.write(seconds: seconds, nanoseconds: nanoseconds, layout, to: out) { return count }
        case .time(let layout, let zone):
            // At an offset, a date near the first or the last year can have a year that is not read back.
            let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
            if layout.quarters == 0 || !years.contains(seconds) || years.contains(seconds &+ Int64(layout.quarters) &* 900) {
                let count = DateText.write(seconds: seconds, nanoseconds: nanoseconds, layout, to: out)
                return count &+ zone.write(to: out + count)
            }
        }
        let count = DateText.write(seconds: seconds, nanoseconds: nanoseconds, DateWriter.plain, to: out)
        return count &+ DateWriter.plainZone.write(to: out + count)
    }
}
