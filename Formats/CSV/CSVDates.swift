import FirnExchange
import FirnTable

/// What the text of a date determines of its notation.
struct CSVDateForm {
    /// What must be the same in all dates of a notation.
    enum Form: Hashable, Sendable {
        case day, month
        /// A day with a time of day as in ISO 8601, after `T` or a space.
        case time(followsT: Bool, hasZone: Bool)
        /// Numbers with a separator. The time is without padding.
        case layout(DateLayout.Separator, isYearFirst: Bool, hasShortYear: Bool, DateLayout.Time?)
    }

    let form: Form
    /// For days with a time of day: how it is written, and the ways to write its fractional digits.
    var time: DateText.TimeForm?
    var fractions = DateFractions.all
    /// For layouts with the year last: whether the date exists with the month first, and with the day first.
    var canBeMonthFirst = true, canBeDayFirst = true
    var canBePadded = true, canBeUnpadded = true
    var hourCanBePadded = true, hourCanBeUnpadded = true
    /// For months: whether the text cannot be a pair of years such as 2009-10.
    var isCertain = true

    init?(_ text: UnsafeRawBufferPointer) {
        guard text.count >= 6, text.count <= 40, text[0] &- 48 <= 9 else { return nil }
        if let reading = DateText.parse(text) {
            guard let time = reading.time else {
                form = .day
                return
            }
            form = .time(followsT: time.followsT, hasZone: time.zone != .none)
            self.time = time
            fractions = DateFractions(digits: time.digits, nanoseconds: reading.nanoseconds)
            return
        }
        if let month = DateText.parseMonth(text) {
            form = .month
            let parts = CivilDate.date(ofDay: month / 86_400)
            isCertain = parts.month != (parts.year + 1) % 100
            return
        }
        guard let fields = DateFields(text) else { return nil }
        if fields.isYearFirst {
            guard fields.date(.yearMonthDay) != nil else { return nil }
        } else {
            // Dates with points begin with the day.
            canBeMonthFirst = fields.separator != .point && fields.date(.monthDayYear, shortYears: true) != nil
            canBeDayFirst = fields.date(.dayMonthYear, shortYears: true) != nil
            guard canBeMonthFirst || canBeDayFirst else { return nil }
        }
        canBePadded = fields.canBePadded
        canBeUnpadded = fields.canBeUnpadded
        var time = fields.time
        time?.isPadded = true
        if time != nil {
            hourCanBePadded = fields.hourCanBePadded
            hourCanBeUnpadded = fields.hourCanBeUnpadded
        }
        form = .layout(fields.separator, isYearFirst: fields.isYearFirst, hasShortYear: fields.hasShortYear, time)
    }
}

extension CSVDateForm {
    /// Whether a text is a date in some form.
    static func isDate(_ text: some Collection<UInt8>) -> Bool { Array(text).withBytes { CSVDateForm($0) != nil } }
}

/// The dates of a form, and how many of them allow each of the properties that the form leaves open.
struct CSVDateCount: Sendable {
    let form: CSVDateForm.Form
    private(set) var sample = CSVSample()
    private(set) var monthFirst = 0, dayFirst = 0
    private var certain = 0
    private(set) var padded = 0, unpadded = 0, hourPadded = 0, hourUnpadded = 0
    /// For days with a time of day.
    private var times = CSVTimeCount()

    init(form: CSVDateForm.Form) { self.form = form }

    mutating func note(_ date: CSVDateForm, _ cell: CSVCellText) {
        sample.note(cell)
        if date.canBeMonthFirst { monthFirst += 1 }
        if date.canBeDayFirst { dayFirst += 1 }
        if date.canBePadded { padded += 1 }
        if date.canBeUnpadded { unpadded += 1 }
        if date.hourCanBePadded { hourPadded += 1 }
        if date.hourCanBeUnpadded { hourUnpadded += 1 }
        if date.isCertain { certain += 1 }
        if let time = date.time { times.note(CSVTime(form: time, fractions: date.fractions, length: cell.count)) }
    }

    /// Counts more dates that allow all properties.
    mutating func add(_ more: Int) {
        sample.add(more)
        monthFirst += more
        dayFirst += more
        padded += more
        unpadded += more
        hourPadded += more
        hourUnpadded += more
        certain += more
    }

