import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

@Suite struct CSVOriginalTests {
    /// Checks the type of a column with these cells, that it has a companion, and that it is written with the same bytes.
    private func check(
        _ cells: [String], _ type: String, _ notation: Notation = .plain, values: [Int: Value] = [:], _ options: CSVOptions = CSVOptions(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = "x,n\n" + cells.map { "\($0),1\n" }.joined()
        let table = try Table(text, options)
        #expect(table.types[0] == type, sourceLocation: sourceLocation)
        #expect(table.notations[0] == notation, sourceLocation: sourceLocation)
        #expect(table.schema.types[0].companions == [0: 2], sourceLocation: sourceLocation)
        for (row, value) in values { #expect(table.rows[row][0] == value, "row \(row)", sourceLocation: sourceLocation) }
        #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
        // The size of blocks does not change the type or the texts.
        var small = options
        small.blockSize = 50
        #expect(try Table(text, small).rows == table.rows, sourceLocation: sourceLocation)
    }

    @Test func `numbers in an unusual spelling and texts for null leave a column numeric, and are written back`() throws {
        try check(["1", "NA", "3"], "int?", values: [0: .int(1), 1: .null])
        try check(["", "\"\"", "1"], "int?", values: [0: .null, 1: .null, 2: .int(1)])
        try check([".5", "-.37", "1.5"], "double", values: [0: .double(0.5), 1: .double(-0.37)])
        try check(["5.", "1"], "int", values: [0: .int(5)])
        try check(["1e3", "1"], "int", values: [0: .int(1000)])
        try check(["6.40E-05", "0.5"], "double", values: [0: .double(6.4e-5)])
        try check(["0.00000001", "1"], "double", values: [0: .double(1e-8)])
        try check([" 1", "1 ", "2"], "int", values: [0: .int(1), 1: .int(1)])
        try check(
            ["1.0", "#N/A", "8.3e-05"], "double?", .twoDigitExponent(pointZero: true), values: [1: .null, 2: .double(8.3e-5)])
        try check(["1.50", "2.25", "n/a", "1e1"], "double?", .fixed(2), values: [2: .null, 3: .double(10)])
        try check(["true", "false", "NA"], "bool?", values: [2: .null])
        try check(["2020-01-01", "2020-02-01", "-"], "date?", .dateOnly, values: [2: .null])
        try check(["9223372036854775808", "1", "NA"], "decimal128?", values: [2: .null])
        try check(["1", "N/A", "..", "2"], "int?")
    }

    @Test func `infinities are numbers among numbers`() throws {
        let infinity = Value.double(.infinity), below = Value.double(-.infinity)
        try check(["1.5", "inf", "-inf", "2.5"], "double", values: [1: infinity, 2: below])
        try check(["1", "Infinity", "-Infinity", "+inf"], "double", values: [0: .double(1), 1: infinity, 2: below, 3: infinity])
        try check(["1.0", "Inf", "NaN"], "double?", .pointZero, values: [1: infinity, 2: .null])
        try check(["1.50", "-Inf", "2.25"], "double", .fixed(2), values: [1: below])
        try check(["1e-05", "inf"], "double", .twoDigitExponent(pointZero: false), values: [1: infinity])
        let long = (0..<200).map { "0.1000000000000000\($0 % 9 + 1)" }
        try check(long + ["inf"], "double", values: [200: infinity])
        for other in ["INF", "info", "infinity", "in", "--inf", "Infinite", "+-inf", "i"] {
            #expect(try Table("x,n\n1.5,1\n\(other),1\n").types[0] == "string", "\(other)")
        }
    }

    @Test func `one value with more digits than its double leaves the column double`() throws {
        let cells = (0..<200).map { "\($0).5" } + ["0.10000000000000001"]
        try check(cells, "double", values: [200: .double(0.1)])
        // Many such values are decimals.
        let long = (0..<200).map { "0.1000000000000000\($0 % 9 + 1)" }
        #expect(try Table("x,n\n" + long.map { "\($0),1\n" }.joined()).types[0] == "decimal128")
    }

    @Test func `numbers that decimals do not hold, or write with an exponent, are doubles with their text`() throws {
        try check(["0.12345678901234567", "0.0000000012345678901234567"], "double", values: [1: .double(0.0000000012345678901234567)])
        try check(["0.12345678901234567", "0.1234567890123456678901234567012354567"], "double", values: [0: .double(0.12345678901234567)])
        try check(["1.50", "2.5", "0.1234567890123456678901234567012354567"], "double", values: [0: .double(1.5)])
    }

    @Test func `a number without digits before its point does not take digits from long decimals`() throws {
        let long = (0..<150).map { "9714995100553.73\(10 + $0 % 90)" }
        for odd in [".5", "-.5", "+.25", "5."] {
            let table = try Table("x,n\n" + (long + [odd]).map { "\($0),1\n" }.joined())
            #expect(table.types[0] == "decimal128" && table.rows[3][0] == .decimal(Decimal(long[3])!), "\(odd)")
            #expect(String(decoding: try table.written(), as: UTF8.self) == "x,n\n" + (long + [odd]).map { "\($0),1\n" }.joined())
        }
        #expect(try Table("x,n\n" + (long + ["1e-7"]).map { "\($0),1\n" }.joined()).types[0] == "double")
    }

    @Test func `a number whose double is zero is a decimal if the others can be decimals`() throws {
        for tiny in ["1e-400", "-2.5E-350", "0.\(String(repeating: "0", count: 330))1"] {
            try check([tiny, "1", "2"], "decimal128", values: [0: .decimal(Decimal(tiny)!), 1: .decimal(Decimal("1")!)])
        }
        // Other columns of numbers stay numbers, and keep its text.
        try check(["1e-9999", "2.5"], "double", values: [0: .double(0), 1: .double(2.5)])
        try check(["1e-400", "2e-05", "0.5"], "double", .twoDigitExponent(pointZero: false), values: [0: .double(0), 1: .double(2e-05)])
        try check(["0e-400", "1.5"], "double", values: [0: .double(0)])
        try check(["4.9e-324", "1.5"], "double", values: [0: .double(4.9e-324)])
    }

    @Test func `each of many columns keeps its own texts`() throws {
        let width = 4000
        let header = (0..<width).map { $0 % 2 == 0 ? "c\($0)" : "c\($0 - 1) (original text)" }.joined(separator: ",")
        let rows = (0..<9).map { row in (0..<width).map { ($0 + row) % 7 == 0 ? "NA" : "\($0 * row)" }.joined(separator: ",") }
        let text = ([header] + rows).joined(separator: "\n") + "\n"
        let table = try Table(text), type = table.schema.types[0]
        #expect(type.columns.count == 2 * width && Set(type.columns.map(\.name)).count == 2 * width)
        #expect((width..<2 * width).allSatisfy { type.companionTarget($0) == $0 - width })
        #expect(try String(decoding: table.written(), as: UTF8.self) == text)
    }

    @Test func `a few other texts leave a long column numeric, and many make it text`() throws {
        let numbers = (0..<3000).map { "\($0).25" }
        try check(numbers + ["see note", "\"{\"\"a\"\":1}\"", "2020-01-01"], "double?", values: [3000: .null, 3002: .null])
        #expect(try Table("x,n\n" + (numbers + (0..<4).map { "text \($0)" }).map { "\($0),1\n" }.joined()).types[0] == "string")
        #expect(try Table("x,n\n1,1\n2,1\nsee note,1\n").types[0] == "string")
        #expect(try Table("x,n\n" + (numbers[..<990] + ["see note"]).map { "\($0),1\n" }.joined()).types[0] == "string")
    }

    @Test func `digits that a number would not keep make a column text`() throws {
        for odd in ["007", "1_000", "-01", "1234567890123456789012345678901234567890"] {
            #expect(try Table("x,n\n" + (0..<1000).map { "\($0),1\n" }.joined() + "\(odd),1\n").types[0] == "string", "\(odd)")
        }
        // Whole numbers never become doubles that do not hold them.
        #expect(try Table("x,n\n9007199254740993,1\n.5,1\n").types[0] != "double")
    }

    @Test func `dates in other layouts are read where they allow one reading`() throws {
        func type(_ cells: [String], _ patterns: [String] = []) throws -> (String, String?) {
            var options = CSVOptions()
            options.dates = patterns.map { Notation(datePattern: $0)! }
            let text = "x,n\n" + cells.map { "\($0),1\n" }.joined(), table = try Table(text, options)
            #expect(String(decoding: try table.written(), as: UTF8.self) == text)
            return (table.types[0], table.notations[0].datePattern)
        }
        #expect(try type(["9/29/2016", "1/5/2017"]) == ("date", "M/d/yyyy"))
        #expect(try type(["29/09/2016", "05/01/2017"]) == ("date", "dd/MM/yyyy"))
        #expect(try type(["29.9.2016", "5.1.2017"]) == ("date", "d.M.yyyy"))
        #expect(try type(["05.01.2017", "06.01.2017"]) == ("date", "dd.MM.yyyy"))
        #expect(try type(["2016/09/29", "2017/01/05"]) == ("date", "yyyy/MM/dd"))
        #expect(try type(["29-9-2016", "5-1-2017"]) == ("date", "d-M-yyyy"))
        #expect(try type(["2016-09", "2017-01"]) == ("date", "yyyy-MM"))
        #expect(try type(["9/29/2016 5:07 PM", "1/5/2017 12:00 AM"]) == ("date", "M/d/yyyy h:mm a"))
        #expect(try type(["29.09.2016 17:07:01.250", "05.01.2017 00:00:00.000"]) == ("date", "dd.MM.yyyy HH:mm:ss.SSS"))
        // Two readings, no reading, pairs of years.
        for cells in [
            ["1/2/2016", "3/4/2017"], ["13/1/2016", "1/13/2016"], ["31/02/2016"], ["2008-09", "2009-10"], ["1/5/17", "9/29/16"],
            ["1.2.3", "1.2.4"],
        ] {
            #expect(try type(cells).0 == "string", "\(cells)")
        }
        #expect(try type(["1/2/2016", "3/4/2017"], ["d/M/yyyy"]) == ("date", "d/M/yyyy"))
        #expect(try type(["1/5/17", "9/29/68", "1/1/69"], ["M/d/yy"]) == ("date", "M/d/yy"))
        #expect(try type(["2008-09", "2009-10"], ["yyyy-MM"]) == ("date", "yyyy-MM"))
        // A date in another form, and a text for null, are kept.
        let mixed = (0..<2000).map { "9/\($0 % 28 + 1)/2016" } + ["2016-09-29", "n/a", "09/01/2016"]
        #expect(try type(mixed) == ("date?", "M/d/yyyy"))
    }

    @Test func `texts that stand for null and the layout of dates can be given for one column`() throws {
        var options = CSVOptions()
        options.nullWordsOf = ["a": ["-1"]]
        options.datesOf = ["d": [Notation(datePattern: "dd/MM/yyyy")!]]
        let table = try Table("a,b,d,e\n-1,-1,01/02/2020,01/02/2020\n5,6,03/02/2020,03/02/2020\n", options)
        #expect(table.types == ["int?", "int", "date", "string"])
        #expect(table.rows[0][0] == .null && table.rows[0][1] == .int(-1))
        options.nullWordsOf = ["z": ["-1"]]
        let error = #expect(throws: FirnError.self) { _ = try Table("a,b,d\n1,2,3\n", options) }
        #expect(error?.message == "--null names a column \"z\" that the input does not have")
    }

    @Test func `a text that does not read as the value of its row is not written`() throws {
        let text = "x,n\n.5,1\nNA,2\n1e1,3\n2.25,4\n", table = try Table(text)
        var changed = table
        var column = changed.batches[0].columns[0]
        let values: [Value] = [.double(0.75), .double(3), .null, .double(2.25)]
        column = Column(column.type)
        for value in values {
            let fits = column.append(value)
            #expect(fits)
        }
        changed.batches[0].columns[0] = column
        #expect(String(decoding: try changed.written(), as: UTF8.self) == "x,n\n0.75,1\n3,2\n,3\n2.25,4\n")
    }

    @Test func `random columns of numbers with odd cells give the same bytes, and their sums are those of a plain computation`() throws {
        let seed = Seed.one(16)
        var random = Random(seed)
        let odd: [(text: String, value: Double?)] = [
            (".5", 0.5), ("-.37", -0.37), ("6.40E-05", 6.4e-5), ("1e3", 1000), ("5.", 5), ("NA", nil), ("N/A", nil), ("#N/A", nil),
            ("-", nil),
            ("?", nil), ("0.10000000000000001", 0.1), ("\"n/a\"", nil), (" 7", 7), ("1E5", 1e5), ("\"\"", nil), ("", nil), ("2.50", 2.5),
        ]
        for round in 0..<120 {
            var text = "id,x\n", sum = 0.0, count = 0
            let form = round % 4, rows = Int.random(in: 100...400, using: &random), share = [0, 3, 20, 60][round / 4 % 4]
            for row in 0..<rows {
                var cell: String, value: Double?
                if Int.random(in: 0..<100, using: &random) < share {
                    (cell, value) = odd.randomElement(using: &random)!
                } else {
                    let number = Int.random(in: -100_000...100_000, using: &random)
                    cell =
                        form == 0
                        ? "\(number)"
                        : form == 1 ? "\(Double(number) / 8)" : form == 2 ? "\(number / 10).\(10 + row % 80)" : "\(Double(number) / 7)"
                    value = Double(cell)
                }
                text += "\(row),\(cell)\n"
                if let value { (sum, count) = (sum + value, count + 1) }
            }
            var options = CSVOptions()
            options.blockSize = [64, 1000, 1 << 20][round % 3]
            let table = try Table(text, options), kind = table.schema.types[0].columns[1].type.kind
            #expect([.int, .double, .decimal].contains(kind), "seed \(seed) round \(round): \(kind.name)")
            let cells = table.rows.compactMap { $0[1].number }
            #expect(cells.count == count && abs(cells.reduce(0, +) - sum) <= 1e-6 * max(1, abs(sum)), "seed \(seed) round \(round)")
            let back = try table.written()
            if table.reader.losses.isEmpty {
                #expect(String(decoding: back, as: UTF8.self) == text, "seed \(seed) round \(round)")
            } else {
                #expect(plainCells(back) == plainCells(Array(text.utf8)), "seed \(seed) round \(round)")
            }
        }
    }

    @Test func `remarks count what is kept as text, and name the first row and the flag that helps`() throws {
        func remarks(_ cells: [String]) throws -> [String] {
            try Table("x,n\n" + cells.map { "\($0),1\n" }.joined()).reader.remarks
        }
        let numbers = (0..<1200).map { "\($0).5" }
        #expect(
            try remarks(numbers + ["n/a", "8.3E-05", "NA"]) == [
                "column \"x\": 2 of 1,203 cells are not doubles: stored as null, together with their text (first: row 1,201 \"n/a\")",
                "column \"x\": 1 number is spelled unusually (first: row 1,202 \"8.3E-05\"); it is written back unchanged",
            ])
        #expect(
            try remarks(["1", "007", "3"]) == [
                "column \"x\" is text: 1 of 3 cells is digits that a number would not keep, such as leading zeros (first: row 2 \"007\")"
            ])
        #expect(
            try remarks(["1/2/2020", "3/4/2020"]) == [
                "column \"x\" is text: its dates can be read in two ways (first: row 1 \"1/2/2020\"); --dates d/M/yyyy or --dates M/d/yyyy chooses one"
            ])
        #expect(
            try remarks(["13/2/2020", "3/4/2020", "2/13/2020"]) == [
                "column \"x\" is text: its dates have no pattern in common: 2 of 3 can be d/M/yyyy, 2 of 3 can be M/d/yyyy (first: row 1 \"13/2/2020\")"
            ])
        #expect(
            try remarks(["\"1,5\"", "2", "\"3,25\"", "4", "5"])[0].contains("commas separate cells, and also the digits of this column"))
    }
}
