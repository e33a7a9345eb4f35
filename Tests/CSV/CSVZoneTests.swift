import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Dates with a time of day as in ISO 8601, with zones and fractions of seconds.
@Suite struct CSVZoneTests {
    private func table(_ cells: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> Table {
        let text = "x,n\n" + cells.map { "\($0),1\n" }.joined(), table = try Table(text)
        #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
        return table
    }

    /// Checks that a column with these cells has a notation, no original texts, and the same bytes when it is written.
    private func check(
        _ cells: [String], _ followsT: Bool, _ zone: DateTimeLayout.Zone, _ fraction: DateTimeLayout.Fraction, _ quarters: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let table = try table(cells, sourceLocation: sourceLocation)
        let layout = DateTimeLayout(followsT: followsT, zone: zone, fraction: fraction, quarters: quarters)
        #expect(table.types == ["date", "int"], sourceLocation: sourceLocation)
        #expect(table.notations[0] == layout.notation, sourceLocation: sourceLocation)
    }

    private func seconds(_ table: Table) -> [Int64] {
        table.rows.map { if case .date(let date) = $0[0] { date.seconds } else { Int64.min } }
    }

    @Test func `a column of dates in one zone has its notation`() throws {
        try check(["2024-01-31T10:00:00+02:00", "2024-07-31T10:00:00+02:00"], true, .colon, .fixed(0), 8)
        try check(["2024-01-31T10:00:00.250-0800", "2024-07-31T10:00:00.000-0800"], true, .digits, .fixed(3), -32)
        try check(["2024-01-31 10:00:00+00:00", "2024-07-31 10:00:00+00:00"], false, .colon, .fixed(0))
        try check(["2024-01-31 10:00:00.123456+05:30", "2024-07-31 10:00:00.000000+05:30"], false, .colon, .fixed(6), 22)
        try check(["2024-01-31 10:00:00.25+00", "2024-07-31 10:00:00+00"], false, .hours, .needed)
        try check(["2024-01-31 10:00:00 +0200", "2024-07-31 10:00:00 +0200"], false, .spacedDigits, .fixed(0), 8)
        try check(["2024-01-31 10:00:00.1234567 +02:00", "2024-07-31 10:00:00.0000000 +02:00"], false, .spacedColon, .fixed(7), 8)
        try check(["2024-01-31 10:00:00 UTC", "2024-07-31 10:00:00 UTC"], false, .utc, .fixed(0))
        try check(["2024-01-31 10:00:00.5Z", "2024-07-31 10:00:00Z"], false, .zulu, .needed)
        let instants = try table(["2024-03-01T00:30:00+02:00", "2024-02-29T14:30:00-0800", "2024-02-29T22:30:00Z"])
        #expect(instants.types == ["date", "int", "string?"] && Set(seconds(instants)) == [1_709_245_800])
        // With and without a zone.
        #expect(try table(["2024-03-01T00:30:00+02:00", "2024-03-01T00:30:00"]).types[0] == "string")
    }

    @Test func `a fraction of the second may be left out where it is zero`() throws {
        try check(["2024-01-31T10:00:00", "2024-01-31T10:00:00.120000"], true, .none, .noneOrSix)
        try check(["2024-01-31T10:00:00", "2024-01-31T10:00:00.12", "2024-01-31T10:00:00.5"], true, .none, .needed)
        try check(["2024-01-31T10:00:00Z", "2024-01-31T10:00:00.12Z"], true, .zulu, .needed)
        try check(["2024-01-31 10:00:00", "2024-01-31 10:00:00.12"], false, .none, .needed)
        try check(["2024-01-31T10:00:00Z", "2024-01-31T10:00:00.120Z", "2024-01-31T10:00:00.000125Z"], true, .zulu, .threes)
        // One of twenty has another number of digits: its text is kept.
        let some = (10..<30).map { "2024-01-\($0)T10:00:00.2\($0)Z" }
        let mixed = try table(some + ["2024-01-31T10:00:00.10Z"])
        #expect(mixed.types == ["date", "int", "string?"] && mixed.notations[0] == .dateTimeZ(3))
        #expect(mixed.rows[20][2] == .string("2024-01-31T10:00:00.10Z") && mixed.rows[19][2] == .null)
        // Half of them are too many.
        let many = try table(["2024-01-31T10:00:00.10Z", "2024-01-31T10:00:00.125Z"])
        #expect(many.types[0] == "string")
        #expect(many.reader.remarks.contains { $0.contains("\"x\" is text: the seconds of its dates have different numbers of digits") })
    }

    @Test func `a date in another zone than most keeps its zone alone`() throws {
        let cells = [
            "2024-03-31T01:59:59+01:00", "2024-03-31T03:00:00+02:00", "2024-03-31T03:00:01+02:00", "2024-03-31T01:00:02Z",
            "2024-03-31T05:45:03+04:45", "2024-03-31T03:00:04.50+02:00", "2024-03-31T06:30:05+0530",
        ]
        let most = (10..<60).map { "2024-03-31T03:01:\($0)+02:00" }
        let table = try table(cells + most)
        #expect(table.types == ["date", "int", "string?"])
        #expect(table.notations[0] == DateTimeLayout(followsT: true, zone: .colon, fraction: .fixed(0), quarters: 8).notation)
        #expect(
            table.rows[..<7].map { $0[2] }
                == [
                    .string("+01:00"), .null, .null, .string("Z"), .string("+04:45"), .string("2024-03-31T03:00:04.50+02:00"),
                    .string("+0530"),
                ])
        #expect(seconds(table)[..<7].map { $0 - 1_711_846_799 } == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `columns of any mixture of zones, fractions and other texts are written with the same bytes`() throws {
        var random = Random(seed: 11)
        for seed in 0..<120 {
            let zones = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                ["Z", "+02:00", "-08:00", "+0530", "+01", " UTC", " +0200", " -03:30", "", "-00:00", "+02:07"].randomElement(
                    using: &random)!
            }
            let fractions = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                ["", ".5", ".50", ".123", ".120000", ".000001", ".123456789", ".00000000"].randomElement(using: &random)!
            }
            let separators = seed % 5 == 0 ? ["T", " "] : seed % 2 == 0 ? ["T"] : [" "], odd = seed % 3 == 0 ? 0.0005 : 0
            let cells = (0..<[3, 30, 2500][seed % 3]).map { i in
                if Double.random(in: 0..<1, using: &random) < odd { return ["NA", "Z", "+02:00", "x", "2024-02-30T00:00:00Z"][i % 5] }
                let day = 10 + i % 18, hour = 10 + i % 13
                return "20\(10 + i % 80)-1\(i % 3)-\(day)" + separators.randomElement(using: &random)! + "\(hour):\(10 + i % 49):07"
                    + fractions.randomElement(using: &random)! + zones.randomElement(using: &random)!
            }
            _ = try table(cells)
        }
    }
}
