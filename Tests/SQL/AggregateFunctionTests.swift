import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import FirnTable
import Testing

/// Aggregates that SQLite lacks, against computations over arrays.
@Suite struct AggregateFunctionTests {
    /// A row of the table `v`: its number, a group, a whole number, a double and a text.
    struct Row {
        var id: Int, group: Int, i: Int?, d: Double?, s: String?
    }

    static func rows(_ count: Int, _ random: inout RandomTables) -> [Row] {
        (0..<count).map { id in
            Row(
                id: id, group: random.number(0...6), i: random.chance(20) ? nil : random.number(-9...20),
                d: random.chance(20) ? nil : 1e6 + Double(random.number(-1000...1000)) / 8,
                s: random.chance(20) ? nil : ["a", "b", "ab", "ü", ""][random.number(0...4)])
        }
    }

    static func connection(_ rows: [Row]) throws -> SQLConnection {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute("CREATE TEMP TABLE v(id INTEGER, g INTEGER, i INTEGER, d REAL, s TEXT)")
        func sql(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "NULL" }
        for start in stride(from: 0, to: rows.count, by: 200) {
            let lines = rows[start..<min(start + 200, rows.count)].map {
                "(\($0.id), \($0.group), \(sql($0.i)), \(sql($0.d)), \(sql($0.s.map { "'\($0)'" })))"
            }
            try connection.execute("INSERT INTO v VALUES \(lines.joined(separator: ", "))")
        }
        return connection
    }

    /// The expected values by the name of the call, in plain arithmetic.
    private static let expected: [(call: String, value: @Sendable ([Row]) -> Value)] = [
        ("median(i)", { quantile($0.compactMap(\.i).map(Double.init), 0.5) }), ("median(d)", { quantile($0.compactMap(\.d), 0.5) }),
        ("quantile(d, 0.9)", { quantile($0.compactMap(\.d), 0.9) }), ("quantile_cont(d, 0)", { quantile($0.compactMap(\.d), 0) }),
        ("percentile_cont(i, 0.25)", { quantile($0.compactMap(\.i).map(Double.init), 0.25) }),
        (
            "quantile_disc(s, 0.5)",
            { rows in
                let texts = rows.compactMap(\.s).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
                return texts.isEmpty ? .null : .string(texts[(texts.count + 1) / 2 - 1])
            }
        ),
        ("var_samp(d)", { variance($0.compactMap(\.d), isSample: true).map(Value.double) ?? .null }),
        ("var_pop(i)", { variance($0.compactMap(\.i).map(Double.init), isSample: false).map(Value.double) ?? .null }),
        ("stddev(d)", { variance($0.compactMap(\.d), isSample: true).map { .double($0.squareRoot()) } ?? .null }),
        ("stddev_pop(d)", { variance($0.compactMap(\.d), isSample: false).map { .double($0.squareRoot()) } ?? .null }),
        ("covar_samp(d, i)", { covariance($0, isSample: true).map(Value.double) ?? .null }),
        ("covar_pop(d, i)", { covariance($0, isSample: false).map(Value.double) ?? .null }),
        (
            "mode(s)",
            { rows in
                var counts: [String: Int] = [:]
                for text in rows.compactMap(\.s) { counts[text, default: 0] += 1 }
                let most = counts.values.max()
                return counts.filter { $0.value == most }.keys.min().map(Value.string) ?? .null
            }
        ),
        (
            "string_agg(s, '; ')", { rows in rows.contains { $0.s != nil } ? .string(rows.compactMap(\.s).joined(separator: "; ")) : .null }
        ),
        ("count_if(i > 3)", { .int(Int64($0.compactMap(\.i).count { $0 > 3 })) }),
        ("bool_and(i > 3)", { rows in truth(rows.compactMap(\.i)) { $0.allSatisfy { $0 > 3 } } }),
        ("bool_or(i > 3)", { rows in truth(rows.compactMap(\.i)) { $0.contains { $0 > 3 } } }),
    ]

    /// Aggregates that depend on single rows, which moving windows do not have.
    private static let expectedOfRows: [(call: String, value: @Sendable ([Row]) -> Value)] = [
        ("any_value(s)", { rows in rows.compactMap(\.s).first.map(Value.string) ?? .null }),
        ("first(i)", { rows in rows.first?.i.map { .int(Int64($0)) } ?? .null }),
        ("last(i)", { rows in rows.last?.i.map { .int(Int64($0)) } ?? .null }),
        ("arg_max(s, i)", { rows in best(rows) { $0 > $1 } }), ("min_by(s, i)", { rows in best(rows) { $0 < $1 } }),
        (
            "product(i)",
            { rows in rows.contains { $0.i != nil } ? .double(rows.compactMap(\.i).reduce(1.0) { $0 * Double($1) }) : .null }
        ),
    ]

