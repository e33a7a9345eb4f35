import Foundation
import Testing

@Suite struct QueryTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            "people.csv", "id,name,age,city\n1,Ada,36,London\n2,Grace,85,New York\n3,Edsger,72,Austin\n4,Alan,41,London\n5,日本,,\n")
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id").code == 0)
        return scratch
    }

    @Test func `a query of a CSV file and of its firn file gives the same answer`() throws {
        let scratch = try sample()
        let questions: [[String]] = [
            ["age > 40"], ["city == 'London' SORT(name DESC)"], ["-s", "name,age", "-S", "-age", "-n", "2"],
            ["-g", "city", "-a", "count, avg(age) as mean", "-S", "city"],
            ["--distinct", "city"], ["age > 40", "--where", "city == 'London'"], ["--offset", "3"], [],
        ]
        for question in questions {
            for format in ["table", "csv", "json", "ndjson", "tsv"] {
                let text = try FirnRun(["query", "people.csv", "--format", format] + question, in: scratch.folder)
                let stored = try FirnRun(["query", "people.firn", "--format", format] + question, in: scratch.folder)
                #expect(
                    text.code == 0 && text.out == stored.out && !text.out.isEmpty, "\(question) \(format): \(text.errors)\(stored.errors)")
            }
        }
    }

    @Test func `aggregates can be computed from expressions of columns`() throws {
        let scratch = try sample()
        for file in ["people.csv", "people.firn"] {
            let run = try scratch.firn(
                "query", file, "-a", "sum(age * (id + 1)) as weighed, median(age), quantile(age, 0.25), first(city)", "--format", "csv")
            #expect(
                run.out == "weighed,median(age),\"quantile(age, 0.25)\",first(city)\n820,56.5,39.75,London\n",
                "\(file): \(run.out)\(run.errors)")
        }
    }

    @Test func `keys of groups and aggregates are written in the notation of their columns`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "a.csv",
            """
            id,day,amount,ok,uuid,at,whole
            1,2020-01-01,1.50,True,9F3C2B1A-1111-4222-8333-ABCDEFABCDEF,2020-01-01 10:00:00,1.0
            2,2020-01-01,2.25,False,9F3C2B1A-1111-4222-8333-ABCDEFABCDEE,2020-01-02 10:00:00,2.0
            3,2021-01-01,3.00,True,9F3C2B1A-1111-4222-8333-ABCDEFABCDED,2020-01-03 10:00:00,2.5

            """)
        try scratch.write("n.ndjson", #"{"o":{"day":"2020-01-01"}}"# + "\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn").code == 0)
        let columns = ["day", "amount", "ok", "uuid", "at", "whole"]
        for file in ["a.csv", "a.firn"] {
            for format in ["csv", "json", "ndjson", "table"] {
                for column in columns {
                    // Each value of the plain rows, and the same values through groups.
                    let plain = try scratch.firn("query", file, "-s", column, "--distinct", column, "-S", column, "--format", format).out
                    let grouped = try scratch.firn("query", file, "-g", column, "-S", column, "--format", format)
                    #expect(
                        grouped.out == plain && !plain.isEmpty,
                        "\(file) \(column) \(format): \(grouped.out)\(grouped.errors) instead of \(plain)")
                    let least = try scratch.firn("query", file, "id == 1", "-s", column, "--format", format).out
                    for figure in ["min", "max", "first"] {
                        let run = try scratch.firn("query", file, "id == 1", "-a", "\(figure)(\(column)) as \(column)", "--format", format)
                        #expect(run.out == least, "\(file) \(figure) \(column) \(format): \(run.out)\(run.errors) instead of \(least)")
                    }
                }
            }
        }
        // An expression has no notation of a column. A member of an object has its own.
        #expect(try scratch.firn("query", "a.firn", "-a", "sum(amount) as s", "--format", "csv").out == "s\n6.75\n")
        #expect(
            try scratch.firn("query", "n.ndjson", "-g", "o.day", "--format", "csv").out
                == scratch.firn("query", "n.ndjson", "-s", "o.day", "--format", "csv").out)
        let plan = try scratch.firn("query", "a.firn", "day > 2020-06-01 AND at < 2021-01-01@10:00:00", "--explain").out
        #expect(plan.contains("day > 2020-06-01 ") && plan.contains("at < 2021-01-01@10:00:00 "), "\(plan)")
    }

    @Test func `several files are queried as one table`() throws {
        let scratch = try sample()
        try scratch.write("more.csv", "id,city,name,age\n6,Paris,Marie,66\n7,London,Tim,50\n")
        try scratch.write("other.csv", "id,town\n6,Paris\n")
        for (question, wanted) in [
            (["age > 60", "-s", "name", "-S", "-age"], "name\nGrace\nEdsger\nMarie\n"),
            (["-g", "city", "-a", "count", "-S", "-count,city", "-n", "1"], "city,count\nLondon,3\n"),
            (["TRUEPREDICATE DISTINCT(city) LIMIT(3)", "-s", "city"], "city\nLondon\nNew York\nAustin\n"),
            (["-s", "id", "--offset", "4", "-n", "2"], "id\n5\n6\n"),
        ] {
            for files in [["people.csv", "more.csv"], ["people.firn", "more.csv"]] {
                let run = try FirnRun(["query", "--format", "csv"] + files + question, in: scratch.folder)
                #expect(run.code == 0 && run.out == wanted, "\(files) \(question): \(run.out)\(run.errors)")
            }
        }
        #expect(try scratch.firn("query", "people.csv", "other.csv", "age > 1").errors.contains("column"))
        let missing = try scratch.firn("query", "people.csv", "missing.csv")
        #expect(missing.code == 5 && missing.errors.hasPrefix("firn: missing.csv: cannot open"), "\(missing.errors)")
        let first = try scratch.firn("query", "missing.csv", "other")
        #expect(first.code == 5 && first.errors.contains("missing.csv: cannot open"), "\(first.errors)")
        let word = try scratch.firn("query", "people.csv", "other")
        #expect(word.code == 2 && word.errors.contains("\"other\" is neither a file nor a predicate"), "\(word.errors)")
        for (words, wanted) in [
            (["diff", "people.csv"], "NEW is missing after \"people.csv\""), (["patch", "people.firn"], "CHANGES is missing"),
            (["convert", "people.csv"], "OUT is missing"),
            (["sql", "people.csv"], "STATEMENTS is missing"), (["diff", "people.csv", "none.csv"], "none.csv: cannot open"),
        ] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.errors.contains(wanted), "\(words): \(run.errors)")
        }
    }

    @Test func `the plan reports what was read and how long it took`() throws {
        let scratch = try sample()
        let stored = try scratch.firn("query", "people.firn", "age > 40", "-g", "city", "-a", "count", "--explain").out
        for word in ["scan people", "age > 40", "group by city", "visited", "searched", "bytes", "matched", "time:"] {
            #expect(stored.contains(word), "\(word): \(stored)")
        }
        let text = try scratch.firn("query", "people.csv", "age > 40", "-S", "age", "-n", "1", "--explain").out
        #expect(text.contains("batch by batch") && text.contains("limit 1") && text.contains("matched"), "\(text)")
    }

    @Test func `rows are printed as a table that lines up`() throws {
        let scratch = try sample()
        let run = try scratch.firn("query", "people.firn", "--select", "name,age")
        #expect(
            run.out == """
                name    age
                ──────  ───
                Ada      36
                Grace    85
                Edsger   72
                Alan     41
                日本

                """, "\(run.out)")
    }

    @Test func `a query without matches ends with exit code 1 in every format`() throws {
        let scratch = try sample()
        for format in ["table", "csv", "json", "ndjson"] {
            #expect(try scratch.firn("query", "people.firn", "age > 400", "--format", format).code == 1)
        }
        #expect(try scratch.firn("query", "people.firn", "age > 400", "--format", "csv").out == "id,name,age,city\n")
        #expect(try scratch.firn("query", "people.firn", "age > 400", "--format", "ndjson").out == "")
    }

    @Test func `a query with a syntax error is reported with the position and what was expected`() throws {
        let scratch = try sample()
        for query in ["age >", "agee > 1", "name > ", "((age > 1)", "age CONTAINS 1 2", "\u{1}"] {
            let run = try scratch.firn("query", "people.firn", query)
            #expect(run.code == 2 && run.out.isEmpty && !run.isCrash, "\(query): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("query", "people.firn", "agee > 1").errors.contains("age"))
    }

    @Test func `the plan is printed instead of the rows`() throws {
        let scratch = try sample()
        let run = try scratch.firn("query", "people.firn", "age > 40", "--explain")
        #expect(run.code == 0 && run.out.contains("scan") && !run.out.contains("Grace"), "\(run.out)\(run.errors)")
    }

    @Test func `every selected column is in every row of JSON`() throws {
        let scratch = try sample()
        #expect(
            try scratch.firn("query", "people.firn", "id == 5", "-s", "name,age,city", "--json").out
                == "{\"name\":\"日本\",\"age\":null,\"city\":null}\n")
        #expect(
            try scratch.firn("query", "people.csv", "-g", "city", "-a", "max(age) as most", "--where", "id == 5", "--json").out
                == "{\"city\":null,\"most\":null}\n")
        let none = try scratch.firn("query", "people.firn", "id > 99", "-a", "count, max(age) as most", "--format", "json").out
        #expect(none.contains("\"most\":null") && none.contains("\"count\":0"), "\(none)")
    }

    @Test func `a table without rows is reported on standard error`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("query", "people.firn", "age > 400").errors == "firn: no rows\n")
        #expect(try scratch.firn("query", "people.firn", "age > 400", "-q").errors.isEmpty)
        #expect(try scratch.firn("query", "people.firn", "age > 400", "--format", "csv").errors.isEmpty)
    }

    @Test func `the error for an unknown column lists the known columns`() throws {
        let scratch = try sample()
        let far = try scratch.firn("query", "people.firn", "Foo == 1").errors
        #expect(far.contains("no column \"Foo\" in people") && far.contains("its columns are id, name, age, city"), "\(far)")
        #expect(try scratch.firn("query", "people.firn", "-s", "nmae").errors.contains("did you mean \"name\"?"))
        #expect(try scratch.firn("query", "people.firn", "age == 'abc'").errors.contains("\"age\" (int) with 'abc' (string)"))
    }

    @Test func `a date that does not fit is reported as it was written`() throws {
        let scratch = try sample()
        for (query, words) in [
            ("name > 2010-01-01@00:00:00 ", "\"name\" (string) with 2010-01-01@00:00:00 (timestamp)"),
            ("(2010-01-01@00:00:00)  <= name", "\"name\" (string) with 2010-01-01@00:00:00 (timestamp)"),
            ("city == 'Ü' AND name == 2010-01-01@10:20:30:5\tOR age > 1", "\"name\" (string) with 2010-01-01@10:20:30:5 (timestamp)"),
            ("name == T12:5", "with T12:5 (timestamp)"),
            ("2010-01-01@00:00:00 == 2011-01-01@00:00:00", "(\"2010-01-01@00:00:00\" and \"2011-01-01@00:00:00\")"),
            ("age BETWEEN {1, 2011-01-01@00:00:00}", "with 2011-01-01@00:00:00 (timestamp)"),
        ] {
            let run = try scratch.firn("query", "people.firn", query)
            #expect(run.code == 2 && run.errors.contains(words), "\(query): \(run.errors)")
        }
    }

    @Test func `control characters in a file are never printed to a terminal unchanged`() throws {
        let scratch = try Scratch()
        try scratch.write("evil.csv", "a\n\u{1B}[2Jboo\n")
        #expect(!(try scratch.firn("query", "evil.csv").out.contains("\u{1B}")))
    }

    @Test func `documents with nested values can be queried by path`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "a.ndjson",
            #"{"id":1,"place":{"name":"Paris"},"tags":["x","y"]}"# + "\n" + #"{"id":2,"place":{"name":"Rome"},"tags":[]}"# + "\n")
        #expect(
            try scratch.firn("query", "a.ndjson", "place.name == 'Paris' AND ANY tags == 'y'", "-s", "id,place.name", "--format", "csv").out
                == "id,place.name\n1,Paris\n")
    }
}