    /// How the last date was written, if it has a time of day.
    var lastTime: CSVTime? { times.last }

    /// Counts more dates that are written as the last one.
    mutating func add(times more: Int) {
        add(more)
        times.add(more)
    }

    mutating func merge(_ later: CSVDateCount, after rows: Int) {
        sample.merge(later.sample, after: rows)
        monthFirst += later.monthFirst
        dayFirst += later.dayFirst
        padded += later.padded
        unpadded += later.unpadded
        hourPadded += later.hourPadded
        hourUnpadded += later.hourUnpadded
        certain += later.certain
        times.merge(later.times)
    }

    /// The number of dates with another zone than most.
    var otherZones: Int { times.otherZones }

    /// The notations that write all of the dates, apart from their zones, if they have a time of day as in ISO 8601.
    var commonTimes: [Notation] {
        guard case .time(let followsT, _) = form else { return [] }
        return times.common(followsT: followsT)
    }

    /// Why dates are not read as such.
    enum Doubt { case order, mixed, shortYear, season, fractions }

    /// Returns the notation of the dates, and how many have another spelling; or why they are not read as dates. `wanted` are the notations
    /// that were requested: they decide what the dates leave open.
    func notation(wanted: [Notation]) -> Result<(notation: Notation, unusual: Int), CSVDoubt> {
        switch form {
        case .day: return .success((.dateOnly, 0))
        case .time(let followsT, _):
            // Many original texts would take more than the texts of the column.
            guard let (notation, unusual) = times.notation(followsT: followsT), unusual <= sample.count / 10 else {
                return .failure(CSVDoubt(doubt: .fractions))
            }
            return .success((notation, unusual))
        case .month:
            guard certain > 0 || wanted.contains(.yearMonth) else { return .failure(CSVDoubt(doubt: .season)) }
            return .success((.yearMonth, 0))
        case .layout(let separator, let isYearFirst, let hasShortYear, let time):
            let count = sample.count
            let asked = wanted.compactMap(DateLayout.init).filter {
                $0.separator == separator && ($0.order == .yearMonthDay) == isYearFirst && $0.hasShortYear == hasShortYear
            }
            guard !hasShortYear || !asked.isEmpty else { return .failure(CSVDoubt(doubt: .shortYear)) }
            var order = DateLayout.Order.yearMonthDay
            if !isYearFirst {
                if asked.count == 1 || separator == .point {
                    order = asked.first?.order ?? .dayMonthYear
                } else if monthFirst == count, dayFirst < count {
                    order = .monthDayYear
                } else if dayFirst == count, monthFirst < count {
                    order = .dayMonthYear
                } else {
                    return .failure(CSVDoubt(doubt: monthFirst == count && dayFirst == count ? .order : .mixed))
                }
            }
            let fitting = order == .monthDayYear ? monthFirst : order == .dayMonthYear ? dayFirst : count
            guard fitting == count else { return .failure(CSVDoubt(doubt: .mixed)) }
            var layout = DateLayout(order, separator, isPadded: padded >= unpadded, time: time)
            layout.hasShortYear = hasShortYear
            layout.time?.isPadded = hourPadded >= hourUnpadded
            let unusual = count - max(padded, unpadded) + (time == nil ? 0 : count - max(hourPadded, hourUnpadded))
            return .success((layout.notation, unusual))
        }
    }
}

/// Why dates are not read as dates.
struct CSVDoubt: Error { let doubt: CSVDateCount.Doubt }

/// The dates of a column that are counted without an examination of their form: days, if the column begins with them, and times of day that
/// are written as the last one.
struct CSVExpectedDates {
    private let expectsDays: Bool
    private let time: CSVTime?
    private var days = 0, times = 0

    init(_ odd: CSVOddCells?) {
        expectsDays = odd?.beginsWithDays ?? false
        time = odd?.lastTime
    }

    /// Counts a text if it is such a date.
    @inline(__always)
    mutating func take(_ text: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        if expectsDays, length == 10, DateText.day(.init(start: text, count: length)) != nil {
            days &+= 1
            return true
        }
        guard let time, length == time.length, time.isWritten(text, length) else { return false }
        times &+= 1
        return true
    }

