import FirnBytes

/// A part of a date, by the names of DuckDB and PostgreSQL.
enum SQLDatePart: String, CaseIterable {
    case millennium, century, decade, year, isoyear, quarter, month, week, day, hour, minute, second, millisecond, microsecond
    case dow, isodow, doy, epoch

    private static let others: [String: SQLDatePart] = [
        "millennia": .millennium, "centuries": .century, "c": .century, "yr": .year, "y": .year, "yrs": .year, "mon": .month,
        "mons": .month, "w": .week, "weekofyear": .week, "d": .day, "dayofmonth": .day, "h": .hour, "hr": .hour, "hrs": .hour, "m": .minute,
        "min": .minute, "mins": .minute, "s": .second, "sec": .second, "secs": .second, "ms": .millisecond, "msec": .millisecond,
        "us": .microsecond, "usec": .microsecond, "dayofweek": .dow, "weekday": .dow, "dayofyear": .doy,
    ]

    /// Reads a name, without regard to case, in singular or plural.
    init?(_ name: String) {
        let name = NameTable.folded(name)
        if let known = SQLDatePart(rawValue: name) ?? SQLDatePart.others[name] {
            self = known
        } else if name.hasSuffix("s"), let known = SQLDatePart(rawValue: String(name.dropLast())), known.isLength {
            self = known
        } else {
            return nil
        }
    }

    /// Whether it is a length of time.
    var isLength: Bool {
        switch self {
        case .dow, .isodow, .doy, .epoch: false
        default: true
        }
    }

    /// The number of months, if it consists of months.
    var months: Int? {
        switch self {
        case .millennium: 12_000
        case .century: 1200
        case .decade: 120
        case .year: 12
        case .quarter: 3
        case .month: 1
        default: nil
        }
    }

    /// The number of nanoseconds, if it is always the same.
    var nanoseconds: Int? {
        switch self {
        case .week: 7 * SQLDate.day
        case .day: SQLDate.day
        case .hour: 3600 * SQLDate.second
        case .minute: 60 * SQLDate.second
        case .second: SQLDate.second
        case .millisecond: 1_000_000
        case .microsecond: 1000
        default: nil
        }
    }
}

extension SQLCall {
    /// Returns the part that an argument names; nil for NULL.
    func part(_ index: Int) throws(FirnError) -> SQLDatePart? {
        guard let bytes = text(index) else { return nil }
        let name = String(decoding: bytes.prefix(100), as: UTF8.self)
        if let part = SQLDatePart(name) { return part }
        let known = SQLDatePart.allCases.map(\.rawValue)
        throw error(
            "has no part \"\(name)\" of a date",
            advice: Suggestion.nearest(to: name, among: known).map { "did you mean '\($0)'?" }
                ?? (SQLDate(bytes) != nil ? "the part is the first argument: \(function.usage)" : "the parts are \(known.listed())"))
    }
}
