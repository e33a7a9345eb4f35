import FirnBytes
import FirnTable

/// A text of three numbers, and a time of day if it has one, that can be a date in a `DateLayout`.
package struct DateFields {
    /// The numbers in their order, and their lengths in digits.
    package private(set) var numbers = (0, 0, 0)
    package private(set) var lengths = (0, 0, 0)
    package private(set) var separator = DateLayout.Separator.slash
    /// The time as it is written; whether hours are padded is known only if they have two digits with a leading zero, or one digit.
    package private(set) var time: DateLayout.Time?
    package private(set) var hourLength = 0
    private var clock: Int64 = 0
    private var nanoseconds: Int64 = 0
    private var hour = 0

    package var isYearFirst: Bool { lengths.0 == 4 }
    /// Whether the year has two digits, so that the text is a date only by a layout with short years.
    package var hasShortYear: Bool { lengths.0 != 4 && lengths.2 == 2 }
    private var day: (length: Int, value: Int) { isYearFirst ? (lengths.2, numbers.2) : (lengths.0, numbers.0) }
    /// Whether day and month have two digits.
    package var canBePadded: Bool { lengths.1 == 2 && day.length == 2 }
    /// Whether none of them has a leading zero.
    package var canBeUnpadded: Bool { (lengths.1 == 1 || numbers.1 >= 10) && (day.length == 1 || day.value >= 10) }
    package var hourCanBePadded: Bool { hourLength == 2 }
    package var hourCanBeUnpadded: Bool { hourLength == 1 || hour >= 10 }

    package init?(_ text: UnsafeRawBufferPointer) {
        guard text.count >= 6, text.count <= 40 else { return nil }
        var digits = DigitCursor(text)
        guard let first = digits.number(4), first.length != 3, let mark = digits.take(), let separator = DateLayout.Separator(byte: mark),
            let second = digits.number(2), digits.take(mark), let third = digits.number(4), third.length != 3
        else { return nil }
        // The year is the first or the last number, and only the last one can have two digits.
        guard first.length == 4 ? third.length < 4 : third.length >= 2 else { return nil }
        self.separator = separator
        numbers = (first.value, second.value, third.value)
        lengths = (first.length, second.length, third.length)
        if !digits.isAtEnd { guard readTime(&digits) else { return nil } }
    }

    /// Reads the time of day up to the end of the text. Returns false if there is another text.
    private mutating func readTime(_ digits: inout DigitCursor) -> Bool {
        var time = DateLayout.Time()
        guard let mark = digits.take(), mark == UInt8(ascii: "T") || mark == UInt8(ascii: " ") else { return false }
        time.followsT = mark == UInt8(ascii: "T")
        guard let hour = digits.number(2), digits.take(UInt8(ascii: ":")), let minute = digits.number(2), minute.length == 2,
            minute.value < 60
        else { return false }
        var seconds = 0
        if digits.take(UInt8(ascii: ":")) {
            guard let read = digits.number(2), read.length == 2, read.value < 60 else { return false }
            seconds = read.value
            time.digits = 0
            if digits.take(UInt8(ascii: ".")) {
                guard let fraction = digits.number(9) else { return false }
                time.digits = UInt8(fraction.length)
                nanoseconds = Int64(fraction.value) * Int64(bitPattern: wholePowersOfTen[9 - fraction.length])
            }
        }
        var hours = hour.value
        if !digits.isAtEnd {
            guard digits.take(UInt8(ascii: " ")), let half = digits.take(), let m = digits.take(), digits.isAtEnd, hours >= 1, hours <= 12,
                m | 32 == UInt8(ascii: "m"), half | 32 == UInt8(ascii: "a") || half | 32 == UInt8(ascii: "p"), half & 32 == m & 32
            else { return false }
            time.hasHalves = true
            time.isLower = m == UInt8(ascii: "m")
            hours = hours % 12 + (half | 32 == UInt8(ascii: "p") ? 12 : 0)
        }
        guard hours < 24 else { return false }
        self.hour = hour.value
        hourLength = hour.length
        time.isPadded = hour.length == 2
        clock = Int64(hours * 3600 + minute.value * 60 + seconds)
        self.time = time
        return true
    }

    /// Returns the date that the text denotes in an order; nil if there is no such day.
    package func date(_ order: DateLayout.Order, shortYears: Bool = false) -> (seconds: Int64, nanoseconds: Int64)? {
        guard isYearFirst == (order == .yearMonthDay), !hasShortYear || shortYears else { return nil }
        var (year, month, day) = numbers
        switch order {
        case .monthDayYear: (month, day, year) = numbers
        case .dayMonthYear: (day, month, year) = numbers
        case .yearMonthDay: break
        }
        if hasShortYear { year += year >= 69 ? 1900 : 2000 }
        return CivilDate.days(year: year, month: month, day: day).map { (Int64($0) * 86_400 + clock, nanoseconds) }
    }
}

/// Reads numbers and single bytes of a text.
private struct DigitCursor {
    private let text: UnsafeRawBufferPointer
    private var at = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { at == text.count }

    /// Reads one to `most` digits; nil if there are none or more.
    mutating func number(_ most: Int) -> (value: Int, length: Int)? {
        var value = 0, length = 0
        while at < text.count, text[at] &- 48 <= 9, length <= most {
            value = value * 10 + Int(text[at] - 48)
            length += 1
            at += 1
        }
        return length > 0 && length <= most ? (value, length) : nil
    }