    /// Adds the dates that were counted, before others are noted.
    @inline(__always)
    mutating func flush(to odd: inout CSVOddCells?) {
        if days > 0 { odd?.add(days: days) }
        if times > 0 { odd?.add(times: times) }
        (days, times) = (0, 0)
    }
}

/// How a date with a time of day is written.
struct CSVTime: Equatable, Sendable {
    let form: DateText.TimeForm
    let fractions: DateFractions
    let length: Int

    /// Whether a text is a date that is written in the same way.
    @inline(__always)
    func isWritten(_ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard let date = DateText.parse(UnsafeRawBufferPointer(start: text, count: count)), date.time == form else { return false }
        return form.digits == 0 || DateFractions(digits: form.digits, nanoseconds: date.nanoseconds) == fractions
    }
}

/// The number of times that each of a few keys occurs.
private struct Tally<Key: Equatable & Sendable>: Sendable {
    private(set) var entries: [(key: Key, count: Int)] = []
    /// The key that was counted last: most often it comes again.
    private var last = 0

    mutating func add(_ key: Key, _ count: Int = 1) {
        if last < entries.count, entries[last].key == key {
            entries[last].count += count
            return
        }
        if let index = entries.indices.first(where: { entries[$0].key == key }) {
            last = index
        } else {
            last = entries.count
            entries.append((key, 0))
        }
        entries[last].count += count
    }

    mutating func merge(_ later: Tally) { for (key, count) in later.entries { add(key, count) } }

    var count: Int { entries.reduce(0) { $0 + $1.count } }
    /// The key that occurs most often: of several, the first.
    var main: (key: Key, count: Int)? { entries.reduce(entries.first) { $1.count > $0?.count ?? 0 ? $1 : $0 } }
}

/// How the times of day of a column are written.
private struct CSVTimeCount: Sendable {
    private struct Zone: Equatable {
        let kind: DateTimeLayout.Zone
        let quarters: Int
    }

    /// The ways to write fractional digits that each date allows, and its zone.
    private var fractions = Tally<DateFractions>(), zones = Tally<Zone>()
    private(set) var last: CSVTime?

    mutating func note(_ time: CSVTime, _ count: Int = 1) {
        fractions.add(time.fractions, count)
        zones.add(Zone(kind: time.form.zone, quarters: time.form.quarters), count)
        last = time
    }

    /// Counts more dates that are written as the last one.
    mutating func add(_ count: Int) { if let last { note(last, count) } }

    mutating func merge(_ later: CSVTimeCount) {
        fractions.merge(later.fractions)
        zones.merge(later.zones)
    }

    /// The number of dates with another zone than most.
    var otherZones: Int { zones.count - (zones.main?.count ?? 0) }

    /// The layouts that dates can have, in the order of their numbers, and how many dates have the fractional digits of each.
    private func layouts(followsT: Bool) -> [(notation: Notation, count: Int)] {
        guard let zone = zones.main?.key else { return [] }
        return DateTimeLayout.Fraction.all.enumerated().compactMap { index, fraction in
            let layout = DateTimeLayout(followsT: followsT, zone: zone.kind, fraction: fraction, quarters: zone.quarters)
            let way = DateFractions(rawValue: 1 << UInt16(index))
            let count = fractions.entries.reduce(0) { $0 + ($1.key.contains(way) ? $1.count : 0) }
            return layout.notation.map { ($0, count) }
        }
    }

    /// The notations that write all of the dates, apart from their zones.
    func common(followsT: Bool) -> [Notation] {
        layouts(followsT: followsT).filter { $0.count == fractions.count }.map(\.notation)
    }

    /// Returns the notation that most dates have, and how many have other fractional digits; nil if no notation writes them.
    func notation(followsT: Bool) -> (notation: Notation, unusual: Int)? {
        let layouts = layouts(followsT: followsT)
        return layouts.reduce(layouts.first) { $1.count > $0?.count ?? 0 ? $1 : $0 }.map { ($0.notation, fractions.count - $0.count) }
    }
}