    private static func truth(_ numbers: [Int], _ body: ([Int]) -> Bool) -> Value { numbers.isEmpty ? .null : .int(body(numbers) ? 1 : 0) }

    private static func best(_ rows: [Row], _ isBetter: (Int, Int) -> Bool) -> Value {
        var best: (s: String, i: Int)?
        for row in rows {
            guard let s = row.s, let i = row.i else { continue }
            if best.map({ isBetter(i, $0.i) }) ?? true { best = (s, i) }
        }
        return best.map { .string($0.s) } ?? .null
    }

    private static func quantile(_ values: [Double], _ share: Double) -> Value {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .null }
        let rank = share * Double(sorted.count - 1), low = Int(rank.rounded(.down)), high = Int(rank.rounded(.up))
        return .double(sorted[low] + (sorted[high] - sorted[low]) * (rank - Double(low)))
    }

    private static func variance(_ values: [Double], isSample: Bool) -> Double? {
        guard values.count > (isSample ? 1 : 0) else { return nil }
        let mean = values.reduce(0, +) / Double(values.count)
        return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - (isSample ? 1 : 0))
    }

    private static func covariance(_ rows: [Row], isSample: Bool) -> Double? {
        let pairs = rows.compactMap { row in row.i.flatMap { i in row.d.map { (Double(i), $0) } } }, n = Double(pairs.count)
        guard pairs.count > (isSample ? 1 : 0) else { return nil }
        let x = pairs.reduce(0) { $0 + $1.0 } / n, y = pairs.reduce(0) { $0 + $1.1 } / n
        return pairs.reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) } / (isSample ? n - 1 : n)
    }

    static func isNear(_ a: Value, _ b: Value) -> Bool {
        guard case .double(let x) = a, case .double(let y) = b else { return a == b }
        return x == y || (x - y).magnitude <= 1e-9 * max(1, x.magnitude, y.magnitude)
    }

    private func check(
        _ calls: [(call: String, value: @Sendable ([Row]) -> Value)], _ found: [[Value]], _ groups: [[Row]], _ comment: String
    ) {
        #expect(found.count == groups.count, "\(comment)")
        for (row, group) in zip(found, groups) {
            for (value, call) in zip(row, calls) {
                let wanted = call.value(group)
                #expect(AggregateFunctionTests.isNear(value, wanted), "\(call.call): \(value), not \(wanted), \(comment)")
            }
        }
    }

    @Test(arguments: Seed.first(6)) func `aggregates of groups are those that plain arithmetic over arrays gives`(seed: Seed) throws {
        var random = RandomTables(seed)
        let rows = AggregateFunctionTests.rows(seed.number == 1 ? 5 : 400, &random)
        let connection = try AggregateFunctionTests.connection(rows), calls = Self.expected + Self.expectedOfRows
        let list = calls.map(\.call).joined(separator: ", ")
        let groups = Dictionary(grouping: rows, by: \.group).sorted { $0.key < $1.key }.map(\.value)
        check(calls, try connection.all("SELECT \(list) FROM (SELECT * FROM v ORDER BY id) GROUP BY g ORDER BY g"), groups, "\(seed)")
        check(calls, try connection.all("SELECT \(list) FROM v"), [rows], "\(seed)")
        check(calls, try connection.all("SELECT \(list) FROM v WHERE id < 0"), [[]], "\(seed)")
        let filtered = calls.map { "\($0.call) FILTER (WHERE id % 3 = 0)" }.joined(separator: ", ")
        check(calls, try connection.all("SELECT \(filtered) FROM v"), [rows.filter { $0.id % 3 == 0 }], "FILTER, \(seed)")
    }

    @Test(arguments: Seed.first(4)) func `aggregates are window functions`(seed: Seed) throws {
        var random = RandomTables(seed)
        let rows = AggregateFunctionTests.rows(120, &random), connection = try AggregateFunctionTests.connection(rows)
        let (before, after) = (random.number(0...9), random.number(0...4))
        for (calls, frame) in [
            (Self.expected, "\(before) PRECEDING AND \(after) FOLLOWING"),
            (Self.expected + Self.expectedOfRows, "UNBOUNDED PRECEDING AND \(after) FOLLOWING"),
        ] {
            let list = calls.map { "\($0.call) OVER (ORDER BY id ROWS BETWEEN \(frame))" }.joined(separator: ", ")
            let windows = rows.indices.map { at in
                Array(rows[(frame.hasPrefix("UNB") ? 0 : max(0, at - before))...min(rows.count - 1, at + after)])
            }
            check(calls, try connection.all("SELECT \(list) FROM v ORDER BY id"), windows, "\(frame), \(seed)")
        }
        let whole = try connection.all("SELECT id, median(i) OVER (PARTITION BY g) FROM v ORDER BY id")
        for (row, found) in zip(rows, whole) {
            let wanted = Self.quantile(rows.filter { $0.group == row.group }.compactMap(\.i).map(Double.init), 0.5)
            #expect(Self.isNear(found[1], wanted), "\(seed)")
        }
        do {
            _ = try connection.all("SELECT any_value(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM v")
            Issue.record("a moving window is not refused")
        } catch let error as FirnError { #expect(error.message.contains("window whose first row moves"), "\(error)") }
    }

    @Test func `DISTINCT aggregates use each value once`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute("CREATE TEMP TABLE v(x); INSERT INTO v VALUES (1), (1), (1), (2), (NULL), (9)")
        #expect(
            try connection.all("SELECT median(DISTINCT x), product(DISTINCT x), string_agg(DISTINCT x), median(x) FROM v") == [
                [.double(2), .double(18), .string("1,2,9"), .double(1)]
            ])
    }

    @Test func `correlation and regression are exact for points on a line`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute("CREATE TEMP TABLE v(x, y); INSERT INTO v VALUES (1, 5), (2, 7), (4, 11), (NULL, 3), (5, NULL)")
        let row = try connection.all("SELECT corr(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), corr(x, 1) FROM v")[0]
        for (found, wanted) in zip(row, [Value.double(1), .double(2), .double(3), .double(1), .null]) {
            #expect(Self.isNear(found, wanted), "\(row)")
        }
    }

    @Test func `the variance of large numbers with small differences is exact`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute("CREATE TEMP TABLE v(x); INSERT INTO v VALUES (1e9 + 4), (1e9 + 7), (1e9 + 13), (1e9 + 16)")
        #expect(try connection.all("SELECT var_samp(x), var_samp(-x * 1e6) FROM v") == [[.double(30), .double(3e13)]])
        #expect(
            try connection.all("SELECT stddev(x), stddev_pop(x), stddev(9e999) FROM v WHERE x = 1e9 + 4") == [[.null, .double(0), .null]])
        #expect(
            try connection.all("SELECT stddev(x), median(x) FROM (SELECT 9e999 AS x UNION ALL SELECT 1)") == [[.null, .double(.infinity)]])
    }

    @Test func `values that are not numbers and shares outside 0 to 1 are errors`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for (sql, part) in [
            ("SELECT median('x')", "median takes numbers, and \"x\" is not a number"), ("SELECT stddev(x'00')", "not blobs"),
            ("SELECT quantile(1, 1.5)", "takes a share from 0 to 1, not 1.5"), ("SELECT quantile(1, -1)", "share from 0 to 1"),
            ("SELECT quantile(x, x) FROM (SELECT 0 AS x UNION ALL SELECT 1)", "one share for all rows"),
        ] {
            do {
                _ = try connection.all(sql)
                Issue.record("no error: \(sql)")
            } catch let error as FirnError { #expect(error.message.contains(part), "\(sql): \(error)") }
        }
        #expect(try connection.all("SELECT median('12.5'), quantile(1, NULL), mode(NULL)") == [[.double(12.5), .null, .null]])
    }

    @Test func `1 and 1.0 are one value, and numbers, texts and blobs have the order of SQL`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute("CREATE TEMP TABLE v(x); INSERT INTO v VALUES ('b'), (1), (1.0), (x'00'), ('a'), (NULL), (9007199254740993)")
        #expect(
            try connection.all("SELECT mode(x), quantile_disc(x, 0), quantile_disc(x, 1), arg_max(1, x) FROM v") == [
                [.int(1), .int(1), .data([0]), .int(1)]
            ])
        #expect(
            try connection.all("SELECT greatest(9007199254740992.0, 9007199254740993, NULL), least('a', 5, x'00'), greatest(NULL)") == [
                [.int(9_007_199_254_740_993), .int(5), .null]
            ])
    }
}