    mutating func take() -> UInt8? {
        guard at < text.count else { return nil }
        at += 1
        return text[at - 1]
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard at < text.count, text[at] == byte else { return false }
        at += 1
        return true
    }
}

/// Writes numbers and single bytes.
private struct DigitWriter {
    let out: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    init(_ out: UnsafeMutablePointer<UInt8>) { self.out = out }

    mutating func put(_ byte: UInt8) {
        out[count] = byte
        count += 1
    }

    mutating func put(_ value: Int64, isPadded: Bool, digits: Int = 2) {
        if isPadded {
            NumberText.writePadded(UInt64(value), digits: digits, to: out + count)
            count += digits
        } else {
            count += NumberText.write(value, to: out + count)
        }
    }
}

extension DateText {
    /// Returns the date that a text denotes in a column of dates with this notation, also if it is written differently; nil for other texts.
    package static func parse(_ text: UnsafeRawBufferPointer, like notation: Notation) -> (seconds: Int64, nanoseconds: Int64)? {
        if let layout = DateLayout(notation), let fields = DateFields(text),
            let read = fields.date(fields.isYearFirst ? .yearMonthDay : layout.order, shortYears: layout.hasShortYear)
        {
            return read
        }
        if let month = parseMonth(text) { return notation == .yearMonth ? (month, 0) : nil }
        return parse(text).map { ($0.seconds, $0.nanoseconds) }
    }

    /// Returns the first second of a month such as `2016-09`.
    package static func parseMonth(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == 7, text[4] == UInt8(ascii: "-"), text.enumerated().allSatisfy({ $0.offset == 4 || $0.element &- 48 <= 9 })
        else {
            return nil
        }
        let digits = text.map { Int($0) - 48 }, month = digits[5] * 10 + digits[6]
        let year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
        return CivilDate.days(year: year, month: month, day: 1).map { Int64($0) * 86_400 }
    }

    /// Writes a date as a month, and returns the number of bytes; nil if that would lose something of it.
    static func write(monthOf seconds: Int64, nanoseconds: Int64, to out: UnsafeMutablePointer<UInt8>) -> Int? {
        let (days, clock) = seconds.quotientAndRemainder(dividingBy: 86_400), (year, month, day) = CivilDate.date(ofDay: days)
        guard year >= 0, year <= 9999, day == 1, clock == 0, nanoseconds == 0 else { return nil }
        var writer = DigitWriter(out)
        writer.put(year, isPadded: true, digits: 4)
        writer.put(UInt8(ascii: "-"))
        writer.put(month, isPadded: true)
        return writer.count
    }

    /// Writes a date in a layout, and returns the number of bytes; nil if the layout would lose something of it.
    static func write(seconds: Int64, nanoseconds: Int64, _ layout: DateLayout, to out: UnsafeMutablePointer<UInt8>) -> Int? {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400, clock = seconds - days * 86_400
        let (year, month, day) = CivilDate.date(ofDay: days)
        guard year >= 0, year <= 9999, !layout.hasShortYear || (1969...2068).contains(year) else { return nil }
        var writer = DigitWriter(out)
        let isPadded = layout.isPadded, separator = layout.separator.byte
        func putYear() { writer.put(layout.hasShortYear ? year % 100 : year, isPadded: true, digits: layout.hasShortYear ? 2 : 4) }
        func put(_ first: Int64, _ second: Int64) {
            writer.put(first, isPadded: isPadded)
            writer.put(separator)
            writer.put(second, isPadded: isPadded)
        }
        switch layout.order {
        case .yearMonthDay:
            putYear()
            writer.put(separator)
            put(month, day)
        case .monthDayYear:
            put(month, day)
            writer.put(separator)
            putYear()
        case .dayMonthYear:
            put(day, month)
            writer.put(separator)
            putYear()
        }
        guard let time = layout.time else { return clock == 0 && nanoseconds == 0 ? writer.count : nil }
        return write(clock: clock, nanoseconds, time, &writer) ? writer.count : nil
    }

    /// Writes a time of day. Returns false if that would lose something of it.
    private static func write(clock: Int64, _ nanoseconds: Int64, _ time: DateLayout.Time, _ writer: inout DigitWriter) -> Bool {
        let hour = clock / 3600
        writer.put(time.followsT ? UInt8(ascii: "T") : UInt8(ascii: " "))
        writer.put(time.hasHalves ? (hour + 11) % 12 + 1 : hour, isPadded: time.isPadded)
        writer.put(UInt8(ascii: ":"))
        writer.put(clock / 60 % 60, isPadded: true)
        if let digits = time.digits.map(Int.init) {
            guard digits <= 9, nanoseconds % Int64(bitPattern: wholePowersOfTen[9 - digits]) == 0 else { return false }
            writer.put(UInt8(ascii: ":"))
            writer.put(clock % 60, isPadded: true)
            if digits > 0 {
                writer.put(UInt8(ascii: "."))
                writer.put(nanoseconds / Int64(bitPattern: wholePowersOfTen[9 - digits]), isPadded: true, digits: digits)
            }
        } else if clock % 60 != 0 || nanoseconds != 0 {
            return false
        }
        if time.hasHalves {
            writer.put(UInt8(ascii: " "))
            let lower: UInt8 = time.isLower ? 32 : 0
            writer.put((hour < 12 ? UInt8(ascii: "A") : UInt8(ascii: "P")) | lower)
            writer.put(UInt8(ascii: "M") | lower)
        }
        return true
    }
}
