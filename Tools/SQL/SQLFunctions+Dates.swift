import FirnBytes

/// Functions of dates. A text that is not a date is NULL, as in SQLite's own functions.
extension SQLFunctions {
    static let dates: [SQLFunction] =
        [
            row("date_trunc", 2...2, "date_trunc('month', d)") { call throws(FirnError) in
                guard let part = try call.part(0), let date = call.date(1) else { return .null }
                return date.truncated(to: part).value
            },
            row("date_add", 3...3, "date_add('month', 3, d)", body: add), row("dateadd", 3...3, "dateadd('month', 3, d)", body: add),
            row("date_diff", 3...3, "date_diff('day', a, b)") { call throws(FirnError) in try difference(call) { $0.boundaries(to: $1, $2) }
            },
            row("datediff", 3...3, "datediff('day', a, b)") { call throws(FirnError) in try difference(call) { $0.boundaries(to: $1, $2) }
            },
            row("date_sub", 3...3, "date_sub('year', a, b)") { call throws(FirnError) in try difference(call) { $0.whole(to: $1, $2) } },
            row("datesub", 3...3, "datesub('year', a, b)") { call throws(FirnError) in try difference(call) { $0.whole(to: $1, $2) } },
            row("date_part", 2...2, "date_part('year', d)", body: part), row("datepart", 2...2, "datepart('year', d)", body: part),
            row("make_date", 3...3, "make_date(2016, 9, 29)") { call throws(FirnError) in
                guard let year = try call.int(0), let month = try call.int(1), let day = try call.int(2) else { return .null }
                return SQLDate(year: year, month: month, day: day)?.value ?? .null
            },
            row("make_timestamp", 6...6, "make_timestamp(2016, 9, 29, 10, 30, 0.5)", body: makeTimestamp),
            row("last_day", 1...1, "last_day(d)") { call throws(FirnError) in
                guard let date = call.date(0), var last = date.truncated(to: .month).adding(1, .month) else { return .null }
                last.days -= 1
                last.isDay = true
                return last.value
            },
            row("monthname", 1...1, "monthname(d)") { call throws(FirnError) in
                call.date(0).map { .text(Array(SQLDateFormat.months[$0.civil.month - 1].utf8)) } ?? .null
            },
            row("dayname", 1...1, "dayname(d)") { call throws(FirnError) in
                call.date(0).map { .text(Array(SQLDateFormat.days[$0.isoWeekday - 1].utf8)) } ?? .null
            },
            row("strptime", 2...2, "strptime('29.09.2016', '%d.%m.%Y')") { call throws(FirnError) in
                guard let text = call.text(0), let format = call.text(1) else { return .null }
                if let date = try SQLDateFormat.read(text, format, call) { return date.value }
                throw call.error(
                    "cannot read \(SQLCall.quoted(text)) by the format \(SQLCall.quoted(format))",
                    advice: "try_strptime returns NULL for such texts")
            },
            row("try_strptime", 2...2, "try_strptime('29.09.2016', '%d.%m.%Y')") { call throws(FirnError) in
                guard let text = call.text(0), let format = call.text(1) else { return .null }
                return try SQLDateFormat.read(text, format, call)?.value ?? .null
            },
        ] + parts

    /// Functions of one part: `year(d)`.
    private static let parts: [SQLFunction] = [
        ("millennium", SQLDatePart.millennium), ("century", .century), ("decade", .decade), ("year", .year), ("isoyear", .isoyear),
        ("quarter", .quarter), ("month", .month), ("week", .week), ("weekofyear", .week), ("day", .day), ("dayofmonth", .day),
        ("dayofweek", .dow), ("weekday", .dow), ("isodow", .isodow), ("dayofyear", .doy), ("hour", .hour), ("minute", .minute),
        ("second", .second), ("millisecond", .millisecond), ("microsecond", .microsecond), ("epoch", .epoch),
    ].map { name, part in row(name, 1...1, "\(name)(d)") { call throws(FirnError) in call.date(0)?.part(part) ?? .null } }

    @Sendable private static func part(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let part = try call.part(0) else { return .null }
        return call.date(1)?.part(part) ?? .null
    }

    @Sendable private static func add(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let part = try call.length(0), let number = try call.int(1), let date = call.date(2) else { return .null }
        return date.adding(number, part)?.value ?? .null
    }

    private static func difference(_ call: SQLCall, _ body: (SQLDate, SQLDate, SQLDatePart) -> Int) throws(FirnError) -> SQLValue {
        guard let part = try call.length(0), let from = call.date(1), let to = call.date(2) else { return .null }
        return .int(Int64(body(from, to, part)))
    }

    @Sendable private static func makeTimestamp(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let year = try call.int(0), let month = try call.int(1), let day = try call.int(2), let hour = try call.int(3),
            let minute = try call.int(4), let seconds = try call.number(5)
        else { return .null }
        guard (0...23).contains(hour), (0...59).contains(minute), seconds >= 0, seconds < 60,
            var date = SQLDate(year: year, month: month, day: day)
        else { return .null }
        // Microseconds, which a double of seconds represents.
        date.time = (hour * 3600 + minute * 60) * SQLDate.second + min(59_999_999, Int((seconds * 1e6).rounded())) * 1000
        date.isDay = false
        return date.value
    }
}

extension SQLCall {
    /// Returns a date; nil for NULL, and for texts and numbers that are none.
    func date(_ index: Int) -> SQLDate? {
        guard case .text(let bytes) = value(index) else { return nil }
        return SQLDate(bytes)
    }

    /// Returns the length of time that an argument names; nil for NULL.
    fileprivate func length(_ index: Int) throws(FirnError) -> SQLDatePart? {
        guard let part = try part(index) else { return nil }
        guard part.isLength else { throw error("takes lengths of time, and \(part.rawValue) is none", advice: "write \(function.usage)") }
        return part
    }
}
