import FirnKit
import Foundation
import Testing

/// Dates with zones in the command: queries, schemas, unions of files, other formats.
@Suite struct DateZoneTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        // Two days around the beginning of summer time.
        let rows = (0..<48).map { hour in
            let day = 30 + hour / 24, local = hour % 24
            return "\(hour),2024-03-\(day)T\(local < 10 ? "0" : "")\(local):30:00\(hour < 26 ? "+01:00" : "+02:00")\n"
        }
        try scratch.write("a.csv", "id,at\n" + rows.joined())
        try scratch.write("winter.csv", "id,at\n" + rows[..<26].joined())
        try scratch.write("summer.csv", "id,at\n" + rows[26...].joined())
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn").code == 0)
    }

    private func notation(_ name: String) throws -> String {
        try scratch.firn("schema", name).out.split(separator: "\n").first { $0.hasPrefix("at ") }.map(String.init) ?? ""
    }

    @Test func `dates in two zones are dates, and every format that is text gets each zone back`() throws {
        #expect(try notation("a.firn").hasSuffix("dateTime(T+02:00, 0)") || notation("a.firn").hasSuffix("dateTime(T+01:00, 0)"))
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "csv").out == scratch.read("a.csv"))
        let lines = try scratch.firn("convert", "a.firn", "-", "--to", "ndjson").out.split(separator: "\n")
        #expect(lines[25].hasSuffix("\"2024-03-31T01:30:00+01:00\"}") && lines[26].hasSuffix("\"2024-03-31T02:30:00+02:00\"}"))
    }

    @Test(
        arguments: [
            "at >= '2024-03-31T01:30:00+01:00'", "at >= '2024-03-31 00:30:00 UTC'", "at >= '2024-03-31 00:30:00'",
            "at >= '2024-03-31T00:30:00Z'",
            "at >= '2024-03-30T16:30:00-0800'", "at >= '2024-03-31 06:00:00.000 +05:30'", "at >= 2024-03-31T01:30:00+01:00",
            "at >= 2024-03-31T00:30:00Z AND id < 48", "at > 2024-03-31T00:29:59.999999999Z", "2024-03-31T00:30:00.0Z<=at",
        ])
    func `a query compares dates with dates in any zone`(predicate: String) throws {
        let run = try scratch.firn("query", "a.firn", predicate, "--agg", "count", "--format", "csv")
        #expect(run.out == "count\n23\n", "\(run.errors)")
    }

    @Test(arguments: ["'2024-03-31T01:30:00+25:00'", "'2024-03-31T01:30:00+01:00x'", "2024-03-31T01:30:00+1:00", "2024-03-31T00:30:00Zulu"])
    func `a text that is no zone is refused with its place`(constant: String) throws {
        let run = try scratch.firn("query", "a.firn", "at >= \(constant)")
        #expect(run.code == 2 && run.errors.contains("at character"), "\(run.out)\(run.errors)")
    }

    @Test func `files of one folder that differ in their zones are united without loss`() throws {
        for inputs in [["winter.csv", "summer.csv"], ["summer.csv", "winter.csv"]] {
            #expect(try FirnRun(["convert"] + inputs + ["u.firn", "--force"], in: scratch.folder).code == 0)
            #expect(try notation("u.firn").contains(" date "))
            let rows = try inputs.map { try scratch.read($0).dropFirst("id,at\n".count) }.joined()
            #expect(try scratch.firn("convert", "u.firn", "-", "--to", "csv").out == "id,at\n" + rows)
            #expect(try scratch.firn("diff", "a.firn", "u.firn", "--key", "id").code == 0)
            for name in inputs { #expect(try scratch.firn("convert", name, name + ".firn", "--force").code == 0) }
            #expect(try FirnRun(["convert"] + inputs.map { $0 + ".firn" } + ["u.firn", "--force"], in: scratch.folder).code == 0)
            #expect(try scratch.firn("diff", "a.firn", "u.firn", "--key", "id").code == 0)
        }
    }

    @Test func `a schema names the notation and is read again`() throws {
        try scratch.write("f.csv", "id,at\n1,2024-03-31 01:30:00+05:30\n2,2024-03-31 01:30:00.120000+05:30\n")
        let schema = try scratch.firn("schema", "--json", "f.csv").out
        #expect(schema.contains("\"dateTime(space+05:30, 0 or 6)\""))
        try scratch.write("s.json", schema)
        #expect(try scratch.firn("convert", "--schema", "s.json", "f.csv", "f.firn").code == 0)
        #expect(try scratch.firn("convert", "f.firn", "-", "--to", "csv").out == scratch.read("f.csv"))
        try scratch.write("bad.json", schema.replacing("+05:30, 0 or 6", with: "+05:31, 0 or 6"))
        #expect(try scratch.firn("convert", "--schema", "bad.json", "f.csv", "f.firn", "--force").code != 0)
        // A date-time of JSON Schema has a zone after T.
        #expect(try scratch.firn("schema", "--as", "json-schema", "a.firn").out.contains("date-time"))
        #expect(try scratch.firn("schema", "--as", "json-schema", "f.csv").out.contains("a date and time such as"))
    }

    @Test func `other formats get the point in time in UTC`() throws {
        #expect(try scratch.firn("convert", "a.firn", "a.parquet").code == 0)
        #expect(try notation("a.parquet") == notation("a.firn"))
        for name in ["a.parquet", "a.db", "a.arrow"] {
            #expect(try scratch.firn("convert", "a.firn", name, "--force").code == 0)
            let run = try scratch.firn("diff", "a.firn", name, "--key", "id")
            #expect(run.code == 0, "\(name): \(run.out)\(run.errors)")
        }
        #expect(try scratch.firn("sql", "a.firn", "SELECT count(*) FROM a WHERE at >= '2024-03-31 00:30:00'").out.contains("23"))
    }

    @Test func `strings of JSON with one zone are dates`() throws {
        try scratch.write(
            "j.ndjson",
            """
            {"a":"2024-03-31T01:30:00+01:00","b":"2024-03-31T01:30:00+01:00","c":"2024-03-31 01:30:00.5 UTC","d":"2024-03-31T01:30:00.12345678Z"}
            {"a":"2024-03-31T01:30:00.25+01:00","b":"2024-03-31T01:30:00+02:00","c":"2024-03-31 01:30:00 UTC","d":"2024-03-31T01:30:00.10000000Z"}

            """)
        let schema = try scratch.firn("schema", "j.ndjson").out.split(separator: "\n").map { $0.split(separator: " ") }
        let types = schema.filter { ["a", "b", "c", "d"].contains($0[0]) }.map { String($0[1]) }
        // Two zones, and eight digits, have no notation.
        #expect(types == ["date", "string", "date", "string"])
        #expect(try scratch.firn("convert", "j.ndjson", "-", "--to", "ndjson").out == scratch.read("j.ndjson"))
    }

    @Test func `a text is compared with a date as the date that it is`() throws {
        let rows = try scratch.read("a.csv")
        // Too many other texts for a column of dates.
        var lines = rows.split(separator: "\n").map(String.init)
        for row in [3, 40] { lines[row] = lines[row].prefix { $0 != "," } + ",unknown" }
        try scratch.write("texts.csv", lines.joined(separator: "\n") + "\n")
        #expect(try notation("texts.csv").contains("string"))
        for (old, new) in [("a.csv", "texts.csv"), ("texts.csv", "a.csv"), ("a.firn", "texts.csv")] {
            let run = try scratch.firn("diff", old, new, "--key", "id")
            #expect(run.code == 1 && run.out.contains("0 added, 0 removed, 2 changed, 46 unchanged"), "\(old): \(run.out)")
        }
        try scratch.write("z.ndjson", #"{"id":1,"at":"2024-03-31T01:30:00.5Z"}"# + "\n")
        try scratch.write("t.csv", "id,at\n1,2024-03-31 03:30:00.500000 +0200\n2,\n")
        try scratch.write("u.csv", "id,at\n1,2024-03-31 03:30:00.5 +0200\n2,x\n")
        for (old, new, changes) in [("z.ndjson", "t.csv", 0), ("z.ndjson", "u.csv", 0), ("t.csv", "u.csv", 1)] {
            #expect(try scratch.firn("diff", old, new, "--key", "id").out.contains("\(changes) changed"), "\(old) \(new)")
        }
    }

    @Test func `strings of several JSON files keep their texts, whatever they are in one of them`() throws {
        let files = [
            #"{"id":1,"t":"2024-01-01","o":{"t":"2024-01-01T10:00:00+01:00"},"l":["2024-01-01"]}"#,
            #"{"id":2,"t":"unknown","o":{"t":"2024-07-01T10:00:00+02:00"},"l":["x"]}"#,
            #"{"id":3,"t":"2024-01-01T10:00:00.5Z","o":{"t":"2024-07-01T10:00:00.25Z"},"l":[]}"#,
        ]
        for (i, text) in files.enumerated() { try scratch.write("\(i).ndjson", text + "\n") }
        for order in [[0, 1], [1, 0], [0, 2], [2, 1, 0]] {
            #expect(try FirnRun(["convert"] + order.map { "\($0).ndjson" } + ["u.firn", "--force"], in: scratch.folder).code == 0)
            let out = try scratch.firn("convert", "u.firn", "-", "--to", "ndjson").out
            #expect(out == order.map { files[$0] + "\n" }.joined())
        }
        #expect(try scratch.firn("query", "u.firn", "t == '2024-01-01'", "--agg", "count", "--format", "csv").out == "count\n1\n")
    }

    @Test func `unions of files in different zones keep the texts`() throws {
        for name in ["winter", "summer"] { #expect(try scratch.firn("convert", name + ".csv", name + ".firn").code == 0) }
        for inputs in [["winter.firn", "summer.firn"], ["winter.firn", "summer.csv"], ["winter.csv", "summer.firn"]] {
            #expect(try FirnRun(["convert"] + inputs + ["u.firn", "--force"], in: scratch.folder).code == 0)
            #expect(try scratch.firn("convert", "u.firn", "-", "--to", "csv").out == scratch.read("a.csv"), "\(inputs)")
            #expect(try notation("u.firn").contains(" date "), "\(inputs)")
        }
    }

    @Test func `a date near the last year is written in UTC if its year would have five digits`() throws {
        let text = "id,t\n1,2024-05-01 10:00:00+02:00\n2,2024-06-01 10:00:00+02:00\n3,9999-12-31 23:59:59Z\n4,0001-01-01 00:00:00Z\n"
        try scratch.write("s.csv", text)
        #expect(try scratch.firn("convert", "s.csv", "s.arrow").code == 0)
        let out = try scratch.firn("convert", "s.arrow", "-", "--to", "csv").out
        #expect(out.hasSuffix("3,9999-12-31T23:59:59Z\n4,0001-01-01 02:00:00+02:00\n"), "\(out)")
        #expect(
            try scratch.firn("convert", "s.csv", "s.firn").code == 0 && scratch.firn("convert", "s.firn", "-", "--to", "csv").out == text)
    }

    @Test(arguments: ["", "2024-07-01T00:00:00Z", "2024-06-01T01:00:00+02:00"])
    func `a date that a patch changes does not keep the zone of the date before`(date: String) throws {
        let first = "id,t\n1,2024-01-01T00:00:00Z\n2,2024-06-01T00:00:00Z\n3,2024-06-01T00:00:00Z\n4,"
        try scratch.write("old.csv", first + "2024-06-01T00:00:00+02:00\n")
        try scratch.write("new.csv", first + date + "\n")
        #expect(try scratch.firn("convert", "--key", "id", "old.csv", "old.firn").code == 0)
        let run = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--changes", "c.firn")
        #expect(run.code == 1 && run.errors.contains("column \"t\": the changes contain dates without their zones"), "\(run.errors)")
        #expect(try scratch.firn("patch", "old.firn", "c.firn").code == 0)
        let inUTC = date.hasSuffix("+02:00") ? "2024-05-31T23:00:00Z" : date
        #expect(try scratch.firn("convert", "old.firn", "-", "--to", "csv").out == first + inUTC + "\n")
        #expect(try scratch.firn("patch", "--reverse", "old.firn", "c.firn").code == 0)
        #expect(try scratch.firn("convert", "old.firn", "-", "--to", "csv").out == first + "2024-05-31T22:00:00Z\n")
    }

    @Test func `a date that a patch does not change keeps its zone`() throws {
        let old = "id,t,n\n1,2024-01-01T00:00:00Z,1\n2,2024-06-01T00:00:00Z,2\n4,2024-06-01T00:00:00+02:00,3\n"
        try scratch.write("old.csv", old)
        try scratch.write("new.csv", old.replacing(",3\n", with: ",4\n"))
        #expect(try scratch.firn("convert", "--key", "id", "old.csv", "old.firn").code == 0)
        #expect(try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--changes", "c.firn").code == 1)
        #expect(try scratch.firn("patch", "old.firn", "c.firn").code == 0)
        #expect(try scratch.firn("convert", "old.firn", "-", "--to", "csv").out == scratch.read("new.csv"))
    }
}