@Suite struct InfoTests {
    @Test func `info, schema and verify print JSON with stable keys`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n1,a\n2,b\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id").code == 0)
        func object(_ words: String...) throws -> [String: Any] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0, "\(words): \(run.errors)")
            return try #require(try JSONSerialization.jsonObject(with: Data(run.out.utf8)) as? [String: Any])
        }
        let info = try object("info", "--json", "a.firn")
        #expect(
            Set(info.keys) == [
                "v", "file", "bytes", "encrypted", "version", "liveBytes", "deadBytes", "freeBytes", "versions", "tags", "types",
            ])
        let type = try #require((info["types"] as? [[String: Any]])?.first)
        #expect(type["rows"] as? Int == 2 && (type["columns"] as? [Any])?.count == 2)
        #expect(Set(try object("schema", "--json", "a.firn").keys) == ["v", "type", "key", "columns"])
        #expect(try object("verify", "--json", "a.firn")["intact"] as? Bool == true)
        #expect(
            Set(try object("compact", "--json", "--dry-run", "a.firn").keys) == [
                "v", "file", "bytesBefore", "bytesAfter", "replaced", "columns",
            ])
        #expect(try object("convert", "--json", "a.firn", "b.csv")["rows"] as? Int == 2)
    }

    @Test func `a printed schema can be used as --schema`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n1,1.50\n2,2.25\n")
        try scratch.write("a.json", try scratch.firn("schema", "--json", "a.csv").out)
        #expect(try scratch.firn("convert", "--schema", "a.json", "a.csv", "a.firn").code == 0)
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "csv").out == "id,x\n1,1.50\n2,2.25\n")
        try scratch.write("b.csv", "id,x\n1,none\n")
        #expect(try scratch.firn("convert", "--schema", "a.json", "b.csv", "b.firn").code == 3)
    }

    @Test func `compact keeps the rows and never grows the file`() throws {
        let scratch = try Scratch()
        var text = "id,x\n"
        for i in 0..<5000 { text += "\(i),word \(i % 7)\n" }
        try scratch.write("a.csv", text)
        #expect(try scratch.firn("convert", "--profile", "fast", "a.csv", "a.firn").code == 0)
        let before = try Data(contentsOf: scratch.file("a.firn")).count
        #expect(try scratch.firn("compact", "--dry-run", "a.firn").code == 0)
        #expect(try Data(contentsOf: scratch.file("a.firn")).count == before)
        #expect(try scratch.firn("compact", "--profile", "small", "a.firn").code == 0)
        #expect(try Data(contentsOf: scratch.file("a.firn")).count <= before)
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "csv").out == text)
        #expect(try scratch.firn("compact", "a.firn", "b.firn").code == 0)
        #expect(try scratch.firn("compact", "a.firn", "b.firn").code == 5)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
        #expect(try scratch.firn("verify", "--full", "a.firn", "b.firn").code == 0)
    }

    @Test func `a query of one type in a file of several is printed in every format`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Fixtures/firn/collections.firn")
            .standardizedFileURL.path
        let scratch = try Scratch()
        for (format, expected) in [("csv", "count\n200\n"), ("ndjson", "{\"count\":200}\n"), ("json", "[\n{\"count\":200}\n]\n")] {
            let run = try scratch.firn("query", file + ":Thing", "-a", "count", "--format", format)
            #expect(run.code == 0 && run.out == expected, "\(format): \(run.errors)")
        }
    }

    @Test func `a column that is named in back-quotes keeps its name in groups`() throws {
        let scratch = try Scratch()
        try scratch.write("s.csv", "GICS Sector,n\nA,1\nB,2\nA,3\n")
        let run = try scratch.firn("query", "s.csv", "-g", "`GICS Sector`", "-a", "count", "-S", "`GICS Sector`", "--format", "ndjson")
        #expect(run.out == "{\"GICS Sector\":\"A\",\"count\":2}\n{\"GICS Sector\":\"B\",\"count\":1}\n", "\(run.errors)")
    }
}
