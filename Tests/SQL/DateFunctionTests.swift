import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import FirnTable
import Foundation
import Testing

/// Functions of dates, against SQLite's own date functions, Foundation's calendar, and laws that connect them.
@Suite struct DateFunctionTests {
    private static let parts = [
        "millennium", "century", "decade", "year", "isoyear", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond",
    ]

    private static func date(_ random: inout RandomTables) -> String {
        let day = String(format: "%04d-%02d-%02d", random.number(1600...9000), random.number(1...12), random.number(1...28))
        guard random.chance(70) else { return day }
        return day
            + String(format: " %02d:%02d:%02d", random.number(0...23), random.number(0...59), random.number(0...59))
            + ["", ".5", ".125"][random.number(0...2)]
    }

    @Test(arguments: Seed.first(3)) func `parts of dates are those of SQLite's own functions and of the ISO calendar`(seed: Seed) throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        var random = RandomTables(seed), calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for _ in 0..<200 {
            let date = Self.date(&random)
            let row = try connection.all(
                """
                SELECT year(?1), month(?1), day(?1), hour(?1), minute(?1), second(?1), dayofyear(?1), dayofweek(?1),
                    CAST(strftime('%Y', ?1) AS INT), CAST(strftime('%m', ?1) AS INT), CAST(strftime('%d', ?1) AS INT),
                    CAST(strftime('%H', ?1) AS INT), CAST(strftime('%M', ?1) AS INT), CAST(strftime('%S', ?1) AS INT),
                    CAST(strftime('%j', ?1) AS INT), CAST(strftime('%w', ?1) AS INT)
                """, [.string(date)])[0]
            #expect(Array(row[..<8]) == Array(row[8...]), "\(date)")
            let seconds = try connection.all(
                "SELECT CAST(strftime('%s', ?1) AS INT), epoch(?1), week(?1), isoyear(?1), isodow(?1)", [.string(date)])[0]
            guard case .int(let unix) = seconds[0], case .double(let epoch) = seconds[1] else {
                Issue.record("\(seconds)")
                return
            }
            #expect(epoch.rounded(.down) == Double(unix), "\(date)")
            let parts = calendar.dateComponents(
                [.weekOfYear, .yearForWeekOfYear, .weekday], from: Date(timeIntervalSince1970: Double(unix)))
            let weekday = ((parts.weekday ?? 0) + 5) % 7 + 1
            #expect(
                Array(seconds[2...]) == [
                    .int(Int64(parts.weekOfYear ?? 0)), .int(Int64(parts.yearForWeekOfYear ?? 0)), .int(Int64(weekday)),
                ], "\(date)")
        }
    }

    @Test(arguments: Seed.first(3)) func `truncated dates, differences and sums agree with each other`(seed: Seed) throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        var random = RandomTables(seed)
        for _ in 0..<150 {
            let a = Self.date(&random), b = Self.date(&random), part = Self.parts[random.number(0...Self.parts.count - 1)]
            let values = [Value.string(part), .string(a), .string(b)]
            let row = try connection.all(
                """
                SELECT date_trunc(?1, ?2) <= ?2, date_trunc(?1, date_trunc(?1, ?2)) = date_trunc(?1, ?2), length(date_trunc(?1, ?2)) > 9,
                    date_diff(?1, ?2, ?3) = -date_diff(?1, ?3, ?2), date_diff(?1, ?2, ?2) = 0,
                    datediff(?1, date_trunc(?1, ?2), ?3) = date_diff(?1, ?2, ?3), date_sub(?1, ?2, ?3) = -date_sub(?1, ?3, ?2)
                """, values)[0]
            #expect(row == [Value](repeating: .int(1), count: 7), "\(values): \(row)")
            guard part != "isoyear" else { continue }
            // The boundaries between the dates lead from the beginning of one part to that of the other.
            let moved = try connection.all(
                "SELECT datetime(date_add(?1, date_diff(?1, ?2, ?3), date_trunc(?1, ?2))), datetime(date_trunc(?1, ?3))", values)[0]
            #expect(moved[0] == moved[1], "\(values)")
            // The whole parts do not exceed the other date, and one more does.
            let (first, last) = a < b ? (a, b) : (b, a)
            let whole = try connection.all(
                """
                SELECT julianday(date_add(?1, date_sub(?1, ?2, ?3), ?2)) <= julianday(?3) + 1e-8,
                    julianday(date_add(?1, date_sub(?1, ?2, ?3) + 1, ?2)) > julianday(?3) - 1e-8 OR date_add(?1, date_sub(?1, ?2, ?3) + 1, ?2) IS NULL
                """, [.string(part), .string(first), .string(last)])[0]
            #expect(whole == [.int(1), .int(1)], "\(part) \(first) \(last)")
        }
    }

    @Test func `days stay days, and dates with a time keep it`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for (call, wanted) in [
            ("date_trunc('month', '2016-09-29')", "2016-09-01"), ("date_trunc('month', '2016-09-29 10:30:00.5')", "2016-09-01 00:00:00"),
            ("date_trunc('hour', '2016-09-29 10:30:00.5')", "2016-09-29 10:00:00"), ("date_trunc('week', '2016-10-02')", "2016-09-26"),
            ("date_trunc('quarter', '2016-09-29')", "2016-07-01"), ("date_trunc('decade', '2016-09-29')", "2010-01-01"),
            ("date_trunc('MONTHS', '2016-09-29T23:30:00-05:00')", "2016-09-01 00:00:00"),
            ("date_add('month', 1, '2020-01-31')", "2020-02-29"), ("date_add('day', -1, '2020-03-01 12:00:00')", "2020-02-29 12:00:00"),
            ("dateadd('hour', 25, '2020-02-28')", "2020-02-29 01:00:00"), ("last_day('2024-02-10 10:00:00')", "2024-02-29"),
            ("make_date(2016, 9, 29)", "2016-09-29"), ("make_timestamp(2016, 9, 29, 1, 2, 3.25)", "2016-09-29 01:02:03.25"),
            ("strptime('29.09.2016', '%d.%m.%Y')", "2016-09-29"),
            ("strptime('Sep 3 2016 1:05 PM', '%b %d %Y %I:%M %p')", "2016-09-03 13:05:00"),
            ("strptime('2016-09-29T01:30:00.25+02:00', '%Y-%m-%dT%H:%M:%S.%f%z')", "2016-09-28 23:30:00.25"),
            ("strptime('2016-366', '%Y-%j')", "2016-12-31"), ("monthname('2016-09-29')", "September"),
            ("dayname('2016-09-29')", "Thursday"),
            ("hour('10:30') || ':' || minute('10:30')", "10:30"),
        ] { #expect(try connection.all("SELECT \(call)") == [[.string(wanted)]], "\(call)") }
        for call in [
            "year('x')", "year(2016)", "year(NULL)", "date_trunc('year', 'now')", "make_date(2023, 2, 29)", "make_date(NULL, 1, 1)",
            "date_add('year', 9000, '2016-01-01')", "date_add('second', 9000000000000000000, '2016-01-01')",
            "date_trunc(NULL, '2016-01-01')",
            "try_strptime('x', '%Y')", "try_strptime('2016-13', '%Y-%m')", "last_day('2016-02-30')",
        ] { #expect(try connection.all("SELECT \(call)") == [[.null]], "\(call)") }
        for (call, part) in [
            ("date_trunc('mnth', '2016-01-01')", "did you mean 'month'?"), ("date_diff('dow', '2016-01-01', '2016-01-01')", "dow is none"),
            ("date_trunc('2016-01-01', 'month')", "the part is the first argument"), ("strptime('x', '%Y')", "cannot read \"x\""),
            ("strptime('x', '%Q')", "has no format %Q"),
        ] {
            do {
                _ = try connection.all("SELECT \(call)")
                Issue.record("no error: \(call)")
            } catch let error as FirnError {
                #expect("\(error.message) \(error.advice ?? "")".contains(part), "\(call): \(error) \(error.advice ?? "")")
            }
        }
    }

    @Test func `columns of dates and days are arguments of date functions`() throws {
        let type = TypeSchema(
            "Row",
            columns: [ColumnSchema("t", ColumnType(.date, optional: true)), ColumnSchema("day", ColumnType(.date), notation: .dateOnly)])
        let schema = Schema([type])
        let rows: [[Value]] = [
            [.date(Timestamp(seconds: 1_475_145_000, nanoseconds: 500_000_000)), .date(Timestamp(seconds: 1_475_107_200))],
            [.null, .date(Timestamp(seconds: 0))],
        ]
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        let table = MemoryTable(type, schema: schema, batches: [RandomTables.batch(rows, of: type, in: schema)])
        try connection.add(SQLFile(name: "memory", tables: [table]), type: "Row", as: "r")
        #expect(
            try connection.all("SELECT date_trunc('hour', t), date_trunc('year', day), date_diff('day', day, t) FROM r") == [
                [.string("2016-09-29 10:00:00"), .string("2016-01-01"), .int(0)], [.null, .string("1970-01-01"), .null],
            ])
        #expect(try connection.all("SELECT count(*) FROM r WHERE date_trunc('month', day) = '2016-09-01'") == [[.int(1)]])
    }
}
